/* ISO 8601 times: parsing and formatting. */
#include "core/when/iso.h"
#include "base/cursor.h"
#include "core/when/civil.h"

#include <stdio.h>

/* A time being read; after an error nothing more is read. */
struct iso_reader {
	struct cursor in;
	struct why *why;
	enum err err;
};

/* Reads exactly `count` digits, a number from lo to hi. */
static unsigned read_digits(struct iso_reader *r, unsigned count, const char *what, unsigned lo, unsigned hi)
{
	unsigned v = 0;
	if (r->err)
		return 0;
	for (unsigned i = 0; i < count; i++) {
		char c = r->in.at + i < r->in.text.n ? r->in.text.p[r->in.at + i] : 0;
		if (!is_digit(c)) {
			r->err = why_set(r->why, E_INPUT, r->in.at + i, "%s needs %u digits (%0*u-%u)", what,
					 count, (int)count, lo, hi);
			return 0;
		}
		v = v * 10 + (unsigned)(c - '0');
	}
	if (v < lo || v > hi) {
		r->err = why_set(r->why, E_INPUT, r->in.at, "%s %0*u is out of range %0*u-%u", what,
				 (int)count, v, (int)count, lo, hi);
		return 0;
	}
	r->in.at += count;
	return v;
}

static bool accept_char(struct iso_reader *r, char c)
{
	return !r->err && cursor_accept(&r->in, c);
}

static void expect_char(struct iso_reader *r, char c)
{
	if (!accept_char(r, c) && !r->err)
		r->err = why_set(r->why, E_INPUT, r->in.at,
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
	/* 2026-11-…, 2026-W46, or 2026-320 alone; but not 1000-59 * * * *, which is a wrong cron range */
	return n == 4 && word.n > 6 && word.p[n] == '-' &&
	       (to_upper(word.p[n + 1]) == 'W' || memchr(word.p + n + 1, '-', word.n - n - 1) ||
		!str_trim(text).n);
}

/* Reads a fraction of a second, after its point. */
static void read_fraction(struct iso_reader *r, struct iso *t)
{
	int32_t unit = 100000;
	size_t from = r->in.at;
	bool finer = false; /* finer than microseconds: rounded up, so that no run is early */
	for (; is_digit(cursor_peek(&r->in)); r->in.at++, unit /= 10) {
		t->micros += unit * (cursor_peek(&r->in) - '0');
		finer |= unit == 0 && cursor_peek(&r->in) != '0';
	}
	t->micros += finer;
	if (r->in.at == from || r->in.at - from > 9)
		r->err = why_set(r->why, E_INPUT, from, "a fraction of a second has 1-9 digits");
}

/* Reads Z, +01:00, -0130 or +05, if there is any. */
static void read_offset(struct iso_reader *r, struct iso *t)
{
	int sign = accept_char(r, '+') ? 1 : accept_char(r, '-') ? -1 : 0;
	t->has_offset = sign || accept_char(r, 'Z') || accept_char(r, 'z');
	if (!sign)
		return;
	int32_t h = (int32_t)read_digits(r, 2, "offset hour", 0, 23), m = 0;
	if (accept_char(r, ':') || (!r->err && is_digit(cursor_peek(&r->in))))
		m = (int32_t)read_digits(r, 2, "offset minute", 0, 59);
	t->offset = sign * (h * 3600 + m * 60);
}

/* Reads the time of day after its T, with colons if `extended`, into t; returns its seconds. */
static int64_t read_time(struct iso_reader *r, bool extended, struct iso *t)
{
	unsigned second = 0, hour = read_digits(r, 2, "hour", 0, 23);
	if (extended)
		expect_char(r, ':');
	unsigned minute = read_digits(r, 2, "minute", 0, 59);
	if (extended ? accept_char(r, ':') : !r->err && is_digit(cursor_peek(&r->in)))
		second = read_digits(r, 2, "second", 0, 59);
	if (accept_char(r, '.') || accept_char(r, ','))
		read_fraction(r, t);
	read_offset(r, t);
	return hour * 3600 + minute * 60 + second;
}

enum err iso_parse(struct str text, struct iso *ret, struct why *why)
{
	struct iso_reader r = { .in = { text, 0 }, .why = why };
	struct iso t = { 0 };
	if (text.n == 0)
		return why_set(why, E_INPUT, 0, "a date or time is missing, such as 2026-11-16T14:00:00Z");
	if (!iso_looks_like(text))
		return why_set(why, E_INPUT, 0, "'%.*s' is not a date or time such as 2026-11-16T14:00:00Z",
			       STR_SHORT(text));
	int32_t year = (int32_t)read_digits(&r, 4, "year", YEAR_MIN, YEAR_MAX);
	bool extended = accept_char(&r, '-'); /* with separators */
	if (to_upper(cursor_peek(&r.in)) == 'W')
		return why_set(why, E_INPUT, r.in.at, "week dates are not supported; write 2026-11-16");
	unsigned month = read_digits(&r, 2, "month", 1, 12);
	if (extended)
		expect_char(&r, '-');
	unsigned day = read_digits(&r, 2, "day", 1, r.err ? 31 : month_days(year, month));
	t.has_time = accept_char(&r, 'T') || accept_char(&r, 't') || accept_char(&r, ' ');
	int64_t time = t.has_time ? read_time(&r, extended, &t) : 0;
	if (!r.err && r.in.at < text.n)
		r.err = why_set(why, E_INPUT, r.in.at,
				"'%.*s' does not belong to a time such as 2026-11-16T14:00:00Z",
				STR_SHORT(str_from(text, r.in.at)));
	if (r.err)
		return r.err;
	t.local = days_of(year, month, day) * DAY + time;
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

static const char *format_time(int64_t seconds, const char *end, char ret[ISO_SIZE])
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
	return format_time(seconds, "", ret);
}

const char *iso_format_utc(int64_t seconds, char ret[ISO_SIZE])
{
	return format_time(seconds, "Z", ret);
}

const char *iso_format_offset(int32_t offset, char ret[ISO_SIZE])
{
	unsigned v = (unsigned)(offset < 0 ? -offset : offset);
	int n = snprintf(ret, ISO_SIZE, "%c%02u:%02u", offset < 0 ? '-' : '+', v / 3600, v / 60 % 60);
	if (v % 60)
		snprintf(ret + n, ISO_SIZE - (size_t)n, ":%02u", v % 60);
	return ret;
}
