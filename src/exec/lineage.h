#pragma once
/* Finds the run that a process belongs to: one of its ancestors is the shim of that run. The process name of
 * a shim (r12.1) names the run; the pid and start time in the run file prove it. So neither a forged process
 * name nor a reused pid can mislead, and shims of older launchers are recognized.
 *
 * A process whose shim was killed has no such ancestor until a sweep kills it. It is recognized by the mark
 * in the environment with which it was executed. */
#include "base/err.h"
#include "base/time.h"

#include <sys/types.h>

struct lineage {
	uint64_t run; /* 0: the process belongs to no run */
	unsigned attempt;
};

/* `since`: when the process connected to us. E_GONE: the process has ended, or a later process has its pid.
 * E_BUSY: the run cannot be determined now. */
must_check enum err lineage_of(const char *runs, pid_t pid, struct boot since, struct lineage *ret);

/* The search itself, without /proc. */
struct ancestor {
	pid_t parent;        /* 0: none */
	uint64_t start;      /* clock ticks since boot */
	struct lineage shim; /* the run whose shim it is; run 0: not a shim */
};
/* E_NOTFOUND: there is no such process, or it is not visible to us. */
typedef enum err ancestor_fn(void *ctx, pid_t pid, struct ancestor *ret);
/* Walks up to the first process. If there are several shims on the way, the topmost is the result. */
must_check enum err lineage_walk(ancestor_fn *read_one, void *ctx, pid_t pid, uint64_t since_ticks,
				 struct lineage *ret);
