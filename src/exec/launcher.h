#pragma once
/* Starts the launcher, the small program that forks shims (shim/launcher.c). The daemon starts it before its
 * first thread, and again whenever it has died. Runs do not depend on it. */
#include "base/err.h"

struct launcher {
	int socket; /* the daemon's end; closing it ends the launcher */
	int pidfd;  /* readable when it has ended */
};

/* `owner`: NAME=value, added to its environment; NULL: nothing. */
must_check enum err launcher_start(const char *program, const char *owner, struct launcher *ret,
				   struct why *why);
