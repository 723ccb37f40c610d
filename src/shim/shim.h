#pragma once
/* The parent of one run. It outlives the daemon and the launcher, talks to neither once the run is born, and
 * ends when nothing of the run is alive and the exit section is written. */
#include "base/attr.h"

/* Carries out the request in `memfd`, answering once on `socket`. */
_Noreturn void shim_main(int socket, int memfd, uint64_t ticket);

/* Of a run whose shim is dead: ends what is left of its tree, and records it lost. */
_Noreturn void sweep_main(int memfd);
