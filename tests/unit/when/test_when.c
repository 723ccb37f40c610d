/* Whole expressions: which form they have, directives, errors with their places. */
#include "core/when/iso.h"
#include "core/when/when.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;

static bool holidays(void *self, struct str name, struct days *ret)
{
	static const int32_t days[] = { 20812, 20813 }; /* 2026-12-25 and -26 */
	(void)self;
	if (!str_eq(name, STR("holidays")))
		return false;
	*ret = (struct days){ days, 2 };
	return true;
}

static enum err parse(const char *text, struct when *w)
{
	static const struct calendars calendars = { holidays, NULL };
	struct when_env env = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z, a Sunday */
				.zones = test_zones(),
				.zone = test_zone("America/New_York"),
				.zone_name = STR("America/New_York"),
				.id = STR("x"),
				.calendars = &calendars };
	arena_reset(&arena);
	why = (struct why){ 0 };
	return when_parse(str_of(text), &env, &arena, w, &why);
}

static const char *next_time(const struct when *w)
{
	static char out[ISO_SIZE];
	struct when_walk walk = when_walk(w, wall_of(1794751200));
	struct wall nominal, due;
	if (when_walk_next(&walk, &nominal, &due))
		return "none";
	return iso_format_utc(wall_seconds(nominal), out);
}

TEST(each_form_is_recognised)
{
	static const struct {
		int line;
		const char *in;
		enum rule_kind kind;
		const char *normalized, *next;
	} rows[] = {
		{ __LINE__, "0 9 * * MON-FRI", RULE_CRON, "0 9 * * 1-5", "2026-11-16T14:00:00Z" },
		{ __LINE__, "@daily", RULE_CRON, "0 0 * * *", "2026-11-16T05:00:00Z" },
		{ __LINE__, "H 9 * * *", RULE_CRON, NULL, NULL },
		{ __LINE__, "h/15 9 * * *", RULE_CRON, NULL, NULL },
		{ __LINE__, "@every 10m", RULE_EVERY, "@every 10m", "2026-11-15T14:10:00Z" },
		{ __LINE__, "EVERY 90m", RULE_EVERY, "@every 1h30m", "2026-11-15T15:00:00Z" },
		{ __LINE__, "2026-12-24T18:00", RULE_AT, "2026-12-24T18:00:00", "2026-12-24T23:00:00Z" },
		{ __LINE__, "2026-12-24 18:00:00.5+01:00", RULE_AT, "2026-12-24T17:00:01Z",
		  "2026-12-24T17:00:01Z" },
		{ __LINE__, "2026-12-24", RULE_AT, "2026-12-24T00:00:00", "2026-12-24T05:00:00Z" },
		{ __LINE__, "20261224T180000Z", RULE_AT, "2026-12-24T18:00:00Z", "2026-12-24T18:00:00Z" },
		{ __LINE__, "<2026-06-13 Sat 09:00 +1w>", RULE_ORG, "<2026-06-13 Sat 09:00 +1w>",
		  "2026-11-21T14:00:00Z" },
		{ __LINE__, "in 20m", RULE_AT, "2026-11-15T14:20:00Z", "2026-11-15T14:20:00Z" },
		{ __LINE__, "every tuesday at 9am", RULE_CRON, "0 9 * * 2", "2026-11-17T14:00:00Z" },
		{ __LINE__, "every 10m", RULE_CRON, "*/10 * * * *", "2026-11-15T14:10:00Z" },
		{ __LINE__, "EVERY 10m FROM 2026-11-15T14:03:00Z", RULE_EVERY, "@every 10m",
		  "2026-11-15T14:03:00Z" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct when w;
		test_case("%s", rows[i].in);
		if (!CHECK_INT_AT(rows[i].line, parse(rows[i].in, &w), OK))
			continue;
		CHECK_INT_AT(rows[i].line, w.rule.kind, rows[i].kind);
		if (rows[i].normalized)
			CHECK_STR_AT(rows[i].line, w.normalized.p, rows[i].normalized);
		if (rows[i].next)
			CHECK_STR_AT(rows[i].line, next_time(&w), rows[i].next);
	}
}

TEST(directives_in_any_order)
{
	static const char *const texts[] = {
		"TZ=Europe/Berlin\n0 9 * * 1-5\nIF a.b == 1\nWINDOW 15m\nRETRY 3 linear 5s\nTIMEOUT "
		"5m\nMISSED catch_up\n"
		"OVERLAP queue_one\nEXCEPT 2026-11-16, 2026-11-17\nJITTER 1m\nFROM 2026-11-01 09:00\nUNTIL "
		"2027-06-30\n"
		"GAP skip\nFOLD both",
		"FOLD both GAP skip UNTIL 2027-06-30 FROM 2026-11-01 09:00 JITTER 1m EXCEPT "
		"2026-11-17,2026-11-16 "
		"OVERLAP queue_one MISSED catch_up TIMEOUT 5m RETRY 3 linear 5s WINDOW 15m 0 9 * * 1-5 "
		"TZ=Europe/Berlin "
		"IF a.b == 1",
		"\r\n0 9 * * 1-5 WINDOW 15m\r\nIF a.b == 1\r\n\r\nRETRY 3 linear 5s TIMEOUT 5m  "
		"TZ=Europe/Berlin\r\n"
		"MISSED catch_up OVERLAP queue_one EXCEPT 2026-11-16,2026-11-17,2026-11-16 JITTER 1m FROM "
		"2026-11-01T09:00 "
		"UNTIL 2027-06-30\tGAP skip FOLD both\r\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct when w;
		test_case("text %zu", i);
		if (!CHECK_INT(parse(texts[i], &w), OK))
			continue;
		CHECK(str_eq(w.zone_name, STR("Europe/Berlin")) && w.zone_given);
		CHECK(str_eq(w.written.value[ACE_IF], STR("a.b == 1")));
		CHECK_INT(w.window, 900);
		CHECK_INT(w.timeout, 300);
		CHECK_INT(w.retry.max_attempts, 3);
		CHECK_INT(w.retry.backoff, BACKOFF_LINEAR);
		CHECK_INT(w.retry.initial_delay, 5);
		CHECK_INT(w.missed, MISSED_CATCH_UP);
		CHECK_INT(w.overlap, OVERLAP_QUEUE_ONE);
		CHECK_INT(w.except.n, 2);
		CHECK_INT(w.rule.jitter, 60);
		CHECK_INT(w.rule.from, 1793520000);  /* 2026-11-01T08:00:00Z */
		CHECK_INT(w.rule.until, 1814392800); /* 2027-06-30T22:00:00Z: the end of that day */
		CHECK_INT(w.rule.cron.gap, GAP_SKIP);
		CHECK_INT(w.rule.cron.fold, FOLD_BOTH);
		CHECK_STR(next_time(&w), "2026-11-18T08:00:00Z"); /* the 16th and 17th are excluded */
	}
}

/* Which words belong to the value of a directive. */
TEST(values_end_where_they_should)
{
	struct when w;
	CHECK_INT(parse("FROM 2026-06-01T09:00 09:00 every day TZ=UTC", &w), OK);
	CHECK_STR(w.normalized.p, "0 9 * * *");
	CHECK_INT(w.rule.from, 1780304400);
	CHECK_INT(parse("EXCEPT 2026-12-25 ,2026-12-26 0 9 * * *", &w), OK);
	CHECK_INT(w.except.n, 2);
	CHECK_INT(parse("RETRY 3 60s 5m 9 * * *", &w), E_INPUT);
	CHECK_INT(why.at, 13); /* 5m is read as a part of the form, in which it is not valid */
	CHECK_INT(parse("RETRY 3\t60s 5m 9 * * *", &w), E_INPUT);
	CHECK_INT(why.at, 13);
	CHECK_INT(parse("@every 10m FROM 2026-11-15T14:03:00.5Z", &w), OK);
	CHECK_STR(next_time(&w), "2026-11-15T14:03:01Z");
	CHECK_INT(parse("0 9 * * * UNTIL 9999-12-31 TZ=UTC", &w), OK);
	CHECK(w.rule.until == RULE_UNTIL_NEVER);
}

/* In St John's the clock went back from 00:01 to 23:01: the same day began twice. */
TEST(an_excluded_day_may_occur_twice)
{
	struct when w;
	CHECK_INT(parse("* * * * * EXCEPT 2010-11-06 TZ=America/St_Johns", &w), OK);
	struct when_walk walk = when_walk(&w, wall_of(1289044800)); /* 2010-11-06T12:00:00Z */
	struct wall nominal, due;
	char out[ISO_SIZE];
	CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
	CHECK_STR(iso_format_utc(wall_seconds(nominal), out), "2010-11-07T02:30:00Z"); /* 00:00, first pass */
	CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
	CHECK_STR(iso_format_utc(wall_seconds(nominal), out),
		  "2010-11-07T03:30:00Z"); /* 00:00, second pass */
	CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
	CHECK_STR(iso_format_utc(wall_seconds(nominal), out), "2010-11-07T03:31:00Z");
}

TEST(retry_has_defaults)
{
	struct when w;
	CHECK_INT(parse("RETRY 3 0 9 * * *", &w), OK);
	CHECK_INT(w.retry.max_attempts, 3);
	CHECK_INT(w.retry.backoff, BACKOFF_EXPONENTIAL);
	CHECK_INT(w.retry.initial_delay, 60);
	CHECK_INT(parse("RETRY 2 10s 0 9 * * *", &w), OK);
	CHECK_INT(w.retry.initial_delay, 10);
	CHECK_INT(parse("RETRY 0 fixed 0 9 * * *", &w), OK);
	CHECK_INT(w.retry.backoff, BACKOFF_FIXED);
	CHECK_INT(parse("RETRY 3 fixed 10s every day at 9", &w), OK);
	static const char *const phrases[] = { "RETRY 3 every day at 9", "RETRY 3 in 20m", "RETRY 3 daily",
					       "RETRY 3 linear 30s 1st friday of the month at 9:30" };
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		test_case("%s", phrases[i]);
		CHECK_INT(parse(phrases[i], &w), OK);
		CHECK_INT(w.retry.max_attempts, 3);
	}
}

TEST(calendars_come_from_the_environment)
{
	struct when w;
	CHECK_INT(parse("0 9 24-27 12 * EXCEPT holidays", &w), OK);
	CHECK_INT(w.except.n, 2);
	CHECK_STR(next_time(&w), "2026-12-24T14:00:00Z");
}

TEST(refusals_say_what_and_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
		const char *text; /* a part of the message */
	} rows[] = {
		{ __LINE__, "", 0, "no expression" },
		{ __LINE__, " \n ", 0, "no expression" },
		{ __LINE__, "TZ=Europe/Berlin", 0, "no expression" },
		{ __LINE__, "60 * * * *", 0, "minute 60 is out of range 0-59" },
		{ __LINE__, "  0 24 * * *", 4, "hour 24 is out of range 0-23" },
		{ __LINE__, "WINDOW 5m\n0 9 * * 8", 18, "day of week 8 is out of range 0-7" },
		{ __LINE__, "0 9 * * *\n0 10 * * *", 10, "given twice" },
		{ __LINE__, "0 9 * * * WINDOW 5m 0 10 * * *", 20, "given twice" },
		{ __LINE__, "0 9 * * * WINDOW 5m WINDOW 6m", 27,
		  "given twice: '6m' here and '5m' at line 1, column 18" },
		{ __LINE__, "0 9 * * *\nFOO 5m", 10, "directive 'FOO' is not known" },
		{ __LINE__, "0 9 * * * FOO 5m", 10, "directive 'FOO' is not known" },
		{ __LINE__, "FOO bar\n0 9 * * *", 0, "directive 'FOO' is not known" },
		{ __LINE__, "0 9 * FOO *", 6, "month has 'FOO'" },
		{ __LINE__, "0 9 * * MONDAY", 8, "day of week has 'MONDAY'" },
		{ __LINE__, "1000-59 * * * *", 0, "minute 1000 is out of range 0-59" },
		{ __LINE__, "EVERY 5m 5m", 8, "not a duration" },
		{ __LINE__, "<2026-06-13 \xfe>", 12, "byte 0xfe is not UTF-8" },
		{ __LINE__, "0 9 * * * TZ=Mars/Base", 13, "zone 'Mars/Base' is not known" },
		{ __LINE__, "0 9 * * * TZ=Europe/Berln", 13, "Europe/Berlin" },
		{ __LINE__, "0 9 * * * TZ=", 13, "TZ= needs a value" },
		{ __LINE__, "0 9 * * * WINDOW", 16, "WINDOW needs a value" },
		{ __LINE__, "0 9 * * * WINDOW TIMEOUT 5m", 16, "WINDOW needs a value" },
		{ __LINE__, "0 9 * * * WINDOW 10", 17, "no unit" },
		{ __LINE__, "0 9 * * * WINDOW 0s", 17, "out of range 1s-3660d" },
		{ __LINE__, "0 9 * * * IF ", 12, "IF needs a value" },
		{ __LINE__, "0 9 * * * RETRY x", 16, "out of range 0-100" },
		{ __LINE__, "0 9 * * * RETRY 101", 16, "out of range 0-100" },
		{ __LINE__, "0 9 * * * RETRY 3 cubic", 18, "exponential, linear, fixed" },
		{ __LINE__, "0 9 * * * MISSED never", 17,
		  "execute_immediately, skip, execute_next, catch_up" },
		{ __LINE__, "0 9 * * * OVERLAP x", 18, "skip, queue_one" },
		{ __LINE__, "0 9 * * * GAP x", 14, "shift, skip" },
		{ __LINE__, "0 9 * * * FOLD x", 15, "first, second, both" },
		{ __LINE__, "@every 10m GAP skip", 15, "only with cron expressions" },
		{ __LINE__, "0 9 * * * FROM yesterday", 15, "'yesterday' is not a date" },
		{ __LINE__, "0 9 * * * UNTIL 30 June", 16, "'30 June' is not a date" },
		{ __LINE__, "EVERY DAY AT 9 UNTIL 30 JUNE", 21, "'30 JUNE' is not a date" },
		{ __LINE__, "every day at 9 in GMT+1", 18, "two readings" },
		{ __LINE__, "CRON_TZ=Europe/Berlin 0 9 * * *", 0, "write TZ=" },
		{ __LINE__, "0 9 * * * RETRY 3 linear 5x", 26, "not a duration" },
		{ __LINE__, "0 9 * * * UNTIL 2026-02-30", 24, "day 30 is out of range 01-28" },
		{ __LINE__, "0 9 * * * EXCEPT 2026-12-25,2026-13-01", 33, "month 13" },
		{ __LINE__, "0 9 * * * EXCEPT 2026-12-25T09:00", 17, "whole days" },
		{ __LINE__, "0 9 * * * EXCEPT nosuch", 17, "calendar" },
		{ __LINE__, "0 9 * * * FROM 2027-01-01 UNTIL 2026-01-01", 15, "never fires" },
		{ __LINE__, "0 0 29 2 * FROM 2026-03-01 UNTIL 2027-03-01", 0, "never fires" },
		{ __LINE__, "2026-12-25T09:00 EXCEPT 2026-12-25", 0, "excludes all its times" },
		{ __LINE__, "2026-12-25T09:00 UNTIL 2026-12-24", 0, "never fires" },
		{ __LINE__, "0 0 30 2 *", 4, "never fires" },
		{ __LINE__, "<2026-06-13 ++1w> MISSED catch_up", 25, "MISSED skip" },
		{ __LINE__, "[2026-06-13]", 0, "inactive" },
		{ __LINE__, "@every", 6, "duration is missing" },
		{ __LINE__, "@every 0s", 7, "out of range 1s-3660d" },
		{ __LINE__, "@reboot", 0, "'@reboot' is not known" },
		{ __LINE__, "0 9 * * *\x01", 9, "control character 0x01" },
		{ __LINE__, "every day at 9 in Berlin TZ=Europe/Berlin", 18, "given twice" },
		{ __LINE__, "every day at 9 until 30 june UNTIL 2027-01-01", 15, "given twice" },
		{ __LINE__, "WINDOW 5m every 30 february at 9", 16, "day 30 is out of range 1-29" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct when w = { .window = 77 };
		test_case("%s", rows[i].in);
		CHECK_INT_AT(rows[i].line, parse(rows[i].in, &w), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		if (!strstr(why.text, rows[i].text))
			CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
		CHECK_INT_AT(rows[i].line, w.window, 77); /* untouched */
	}
}

TEST(size_is_bounded)
{
	static char text[WHEN_BYTES_MAX + 2];
	struct when w;
	memset(text, ' ', sizeof text - 1);
	memcpy(text, "0 9 * * *", 9);
	CHECK_INT(parse(text, &w), E_LIMIT);
	text[WHEN_BYTES_MAX] = 0;
	CHECK_INT(parse(text, &w), OK);
}

TEST(jitter_never_reaches_the_next_time)
{
	struct when w;
	CHECK_INT(parse("* * * * * JITTER 1h TZ=UTC", &w), OK);
	struct wall after = wall_of(1794751200), nominal, due, last = { 0 };
	struct when_walk walk = when_walk(&w, after);
	for (unsigned i = 0; i < 100; i++) {
		CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
		CHECK(due.us > after.us && due.us >= nominal.us && due.us - nominal.us < 60 * USEC);
		CHECK(!i || due.us - last.us == 60 * USEC);
		last = due;
	}
	/* An occurrence whose nominal time has passed, but which is not due yet, is listed. */
	struct wall share = { rule_due(&w.rule, w.zone, after).us - after.us };
	CHECK(share.us > 0);
	walk = when_walk(&w, after);
	CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
	CHECK_INT(nominal.us, after.us);
}

TEST(excluded_days_are_skipped_as_a_whole)
{
	struct when w;
	CHECK_INT(parse("* * * * * * EXCEPT 2026-11-15,2026-11-16,2026-11-17 TZ=UTC", &w), OK);
	CHECK_STR(next_time(&w), "2026-11-18T00:00:00Z");
	struct when_walk walk = when_walk(&w, wall_of(1794751200));
	struct wall nominal, due;
	CHECK_INT(when_walk_next(&walk, &nominal, &due), OK);
	CHECK_INT(walk.excluded, 3);
	arena_free(&arena);
}
