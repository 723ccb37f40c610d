#pragma once
/* A small workload with one crash: before and after every single port call of it, one history each. */
#include "check/check.h"

struct crash_points_options {
	unsigned stride; /* every so many of them; 1: all */
	unsigned offset;
	bool verbose;
	uint64_t only; /* the one call to crash at; 0: as the stride says */
	const struct bug *bug;
	struct coverage *coverage;
};

struct crash_points_result {
	uint64_t calls, histories, failed;
	uint64_t first_failed; /* call */
};

struct crash_points_result crash_points_run(const struct crash_points_options *o);
