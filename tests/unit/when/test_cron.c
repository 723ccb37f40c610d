/* Cron expressions: compiled values, error messages, H, formatting, and the next match. */
#include "../oracle/naive.h"
#include "../oracle/random.h"
#include "base/hash.h"
#include "core/when/civil.h"
#include "core/when/cron.h"
#include "test.h"
#include "zoneinfo.h"

#define B(n)    (UINT64_C(1) << (n))
#define R(a, b) ((UINT64_C(2) << (b)) - (UINT64_C(1) << (a))) /* bits a to b */

/* Parses a copy without terminator, so that a sanitizer detects reads beyond the end. */
static enum err parse_id(const char *text, const char *id, struct cron *ret, struct why *why)
{
	size_t n = strlen(text);
	char *copy = malloc(n + !n);
	memcpy(copy, text, n);
	enum err e = cron_parse((struct str){ copy, n }, str_of(id), ret, why);
	free(copy);
	return e;
}

static struct cron parse_at(int line, const char *text, const char *id)
{
	struct cron c = { 0 };
	struct why why = { 0 };
	test_case("%s", text);
	if (!CHECK_INT_AT(line, parse_id(text, id, &c, &why), OK))
		printf("\t%s\n", why.text);
	return c;
}

TEST(a_value_fits_a_cache_line)
{
	CHECK(sizeof(struct cron) <= 64);
}

static uint64_t bits_of(const struct cron *c, enum cron_field which)
{
	const uint64_t bits[CRON_FIELDS] = { c->second, c->minute, c->hour, c->mday, c->month, c->wday };
	return bits[which];
}

TEST(fields_compile_to_bits)
{
	static const struct {
		int line;
		const char *text;
		enum cron_field which;
		uint64_t want;
	} rows[] = {
		{ __LINE__, "* * * * *", CRON_SECOND, B(0) },
		{ __LINE__, "* * * * *", CRON_MINUTE, R(0, 59) },
		{ __LINE__, "* * * * *", CRON_HOUR, R(0, 23) },
		{ __LINE__, "* * * * *", CRON_MDAY, R(1, 31) },
		{ __LINE__, "* * * * *", CRON_MONTH, R(1, 12) },
		{ __LINE__, "* * * * *", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * ? * ?", CRON_MDAY, R(1, 31) },
		{ __LINE__, "* * ? * ?", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * * * * *", CRON_SECOND, R(0, 59) },
		{ __LINE__, "* * * * * *", CRON_MINUTE, R(0, 59) },
		{ __LINE__, "7 8 9 10 11 *", CRON_SECOND, B(7) },
		{ __LINE__, "7 8 9 10 11 *", CRON_MINUTE, B(8) },
		{ __LINE__, "7 8 9 10 11 *", CRON_HOUR, B(9) },
		{ __LINE__, "7 8 9 10 11 *", CRON_MDAY, B(10) },
		{ __LINE__, "7 8 9 10 11 *", CRON_MONTH, B(11) },
		{ __LINE__, "7 8 9 10 11 5", CRON_WDAY, B(5) },
		/* Both ends of every range. */
		{ __LINE__, "0,59 * * * *", CRON_MINUTE, B(0) | B(59) },
		{ __LINE__, "0,59 * * * * *", CRON_SECOND, B(0) | B(59) },
		{ __LINE__, "* 0,23 * * *", CRON_HOUR, B(0) | B(23) },
		{ __LINE__, "* * 1,31 * *", CRON_MDAY, B(1) | B(31) },
		{ __LINE__, "* * * 1,12 *", CRON_MONTH, B(1) | B(12) },
		{ __LINE__, "* * * * 0,6", CRON_WDAY, B(0) | B(6) },
		{ __LINE__, "* * * * 7", CRON_WDAY, B(0) },
		{ __LINE__, "007 * * * *", CRON_MINUTE, B(7) },
		{ __LINE__, "000000000000000000005 * * * *", CRON_MINUTE, B(5) },
		/* Names, in any case. */
		{ __LINE__, "* * * JAN,feb,Mar,aPR,MAY,JUN *", CRON_MONTH, R(1, 6) },
		{ __LINE__, "* * * JUL,AUG,sep,oct,Nov,DEC *", CRON_MONTH, R(7, 12) },
		{ __LINE__, "* * * * SUN,mon,Tue,wED", CRON_WDAY, R(0, 3) },
		{ __LINE__, "* * * * THU,fri,sAt", CRON_WDAY, R(4, 6) },
		{ __LINE__, "* * * JAN-3,OCT-DEC *", CRON_MONTH, R(1, 3) | R(10, 12) },
		{ __LINE__, "* * * * MON-5", CRON_WDAY, R(1, 5) },
		/* Ranges, also those that wrap around. */
		{ __LINE__, "10-12 * * * *", CRON_MINUTE, R(10, 12) },
		{ __LINE__, "10-10 * * * *", CRON_MINUTE, B(10) },
		{ __LINE__, "58-1 * * * *", CRON_MINUTE, B(58) | B(59) | B(0) | B(1) },
		{ __LINE__, "58-1 * * * * *", CRON_SECOND, B(58) | B(59) | B(0) | B(1) },
		{ __LINE__, "* 22-2 * * *", CRON_HOUR, B(22) | B(23) | R(0, 2) },
		{ __LINE__, "* 1-0 * * *", CRON_HOUR, R(0, 23) },
		{ __LINE__, "* * 30-2 * *", CRON_MDAY, B(30) | B(31) | B(1) | B(2) },
		{ __LINE__, "* * * NOV-FEB *", CRON_MONTH, B(11) | B(12) | B(1) | B(2) },
		{ __LINE__, "* * * * FRI-MON", CRON_WDAY, B(5) | B(6) | B(0) | B(1) },
		{ __LINE__, "* * * * 5-7", CRON_WDAY, B(5) | B(6) | B(0) },
		{ __LINE__, "* * * * 6-7", CRON_WDAY, B(6) | B(0) },
		{ __LINE__, "* * * * 7-2", CRON_WDAY, R(0, 2) },
		{ __LINE__, "* * * * 7-7", CRON_WDAY, B(0) },
		{ __LINE__, "* * * * 7-0", CRON_WDAY, B(0) },
		{ __LINE__, "* * * * 7-6", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * * * 0-7", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * * * 1-7", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * * * 1-0", CRON_WDAY, R(0, 6) },
		{ __LINE__, "* * * * SAT-SUN", CRON_WDAY, B(6) | B(0) },
		/* Steps. */
		{ __LINE__, "*/15 * * * *", CRON_MINUTE, B(0) | B(15) | B(30) | B(45) },
		{ __LINE__, "*/1 * * * *", CRON_MINUTE, R(0, 59) },
		{ __LINE__, "*/60 * * * *", CRON_MINUTE, B(0) },
		{ __LINE__, "*/59 * * * *", CRON_MINUTE, B(0) | B(59) },
		{ __LINE__, "0-30/10 * * * *", CRON_MINUTE, B(0) | B(10) | B(20) | B(30) },
		{ __LINE__, "0-29/10 * * * *", CRON_MINUTE, B(0) | B(10) | B(20) },
		{ __LINE__, "5/10 * * * *", CRON_MINUTE, B(5) | B(15) | B(25) | B(35) | B(45) | B(55) },
		{ __LINE__, "59/10 * * * *", CRON_MINUTE, B(59) },
		{ __LINE__, "* 22-5/3 * * *", CRON_HOUR, B(22) | B(1) | B(4) },
		{ __LINE__, "* * */10 * *", CRON_MDAY, B(1) | B(11) | B(21) | B(31) },
		{ __LINE__, "* * 5/10 * *", CRON_MDAY, B(5) | B(15) | B(25) },
		{ __LINE__, "* * 28-3/2 * *", CRON_MDAY, B(28) | B(30) | B(1) | B(3) },
		{ __LINE__, "* * ?/10 * *", CRON_MDAY, B(1) | B(11) | B(21) | B(31) },
		{ __LINE__, "* * * */3 *", CRON_MONTH, B(1) | B(4) | B(7) | B(10) },
		{ __LINE__, "* * * FEB/5 *", CRON_MONTH, B(2) | B(7) | B(12) },
		{ __LINE__, "* * * * */2", CRON_WDAY, B(0) | B(2) | B(4) | B(6) },
		{ __LINE__, "* * * * 1/2", CRON_WDAY, B(1) | B(3) | B(5) },
		{ __LINE__, "* * * * 1-7/3", CRON_WDAY, B(1) | B(4) | B(0) },
		{ __LINE__, "* * * * 0-7/3", CRON_WDAY, B(0) | B(3) | B(6) },
		{ __LINE__, "* * * * FRI-MON/2", CRON_WDAY, B(5) | B(0) },
		/* Lists; order and repetition do not matter. */
		{ __LINE__, "5,1,5,10-12,58-0,40/9 * * * *", CRON_MINUTE,
		  B(5) | B(1) | R(10, 12) | B(58) | B(59) | B(0) | B(40) | B(49) },
		{ __LINE__, "1,* * * * *", CRON_MINUTE, R(0, 59) },
		/* White space of any kind and amount. */
		{ __LINE__, "  1\t 2  3 4 5 ", CRON_MINUTE, B(1) },
		{ __LINE__, "\t1\t2\t3\t4\t5\t", CRON_WDAY, B(5) },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, "");
		CHECK_INT_AT(rows[i].line, bits_of(&c, rows[i].which), rows[i].want);
		CHECK_INT_AT(rows[i].line, c.flags & (CRON_SPECIAL | CRON_HASHED), 0);
		CHECK_INT_AT(rows[i].line, c.mday_last | c.mday_near | c.wday_last, 0);
	}
}

TEST(special_days_compile_to_bits)
{
	static const struct {
		int line;
		const char *text;
		uint64_t mday, last, near;
	} mdays[] = {
		{ __LINE__, "0 0 L * *", 0, B(0), 0 },
		{ __LINE__, "0 0 l * *", 0, B(0), 0 },
		{ __LINE__, "0 0 L-1 * *", 0, B(1), 0 },
		{ __LINE__, "0 0 L-3 * *", 0, B(3), 0 },
		{ __LINE__, "0 0 L-30 * *", 0, B(30), 0 },
		{ __LINE__, "0 0 LW * *", 0, 0, B(0) },
		{ __LINE__, "0 0 lw * *", 0, 0, B(0) },
		{ __LINE__, "0 0 1W * *", 0, 0, B(1) },
		{ __LINE__, "0 0 15W * *", 0, 0, B(15) },
		{ __LINE__, "0 0 31W * *", 0, 0, B(31) },
		{ __LINE__, "0 0 15w * *", 0, 0, B(15) },
		{ __LINE__, "0 0 1,L,L-3,LW,15W,10-12 * *", B(1) | R(10, 12), B(0) | B(3), B(0) | B(15) },
		{ __LINE__, "0 0 15W,1W,LW * *", 0, 0, B(0) | B(1) | B(15) },
	};
	for (size_t i = 0; i < ARRAY_LEN(mdays); i++) {
		struct cron c = parse_at(mdays[i].line, mdays[i].text, "");
		CHECK_INT_AT(mdays[i].line, c.mday, mdays[i].mday);
		CHECK_INT_AT(mdays[i].line, c.mday_last, mdays[i].last);
		CHECK_INT_AT(mdays[i].line, c.mday_near, mdays[i].near);
		CHECK_INT_AT(mdays[i].line, c.flags, CRON_SPECIAL | CRON_WDAY_STAR);
	}
	static const struct {
		int line;
		const char *text;
		uint64_t wday, last, nth[5];
	} wdays[] = {
		{ __LINE__, "0 0 * * 5L", 0, B(5), { 0 } },
		{ __LINE__, "0 0 * * FRIL", 0, B(5), { 0 } },
		{ __LINE__, "0 0 * * fril", 0, B(5), { 0 } },
		{ __LINE__, "0 0 * * 0L", 0, B(0), { 0 } },
		{ __LINE__, "0 0 * * 7L", 0, B(0), { 0 } },
		{ __LINE__, "0 0 * * 5#2", 0, 0, { 0, B(5) } },
		{ __LINE__, "0 0 * * 5#1", 0, 0, { B(5) } },
		{ __LINE__, "0 0 * * FRI#5", 0, 0, { 0, 0, 0, 0, B(5) } },
		{ __LINE__, "0 0 * * 7#3", 0, 0, { 0, 0, B(0) } },
		{ __LINE__,
		  "0 0 * * 1,3-4,0L,6L,1#1,2#1,MON#4",
		  B(1) | B(3) | B(4),
		  B(0) | B(6),
		  { B(1) | B(2), 0, 0, B(1) } },
	};
	for (size_t i = 0; i < ARRAY_LEN(wdays); i++) {
		struct cron c = parse_at(wdays[i].line, wdays[i].text, "");
		CHECK_INT_AT(wdays[i].line, c.wday, wdays[i].wday);
		CHECK_INT_AT(wdays[i].line, c.wday_last, wdays[i].last);
		for (int n = 0; n < 5; n++)
			CHECK_INT_AT(wdays[i].line, c.wday_nth[n], wdays[i].nth[n]);
		CHECK_INT_AT(wdays[i].line, c.flags, CRON_SPECIAL | CRON_MDAY_STAR);
	}
}

TEST(a_leading_star_sets_the_flag_of_its_day_field)
{
	static const struct {
		int line;
		const char *text;
		int flags;
	} rows[] = {
		{ __LINE__, "0 0 * * *", CRON_MDAY_STAR | CRON_WDAY_STAR },
		{ __LINE__, "0 0 ? * ?", CRON_MDAY_STAR | CRON_WDAY_STAR },
		{ __LINE__, "0 0 1 * *", CRON_WDAY_STAR },
		{ __LINE__, "0 0 * * 1", CRON_MDAY_STAR },
		{ __LINE__, "0 0 1 * 1", 0 },
		{ __LINE__, "0 0 1-7 * 1", 0 },
		{ __LINE__, "0 0 */2 * 1", CRON_MDAY_STAR },
		{ __LINE__, "0 0 1 * */2", CRON_WDAY_STAR },
		{ __LINE__, "0 0 ?/2 * 1", CRON_MDAY_STAR },
		{ __LINE__, "0 0 *,5 * 1", CRON_MDAY_STAR },
		{ __LINE__, "0 0 5,* * 1", 0 },
		{ __LINE__, "0 0 1-31 * 0-6", 0 },
		{ __LINE__, "0 0 H * H", CRON_HASHED },
		{ __LINE__, "0 0 L * 5", CRON_SPECIAL },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT_AT(rows[i].line, parse_at(rows[i].line, rows[i].text, "").flags, rows[i].flags);
}

TEST(gap_and_fold_follow_the_hour_field)
{
	static const struct {
		int line;
		const char *text;
		bool every_hour;
	} rows[] = {
		{ __LINE__, "0 * * * *", true },       { __LINE__, "30 */1 * * *", true },
		{ __LINE__, "0 0-23 * * *", true },    { __LINE__, "0 5-4 * * *", true },
		{ __LINE__, "0 */2,1/2 1 1 *", true }, { __LINE__, "@hourly", true },
		{ __LINE__, "0 0 * * * *", true },     { __LINE__, "* 0 * * *", false },
		{ __LINE__, "0 0-22 * * *", false },   { __LINE__, "0 */2 * * *", false },
		{ __LINE__, "* * 0-22 * * *", false }, { __LINE__, "@daily", false },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, "");
		CHECK_INT_AT(rows[i].line, c.gap, rows[i].every_hour ? GAP_SKIP : GAP_SHIFT);
		CHECK_INT_AT(rows[i].line, c.fold, rows[i].every_hour ? FOLD_BOTH : FOLD_FIRST);
	}
}

static bool same_cron(const struct cron *a, const struct cron *b)
{
	bool nth = true;
	for (int n = 0; n < 5; n++)
		nth &= a->wday_nth[n] == b->wday_nth[n];
	return nth && a->second == b->second && a->minute == b->minute && a->hour == b->hour &&
	       a->mday == b->mday && a->mday_last == b->mday_last && a->mday_near == b->mday_near &&
	       a->month == b->month && a->wday == b->wday && a->wday_last == b->wday_last &&
	       a->gap == b->gap && a->fold == b->fold && ((a->flags ^ b->flags) & ~CRON_HASHED) == 0;
}

TEST(presets_expand)
{
	static const struct {
		int line;
		const char *name, *text;
	} rows[] = {
		{ __LINE__, "@yearly", "0 0 1 1 *" },  { __LINE__, "@annually", "0 0 1 1 *" },
		{ __LINE__, "@monthly", "0 0 1 * *" }, { __LINE__, "@weekly", "0 0 * * 0" },
		{ __LINE__, "@daily", "0 0 * * *" },   { __LINE__, "@midnight", "0 0 * * *" },
		{ __LINE__, "@hourly", "0 * * * *" },  { __LINE__, " @Daily ", "0 0 * * *" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron a = parse_at(rows[i].line, rows[i].name, "");
		struct cron b = parse_at(rows[i].line, rows[i].text, "");
		CHECK_AT(rows[i].line, same_cron(&a, &b));
	}
}

/* Offsets count the bytes of the text, including leading blanks. */
TEST(errors_say_what_is_wrong_and_where)
{
	static const struct {
		int line;
		const char *in;
		size_t at;
		const char *text;
	} rows[] = {
		{ __LINE__, "60 * * * *", 0, "minute 60 is out of range 0-59" },
		{ __LINE__, "* 24 * * *", 2, "hour 24 is out of range 0-23" },
		{ __LINE__, "* * 32 * *", 4, "day of month 32 is out of range 1-31" },
		{ __LINE__, "* * 0 * *", 4, "day of month 0 is out of range 1-31" },
		{ __LINE__, "* * * 13 *", 6, "month 13 is out of range 1-12" },
		{ __LINE__, "* * * 0 *", 6, "month 0 is out of range 1-12" },
		{ __LINE__, "* * * * 8", 8, "day of week 8 is out of range 0-7" },
		{ __LINE__, "60 * * * * *", 0, "second 60 is out of range 0-59" },
		{ __LINE__, "61 0 0 1 1 *", 0, "second 61 is out of range 0-59" },
		{ __LINE__, "* 5-3x * * *", 5,
		  "hour has '5-3x', which is not understood; allowed are 0-23 and the signs * , - / H" },
		{ __LINE__, "1x * * * *", 1,
		  "minute has '1x', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "x * * * *", 0,
		  "minute has 'x', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "-5 * * * *", 0,
		  "minute has '-5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "5- * * * *", 2, "minute is missing a value (0-59)" },
		{ __LINE__, "5-60 * * * *", 2, "minute 60 is out of range 0-59" },
		{ __LINE__, "5-x * * * *", 2,
		  "minute has 'x', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "5-6-7 * * * *", 3,
		  "minute has '5-6-7', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "*5 * * * *", 1,
		  "minute has '*5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "** * * * *", 1,
		  "minute has '**', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "*-5 * * * *", 1,
		  "minute has '*-5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "*/ * * * *", 2, "minute step is missing after '/' (1-60)" },
		{ __LINE__, "*/0 * * * *", 2, "minute step 0 is out of range 1-60" },
		{ __LINE__, "*/00 * * * *", 2, "minute step 00 is out of range 1-60" },
		{ __LINE__, "*/61 * * * *", 2, "minute step 61 is out of range 1-60" },
		{ __LINE__, "* */25 * * *", 4, "hour step 25 is out of range 1-24" },
		{ __LINE__, "* * */32 * *", 6, "day of month step 32 is out of range 1-31" },
		{ __LINE__, "* * * */13 *", 8, "month step 13 is out of range 1-12" },
		{ __LINE__, "* * * * */8", 10, "day of week step 8 is out of range 1-7" },
		{ __LINE__, "*/x * * * *", 2, "minute step is missing after '/' (1-60)" },
		{ __LINE__, "*/-1 * * * *", 2, "minute step is missing after '/' (1-60)" },
		{ __LINE__, "*/5/5 * * * *", 3,
		  "minute has '*/5/5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "5/0 * * * *", 2, "minute step 0 is out of range 1-60" },
		{ __LINE__, "0-30/0 * * * *", 5, "minute step 0 is out of range 1-60" },
		{ __LINE__, "0-30/ * * * *", 5, "minute step is missing after '/' (1-60)" },
		{ __LINE__, "1,,2 * * * *", 2, "minute is missing a value (0-59)" },
		{ __LINE__, ",1 * * * *", 0, "minute is missing a value (0-59)" },
		{ __LINE__, "1, * * * *", 2, "minute is missing a value (0-59)" },
		{ __LINE__, ", * * * *", 0, "minute is missing a value (0-59)" },
		{ __LINE__, "1,60 * * * *", 2, "minute 60 is out of range 0-59" },
		{ __LINE__, "? * * * *", 0,
		  "minute has '?', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "* ? * * *", 2,
		  "hour has '?', which is not understood; allowed are 0-23 and the signs * , - / H" },
		{ __LINE__, "* * * ? *", 6,
		  "month has '?', which is not understood; allowed are 1-12, names and the signs * , - / H" },
		{ __LINE__, "* * ?5 * *", 5,
		  "day of month has '?5', which is not understood; allowed are 1-31 and the signs * , - / ? "
		  "L W H" },
		{ __LINE__, "L * * * *", 0,
		  "minute has 'L', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "* L * * *", 2,
		  "hour has 'L', which is not understood; allowed are 0-23 and the signs * , - / H" },
		{ __LINE__, "* * * L *", 6,
		  "month has 'L', which is not understood; allowed are 1-12, names and the signs * , - / H" },
		{ __LINE__, "* * * * L", 8,
		  "day of week has 'L' without a day; write 5L or FRIL for the last Friday" },

		{ __LINE__, "* * W * *", 4,
		  "day of month has 'W', which is not understood; allowed are 1-31 and the signs * , - / ? L "
		  "W H" },
		{ __LINE__, "* * 15WW * *", 7,
		  "day of month has '15WW', which is not understood; allowed are 1-31 and the signs * , - / "
		  "? L W H" },
		{ __LINE__, "* * LL * *", 4,
		  "day of month has 'LL', which is not understood; allowed are 1-31 and the signs * , - / ? "
		  "L W H" },
		{ __LINE__, "* * LWL * *", 4,
		  "day of month has 'LWL', which is not understood; allowed are 1-31 and the signs * , - / ? "
		  "L W H" },
		{ __LINE__, "* * L-0 * *", 6, "days before the last in 'L-0' are out of range 1-30" },
		{ __LINE__, "* * L-31 * *", 6, "days before the last in 'L-31' are out of range 1-30" },
		{ __LINE__, "* * L- * *", 6, "days before the last in 'L-' are out of range 1-30" },
		{ __LINE__, "* * L-x * *", 6, "days before the last in 'L-x' are out of range 1-30" },
		{ __LINE__, "* * L-3W * *", 7,
		  "day of month has 'L-3W', which is not understood; allowed are 1-31 and the signs * , - / "
		  "? L W H" },
		{ __LINE__, "* * 3L * *", 5,
		  "day of month has '3L', which is not understood; allowed are 1-31 and the signs * , - / ? "
		  "L W H" },
		{ __LINE__, "* * 32W * *", 4, "day of month 32 is out of range 1-31" },
		{ __LINE__, "* * 0W * *", 4, "day of month 0 is out of range 1-31" },
		{ __LINE__, "* * 1-5W * *", 7,
		  "day of month has '1-5W', which is not understood; allowed are 1-31 and the signs * , - / "
		  "? L W H" },
		{ __LINE__, "* * W15 * *", 4,
		  "day of month has 'W15', which is not understood; allowed are 1-31 and the signs * , - / ? "
		  "L W H" },
		{ __LINE__, "* * * * 5W", 9,
		  "day of week has '5W', which is not understood; allowed are 0-7, names and the signs * , - "
		  "/ ? L # "
		  "H" },
		{ __LINE__, "* * * * 5#0", 10, "the number after # in '5#0' is out of range 1-5" },
		{ __LINE__, "* * * * 5#6", 10, "the number after # in '5#6' is out of range 1-5" },
		{ __LINE__, "* * * * 5#", 10, "the number after # in '5#' is out of range 1-5" },
		{ __LINE__, "* * * * #2", 8,
		  "day of week has '#2', which is not understood; allowed are 0-7, names and the signs * , - "
		  "/ ? L # "
		  "H" },
		{ __LINE__, "* * * * 5#22", 10, "the number after # in '5#22' is out of range 1-5" },
		{ __LINE__, "* * * * 5#2x", 11,
		  "day of week has '5#2x', which is not understood; allowed are 0-7, names and the signs * , "
		  "- / ? L # "
		  "H" },
		{ __LINE__, "* * * * 8#1", 8, "day of week 8 is out of range 0-7" },
		{ __LINE__, "* * * * 8L", 8, "day of week 8 is out of range 0-7" },
		{ __LINE__, "* * * * 5LL", 9,
		  "day of week has '5LL', which is not understood; allowed are 0-7, names and the signs * , "
		  "- / ? L # "
		  "H" },
		{ __LINE__, "* * * * 1-5L", 11,
		  "day of week has '1-5L', which is not understood; allowed are 0-7, names and the signs * , "
		  "- / ? L # "
		  "H" },
		{ __LINE__, "* * * * FRIDAY", 8,
		  "day of week has 'FRIDAY', which is not understood; allowed are 0-7, names and the signs * "
		  ", - / ? L "
		  "# H" },
		{ __LINE__, "* * * * FR", 8,
		  "day of week has 'FR', which is not understood; allowed are 0-7, names and the signs * , - "
		  "/ ? L # "
		  "H" },
		{ __LINE__, "* * * * MONTUE", 8,
		  "day of week has 'MONTUE', which is not understood; allowed are 0-7, names and the signs * "
		  ", - / ? L "
		  "# H" },
		{ __LINE__, "* * * * MON-", 12, "day of week is missing a value (0-7)" },
		{ __LINE__, "* * * * JAN", 8,
		  "day of week has 'JAN', which is not understood; allowed are 0-7, names and the signs * , "
		  "- / ? L # "
		  "H" },
		{ __LINE__, "* * * MON *", 6,
		  "month has 'MON', which is not understood; allowed are 1-12, names and the signs * , - / "
		  "H" },
		{ __LINE__, "* JAN * * *", 2,
		  "hour has 'JAN', which is not understood; allowed are 0-23 and the signs * , - / H" },
		{ __LINE__, "* * * JANUARY *", 6,
		  "month has 'JANUARY', which is not understood; allowed are 1-12, names and the signs * , - "
		  "/ H" },
		{ __LINE__, "* * * JAN-FOO *", 10,
		  "month has 'FOO', which is not understood; allowed are 1-12, names and the signs * , - / "
		  "H" },
		{ __LINE__, "99999999999999999999 * * * *", 0,
		  "minute 99999999999999999999 is out of range 0-59" },
		{ __LINE__, "4294967301 * * * *", 0, "minute 4294967301 is out of range 0-59" },
		{ __LINE__, "* * L-99999999999999999999 * *", 6,
		  "days before the last in 'L-99999999999999999999' are out of range 1-30" },
		{ __LINE__, "* * * * 5#4294967297", 10,
		  "the number after # in '5#4294967297' is out of range 1-5" },
		{ __LINE__, "00060 * * * *", 0, "minute 00060 is out of range 0-59" },
		{ __LINE__, "H( * * * *", 2, "minute is missing a value (0-59)" },
		{ __LINE__, "H() * * * *", 2,
		  "minute has ')', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(0) * * * *", 3,
		  "minute has '0)', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(0- * * * *", 4, "minute is missing a value (0-59)" },
		{ __LINE__, "H(0-) * * * *", 4,
		  "minute has ')', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(0-60) * * * *", 4, "minute 60 is out of range 0-59" },
		{ __LINE__, "H(5-3) * * * *", 2, "minute range of H must rise, not 5-3" },
		{ __LINE__, "H(0-7 * * * *", 5, "minute: ')' is missing after H(0-7" },

		{ __LINE__, "H(-7) * * * *", 2,
		  "minute has '-7)', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(a-7) * * * *", 2,
		  "minute has 'a-7)', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H/ * * * *", 2, "minute step is missing after '/' (1-60)" },
		{ __LINE__, "H/0 * * * *", 2, "minute step 0 is out of range 1-60" },
		{ __LINE__, "H/61 * * * *", 2, "minute step 61 is out of range 1-60" },
		{ __LINE__, "H(0-9)/11 * * * *", 7, "minute step 11 is out of range 1-10" },
		{ __LINE__, "H5 * * * *", 1,
		  "minute has 'H5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "HH * * * *", 0,
		  "minute has 'HH', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H-5 * * * *", 1,
		  "minute has 'H-5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(0-7)5 * * * *", 6,
		  "minute has 'H(0-7)5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "H(0-7)x * * * *", 6,
		  "minute has 'H(0-7)x', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "* * H(0-7) * *", 6, "day of month 0 is out of range 1-31" },
		{ __LINE__, "* * H(29-31) 2 *", 4,
		  "this never fires: no year has a day that matches 'H(29-31) 2 *'" },
		{ __LINE__, "* * H/29 * *", 6, "day of month step 29 is out of range 1-28" },
		{ __LINE__, "* H(22-2) * * *", 4, "hour range of H must rise, not 22-2" },
		{ __LINE__, "", 0,
		  "0 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "\t", 1,
		  "0 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "*", 1,
		  "1 field, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "* *", 3,
		  "2 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "* * *", 5,
		  "3 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "* * * *", 7,
		  "4 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "* * * * * * *", 12,
		  "7 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "* * * * * * * *", 12,
		  "8 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "  * * * * * * * *", 14,
		  "8 fields, where 5 are expected (minute hour day month weekday), or 6 with seconds first" },
		{ __LINE__, "0 0 30 2 *", 4, "this never fires: no year has a day that matches '30 2 *'" },
		{ __LINE__, "0 0 31 4 *", 4, "this never fires: no year has a day that matches '31 4 *'" },
		{ __LINE__, "0 0 31 4,6,9,11 *", 4,
		  "this never fires: no year has a day that matches '31 4,6,9,11 *'" },
		{ __LINE__, "  0 0 30 2 *", 6, "this never fires: no year has a day that matches '30 2 *'" },
		{ __LINE__, "0 0 0 30 2 *", 6, "this never fires: no year has a day that matches '30 2 *'" },
		{ __LINE__, "0 0 30 2 ?", 4, "this never fires: no year has a day that matches '30 2 ?'" },
		{ __LINE__, "0 0 31W 2 *", 4, "this never fires: no year has a day that matches '31W 2 *'" },
		{ __LINE__, "0 0 30W 2 *", 4, "this never fires: no year has a day that matches '30W 2 *'" },
		{ __LINE__, "0 0 L-29 2 *", 4,
		  "this never fires: no year has a day that matches 'L-29 2 *'" },
		{ __LINE__, "0 0 L-30 4,6 *", 4,
		  "this never fires: no year has a day that matches 'L-30 4,6 *'" },
		{ __LINE__, "0 0 */30 2 5#5", 4,
		  "this never fires: no year has a day that matches '*/30 2 5#5'" },
		{ __LINE__, "@foo", 0,
		  "'@foo' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight "
		  "@hourly and @every with a duration" },
		{ __LINE__, "@", 0,
		  "'@' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight @hourly "
		  "and @every with a duration" },
		{ __LINE__, "@daily x", 7, "nothing may follow @daily, but 'x' does" },

		{ __LINE__, "@every 10m", 0,
		  "'@every' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight "
		  "@hourly and @every with a duration" },

		{ __LINE__, "@reboot", 0,
		  "'@reboot' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight "
		  "@hourly and @every with a duration" },
		{ __LINE__, "5*  * * * *", 1,
		  "minute has '5*', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "1;2 * * * *", 1,
		  "minute has '1;2', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "1.5 * * * *", 1,
		  "minute has '1.5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "+5 * * * *", 0,
		  "minute has '+5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "é * * * *", 0,
		  "minute has 'é', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "0x5 * * * *", 1,
		  "minute has '0x5', which is not understood; allowed are 0-59 and the signs * , - / H" },
		{ __LINE__, "60\t*\t*\t*\t*", 0, "minute 60 is out of range 0-59" },
		{ __LINE__, " 60 * * * *", 1, "minute 60 is out of range 0-59" },
		{ __LINE__, "   * 60 * * *   ", 5, "hour 60 is out of range 0-23" },
		/* Steps, like values, are quoted as written. */
		{ __LINE__, "*/4294967301 * * * *", 2, "minute step 4294967301 is out of range 1-60" },
		{ __LINE__, "  @foo", 2,
		  "'@foo' is not known; allowed are @yearly @annually @monthly @weekly @daily @midnight "
		  "@hourly and @every with a duration" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c, before;
		struct why why = { 999, "" };
		memset(&c, 0xA5, sizeof c);
		memset(&before, 0xA5, sizeof before);
		test_case("%s", rows[i].in);
		CHECK_INT_AT(rows[i].line, parse_id(rows[i].in, "x", &c, &why), E_INPUT);
		CHECK_INT_AT(rows[i].line, why.at, rows[i].at);
		CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
		CHECK_AT(rows[i].line, memcmp(&c, &before, sizeof c) == 0);
		CHECK_INT_AT(rows[i].line, parse_id(rows[i].in, "x", &c, NULL), E_INPUT);
	}
}

/* Only the beginning of a very long field is quoted. */
TEST(errors_stay_short)
{
	char text[4000];
	memset(text, '1', sizeof text);
	memcpy(text + sizeof text - 10, " * * * *", 9);
	struct cron c;
	struct why why = { 0 };
	CHECK_INT(parse_id(text, "", &c, &why), E_INPUT);
	CHECK_STR(why.text, "minute 1111111111111111111111111111111111111111 is out of range 0-59");
	memset(text, 'x', sizeof text - 10);
	CHECK_INT(parse_id(text, "", &c, &why), E_INPUT);
	CHECK_STR(why.text, "minute has 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', which is not understood; "
			    "allowed are 0-59 and the signs * , - / H");
}

/* Computed independently (a few lines of Python, checked against the published values of "a" and "foobar").
 * The values must never change, because a change would move every schedule that uses H. */
TEST(hashes_are_frozen)
{
	static const struct {
		int line;
		const char *id, *field;
		uint64_t hash;
		int value; /* the value of H alone; -1: not checked */
	} rows[] = {
		{ __LINE__, "daily_summary", "second", UINT64_C(0xf66acf3237c11852), 18 },
		{ __LINE__, "daily_summary", "minute", UINT64_C(0x40e367ec0613c672), 22 },
		{ __LINE__, "daily_summary", "hour", UINT64_C(0x43c3f2840b30faa4), 20 },
		{ __LINE__, "daily_summary", "day", UINT64_C(0x712f16179c7a5774), 9 },
		{ __LINE__, "daily_summary", "month", UINT64_C(0x1c4dec8cadcccf70), 5 },
		{ __LINE__, "daily_summary", "weekday", UINT64_C(0x4ec8dcb78b8fff88), 3 },
		{ __LINE__, "daily_summary", "jitter", UINT64_C(0xc1410ea06c0df3ac), -1 },
		{ __LINE__, "x", "second", UINT64_C(0xee55e042a5fd5bb4), 12 },
		{ __LINE__, "x", "minute", UINT64_C(0x91019f54d99e7ce0), 32 },
		{ __LINE__, "x", "hour", UINT64_C(0x537cf6363d8b268e), 14 },
		{ __LINE__, "x", "day", UINT64_C(0x2eaf8735e930e042), 19 },
		{ __LINE__, "x", "month", UINT64_C(0x2dc2c8063529de56), 11 },
		{ __LINE__, "x", "weekday", UINT64_C(0x156257998595900e), 1 },
		{ __LINE__, "x", "jitter", UINT64_C(0x31e08e7c1b81466e), -1 },
		{ __LINE__, "", "second", UINT64_C(0x6af4901de9d9e84a), 34 },
		{ __LINE__, "", "minute", UINT64_C(0xd0d5d6babd746f9a), 26 },
		{ __LINE__, "", "hour", UINT64_C(0xb12deff947c8cf1c), 4 },
		{ __LINE__, "", "day", UINT64_C(0x0bf1729c9be30a0c), 21 },
		{ __LINE__, "", "month", UINT64_C(0xfdff91b6efc539f8), 5 },
		{ __LINE__, "", "weekday", UINT64_C(0xe3ed2536ddf1b990), 5 },
		{ __LINE__, "", "jitter", UINT64_C(0x77600cbef3580ee4), -1 },
	};
	CHECK(fnv1a(FNV_START, STR("")) == UINT64_C(0xcbf29ce484222325));
	CHECK(fnv1a(FNV_START, STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
	CHECK(fnv1a(FNV_START, STR("foobar")) == UINT64_C(0x85944171f73967e8));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("%s/%s", rows[i].id, rows[i].field);
		CHECK_AT(rows[i].line, hash_field(str_of(rows[i].id), str_of(rows[i].field)) == rows[i].hash);
		for (int f = 0; f < CRON_FIELDS; f++) {
			if (strcmp(cron_fields[f].name, rows[i].field) != 0)
				continue;
			struct cron c = parse_at(rows[i].line, "H H H H H H", rows[i].id);
			CHECK_INT_AT(rows[i].line, bits_of(&c, f), B(rows[i].value));
			CHECK_INT_AT(rows[i].line, c.flags, CRON_HASHED);
		}
	}
}

TEST(hashed_ranges_and_steps)
{
	static const struct {
		int line;
		const char *id, *text;
		enum cron_field which;
		uint64_t want;
	} rows[] = {
		{ __LINE__, "daily_summary", "H/15 * * * *", CRON_MINUTE, B(7) | B(22) | B(37) | B(52) },
		{ __LINE__, "daily_summary", "H(0-29)/10 * * * *", CRON_MINUTE, B(2) | B(12) | B(22) },
		{ __LINE__, "daily_summary", "H(30-59) * * * * *", CRON_SECOND, B(48) },
		{ __LINE__, "daily_summary", "* H(0-7) * * *", CRON_HOUR, B(4) },
		{ __LINE__, "daily_summary", "* H(9-17)/4 * * *", CRON_HOUR, B(9) | B(13) | B(17) },
		{ __LINE__, "daily_summary", "* * H/5 * *", CRON_MDAY,
		  B(2) | B(7) | B(12) | B(17) | B(22) | B(27) },
		{ __LINE__, "daily_summary", "* * H(10-20) * *", CRON_MDAY, B(17) },
		{ __LINE__, "daily_summary", "* * * H/3 *", CRON_MONTH, B(2) | B(5) | B(8) | B(11) },
		{ __LINE__, "daily_summary", "* * * * H(1-5)", CRON_WDAY, B(5) },
		{ __LINE__, "daily_summary", "* * * * H(MON-FRI)", CRON_WDAY, B(5) },
		{ __LINE__, "daily_summary", "* * * * H(5-7)", CRON_WDAY, B(6) },
		{ __LINE__, "daily_summary", "* * * * H/3", CRON_WDAY, B(1) | B(4) },
		{ __LINE__, "x", "H/15 * * * *", CRON_MINUTE, B(2) | B(17) | B(32) | B(47) },
		{ __LINE__, "x", "H(0-29)/10 * * * *", CRON_MINUTE, B(2) | B(12) | B(22) },
		{ __LINE__, "x", "H(30-59) * * * * *", CRON_SECOND, B(42) },
		{ __LINE__, "x", "* H(0-7) * * *", CRON_HOUR, B(6) },
		{ __LINE__, "x", "* H(9-17)/4 * * *", CRON_HOUR, B(11) | B(15) },
		{ __LINE__, "x", "* * H/5 * *", CRON_MDAY, B(1) | B(6) | B(11) | B(16) | B(21) | B(26) },
		{ __LINE__, "x", "* * H(10-20) * *", CRON_MDAY, B(12) },
		{ __LINE__, "x", "* * * H/3 *", CRON_MONTH, B(2) | B(5) | B(8) | B(11) },
		{ __LINE__, "x", "* * * * H(1-5)", CRON_WDAY, B(5) },
		{ __LINE__, "x", "* * * * H(MON-FRI)", CRON_WDAY, B(5) },
		{ __LINE__, "x", "* * * * H(5-7)", CRON_WDAY, B(6) },
		{ __LINE__, "x", "* * * * H/3", CRON_WDAY, B(1) | B(4) },
		{ __LINE__, "", "H/15 * * * *", CRON_MINUTE, B(11) | B(26) | B(41) | B(56) },
		{ __LINE__, "", "H(0-29)/10 * * * *", CRON_MINUTE, B(6) | B(16) | B(26) },
		{ __LINE__, "", "H(30-59) * * * * *", CRON_SECOND, B(34) },
		{ __LINE__, "", "* H(0-7) * * *", CRON_HOUR, B(4) },
		{ __LINE__, "", "* H(9-17)/4 * * *", CRON_HOUR, B(9) | B(13) | B(17) },
		{ __LINE__, "", "* * H/5 * *", CRON_MDAY, B(2) | B(7) | B(12) | B(17) | B(22) | B(27) },
		{ __LINE__, "", "* * H(10-20) * *", CRON_MDAY, B(19) },
		{ __LINE__, "", "* * * H/3 *", CRON_MONTH, B(2) | B(5) | B(8) | B(11) },
		{ __LINE__, "", "* * * * H(1-5)", CRON_WDAY, B(2) },
		{ __LINE__, "", "* * * * H(MON-FRI)", CRON_WDAY, B(2) },
		{ __LINE__, "", "* * * * H(5-7)", CRON_WDAY, B(0) },
		{ __LINE__, "", "* * * * H/3", CRON_WDAY, B(2) | B(5) },
		/* Ranges of one value. */
		{ __LINE__, "x", "H/1 * * * *", CRON_MINUTE, R(0, 59) },
		{ __LINE__, "x", "H(5-5) * * * *", CRON_MINUTE, B(5) },
		{ __LINE__, "x", "* * H/1 * *", CRON_MDAY, R(1, 28) },
		{ __LINE__, "x", "* * H(31-31) * *", CRON_MDAY, B(31) },
		{ __LINE__, "x", "* * * * H(7-7)", CRON_WDAY, B(0) },
		{ __LINE__, "x", "* * * H(JAN-JAN) *", CRON_MONTH, B(1) },
		{ __LINE__, "x", "H,5 * * * *", CRON_MINUTE, B(32) | B(5) },
		{ __LINE__, "x", "5,h * * * *", CRON_MINUTE, B(32) | B(5) },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, rows[i].id);
		CHECK_INT_AT(rows[i].line, bits_of(&c, rows[i].which), rows[i].want);
		CHECK_AT(rows[i].line, c.flags & CRON_HASHED);
	}
}

TEST(format_uses_the_simplest_notation)
{
	static const struct {
		int line;
		const char *text, *want;
	} rows[] = {
		{ __LINE__, "*/15 9-17 * * MON-FRI", "*/15 9-17 * * 1-5" },
		{ __LINE__, "@yearly", "0 0 1 1 *" },
		{ __LINE__, "  0  9 ?  JAN,FEB 7 ", "0 9 * 1,2 0" },
		{ __LINE__, "0 0 9 * * *", "0 9 * * *" },
		{ __LINE__, "30 0 9 * * *", "30 0 9 * * *" },
		{ __LINE__, "0 22-2 L,LW,15W * FRIL,1#1", "0 0-2,22,23 L,LW,15W * 1#1,5L" },
		{ __LINE__, "H H(0-7) * * *", "32 6 * * *" },
		{ __LINE__, "0 0 1-31 * 0-6", "0 0 1-31 * 0-6" },
		{ __LINE__, "0 0 */2 * */3", "0 0 */2 * */3" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, "x");
		_cleanup_(buf_free) struct buf out = { 0 };
		cron_format(&c, &out);
		CHECK_STR_AT(rows[i].line, buf_str(&out).p, rows[i].want);
	}
}

static void check_round_trip(const char *text, const char *id)
{
	struct cron c = parse_at(__LINE__, text, id), again = { 0 };
	_cleanup_(buf_free) struct buf out = { 0 }, twice = { 0 };
	cron_format(&c, &out);
	struct why why = { 0 };
	test_case("%s -> %s", text, buf_str(&out).p);
	if (!CHECK_INT(cron_parse(buf_str(&out), STR(""), &again, &why), OK) || !CHECK(same_cron(&c, &again)))
		return;
	CHECK(!(again.flags & CRON_HASHED));
	cron_format(&again, &twice);
	CHECK_STR(buf_str(&twice).p, buf_str(&out).p);
}

TEST(formatted_expressions_mean_the_same)
{
	static const char *const fixed[] = {
		"* * * * * *",
		"H H H H H H",
		"H/7 H/7 H/5 H/9 H/5 H/3",
		"H(3-9)/2 * * * *",
		"0 0 *,L * *",
		"0 0 L,* * *",
		"0 0 */31 * */7",
		"0 0 */16,2 * */4,1L",
		"0 0 ?/3,LW * ?",
		"0 0 * * *,1#1",
		"0 0 1,* * 0,*",
		"*/59 */23 */30 */11 */6",
		"0 0 29 2 *",
		"0-58/2 * * * *",
		"1-59/2 * * * *",
		"0 0 L-30,31W,1W,LW,L * 0L,6L,6#5",
		"*/30 * * * * *",
		"0 0 * */6 *",
		"0 */12 * * *",
		"0,30 0,12 * 1,7 0,3,6",
	};
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		check_round_trip(fixed[i], "x");
	random_state = 1;
	for (int i = 0; i < 20000; i++) {
		char text[RANDOM_MAX];
		random_cron(text);
		struct cron c;
		if (cron_parse(str_of(text), STR(""), &c, NULL) == OK)
			check_round_trip(text, "");
	}
}

static uint64_t bits_of_set(const bool *set, int n)
{
	uint64_t b = 0;
	for (int i = 0; i < n; i++)
		b |= set[i] ? B(i) : 0;
	return b;
}

TEST(random_expressions_compile_to_what_the_naive_model_reads)
{
	random_state = 2;
	for (int i = 0; i < 20000; i++) {
		char text[RANDOM_MAX];
		random_cron(text);
		struct naive n = naive_parse(text);
		struct cron c;
		struct why why = { 0 };
		test_case("%s", text);
		if (parse_id(text, "", &c, &why)) {
			CHECK_INT(strncmp(why.text, "this never fires", 16), 0);
			CHECK(!naive_ever(&n));
			continue;
		}
		CHECK_INT(c.second, bits_of_set(n.second, 60));
		CHECK_INT(c.minute, bits_of_set(n.minute, 60));
		CHECK_INT(c.hour, bits_of_set(n.hour, 24));
		CHECK_INT(c.mday, bits_of_set(n.mday, 32));
		CHECK_INT(c.month, bits_of_set(n.month, 13));
		CHECK_INT(c.wday, bits_of_set(n.wday, 7));
		CHECK_INT(c.mday_last, bits_of_set(n.last, 31));
		CHECK_INT(c.mday_near, bits_of_set(n.near, 32) | n.near_last);
		CHECK_INT(c.wday_last, bits_of_set(n.wday_last, 7));
		for (int k = 0; k < 5; k++)
			for (int w = 0; w < 7; w++)
				CHECK_INT(c.wday_nth[k] >> w & 1, n.nth[w][k + 1]);
		CHECK_INT(!!(c.flags & (CRON_MDAY_STAR | CRON_WDAY_STAR)), n.both_days);
	}
}

/* Random pieces of the grammar: parsed or refused, but never out of bounds. */
TEST(random_bytes_are_parsed_or_refused)
{
	static const char alphabet[] = "0123456789 \t   **??,,--//##LlWwHh()@MONJANfri7\n\x01\xff";
	uint64_t state = 3;
	unsigned taken = 0;
	for (int i = 0; i < 300000; i++) {
		char text[40];
		size_t n = test_random(&state) % sizeof text;
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[test_random(&state) % (sizeof alphabet - 1)];
		memcpy(text, "* * * * *", n < 9 ? n : test_random(&state) % 9);
		char *copy = malloc(n + !n);
		memcpy(copy, text, n);
		struct cron c;
		struct why why = { SIZE_MAX, "" };
		enum err e = cron_parse((struct str){ copy, n }, STR("x"), &c, &why);
		free(copy);
		taken += e == OK;
		if (e) {
			CHECK_INT(e, E_INPUT);
			CHECK(why.at <= n && why.text[0]);
		} else {
			CHECK(c.second && c.minute && c.hour && c.month);
			CHECK(c.mday | c.mday_last | c.mday_near);
		}
	}
	CHECK(taken > 100);
}

TEST(next_is_strictly_after)
{
	static const struct {
		int line;
		const char *text, *after, *want;
	} rows[] = {
		{ __LINE__, "0 0 * * *", "2026-01-01T00:00:00", "2026-01-02T00:00:00" },
		{ __LINE__, "0 0 * * *", "2025-12-31T23:59:59", "2026-01-01T00:00:00" },
		{ __LINE__, "* * * * *", "2026-01-01T00:00:30", "2026-01-01T00:01:00" },
		{ __LINE__, "* * * * * *", "2026-12-31T23:59:59", "2027-01-01T00:00:00" },
		{ __LINE__, "30 59 23 31 12 *", "2026-12-31T23:59:30", "2027-12-31T23:59:30" },
		{ __LINE__, "0 0 29 2 *", "2096-03-01T00:00:00", "2104-02-29T00:00:00" },
		{ __LINE__, "0 0 29 2 */7", "2004-02-29T00:00:00", "2032-02-29T00:00:00" },
		{ __LINE__, "0 0 29 2 */7", "2088-02-29T00:00:00", "2128-02-29T00:00:00" },
		{ __LINE__, "0 0 L * *", "2026-02-01T00:00:00", "2026-02-28T00:00:00" },
		{ __LINE__, "0 0 L-3 * *", "2026-02-01T00:00:00", "2026-02-25T00:00:00" },
		{ __LINE__, "0 0 LW * *", "2026-05-01T00:00:00",
		  "2026-05-29T00:00:00" }, /* the 31st is a Sunday */
		{ __LINE__, "0 0 1W * *", "2026-07-31T12:00:00",
		  "2026-08-03T00:00:00" }, /* the 1st is a Saturday */
		{ __LINE__, "0 0 31W * *", "2026-05-01T00:00:00", "2026-05-29T00:00:00" },
		/* June has no 31st. */
		{ __LINE__, "0 0 31W * *", "2026-06-01T00:00:00", "2026-07-31T00:00:00" },
		{ __LINE__, "0 0 15W * *", "2026-08-01T00:00:00", "2026-08-14T00:00:00" }, /* a Saturday */
		{ __LINE__, "0 0 15W * *", "2026-11-01T00:00:00", "2026-11-16T00:00:00" }, /* a Sunday */
		{ __LINE__, "0 0 * * FRIL", "2026-06-01T00:00:00", "2026-06-26T00:00:00" },
		{ __LINE__, "0 0 * * 5#2", "2026-06-01T00:00:00", "2026-06-12T00:00:00" },
		{ __LINE__, "0 0 * * 5#5", "2026-06-01T00:00:00", "2026-07-31T00:00:00" },
		/* One of the two day fields must match. */
		{ __LINE__, "0 0 1-7 * 1", "2026-06-07T00:00:00", "2026-06-08T00:00:00" },
		/* Both day fields must match. */
		{ __LINE__, "0 0 */2 * 1", "2026-06-01T00:00:00", "2026-06-15T00:00:00" },
		{ __LINE__, "59 59 23 31 12 *", "9998-12-31T23:59:59", "9999-12-31T23:59:59" },
		{ __LINE__, "59 59 23 31 12 *", "9999-12-31T23:59:59", NULL },
		{ __LINE__, "0 0 29 2 *", "9996-02-29T00:00:00", NULL },
		{ __LINE__, "* * * * *", "0001-01-01T00:00:00", "0001-01-01T00:01:00" },
	};
	_cleanup_(zone_freep) struct zone *z = NULL;
	if (!CHECK_INT(zone_fixed(0, &z), OK))
		return;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, "");
		int64_t got = 12345;
		enum err e = cron_next(&c, z, test_utc(rows[i].after), &got);
		CHECK_INT_AT(rows[i].line, e, rows[i].want ? OK : E_NOTFOUND);
		CHECK_INT_AT(rows[i].line, got, rows[i].want ? test_utc(rows[i].want) : 12345);
	}
}

TEST(next_in_the_first_and_the_last_year)
{
	_cleanup_(zone_freep) struct zone *z = NULL;
	if (!CHECK_INT(zone_fixed(0, &z), OK))
		return;
	struct cron c = parse_at(__LINE__, "* * * * *", "");
	int64_t got = 12345;
	CHECK_INT(cron_next(&c, z, INT64_MAX, &got), E_NOTFOUND);
	CHECK_INT(cron_next(&c, z, SECONDS_MAX, &got), E_NOTFOUND);
	CHECK_INT(got, 12345);
	CHECK_INT(cron_next(&c, z, SECONDS_MIN - 1, &got), OK);
	CHECK_INT(got, SECONDS_MIN);
	CHECK_INT(cron_next(&c, z, INT64_MIN, &got), OK);
	CHECK_INT(got, SECONDS_MIN);
}

/* The cases of the specification, computed by hand. */
TEST(next_across_changes_of_the_clock)
{
	enum { DEFAULT = 9 };
	static const struct {
		int line;
		const char *zone, *text;
		int gap, fold;
		const char *after, *want[3];
	} rows[] = {
		{ __LINE__,
		  "America/New_York",
		  "30 2 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-03-07T12:00:00",
		  { "2026-03-08T07:00:00", "2026-03-09T06:30:00", "2026-03-10T06:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "30 2 * * *",
		  GAP_SKIP,
		  FOLD_FIRST,
		  "2026-03-07T12:00:00",
		  { "2026-03-09T06:30:00", "2026-03-10T06:30:00", "2026-03-11T06:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "*/20 2,3 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-03-07T12:00:00",
		  { "2026-03-08T07:00:00", "2026-03-08T07:20:00", "2026-03-08T07:40:00" } },
		{ __LINE__,
		  "America/New_York",
		  "30 1 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-10-31T12:00:00",
		  { "2026-11-01T05:30:00", "2026-11-02T06:30:00", "2026-11-03T06:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "30 1 * * *",
		  GAP_SHIFT,
		  FOLD_SECOND,
		  "2026-10-31T12:00:00",
		  { "2026-11-01T06:30:00", "2026-11-02T06:30:00", "2026-11-03T06:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "30 1 * * *",
		  GAP_SHIFT,
		  FOLD_BOTH,
		  "2026-10-31T12:00:00",
		  { "2026-11-01T05:30:00", "2026-11-01T06:30:00", "2026-11-02T06:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "*/30 * * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-03-08T06:00:00",
		  { "2026-03-08T06:30:00", "2026-03-08T07:00:00", "2026-03-08T07:30:00" } },
		{ __LINE__,
		  "America/New_York",
		  "*/30 * * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-11-01T05:00:00",
		  { "2026-11-01T05:30:00", "2026-11-01T06:00:00", "2026-11-01T06:30:00" } },
		{ __LINE__,
		  "Australia/Lord_Howe",
		  "15 2 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-10-03T00:00:00",
		  { "2026-10-03T15:30:00", "2026-10-04T15:15:00", "2026-10-05T15:15:00" } },
		{ __LINE__,
		  "Australia/Lord_Howe",
		  "45 1 * * *",
		  GAP_SHIFT,
		  FOLD_BOTH,
		  "2026-04-04T00:00:00",
		  { "2026-04-04T14:45:00", "2026-04-04T15:15:00", "2026-04-05T15:15:00" } },
		{ __LINE__,
		  "America/Havana",
		  "0 0 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-03-07T12:00:00",
		  { "2026-03-08T05:00:00", "2026-03-09T04:00:00", "2026-03-10T04:00:00" } },
		{ __LINE__,
		  "America/Havana",
		  "0 0 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-10-31T12:00:00",
		  { "2026-11-01T04:00:00", "2026-11-02T05:00:00", "2026-11-03T05:00:00" } },
		{ __LINE__,
		  "Europe/Dublin",
		  "30 1 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2026-03-28T12:00:00",
		  { "2026-03-29T01:00:00", "2026-03-30T00:30:00", "2026-03-31T00:30:00" } },
		{ __LINE__,
		  "Pacific/Apia",
		  "0 9 * * *",
		  DEFAULT,
		  DEFAULT,
		  "2011-12-29T20:00:00",
		  { "2011-12-30T10:00:00", "2011-12-30T19:00:00", "2011-12-31T19:00:00" } },
		{ __LINE__,
		  "Pacific/Apia",
		  "0 9 * * *",
		  GAP_SKIP,
		  FOLD_FIRST,
		  "2011-12-29T20:00:00",
		  { "2011-12-30T19:00:00", "2011-12-31T19:00:00", "2012-01-01T19:00:00" } },
		{ __LINE__,
		  "Pacific/Apia",
		  "0 9 30 12 *",
		  DEFAULT,
		  DEFAULT,
		  "2011-01-01T00:00:00",
		  { "2011-12-30T10:00:00", "2012-12-29T19:00:00", "2013-12-29T19:00:00" } },
		/* All these times are in gaps in every year. The search must still end. */
		{ __LINE__,
		  "America/New_York",
		  "30 2 ? 3 SUN#2",
		  GAP_SKIP,
		  FOLD_FIRST,
		  "2026-01-01T00:00:00",
		  { NULL } },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct cron c = parse_at(rows[i].line, rows[i].text, "");
		if (rows[i].gap != DEFAULT) {
			c.gap = (uint8_t)rows[i].gap;
			c.fold = (uint8_t)rows[i].fold;
		}
		int64_t t = test_utc(rows[i].after);
		for (int k = 0; k < 3 && (k == 0 || rows[i].want[k]); k++) {
			enum err e = cron_next(&c, test_zone(rows[i].zone), t, &t);
			CHECK_INT_AT(rows[i].line, e, rows[i].want[k] ? OK : E_NOTFOUND);
			CHECK_INT_AT(rows[i].line, t,
				     test_utc(rows[i].want[k] ? rows[i].want[k] : rows[i].after));
		}
	}
}
