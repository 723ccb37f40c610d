#pragma once
/* Sets of values and moments of time in words: the phrasebook of explain. Each text names exactly what it is
 * given. */
#include "base/buf.h"
#include "core/when/zone/zone.h"

/* Sunday stands at both ends: 0 as weekdays count, 7 where a week is told from Monday on. */
extern const char *const say_wdays[8];

/* Stretches of neighbouring values; shorter ones than `shortest` fall apart into single values. */
struct say_run {
	uint8_t from, to;
};
enum { SAY_RUNS_MAX = 64 };
unsigned say_runs(uint64_t bits, unsigned shortest, struct say_run ret[SAY_RUNS_MAX]);

/* What stands before item i of n: nothing, a comma, or `last`. */
void say_join(struct buf *out, unsigned i, unsigned n, const char *last);
/* "1, 3 and 7 to 9", or names instead of numbers. */
void say_values(struct buf *out, uint64_t bits, const char *const *names, const char *last);
/* "Every minute", "Every 15 minutes" */
void say_every(struct buf *out, unsigned n, const char *unit);

/* "2026-11-16"; "09:00"; the same with seconds where there are any; both. Days and seconds are local. */
void say_date(struct buf *out, int64_t day);
void say_clock(struct buf *out, unsigned second_of_day, bool with_seconds);
void say_time(struct buf *out, int64_t local);
void say_stamp(struct buf *out, int64_t local);

/* An instant as its zone shows it. A local time that comes twice is not enough to name one: then `offset` has
 * what tells them apart. */
struct say_shown {
	int64_t local;
	char offset[32];
};
struct say_shown say_shown(const struct zone *z, int64_t t);
void say_moment(struct buf *out, const struct zone *z, int64_t t);
