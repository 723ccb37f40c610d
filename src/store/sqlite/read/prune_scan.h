#pragma once
/* Finds old records that are worth a ST_PRUNE, in the order in which they were recorded, some at a time, on a
 * reader's connection. Whether a record may be removed is decided by ST_PRUNE. */
#include "store/sqlite/read/reader.h"

struct old_item {
	uint64_t at;  /* its place in the scan; of runs and problems their number */
	uint64_t sid; /* of ranges, versions and schedules */
	uint32_t rev; /* of versions */
	bool old;     /* it was finished, closed or replaced by the given time */
	bool young;   /* it was recorded after that time, as were, most likely, all that follow */
};

/* Items after the place `after` (0: from the first on), at most `max`; their count in *n. */
must_check enum err read_old(struct reader *r, enum prune_what what, uint64_t after, struct wall by,
			     struct old_item *ret, unsigned max, unsigned *n, struct why *why);

/* Whether the files of a run may be removed. */
struct old_run {
	bool known;     /* else it was pruned, or never recorded */
	bool over;      /* finished, skipped or missed */
	bool latest;    /* the last end of a living schedule: the next run is told its result */
	struct wall at; /* when it was over */
};
must_check enum err read_old_run(struct reader *r, uint64_t run, struct old_run *ret, struct why *why);
