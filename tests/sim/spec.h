#pragma once
/* A short description of a schedule, for scenarios and random histories. If fields are 0, the schedule has
 * the zone UTC, no preconditions, overlap skip, execute_immediately, and no retry. */
#include "world.h"

struct spec {
	const char *cron; /* exactly one of cron, every, at and after is set */
	int64_t every;    /* seconds, counted from 1970 */
	int64_t at;       /* seconds */
	int64_t from;     /* seconds; 0: always */
	int64_t until;    /* seconds; 0: never */
	unsigned fold, gap, jitter;
	uint32_t max_runs; /* 0: no limit */
	bool disabled;
	bool bulk;      /* value of command.bulk */
	uint64_t after; /* sid of the leader */
	struct hours active;
	struct policy policy;
};

struct rules spec_rules(const struct spec *s);
/* The command that adds the schedule (sid 0) or changes it. Its id is empty, because ids must be unique. */
struct command spec_command(const struct spec *s, uint64_t sid);
/* A random schedule; `dense`: with a time every few minutes. */
struct spec spec_random(struct world *w, bool dense);
/* The same schedule with random times, and the same schedule with a random policy. */
struct spec spec_new_times(struct world *w, struct spec s, bool dense);
struct spec spec_new_policy(struct world *w, struct spec s);
