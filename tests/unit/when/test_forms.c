/* The forms durations, ISO times and org timestamps. tests/oracle checks the due times of these forms. */
#include "base/buf.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "core/when/orgtime.h"
#include "test.h"
#include "zoneinfo.h"

#include <time.h>

TEST(calendar_agrees_with_libc)
{
	for (int64_t day = -719162; day < 2932896; day += 13) {
		struct tm tm;
		time_t t = day * DAY;
		gmtime_r(&t, &tm);
		struct date d = date_of(day);
		bool same = d.year == tm.tm_year + 1900 && d.month == tm.tm_mon + 1 && d.day == tm.tm_mday &&
			    weekday_of(day) == (unsigned)tm.tm_wday && days_of(d.year, d.month, d.day) == day;
		if (!same)
			CHECK_INT(day, 0);
	}
	CHECK_INT(SECONDS_MIN, seconds_of(1, 1, 1, 0, 0, 0));
	CHECK_INT(SECONDS_MAX, seconds_of(9999, 12, 31, 23, 59, 59));
}

TEST(durations)
{
	static const struct {
		int line;
		const char *in;
		int64_t seconds;
		const char *out;
	} rows[] = {
		{ __LINE__, "90s", 90, "1m30s" },
		{ __LINE__, "10m", 600, "10m" },
		{ __LINE__, "2h", 7200, "2h" },
		{ __LINE__, "3d", 259200, "3d" },
		{ __LINE__, "1w", 604800, "1w" },
		{ __LINE__, "1h30m", 5400, "1h30m" },
		{ __LINE__, "1w1d", 691200, "8d" },
		{ __LINE__, "0s", 0, "0s" },
		{ __LINE__, "120m", 7200, "2h" },
		{ __LINE__, "14d", 1209600, "2w" },
		{ __LINE__, "3660d", DURATION_SECONDS_MAX, "3660d" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t seconds = -1;
		struct buf out = { 0 };
		CHECK_INT_AT(rows[i].line, dur_parse(str_of(rows[i].in), &seconds, NULL), OK);
		CHECK_INT_AT(rows[i].line, seconds, rows[i].seconds);
		dur_format(seconds, &out);
		CHECK_STR_AT(rows[i].line, out.p, rows[i].out);
		buf_free(&out);
	}
}

TEST(bad_durations_say_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
	} rows[] = {
		{ __LINE__, "", 0 },     { __LINE__, "10", 0 },    { __LINE__, "m", 0 },
		{ __LINE__, "10x", 2 },  { __LINE__, "1h30", 2 },  { __LINE__, "30m1h", 5 - 1 },
		{ __LINE__, "1m1m", 3 }, { __LINE__, "-5m", 0 },   { __LINE__, "1.5h", 1 },
		{ __LINE__, "10 m", 2 }, { __LINE__, "3661d", 0 }, { __LINE__, "99999999999999999999w", 0 },
		{ __LINE__, "5M", 1 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t seconds = -1;
		struct why why = { 0 };
		CHECK_INT_AT(rows[i].line, dur_parse(str_of(rows[i].in), &seconds, &why), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		CHECK_INT_AT(rows[i].line, seconds, -1);
	}
}

TEST(iso_times)
{
	static const struct {
		int line;
		const char *in;
		int64_t local;
		int32_t micros, offset;
		bool has_time, has_offset;
	} rows[] = {
		{ __LINE__, "1970-01-01", 0, 0, 0, false, false },
		{ __LINE__, "1970-01-02T03:04", 97440, 0, 0, true, false },
		{ __LINE__, "1970-01-02 03:04:05", 97445, 0, 0, true, false },
		{ __LINE__, "1970-01-02t03:04:05z", 97445, 0, 0, true, true },
		{ __LINE__, "1970-01-02T03:04:05.25Z", 97445, 250000, 0, true, true },
		{ __LINE__, "1970-01-02T03:04:05,123456789Z", 97445, 123457, 0, true, true },
		{ __LINE__, "1970-01-02T03:04:05.000000001Z", 97445, 1, 0, true, true },
		{ __LINE__, "1970-01-02T03:04:05.000000000Z", 97445, 0, 0, true, true },
		{ __LINE__, "1970-01-02T03:04+05:45", 97440, 0, 20700, true, true },
		{ __LINE__, "19700102T030405-0330", 97445, 0, -12600, true, true },
		{ __LINE__, "19700102T0304+05", 97440, 0, 18000, true, true },
		{ __LINE__, "2000-02-29", 951782400, 0, 0, false, false },
		{ __LINE__, "9999-12-31T23:59:59Z", SECONDS_MAX, 0, 0, true, true },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct iso t = { 0 };
		CHECK_INT_AT(rows[i].line, iso_parse(str_of(rows[i].in), &t, NULL), OK);
		CHECK_INT_AT(rows[i].line, t.local, rows[i].local);
		CHECK_INT_AT(rows[i].line, t.micros, rows[i].micros);
		CHECK_INT_AT(rows[i].line, t.offset, rows[i].offset);
		CHECK_INT_AT(rows[i].line, t.has_time, rows[i].has_time);
		CHECK_INT_AT(rows[i].line, t.has_offset, rows[i].has_offset);
	}
}

TEST(bad_iso_times_say_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
	} rows[] = {
		{ __LINE__, "2026-13-01", 5 },
		{ __LINE__, "2026-02-29", 8 },
		{ __LINE__, "2026-1-01", 6 },
		{ __LINE__, "2026-W46-1", 5 },
		{ __LINE__, "2026-11-16T24:00", 11 },
		{ __LINE__, "2026-11-16T14:60", 14 },
		{ __LINE__, "2026-11-16T14:00:60Z", 17 },
		{ __LINE__, "2026-11-16T14", 13 },
		{ __LINE__, "2026-11-16T14:00:00.Z", 20 },
		{ __LINE__, "2026-11-16T14:00 Berlin", 16 },
		{ __LINE__, "0000-01-01", 0 },
		{ __LINE__, "2026-11-16T14:00+25:00", 17 },
		{ __LINE__, "0001-01-01T00:00+01:00", 0 },
		{ __LINE__, "2026-11-16x", 10 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct iso t = { .local = 7 };
		struct why why = { 0 };
		CHECK_INT_AT(rows[i].line, iso_parse(str_of(rows[i].in), &t, &why), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		CHECK_INT_AT(rows[i].line, t.local, 7);
	}
}

/* The table of the original specification, unchanged. */
TEST(raw_timestamps)
{
	static const struct {
		int line;
		const char *in, *date, *time, *repeat;
		bool active;
	} rows[] = {
		{ __LINE__, "<2026-06-13 Fri 09:00 +1w>", "2026-06-13", "09:00", "+1w", true },
		{ __LINE__, "<2026-06-20>", "2026-06-20", "", "", true },
		{ __LINE__, "[2026-06-11 14:30]", "2026-06-11", "14:30", "", false },
		{ __LINE__, "<2026-06-13 09:00 .+2d>", "2026-06-13", "09:00", ".+2d", true },
		{ __LINE__, "<+1w 09:00 2026-06-13 10:00 2026-06-14 ++2d>", "2026-06-13", "10:00", "++2d",
		  true },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct org_stamp s = { 0 };
		CHECK_AT(rows[i].line, org_stamp_read(str_of(rows[i].in), &s));
		CHECK_AT(rows[i].line, str_eq(s.date, str_of(rows[i].date)));
		CHECK_AT(rows[i].line, str_eq(s.time, str_of(rows[i].time)));
		CHECK_AT(rows[i].line, str_eq(s.repeat, str_of(rows[i].repeat)));
		CHECK_INT_AT(rows[i].line, s.active, rows[i].active);
	}
	static const char *const none[] = { "",  "<", "2026-06-13", "<2026-06-13]", "<09:00>", "(2026-06-13)",
					    "<>" };
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		struct org_stamp s;
		test_case("%s", none[i]);
		CHECK(!org_stamp_read(str_of(none[i]), &s));
	}
}

TEST(org_timestamps_compile)
{
	static const struct {
		int line;
		const char *in, *out;
		bool day_off;
	} rows[] = {
		{ __LINE__, "<2026-06-13 Sat 09:00 +1w>", "<2026-06-13 Sat 09:00 +1w>", false },
		{ __LINE__, "<2026-06-13 Fri 9:00>", "<2026-06-13 Sat 09:00>", true },
		{ __LINE__, "<2026-06-13 Sa. 9:00-10:30 .+2d/4d -1d>", "<2026-06-13 Sat 09:00 .+2d>", false },
		{ __LINE__, "<2024-02-29 ++1y>", "<2024-02-29 Thu 00:00 ++1y>", false },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct org_rule o;
		bool off = false;
		struct buf out = { 0 };
		CHECK_INT_AT(rows[i].line, org_parse(str_of(rows[i].in), &o, &off, NULL), OK);
		org_format(&o, &out);
		CHECK_STR_AT(rows[i].line, out.p, rows[i].out);
		CHECK_INT_AT(rows[i].line, off, rows[i].day_off);
		buf_free(&out);
	}
}

TEST(bad_org_timestamps_say_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
	} rows[] = {
		{ __LINE__, "[2026-06-13]", 0 },
		{ __LINE__, "<2026-06-13", 0 },
		{ __LINE__, "<09:00>", 0 },
		{ __LINE__, "<2026-02-30>", 9 },
		{ __LINE__, "<2026-13-01>", 6 },
		{ __LINE__, "<2026-06-13 25:00>", 12 },
		{ __LINE__, "<2026-06-13 09:60>", 15 },
		{ __LINE__, "<2026-06-13 +0d>", 13 },
		{ __LINE__, "<2026-06-13 +1x>", 14 },
		{ __LINE__, "<2026-06-13 +d>", 13 },
		{ __LINE__, "<2026-06-13 +1d +2d>", 16 },
		{ __LINE__, "<2026-06-13 2026-06-14>", 12 },
		{ __LINE__, "<2026-06-13 +99999999d>", 13 },
		{ __LINE__, "<2026-06-13 .+>", 14 },
		{ __LINE__, "<2026-06-13>--<2026-06-14>", 12 },
		{ __LINE__, "<2026-06-13> FOO 5m", 12 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct org_rule o = { .local = 7 };
		struct why why = { 0 };
		bool off;
		CHECK_INT_AT(rows[i].line, org_parse(str_of(rows[i].in), &o, &off, &why), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		CHECK_INT_AT(rows[i].line, o.local, 7);
	}
}

TEST(restart_counts_from_the_end)
{
	static const struct {
		int line;
		const char *in, *end, *next;
	} rows[] = {
		{ __LINE__, "<2026-06-13 Sat 09:00 .+1d>", "2026-06-15T20:30:00Z", "2026-06-16T13:00:00Z" },
		{ __LINE__, "<2026-06-13 Sat 09:00 .+3h>", "2026-06-15T20:30:00Z", "2026-06-15T23:30:00Z" },
		{ __LINE__, "<2026-01-31 Sat 09:00 .+1m>", "2026-01-31T15:00:00Z", "2026-02-28T14:00:00Z" },
		{ __LINE__, "<2026-06-13 Sat 02:30 .+1d>", "2027-03-13T12:00:00Z", "2027-03-14T07:30:00Z" },
		{ __LINE__, "<2026-06-13 Sat 09:00 +1d>", "2026-06-15T20:30:00Z", "2026-06-16T13:00:00Z" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct org_rule o;
		struct iso end;
		bool off;
		int64_t next = 0;
		char out[ISO_SIZE];
		CHECK_INT_AT(rows[i].line, org_parse(str_of(rows[i].in), &o, &off, NULL), OK);
		CHECK_INT_AT(rows[i].line, iso_parse(str_of(rows[i].end), &end, NULL), OK);
		CHECK_INT_AT(rows[i].line, org_after_end(&o, test_zone("America/New_York"), end.local, &next),
			     OK);
		CHECK_STR_AT(rows[i].line, iso_format_utc(next, out), rows[i].next);
	}
}

/* `rota next` shows for `.+` the times that result if every run ends when it is due. */
TEST(restart_series_counts_from_each_end)
{
	static const char *const stamps[] = { "<2026-01-31 Sat 09:00 .+1m>", "<2024-02-29 Thu 02:30 .+1y>",
					      "<2026-03-30 Mon 01:30 .+7m>", "<2026-06-13 Sat 09:00 .+3d>",
					      "<2026-06-13 Sat 02:30 .+1w>", "<2026-06-13 Sat 09:00 .+5h>" };
	const struct zone *z = test_zone("America/New_York");
	for (size_t i = 0; i < ARRAY_LEN(stamps); i++) {
		struct org_rule o;
		bool off;
		int64_t chained = 0, shown = 0;
		test_case("%s", stamps[i]);
		CHECK_INT(org_parse(str_of(stamps[i]), &o, &off, NULL), OK);
		CHECK_INT(org_next(&o, z, SECONDS_MIN, &chained), OK);
		for (unsigned k = 0; k < 60; k++) {
			int64_t before = chained;
			CHECK_INT(org_next(&o, z, before, &shown), OK);
			CHECK_INT(org_after_end(&o, z, before, &chained), OK);
			CHECK_INT(shown, chained);
		}
	}
}
