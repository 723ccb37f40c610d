#pragma once
/* Two types of time that cannot be mixed: wall clock time, and time since boot (time in suspend included). */
#include "base/attr.h"

#define USEC INT64_C(1000000)

/* Microseconds since 1970-01-01T00:00:00Z, leap seconds not counted. */
struct wall {
	int64_t us;
};

/* Microseconds since this machine booted. */
struct boot {
	int64_t us;
};

/* a / b, rounded down; b is positive. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* Seconds since 1970, rounded down. */
static inline int64_t wall_seconds(struct wall w)
{
	return floor_div(w.us, USEC);
}

static inline struct wall wall_of(int64_t seconds)
{
	return (struct wall){ seconds * USEC };
}
