/* The next match of a cron value: a walk over bitsets in local time, one span of constant offset at a time.
 * local_next and the functions above it do not know zones; cron_next does not know fields. */
#include "core/when/civil.h"
#include "core/when/cron.h"

/* The lowest set bit, or -1. */
static int lowest_bit(uint64_t bits)
{
	return bits ? __builtin_ctzll(bits) : -1;
}

/* The lowest set bit at or above bit `from`, or -1. */
static int lowest_bit_from(uint64_t bits, unsigned from)
{
	return from > 63 ? -1 : lowest_bit(bits & (~UINT64_C(0) << from));
}

/* The first matching second of the day at or after `sod`, or -1. */
static int32_t time_next(const struct cron *c, unsigned sod)
{
	unsigned h = sod / 3600, m = sod / 60 % 60, s = sod % 60;
	if (c->hour >> h & 1) {
		if (c->minute >> m & 1) {
			int s2 = lowest_bit_from(c->second, s);
			if (s2 >= 0)
				return (int32_t)(h * 3600 + m * 60) + s2;
		}
		int m2 = lowest_bit_from(c->minute, m + 1);
		if (m2 >= 0)
			return (int32_t)(h * 3600) + m2 * 60 + lowest_bit(c->second);
	}
	int h2 = lowest_bit_from(c->hour, h + 1);
	return h2 < 0 ? -1 : h2 * 3600 + lowest_bit(c->minute) * 60 + lowest_bit(c->second);
}

/* Spreads weekday bits over a month: bit d is set if day d is one of these weekdays. `first` is the weekday
 * of the 1st. */
static uint64_t spread_wdays(uint64_t wdays, unsigned first)
{
	return (wdays * UINT64_C(0x810204081) >> first) << 1;
}

/* 15W: that day, or the nearest Friday or Monday in the same month if it is on a weekend. */
static unsigned nearest_weekday(unsigned day, unsigned days, unsigned first)
{
	unsigned w = (first + day - 1) % 7;
	if (w == 6)
		return day > 1 ? day - 1 : day + 2;
	if (w == 0)
		return day < days ? day + 1 : day - 2;
	return day;
}

/* Matches of L, W and #: returns the days of the month, adds the weekdays to *wdays. */
static uint64_t special_days(const struct cron *c, unsigned days, unsigned first, uint64_t *wdays)
{
	uint64_t mdays = c->mday;
	for (uint32_t b = c->mday_last; b; b &= b - 1) {
		unsigned back = (unsigned)__builtin_ctz(b);
		if (back < days)
			mdays |= UINT64_C(1) << (days - back);
	}
	for (uint32_t b = c->mday_near; b; b &= b - 1) {
		unsigned day = (unsigned)__builtin_ctz(b);
		if (day == 0)
			day = days;
		if (day <= days)
			mdays |= UINT64_C(1) << nearest_weekday(day, days, first);
	}
	for (unsigned n = 0; n < 5; n++)
		*wdays |= spread_wdays(c->wday_nth[n], first) & (UINT64_C(0xFE) << 7 * n);
	if (c->wday_last)
		*wdays |= spread_wdays(c->wday_last, first) & (UINT64_C(0x7F) << (days - 6));
	return mdays;
}

/* The matching days of a month, bit d for day d. */
static uint64_t days_matching(const struct cron *c, unsigned days, unsigned first)
{
	uint64_t wdays = spread_wdays(c->wday, first), mdays = c->mday;
	if (c->flags & CRON_SPECIAL)
		mdays = special_days(c, days, first, &wdays);
	uint64_t both = c->flags & (CRON_MDAY_STAR | CRON_WDAY_STAR) ? mdays & wdays : mdays | wdays;
	return both & ((UINT64_C(2) << days) - 2);
}

/* The first matching local second at or after `from` and before `limit`. */
static bool local_next(const struct cron *c, int64_t from, int64_t limit, int64_t *ret)
{
	if (from >= limit)
		return false;
	int64_t day = floor_div(from, DAY);
	struct date d = date_of(day);
	unsigned month = d.month, days = month_days(d.year, month);
	int64_t first = day - d.day + 1; /* the 1st of the month */
	uint64_t todo = ~UINT64_C(0) << d.day;
	if (c->month >> month & 1) {
		uint64_t match = days_matching(c, days, weekday_of(first)) & todo;
		if (match >> d.day & 1) {
			int32_t sod = time_next(c, (unsigned)(from - day * DAY));
			if (sod >= 0) {
				*ret = day * DAY + sod;
				return *ret < limit;
			}
			match &= match - 1;
		}
		if (match) {
			*ret = (first + lowest_bit(match) - 1) * DAY + time_next(c, 0);
			return *ret < limit;
		}
	}
	int32_t year = d.year, last_year = year + CRON_YEARS_MAX;
	for (;;) {
		int next = lowest_bit_from(c->month, month + 1);
		if (next < 0) {
			if (++year > last_year)
				return false;
			next = lowest_bit(c->month);
		}
		month = (unsigned)next;
		first = days_of(year, month, 1);
		if (first * DAY >= limit)
			return false;
		uint64_t match = days_matching(c, month_days(year, month), weekday_of(first));
		if (match) {
			*ret = (first + lowest_bit(match) - 1) * DAY + time_next(c, 0);
			return *ret < limit;
		}
	}
}

bool cron_between(const struct cron *c, int64_t from, int64_t to)
{
	int64_t found;
	return local_next(c, from, to, &found);
}

enum err cron_next(const struct cron *c, const struct zone *z, int64_t after, int64_t *ret)
{
	enum { FAR = 3 * 86400 }; /* more than the difference of any two offsets */
	int64_t t = after < SECONDS_MIN ? SECONDS_MIN : after > SECONDS_MAX ? after : after + 1, local;
	while (t <= SECONDS_MAX) {
		struct zone_span s = zone_span(z, t);
		/* All times inside the gap that ends here run once, at its end. */
		if (t == s.from && s.before < s.offset && c->gap == GAP_SHIFT &&
		    cron_between(c, t + s.before, t + s.offset)) {
			*ret = t;
			return OK;
		}
		int64_t from = t + s.offset, to = s.to + s.offset;
		if (s.before > s.offset && c->fold == FOLD_FIRST && from < s.from + s.before)
			from = s.from + s.before; /* skip the second pass */
		if (s.after < s.offset && c->fold == FOLD_SECOND)
			to = s.to + s.after; /* stop before the first pass */
		if (!local_next(c, from, SECONDS_MAX + FAR, &local))
			return E_NOTFOUND;
		if (local < to) {
			if (local - s.offset > SECONDS_MAX)
				return E_NOTFOUND;
			*ret = local - s.offset;
			return OK;
		}
		/* Nothing matches in [from, local). Unless a clock change is so near that it could repeat
		 * local times before `from`, the search can jump to a moment well before `local`. */
		bool far = s.to - t > FAR && local - FAR > s.to;
		t = far ? local - FAR : s.to;
	}
	return E_NOTFOUND;
}
