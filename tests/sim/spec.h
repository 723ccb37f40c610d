#pragma once
/* A schedule in a few words, for scripts and for chance. What is not said is 0, which means: UTC, no guards,
 * overlap skip, execute_immediately, no retry. */
#include "world.h"

struct spec {
	const char *cron; /* or one of the next two */
	int64_t every;    /* seconds, counted from 1970 */
	int64_t at;       /* seconds */
	int64_t from;     /* seconds; 0: always */
	int64_t until;    /* seconds; 0: never */
	unsigned fold, gap, jitter;
	uint32_t max_runs; /* 0: no limit */
	bool disabled;
	bool bulk;      /* put as one of many */
	uint64_t after; /* sid */
	struct hours active;
	struct policy policy;
};

struct rules spec_rules(const struct spec *s);
/* The command that adds it (sid 0) or changes it. It has no id: of those, two that live must not be the same.
 */
struct command spec_command(const struct spec *s, uint64_t sid);
/* Any schedule at all; `dense`: every few minutes. */
struct spec spec_random(struct world *w, bool dense);
/* Another when, the same policy; and the reverse. */
struct spec spec_new_when(struct world *w, struct spec s, bool dense);
struct spec spec_new_policy(struct world *w, struct spec s);
