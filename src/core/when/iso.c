#include "core/when/iso.h"
#include "core/when/civil.h"

#include <stdio.h>

struct reader {
	struct str text;
	size_t at;
	struct why *why;
	enum err err;
};

static char look(const struct reader *r)
{
	return r->at < r->text.n ? r->text.p[r->at] : 0;
}

static bool take(struct reader *r, char c)
{
	if (r->at >= r->text.n || r->text.p[r->at] != c)
		return false;
	r->at++;
	return true;
}

/* Exactly `digits` digits within [lo, hi]; after an error nothing more is read. */
static unsigned digits(struct reader *r, unsigned count, const char *what, unsigned lo, unsigned hi)
{
	unsigned v = 0;
	if (r->err)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		char c = r->at + i < r->text.n ? r->text.p[r->at + i] : 0;
		if (!is_digit(c)) {
			r->err = why_set(r->why, E_INPUT, r->at + i, "%s needs %u digits (%0*u-%u)", what,
					 count, (int)count, lo, hi);
			return 0;
		}
		v = v * 10 + (unsigned)(c - '0');
	}
	if (v < lo || v > hi) {
		r->err = why_set(r->why, E_INPUT, r->at, "%s %0*u is out of range %0*u-%u", what, (int)count,
				 v, (int)count, lo, hi);
		return 0;
	}
	r->at += count;
	return v;
}

static void expect(struct reader *r, char c)
{
	if (!r->err && !take(r, c))
		r->err = why_set(r->why, E_INPUT, r->at,
				 "expected '%c' in a time such as 2026-11-16T14:00:00Z", c);
}

bool iso_looks_like(struct str text)
{
	struct str word = str_token(&text);
	size_t n = 0;
	while (n < word.n && is_digit(word.p[n]))
		n++;
	if (n == 8)
		return n == word.n || to_upper(word.p[n]) == 'T';
	/* 2026-11-…, 2026-W46, 2026-320 alone; but not 1000-59 * * * *, a cron range gone wrong */
	return n == 4 && word.n > 6 && word.p[n] == '-' &&
	       (to_upper(word.p[n + 1]) == 'W' || memchr(word.p + n + 1, '-', word.n - n - 1) ||
		!str_trim(text).n);
}

enum err iso_parse(struct str text, struct iso *ret, struct why *why)
{
	struct reader r = { text, 0, why, OK };
	struct iso t = { 0 };
	if (text.n == 0)
		return why_set(why, E_INPUT, 0, "a date or time is missing, such as 2026-11-16T14:00:00Z");
	if (!iso_looks_like(text))
		return why_set(why, E_INPUT, 0, "'%.*s' is not a date or time such as 2026-11-16T14:00:00Z",
			       STR_SHORT(text));
	int32_t year = (int32_t)digits(&r, 4, "year", YEAR_MIN, YEAR_MAX);
	bool wide = !r.err && take(&r, '-');
	if (to_upper(look(&r)) == 'W')
		return why_set(why, E_INPUT, r.at, "week dates are not supported; write 2026-11-16");
	unsigned month = digits(&r, 2, "month", 1, 12);
	if (wide)
		expect(&r, '-');
	unsigned day = digits(&r, 2, "day", 1, r.err ? 31 : month_days(year, month));
	unsigned hour = 0, minute = 0, second = 0;
	if (!r.err && (take(&r, 'T') || take(&r, 't') || take(&r, ' '))) {
		t.has_time = true;
		hour = digits(&r, 2, "hour", 0, 23);
		if (wide)
			expect(&r, ':');
		minute = digits(&r, 2, "minute", 0, 59);
		if (!r.err && (wide ? take(&r, ':') : is_digit(look(&r))))
			second = digits(&r, 2, "second", 0, 59);
		if (!r.err && (take(&r, '.') || take(&r, ','))) {
			int32_t unit = 100000;
			size_t from = r.at;
			bool more = false; /* than microseconds hold: round up, never early */
			for (; is_digit(look(&r)); r.at++, unit /= 10) {
				t.micros += unit * (look(&r) - '0');
				more |= unit == 0 && look(&r) != '0';
			}
			t.micros += more;
			if (r.at == from || r.at - from > 9)
				r.err = why_set(why, E_INPUT, from, "a fraction of a second has 1-9 digits");
		}
		if (!r.err && (look(&r) == '+' || look(&r) == '-')) {
			int sign = look(&r) == '-' ? -1 : 1;
			r.at++;
			t.has_offset = true;
			int32_t h = (int32_t)digits(&r, 2, "offset hour", 0, 23), m = 0;
			if (!r.err && (take(&r, ':') || is_digit(look(&r))))
				m = (int32_t)digits(&r, 2, "offset minute", 0, 59);
			t.offset = sign * (h * 3600 + m * 60);
		} else if (!r.err && (take(&r, 'Z') || take(&r, 'z'))) {
			t.has_offset = true;
		}
	}
	if (!r.err && r.at < text.n)
		r.err = why_set(why, E_INPUT, r.at,
				"'%.*s' does not belong to a time such as 2026-11-16T14:00:00Z",
				STR_SHORT(str_from(text, r.at)));
	if (r.err)
		return r.err;
	t.local = seconds_of(year, month, day, hour, minute, second);
	if (t.local - t.offset < SECONDS_MIN || t.local - t.offset > SECONDS_MAX)
		return why_set(why, E_INPUT, 0, "the time is out of range 0001-9999");
	*ret = t;
	return OK;
}

int64_t iso_utc(const struct iso *t, const struct zone *z, enum zone_fit *fit)
{
	if (!t->has_offset)
		return zone_utc(z, t->local, fit);
	if (fit)
		*fit = ZONE_ONCE;
	return t->local - t->offset;
}

static const char *format(int64_t seconds, const char *end, char ret[ISO_SIZE])
{
	int64_t day = floor_div(seconds, DAY);
	unsigned sod = (unsigned)(seconds - day * DAY);
	struct date d = date_of(day);
	snprintf(ret, ISO_SIZE, "%04d-%02u-%02uT%02u:%02u:%02u%s", d.year, d.month, d.day, sod / 3600,
		 sod / 60 % 60, sod % 60, end);
	return ret;
}

const char *iso_format_local(int64_t seconds, char ret[ISO_SIZE])
{
	return format(seconds, "", ret);
}

const char *iso_format_utc(int64_t seconds, char ret[ISO_SIZE])
{
	return format(seconds, "Z", ret);
}

const char *iso_format_offset(int32_t offset, char ret[ISO_SIZE])
{
	unsigned v = (unsigned)(offset < 0 ? -offset : offset);
	int n = snprintf(ret, ISO_SIZE, "%c%02u:%02u", offset < 0 ? '-' : '+', v / 3600, v / 60 % 60);
	if (v % 60)
		snprintf(ret + n, ISO_SIZE - (size_t)n, ":%02u", v % 60);
	return ret;
}
