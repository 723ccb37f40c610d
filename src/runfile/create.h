#pragma once
/* The exclusive birth of a run file. Compiled into the launcher and into the daemon, which burns by the same
 * way; hence plain errno instead of `enum err`. */
#include "port/runfile.h"

/* Opens the directory that holds the files of `run`, making it if need be; `flush`: so that it is still there
 * after a power cut. Returns it, or minus an errno. */
int runfile_open_directory(const char *runs, uint64_t run, bool flush);

/* Makes `name` in `dir` out of `block`, locked, all at once or not at all. Returns the descriptor that holds
 * the lock, or minus an errno; -EEXIST: somebody was first. `flush`: it survives a power cut. */
int runfile_create(int dir, const char *name, const char block[static RUNFILE_BYTES], bool flush);

/* A file without a name yet, and its naming: 0 or an errno. For what must not appear before it is ready. */
int runfile_open_unnamed(int dir);
int runfile_link(int fd, int dir, const char *name);

/* 0: we have the lock on all of the file now. */
int runfile_lock(int fd);
/* Somebody else holds it. Does not disturb anybody. */
bool runfile_is_locked(int fd);
