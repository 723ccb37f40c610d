#pragma once
/* Checks whether a directory is suitable for run files, and finds the cgroup for runs. */
#include "base/buf.h"
#include "base/err.h"

/* Creates the directory if it does not exist. E_INPUT: its file system is shared with other machines, so that
 * neither locks nor exclusive links are reliable, or it does not support unnamed files. */
must_check enum err rundir_check(const char *path, struct why *why);
/* The name of a file system type (statfs's f_type) that is, or may be, shared with other machines; NULL: it
 * is local. */
const char *rundir_network(uint64_t type);

/* The cgroup (v2) of this process, if it was delegated to us: writable, and not the root. Otherwise
 * E_NOTFOUND. */
must_check enum err rundir_cgroup(struct buf *ret);
