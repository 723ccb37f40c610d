/* Expressions in words: the sentences, and the lines about clock changes. Two expressions with different
 * times never have the same sentence. */
#include "base/hash.h"
#include "core/when/explain/explain.h"
#include "core/when/iso.h"
#include "test.h"
#include "zoneinfo.h"

struct row {
	int line;
	const char *zone, *in, *want;
};

static bool compile(int line, const char *zone, const char *in, struct arena *a, struct when *w)
{
	struct when_env env = {
		.zones = test_zones(), .zone = test_zone(zone), .zone_name = str_of(zone), .id = STR("backup")
	};
	struct why why = { 0 };
	if (when_parse(str_of(in), &env, a, w, &why) == OK)
		return true;
	test_case("%s", in);
	return CHECK_STR_AT(line, why.text, "");
}

static void check_rows(const struct row *rows, unsigned n)
{
	struct arena a = { 0 };
	for (unsigned i = 0; i < n; i++) {
		struct when w;
		if (!compile(rows[i].line, rows[i].zone, rows[i].in, &a, &w))
			continue;
		struct buf out = { 0 };
		test_case("%s", rows[i].in);
		explain_when(&w, &out);
		CHECK_STR_AT(rows[i].line, out.p, rows[i].want);
		buf_free(&out);
	}
	arena_free(&a);
}

TEST(times_of_day)
{
	static const struct row rows[] = {
		{ __LINE__, "UTC", "*/15 * * * *", "Every 15 minutes, in UTC." },
		{ __LINE__, "Europe/Berlin", "0 8,12,18 * * *",
		  "At 08:00, 12:00 and 18:00 every day, in Europe/Berlin." },
		{ __LINE__, "UTC", "* * * * *", "Every minute, in UTC." },
		{ __LINE__, "UTC", "0 * * * *", "Every hour, in UTC." },
		{ __LINE__, "UTC", "30 * * * *", "At minute 30 of every hour, in UTC." },
		{ __LINE__, "UTC", "5,35 * * * *", "At minutes 5 and 35 of every hour, in UTC." },
		{ __LINE__, "UTC", "*/7 * * * *",
		  "Every 7 minutes from minute 0 to 56 of every hour, in UTC." },
		{ __LINE__, "UTC", "0-10 * * * *", "At minutes 0 to 10 of every hour, in UTC." },
		{ __LINE__, "UTC", "5/10 * * * *",
		  "Every 10 minutes from minute 5 to 55 of every hour, in UTC." },
		{ __LINE__, "UTC", "* 22-2 * * *",
		  "Every minute from 00:00 to 02:59 and from 22:00 to 23:59 every day, in UTC." },
		{ __LINE__, "UTC", "*/30 8-9,12-13,18-19 * * *",
		  "Every 30 minutes from 08:00 to 09:30, from 12:00 to 13:30 and from 18:00 to 19:30 every "
		  "day, in UTC." },
		{ __LINE__, "UTC", "*/7 9 * * *", "Every 7 minutes from 09:00 to 09:56 every day, in UTC." },
		{ __LINE__, "UTC", "5-20 9 * * *", "Every minute from 09:05 to 09:20 every day, in UTC." },
		{ __LINE__, "UTC", "30 9-17 * * *", "Every hour from 09:30 to 17:30 every day, in UTC." },
		{ __LINE__, "UTC", "0 */2 * * *", "Every 2 hours from 00:00 to 22:00 every day, in UTC." },
		{ __LINE__, "UTC", "0 */5 * * *", "Every 5 hours from 00:00 to 20:00 every day, in UTC." },
		{ __LINE__, "UTC", "0 */6 * * *", "At 00:00, 06:00, 12:00 and 18:00 every day, in UTC." },
		{ __LINE__, "UTC", "0,20 1,3,4 * * *",
		  "At 01:00, 01:20, 03:00, 03:20, 04:00 and 04:20 every day, in UTC." },
		{ __LINE__, "UTC", "* 1,3,5,8 * * *",
		  "Every minute of the hours 1, 3, 5 and 8 every day, in UTC." },
		{ __LINE__, "UTC", "*/7 */2 * * *",
		  "Every 7 minutes from minute 0 to 56 of every 2nd hour from 0 to 22 every day, in UTC." },
		{ __LINE__, "UTC", "10 0,1,3,4,6,7,9,10,12,13,15,16,18 * * *",
		  "At minute 10 of the hours 0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 16 and 18 every day, in "
		  "UTC." },
		{ __LINE__, "UTC", "5,35 22-2 * * *",
		  "At 00:05, 00:35, 01:05, 01:35, 02:05, 02:35, 22:05, 22:35, 23:05 and 23:35 every day, in "
		  "UTC." },
	};
	check_rows(rows, ARRAY_LEN(rows));
}

TEST(seconds_of_the_minute)
{
	static const struct row rows[] = {
		{ __LINE__, "UTC", "0 0,30 9 * * *", "At 09:00 and 09:30 every day, in UTC." },
		{ __LINE__, "UTC", "* 0 9 * * 1",
		  "At 09:00, at every second of the minute, on Monday, in UTC." },
		{ __LINE__, "UTC", "0-29 0,30 9 * 2 *",
		  "At 09:00 and 09:30, at seconds 0 to 29 of the minute, every day in February, in UTC." },
		{ __LINE__, "UTC", "* * * * * *", "Every second, in UTC." },
		{ __LINE__, "UTC", "*/10 * * * * *", "Every 10 seconds, in UTC." },
		{ __LINE__, "UTC", "30 * * * * *", "Every minute, at second 30 of the minute, in UTC." },
		{ __LINE__, "UTC", "30 0 * * * *",
		  "At minute 0 of every hour, at second 30 of the minute, in UTC." },
		{ __LINE__, "UTC", "30 */5 * * * *", "Every 5 minutes, at second 30 of the minute, in UTC." },
		{ __LINE__, "UTC", "5,35 */5 * * * *",
		  "Every 5 minutes, at seconds 5 and 35 of the minute, in UTC." },
		{ __LINE__, "UTC", "* 5 * * * *",
		  "At minute 5 of every hour, at every second of the minute, in UTC." },
		{ __LINE__, "UTC", "*/7 5 * * * *",
		  "At minute 5 of every hour, every 7 seconds from second 0 to 56 of the minute, in UTC." },
		{ __LINE__, "UTC", "0-29 0 9 * * *",
		  "At 09:00, at seconds 0 to 29 of the minute, every day, in UTC." },
		{ __LINE__, "UTC", "30 0 9 * * *", "At 09:00:30 every day, in UTC." },
		{ __LINE__, "UTC", "0,30 0 9 * * *", "At 09:00:00 and 09:00:30 every day, in UTC." },
		{ __LINE__, "UTC", "*/10 * 9-17 * * *",
		  "Every 10 seconds from 09:00:00 to 17:59:50 every day, in UTC." },
		{ __LINE__, "UTC", "30 * 9-17 * * *",
		  "Every minute from 09:00:30 to 17:59:30 every day, in UTC." },
		{ __LINE__, "UTC", "* * 9 * * *",
		  "Every second from 09:00:00 to 09:59:59 every day, in UTC." },
		{ __LINE__, "UTC", "15 5,20,41 8-10,14,20 * * 1",
		  "At minutes 5, 20 and 41 of the hours 8 to 10, 14 and 20, at second 15 of the minute, on "
		  "Monday, in UTC." },
	};
	check_rows(rows, ARRAY_LEN(rows));
}

TEST(days_and_months)
{
	static const struct row rows[] = {
		{ __LINE__, "America/New_York", "0 9 * * 1-5",
		  "At 09:00 on Monday to Friday, in America/New_York." },
		{ __LINE__, "UTC", "*/15 9-17 * * 1-5",
		  "Every 15 minutes from 09:00 to 17:45 on Monday to Friday, in UTC." },
		{ __LINE__, "UTC", "0 0 1,15 * 5",
		  "At 00:00 on day 1 and 15 of the month or on any Friday (either is enough), in UTC." },
		{ __LINE__, "UTC", "0 0 */2 * 5",
		  "At 00:00 on every 2nd day of the month from day 1, but only if it is also a Friday (both "
		  "must match), in UTC." },
		{ __LINE__, "UTC", "0 18 L * *", "At 18:00 on the last day of the month, in UTC." },
		{ __LINE__, "UTC", "0 18 L-3 * *",
		  "At 18:00 on the day 3 days before the last day of the month, in UTC." },
		{ __LINE__, "UTC", "0 18 L-1 * *",
		  "At 18:00 on the day before the last day of the month, in UTC." },
		{ __LINE__, "UTC", "0 18 LW * *",
		  "At 18:00 on the last weekday (Monday to Friday) of the month, in UTC." },
		{ __LINE__, "UTC", "0 18 15W * *",
		  "At 18:00 on the weekday (Monday to Friday) nearest to day 15 of the month, in UTC." },
		{ __LINE__, "UTC", "0 9 * * 5L", "At 09:00 on the last Friday of the month, in UTC." },
		{ __LINE__, "UTC", "0 9 * * FRIL", "At 09:00 on the last Friday of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 31W * 5",
		  "At 00:00 on the weekday (Monday to Friday) nearest to day 31 of the month or on any "
		  "Friday (either is enough), in UTC." },
		{ __LINE__, "UTC", "0 0 */2 * */2",
		  "At 00:00 on every 2nd day of the month from day 1, but only if it is also a Tuesday, "
		  "Thursday, Saturday or Sunday (both must match), in UTC." },
		{ __LINE__, "UTC", "0 0 1-5,9 * 1-3,6",
		  "At 00:00 on day 1 to 5 and 9 of the month or on Monday to Wednesday or Saturday (either "
		  "is enough), in UTC." },
		{ __LINE__, "UTC", "0 9 1,2,4 3-5,9 *",
		  "At 09:00 on day 1, 2 and 4 of March to May and September, in UTC." },
		{ __LINE__, "UTC", "0 9 * * 5#2", "At 09:00 on the second Friday of the month, in UTC." },
		{ __LINE__, "UTC", "0 9 * 1,7 *", "At 09:00 every day in January and July, in UTC." },
		{ __LINE__, "UTC", "5,20,41 8-10,14,20 * * 1",
		  "At minutes 5, 20 and 41 of the hours 8 to 10, 14 and 20 on Monday, in UTC." },
		{ __LINE__, "UTC", "@yearly", "At 00:00 on day 1 of January, in UTC." },
		{ __LINE__, "UTC", "@monthly", "At 00:00 on day 1 of the month, in UTC." },
		{ __LINE__, "UTC", "@weekly", "At 00:00 on Sunday, in UTC." },
		{ __LINE__, "UTC", "@daily", "At 00:00 every day, in UTC." },
		{ __LINE__, "UTC", "@hourly", "Every hour, in UTC." },
		{ __LINE__, "UTC", "0 0 29 2 *", "At 00:00 on day 29 of February, in UTC." },
		{ __LINE__, "UTC", "0 0 1-7 * *", "At 00:00 on day 1 to 7 of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 1,15,L * *",
		  "At 00:00 on day 1 and 15 of the month and on the last day of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 L,LW,1W * *",
		  "At 00:00 on the last day of the month, on the last weekday (Monday to Friday) of the "
		  "month and on the weekday (Monday to Friday) nearest to day 1 of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 2-20/2 * *",
		  "At 00:00 on every 2nd day of the month from day 2 to day 20, in UTC." },
		{ __LINE__, "UTC", "0 0 */10 * *", "At 00:00 on day 1, 11, 21 and 31 of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 1/3 * *",
		  "At 00:00 on every 3rd day of the month from day 1, in UTC." },
		{ __LINE__, "UTC", "0 0 L 2 *", "At 00:00 on the last day of February, in UTC." },
		{ __LINE__, "UTC", "0 0 15W 1,7 *",
		  "At 00:00 on the weekday (Monday to Friday) nearest to day 15 of January and July, in "
		  "UTC." },
		{ __LINE__, "UTC", "0 0 L-2,L 1 *",
		  "At 00:00 on the last day of the month and on the day 2 days before the last day of the "
		  "month in January, in UTC." },
		{ __LINE__, "UTC", "0 0 * * FRI-MON", "At 00:00 on Monday and Friday to Sunday, in UTC." },
		{ __LINE__, "UTC", "0 0 * * 0,6", "At 00:00 on Saturday and Sunday, in UTC." },
		{ __LINE__, "UTC", "0 0 * * 1,3,5", "At 00:00 on Monday, Wednesday and Friday, in UTC." },
		{ __LINE__, "UTC", "0 0 * 6-8 1,3,5",
		  "At 00:00 on Monday, Wednesday and Friday in June to August, in UTC." },
		{ __LINE__, "UTC", "0 0 * * 1#1,1#3,1L",
		  "At 00:00 on the first, third and last Monday of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 * * 1,5L",
		  "At 00:00 on Monday and on the last Friday of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 * 1 5L", "At 00:00 on the last Friday of January, in UTC." },
		{ __LINE__, "UTC", "0 0 * 1 1,5L",
		  "At 00:00 on Monday and on the last Friday of the month in January, in UTC." },
		{ __LINE__, "UTC", "0 0 * 1 *", "At 00:00 every day in January, in UTC." },
		{ __LINE__, "UTC", "*/15 * * 1 *", "Every 15 minutes in January, in UTC." },
		{ __LINE__, "UTC", "0 0 1-31 * 5", "At 00:00 every day, in UTC." },
		{ __LINE__, "UTC", "0 0 ? * 5", "At 00:00 on Friday, in UTC." },
		{ __LINE__, "UTC", "0 0 13 * 5",
		  "At 00:00 on day 13 of the month or on any Friday (either is enough), in UTC." },
		{ __LINE__, "UTC", "0 0 */3 1,2 1-5",
		  "At 00:00 on every 3rd day of the month from day 1, but only if it is also Monday to "
		  "Friday (both must match), in January and February, in UTC." },
		{ __LINE__, "UTC", "0 0 1 1 1-5",
		  "At 00:00 on day 1 of the month or on Monday to Friday (either is enough), in January, in "
		  "UTC." },
		{ __LINE__, "UTC", "0 0 1,L * 1,5L",
		  "At 00:00 on day 1 of the month and on the last day of the month or on any Monday or on "
		  "the last Friday of the month (either is enough), in UTC." },
		{ __LINE__, "UTC", "0 0 */2 * 1,3,5",
		  "At 00:00 on every 2nd day of the month from day 1, but only if it is also a Monday, "
		  "Wednesday or Friday (both must match), in UTC." },
		{ __LINE__, "UTC", "0 0 L * ?", "At 00:00 on the last day of the month, in UTC." },
		{ __LINE__, "UTC", "0 0 1 * */2",
		  "At 00:00 on day 1 of the month, but only if it is also a Tuesday, Thursday, Saturday or "
		  "Sunday (both must match), in UTC." },
		{ __LINE__, "UTC", "0 0 13 * */5",
		  "At 00:00 on day 13 of the month, but only if it is also a Friday or Sunday (both must "
		  "match), in UTC." },
		{ __LINE__, "UTC", "0 0 */2 * 5#2,5L",
		  "At 00:00 on every 2nd day of the month from day 1, but only if it is also the second or "
		  "last Friday of the month (both must match), in UTC." },
		{ __LINE__, "UTC", "0 0 1 * 1-7", "At 00:00 every day, in UTC." },
	};
	check_rows(rows, ARRAY_LEN(rows));
}

TEST(bounds_and_directives)
{
	static const struct row rows[] = {
		{ __LINE__, "America/New_York", "30 2 * * * GAP skip FOLD both",
		  "At 02:30 every day, in America/New_York; times that the clock skips do not run; times "
		  "that the clock repeats run both times." },
		{ __LINE__, "America/New_York", "*/15 * * * * GAP shift FOLD second",
		  "Every 15 minutes, in America/New_York; times that the clock skips run right after the "
		  "gap; times that the clock repeats run the second time only." },
		{ __LINE__, "America/New_York", "*/15 * * * * FOLD first",
		  "Every 15 minutes, in America/New_York; times that the clock repeats run the first time "
		  "only." },
		{ __LINE__, "America/New_York", "30 1 * * * FOLD second",
		  "At 01:30 every day, in America/New_York; times that the clock repeats run the second time "
		  "only." },
		{ __LINE__, "UTC", "0 9 * * * FROM 2026-01-01 UNTIL 2026-06-30",
		  "At 09:00 every day, in UTC, from 2026-01-01 00:00, until the end of 2026-06-30." },
		{ __LINE__, "UTC", "0 9 * * * UNTIL 2026-06-30T18:00",
		  "At 09:00 every day, in UTC, until 2026-06-30 18:00 (not included)." },
		{ __LINE__, "America/New_York", "0 9 * * * FROM 2026-11-01T01:30 UNTIL 2027-11-07T06:30Z",
		  "At 09:00 every day, in America/New_York, from 2026-11-01 01:30 (UTC-04:00), until "
		  "2027-11-07 01:30 (UTC-05:00) (not included)." },
		{ __LINE__, "UTC", "0 9 * * * EXCEPT 2026-12-25",
		  "At 09:00 every day, in UTC, except on 2026-12-25." },
		{ __LINE__, "UTC", "0 9 * * * EXCEPT 2026-12-25,2027-01-01,2026-12-24",
		  "At 09:00 every day, in UTC, except on 2026-12-24, 2026-12-25 and 2027-01-01." },
		{ __LINE__, "UTC", "0 9 * * * JITTER 5m",
		  "At 09:00 every day, in UTC; each delayed by this schedule's own share of up to 5m (82%, "
		  "exactly 0xd2fe56eb77458f46/2^64)." },
	};
	check_rows(rows, ARRAY_LEN(rows));
}

TEST(intervals_one_shots_and_org_timestamps)
{
	static const struct row rows[] = {
		{ __LINE__, "America/New_York", "2026-11-16T09:00",
		  "Once, at 2026-11-16 09:00 (Monday), in America/New_York." },
		{ __LINE__, "America/New_York", "2026-11-01T05:30Z",
		  "Once, at 2026-11-01 01:30 (Sunday, UTC-04:00), in America/New_York." },
		{ __LINE__, "America/New_York", "2026-11-01T06:30:15Z",
		  "Once, at 2026-11-01 01:30:15 (Sunday, UTC-05:00), in America/New_York." },
		{ __LINE__, "UTC", "@every 10m", "Every 10 minutes, counted from midnight UTC." },
		{ __LINE__, "Europe/Berlin", "@every 1h", "Every hour, counted from midnight UTC." },
		{ __LINE__, "UTC", "@every 1h30m", "Every 1 hour 30 minutes, counted from midnight UTC." },
		{ __LINE__, "UTC", "@every 1d", "Every 24 hours, counted from midnight UTC." },
		{ __LINE__, "UTC", "@every 2w",
		  "Every 14 days of 24 hours, counted from 1970-01-01 00:00 UTC." },
		{ __LINE__, "UTC", "@every 7m", "Every 7 minutes, counted from 1970-01-01 00:00 UTC." },
		{ __LINE__, "UTC", "@every 90s", "Every 1 minute 30 seconds, counted from midnight UTC." },
		{ __LINE__, "Europe/Berlin", "@every 10m FROM 2026-06-13T09:00",
		  "Every 10 minutes from 2026-06-13 09:00 on, in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "@every 10m UNTIL 2026-06-13T09:00",
		  "Every 10 minutes, counted from midnight UTC, in Europe/Berlin, until 2026-06-13 09:00 "
		  "(not included)." },
		{ __LINE__, "Europe/Berlin", "@every 10m EXCEPT 2026-12-25",
		  "Every 10 minutes, counted from midnight UTC, in Europe/Berlin, except on 2026-12-25." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat 09:00 +1w>",
		  "Every week at 09:00, first on Saturday 2026-06-13, in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat 09:00 ++2d>",
		  "Every 2 days at 09:00, first on Saturday 2026-06-13, in Europe/Berlin; missed ones are "
		  "skipped." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat 09:00 .+1m>",
		  "Every month at 09:00, counted from the end of the run before, first on Saturday "
		  "2026-06-13, in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-01-31 Sat 09:00 +1m>",
		  "Every month at 09:00 (on the last day of shorter months), first on Saturday 2026-01-31, "
		  "in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2028-02-29 Tue 09:00 +1y>",
		  "Every year at 09:00 (on the last day of shorter months), first on Tuesday 2028-02-29, in "
		  "Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat 09:00 +2h>",
		  "Every 2 hours, first on Saturday 2026-06-13 at 09:00, in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-10-25 Sun 02:30 +12h>",
		  "Every 12 hours, first on Sunday 2026-10-25 at 02:30 (UTC+02:00), in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat 09:00>",
		  "Once, at 2026-06-13 09:00 (Saturday), in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-03-29 Sun 02:30>",
		  "Once, at 2026-03-29 03:30 (Sunday), in Europe/Berlin." },
		{ __LINE__, "Europe/Berlin", "<2026-06-13 Sat>",
		  "Once, at 2026-06-13 00:00 (Saturday), in Europe/Berlin." },
	};
	check_rows(rows, ARRAY_LEN(rows));
}

/* --- clock changes --- */

static int64_t utc_seconds(const char *text)
{
	struct iso t;
	struct why why = { 0 };
	if (iso_parse(str_of(text), &t, &why))
		CHECK_STR(why.text, "");
	return iso_utc(&t, test_zone("UTC"), NULL);
}

#define NY        "America/New_York"
#define LORD_HOWE "Australia/Lord_Howe"
#define HAVANA    "America/Havana"
#define SAO_PAULO "America/Sao_Paulo"
#define APIA      "Pacific/Apia"
/* Ranges: after and until. */
#define SPRING   "2027-03-01", "2027-04-01"
#define AUTUMN   "2026-10-15", "2026-12-01"
#define WINTER   "2026-10-15", "2027-04-01"
#define YEAR     "2026-04-01", "2026-12-01"
#define DAY_LOST "2011-12-01", "2012-01-15"
/* The common part of most lines. */
#define NY_GAP   " on 2027-03-14 in America/New_York (the clock goes from 02:00 to 03:00): "
#define NY_FOLD  " on 2026-11-01 in America/New_York (the clock goes back from 02:00 to 01:00): "
#define APIA_GAP " on 2011-12-30 in Pacific/Apia (the clock goes from 2011-12-30 00:00 to 2011-12-31 00:00): "

static const struct {
	int line;
	const char *zone, *in, *after, *until, *want;
} clock_rows[] = {
	{ __LINE__, NY, "30 2 * * *", SPRING, "02:30 does not exist" NY_GAP "it runs at 03:00 instead." },
	{ __LINE__, NY, "0,30 2 * * *", SPRING,
	  "02:00 and 02:30 do not exist" NY_GAP "they run once at 03:00 instead." },
	{ __LINE__, NY, "*/5 2 * * *", SPRING,
	  "The times from 02:00 to 02:55 do not exist" NY_GAP "they run once at 03:00 instead." },
	{ __LINE__, NY, "0 2,3 * * *", SPRING,
	  "02:00 does not exist" NY_GAP "it falls together with the run at 03:00." },
	{ __LINE__, NY, "0,30 2,3 * * *", SPRING,
	  "02:00 and 02:30 do not exist" NY_GAP "they fall together with the run at 03:00." },
	{ __LINE__, NY, "30 2 * * * GAP skip", SPRING, "02:30 does not exist" NY_GAP "it does not run." },
	{ __LINE__, NY, "*/15 * * * *", SPRING,
	  "The times from 02:00 to 02:45 do not exist" NY_GAP "they do not run." },
	{ __LINE__, NY, "15,30,45 2 * * * GAP skip", SPRING,
	  "02:15, 02:30 and 02:45 do not exist" NY_GAP "they do not run." },
	{ __LINE__, NY, "15 30 2 * * *", SPRING,
	  "02:30:15 does not exist" NY_GAP "it runs at 03:00 instead." },
	{ __LINE__, NY, "30 1 * * *", AUTUMN,
	  "01:30 comes twice" NY_FOLD "it runs the first time only (UTC-04:00)." },
	{ __LINE__, NY, "30 1 * * * FOLD second", AUTUMN,
	  "01:30 comes twice" NY_FOLD "it runs the second time only (UTC-05:00)." },
	{ __LINE__, NY, "30 1 * * * FOLD both", AUTUMN, "01:30 comes twice" NY_FOLD "it runs both times." },
	{ __LINE__, NY, "*/15 * * * *", AUTUMN,
	  "The times from 01:00 to 01:45 come twice" NY_FOLD "they run both times." },
	{ __LINE__, NY, "0,30 1 * * *", AUTUMN,
	  "01:00 and 01:30 come twice" NY_FOLD "they run the first time only (UTC-04:00)." },
	{ __LINE__, NY, "30 1,2 * * *", WINTER,
	  "01:30 comes twice" NY_FOLD "it runs the first time only (UTC-04:00).\n02:30 does not exist" NY_GAP
	  "it runs at 03:00 instead." },
	{ __LINE__, NY, "0 9 * * *", WINTER, "" },
	{ __LINE__, NY, "30 2 * * 1-5", SPRING, "" },
	{ __LINE__, NY, "30 2 * * *", "2027-03-01", "2027-03-14T06:59:59Z", "" },
	{ __LINE__, NY, "30 2 * * *", "2027-03-14T06:59:59Z", "2027-03-14T07:00:00Z",
	  "02:30 does not exist" NY_GAP "it runs at 03:00 instead." },
	{ __LINE__, NY, "30 2 * * *", "2027-03-14T07:00:00Z", "2027-04-01", "" },
	{ __LINE__, NY, "30 1 * * *", "2026-10-15", "2026-11-01T05:29:59Z", "" },
	{ __LINE__, NY, "30 1 * * *", "2026-10-15", "2026-11-01T05:30:00Z",
	  "01:30 comes twice" NY_FOLD "it runs the first time only (UTC-04:00)." },
	{ __LINE__, NY, "30 1 * * *", "2026-11-01T06:29:59Z", "2026-12-01",
	  "01:30 comes twice" NY_FOLD "it runs the first time only (UTC-04:00)." },
	{ __LINE__, NY, "30 1 * * *", "2026-11-01T06:30:00Z", "2026-12-01", "" },
	{ __LINE__, NY, "30 2 * * * EXCEPT 2027-03-14", SPRING, "" },
	{ __LINE__, NY, "30 2 * * * EXCEPT 2027-03-15", SPRING,
	  "02:30 does not exist" NY_GAP "it runs at 03:00 instead." },
	{ __LINE__, NY, "30 1 * * * EXCEPT 2026-11-01", AUTUMN, "" },
	{ __LINE__, NY, "30 2 * * * GAP skip EXCEPT 2027-03-14", SPRING, "" },
	{ __LINE__, NY, "30 2 * * * UNTIL 2027-03-13", SPRING, "" },
	{ __LINE__, NY, "30 2 * * * FROM 2027-03-15", SPRING, "" },
	{ __LINE__, LORD_HOWE, "15 2 * * *", YEAR,
	  "02:15 does not exist on 2026-10-04 in Australia/Lord_Howe (the clock goes from 02:00 to 02:30): "
	  "it runs at 02:30 instead." },
	{ __LINE__, LORD_HOWE, "45 1 * * *", YEAR,
	  "01:45 comes twice on 2026-04-05 in Australia/Lord_Howe (the clock goes back from 02:00 to 01:30): "
	  "it runs the first time only (UTC+11:00)." },
	{ __LINE__, LORD_HOWE, "15 1 * * *", YEAR, "" },
	{ __LINE__, LORD_HOWE, "30 2 * * *", YEAR, "" },
	{ __LINE__, HAVANA, "0 0 * * *", SPRING,
	  "00:00 does not exist on 2027-03-14 in America/Havana (the clock goes from 00:00 to 01:00): it "
	  "runs at 01:00 instead." },
	{ __LINE__, HAVANA, "0 0 * * *", AUTUMN,
	  "00:00 comes twice on 2026-11-01 in America/Havana (the clock goes back from 01:00 to 00:00): it "
	  "runs the first time only (UTC-04:00)." },
	{ __LINE__, SAO_PAULO, "30 23 * * *", "2019-02-01", "2019-03-01",
	  "23:30 comes twice on 2019-02-16 in America/Sao_Paulo (the clock goes back from 2019-02-17 00:00 "
	  "to 2019-02-16 23:00): it runs the first time only (UTC-02:00)." },
	{ __LINE__, APIA, "0 9 * * *", DAY_LOST,
	  "09:00 does not exist" APIA_GAP "it runs at 2011-12-31 00:00 instead." },
	{ __LINE__, APIA, "0 0 * * *", DAY_LOST,
	  "00:00 does not exist" APIA_GAP "it falls together with the run at 2011-12-31 00:00." },
	{ __LINE__, APIA, "<2011-12-29 Thu 09:00 +1d>", DAY_LOST,
	  "09:00 does not exist" APIA_GAP "it falls together with the run at 2011-12-31 09:00." },
	{ __LINE__, NY, "<2027-03-07 Sun 02:30 +1w>", SPRING,
	  "02:30 does not exist" NY_GAP "it runs at 03:30 instead." },
	{ __LINE__, NY, "<2027-03-08 Mon 02:30 +1w>", SPRING, "" },
	{ __LINE__, NY, "<2027-03-14 Sun 02:30>", SPRING,
	  "02:30 does not exist" NY_GAP "it runs at 03:30 instead." },
	{ __LINE__, NY, "<2027-03-14 Sun 02:30 +5h>", SPRING,
	  "02:30 does not exist" NY_GAP "it runs at 03:30 instead." },
	{ __LINE__, NY, "<2027-03-13 Sat 02:30 +1h>", SPRING, "" },
	{ __LINE__, NY, "<2026-10-25 Sun 01:30 +1w>", AUTUMN,
	  "01:30 comes twice" NY_FOLD "it runs the first time only (UTC-04:00)." },
	{ __LINE__, NY, "@every 15m", WINTER, "" },
	{ __LINE__, NY, "2027-03-14T02:30", WINTER, "" },
	{ __LINE__, "UTC", "30 2 * * *", WINTER, "" },
};

TEST(lines_about_clock_changes)
{
	struct arena a = { 0 };
	for (unsigned i = 0; i < ARRAY_LEN(clock_rows); i++) {
		int line = clock_rows[i].line;
		struct wall after = wall_of(utc_seconds(clock_rows[i].after)),
			    until = wall_of(utc_seconds(clock_rows[i].until));
		struct when w;
		const char *got[4];
		if (!compile(line, clock_rows[i].zone, clock_rows[i].in, &a, &w))
			continue;
		test_case("%s %s", clock_rows[i].zone, clock_rows[i].in);
		unsigned n = explain_clock_changes(&w, after, until, &a, got, ARRAY_LEN(got));
		struct buf all = { 0 };
		buf_add(&all, STR(""));
		for (unsigned k = 0; k < n; k++)
			buf_addf(&all, "%s%s", k ? "\n" : "", got[k]);
		CHECK_STR_AT(line, all.p, clock_rows[i].want);
		buf_free(&all);
	}
	arena_free(&a);
}

TEST(clock_changes_give_no_more_lines_than_asked_for)
{
	struct arena a = { 0 };
	struct when w;
	const char *got[5] = { 0 };
	if (compile(__LINE__, "America/New_York", "*/15 * * * *", &a, &w)) {
		struct wall from = wall_of(utc_seconds("2026-01-01")),
			    to = wall_of(utc_seconds("2030-01-01"));
		CHECK_INT(explain_clock_changes(&w, from, to, &a, got, 0), 0);
		CHECK(!got[0]);
		CHECK_INT(explain_clock_changes(&w, from, to, &a, got, 3), 3);
		CHECK(got[2] && !got[3]);
		CHECK_INT(explain_clock_changes(&w, to, from, &a, got, 3), 0);
		/* all years at once, with at least one line each */
		CHECK_INT(explain_clock_changes(&w, wall_of(SECONDS_MIN), wall_of(SECONDS_MAX), &a, got, 5),
			  5);
	}
	arena_free(&a);
}

/* --- random whens --- */

/* The part of a struct when that the sentence describes. It is small, because many samples are kept. */
struct sample {
	struct rule rule;
	const char *zone;
	unsigned excepts; /* index into except_lists */
};

static const int32_t holidays[] = { 20600, 20601, 20812 };
static const struct days except_lists[] = {
	{ NULL, 0 }, { holidays, 1 }, { holidays, 3 }, { holidays + 1, 1 }
};

static const char *const sample_zones[] = { "UTC", "Europe/Berlin", "Australia/Lord_Howe" };

#define PICK(list, r) (list)[test_random(r) % ARRAY_LEN(list)]

static bool chance(uint64_t *r, unsigned percent)
{
	return test_random(r) % 100 < percent;
}

static const char *const seconds[] = { "*",    "*/10", "*/15",   "*/7", "0",        "30",     "5,35",
				       "0-30", "0-29", "0-58/2", "1-5", "10-50/10", "0,1,2,4" };
static const char *const minutes[] = { "*",    "0",    "30",      "*/15",    "*/30",    "*/20",
				       "*/7",  "5,35", "0-4",     "0,30",    "5/10",    "1-59/2",
				       "0-58", "5-9",  "0,1,2",   "0/15",    "0-30/10", "59",
				       "1-59", "*/40", "0-45/15", "0,20,40", "15,45" };
static const char *const hours[] = { "*",    "0",    "9",      "9-17", "8,12,18",    "*/2", "22-2",
				     "0-23", "*/6",  "9-17/2", "0-1",  "1,3,5,9",    "*/5", "23",
				     "*/12", "0-22", "1-23",   "2,3",  "0-4,9,12-13" };
static const char *const months[] = { "1",    "1,7", "6-8",    "*/3",  "JAN-DEC",
				      "11-2", "2",   "1-12/1", "2-12", "*/2" };
static const char *const mdays[] = { "*",     "?",   "*/2",    "*/10",   "1",   "15",  "1,15", "1-7",    "L",
				     "L-1",   "L-3", "LW",     "15W",    "1W",  "31W", "1-31", "2-31/2", "31",
				     "29-31", "1/2", "1-15/2", "1-29/2", "*/5", "30",  "1-30" };
static const char *const wdays[] = { "*",   "?",   "1-5", "5",   "0,6", "1,3,5", "FRI-MON",
				     "5L",  "5#2", "1#1", "5#5", "0-6", "1-7",   "*/2",
				     "MON", "7",   "0#3", "6L",  "1-3", "2-6",   "1#3" };

/* A list of one item, sometimes of two or three. */
static void add_list(struct buf *b, const char *const *items, size_t n, uint64_t *r)
{
	do {
		if (b->n && b->p[b->n - 1] != ' ')
			buf_addc(b, ',');
		buf_add(b, str_of(items[test_random(r) % n]));
	} while (chance(r, 15));
}

/* Adds a field, which is often `*`, so that the same sentence occurs again. */
static void add_field(struct buf *b, const char *const *items, size_t n, unsigned percent, uint64_t *r)
{
	if (b->n)
		buf_addc(b, ' ');
	if (chance(r, percent))
		add_list(b, items, n, r);
	else
		buf_addc(b, '*');
}

static bool random_cron(struct sample *s, struct buf *b, uint64_t *r)
{
	b->n = 0;
	if (chance(r, 30))
		add_field(b, seconds, ARRAY_LEN(seconds), 90, r);
	add_field(b, minutes, ARRAY_LEN(minutes), 80, r);
	add_field(b, hours, ARRAY_LEN(hours), 60, r);
	add_field(b, mdays, ARRAY_LEN(mdays), 60, r);
	add_field(b, months, ARRAY_LEN(months), 20, r);
	add_field(b, wdays, ARRAY_LEN(wdays), 60, r);
	s->rule.kind = RULE_CRON;
	if (cron_parse(buf_str(b), STR("id"), &s->rule.cron, NULL))
		return false; /* never fires */
	if (chance(r, 10))
		s->rule.cron.gap = (uint8_t)(test_random(r) % 2);
	if (chance(r, 10))
		s->rule.cron.fold = (uint8_t)(test_random(r) % 3);
	return true;
}

static bool random_every(struct sample *s, struct buf *b, uint64_t *r)
{
	static const int64_t intervals[] = { 1,    30,   60,  90,    420,   600,     900,    3600,
					     5400, 7200, DAY, 36000, 90000, 2 * DAY, 7 * DAY };
	static const int64_t anchors[] = { 0, 60, DAY, 20000 * DAY, 20000 * DAY + 1800, 20386 * DAY + 1800 };
	(void)b;
	s->rule.kind = RULE_EVERY;
	s->rule.every.interval = PICK(intervals, r);
	s->rule.every.anchor = PICK(anchors, r);
	if (chance(r, 40))
		s->rule.from = s->rule.every.anchor;
	return true;
}

/* A half hour near one of the clock changes of 2026 in Berlin or Lord Howe. It may be skipped, repeated, or
 * neither. */
static int64_t random_near_change(uint64_t *r)
{
	static const int64_t days[] = { 20541, 20547, 20729, 20750 };
	return PICK(days, r) * DAY + (int64_t)(test_random(r) % 50) * 1800;
}

static bool random_at(struct sample *s, struct buf *b, uint64_t *r)
{
	(void)b;
	s->rule.kind = RULE_AT;
	s->rule.at = random_near_change(r) - 11 * 3600 * (int64_t)(test_random(r) % 2);
	return true;
}

static bool random_org(struct sample *s, struct buf *b, uint64_t *r)
{
	static const int64_t days[] = { 20450, 20482, 20512, 21243 }; /* one leap day, two ends of months */
	(void)b;
	s->rule.kind = RULE_ORG;
	s->rule.org = (struct org_rule){ .local = chance(r, 50) ? random_near_change(r)
								: PICK(days, r) * DAY + 9 * 3600,
					 .style = (uint8_t)(test_random(r) % 4) };
	if (s->rule.org.style == ORG_ONCE)
		return true;
	static const uint16_t counts[] = { 1, 2, 7, 12, 24 };
	s->rule.org.count = PICK(counts, r);
	s->rule.org.unit = (uint8_t)(test_random(r) % 5);
	return true;
}

static bool random_sample(struct sample *s, struct buf *b, uint64_t *r)
{
	static bool (*const kinds[])(struct sample *, struct buf *, uint64_t *) = { random_every, random_at,
										    random_org };
	*s = (struct sample){ .rule = { .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER } };
	s->zone = PICK(sample_zones, r);
	if (chance(r, 5))
		s->rule.from = random_near_change(r);
	if (chance(r, 5))
		s->rule.until = random_near_change(r) + 366 * DAY;
	if (chance(r, 5))
		s->excepts = (unsigned)(test_random(r) % ARRAY_LEN(except_lists));
	if (chance(r, 5)) {
		s->rule.jitter = chance(r, 50) ? 300 : 3600;
		s->rule.spread = UINT64_C(1) << (40 + test_random(r) % 24);
	}
	return (chance(r, 90) ? random_cron : PICK(kinds, r))(s, b, r);
}

static struct when when_of(const struct sample *s)
{
	return (struct when){ .rule = s->rule,
			      .zone = test_zone(s->zone),
			      .zone_name = str_of(s->zone),
			      .except = except_lists[s->excepts] };
}

/* Compares the first runs after each of several times: near clock changes and leap days, in leap years and
 * others. */
static bool same_runs(const struct rule *a, const struct zone *za, const struct rule *b,
		      const struct zone *zb)
{
	static const int64_t starts[] = {
		0, 20540 * DAY, 20546 * DAY, 20728 * DAY, 20749 * DAY, 21242 * DAY
	};
	for (unsigned i = 0; i < ARRAY_LEN(starts); i++) {
		struct wall ta = wall_of(starts[i]), tb = ta;
		for (unsigned k = 0; k < 50; k++) {
			enum err ea = rule_next(a, za, ta, &ta), eb = rule_next(b, zb, tb, &tb);
			if (ea != eb || ta.us != tb.us || rule_due(a, za, ta).us != rule_due(b, zb, tb).us)
				return false;
			if (ea)
				break;
		}
	}
	return true;
}

static bool same_time_fields(const struct cron *a, const struct cron *b)
{
	return a->second == b->second && a->minute == b->minute && a->hour == b->hour &&
	       a->month == b->month && a->gap == b->gap && a->fold == b->fold;
}

static bool same_day_fields(const struct cron *a, const struct cron *b)
{
	unsigned star = CRON_MDAY_STAR | CRON_WDAY_STAR;
	return a->mday == b->mday && a->mday_last == b->mday_last && a->mday_near == b->mday_near &&
	       a->wday == b->wday && a->wday_last == b->wday_last &&
	       memcmp(a->wday_nth, b->wday_nth, sizeof a->wday_nth) == 0 &&
	       !(a->flags & star) == !(b->flags & star);
}

static bool same_meaning(const struct sample *a, const struct sample *b, unsigned *walked)
{
	struct rule ra = a->rule, rb = b->rule;
	const struct zone *za = test_zone(a->zone), *zb = test_zone(b->zone);
	if (a->excepts != b->excepts || ra.from != rb.from || ra.until != rb.until ||
	    ra.jitter != rb.jitter || ra.spread != rb.spread)
		return false;
	if (ra.kind == RULE_CRON && rb.kind == RULE_CRON && za == zb &&
	    same_time_fields(&ra.cron, &rb.cron)) {
		if (same_day_fields(&ra.cron, &rb.cron))
			return true;
		/* The two rules differ only in their days. With one run a day, fifty runs cover many days. */
		ra.cron.second = rb.cron.second = ra.cron.minute = rb.cron.minute = 1;
		ra.cron.hour = rb.cron.hour = 1;
		ra.from = rb.from = RULE_FROM_ALWAYS;
		ra.until = rb.until = RULE_UNTIL_NEVER;
		ra.jitter = rb.jitter = 0;
		za = zb = test_zone("UTC");
	}
	++*walked;
	return same_runs(&ra, za, &rb, zb);
}

/* One sentence, in plain ASCII that needs no escaping in JSON. */
static bool well_formed(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '"' || s.p[i] == '\\' ||
		    (s.p[i] == '.' && i + 1 < s.n) || (s.p[i] == ',' && s.p[i + 1] != ' '))
			return false;
	return s.n && s.p[s.n - 1] == '.' && !strstr(s.p, "  ");
}

enum { SAMPLES = 250000, SLOTS = 1 << 20 };
struct slot {
	const char *sentence; /* NULL if free */
	uint64_t hash;
	struct sample sample;
};

/* The slot of `sentence`, or the free slot that it would get. */
static struct slot *slot_of(struct slot *slots, struct str sentence, uint64_t hash)
{
	for (uint64_t i = hash;; i++) {
		struct slot *s = &slots[i % SLOTS];
		if (!s->sentence || (s->hash == hash && str_eq(str_of(s->sentence), sentence)))
			return s;
	}
}

TEST(no_two_different_whens_share_a_sentence)
{
	struct slot *slots = calloc(SLOTS, sizeof *slots);
	struct arena a = { 0 };
	struct buf text = { 0 }, out = { 0 };
	uint64_t r = 2026;
	unsigned distinct = 0, again = 0, walked = 0, wrong = 0;
	for (unsigned i = 0; i < SAMPLES && wrong < 10;) {
		struct sample s;
		if (!random_sample(&s, &text, &r))
			continue;
		i++;
		struct when w = when_of(&s);
		out.n = 0;
		explain_when(&w, &out);
		if (!well_formed(buf_str(&out)))
			wrong += !CHECK_STR(out.p, "one plain sentence");
		uint64_t hash = fnv1a(FNV_START, buf_str(&out));
		struct slot *slot = slot_of(slots, buf_str(&out), hash);
		if (!slot->sentence) {
			*slot = (struct slot){ arena_dup(&a, buf_str(&out)), hash, s };
			distinct++;
			continue;
		}
		again++;
		if (same_meaning(&slot->sample, &s, &walked))
			continue;
		struct when other = when_of(&slot->sample);
		test_case("%s; first kind %d, now %d", s.rule.kind == RULE_CRON ? text.p : "",
			  other.rule.kind, s.rule.kind);
		wrong += !CHECK_STR(out.p, "a sentence of its own");
	}
	test_case("%u sentences, %u of them again, %u compared run by run", distinct, again, walked);
	CHECK(distinct > SAMPLES / 4);
	CHECK(again > SAMPLES / 4);
	CHECK(walked > SAMPLES / 100);
	buf_free(&text);
	buf_free(&out);
	arena_free(&a);
	free(slots);
}

/* --- checks that the lines about clock changes are true --- */

static bool runs_in(const struct rule *r, const struct zone *z, int64_t from, int64_t to)
{
	struct wall t;
	return rule_next(r, z, wall_of(from - 1), &t) == OK && wall_seconds(t) < to;
}

/* The expected content of the line about a change, derived from the runs. */
static const char *outcome(const struct rule *r, const struct zone *z, const struct zone_span *s,
			   int64_t local)
{
	int64_t at = s->to, width = s->after - s->offset;
	if (width < 0) {
		bool first = runs_in(r, z, at + width, at), second = runs_in(r, z, at, at - width);
		return first && second ? "both times."
		       : first         ? "the first time only ("
				       : "the second time only (";
	}
	int64_t run = r->kind == RULE_CRON ? at : local - s->offset;
	bool own = runs_in(r, test_zone("UTC"), run + s->after, run + s->after + 1);
	if (!runs_in(r, z, run, run + 1))
		return "not run.";
	if (!own)
		return " instead.";
	return r->kind == RULE_CRON && r->cron.gap == GAP_SKIP ? "not run." : "together with the run at ";
}

/* Finds, without the code of explain, the changes that skip or repeat local times of the rule. */
static unsigned changes_that_matter(const struct rule *r, const struct zone *z, int64_t after, int64_t until,
				    const char **ret)
{
	unsigned n = 0;
	for (struct zone_span s = zone_span(z, after); s.to <= until; s = zone_span(z, s.to)) {
		struct wall t = wall_of(s.to + s.offset - DAY);
		while (rule_next(r, test_zone("UTC"), t, &t) == OK &&
		       wall_seconds(t) < s.to + s.offset + DAY) {
			enum zone_fit fit;
			zone_utc(z, wall_seconds(t), &fit);
			if (fit == ZONE_ONCE)
				continue;
			ret[n++] = outcome(r, z, &s, wall_seconds(t));
			break;
		}
	}
	return n;
}

TEST(every_change_that_matters_has_a_true_line)
{
	struct arena a = { 0 };
	struct buf text = { 0 };
	uint64_t r = 7;
	unsigned lines = 0, none = 0;
	for (unsigned i = 0; i < 3000;) {
		struct sample s;
		if (!random_sample(&s, &text, &r) || s.rule.kind == RULE_AT || s.rule.kind == RULE_EVERY)
			continue;
		if (s.rule.kind == RULE_ORG && s.rule.org.unit == ORG_HOUR)
			continue; /* only the first time is a local time */
		i++;
		struct when w = when_of(&s);
		w.rule.from = RULE_FROM_ALWAYS;
		w.rule.until = RULE_UNTIL_NEVER;
		w.except.n = 0;
		const char *got[16], *want[16];
		int64_t after = 20454 * DAY, until = after + 3 * 365 * DAY; /* 2026 to 2028 */
		unsigned n = explain_clock_changes(&w, wall_of(after), wall_of(until), &a, got, 16);
		test_case("%s: %s", s.zone, s.rule.kind == RULE_CRON ? text.p : "an org timestamp");
		if (!CHECK_INT(n, changes_that_matter(&w.rule, w.zone, after, until, want)))
			continue;
		for (unsigned k = 0; k < n; k++) {
			CHECK(well_formed(str_of(got[k])));
			if (!strstr(got[k], want[k]))
				CHECK_STR(got[k], want[k]);
		}
		*(n ? &lines : &none) += 1;
		arena_reset(&a);
	}
	test_case("%u with lines, %u without", lines, none);
	CHECK(lines > 500);
	CHECK(none > 500);
	buf_free(&text);
	arena_free(&a);
}
