#pragma once
/* Starting the launcher. The daemon does it before its first thread, and again whenever one has died; the
 * runs of the dead one are untouched. */
#include "base/err.h"

struct launcher {
	int socket; /* the daemon's end; closing it ends the launcher */
	int pidfd;  /* readable when it is dead */
};

must_check enum err launcher_start(const char *program, struct launcher *ret, struct why *why);
