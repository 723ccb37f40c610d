#pragma once
/* What is old, for whoever prunes: walked in the order in which it was recorded, a piece at a time, on the
 * reader's connection. Whether it may go is the store's to judge (ST_PRUNE); this only finds what is worth
 * asking for. */
#include "store/sqlite/read/reader.h"

struct old_item {
	uint64_t at;  /* its place in the walk; of runs and problems their number */
	uint64_t sid; /* ranges, versions, schedules */
	uint32_t rev; /* versions */
	bool old;     /* it was over by the time that was asked for */
	bool young;   /* it was recorded after that: so was, most likely, what follows */
};

/* Those after `after` (0: from the first on), at most `max`; how many in *n. */
must_check enum err read_old(struct reader *r, enum prune_what what, uint64_t after, struct wall by,
			     struct old_item *ret, unsigned max, unsigned *n, struct why *why);

/* Whether a run is over, for whoever removes its files. */
struct old_run {
	bool known; /* else it was pruned, or never recorded */
	bool over;
	bool latest;    /* of the ends of a living schedule: its result is told to the next run */
	struct wall at; /* when it was over */
};
must_check enum err read_old_run(struct reader *r, uint64_t run, struct old_run *ret, struct why *why);
