#pragma once
/* Where runs may be kept, and where they may have a cgroup. */
#include "base/buf.h"
#include "base/err.h"

/* Makes the directory if need be. E_INPUT: its file system is not this machine's own, so that neither locks
 * nor exclusive links can be trusted, or it cannot make files without names. */
must_check enum err rundir_check(const char *path, struct why *why);
/* A file system of this kind (statfs's f_type) is shared with other machines, or may be. Its name, or NULL.
 */
const char *rundir_network(uint64_t type);

/* The cgroup (v2) this process is in, if it was delegated to us: writable, and not the root of all.
 * E_NOTFOUND otherwise. */
must_check enum err rundir_cgroup(struct buf *ret);
