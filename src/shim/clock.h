#pragma once
/* Microseconds of a clock. CLOCK_BOOTTIME counts while the machine sleeps; all that is bounded here is. */
#include <stdint.h>
#include <time.h>

static inline int64_t clock_us(clockid_t which)
{
	struct timespec t;
	clock_gettime(which, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
