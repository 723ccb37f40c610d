#pragma once
/* Sets of values and moments of time in words. Different values give different texts. */
#include "base/buf.h"
#include "core/when/zone/zone.h"

/* Sunday is both 0 and 7, so that a week can also be listed from Monday to Sunday. */
extern const char *const text_wdays[8];

/* Runs of consecutive values. Those shorter than `shortest` become single values. */
struct value_run {
	uint8_t from, to;
};
enum { VALUE_RUNS_MAX = 64 };
unsigned value_runs(uint64_t bits, unsigned shortest, struct value_run ret[VALUE_RUNS_MAX]);

/* Appends the separator before item i of n: nothing, a comma, or `last`. */
void text_join(struct buf *out, unsigned i, unsigned n, const char *last);
/* "1, 3 and 7 to 9", or names instead of numbers. */
void text_values(struct buf *out, uint64_t bits, const char *const *names, const char *last);
/* "Every minute", "Every 15 minutes" */
void text_every(struct buf *out, unsigned n, const char *unit);

/* Days and seconds are local. */
void text_date(struct buf *out, int64_t day);                                /* "2026-11-16" */
void text_clock(struct buf *out, unsigned second_of_day, bool with_seconds); /* "09:00" */
void text_time(struct buf *out, int64_t local);                              /* "09:00", or "09:00:30" */
void text_stamp(struct buf *out, int64_t local);                             /* "2026-11-16 09:00" */

/* An instant as a local time. `offset` is set if the local time alone would not name the instant: because it
 * occurs twice. */
struct local_moment {
	int64_t local;
	char offset[32];
};
struct local_moment local_moment(const struct zone *z, int64_t t);
/* "2026-11-16 09:00", with the offset if it is needed. */
void text_moment(struct buf *out, const struct zone *z, int64_t t);
