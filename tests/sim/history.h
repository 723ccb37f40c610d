#pragma once
/* A random history for a seed: schedules, commands, how runs end and which faults happen are random. The
 * profile, which the seed selects too, says how often each of them happens. */
#include "check/check.h"

struct history_options {
	uint64_t seed;
	unsigned days; /* 0: as the profile says */
	int profile;   /* index; -1: as the seed says */
	bool verbose, quiet;
	const char *want; /* end at a finding that contains this text */
	const struct bug *bug;
	struct coverage *coverage;
};

struct history_result {
	unsigned failures;
	bool found; /* `want` */
	char first[512];
	uint64_t hash, steps, digests;
	struct tally tally;
	const char *profile;
};

struct history_result history_run(const struct history_options *o);
