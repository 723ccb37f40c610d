#pragma once
/* Finds the run that a process belongs to: one of its ancestors is the shim of that run. The process name of
 * a shim (r12.1) names the run; the pid and start time in the run file prove it. So neither a forged process
 * name nor a reused pid can mislead, and shims of older launchers are recognized. If the run has removed its
 * run file, a descriptor of the shim tells that it is ours; then the process belongs to no run that can be
 * named.
 *
 * A process whose shim was killed has no such ancestor until a sweep kills it. Where a cgroup was delegated,
 * the cgroup of the process tells its run. Otherwise it has become a child of the launcher or of the daemon,
 * which are subreapers: every process that they have adopted belongs to a run, or to a delivery of the
 * notifier. Processes of runs that an earlier daemon started are recognized by the mark in the environment
 * with which they were executed. */
#include "base/err.h"
#include "base/str.h"
#include "base/time.h"

#include <sys/types.h>

struct lineage {
	uint64_t run; /* 0: the process belongs to no run that can be named */
	unsigned attempt;
	bool other;    /* rota has started it: for a message, or for a run whose shim has ended */
	bool descends; /* it descends from this daemon, so no person started it; false: not known */
};

/* Where to look. */
struct lineage_place {
	const char *runs, *notify; /* the directories of run files, and of files of deliveries */
	const char *cgroup;        /* the delegated one; NULL: none */
	const char *owner;         /* RUN_OWNER_NAME=value; NULL: not known */
	struct boot since;         /* when this process became a subreaper */
};

/* `since`: when the process connected to us. E_GONE: the process has ended, or a later process has its pid.
 * E_BUSY: the run cannot be determined now. */
must_check enum err lineage_of(const struct lineage_place *place, pid_t pid, struct boot since,
			       struct lineage *ret);

/* A guess by the names of the processes alone, which reads no run file. `run`, `attempt` and `other` are for
 * quotas, not for rights; `descends` is certain. */
void lineage_guess(const struct lineage_place *place, pid_t pid, struct boot since, struct lineage *ret);

/* The search itself, without /proc. */
struct ancestor {
	pid_t parent;        /* 0: none */
	uint64_t start;      /* clock ticks since boot */
	struct lineage shim; /* the run whose shim it is; run 0 and not `other`: not a shim */
	uint64_t adopts;     /* it is the daemon, and adopts processes since then; 0: it is not */
};
/* E_NOTFOUND: there is no such process, or it is not visible to us. */
typedef enum err ancestor_fn(void *ctx, pid_t pid, struct ancestor *ret);
/* Walks up to the first process. If there are several shims on the way, the topmost is the result. A child of
 * the daemon that is older than the daemon (`job & exec rota serve`) is not rota's. */
/* The run of a process that is in the cgroup `own`, as /proc/PID/cgroup writes it, where `delegated` is the
 * path of the delegated cgroup, the mount point included. False: it is in no cgroup of a run. */
bool lineage_of_cgroup(struct str own, struct str delegated, struct lineage *ret);
must_check enum err lineage_walk(ancestor_fn *read_one, void *ctx, pid_t pid, uint64_t since_ticks,
				 struct lineage *ret);
