#pragma once
/* Creating run files: exclusively, complete, and locked. Linked into the static launcher, whose shims create
 * run files, and into the daemon, which prevents attempts in the same way; hence plain errno instead of
 * `enum err`. */
#include "port/runfile.h"

/* Opens the directory for the files of `run`, and makes it if it does not exist; `flush`: fsync it, so that
 * it survives a power cut. Returns a descriptor, or minus an errno. */
int runfile_open_directory(const char *runs, uint64_t run, bool flush);

/* Creates `name` in `dir` with the content `block`, locked, completely or not at all. Returns the descriptor
 * that holds the lock, or minus an errno; -EEXIST: there is such a file already. `flush`: fsync it. */
int runfile_create(int dir, const char *name, const char block[static RUNFILE_BYTES], bool flush);

/* For files that must not be visible before they are complete: opens a file without a name (a descriptor, or
 * minus an errno), and links it into place (0 or an errno). */
int runfile_open_unnamed(int dir);
int runfile_link(int fd, int dir, const char *name);

/* Locks the whole file, without waiting. 0 or an errno. */
int runfile_lock(int fd);
/* Whether another process holds the lock. Does not take the lock itself, so that two processes that test it
 * at the same time do not see each other's lock. */
bool runfile_is_locked(int fd);
