/* English phrases, in three steps: words.c looks each word up in its vocabulary, clauses.c reads clauses in
 * any order into parts, and here the parts are written as one of the other forms. */
#include "core/when/dur.h"
#include "core/when/phrase/parts.h"

#include <stdarg.h>
#include <stdio.h>

#define DAYS_AHEAD (9 * 366) /* 29 February may be eight years away */

/* --- writing a form --- */

static void put_text(struct phrase_parser *p, const char *fmt, ...) printf_like(2, 3);
static void put_text(struct phrase_parser *p, const char *fmt, ...)
{
	size_t n = strlen(p->out.form), room = sizeof p->out.form - n;
	va_list ap;
	va_start(ap, fmt);
	int k = vsnprintf(p->out.form + n, room, fmt, ap);
	va_end(ap);
	p->full |= k < 0 || (size_t)k >= room;
}

/* A set of values as a cron field: *, or numbers, three or more in a row as a range. */
static void put_set(struct phrase_parser *p, uint64_t bits, unsigned lo, unsigned hi)
{
	const char *sep = "";
	uint64_t all = (UINT64_C(2) << hi) - (UINT64_C(1) << lo);
	if ((bits & all) == all) {
		put_text(p, "*");
		return;
	}
	for (unsigned v = lo; v <= hi; v++) {
		unsigned end = v;
		if (!(bits >> v & 1))
			continue;
		while (end < hi && bits >> (end + 1) & 1)
			end++;
		put_text(p, "%s%u", sep, v);
		if (end >= v + 2) {
			put_text(p, "-%u", end);
			v = end;
		}
		sep = ",";
	}
}

/* Minute and hour of a cron form, which fires at each of its minutes in each of its hours. */
static enum err put_clock(struct phrase_parser *p)
{
	struct phrase_parts *s = &p->parts;
	p->out.no_time = !phrase_has(p, PART_TIMES);
	if (p->out.no_time) {
		put_text(p, "0 0 ");
		return OK;
	}
	if ((unsigned)(__builtin_popcountll(s->hours) * __builtin_popcountll(s->minutes)) != s->time_count)
		return phrase_refuse_part(p, PART_TIMES,
					  "'$t' needs two or more schedules: one schedule fires at each of "
					  "its hours with each of "
					  "its minutes");
	put_set(p, s->minutes, 0, 59);
	put_text(p, " ");
	put_set(p, s->hours, 0, 23);
	put_text(p, " ");
	return OK;
}

/* The time of day of a form that can have only one. */
static enum err single_time(struct phrase_parser *p, unsigned *minute)
{
	if (p->parts.time_count > 1)
		return phrase_refuse_part(p, PART_TIMES, "'$t' needs a schedule for each time here");
	*minute = p->parts.times[0];
	p->out.no_time = !phrase_has(p, PART_TIMES);
	return OK;
}

static const struct zone *phrase_zone(const struct phrase_parser *p)
{
	return p->out.zone ? p->out.zone : p->env->zone;
}

static int64_t local_now(const struct phrase_parser *p)
{
	int64_t now = wall_seconds(p->env->now);
	return now + zone_offset(phrase_zone(p), now);
}

static int64_t today(const struct phrase_parser *p)
{
	return floor_div(local_now(p), DAY);
}

static bool is_future(const struct phrase_parser *p, int64_t local)
{
	return zone_utc(phrase_zone(p), local, NULL) > wall_seconds(p->env->now);
}

static enum err check_range(const struct phrase_parser *p, int64_t seconds)
{
	if (seconds < SECONDS_MIN || seconds > SECONDS_MAX)
		return phrase_refuse(p, 0, "the time is out of range 0001-9999");
	return OK;
}

/* The days that a series may begin on; 0 means any. */
struct first_day {
	uint8_t wdays;
	unsigned month, mday;
};

static bool begins_on(struct first_day b, int64_t day)
{
	struct date d = date_of(day);
	return (!b.wdays || b.wdays >> weekday_of(day) & 1) && (!b.month || b.month == d.month) &&
	       (!b.mday || b.mday == d.day);
}

/* <2026-11-16 Mon 10:00 +2w>: begins at the first such time after now */
static enum err put_org(struct phrase_parser *p, struct first_day b)
{
	static const char names[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	unsigned minute = 0;
	enum err e = single_time(p, &minute);
	if (e)
		return e;
	int64_t day = today(p), end = day + DAYS_AHEAD;
	while (day < end && !(begins_on(b, day) && is_future(p, day * DAY + minute * 60)))
		day++;
	assert(day < end);
	e = check_range(p, day * DAY);
	if (e)
		return e;
	struct date d = date_of(day);
	put_text(p, "<%04d-%02u-%02u %s %02u:%02u +%lld%c>", d.year, d.month, d.day, names[weekday_of(day)],
		 minute / 60, minute % 60, (long long)p->parts.count, phrase_units[p->parts.unit].letter);
	p->out.relative = true;
	return OK;
}

static void put_every(struct phrase_parser *p, int64_t seconds)
{
	put_text(p, "@every ");
	for (enum unit u = U_WEEK; u >= U_SECOND; u--) {
		/* Weeks only if nothing is left over, as in dur_format(). */
		if (seconds < phrase_units[u].seconds || (u == U_WEEK && seconds % phrase_units[u].seconds))
			continue;
		put_text(p, "%lld%c", (long long)(seconds / phrase_units[u].seconds), phrase_units[u].letter);
		seconds %= phrase_units[u].seconds;
	}
}

/* A step shorter than a day: cron if it divides the next larger unit, else an interval. */
static enum err put_step(struct phrase_parser *p, uint8_t wdays)
{
	static const struct {
		int64_t seconds, whole;
		const char *before, *after;
	} rows[] = { { 3600, 24, "0 ", " * * " }, { 60, 60, "", " * * * " }, { 1, 60, "", " * * * * " } };
	if (phrase_has(p, PART_TIMES))
		return phrase_refuse_part(
			p, PART_TIMES,
			"'$e' fires all day long and takes no time of day; leave out '$t', or write "
			"\"every day $t\"");
	int64_t seconds = p->parts.count * phrase_units[p->parts.unit].seconds;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t n = seconds / rows[i].seconds;
		if (seconds % rows[i].seconds || n > rows[i].whole || rows[i].whole % n)
			continue;
		put_text(p, n == 1 ? "%s*" : n == rows[i].whole ? "%s0" : "%s*/%d", rows[i].before, (int)n);
		put_text(p, "%s", rows[i].after);
		put_set(p, wdays, 0, 6);
		return OK;
	}
	if (wdays != ALL_WDAYS)
		return phrase_refuse_part(
			p, PART_EVERY,
			"'$e' can be kept to some days only if it divides a minute, an hour or a day, such "
			"as 5, 15 or 30 minutes");
	put_every(p, seconds);
	return OK;
}

static enum err put_weekly(struct phrase_parser *p, uint8_t wdays)
{
	enum err e = put_clock(p);
	if (e)
		return e;
	put_text(p, "* * ");
	put_set(p, wdays & ALL_WDAYS, 0, 6);
	return OK;
}

/* The day of month field. */
static void put_mdays(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	const char *const extra[] = { s->mday_last ? "L" : "", s->first_workday ? "1W" : "",
				      s->last_workday ? "LW" : "" };
	const char *sep = "";
	if (s->mdays) {
		put_set(p, s->mdays, 1, 31);
		sep = ",";
	}
	for (size_t i = 0; i < ARRAY_LEN(extra); i++)
		if (extra[i][0]) {
			put_text(p, "%s%s", sep, extra[i]);
			sep = ",";
		}
}

/* The weekday field: the first to fifth and the last of one weekday. */
static void put_nth(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	const char *sep = "";
	for (unsigned n = 1; n <= 5; n++)
		if (s->nth >> n & 1) {
			put_text(p, "%s%u#%u", sep, s->nth_wday, n);
			sep = ",";
		}
	if (s->nth >> ORDINAL_LAST & 1)
		put_text(p, "%s%uL", sep, s->nth_wday);
}

static enum err put_monthly(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	unsigned step = s->unit == U_MONTH ? (unsigned)s->count : 1;
	if (12 % step) {
		if (!s->mdays || s->mdays & (s->mdays - 1) || s->mday_last)
			return phrase_refuse_part(
				p, PART_MONTHLY,
				"'$e' does not divide the year and takes one day of the month, such as \"on "
				"the 1st\"");
		return put_org(p, (struct first_day){ .mday = (unsigned)__builtin_ctz(s->mdays) });
	}
	enum err e = put_clock(p);
	if (e)
		return e;
	if (s->nth)
		put_text(p, "*");
	else
		put_mdays(p);
	put_text(p, step == 1 ? " * " : step == 12 ? " 1 " : " */%u ", step);
	if (s->nth)
		put_nth(p);
	else
		put_text(p, "*");
	return OK;
}

static enum err put_yearly(struct phrase_parser *p, unsigned month, unsigned day)
{
	if (p->parts.count > 1)
		return put_org(p, (struct first_day){ .month = month, .mday = day });
	enum err e = put_clock(p);
	if (!e)
		put_text(p, "%u %u *", day, month);
	return e;
}

/* A local time in the phrase's zone. */
static enum err put_local(struct phrase_parser *p, int64_t local)
{
	char text[ISO_SIZE];
	enum err e = check_range(p, local);
	if (!e)
		put_text(p, "%s", iso_format_local(local, text));
	return e;
}

/* --- the forms of each combination of parts --- */

/* every 15 minutes, every day, every 3 days, monthly */
static enum err form_every(struct phrase_parser *p)
{
	static const char *const day_missing[UNITS] = {
		[U_WEEK] = "on monday", [U_MONTH] = "on the 1st", [U_YEAR] = "on 1 january"
	};
	struct phrase_parts *s = &p->parts;
	if (s->unit < U_DAY)
		return put_step(p, ALL_WDAYS);
	if (phrase_has(p, PART_TIMES) && day_missing[s->unit])
		return phrase_refuse(p, s->words[PART_EVERY].from,
				     "'$e' with a time of day needs the day too; write \"$e %s $t\"",
				     day_missing[s->unit]);
	if (s->unit == U_YEAR)
		return put_yearly(p, 1, 1);
	if (s->unit == U_MONTH) {
		s->mdays = 1 << 1;
		return put_monthly(p);
	}
	if (s->count == 1) /* the same days as @daily and @weekly */
		return put_weekly(p, s->unit == U_DAY ? ALL_WDAYS : 1);
	if (phrase_has(p, PART_TIMES))
		return put_org(p, (struct first_day){ 0 });
	put_every(p, s->count * phrase_units[s->unit].seconds);
	return OK;
}

/* every monday, every 2 weeks on monday, every 15 minutes on weekdays */
static enum err form_every_wdays(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	uint8_t days = s->wdays & ALL_WDAYS;
	if (s->unit == U_NONE || (s->unit == U_WEEK && s->count == 1))
		return put_weekly(p, days);
	if (s->unit < U_DAY)
		return put_step(p, days);
	if (s->unit != U_WEEK)
		return phrase_refuse_clash(p, PART_EVERY, PART_WDAYS);
	if (days & (days - 1))
		return phrase_refuse_part(
			p, PART_WDAYS, "'$e' can be on one day only; write a schedule for each day of '$w'");
	return put_org(p, (struct first_day){ .wdays = days });
}

/* mondays; "monday" alone is ambiguous */
static enum err form_wdays(struct phrase_parser *p)
{
	uint8_t days = p->parts.wdays & ALL_WDAYS;
	if (p->parts.wdays & PLURAL)
		return put_weekly(p, days);
	if (days & (days - 1))
		return phrase_refuse_part(
			p, PART_WDAYS,
			"'$w' could be once or every week; write \"every $w $t\", or \"next\" and one day");
	return phrase_refuse_part(p, PART_WDAYS,
				  "'$w' could be \"every $w $t\" or \"next $w $t\"; write which");
}

/* every month on the 15th, every first monday of the month */
static enum err form_every_monthly(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	if (s->unit != U_NONE && s->unit != U_MONTH)
		return phrase_refuse_clash(p, PART_EVERY, PART_MONTHLY);
	if (s->unit == U_MONTH || s->of_month || (s->mdays && !s->mday_last))
		return put_monthly(p);
	if (s->nth == 1 << 2)
		return phrase_refuse_part(
			p, PART_MONTHLY,
			"'every $m' could be \"$m of the month\" or every 2 weeks, as in \"every other "
			"monday\"; write which");
	return phrase_refuse_part(p, PART_MONTHLY, "'$m' of what? write \"$m of the month $t\"");
}

/* first monday of the month, on the 15th of every month */
static enum err form_monthly(struct phrase_parser *p)
{
	if (p->parts.of_month)
		return put_monthly(p);
	return phrase_refuse_part(
		p, PART_MONTHLY,
		"'$m' could be once or every month; write \"every month on the $m $t\", or the date with "
		"month and year");
}

/* every 24 december, every 2 years on 24 december */
static enum err form_every_date(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	if (s->unit != U_NONE && s->unit != U_YEAR)
		return phrase_refuse_clash(p, PART_EVERY, PART_DATE);
	if (s->date.year)
		return phrase_refuse_part(p, PART_DATE, "'$d' comes once; leave out the year, or \"every\"");
	return put_yearly(p, s->date.month, s->date.day);
}

/* 24 december 2026 at 9 */
static enum err form_date(struct phrase_parser *p)
{
	const struct date *d = &p->parts.date;
	unsigned minute = 0;
	if (!d->year) {
		struct date now = date_of(today(p));
		bool over = now.month > d->month || (now.month == d->month && now.day > d->day);
		return phrase_refuse(p, p->parts.words[PART_DATE].from,
				     "'$d' could be \"every $d $t\" or \"$d %04d $t\"; write which",
				     now.year + over);
	}
	if (!phrase_has(p, PART_TIMES))
		return phrase_refuse_part(p, PART_DATE, "'$d' needs a time of day, such as \"$d $t\"");
	enum err e = single_time(p, &minute);
	return e ? e : put_local(p, days_of(d->year, d->month, d->day) * DAY + minute * 60);
}

/* in 3 days at 9: the days are counted on the calendar */
static enum err form_in_at(struct phrase_parser *p)
{
	const int64_t *a = p->parts.amount;
	unsigned minute = 0;
	if (a[U_SECOND] || a[U_MINUTE] || a[U_HOUR])
		return phrase_refuse_clash(p, PART_RELATIVE, PART_TIMES);
	enum err e = single_time(p, &minute);
	if (e)
		return e;
	int64_t day = add_months(today(p), a[U_MONTH] + 12 * a[U_YEAR]) + a[U_DAY] + 7 * a[U_WEEK];
	return put_local(p, day * DAY + minute * 60);
}

/* in 20 minutes: elapsed time, except that months and years keep the local time of day */
static enum err form_in(struct phrase_parser *p)
{
	const int64_t *a = p->parts.amount;
	int64_t t = wall_seconds(p->env->now) + (p->env->now.us % USEC != 0);
	int64_t months = a[U_MONTH] + 12 * a[U_YEAR];
	char text[ISO_SIZE];
	if (phrase_has(p, PART_TIMES))
		return form_in_at(p);
	if (months) {
		int64_t local = t + zone_offset(phrase_zone(p), t), day = floor_div(local, DAY);
		t = zone_utc(phrase_zone(p), add_months(day, months) * DAY + (local - day * DAY), NULL);
	}
	for (enum unit u = U_SECOND; u < UNITS; u++)
		t += a[u] * phrase_units[u].seconds;
	enum err e = check_range(p, t);
	if (!e)
		put_text(p, "%s", iso_format_utc(t, text));
	return e;
}

/* today, tomorrow, next friday at 14:00 */
static enum err form_relative(struct phrase_parser *p)
{
	const struct phrase_parts *s = &p->parts;
	int64_t day = today(p) + (s->relative == RELATIVE_DAY ? s->relative_day : 1);
	unsigned minute = 0;
	p->out.relative = true;
	if (s->relative == RELATIVE_IN)
		return form_in(p);
	if (!phrase_has(p, PART_TIMES) && s->relative == RELATIVE_DAY && s->relative_day == 1)
		return phrase_refuse_part(p, PART_RELATIVE,
					  "'$s' could be \"$s $t\" or \"in 24h\"; write which");
	if (!phrase_has(p, PART_TIMES))
		return phrase_refuse_part(p, PART_RELATIVE,
					  "'$s' needs a time of day, such as \"$s at 14:00\" or \"$s $t\"");
	enum err e = single_time(p, &minute);
	if (e)
		return e;
	while (s->relative == RELATIVE_NEXT && !(s->relative_day >> weekday_of(day) & 1))
		day++;
	int64_t local = day * DAY + minute * 60, sod = local_now(p) - today(p) * DAY;
	if (!is_future(p, local))
		return phrase_refuse(p, s->words[PART_TIMES].from,
				     "'$s $t' is already past, it is %02d:%02d; write \"tomorrow $t\"",
				     (int)(sod / 3600), (int)(sod / 60 % 60));
	return put_local(p, local);
}

static enum err form_none(struct phrase_parser *p)
{
	if (!phrase_has(p, PART_TIMES))
		return phrase_refuse(p, 0, "this phrase does not describe a schedule; " LOOKS_LIKE);
	return phrase_refuse_part(p, PART_TIMES,
				  "'$t' could be \"every day $t\" or \"tomorrow $t\"; write which");
}

#define HAS(part) (1u << PART_##part)

/* Which parts become which form. */
static const struct {
	unsigned parts;
	enum err (*form)(struct phrase_parser *);
	bool once;
} forms[] = {
	{ HAS(EVERY), form_every, false },
	{ HAS(EVERY) | HAS(WDAYS), form_every_wdays, false },
	{ HAS(EVERY) | HAS(MONTHLY), form_every_monthly, false },
	{ HAS(EVERY) | HAS(DATE), form_every_date, false },
	{ HAS(WDAYS), form_wdays, false },
	{ HAS(MONTHLY), form_monthly, false },
	{ HAS(DATE), form_date, true },
	{ HAS(RELATIVE), form_relative, true },
	{ 0, form_none, false },
};

static enum err write_form(struct phrase_parser *p)
{
	unsigned parts = 0;
	for (enum phrase_part a = 0; a < PART_TIMES; a++)
		parts |= phrase_has(p, a) ? 1u << a : 0;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (forms[i].parts != parts)
			continue;
		enum err e = forms[i].form(p);
		if (!e && p->full)
			e = phrase_refuse(p, 0, "this is too much for one schedule");
		if (!e && forms[i].once && phrase_has(p, PART_UNTIL))
			e = phrase_refuse_part(p, PART_UNTIL,
					       "'$u' is for schedules that repeat, and this runs once");
		return e;
	}
	/* Each part alone has a row, so there are two or more. The message names the last two: the first may
	 * be "every", which fits most others. */
	enum phrase_part last = (enum phrase_part)(31 - __builtin_clz(parts));
	parts &= ~(1u << last);
	return phrase_refuse_clash(p, (enum phrase_part)(31 - __builtin_clz(parts)), last);
}

/* A date without a year is the next such date, which may be today. */
static enum err write_until(struct phrase_parser *p)
{
	struct date u = p->parts.until;
	if (!phrase_has(p, PART_UNTIL))
		return OK;
	if (!u.year) {
		struct first_day b = { .month = u.month, .mday = u.day };
		int64_t day = today(p), end = day + DAYS_AHEAD;
		while (day < end && !begins_on(b, day))
			day++;
		u.year = date_of(day).year;
		p->out.relative = true;
	}
	if (u.year < YEAR_MIN || u.year > YEAR_MAX)
		return phrase_refuse_part(p, PART_UNTIL, "the year of '$u' is out of range 0001-9999");
	p->out.until_at = p->w[p->parts.words[PART_UNTIL].from].at;
	snprintf(p->out.until, sizeof p->out.until, "%04u-%02u-%02u", (unsigned)u.year % 10000,
		 (unsigned)u.month % 100, (unsigned)u.day % 100);
	return OK;
}

bool phrase_place(struct str text, const struct phrase_env *env, const struct zone **ret)
{
	struct phrase_parser p = { .text = text, .env = env };
	if (phrase_split(&p) || phrase_read_clauses(&p) || !p.out.zone)
		return false;
	*ret = p.out.zone;
	return true;
}

enum err phrase_parse(struct str text, const struct phrase_env *env, struct phrase *ret, struct why *why)
{
	struct phrase_parser p = { .text = text, .env = env, .why = why };
	enum err e = phrase_split(&p);
	if (!e && p.n == 0)
		e = phrase_refuse(&p, 0, "a phrase is missing; " LOOKS_LIKE);
	if (!e)
		e = phrase_read_clauses(&p);
	if (!e)
		e = write_form(&p);
	if (!e)
		e = write_until(&p);
	if (!e)
		*ret = p.out;
	return e;
}
