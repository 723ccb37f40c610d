#pragma once
/* Cron expressions: five fields, or six with seconds first; `? L W # H`, names, wrapping ranges, presets.
 * Pure: no clock, no locale, no allocation. */
#include "base/buf.h"
#include "base/err.h"
#include "core/when/zone/zone.h"

enum cron_field { CRON_SECOND, CRON_MINUTE, CRON_HOUR, CRON_MDAY, CRON_MONTH, CRON_WDAY, CRON_FIELDS };

/* One row per field: its name (which is also what H hashes) and its range. */
struct cron_field_info {
	const char *name, *label;
	uint8_t lo, hi;           /* what may be written */
	uint8_t last;             /* where `*` and `5/10` end: Saturday, though 7 may be written */
	uint8_t hash_hi;          /* where H ends: the 28th, which every month has */
	const char *const *names; /* of lo, lo + 1, …; NULL where numbers are the only way */
};
extern const struct cron_field_info cron_fields[CRON_FIELDS];

enum cron_flag {
	CRON_MDAY_STAR = 1, /* the field begins with `*` or `?` … */
	CRON_WDAY_STAR = 2, /* … and with either of them both day fields must match; with none, either may */
	CRON_SPECIAL = 4,   /* L, W or # is used somewhere */
	CRON_HASHED = 8,    /* H is used somewhere */
};

/* What becomes of local times that a change of the clock leaves out, or repeats. */
enum gap { GAP_SHIFT, GAP_SKIP };
enum fold { FOLD_FIRST, FOLD_SECOND, FOLD_BOTH };

struct cron {
	uint64_t second, minute; /* bit n stands for the value n, in every field */
	uint32_t hour, mday;
	uint32_t mday_last; /* bit k: the k-th day before the month's last (L, L-3) */
	uint32_t mday_near; /* bit d: the weekday nearest to day d (15W); bit 0: LW */
	uint16_t month;
	uint8_t wday;      /* Sunday is bit 0 */
	uint8_t wday_last; /* the last such weekday of the month (FRIL) */
	uint8_t wday_nth[5];
	uint8_t flags;
	uint8_t gap, fold; /* set by cron_parse from the hour field; a directive may change them */
};
static_assert(sizeof(struct cron) <= 64, "a compiled cron value fits a cache line");

#define CRON_ALL_HOURS   0xFFFFFFu
#define CRON_ALL_MDAYS   0xFFFFFFFEu
#define CRON_ALL_MONTHS  0x1FFEu
#define CRON_ALL_WDAYS   0x7Fu
#define CRON_ALL_SIXTIES ((UINT64_C(1) << 60) - 1)

/* Compiles `text`; `id` is what H hashes. Refuses what can never fire. */
must_check enum err cron_parse(struct str text, struct str id, struct cron *ret, struct why *why);
/* The first match strictly after `after` (seconds UTC); E_NOTFOUND if there is none before the year 10000. */
must_check enum err cron_next(const struct cron *c, const struct zone *z, int64_t after, int64_t *ret);
/* Is there a matching local time in [from, to)? */
bool cron_between(const struct cron *c, int64_t from, int64_t to);
/* The expression that compiles to the same value: numbers, no names, H worked out. */
void cron_format(const struct cron *c, struct buf *out);
