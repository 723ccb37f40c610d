#pragma once
/* Of which run a process is: one of its ancestors is that run's shim. A shim says by its name which run it
 * has (r12.1), and is believed if the file of that run has its pid and its start. So neither a name that
 * somebody gives himself nor a pid that was given out again can mislead, and it does not matter which version
 * of the launcher the shim came of.
 *
 * A process whose shim was killed has no such ancestor any more until it is found and ended. It is known by
 * the mark in the environment it was executed with. */
#include "base/err.h"
#include "base/time.h"

#include <sys/types.h>

struct lineage {
	uint64_t run; /* 0: of none */
	unsigned attempt;
};

/* E_GONE: there is no such process any more, or its pid is another's by now: it began after `since`, when
 * somebody spoke to us under that pid. E_BUSY: it cannot be told now. */
must_check enum err lineage_of(const char *runs, pid_t pid, struct boot since, struct lineage *ret);

/* The pure part of it. */
struct ancestor {
	pid_t parent;        /* 0: none */
	uint64_t start;      /* clock ticks since boot */
	struct lineage shim; /* it is the shim of this one */
};
/* E_NOTFOUND: no such process, or not to be seen. */
typedef enum err ancestor_fn(void *ctx, pid_t pid, struct ancestor *ret);
/* Up to the first of all processes; of several shims the topmost counts. */
must_check enum err lineage_walk(ancestor_fn *look, void *ctx, pid_t pid, uint64_t since_ticks,
				 struct lineage *ret);
