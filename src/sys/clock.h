#pragma once
/* This machine's clocks. */
#include "base/time.h"

#include <time.h>

static inline struct wall clock_wall(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (struct wall){ (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000 };
}

static inline struct boot clock_boot(void)
{
	struct timespec t;
	clock_gettime(CLOCK_BOOTTIME, &t);
	return (struct boot){ (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000 };
}
