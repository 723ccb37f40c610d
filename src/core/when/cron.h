#pragma once
/* Cron expressions: five fields, or six with seconds first; `? L W # H`, names, wrapping ranges, presets.
 * Pure: no clock, no locale, no allocation. */
#include "base/buf.h"
#include "base/err.h"
#include "core/when/zone/zone.h"

enum cron_field { CRON_SECOND, CRON_MINUTE, CRON_HOUR, CRON_MDAY, CRON_MONTH, CRON_WDAY, CRON_FIELDS };

/* One row per field: its name (H hashes the id and this name) and its range. */
struct cron_field_info {
	const char *name, *label;
	uint8_t lo, hi;  /* the values that may be written */
	uint8_t last;    /* the last value of `*` and `5/10`: 6 for weekdays, though 7 may be written */
	uint8_t hash_hi; /* the last value of H: 28 for days, which every month has */
	const char *const *names; /* the names of lo, lo + 1, …; NULL: numbers only */
};
extern const struct cron_field_info cron_fields[CRON_FIELDS];

enum cron_flag {
	/* The day field begins with `*` or `?`. With either flag both day fields must match; with none of
	 * them a match of either field is enough. */
	CRON_MDAY_STAR = 1,
	CRON_WDAY_STAR = 2,
	CRON_SPECIAL = 4, /* L, W or # is used somewhere */
	CRON_HASHED = 8,  /* H is used somewhere */
};

/* What happens to local times that a clock change skips (gap) or repeats (fold). */
enum gap { GAP_SHIFT, GAP_SKIP };
enum fold { FOLD_FIRST, FOLD_SECOND, FOLD_BOTH };

struct cron {
	uint64_t second, minute; /* in every field, bit n is set for the value n */
	uint32_t hour, mday;
	uint32_t mday_last; /* bit k: the k-th day before the month's last (L, L-3) */
	uint32_t mday_near; /* bit d: the weekday nearest to day d (15W); bit 0: LW */
	uint16_t month;
	uint8_t wday;        /* Sunday is bit 0 */
	uint8_t wday_last;   /* the last such weekday of the month (FRIL) */
	uint8_t wday_nth[5]; /* the first to fifth such weekday of the month (FRI#2) */
	uint8_t flags;
	uint8_t gap, fold; /* set by cron_parse from the hour field; a directive may change them */
};
static_assert(sizeof(struct cron) <= 64, "a compiled cron value fits into a cache line");

#define CRON_ALL_HOURS   0xFFFFFFu
#define CRON_ALL_MDAYS   0xFFFFFFFEu
#define CRON_ALL_MONTHS  0x1FFEu
#define CRON_ALL_WDAYS   0x7Fu
#define CRON_ALL_SIXTIES ((UINT64_C(1) << 60) - 1)

/* Every by-th value from lo to last. */
static inline uint64_t cron_steps(unsigned lo, unsigned last, unsigned by)
{
	uint64_t bits = 0;
	for (unsigned v = lo; v <= last; v += by)
		bits |= UINT64_C(1) << v;
	return bits;
}

/* Compiles `text`; H hashes `id`. Refuses expressions that never fire. */
must_check enum err cron_parse(struct str text, struct str id, struct cron *ret, struct why *why);
/* The first match strictly after `after` (seconds UTC); E_NOTFOUND if there is none before the year 10000. */
must_check enum err cron_next(const struct cron *c, const struct zone *z, int64_t after, int64_t *ret);
/* Is there a matching local time in [from, to)? */
bool cron_between(const struct cron *c, int64_t from, int64_t to);
/* Appends an expression that compiles to the same value: with numbers instead of names and of H. */
void cron_format(const struct cron *c, struct buf *out);
