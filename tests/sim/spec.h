#pragma once
/* A short description of a schedule, for scenarios and random histories. Fields that are 0 mean: UTC, no
 * preconditions, overlap skip, execute_immediately, no retry. */
#include "world.h"

struct spec {
	const char *cron; /* or one of the next two, or `after` */
	int64_t every;    /* seconds, counted from 1970 */
	int64_t at;       /* seconds */
	int64_t from;     /* seconds; 0: always */
	int64_t until;    /* seconds; 0: never */
	unsigned fold, gap, jitter;
	uint32_t max_runs; /* 0: no limit */
	bool disabled;
	bool bulk;      /* command.bulk */
	uint64_t after; /* sid of the leader */
	struct hours active;
	struct policy policy;
};

struct rules spec_rules(const struct spec *s);
/* The command that adds the schedule (sid 0) or changes it. Its id is empty, since ids must be unique. */
struct command spec_command(const struct spec *s, uint64_t sid);
/* A random schedule; `dense`: with a time every few minutes. */
struct spec spec_random(struct world *w, bool dense);
/* The same with random times, or with a random policy. */
struct spec spec_new_times(struct world *w, struct spec s, bool dense);
struct spec spec_new_policy(struct world *w, struct spec s);
