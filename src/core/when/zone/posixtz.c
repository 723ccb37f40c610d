/* POSIX TZ rules: parsing, and the clock changes of a year. */
#include "core/when/zone/posixtz.h"
#include "base/cursor.h"
#include "core/when/civil.h"

static bool read_number(struct cursor *c, int lo, int hi, int *ret)
{
	int v = 0, digits = 0;
	for (; is_digit(cursor_peek(c)) && digits < 4; c->at++, digits++)
		v = v * 10 + (cursor_peek(c) - '0');
	if (digits == 0 || v < lo || v > hi)
		return false;
	*ret = v;
	return true;
}

/* Reads hh[:mm[:ss]] with an optional sign, as seconds. */
static bool read_hms(struct cursor *c, int hours_max, int32_t *ret)
{
	int sign = 1, h, m = 0, s = 0;
	if (cursor_accept(c, '-'))
		sign = -1;
	else
		cursor_accept(c, '+');
	if (!read_number(c, 0, hours_max, &h))
		return false;
	if (cursor_accept(c, ':')) {
		if (!read_number(c, 0, 59, &m))
			return false;
		if (cursor_accept(c, ':') && !read_number(c, 0, 59, &s))
			return false;
	}
	*ret = sign * (h * 3600 + m * 60 + s);
	return true;
}

/* Skips an abbreviation: letters; or letters, digits and signs in angle brackets. */
static bool skip_name(struct cursor *c)
{
	size_t from = c->at;
	if (cursor_accept(c, '<')) {
		while (is_alpha(cursor_peek(c)) || is_digit(cursor_peek(c)) || cursor_peek(c) == '+' ||
		       cursor_peek(c) == '-')
			c->at++;
		return c->at > from + 1 && cursor_accept(c, '>');
	}
	while (is_alpha(cursor_peek(c)))
		c->at++;
	return c->at - from >= 3;
}

static bool read_day(struct cursor *c, struct tz_day *d)
{
	int a, b = 0, w = 0;
	if (cursor_accept(c, 'M')) {
		d->kind = TZ_MONTH;
		if (!read_number(c, 1, 12, &a) || !cursor_accept(c, '.') || !read_number(c, 1, 5, &b) ||
		    !cursor_accept(c, '.') || !read_number(c, 0, 6, &w))
			return false;
		d->month = (uint8_t)a;
		d->week = (uint8_t)b;
		d->wday = (uint8_t)w;
	} else {
		d->kind = cursor_accept(c, 'J') ? TZ_JULIAN1 : TZ_JULIAN0;
		if (!read_number(c, d->kind == TZ_JULIAN1, 365, &a))
			return false;
		d->day = (uint16_t)a;
	}
	d->second = 2 * 3600;
	return !cursor_accept(c, '/') || read_hms(c, 167, &d->second);
}

/* The rule's day in that year, as days since 1970-01-01. */
static int64_t day_in_year(const struct tz_day *d, int32_t year)
{
	int64_t jan1 = days_of(year, 1, 1);
	if (d->kind == TZ_JULIAN0)
		return jan1 + d->day;
	if (d->kind == TZ_JULIAN1)
		return jan1 + d->day - 1 + (is_leap(year) && d->day >= 60);
	int64_t first = days_of(year, d->month, 1);
	int64_t on = first + (d->wday + 7 - weekday_of(first)) % 7 + 7 * (d->week - 1);
	return on < first + month_days(year, d->month) ? on : on - 7;
}

static int64_t dst_start(const struct tz_rule *r, int32_t year)
{
	return day_in_year(&r->start, year) * DAY + r->start.second - r->std;
}

static int64_t dst_end(const struct tz_rule *r, int32_t year)
{
	return day_in_year(&r->end, year) * DAY + r->end.second - r->dst;
}

void tz_rule_year(const struct tz_rule *r, int32_t year, struct tz_change ret[2])
{
	struct tz_change start = { dst_start(r, year), r->dst }, end = { dst_end(r, year), r->std };
	bool north = start.at < end.at;
	ret[0] = north ? start : end;
	ret[1] = north ? end : start;
}

/* Do the two changes alternate in every kind of year? All kinds occur within 28 years. */
static bool alternates(const struct tz_rule *r)
{
	struct tz_change before[2], now[2];
	tz_rule_year(r, 2000, before);
	for (int32_t year = 2001; year <= 2028; year++) {
		tz_rule_year(r, year, now);
		if (now[0].offset != before[0].offset || before[1].at >= now[0].at || now[0].at >= now[1].at)
			return false;
		memcpy(before, now, sizeof now);
	}
	return true;
}

enum err tz_rule_parse(struct str text, struct tz_rule *ret, struct why *why)
{
	struct cursor c = { text, 0 };
	struct tz_rule r = { 0 };
	if (!skip_name(&c) || !read_hms(&c, 24, &r.std))
		return why_set(why, E_INPUT, c.at, "bad zone rule: expected a name and an offset");
	r.std = -r.std; /* POSIX offsets are positive west of Greenwich */
	r.dst = r.std;
	if (c.at < text.n) {
		if (!skip_name(&c))
			return why_set(why, E_INPUT, c.at,
				       "bad zone rule: expected the daylight saving name");
		r.dst = r.std + 3600;
		if (c.at < text.n && cursor_peek(&c) != ',') {
			if (!read_hms(&c, 24, &r.dst))
				return why_set(why, E_INPUT, c.at, "bad zone rule: expected an offset");
			r.dst = -r.dst;
		}
		if (!cursor_accept(&c, ',') || !read_day(&c, &r.start) || !cursor_accept(&c, ',') ||
		    !read_day(&c, &r.end) || c.at < text.n)
			return why_set(why, E_INPUT, c.at, "bad zone rule: expected two dates");
		/* Daylight saving time all year round ("EST5EDT,0/0,J365/25") means a fixed offset. */
		if (dst_end(&r, 2001) >= dst_start(&r, 2002) && dst_start(&r, 2001) < dst_end(&r, 2001))
			r.std = r.dst;
		if (r.std != r.dst && !alternates(&r))
			return why_set(why, E_INPUT, 0,
				       "bad zone rule: daylight saving time ends before it starts");
	}
	*ret = r;
	return OK;
}
