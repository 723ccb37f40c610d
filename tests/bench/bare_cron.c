/* The peer of the `when` benchmark: its calendar, its zone, and its search for the next time. */
#include "bare_cron.h"

#include <string.h>

#define DAY 86400

/* --- the calendar --- */

struct month {
	int year;
	unsigned month, length;
	int64_t first; /* days since 1970 */
	unsigned wday; /* weekday of the 1st */
};

static const unsigned char lengths[13] = { 0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
/* The number of days of the year before the 1st of each month. */
static const unsigned short before[13] = { 0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };

static int leap(int year)
{
	return (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int64_t new_year(int year)
{
	int y = year - 1;
	return 365 * (int64_t)(year - 1970) + (y / 4 - y / 100 + y / 400) - 477;
}

static void month_set(struct month *m, int year, unsigned month)
{
	m->year = year;
	m->month = month;
	m->length = lengths[month] + (month == 2 && leap(year) ? 1u : 0u);
	m->first = new_year(year) + before[month] + (month > 2 && leap(year));
	m->wday = (unsigned)(m->first + 4) % 7;
}

/* Finds the month of a day: guesses a year that is at most one too high, then a month that is at most one too
 * low, and corrects both. */
static void month_of(struct month *m, int64_t day)
{
	int year = (int)((uint32_t)day / 365) + 1970;
	int64_t start = new_year(year);
	if (start > day)
		start = new_year(--year);
	unsigned of_year = (unsigned)(day - start), leaps = leap(year) ? 1 : 0;
	unsigned month = of_year / 32 + 1;
	unsigned next = month < 12 ? before[month + 1] + (month >= 2 ? leaps : 0) : 366;
	month_set(m, year, of_year >= next ? month + 1 : month);
}

/* --- one zone --- */

static int64_t big(const unsigned char *p, unsigned bytes)
{
	int64_t v = (signed char)*p;
	while (--bytes)
		v = v * 256 + *++p;
	return v;
}

static void zone_add(struct bare_zone *z, int64_t at, int32_t offset)
{
	if (z->n && (z->offset[z->n - 1] == offset || at <= z->at[z->n - 1]))
		return;
	z->at[z->n] = at;
	z->offset[z->n++] = offset;
}

/* Adds the clock changes of the United States since 2007, for zone files that have no later transitions. */
static void zone_extend(struct bare_zone *z)
{
	for (int year = 2007; year <= 2037; year++) {
		struct month march, november;
		month_set(&march, year, 3);
		month_set(&november, year, 11);
		zone_add(z, (march.first + (7 - march.wday) % 7 + 7) * DAY + 7 * 3600, -4 * 3600);
		zone_add(z, (november.first + (7 - november.wday) % 7) * DAY + 6 * 3600, -5 * 3600);
	}
}

/* Reads the file of America/New_York. The content is not checked. */
void bare_zone_read(struct bare_zone *z, const unsigned char *tzif, size_t n)
{
	const unsigned char *h = tzif, *end = tzif + n;
	int64_t times = big(h + 32, 4), types = big(h + 36, 4), chars = big(h + 40, 4);
	h += 44 + times * 5 + types * 6 + chars + big(h + 20, 4) + big(h + 24, 4);
	if (h + 44 > end)
		return;
	times = big(h + 32, 4);
	const unsigned char *at = h + 44, *which = at + times * 8, *type = which + times;
	z->n = 0;
	zone_add(z, INT64_MIN / 4, (int32_t)big(type, 4));
	for (int64_t i = 0; i < times; i++)
		zone_add(z, big(at + i * 8, 8), (int32_t)big(type + 6 * which[i], 4));
	zone_extend(z);
	z->at[z->n] = INT64_MAX / 4;
}

/* Binary search without a branch, because the processor cannot predict which half is taken. */
static unsigned zone_find(const struct bare_zone *z, int64_t t)
{
	unsigned lo = 0;
	for (unsigned n = z->n; n > 1; n -= n / 2)
		lo += z->at[lo + n / 2] <= t ? n / 2 : 0;
	return lo;
}

/* --- the walk --- */

static uint32_t weekdays(uint8_t wanted, unsigned first)
{
	uint32_t days = 0;
	for (; wanted; wanted &= (uint8_t)(wanted - 1)) {
		unsigned wday = (unsigned)__builtin_ctz(wanted);
		days |= 0x20408102u << (wday >= first ? wday - first : wday + 7 - first);
	}
	return days;
}

static uint32_t nearest(unsigned day, const struct month *m)
{
	unsigned wday = (m->wday + day - 1) % 7;
	if (wday == 6)
		return 1u << (day > 1 ? day - 1 : day + 2);
	if (wday == 0)
		return 1u << (day < m->length ? day + 1 : day - 2);
	return 1u << day;
}

static uint32_t days_of(const struct bare *c, const struct month *m)
{
	uint32_t mdays = c->mday;
	uint32_t wdays = c->wday == 0x7F ? ~0u : weekdays(c->wday, m->wday);
	if (c->last)
		mdays |= 1u << m->length;
	if (c->near)
		mdays |= nearest(c->near, m);
	if (c->last_near)
		mdays |= nearest(m->length, m);
	if (c->wday_first)
		wdays |= weekdays(c->wday_first, m->wday) & 0xFE;
	if (c->wday_last)
		wdays |= weekdays(c->wday_last, m->wday) & (0x7Fu << (m->length - 6));
	return (c->either ? mdays | wdays : mdays & wdays) & (uint32_t)((UINT64_C(2) << m->length) - 2);
}

static int first_time(const struct bare *c)
{
	return __builtin_ctz(c->hour) * 3600 + __builtin_ctzll(c->minute) * 60 + __builtin_ctzll(c->second);
}

/* The first time of day at or after `sod`, or -1. */
static int time_from(const struct bare *c, unsigned sod)
{
	unsigned h = sod / 3600, m = sod / 60 % 60, s = sod % 60;
	if (c->hour >> h & 1) {
		uint64_t seconds = c->second >> s << s, minutes = c->minute >> m << m;
		if ((minutes >> m & 1) && seconds)
			return (int)(h * 3600 + m * 60) + __builtin_ctzll(seconds);
		minutes &= ~(UINT64_C(1) << m);
		if (minutes)
			return (int)(h * 3600) + __builtin_ctzll(minutes) * 60 + __builtin_ctzll(c->second);
	}
	uint32_t hours = c->hour >> h >> 1 << 1 << h;
	return hours ? __builtin_ctz(hours) * 3600 + first_time(c) % 3600 : -1;
}

/* The first matching local second at or after `from`. */
static int64_t local_from(const struct bare *c, int64_t from)
{
	int64_t day = from / DAY;
	struct month m;
	month_of(&m, day);
	unsigned today = (unsigned)(day - m.first) + 1;
	if (c->month >> m.month & 1) {
		uint32_t days = days_of(c, &m) >> today << today;
		if (days >> today & 1) {
			int time = time_from(c, (unsigned)(from - day * DAY));
			if (time >= 0)
				return day * DAY + time;
			days &= days - 1;
		}
		if (days)
			return (m.first + __builtin_ctz(days) - 1) * DAY + first_time(c);
	}
	for (;;) {
		unsigned later = (unsigned)c->month >> m.month >> 1;
		if (later)
			month_set(&m, m.year, m.month + 1 + (unsigned)__builtin_ctz(later));
		else
			month_set(&m, m.year + 1, (unsigned)__builtin_ctz(c->month));
		uint32_t days = days_of(c, &m);
		if (days)
			return (m.first + __builtin_ctz(days) - 1) * DAY + first_time(c);
	}
}

int64_t bare_next(const struct bare *c, const struct bare_zone *z, int64_t after)
{
	int64_t t = after + 1;
	unsigned i = zone_find(z, t);
	int elapsed = c->hour == 0xFFFFFF;
	int64_t from = t + z->offset[i], end = i ? z->at[i] + z->offset[i - 1] : from;
	if (!elapsed && from < end)
		from = end; /* continue with the second pass through the repeated hour */
	else if (!elapsed && t == z->at[i] && i && local_from(c, end) < from)
		return t; /* the gap ends here */
	for (;;) {
		int64_t local = local_from(c, from);
		if (local < z->at[i + 1] + z->offset[i])
			return local - z->offset[i];
		int64_t again = z->at[i + 1] + z->offset[i + 1];
		i++;
		if (elapsed && from > again) {
			from = again; /* local times before `from` come again */
			continue;
		}
		while (local >= z->at[i + 1] + z->offset[i])
			i++;
		if (local >= z->at[i] + z->offset[i])
			return local - z->offset[i];
		if (!elapsed)
			return z->at[i]; /* the local time is in the gap */
		from = z->at[i] + z->offset[i];
	}
}

uint64_t bare_scan(const char *text)
{
	uint64_t bits = 0;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9') {
			bits += *p == ' ';
			continue;
		}
		unsigned v = 0;
		for (; *p >= '0' && *p <= '9'; p++)
			v = v * 10 + (unsigned)(*p - '0');
		bits |= UINT64_C(1) << (v & 63);
		p--;
	}
	return bits;
}
