#pragma once
/* A random history for a seed: schedules, commands, the ends of runs and the faults are random. The seed also
 * selects a profile, which says how often each of them happens. */
#include "check/check.h"

struct history_options {
	uint64_t seed;
	unsigned days; /* 0: the number of the profile */
	int profile;   /* index of the profile; -1: the seed selects it */
	bool verbose, quiet;
	const char *want; /* end at a finding that contains this text */
	const struct bug *bug;
	struct coverage *coverage;
};

struct history_result {
	unsigned failures;
	bool found; /* there was a finding that contains `want` */
	char first[512];
	uint64_t hash, steps, digests;
	struct tally tally;
	const char *profile;
};

struct history_result history_run(const struct history_options *o);
