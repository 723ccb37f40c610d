/* Org timestamps: parsing, the times of their repeaters, formatting. */
#include "core/when/orgtime.h"
#include "core/when/civil.h"
#include "core/when/cron.h"

static const char unit_letters[] = {
	[ORG_HOUR] = 'h', [ORG_DAY] = 'd', [ORG_WEEK] = 'w', [ORG_MONTH] = 'm', [ORG_YEAR] = 'y'
};
static const char *const style_marks[] = {
	[ORG_ONCE] = "", [ORG_EVERY] = "+", [ORG_FUTURE] = "++", [ORG_RESTART] = ".+"
};

static bool is_repeater(struct str t)
{
	return t.p[0] == '+' || (t.n > 1 && t.p[0] == '.' && t.p[1] == '+');
}

static bool is_date(struct str t)
{
	return t.n == 10 && t.p[4] == '-';
}

/* The text between the brackets; false if there is no pair of them. */
static bool strip_brackets(struct str text, struct str *ret, bool *active)
{
	if (text.n < 2 || (text.p[0] != '<' && text.p[0] != '['))
		return false;
	*active = text.p[0] == '<';
	if (text.p[text.n - 1] != (*active ? '>' : ']'))
		return false;
	*ret = str_sub(text, 1, text.n - 1);
	return true;
}

bool org_stamp_read(struct str text, struct org_stamp *ret)
{
	struct org_stamp s = { 0 };
	struct str rest;
	if (!strip_brackets(text, &rest, &s.active))
		return false;
	for (struct str t = str_token(&rest); t.n; t = str_token(&rest)) {
		if (is_date(t)) {
			if (!s.date.n)
				s.date = t;
		} else if (memchr(t.p, ':', t.n)) {
			s.time = t;
		} else if (is_repeater(t)) {
			s.repeat = t;
		}
	}
	if (!s.date.n)
		return false;
	*ret = s;
	return true;
}

static enum err read_number(struct str t, const char *what, unsigned lo, unsigned hi, size_t at,
			    unsigned *ret, struct why *why)
{
	uint64_t v;
	if (!str_number(t, 9999, &v) || v < lo || v > hi)
		return why_set(why, E_INPUT, at, "%s %.*s is out of range %u-%u", what, STR_SHORT(t), lo, hi);
	*ret = (unsigned)v;
	return OK;
}

static enum err read_date(struct str t, size_t at, int64_t *days, struct why *why)
{
	unsigned y = 0, m = 0, d = 0;
	enum err e = read_number(str_sub(t, 0, 4), "year", YEAR_MIN, YEAR_MAX, at, &y, why);
	if (e)
		return e;
	if (t.p[7] != '-')
		return why_set(why, E_INPUT, at, "'%.*s' is not a date such as 2026-06-13", STR_ARG(t));
	e = read_number(str_sub(t, 5, 7), "month", 1, 12, at + 5, &m, why);
	if (e)
		return e;
	e = read_number(str_sub(t, 8, 10), "day", 1, month_days((int32_t)y, m), at + 8, &d, why);
	if (e)
		return e;
	*days = days_of((int32_t)y, m, d);
	return OK;
}

/* 9:00 or 09:00; the beginning of a range such as 09:00-10:00. */
static enum err read_time(struct str t, size_t at, int64_t *sod, struct why *why)
{
	const char *dash = memchr(t.p, '-', t.n);
	if (dash)
		t.n = (size_t)(dash - t.p);
	const char *colon = memchr(t.p, ':', t.n);
	size_t c = colon ? (size_t)(colon - t.p) : t.n;
	unsigned h = 0, m = 0;
	if (c < 1 || c > 2 || t.n != c + 3)
		return why_set(why, E_INPUT, at, "'%.*s' is not a time such as 09:00", STR_SHORT(t));
	enum err e = read_number(str_sub(t, 0, c), "hour", 0, 23, at, &h, why);
	if (e)
		return e;
	e = read_number(str_from(t, c + 1), "minute", 0, 59, at + c + 1, &m, why);
	if (e)
		return e;
	*sod = h * 3600 + m * 60;
	return OK;
}

static enum err read_repeat(struct str t, size_t at, struct org_rule *o, struct why *why)
{
	size_t mark = t.p[0] == '.' || (t.n > 1 && t.p[1] == '+') ? 2 : 1, i = mark;
	o->style = t.p[0] == '.' ? ORG_RESTART : mark == 2 ? ORG_FUTURE : ORG_EVERY;
	uint64_t count;
	while (i < t.n && is_digit(t.p[i]))
		i++;
	if (!str_number(str_sub(t, mark, i), ORG_REPEAT_MAX, &count) || count == 0)
		return why_set(why, E_INPUT, at + mark, "the number in repeater '%.*s' is out of range 1-%d",
			       STR_SHORT(t), ORG_REPEAT_MAX);
	o->count = (uint16_t)count;
	const char *unit = i < t.n ? memchr(unit_letters, t.p[i], sizeof unit_letters) : NULL;
	/* The upper bound of a habit (.+2d/4d) does not change its times. */
	if (!unit || (i + 1 < t.n && t.p[i + 1] != '/'))
		return why_set(why, E_INPUT, at + i, "repeater '%.*s' needs a unit (h d w m y)",
			       STR_SHORT(t));
	o->unit = (uint8_t)(unit - unit_letters);
	return OK;
}

/* The words of an active timestamp; those that are missing are empty. */
struct org_words {
	struct str date, time, repeat, day_name;
};

static enum err split_words(struct str text, struct str inner, struct org_words *w, struct why *why)
{
	for (struct str t = str_token(&inner); t.n; t = str_token(&inner)) {
		/* A time range such as 9:00-10:30 has the shape of a date: look for the colon first. */
		struct str *slot = memchr(t.p, ':', t.n) ? &w->time
				   : is_date(t)          ? &w->date
				   : is_repeater(t)      ? &w->repeat
				   : is_digit(t.p[0])    ? NULL
							 : &w->day_name;
		size_t at = (size_t)(t.p - text.p);
		if (!slot)
			return why_set(why, E_INPUT, at,
				       "'%.*s' is neither date (2026-06-13), time (09:00) nor repeater (+1w)",
				       STR_SHORT(t));
		if (slot == &w->day_name && t.p[0] == '-')
			continue; /* org's warning period (-3d): it says when to show an entry, not when it is
				     due */
		if (slot->n)
			return why_set(why, E_INPUT, at,
				       "'%.*s' repeats '%.*s'; a timestamp has each part once", STR_SHORT(t),
				       STR_SHORT(*slot));
		*slot = t;
	}
	if (!w->date.n)
		return why_set(why, E_INPUT, 0, "an org timestamp needs a date such as 2026-06-13");
	return OK;
}

/* Is it an English name of another day? Names in other languages are ignored, because org writes them in the
 * language of its user. */
static bool is_other_day(struct str name, int64_t days)
{
	for (unsigned w = 0; w < 7 && name.n >= 3; w++)
		if (str_ieq(str_sub(name, 0, 3), str_of(cron_fields[CRON_WDAY].names[w])))
			return w != weekday_of(days);
	return false;
}

enum err org_parse(struct str text, struct org_rule *ret, bool *day_off, struct why *why)
{
	struct str inner;
	struct org_words w = { 0 };
	bool active;
	if (str_starts(text, STR("<%")))
		return why_set(why, E_INPUT, 1,
			       "diary expressions are not supported; write <2026-06-13 Sat 09:00 +1w>");
	const char *close = text.n && text.p[0] == '<' ? memchr(text.p, '>', text.n) : NULL;
	if (close && close + 1 < text.p + text.n)
		return why_set(why, E_INPUT, (size_t)(close + 1 - text.p),
			       "'%.*s' after the timestamp is not understood",
			       STR_SHORT(str_trim(str_from(text, (size_t)(close + 1 - text.p)))));
	if (!strip_brackets(text, &inner, &active))
		return why_set(why, E_INPUT, 0, "an org timestamp is written <2026-06-13 Sat 09:00 +1w>");
	if (!active)
		return why_set(why, E_INPUT, 0,
			       "an inactive timestamp [...] records the past and fires nothing; write <...>");
	struct org_rule o = { 0 };
	int64_t days = 0, sod = 0;
	enum err e = split_words(text, inner, &w, why);
	if (!e)
		e = read_date(w.date, (size_t)(w.date.p - text.p), &days, why);
	if (!e && w.time.n)
		e = read_time(w.time, (size_t)(w.time.p - text.p), &sod, why);
	if (!e && w.repeat.n)
		e = read_repeat(w.repeat, (size_t)(w.repeat.p - text.p), &o, why);
	if (e)
		return e;
	o.local = days * DAY + sod;
	*day_off = is_other_day(w.day_name, days);
	*ret = o;
	return OK;
}

/* `local` moved by k intervals on the calendar; the time of day stays. */
static int64_t add_intervals(const struct org_rule *o, int64_t local, int64_t k)
{
	int64_t by = k * o->count, day = floor_div(local, DAY);
	if (o->unit == ORG_DAY || o->unit == ORG_WEEK)
		return local + by * DAY * (o->unit == ORG_WEEK ? 7 : 1);
	return add_months(day, by * (o->unit == ORG_YEAR ? 12 : 1)) * DAY + (local - day * DAY);
}

/* The k-th occurrence. */
static int64_t nth_occurrence(const struct org_rule *o, const struct zone *z, int64_t k)
{
	if (o->unit == ORG_HOUR)
		return zone_utc(z, o->local, NULL) + k * o->count * 3600;
	return zone_utc(z, add_intervals(o, o->local, k), NULL);
}

/* A number of intervals that certainly ends before the first occurrence after `after`: the search starts
 * there. */
static int64_t intervals_before(const struct org_rule *o, int64_t after)
{
	static const int64_t seconds[] = { [ORG_HOUR] = 3600, [ORG_DAY] = DAY, [ORG_WEEK] = 7 * DAY };
	const int64_t spare = 3 * DAY; /* more than the difference of any two offsets */
	int64_t k;
	if (o->unit <= ORG_WEEK) {
		k = (after - spare - o->local) / (seconds[o->unit] * o->count);
	} else {
		struct date a = date_of(floor_div(o->local, DAY)), b = date_of(floor_div(after - spare, DAY));
		int64_t months = (b.year - a.year) * INT64_C(12) + b.month - a.month;
		k = (months - 1) / (o->count * (o->unit == ORG_YEAR ? 12 : 1));
	}
	return k < 0 ? 0 : k;
}

/* `.+` counts each occurrence from the one before, so a day that was once clamped (31 to 30) stays so.
 * Returns the rule that the series follows up to `until`: that of the clamped day. A day can be clamped three
 * times at most, and within 400 years every kind of year occurs. */
static struct org_rule clamped_rule(struct org_rule o, int64_t until)
{
	unsigned day = date_of(floor_div(o.local, DAY)).day;
	for (int64_t k = 1; day > 28 && k <= 12 * CRON_YEARS_MAX; k++) {
		int64_t local = add_intervals(&o, o.local, k);
		unsigned now = date_of(floor_div(local, DAY)).day;
		if (local > until)
			break;
		if (now != day) {
			o.local = local;
			day = now;
			k = 0;
		}
	}
	return o;
}

enum err org_next(const struct org_rule *o, const struct zone *z, int64_t after, int64_t *ret)
{
	int64_t t = nth_occurrence(o, z, 0);
	if (after >= t) {
		if (o->style == ORG_ONCE || after > SECONDS_MAX)
			return E_NOTFOUND;
		bool chained = o->style == ORG_RESTART && o->unit >= ORG_MONTH;
		struct org_rule from = chained ? clamped_rule(*o, after + 3 * DAY) : *o;
		for (int64_t k = intervals_before(&from, after); t <= after; k++)
			t = nth_occurrence(&from, z, k);
	}
	if (t > SECONDS_MAX)
		return E_NOTFOUND;
	*ret = t;
	return OK;
}

enum err org_after_end(const struct org_rule *o, const struct zone *z, int64_t end, int64_t *ret)
{
	if (o->style != ORG_RESTART)
		return org_next(o, z, end, ret);
	int64_t t;
	if (o->unit == ORG_HOUR) {
		t = end + (int64_t)o->count * 3600;
	} else {
		/* The date is counted from the end; the time of day stays that of the timestamp. */
		int64_t today = floor_div(end + zone_offset(z, end), DAY) * DAY;
		int64_t sod = o->local - floor_div(o->local, DAY) * DAY;
		t = zone_utc(z, add_intervals(o, today, 1) + sod, NULL);
	}
	if (t > SECONDS_MAX)
		return E_NOTFOUND;
	*ret = t;
	return OK;
}

void org_format(const struct org_rule *o, struct buf *out)
{
	int64_t day = floor_div(o->local, DAY);
	unsigned sod = (unsigned)(o->local - day * DAY);
	struct date d = date_of(day);
	const char *name = cron_fields[CRON_WDAY].names[weekday_of(day)];
	buf_addf(out, "<%04d-%02u-%02u %c%c%c %02u:%02u", d.year, d.month, d.day, name[0], to_lower(name[1]),
		 to_lower(name[2]), sod / 3600, sod / 60 % 60);
	if (o->style != ORG_ONCE)
		buf_addf(out, " %s%u%c", style_marks[o->style], o->count, unit_letters[o->unit]);
	buf_addc(out, '>');
}
