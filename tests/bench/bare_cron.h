#pragma once
/* The peer of the `when` benchmark: the least code that gives the right answers. It has bitsets written by
 * hand, the table of one zone, and a search over months. It has no texts, errors, other zones, directives or
 * years after 2037. It shares no code with rota. */
#include <stddef.h>
#include <stdint.h>

struct bare {
	uint64_t second, minute;
	uint32_t hour, mday; /* bit d is day d */
	uint16_t month;
	uint8_t wday, wday_last, wday_first; /* every, the last, the first such weekday of the month */
	uint8_t last, near, last_near;       /* L; the n of nW; LW */
	uint8_t either;                      /* a match of one of the two day fields is enough */
};

struct bare_zone {
	int64_t at[512];
	int32_t offset[512]; /* the offset from at[i] on */
	unsigned n;
};

void bare_zone_read(struct bare_zone *z, const unsigned char *tzif, size_t n);
int64_t bare_next(const struct bare *c, const struct bare_zone *z, int64_t after);

/* The peer of parsing: finds the fields and reads the numbers of an expression, and checks nothing. */
uint64_t bare_scan(const char *text);
