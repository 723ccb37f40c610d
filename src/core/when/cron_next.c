/* The next match of a cron value: a walk over bitsets in local time, and the bends a zone puts into it.
 * Everything below `local_next` knows nothing of zones; cron_next knows nothing of fields. */
#include "core/when/civil.h"
#include "core/when/cron.h"

static int lowest64(uint64_t bits)
{
	return bits ? __builtin_ctzll(bits) : -1;
}

/* The lowest set bit at or above `from`, or -1. */
static int at_or_above(uint64_t bits, unsigned from)
{
	return from > 63 ? -1 : lowest64(bits & (~UINT64_C(0) << from));
}

/* The first matching second of the day at or after `sod`, or -1. */
static int32_t time_next(const struct cron *c, unsigned sod)
{
	unsigned h = sod / 3600, m = sod / 60 % 60, s = sod % 60;
	if (c->hour >> h & 1) {
		if (c->minute >> m & 1) {
			int s2 = at_or_above(c->second, s);
			if (s2 >= 0)
				return (int32_t)(h * 3600 + m * 60) + s2;
		}
		int m2 = at_or_above(c->minute, m + 1);
		if (m2 >= 0)
			return (int32_t)(h * 3600) + m2 * 60 + lowest64(c->second);
	}
	int h2 = at_or_above(c->hour, h + 1);
	return h2 < 0 ? -1 : h2 * 3600 + lowest64(c->minute) * 60 + lowest64(c->second);
}

/* Weekday bits spread over a month: bit d is set if day d is such a weekday. `first` is the weekday of the
 * 1st. */
static uint64_t spread(uint64_t wdays, unsigned first)
{
	return (wdays * UINT64_C(0x810204081) >> first) << 1;
}

/* 15W: that day, or the Friday before or the Monday after it; never in another month. */
static unsigned nearest_weekday(unsigned day, unsigned days, unsigned first)
{
	unsigned w = (first + day - 1) % 7;
	if (w == 6)
		return day > 1 ? day - 1 : day + 2;
	if (w == 0)
		return day < days ? day + 1 : day - 2;
	return day;
}

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
		*wdays |= spread(c->wday_nth[n], first) & (UINT64_C(0xFE) << 7 * n);
	if (c->wday_last)
		*wdays |= spread(c->wday_last, first) & (UINT64_C(0x7F) << (days - 6));
	return mdays;
}

/* The matching days of a month, bit d for day d. */
static uint64_t days_matching(const struct cron *c, unsigned days, unsigned first)
{
	uint64_t wdays = spread(c->wday, first), mdays = c->mday;
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
			*ret = (first + lowest64(match) - 1) * DAY + time_next(c, 0);
			return *ret < limit;
		}
	}
	int32_t year = d.year, last_year = year + CRON_YEARS_MAX;
	for (;;) {
		int next = at_or_above(c->month, month + 1);
		if (next < 0) {
			if (++year > last_year)
				return false;
			next = lowest64(c->month);
		}
		month = (unsigned)next;
		first = days_of(year, month, 1);
		if (first * DAY >= limit)
			return false;
		uint64_t match = days_matching(c, month_days(year, month), weekday_of(first));
		if (match) {
			*ret = (first + lowest64(match) - 1) * DAY + time_next(c, 0);
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
	enum { FAR = 3 * 86400 }; /* more than two offsets can differ by */
	int64_t t = after < SECONDS_MIN ? SECONDS_MIN : after > SECONDS_MAX ? after : after + 1, local;
	while (t <= SECONDS_MAX) {
		struct zone_span s = zone_span(z, t);
		/* Times inside the gap that ends here fall together on its end. */
		if (t == s.from && s.before < s.offset && c->gap == GAP_SHIFT &&
		    cron_between(c, t + s.before, t + s.offset)) {
			*ret = t;
			return OK;
		}
		int64_t from = t + s.offset, to = s.to + s.offset;
		if (s.before > s.offset && c->fold == FOLD_FIRST && from < s.from + s.before)
			from = s.from + s.before; /* past the second pass */
		if (s.after < s.offset && c->fold == FOLD_SECOND)
			to = s.to + s.after; /* up to the first pass */
		if (!local_next(c, from, SECONDS_MAX + FAR, &local))
			return E_NOTFOUND;
		if (local < to) {
			if (local - s.offset > SECONDS_MAX)
				return E_NOTFOUND;
			*ret = local - s.offset;
			return OK;
		}
		/* Nothing matches in [from, local). Unless a change of the clock is near enough to bring
		 * local times before `from` back, all that lies well before `local` can be passed over at
		 * once. */
		bool far = s.to - t > FAR && local - FAR > s.to;
		t = far ? local - FAR : s.to;
	}
	return E_NOTFOUND;
}
