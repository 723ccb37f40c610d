#pragma once
/* Thirty simulated days with 1,245,000 occurrences: mostly events, some of them runs with a process. Without
 * faults all are on time; with crashes none is lost and none is executed twice. */
#include "check/check.h"

struct volume_result {
	struct tally tally;
	unsigned failures, crashes;
	uint64_t steps, runs; /* runs: with a process */
	double seconds;       /* of real time */
};

/* The first `days` of the thirty; 0: all. */
struct volume_result volume_run(uint64_t seed, unsigned days, bool crashes);
void volume_print(const struct volume_result *r, bool crashes);
