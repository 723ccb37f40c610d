#pragma once
/* Thirty simulated days with 1,245,000 occurrences (proof.md): mostly events, a share of real runs. Without
 * faults all of them are on time; with crashes none is lost, none comes twice. */
#include "check/check.h"

struct volume_result {
	struct tally tally;
	unsigned failures, crashes;
	uint64_t steps, runs; /* runs: those with a process */
	double seconds;       /* of real time */
};

/* `days` of the thirty; 0: all. */
struct volume_result volume_run(uint64_t seed, unsigned days, bool crashes);
void volume_print(const struct volume_result *r, bool crashes);
