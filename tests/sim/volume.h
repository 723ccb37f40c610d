#pragma once
/* Thirty simulated days with 1,245,000 occurrences: mostly events, some of them runs with a process. Without
 * faults all occurrences are on time. With crashes no occurrence is lost or executed twice. */
#include "check/check.h"

struct volume_result {
	struct tally tally;
	unsigned failures, crashes;
	uint64_t steps, runs; /* runs: occurrences with a process */
	double seconds;       /* real time in seconds */
};

/* Simulates the first `days` of the thirty days; 0: all. */
struct volume_result volume_run(uint64_t seed, unsigned days, bool crashes);
void volume_print(const struct volume_result *r, bool crashes);
