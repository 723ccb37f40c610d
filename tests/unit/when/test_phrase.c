/* Phrases: the form that each phrase becomes, and the errors with their positions. The parser of the form
 * must accept it. */
#include "core/when/cron.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "core/when/orgtime.h"
#include "core/when/phrase/phrase.h"
#include "test.h"
#include "zoneinfo.h"

enum { REL = 1, BARE = 2 }; /* the phrase is relative; it has no time of day */

static struct wall wall_at(const char *text)
{
	struct iso t = { 0 };
	struct why why;
	if (iso_parse(str_of(text), &t, &why)) {
		fprintf(stderr, "%s: %s\n", text, why.text);
		exit(99);
	}
	return (struct wall){ (t.local - t.offset) * USEC + t.micros };
}

/* Saturday noon, UTC, unless a table says otherwise. */
static struct phrase_env env_at(const char *now, const char *zone)
{
	return (struct phrase_env){ wall_at(now ? now : "2026-11-14T12:00:00Z"), test_zones(),
				    test_zone(zone ? zone : "UTC") };
}

/* Checks that the parser of the form accepts it. */
static void check_form(int line, const char *form)
{
	struct why why = { 0 };
	struct str text = str_of(form);
	struct cron cron;
	struct org_rule org;
	struct iso iso;
	int64_t seconds = 0;
	bool day_off = false;
	enum err e;
	if (form[0] == '<')
		e = org_parse(text, &org, &day_off, &why);
	else if (str_starts(text, STR("@every ")))
		e = dur_parse(str_from(text, 7), &seconds, &why);
	else if (iso_looks_like(text))
		e = iso_parse(text, &iso, &why);
	else
		e = cron_parse(text, STR("id"), &cron, &why);
	if (!CHECK_INT_AT(line, e, OK))
		printf("\t'%s': %s\n", form, why.text);
	CHECK_AT(line, !day_off);
}

struct row {
	int line;
	const char *in, *form;
	int flags;
	const char *until, *zone;
};

static void check_row(const struct row *r, const char *now, const char *zone)
{
	struct phrase_env env = env_at(now, zone);
	struct phrase got = { 0 };
	struct why why = { 0 };
	test_case("%s", r->in);
	if (!CHECK_INT_AT(r->line, phrase_parse(str_of(r->in), &env, &got, &why), OK)) {
		printf("\t%zu: %s\n", why.at, why.text);
		return;
	}
	CHECK_STR_AT(r->line, got.form, r->form);
	CHECK_INT_AT(r->line, got.relative, (r->flags & REL) != 0);
	CHECK_INT_AT(r->line, got.no_time, (r->flags & BARE) != 0);
	CHECK_STR_AT(r->line, got.until, r->until ? r->until : "");
	CHECK_AT(r->line, str_eq(got.zone_name, str_of(r->zone ? r->zone : "")));
	CHECK_AT(r->line, got.zone == (r->zone ? test_zone(r->zone) : NULL));
	check_form(r->line, got.form);
}

#define CHECK_ROWS(rows, now, zone)                                                                          \
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)                                                         \
	check_row(&(rows)[i], now, zone)

TEST(examples_of_the_specification)
{
	static const struct row rows[] = {
		{ __LINE__, "every tuesday at 9am", "0 9 * * 2", 0, NULL, NULL },
		{ __LINE__, "every weekday at 08:30", "30 8 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every 15 minutes", "*/15 * * * *", 0, NULL, NULL },
		{ __LINE__, "in 20 minutes", "2026-11-14T12:20:00Z", REL, NULL, NULL },
		{ __LINE__, "tomorrow at noon", "2026-11-15T12:00:00", REL, NULL, NULL },
		{ __LINE__, "next friday at 14:00", "2026-11-20T14:00:00", REL, NULL, NULL },
		{ __LINE__, "first monday of the month at 9", "0 9 * * 1#1", 0, NULL, NULL },
		{ __LINE__, "last day of every month at 18:00", "0 18 L * *", 0, NULL, NULL },
		{ __LINE__, "every day at 8, 12 and 18", "0 8,12,18 * * *", 0, NULL, NULL },
		{ __LINE__, "every 2 weeks on monday at 10", "<2026-11-16 Mon 10:00 +2w>", REL, NULL, NULL },
		{ __LINE__, "weekdays at 8:30", "30 8 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every tuesday at 9am in Berlin", "0 9 * * 2", 0, NULL, "Europe/Berlin" },
		{ __LINE__, "every tuesday at 9am America/New_York", "0 9 * * 2", 0, NULL,
		  "America/New_York" },
		{ __LINE__, "every tuesday at 9am until 30 June", "0 9 * * 2", REL, "2027-06-30", NULL },
		{ __LINE__, "in 20m", "2026-11-14T12:20:00Z", REL, NULL, NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(steps)
{
	static const struct row rows[] = {
		{ __LINE__, "every minute", "* * * * *", 0, NULL, NULL },
		{ __LINE__, "every 1 minute", "* * * * *", 0, NULL, NULL },
		{ __LINE__, "every 5 mins", "*/5 * * * *", 0, NULL, NULL },
		{ __LINE__, "every 10m", "*/10 * * * *", 0, NULL, NULL },
		{ __LINE__, "EVERY 10M", "*/10 * * * *", 0, NULL, NULL },
		{ __LINE__, "each ten minutes", "*/10 * * * *", 0, NULL, NULL },
		{ __LINE__, "every 45 minutes", "@every 45m", 0, NULL, NULL },
		{ __LINE__, "every 7 minutes", "@every 7m", 0, NULL, NULL },
		{ __LINE__, "every 60 minutes", "0 * * * *", 0, NULL, NULL },
		{ __LINE__, "every 90 minutes", "@every 1h30m", 0, NULL, NULL },
		{ __LINE__, "every 120 minutes", "0 */2 * * *", 0, NULL, NULL },
		{ __LINE__, "every hour", "0 * * * *", 0, NULL, NULL },
		{ __LINE__, "hourly", "0 * * * *", 0, NULL, NULL },
		{ __LINE__, "every 2h", "0 */2 * * *", 0, NULL, NULL },
		{ __LINE__, "every six hours", "0 */6 * * *", 0, NULL, NULL },
		{ __LINE__, "every other hour", "0 */2 * * *", 0, NULL, NULL },
		{ __LINE__, "every third hour", "0 */3 * * *", 0, NULL, NULL },
		{ __LINE__, "every 5 hours", "@every 5h", 0, NULL, NULL },
		{ __LINE__, "every 24 hours", "0 0 * * *", 0, NULL, NULL },
		{ __LINE__, "every 48 hours", "@every 2d", 0, NULL, NULL },
		{ __LINE__, "every second", "* * * * * *", 0, NULL, NULL },
		{ __LINE__, "every second in Berlin", "* * * * * *", 0, NULL, "Europe/Berlin" },
		{ __LINE__, "every 30 seconds", "*/30 * * * * *", 0, NULL, NULL },
		{ __LINE__, "every 60 seconds", "* * * * *", 0, NULL, NULL },
		{ __LINE__, "every 90s", "@every 1m30s", 0, NULL, NULL },
		{ __LINE__, "every half hour", "*/30 * * * *", 0, NULL, NULL },
		{ __LINE__, "every half an hour", "*/30 * * * *", 0, NULL, NULL },
		{ __LINE__, "every hour and 30 minutes", "@every 1h30m", 0, NULL, NULL },
		{ __LINE__, "every 1h30m", "@every 1h30m", 0, NULL, NULL },
		{ __LINE__, "every 2 hours and 30 minutes", "@every 2h30m", 0, NULL, NULL },
		{ __LINE__, "every 2 hours, 30 minutes", "@every 2h30m", 0, NULL, NULL },
		{ __LINE__, "every 3 days", "@every 3d", 0, NULL, NULL },
		{ __LINE__, "every 3rd day", "@every 3d", 0, NULL, NULL },
		{ __LINE__, "every second day", "@every 2d", 0, NULL, NULL },
		{ __LINE__, "every other day", "@every 2d", 0, NULL, NULL },
		{ __LINE__, "every 2 weeks", "@every 2w", 0, NULL, NULL },
		{ __LINE__, "every other week", "@every 2w", 0, NULL, NULL },
		{ __LINE__, "every 14 days", "@every 2w", 0, NULL, NULL },
		{ __LINE__, "every 2 weeks and 3 days", "@every 17d", 0, NULL, NULL },
		{ __LINE__, "every 15 minutes on weekdays", "*/15 * * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every 2 hours on monday and friday", "0 */2 * * 1,5", 0, NULL, NULL },
		{ __LINE__, "hourly on weekends", "0 * * * 0,6", 0, NULL, NULL },
		{ __LINE__, "every 10 seconds on sundays", "*/10 * * * * 0", 0, NULL, NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(days_of_the_week)
{
	static const struct row rows[] = {
		{ __LINE__, "every day", "0 0 * * *", BARE, NULL, NULL },
		{ __LINE__, "daily", "0 0 * * *", BARE, NULL, NULL },
		{ __LINE__, "daily at 9:05", "5 9 * * *", 0, NULL, NULL },
		{ __LINE__, "weekly", "0 0 * * 0", BARE, NULL, NULL },
		{ __LINE__, "every week", "0 0 * * 0", BARE, NULL, NULL },
		{ __LINE__, "every week on thursday at 7", "0 7 * * 4", 0, NULL, NULL },
		{ __LINE__, "weekly on monday, at 7", "0 7 * * 1", 0, NULL, NULL },
		{ __LINE__, "every weekday", "0 0 * * 1-5", BARE, NULL, NULL },
		{ __LINE__, "Weekdays", "0 0 * * 1-5", BARE, NULL, NULL },
		{ __LINE__, "on weekdays at 9", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every weekend at 10", "0 10 * * 0,6", 0, NULL, NULL },
		{ __LINE__, "weekends at 10", "0 10 * * 0,6", 0, NULL, NULL },
		{ __LINE__, "every monday, tuesday and friday at 9", "0 9 * * 1,2,5", 0, NULL, NULL },
		{ __LINE__, "every monday, tuesday, and friday at 9", "0 9 * * 1,2,5", 0, NULL, NULL },
		{ __LINE__, "mondays", "0 0 * * 1", BARE, NULL, NULL },
		{ __LINE__, "on mondays and fridays at 17:45", "45 17 * * 1,5", 0, NULL, NULL },
		{ __LINE__, "on mondays and friday", "0 0 * * 1,5", BARE, NULL, NULL },
		{ __LINE__, "every mon-fri at 9", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "mon-fri at 9", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every monday to friday at 9", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "monday through thursday at 9", "0 9 * * 1-4", 0, NULL, NULL },
		{ __LINE__, "mondays to fridays at 9", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "every fri - mon at 9", "0 9 * * 0,1,5,6", 0, NULL, NULL },
		{ __LINE__, "every sunday to saturday at 9", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every weekday and saturday at 9", "0 9 * * 1-6", 0, NULL, NULL },
		{ __LINE__, "every tue, tues, wed, weds, thu, thur and thurs", "0 0 * * 2-4", BARE, NULL,
		  NULL },
		{ __LINE__, "every sat and sun", "0 0 * * 0,6", BARE, NULL, NULL },
		{ __LINE__, "on every monday at 9", "0 9 * * 1", 0, NULL, NULL },
		{ __LINE__, "at 9am every tuesday", "0 9 * * 2", 0, NULL, NULL },
		{ __LINE__, "at 9 on weekdays", "0 9 * * 1-5", 0, NULL, NULL },
		{ __LINE__, "  every\tmonday\n at  9 ", "0 9 * * 1", 0, NULL, NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(times_of_day)
{
	static const struct row rows[] = {
		{ __LINE__, "every day at 9", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 0", "0 0 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at nine", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 am", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 P.M.", "0 21 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9:30pm", "30 21 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9:30 pm", "30 21 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 08:30", "30 8 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 12am", "0 0 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 12pm", "0 12 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 12:15am", "15 0 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at noon", "0 12 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at midnight", "0 0 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 o'clock", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 o’clock", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 o'clock pm", "0 21 * * *", 0, NULL, NULL },
		{ __LINE__, "every day 9am", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "9 am every day", "0 9 * * *", 0, NULL, NULL },
		{ __LINE__, "noon every day", "0 12 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9 and 17", "0 9,17 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9am, 1pm and 5pm", "0 9,13,17 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 9am, noon and 13", "0 9,12,13 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 18, 8, 8", "0 8,18 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 8:30 and 12:30", "30 8,12 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 8:00, 8:30, 12:00 and 12:30", "0,30 8,12 * * *", 0, NULL, NULL },
		{ __LINE__, "every day at 8, 9, 10 and 11", "0 8-11 * * *", 0, NULL, NULL },
		{ __LINE__,
		  "every day at 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, "
		  "21, 22, 23",
		  "0 * * * *", 0, NULL, NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(days_of_the_month_and_year)
{
	static const struct row rows[] = {
		{ __LINE__, "monthly", "0 0 1 * *", BARE, NULL, NULL },
		{ __LINE__, "every month", "0 0 1 * *", BARE, NULL, NULL },
		{ __LINE__, "second tuesday of every month at 9", "0 9 * * 2#2", 0, NULL, NULL },
		{ __LINE__, "third wed of each month", "0 0 * * 3#3", BARE, NULL, NULL },
		{ __LINE__, "the fourth thursday of the month at noon", "0 12 * * 4#4", 0, NULL, NULL },
		{ __LINE__, "every fifth sunday of the month at 9", "0 9 * * 0#5", 0, NULL, NULL },
		{ __LINE__, "last friday of the month at 17", "0 17 * * 5L", 0, NULL, NULL },
		{ __LINE__, "first and third monday of the month at 9", "0 9 * * 1#1,1#3", 0, NULL, NULL },
		{ __LINE__, "on the 1st and last friday of the month at 9", "0 9 * * 5#1,5L", 0, NULL, NULL },
		{ __LINE__, "every month on the 2nd monday at 9", "0 9 * * 1#2", 0, NULL, NULL },
		{ __LINE__, "last day of the month", "0 0 L * *", BARE, NULL, NULL },
		{ __LINE__, "first day of every month at 6", "0 6 1 * *", 0, NULL, NULL },
		{ __LINE__, "first and last day of the month at 6", "0 6 1,L * *", 0, NULL, NULL },
		{ __LINE__, "last weekday of the month at 6", "0 6 LW * *", 0, NULL, NULL },
		{ __LINE__, "first weekday of the month at 6", "0 6 1W * *", 0, NULL, NULL },
		{ __LINE__, "on the 15th of every month", "0 0 15 * *", BARE, NULL, NULL },
		{ __LINE__, "every 15th of the month at 9", "0 9 15 * *", 0, NULL, NULL },
		{ __LINE__, "every 15th at 9", "0 9 15 * *", 0, NULL, NULL },
		{ __LINE__, "every 2nd day of the month at 9", "0 9 2 * *", 0, NULL, NULL },
		{ __LINE__, "every month on the 15th", "0 0 15 * *", BARE, NULL, NULL },
		{ __LINE__, "monthly on the 15th at 9", "0 9 15 * *", 0, NULL, NULL },
		{ __LINE__, "every month on the 1st and 15th at 9", "0 9 1,15 * *", 0, NULL, NULL },
		{ __LINE__, "every month on the 1st, the 2nd and the 3rd at 9", "0 9 1-3 * *", 0, NULL,
		  NULL },
		{ __LINE__, "every month on the last day", "0 0 L * *", BARE, NULL, NULL },
		{ __LINE__, "on the last day every month at 9", "0 9 L * *", 0, NULL, NULL },
		{ __LINE__, "every 3 months", "0 0 1 */3 *", BARE, NULL, NULL },
		{ __LINE__, "every 3 months on the 1st at 9", "0 9 1 */3 *", 0, NULL, NULL },
		{ __LINE__, "every 3 months on the first monday at 9", "0 9 * */3 1#1", 0, NULL, NULL },
		{ __LINE__, "every 12 months on the 15th at 9", "0 9 15 1 *", 0, NULL, NULL },
		{ __LINE__, "every 5 months", "<2026-12-01 Tue 00:00 +5m>", REL | BARE, NULL, NULL },
		{ __LINE__, "every 5 months on the 31st at 9", "<2026-12-31 Thu 09:00 +5m>", REL, NULL,
		  NULL },
		{ __LINE__, "every 5 months on the 14th at 13", "<2026-11-14 Sat 13:00 +5m>", REL, NULL,
		  NULL },
		{ __LINE__, "yearly", "0 0 1 1 *", BARE, NULL, NULL },
		{ __LINE__, "annually on 1 may at 7", "0 7 1 5 *", 0, NULL, NULL },
		{ __LINE__, "every year", "0 0 1 1 *", BARE, NULL, NULL },
		{ __LINE__, "every year on 24 december at 18:00", "0 18 24 12 *", 0, NULL, NULL },
		{ __LINE__, "every year on the 24th of december at 18:00", "0 18 24 12 *", 0, NULL, NULL },
		{ __LINE__, "every 24 december", "0 0 24 12 *", BARE, NULL, NULL },
		{ __LINE__, "every 24th of dec at 18", "0 18 24 12 *", 0, NULL, NULL },
		{ __LINE__, "every december 24th", "0 0 24 12 *", BARE, NULL, NULL },
		{ __LINE__, "every january 1", "0 0 1 1 *", BARE, NULL, NULL },
		{ __LINE__, "every 29 february at 9", "0 9 29 2 *", 0, NULL, NULL },
		{ __LINE__, "every 2 years", "<2027-01-01 Fri 00:00 +2y>", REL | BARE, NULL, NULL },
		{ __LINE__, "every 2 years on 24 december at 18", "<2026-12-24 Thu 18:00 +2y>", REL, NULL,
		  NULL },
		{ __LINE__, "every 4 years on 29 february at 9", "<2028-02-29 Tue 09:00 +4y>", REL, NULL,
		  NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(series_begin_at_the_first_time_after_now)
{
	static const struct row rows[] = {
		{ __LINE__, "every 2 weeks on saturday at 12:01", "<2026-11-14 Sat 12:01 +2w>", REL, NULL,
		  NULL },
		{ __LINE__, "every 2 weeks on saturday at 12", "<2026-11-21 Sat 12:00 +2w>", REL, NULL,
		  NULL },
		{ __LINE__, "every other saturday at 12", "<2026-11-21 Sat 12:00 +2w>", REL, NULL, NULL },
		{ __LINE__, "every second week on monday", "<2026-11-16 Mon 00:00 +2w>", REL | BARE, NULL,
		  NULL },
		{ __LINE__, "every 3 days at 9", "<2026-11-15 Sun 09:00 +3d>", REL, NULL, NULL },
		{ __LINE__, "every 3 days at 13", "<2026-11-14 Sat 13:00 +3d>", REL, NULL, NULL },
		/* In Tokyo it is 21:00. */
		{ __LINE__, "every 3 days at 13 in Tokyo", "<2026-11-15 Sun 13:00 +3d>", REL, NULL,
		  "Asia/Tokyo" },
		{ __LINE__, "every 3 days at 22 in Tokyo", "<2026-11-14 Sat 22:00 +3d>", REL, NULL,
		  "Asia/Tokyo" },
	};
	CHECK_ROWS(rows, NULL, NULL);
	static const struct row later[] = {
		{ __LINE__, "every 2 days at 12", "<2026-11-15 Sun 12:00 +2d>", REL, NULL, NULL },
		{ __LINE__, "today at 12:01", "2026-11-14T12:01:00", REL, NULL, NULL },
	};
	CHECK_ROWS(later, "2026-11-14T12:00:00.5Z", NULL);
	/* Clocks in Berlin skip from 2 to 3. 2:30 is read with the offset before the change, which is 3:30
	 * after it. */
	static const struct row gap[] = {
		{ __LINE__, "every 2 days at 2:30", "<2026-03-29 Sun 02:30 +2d>", REL, NULL, NULL },
	};
	CHECK_ROWS(gap, "2026-03-29T01:15:00Z", "Europe/Berlin");
}

TEST(phrases_for_a_single_time)
{
	static const struct row rows[] = {
		{ __LINE__, "in 2 hours and 30 minutes", "2026-11-14T14:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in 2 hours, 30 minutes and 5 seconds", "2026-11-14T14:30:05Z", REL, NULL, NULL },
		{ __LINE__, "in 2 hours 30 minutes", "2026-11-14T14:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in an hour", "2026-11-14T13:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in an hour and ten minutes", "2026-11-14T13:10:00Z", REL, NULL, NULL },
		{ __LINE__, "in half an hour", "2026-11-14T12:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in half a day", "2026-11-15T00:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 3 days", "2026-11-17T12:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in a week", "2026-11-21T12:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 1h30m", "2026-11-14T13:30:00Z", REL, NULL, NULL },
		{ __LINE__, "IN 1H30M", "2026-11-14T13:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in 20min", "2026-11-14T12:20:00Z", REL, NULL, NULL },
		{ __LINE__, "in 1 second", "2026-11-14T12:00:01Z", REL, NULL, NULL },
		{ __LINE__, "in 2 months", "2027-01-14T12:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 1 year and 2 days", "2027-11-16T12:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 20 minutes in Berlin", "2026-11-14T12:20:00Z", REL, NULL, "Europe/Berlin" },
		{ __LINE__, "in 3 days at 9", "2026-11-17T09:00:00", REL, NULL, NULL },
		{ __LINE__, "at 9am in two weeks", "2026-11-28T09:00:00", REL, NULL, NULL },
		{ __LINE__, "in 1 month at 9", "2026-12-14T09:00:00", REL, NULL, NULL },
		{ __LINE__, "today at 18", "2026-11-14T18:00:00", REL, NULL, NULL },
		{ __LINE__, "tomorrow at 0:00", "2026-11-15T00:00:00", REL, NULL, NULL },
		{ __LINE__, "tomorrow 9am", "2026-11-15T09:00:00", REL, NULL, NULL },
		{ __LINE__, "at 9 tomorrow", "2026-11-15T09:00:00", REL, NULL, NULL },
		{ __LINE__, "tomorrow at 9 in Sydney", "2026-11-15T09:00:00", REL, NULL, "Australia/Sydney" },
		{ __LINE__, "next saturday at 9", "2026-11-21T09:00:00", REL, NULL, NULL },
		{ __LINE__, "next sun at 9", "2026-11-15T09:00:00", REL, NULL, NULL },
		{ __LINE__, "on 24 december 2026 at 9", "2026-12-24T09:00:00", 0, NULL, NULL },
		{ __LINE__, "24 december 2026 at 9", "2026-12-24T09:00:00", 0, NULL, NULL },
		{ __LINE__, "december 24th, 2026 at 9:15", "2026-12-24T09:15:00", 0, NULL, NULL },
		{ __LINE__, "at 9 on the 24th of december 2026", "2026-12-24T09:00:00", 0, NULL, NULL },
		{ __LINE__, "at 9, 24 december 2026", "2026-12-24T09:00:00", 0, NULL, NULL },
		{ __LINE__, "at 9 on 2026-12-24", "2026-12-24T09:00:00", 0, NULL, NULL },
		{ __LINE__, "on 1 january 2020 at 9 UTC", "2020-01-01T09:00:00", 0, NULL, "UTC" },
		{ __LINE__, "29 february 2028 at 9", "2028-02-29T09:00:00", 0, NULL, NULL },
	};
	CHECK_ROWS(rows, NULL, NULL);
}

TEST(amounts_are_counted_from_now)
{
	static const struct row fraction[] = {
		{ __LINE__, "in 20 minutes", "2026-11-14T12:20:01Z", REL, NULL, NULL },
		{ __LINE__, "in 1s", "2026-11-14T12:00:02Z", REL, NULL, NULL },
	};
	CHECK_ROWS(fraction, "2026-11-14T12:00:00.000001Z", NULL);
	/* It is half past one, before the clocks go forward. Hours and days are counted as elapsed time;
	 * months keep the time 12:30. */
	static const struct row spring[] = {
		{ __LINE__, "in 1 day", "2026-03-29T11:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in 1 month", "2026-04-28T10:30:00Z", REL, NULL, NULL },
		{ __LINE__, "in 1 day at 12:30", "2026-03-29T12:30:00", REL, NULL, NULL },
	};
	CHECK_ROWS(spring, "2026-03-28T11:30:00Z", "Europe/Berlin");
	static const struct row clamped[] = {
		{ __LINE__, "in 1 month", "2027-02-28T08:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 13 months", "2028-02-29T08:00:00Z", REL, NULL, NULL },
		{ __LINE__, "in 2 months", "2027-03-31T08:00:00Z", REL, NULL, NULL },
	};
	CHECK_ROWS(clamped, "2027-01-31T08:00:00Z", NULL);
	/* In a zone east of UTC "tomorrow" may be another day. */
	static const struct row chatham[] = {
		{ __LINE__, "tomorrow at 9", "2026-11-16T09:00:00", REL, NULL, NULL },
		{ __LINE__, "today at 18 in UTC", "2026-11-14T18:00:00", REL, NULL, "UTC" },
	};
	CHECK_ROWS(chatham, NULL, "Pacific/Chatham");
}

TEST(places_and_ends)
{
	static const struct row rows[] = {
		{ __LINE__, "every day at 9 in new york", "0 9 * * *", 0, NULL, "America/New_York" },
		{ __LINE__, "every day at 9 in New  York", "0 9 * * *", 0, NULL, "America/New_York" },
		{ __LINE__, "every day at 9 in America/New_York", "0 9 * * *", 0, NULL, "America/New_York" },
		{ __LINE__, "every day at 9 europe/berlin", "0 9 * * *", 0, NULL, "Europe/Berlin" },
		{ __LINE__, "in Berlin every day at 9", "0 9 * * *", 0, NULL, "Europe/Berlin" },
		{ __LINE__, "every day at 9 UTC", "0 9 * * *", 0, NULL, "UTC" },
		{ __LINE__, "every day at 9, in Berlin, until 2027-06-30", "0 9 * * *", 0, "2027-06-30",
		  "Europe/Berlin" },
		{ __LINE__, "every day at 9 until June 30th 2027 in Berlin", "0 9 * * *", 0, "2027-06-30",
		  "Europe/Berlin" },
		{ __LINE__, "every day until the 30th of June 2027 at 9", "0 9 * * *", 0, "2027-06-30",
		  NULL },
		{ __LINE__, "every 10 minutes until 14 november", "*/10 * * * *", REL, "2026-11-14", NULL },
		{ __LINE__, "every 10 minutes until 13 november", "*/10 * * * *", REL, "2027-11-13", NULL },
		{ __LINE__, "every 10 minutes until 29 feb", "*/10 * * * *", REL, "2028-02-29", NULL },
		{ __LINE__, "every 10 minutes until may 1", "*/10 * * * *", REL, "2027-05-01", NULL },
		{ __LINE__, "every 10 minutes until 1 january 2020", "*/10 * * * *", 0, "2020-01-01", NULL },
		{ __LINE__, "every 2 weeks on monday at 10 until 30 june in Berlin",
		  "<2026-11-16 Mon 10:00 +2w>", REL, "2027-06-30", "Europe/Berlin" },
	};
	CHECK_ROWS(rows, NULL, NULL);
	/* The date depends on the zone. */
	static const struct row edge[] = {
		{ __LINE__, "daily until 14 november", "0 0 * * *", REL | BARE, "2026-11-14", NULL },
		{ __LINE__, "daily until 14 november in Tokyo", "0 0 * * *", REL | BARE, "2027-11-14",
		  "Asia/Tokyo" },
	};
	CHECK_ROWS(edge, "2026-11-14T20:00:00Z", NULL);
}

TEST(zone_at_is_the_place_of_the_zone)
{
	struct phrase_env env = env_at(NULL, NULL);
	struct phrase got;
	CHECK_INT(phrase_parse(STR("every day in Berlin at 9"), &env, &got, NULL), OK);
	CHECK_INT(got.zone_at, 13);
	CHECK_INT(phrase_parse(STR("every day Europe/Berlin"), &env, &got, NULL), OK);
	CHECK_INT(got.zone_at, 10);
}

struct refusal {
	int line;
	const char *in;
	unsigned at;
	const char *text; /* part of the message */
};

static void check_refusals(const struct refusal *rows, size_t n, const char *now)
{
	struct phrase_env env = env_at(now, NULL);
	for (size_t i = 0; i < n; i++) {
		struct phrase got = { .form = "untouched" };
		struct why why = { 0 };
		test_case("%s", rows[i].in);
		CHECK_INT_AT(rows[i].line, phrase_parse(str_of(rows[i].in), &env, &got, &why), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		if (!CHECK_AT(rows[i].line, strstr(why.text, rows[i].text) != NULL))
			printf("\t%s\n", why.text);
		CHECK_STR_AT(rows[i].line, got.form, "untouched");
		CHECK_INT_AT(rows[i].line, phrase_parse(str_of(rows[i].in), &env, &got, NULL), E_INPUT);
	}
}

TEST(ambiguous_phrases_are_refused_with_their_readings)
{
	static const struct refusal rows[] = {
		{ __LINE__, "tomorrow", 0, "'tomorrow' could be \"tomorrow at 00:00\" or \"in 24h\"" },
		{ __LINE__, "next friday", 0, "\"next friday at 14:00\" or \"next friday at 00:00\"" },
		{ __LINE__, "today", 0, "needs a time of day" },
		{ __LINE__, "friday at 14:00", 0,
		  "'friday' could be \"every friday at 14:00\" or \"next friday at 14:00\"" },
		{ __LINE__, "on monday at 9", 3, "\"every monday at 9\" or \"next monday at 9\"" },
		{ __LINE__, "monday", 0, "\"every monday at 00:00\" or \"next monday at 00:00\"" },
		{ __LINE__, "on monday and friday at 9", 3, "\"every monday and friday at 9\"" },
		{ __LINE__, "on 24 december at 9", 3,
		  "\"every 24 december at 9\" or \"24 december 2026 at 9\"" },
		{ __LINE__, "1 march at 9", 0, "\"every 1 march at 9\" or \"1 march 2027 at 9\"" },
		{ __LINE__, "on the 15th at 9", 7, "\"every month on the 15th at 9\"" },
		{ __LINE__, "24 december 2026", 0, "\"24 december 2026 at 00:00\"" },
		{ __LINE__, "every second monday at 9", 6, "every other monday" },
		{ __LINE__, "every first monday at 9", 6, "\"first monday of the month at 9\"" },
		{ __LINE__, "at 9", 0, "\"every day at 9\" or \"tomorrow at 9\"" },
		{ __LINE__, "every day at 9 and 10pm", 13, "'9' beside am or pm" },
		{ __LINE__, "every week at 9", 0, "\"every week on monday at 9\"" },
		{ __LINE__, "every 2 weeks at 9", 0, "\"every 2 weeks on monday at 9\"" },
		{ __LINE__, "monthly at 9", 0, "\"monthly on the 1st at 9\"" },
		{ __LINE__, "every year at 9", 0, "\"every year on 1 january at 9\"" },
		{ __LINE__, "biweekly", 0, "\"every 2 weeks on monday\" or \"every monday and thursday\"" },
		{ __LINE__, "every morning", 6, "\"every day at 8am\"" },
		{ __LINE__, "at 9 in the morning", 12, "'morning' is not an hour" },
		{ __LINE__, "twice a day", 0, "\"every day at 8 and 20\"" },
		{ __LINE__, "3 times a day", 2, "does not say when" },
		{ __LINE__, "this friday at 9", 0, "next friday" },
		{ __LINE__, "tonight", 0, "today at 22:00" },
	};
	check_refusals(rows, ARRAY_LEN(rows), NULL);
}

TEST(phrases_that_do_not_fit_one_schedule)
{
	static const struct refusal rows[] = {
		{ __LINE__, "every day at 8:30 and 12:00", 10, "two or more schedules" },
		{ __LINE__, "every month on the 1st at 8:30 and 12", 23, "two or more schedules" },
		{ __LINE__, "every 24 december at 8:30 and 12", 18, "two or more schedules" },
		{ __LINE__, "in 3 days at 8 and 12", 10, "a schedule for each time" },
		{ __LINE__, "every 3 days at 8 and 12", 13, "a schedule for each time" },
		{ __LINE__, "tomorrow at 8 and 12", 9, "a schedule for each time" },
		{ __LINE__, "every 2 weeks on monday and friday at 9", 17, "a schedule for each day" },
		{ __LINE__, "every 45 minutes on weekdays", 0, "divides a minute, an hour or a day" },
		{ __LINE__, "every 2 hours at 9", 14, "takes no time of day" },
		{ __LINE__, "every day on monday", 13, "'every day' and 'monday' do not go together" },
		{ __LINE__, "every week on the 15th", 18, "do not go together" },
		{ __LINE__, "every month on 24 december", 15, "do not go together" },
		{ __LINE__, "every monday on 24 december", 16,
		  "'monday' and '24 december' do not go together" },
		{ __LINE__, "on weekdays on the 15th", 19, "do not go together" },
		{ __LINE__, "every day tomorrow at 9", 10, "do not go together" },
		{ __LINE__, "in 2 hours at 9", 11, "do not go together" },
		{ __LINE__, "every 24 december 2026", 6, "comes once" },
		{ __LINE__, "every 5 months on the last day", 22, "one day of the month" },
		{ __LINE__, "every 5 months on the 1st and 15th", 22, "one day of the month" },
		{ __LINE__, "every 5 months on the first monday", 22, "one day of the month" },
		{ __LINE__, "every 1 month and 2 days", 0, "no fixed length" },
		{ __LINE__, "tomorrow at 9 until 30 june", 14, "is for schedules that repeat" },
		{ __LINE__, "in 20 minutes until 30 june", 14, "is for schedules that repeat" },
		{ __LINE__, "every weekday except friday", 14, "EXCEPT" },
		{ __LINE__, "every 15 minutes between 9 and 17", 17, "cron" },
		{ __LINE__, "every day at 9 and every monday at 10", 15, "needs a schedule of its own" },
		{ __LINE__, "every monday wednesday", 13, "join a list with \"and\"" },
		{ __LINE__, "every day every monday", 10, "'every' comes after 'every day'" },
		{ __LINE__, "every monday at 9 on tuesday", 21, "'tuesday' comes after 'monday'" },
		{ __LINE__, "at 9 every day at 10", 15, "'at' comes after 'at 9'" },
		{ __LINE__, "every day in Berlin in Tokyo", 20, "'in' comes after 'in Berlin'" },
		{ __LINE__, "every day in Berlin Asia/Tokyo", 20, "'Asia/Tokyo' comes after 'in Berlin'" },
		{ __LINE__, "every day until 1 may until 2 may", 22, "'until' comes after" },
		{ __LINE__, "on the 1st of the month on the 2nd", 31,
		  "'2nd' comes after '1st of the month'" },
		{ __LINE__, "on 1 may 2027 on 2 may 2027 at 9", 17, "comes after" },
		{ __LINE__, "tomorrow in 2 hours", 9, "comes after" },
		{ __LINE__, "second weekday of the month", 0, "only the first and the last" },
		{ __LINE__, "every day in december", 13, "0 9 * 12 1" },
		{ __LINE__, "today at 12", 6,
		  "'today at 12' is already past, it is 12:00; write \"tomorrow at 12\"" },
		{ __LINE__, "today at midnight", 6, "already past" },
	};
	check_refusals(rows, ARRAY_LEN(rows), NULL);
}

TEST(ranges)
{
	static const struct refusal rows[] = {
		{ __LINE__, "every day at 24", 13, "the hour of '24' is out of range 0-23" },
		{ __LINE__, "every day at 13pm", 13, "1-12 with am or pm" },
		{ __LINE__, "every day at 0am", 13, "1-12 with am or pm" },
		{ __LINE__, "every day at 9:60", 13, "out of range 00-59" },
		{ __LINE__, "every day at 9:5", 13, "'9:5' is not a time; write 9, 9:30" },
		{ __LINE__, "every day at 9:", 13, "is not a time" },
		{ __LINE__, "every day at 9:300", 13, "is not a time" },
		{ __LINE__, "every day at 09:30:15", 13, "is not a time" },
		{ __LINE__, "every day at 0900", 13, "out of range 0-23" },
		{ __LINE__, "every day at 99999999999999999999999", 13, "out of range 0-23" },
		{ __LINE__, "every 0 minutes", 6, "the number of minutes is 1-" },
		{ __LINE__, "every 0m", 6, "the number of minutes is 1-" },
		{ __LINE__, "every 4000 days", 6, "4000 is out of range: the number of days is 1-3660" },
		{ __LINE__, "in 0 minutes", 3, "out of range" },
		{ __LINE__, "in 121 months", 3, "the number of months is 1-120" },
		{ __LINE__, "in 10 years and 1 month", 3, "too long" },
		{ __LINE__, "in 3660 days and 1 second", 3, "too long" },
		{ __LINE__, "in 99999999999999999999999 seconds", 3, "out of range" },
		{ __LINE__, "every 30 february", 6, "day 30 is out of range 1-29" },
		{ __LINE__, "29 february 2027 at 9", 0, "day 29 is out of range 1-28" },
		{ __LINE__, "on the 32nd of the month", 7, "day 32nd is out of range 1-31" },
		{ __LINE__, "on the 0th of the month", 7, "day 0th is out of range 1-31" },
		{ __LINE__, "6th monday of the month", 0, "first to fifth" },
		{ __LINE__, "every day until 2027-13-01", 21, "month 13 is out of range" },
		{ __LINE__, "every day until 2027-06-30T12:00", 16, "has a time" },
		{ __LINE__, "every day until 1 may 0000", 22, "year 0000 is out of range" },
		{ __LINE__, "every first day", 6, "not a step" },
		{ __LINE__, "half month", 0, "not understood" },
		{ __LINE__, "every half month", 6, "minutes, hours, days and weeks" },
	};
	check_refusals(rows, ARRAY_LEN(rows), NULL);
	static const struct refusal late[] = {
		{ __LINE__, "in 3 days", 0, "out of range 0001-9999" },
		{ __LINE__, "tomorrow at 9", 0, "out of range 0001-9999" },
		{ __LINE__, "every 2 weeks on monday", 0, "out of range 0001-9999" },
		{ __LINE__, "every day until 1 may", 10, "out of range 0001-9999" },
	};
	check_refusals(late, ARRAY_LEN(late), "9999-12-31T12:00:00Z");
}

TEST(words_that_are_not_understood)
{
	static const char looks_like[] =
		"' is not understood here; a phrase looks like \"every tuesday at 9am\", "
		"\"in 20 minutes\" or \"first monday of the month at 9\"";
	static const struct refusal rows[] = {
		{ __LINE__, "foo", 0, looks_like },
		{ __LINE__, "every day foo", 10, "'foo' is not understood here" },
		{ __LINE__, "", 0, "a phrase is missing" },
		{ __LINE__, " , ", 0, "a phrase is missing" },
		{ __LINE__, "every", 5, "something that repeats is missing at the end" },
		{ __LINE__, "every  ", 5, "missing at the end" },
		{ __LINE__, "every foo", 6, "'foo' is not something that repeats" },
		{ __LINE__, "every other foo", 12, "\"every other monday\"" },
		{ __LINE__, "every 10", 8, "a unit of time is missing at the end" },
		{ __LINE__, "every 10 foo", 9, "'foo' is not a unit of time; write seconds, minutes" },
		{ __LINE__, "every december", 14, "a day of the month is missing" },
		{ __LINE__, "every day at", 12, "a time is missing at the end; write 9, 9:30, 9am" },
		{ __LINE__, "every day at foo", 13, "'foo' is not a time" },
		{ __LINE__, "every day on", 12, "a day is missing" },
		{ __LINE__, "every day on foo", 13, "'foo' is not a day" },
		{ __LINE__, "every day in", 12, "a place or an amount is missing" },
		{ __LINE__, "every day in at 9", 13, "'at' is not a place" },
		{ __LINE__, "every day in Berlim", 13, "Europe/Berlin" },
		{ __LINE__, "every day Europe/Berlim", 10, "Europe/Berlin" },
		{ __LINE__, "every day in 1.5", 13, "is not an amount of time" },
		{ __LINE__, "every day until", 15, "a date is missing at the end; write 30 June" },
		{ __LINE__, "every day until the", 19, "a date is missing" },
		{ __LINE__, "every day until friday", 16, "'friday' is not a date" },
		{ __LINE__, "every day until june", 20, "a day of the month is missing" },
		{ __LINE__, "next month", 5, "'month' is not a day of the week" },
		{ __LINE__, "next", 4, "a day of the week is missing" },
		{ __LINE__, "tomorrow 9", 9, "\"at 9\" for a time" },
		{ __LINE__, "every monday to", 15, "the last day of a range is missing" },
		{ __LINE__, "every weekday to saturday", 17, "is not the last day of a range" },
		{ __LINE__, "every monday to 9", 16, "is not the last day of a range" },
		{ __LINE__, "first monday of", 15, "the month is missing" },
		{ __LINE__, "first monday of september at 9", 16, "'september' is not the month" },
		{ __LINE__, "last of the month", 5, "\"last day of the month\"" },
		{ __LINE__, "every day at 9 at", 17, "a time is missing" },
		{ __LINE__, "in Berlin", 0, "does not describe a schedule" },
		{ __LINE__, "of", 0, looks_like },
		{ __LINE__, "täglich um 9", 0, "'täglich' is not understood here" },
		{ __LINE__, "every day \x01", 10, "control character" },
		{ __LINE__, "every d\x7fy", 7, "control character" },
		{ __LINE__, "ääääääääääääääääääääääääääääääää", 0,
		  "'ääääääääääääääääääää' is not understood" },
		{ __LINE__, "xääääääääääääääääääääääääääääääää", 0,
		  "'xäääääääääääääääääää' is not understood" },
		{ __LINE__, "$t %s $", 0, "'$t' is not understood here" },
		{ __LINE__,
		  "every day in a very long name of a place that is nowhere to be found on any map of this "
		  "world",
		  15, "'very' is not a unit of time" },
		{ __LINE__,
		  "every day in that very long name of a place nowhere to be found by any mapmaker of this "
		  "world",
		  13, "at most 63 characters" },
	};
	check_refusals(rows, ARRAY_LEN(rows), NULL);
}

TEST(limits)
{
	char text[1024];
	size_t n = 0;
	struct phrase_env env = env_at(NULL, NULL);
	struct phrase got;
	struct why why = { 0 };
	for (int i = 0; i < PHRASE_WORDS_MAX + 1; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "every ");
	CHECK_INT(phrase_parse((struct str){ text, n }, &env, &got, &why), E_INPUT);
	CHECK_INT(why.at, PHRASE_WORDS_MAX * 6);
	CHECK(strstr(why.text, "too many words") != NULL);

	n = (size_t)snprintf(text, sizeof text, "every day at ");
	for (int i = 0; i < PHRASE_TIMES_MAX + 1; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "1:%02d, ", i);
	CHECK_INT(phrase_parse((struct str){ text, n }, &env, &got, &why), E_INPUT);
	CHECK_INT(why.at, 13 + PHRASE_TIMES_MAX * 6);
	CHECK(strstr(why.text, "too many times") != NULL);

	/* The longest possible form fits. */
	n = (size_t)snprintf(text, sizeof text, "every month on the ");
	for (int i = 1; i <= 31; i++)
		if (i % 3)
			n += (size_t)snprintf(text + n, sizeof text - n, "%dth, ", i);
	n += (size_t)snprintf(text + n, sizeof text - n, "and last day at ");
	for (int i = 0; i < PHRASE_TIMES_MAX; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "20:%02d, ", 10 + i * 3 / 2);
	if (CHECK_INT(phrase_parse((struct str){ text, n }, &env, &got, &why), OK))
		check_form(__LINE__, got.form);
	else
		printf("\t%zu %s\n%s\n", why.at, why.text, text);
}

/* Random words in random order: no crash, and a valid form or an error with a place in the text. */
TEST(random_words)
{
	static const char *const words[] = {
		"every",      "each",    "other",    "hourly",   "daily",    "weekly", "monthly",
		"yearly",     "at",      "on",       "in",       "until",    "of",     "the",
		"and",        ",",       "to",       "today",    "tomorrow", "next",   "am",
		"pm",         "o'clock", "noon",     "midnight", "a",        "half",   "one",
		"twelve",     "first",   "second",   "last",     "5th",      "15th",   "31st",
		"seconds",    "minutes", "hour",     "day",      "weeks",    "month",  "years",
		"monday",     "mondays", "fri",      "mon-fri",  "weekday",  "june",   "december",
		"30",         "9",       "2027",     "0",        "9am",      "8:30",   "10m",
		"1h30m",      "2h",      "Berlin",   "New",      "York",     "UTC",    "Asia/Tokyo",
		"2027-06-30", "foo",     "\xc3\xa4", "-",        "2",        "3",      "5",
	};
	struct phrase_env env = env_at(NULL, "America/New_York");
	uint64_t seed = 1;
	unsigned good = 0;
	for (unsigned round = 0; round < 60000; round++) {
		char text[256] = "";
		size_t n = 0;
		for (uint64_t k = 1 + test_random(&seed) % 7; k > 0; k--)
			n += (size_t)snprintf(text + n, sizeof text - n, "%s ",
					      words[test_random(&seed) % ARRAY_LEN(words)]);
		struct phrase got = { 0 };
		struct why why = { .at = SIZE_MAX };
		test_case("%s", text);
		if (phrase_parse((struct str){ text, n }, &env, &got, &why) == OK) {
			good++;
			check_form(__LINE__, got.form);
		} else {
			CHECK(why.at <= n && why.text[0]);
		}
	}
	CHECK(good > 300);
}

TEST(random_bytes)
{
	struct phrase_env env = env_at(NULL, NULL);
	uint64_t seed = 2;
	for (unsigned round = 0; round < 30000; round++) {
		char text[64];
		size_t n = test_random(&seed) % sizeof text;
		for (size_t i = 0; i < n; i++)
			text[i] = test_random(&seed) % 4 ? " ,:-/mnd0129ath"[test_random(&seed) % 15]
							 : (char)test_random(&seed);
		/* On the heap, so that a sanitizer detects reads beyond the end. */
		char *exact = malloc(n ? n : 1);
		struct phrase got;
		struct why why = { .at = SIZE_MAX };
		memcpy(exact, text, n);
		if (phrase_parse((struct str){ exact, n }, &env, &got, &why))
			CHECK(why.at <= n);
		free(exact);
	}
}
