#pragma once
/* The daemon's socket in the file system: 0600, in a directory 0700 that is ours. One daemon per path: a live
 * one is never disturbed, what a dead one left is replaced. */
#include "base/err.h"

#include <sys/types.h>

struct listener {
	int fd;
	char *path;
	dev_t dev; /* what the path was when we made it */
	ino_t ino;
};

/* Makes the directory (its parent must be there) and the socket, and listens; the fd does not block and does
 * not survive exec. E_INPUT: the path is too long, or something else than a socket is there. E_CONFLICT: a
 * daemon listens there. E_DENIED: others may get at the directory. */
must_check enum err listener_open(const char *path, struct listener *ret, struct why *why);
/* Removes the socket, unless it has become somebody else's. May be called twice. */
void listener_close(struct listener *l);
