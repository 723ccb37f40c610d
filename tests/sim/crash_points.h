#pragma once
/* A small workload with a crash: one history for each point before and after a port call. */
#include "check/check.h"

struct crash_points_options {
	unsigned stride; /* crash only at every stride-th port call; 1: at every call */
	unsigned offset;
	bool verbose;
	uint64_t only; /* crash only at this call; 0: use `stride` */
	const struct bug *bug;
	struct coverage *coverage;
};

struct crash_points_result {
	uint64_t calls, histories, failed;
	uint64_t first_failed; /* the first call at which the history failed */
};

struct crash_points_result crash_points_run(const struct crash_points_options *o);
