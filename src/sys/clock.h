#pragma once
/* The machine's clocks. Header only and without other dependencies than base/time.h, so that the static
 * launcher can use it as well as the daemon. */
#include "base/time.h"

#include <time.h>

static inline int64_t clock_us(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

/* CLOCK_REALTIME: can be set, may step in either direction. */
static inline struct wall clock_wall(void)
{
	return (struct wall){ clock_us(CLOCK_REALTIME) };
}

/* CLOCK_BOOTTIME: cannot be set, and counts while the machine is suspended. */
static inline struct boot clock_boot(void)
{
	return (struct boot){ clock_us(CLOCK_BOOTTIME) };
}
