/* A cron value in words. The sets of values decide which form the sentence has; every form names the values
 * exactly, and the sentences of different forms differ. */
#include "core/when/explain/cron.h"
#include "core/when/explain/text.h"

static const char *const month_names[] = { NULL,      "January",  "February", "March",  "April",
					   "May",     "June",     "July",     "August", "September",
					   "October", "November", "December" };
static const char *const ordinal_names[] = { NULL, "first", "second", "third", "fourth", "fifth", "last" };
enum { ORDINAL_LAST = 6 };

/* --- sets of values --- */

static unsigned count_bits(uint64_t bits)
{
	return (unsigned)__builtin_popcountll(bits);
}

static unsigned lowest_bit(uint64_t bits)
{
	return (unsigned)__builtin_ctzll(bits);
}

/* Values at equal distances: enough of them that "every …" is shorter than a list. */
struct steps {
	unsigned first, last, by;
};

static bool steps_of(uint64_t bits, struct steps *ret)
{
	enum { STEPS_MIN = 5 };
	unsigned n = count_bits(bits);
	if (n < STEPS_MIN)
		return false;
	struct steps s = { lowest_bit(bits), 63 - (unsigned)__builtin_clzll(bits), 0 };
	s.by = (s.last - s.first) / (n - 1);
	*ret = s;
	return bits == cron_steps(s.first, s.last, s.by);
}

/* n if the values are 0, n, 2n, … and n divides 60; 60 for {0} alone; else 0. */
static unsigned step_of_sixty(uint64_t bits)
{
	if (!(bits & 1))
		return 0;
	unsigned by = bits == 1 ? 60 : lowest_bit(bits & ~UINT64_C(1));
	return 60 % by == 0 && bits == cron_steps(0, 59, by) ? by : 0;
}

static void add_ordinal(struct buf *out, unsigned n)
{
	static const char *const ends[] = { "th", "st", "nd", "rd" };
	unsigned last = n % 100 / 10 == 1 ? 0 : n % 10;
	buf_addf(out, "%u%s", n, ends[last < ARRAY_LEN(ends) ? last : 0]);
}

/* --- the time of day --- */

/* Appends the times in this form; false, with nothing appended, if they do not fit it. */
typedef bool time_form(const struct cron *c, struct buf *out);

/* Appends the seconds, between commas, for forms whose times do not contain them. */
static void add_seconds(const struct cron *c, struct buf *out)
{
	struct steps s;
	if (c->second == 1)
		return;
	if (c->second == CRON_ALL_SIXTIES) {
		buf_add(out, STR(", at every second"));
	} else if (steps_of(c->second, &s) && s.by > 1) {
		buf_addf(out, ", every %u seconds from second %u to %u", s.by, s.first, s.last);
	} else {
		buf_addf(out, ", at second%s ", count_bits(c->second) > 1 ? "s" : "");
		text_values(out, c->second, NULL, " and ");
	}
	buf_add(out, STR(" of the minute,"));
}

/* "Every 15 minutes": all day, at equal distances within each hour and across full hours. */
static bool form_all_day(const struct cron *c, struct buf *out)
{
	unsigned minutes = step_of_sixty(c->minute), seconds = step_of_sixty(c->second);
	if (c->hour != CRON_ALL_HOURS || !minutes)
		return false;
	if (minutes == 1 && seconds && seconds < 60) {
		text_every(out, seconds, "second");
		return true;
	}
	if (minutes < 60)
		text_every(out, minutes, "minute");
	else if (c->second == 1)
		text_every(out, 1, "hour");
	else
		return false;
	add_seconds(c, out);
	return true;
}

/* "At 08:00, 12:00 and 18:00" */
static void add_clocks(uint64_t hour, uint64_t minute, uint64_t second, bool with_seconds, struct buf *out)
{
	unsigned n = count_bits(hour) * count_bits(minute) * count_bits(second), i = 0;
	buf_add(out, STR("At "));
	for (uint64_t h = hour; h; h &= h - 1)
		for (uint64_t m = minute; m; m &= m - 1)
			for (uint64_t s = second; s; s &= s - 1) {
				text_join(out, i++, n, " and ");
				text_clock(out, lowest_bit(h) * 3600 + lowest_bit(m) * 60 + lowest_bit(s),
					   with_seconds);
			}
}

static bool clock_list(const struct cron *c, struct buf *out, unsigned most)
{
	if (count_bits(c->hour) * count_bits(c->minute) * count_bits(c->second) > most)
		return false;
	add_clocks(c->hour, c->minute, c->second, c->second != 1, out);
	return true;
}

/* A short list of times is the best form; a longer one is still better than fields. */
enum { FEW = 4, SEVERAL = 12 };

static bool form_few(const struct cron *c, struct buf *out)
{
	return clock_list(c, out, FEW);
}

static bool form_several(const struct cron *c, struct buf *out)
{
	return clock_list(c, out, SEVERAL);
}

/* "At 09:00, at every second of the minute," */
static bool form_minutes(const struct cron *c, struct buf *out)
{
	if (count_bits(c->hour) * count_bits(c->minute) > FEW)
		return false;
	add_clocks(c->hour, c->minute, 1, false, out);
	add_seconds(c, out);
	return true;
}

static void add_span(struct buf *out, unsigned from, unsigned to, bool with_seconds)
{
	buf_add(out, STR("from "));
	text_clock(out, from, with_seconds);
	buf_add(out, STR(" to "));
	text_clock(out, to, with_seconds);
}

/* "Every 15 minutes from 09:00 to 17:45": like form_all_day, but in some hours only. */
static bool form_spans(const struct cron *c, struct buf *out)
{
	enum { SPANS_MAX = 3 };
	struct value_run run[VALUE_RUNS_MAX];
	unsigned minutes = step_of_sixty(c->minute), seconds = step_of_sixty(c->second);
	unsigned n = value_runs(c->hour, 1, run), first = lowest_bit(c->second), last;
	if (n > SPANS_MAX)
		return false;
	if (count_bits(c->second) == 1 && minutes && minutes < 60) {
		text_every(out, minutes, "minute");
		last = (60 - minutes) * 60 + first;
	} else if (minutes == 1 && seconds) {
		text_every(out, seconds, "second");
		last = 3600 - seconds;
	} else {
		return false;
	}
	for (unsigned i = 0; i < n; i++) {
		text_join(out, i, n, " and ");
		buf_add(out, i ? STR("") : STR(" "));
		add_span(out, run[i].from * 3600u + first, run[i].to * 3600u + last, c->second != 1);
	}
	return true;
}

/* "Every 7 minutes from 09:00 to 09:56": within one hour any step has equal distances. */
static bool form_one_hour(const struct cron *c, struct buf *out)
{
	struct steps s;
	if (count_bits(c->hour) != 1 || count_bits(c->second) != 1 || !steps_of(c->minute, &s))
		return false;
	unsigned start = lowest_bit(c->hour) * 3600 + lowest_bit(c->second);
	text_every(out, s.by, "minute");
	buf_addc(out, ' ');
	add_span(out, start + s.first * 60, start + s.last * 60, c->second != 1);
	return true;
}

/* "Every 2 hours from 08:30 to 18:30": one minute, at any step of hours. */
static bool form_hours(const struct cron *c, struct buf *out)
{
	struct steps s;
	if (c->hour == CRON_ALL_HOURS || count_bits(c->minute) != 1 || count_bits(c->second) != 1 ||
	    !steps_of(c->hour, &s))
		return false;
	unsigned start = lowest_bit(c->minute) * 60 + lowest_bit(c->second);
	text_every(out, s.by, "hour");
	buf_addc(out, ' ');
	add_span(out, start + s.first * 3600, start + s.last * 3600, c->second != 1);
	return true;
}

/* "At minutes 5 and 20 of the hours 8, 12 and 18": fits all values. */
static bool form_fields(const struct cron *c, struct buf *out)
{
	struct steps s;
	if (c->minute == CRON_ALL_SIXTIES) {
		text_every(out, 1, "minute");
	} else if (steps_of(c->minute, &s) && s.by > 1) {
		text_every(out, s.by, "minute");
		buf_addf(out, " from minute %u to %u", s.first, s.last);
	} else {
		buf_addf(out, "At minute%s ", count_bits(c->minute) > 1 ? "s" : "");
		text_values(out, c->minute, NULL, " and ");
	}
	buf_add(out, STR(" of "));
	if (c->hour == CRON_ALL_HOURS) {
		buf_add(out, STR("every hour"));
	} else if (steps_of(c->hour, &s) && s.by > 1) {
		buf_add(out, STR("every "));
		add_ordinal(out, s.by);
		buf_addf(out, " hour from %u to %u", s.first, s.last);
	} else {
		buf_addf(out, "the hour%s ", count_bits(c->hour) > 1 ? "s" : "");
		text_values(out, c->hour, NULL, " and ");
	}
	add_seconds(c, out);
	return true;
}

/* The first form that fits is used. */
static time_form *const time_forms[] = { form_all_day, form_few,     form_spans,   form_one_hour,
					 form_hours,   form_several, form_minutes, form_fields };

/* --- the days --- */

/* The wording of weekdays: if only they restrict the days, if either day field is enough, and if both must
 * match. */
enum wording { WORDING_ONLY, WORDING_EITHER, WORDING_BOTH };
static const struct {
	const char *item, *weekday, *last;
} wordings[] = {
	[WORDING_ONLY] = { "on ", "", " and " },
	[WORDING_EITHER] = { "on ", "any ", " or " },
	[WORDING_BOTH] = { "", "a ", " or " },
};

static unsigned mday_items(const struct cron *c)
{
	return (c->mday != 0) + count_bits(c->mday_last) + count_bits(c->mday_near);
}

/* Which days of the month with this weekday match: bit n for the n-th, bit ORDINAL_LAST for the last. */
static unsigned ordinals(const struct cron *c, unsigned wday)
{
	unsigned bits = (unsigned)(c->wday_last >> wday & 1) << ORDINAL_LAST;
	for (unsigned n = 0; n < ARRAY_LEN(c->wday_nth); n++)
		bits |= (unsigned)(c->wday_nth[n] >> wday & 1) << (n + 1);
	return bits;
}

static unsigned wday_items(const struct cron *c)
{
	unsigned n = c->wday != 0;
	for (unsigned w = 0; w < 7; w++)
		n += ordinals(c, w) != 0;
	return n;
}

static void add_mday_values(uint32_t mday, const char *of, struct buf *out)
{
	struct steps s;
	if (steps_of(mday, &s) && s.by > 1) {
		buf_add(out, STR("every "));
		add_ordinal(out, s.by);
		buf_addf(out, " day of %s from day %u", of, s.first);
		if (s.last + s.by <= 31) /* else the steps go on to the end of the month */
			buf_addf(out, " to day %u", s.last);
		return;
	}
	buf_add(out, STR("day "));
	text_values(out, mday, NULL, " and ");
	buf_addf(out, " of %s", of);
}

/* `of` is "the month", or the names of the months. */
static void add_mday(const struct cron *c, const char *of, struct buf *out)
{
	unsigned n = mday_items(c), i = 0;
	if (c->mday) {
		text_join(out, i++, n, " and ");
		buf_add(out, STR("on "));
		add_mday_values(c->mday, of, out);
	}
	for (uint32_t b = c->mday_last; b; b &= b - 1) {
		unsigned back = lowest_bit(b);
		text_join(out, i++, n, " and ");
		if (back > 1)
			buf_addf(out, "on the day %u days before the last day of %s", back, of);
		else
			buf_addf(out, "on the %slast day of %s", back ? "day before the " : "", of);
	}
	for (uint32_t b = c->mday_near; b; b &= b - 1) {
		text_join(out, i++, n, " and ");
		if (lowest_bit(b))
			buf_addf(out, "on the weekday (Monday to Friday) nearest to day %u of %s",
				 lowest_bit(b), of);
		else
			buf_addf(out, "on the last weekday (Monday to Friday) of %s", of);
	}
}

static void add_wday(const struct cron *c, const char *of, enum wording wording, struct buf *out)
{
	unsigned n = wday_items(c), i = 0;
	const char *last = wordings[wording].last;
	if (c->wday) {
		struct value_run run[VALUE_RUNS_MAX];
		uint64_t week = (c->wday | (c->wday & 1u) << 7) & ~1u; /* from Monday, 1, to Sunday, 7 */
		bool single = value_runs(week, 3, run) == count_bits(week);
		text_join(out, i++, n, last);
		buf_add(out, str_of(wordings[wording].item));
		buf_add(out, single ? str_of(wordings[wording].weekday)
				    : STR("")); /* avoids "a Monday to Friday" */
		text_values(out, week, text_wdays, last);
	}
	for (unsigned w = 1; w <= 7; w++) {
		if (!ordinals(c, w % 7))
			continue;
		text_join(out, i++, n, last);
		buf_addf(out, "%sthe ", wordings[wording].item);
		text_values(out, ordinals(c, w % 7), ordinal_names, last);
		buf_addf(out, " %s of %s", text_wdays[w], of);
	}
}

/* Which day fields restrict the days, and whether both must match. */
struct day_rule {
	bool mday, wday, both;
};

static struct day_rule day_rule(const struct cron *c)
{
	struct day_rule r = { c->mday != CRON_ALL_MDAYS, c->wday != CRON_ALL_WDAYS,
			      c->flags & (CRON_MDAY_STAR | CRON_WDAY_STAR) };
	/* If either is enough and one of them matches every day, nothing is restricted. */
	if (!r.both && !(r.mday && r.wday))
		r.mday = r.wday = false;
	return r;
}

/* Can it be "day 1 of January" instead of "day 1 of the month in January"? Only with a single item. */
static bool can_name_months(const struct cron *c, struct day_rule r)
{
	if (r.mday == r.wday)
		return false;
	return r.mday ? mday_items(c) == 1 : !c->wday && wday_items(c) == 1;
}

static void add_days(const struct cron *c, struct buf *out)
{
	struct day_rule r = day_rule(c);
	bool any_month = c->month == CRON_ALL_MONTHS, named = !any_month && can_name_months(c, r);
	_cleanup_(buf_free) struct buf months = { 0 };
	text_values(&months, c->month, month_names, " and ");
	const char *of = named && months.p ? months.p : "the month";

	if (r.mday || r.wday)
		buf_addc(out, ' ');
	else if (c->hour != CRON_ALL_HOURS)
		buf_add(out, STR(" every day"));
	if (r.mday)
		add_mday(c, of, out);
	if (r.mday && r.wday)
		buf_add(out, r.both ? STR(", but only if it is also ") : STR(" or "));
	if (r.wday)
		add_wday(c, of, !r.mday ? WORDING_ONLY : r.both ? WORDING_BOTH : WORDING_EITHER, out);
	if (r.mday && r.wday)
		buf_add(out, r.both ? STR(" (both must match)") : STR(" (either is enough)"));
	if (!any_month && !named) {
		buf_add(out, r.mday && r.wday ? STR(", in ") : STR(" in "));
		buf_add(out, buf_str(&months));
	}
}

void explain_cron(const struct cron *c, struct buf *out)
{
	unsigned i = 0;
	while (!time_forms[i](c, out))
		i++;
	add_days(c, out);
}
