#pragma once
/* A small workload with a crash: one history for each point before and after a port call. */
#include "check/check.h"

struct crash_points_options {
	unsigned stride; /* crash at every stride-th port call only; 1: at all */
	unsigned offset;
	bool verbose;
	uint64_t only; /* crash at this call only; 0: as the stride says */
	const struct bug *bug;
	struct coverage *coverage;
};

struct crash_points_result {
	uint64_t calls, histories, failed;
	uint64_t first_failed; /* call */
};

struct crash_points_result crash_points_run(const struct crash_points_options *o);
