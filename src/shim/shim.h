#pragma once
/* The two programs that the launcher forks. A shim is the parent of one attempt: it outlives daemon and
 * launcher, sends nothing to either once the attempt has started, and ends when no process of the attempt is
 * alive and the exit section is written. A sweep kills the processes that a killed shim has left. */
#include "base/attr.h"

/* Carries out the request in `memfd`, and replies once on `socket`. */
_Noreturn void shim_main(int socket, int memfd, uint64_t ticket);

/* Kills the processes that are left of a dead shim's tree, and records CAUSE_LOST. */
_Noreturn void sweep_main(int memfd);
