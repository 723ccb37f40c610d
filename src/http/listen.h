#pragma once
/* The daemon's listening socket in the file system: mode 0600, in a directory of the same user with mode
 * 0700. There is one daemon per path: the socket of a live daemon is never changed, and the socket of a dead
 * daemon is replaced. */
#include "base/err.h"

#include <sys/types.h>

struct listener {
	int fd;
	char *path;
	dev_t dev; /* device and inode of the socket, to recognize it */
	ino_t ino;
};

/* Creates the directory (its parent must exist) and the socket, and listens; the descriptor is non-blocking
 * and close-on-exec. E_INPUT: the path is too long, or a file that is not a socket is there. E_CONFLICT: a
 * daemon listens there. E_DENIED: other users may access the directory. */
must_check enum err listener_open(const char *path, struct listener *ret, struct why *why);
/* Removes the socket, unless another daemon has replaced it, and closes it. May be called twice. */
void listener_close(struct listener *l);
