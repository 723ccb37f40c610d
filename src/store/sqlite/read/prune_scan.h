#pragma once
/* Finds old records for which ST_PRUNE is worth requesting, in the order in which they were recorded, a few
 * at a time, on a reader's connection. Whether a record may be removed is decided by ST_PRUNE. */
#include "store/sqlite/read/reader.h"

struct old_item {
	uint64_t at;  /* its place in the scan; for runs and problems, their number */
	uint64_t sid; /* for ranges, versions and schedules */
	uint32_t rev; /* for versions */
	bool old;     /* it was finished, closed or replaced no later than `by` */
	bool young;   /* it was recorded after `by`; most likely all following items were, too */
};

/* Items after the place `after` (0: from the first on), at most `max`; their count in *n. */
must_check enum err read_old(struct reader *r, enum prune_what what, uint64_t after, struct wall by,
			     struct old_item *ret, unsigned max, unsigned *n, struct why *why);

/* Whether the files of a run may be removed. */
struct old_run {
	bool known;  /* false: it was pruned, or never recorded */
	bool over;   /* finished, skipped or missed */
	bool latest; /* it has the last end of a schedule that is not removed: the next run gets its result */
	struct wall at; /* when it finished, or was skipped or missed */
};
must_check enum err read_old_run(struct reader *r, uint64_t run, struct old_run *ret, struct why *why);
