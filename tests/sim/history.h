#pragma once
/* One seed, one history: chance decides the schedules, what people do, how runs end and what befalls the
 * machine; how much of each is the climate's, which the seed chooses too. */
#include "check/check.h"

struct history_options {
	uint64_t seed;
	unsigned days; /* 0: as the climate says */
	int profile;   /* -1: as the seed says */
	bool verbose, quiet;
	const char *want; /* ends when this is found */
	const struct bug *bug;
	struct coverage *coverage;
};

struct history_result {
	unsigned failures;
	bool found; /* what was wanted */
	char first[512];
	uint64_t hash, steps, digests;
	struct tally tally;
	const char *profile;
};

struct history_result history_run(const struct history_options *o);
