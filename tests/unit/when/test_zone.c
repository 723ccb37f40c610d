/* The TZif parser, footer rules, fixed zones, and local times to instants: the file format and special cases.
 * The offsets of real zones are compared with libc in tests/oracle/brute.c. */
#include "core/when/civil.h"
#include "test.h"
#include "zoneinfo.h"

#include <time.h>
#include <unistd.h>

#define ZONEINFO "/usr/share/zoneinfo/"

/* A TZif file being built. */
struct file {
	unsigned char p[4096];
	size_t n;
};

static void put_number(struct file *f, uint64_t v, unsigned bytes)
{
	assert(f->n + bytes <= sizeof f->p);
	while (bytes-- > 0)
		f->p[f->n++] = (unsigned char)(v >> 8 * bytes);
}

static void put_text(struct file *f, const char *text)
{
	assert(f->n + strlen(text) <= sizeof f->p);
	memcpy(f->p + f->n, text, strlen(text));
	f->n += strlen(text);
}

static void put_header(struct file *f, char version, const uint32_t counts[6])
{
	put_text(f, "TZif");
	put_number(f, (unsigned char)version, 1);
	for (int i = 0; i < 15; i++)
		put_number(f, 0, 1);
	for (int i = 0; i < 6; i++)
		put_number(f, counts[i], 4);
}

struct change {
	int64_t at;
	unsigned type;
};

/* A version 2+ file: an empty first block (one type, as zic -b slim writes it), then the second block. */
static struct file make(char version, const int32_t *types, uint32_t n_types, const struct change *changes,
			uint32_t n_changes, const char *footer)
{
	struct file f = { .n = 0 };
	bool wide = version >= '2';
	if (wide) {
		put_header(&f, version, (uint32_t[]){ 0, 0, 0, 0, 1, 1 });
		put_number(&f, 0, 7);
	}
	put_header(&f, version, (uint32_t[]){ 0, 0, 0, n_changes, n_types, 4 });
	for (uint32_t i = 0; i < n_changes; i++)
		put_number(&f, (uint64_t)changes[i].at, wide ? 8 : 4);
	for (uint32_t i = 0; i < n_changes; i++)
		put_number(&f, changes[i].type, 1);
	for (uint32_t i = 0; i < n_types; i++) {
		put_number(&f, (uint32_t)types[i], 4);
		put_number(&f, 0, 2);
	}
	put_text(&f, "ABC");
	put_number(&f, 0, 1);
	if (footer) {
		put_text(&f, "\n");
		put_text(&f, footer);
		put_text(&f, "\n");
	}
	return f;
}

/* Parses a copy of exactly this size, so that a sanitizer detects reads beyond the end. */
static enum err parse(const void *p, size_t n, struct zone **ret, struct why *why)
{
	char *copy = malloc(n + !n);
	memcpy(copy, p, n);
	enum err e = zone_parse((struct str){ copy, n }, ret, why);
	free(copy);
	return e;
}

static struct zone *parse_at(int line, const struct file *f)
{
	struct zone *z = NULL;
	struct why why = { 0 };
	if (!CHECK_INT_AT(line, parse(f->p, f->n, &z, &why), OK))
		printf("\t%s\n", why.text);
	return z;
}

/* Checks that the file is refused with this message, and that the output is untouched. */
static void check_refused(int line, const void *p, size_t n, const char *text)
{
	struct zone *z = (struct zone *)&n;
	struct why why = { 0 };
	CHECK_INT_AT(line, parse(p, n, &z, &why), E_INPUT);
	CHECK_STR_AT(line, why.text, text);
	CHECK_AT(line, z == (struct zone *)&n);
	CHECK_INT_AT(line, parse(p, n, &z, NULL), E_INPUT);
}

/* Walks over all spans of a zone, and checks that they are consistent. */
static void check_spans(const struct zone *z)
{
	int64_t t = SECONDS_MIN, end = test_utc("2100-01-01T00:00:00");
	for (int i = 0; t < end; i++) {
		struct zone_span s = zone_span(z, t);
		if (!CHECK(s.from <= t && t < s.to) || !CHECK(i < 10000))
			return;
		CHECK(i == 0 || (s.from == t && s.before != s.offset));
		CHECK_INT(zone_offset(z, s.to - 1), s.offset);
		zone_utc(z, t + s.offset, NULL);
		t = s.to;
	}
}

TEST(a_file_cut_anywhere_is_refused)
{
	static const char *const names[] = { "Europe/Berlin", "America/New_York", "Etc/UTC" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[100];
		snprintf(path, sizeof path, ZONEINFO "%s", names[i]);
		struct str all = test_tzif(path);
		if (!CHECK(all.n > 100))
			return;
		struct zone *z = NULL;
		for (size_t n = 0; n < all.n; n++) {
			struct why why = { 0 };
			test_case("%s cut at %zu", names[i], n);
			CHECK_INT(parse(all.p, n, &z, &why), E_INPUT);
			CHECK(z == NULL && why.text[0]);
		}
		CHECK_INT(parse(all.p, all.n, &z, NULL), OK);
		zone_free(z);
	}
}

TEST(a_file_with_any_byte_changed_is_read_or_refused)
{
	struct str all = test_tzif(ZONEINFO "Europe/Berlin");
	char *copy = malloc(all.n);
	unsigned taken = 0;
	for (size_t i = 0; i < all.n; i++) {
		static const unsigned char flips[] = { 0xFF, 0x80, 0x01 };
		for (size_t k = 0; k < ARRAY_LEN(flips); k++) {
			memcpy(copy, all.p, all.n);
			copy[i] = (char)(copy[i] ^ flips[k]);
			struct zone *z = NULL;
			test_case("byte %zu ^ %x", i, flips[k]);
			if (zone_parse((struct str){ copy, all.n }, &z, NULL) == OK) {
				taken++;
				check_spans(z);
			}
			zone_free(z);
		}
	}
	free(copy);
	CHECK(taken > 100);
}

TEST(bad_files_are_refused)
{
	static const int32_t types[] = { 0, 3600 };
	static const struct change changes[] = { { 1000, 1 }, { 2000, 0 } };
	struct file good = make('2', types, 2, changes, 2, "UTC0"), f;
	zone_free(parse_at(__LINE__, &good));

	check_refused(__LINE__, "", 0, "not a TZif file");
	check_refused(__LINE__, "TZif", 4, "not a TZif file");
	f = good;
	f.p[3] = 'g';
	check_refused(__LINE__, f.p, f.n, "not a TZif file");
	f = good;
	f.p[44 + 7] = 't'; /* damages the second header */
	check_refused(__LINE__, f.p, f.n, "not a TZif file");

	f = make('2', types, 2, (struct change[]){ { 1000, 1 }, { 2000, 2 } }, 2, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif transition has a type that does not exist");
	f = make('2', types, 2, (struct change[]){ { 1000, 255 } }, 1, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif transition has a type that does not exist");
	f = make('2', types, 2, (struct change[]){ { 2000, 1 }, { 1000, 0 } }, 2, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif transitions are out of order");
	f = make('2', types, 2, (struct change[]){ { 2000, 1 }, { 2000, 0 } }, 2, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif transitions are out of order");
	f = make('2', (int32_t[]){ 27 * 3600 }, 1, NULL, 0, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif offset is out of range");
	f = make('2', (int32_t[]){ INT32_MIN }, 1, NULL, 0, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif offset is out of range");
	f = make('2', types, 0, NULL, 0, "UTC0");
	check_refused(__LINE__, f.p, f.n, "TZif counts are out of range");
	f = make('2', types, 2, changes, 2, NULL);
	check_refused(__LINE__, f.p, f.n, "TZif footer is missing");

	/* Counts that are larger than the file, up to those whose sum would overflow. */
	for (int i = 0; i < 6; i++) {
		static const uint32_t lies[] = { 200, 4096, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF };
		for (size_t k = 0; k < ARRAY_LEN(lies); k++) {
			f = good;
			for (int b = 0; b < 4; b++)
				f.p[44 + 7 + 20 + 4 * i + b] = (unsigned char)(lies[k] >> (24 - 8 * b));
			struct zone *z = NULL;
			test_case("count %d is %x", i, lies[k]);
			CHECK_INT(parse(f.p, f.n, &z, NULL), E_INPUT);
			CHECK(z == NULL);
		}
	}
}

TEST(too_large_a_file_is_refused)
{
	char *big = calloc(1, TZIF_BYTES_MAX + 1);
	memcpy(big, "TZif", 4);
	struct zone *z = NULL;
	struct why why = { 0 };
	CHECK_INT(zone_parse((struct str){ big, TZIF_BYTES_MAX + 1 }, &z, &why), E_LIMIT);
	CHECK_STR(why.text, "TZif file is larger than 1048576 bytes");
	CHECK(z == NULL);
	free(big);
}

TEST(leap_seconds_are_refused)
{
	static const char text[] = "zone data that counts leap seconds is not supported";
	for (int wide = 0; wide < 2; wide++) {
		struct file f = { .n = 0 };
		if (wide) {
			put_header(&f, '2', (uint32_t[]){ 0, 0, 0, 0, 1, 1 });
			put_number(&f, 0, 7);
		}
		put_header(&f, wide ? '2' : 0, (uint32_t[]){ 0, 0, 1, 0, 1, 4 });
		put_number(&f, 0, 6);
		put_text(&f, "UTC");
		put_number(&f, 0, 1);
		put_number(&f, 78796800, wide ? 8 : 4); /* 1972-06-30T23:59:60 */
		put_number(&f, 1, 4);
		if (wide)
			put_text(&f, "\nUTC0\n");
		check_refused(__LINE__, f.p, f.n, text);
	}
	struct str right = test_tzif(ZONEINFO "right/Europe/Berlin");
	if (right.n)
		check_refused(__LINE__, right.p, right.n, text);
	else
		printf("no %sright/Europe/Berlin here\n", ZONEINFO);
}

TEST(version_1_files)
{
	static const int32_t types[] = { -18000, -14400 };
	static const struct change changes[] = { { -1000, 1 }, { 1000, 0 }, { 5000, 1 } };
	struct file f = make(0, types, 2, changes, 3, NULL);
	_cleanup_(zone_freep) struct zone *z = parse_at(__LINE__, &f);
	if (!z)
		return;
	static const struct {
		int line;
		int64_t t;
		struct zone_span want;
	} rows[] = {
		{ __LINE__, -2000, { -ZONE_FOREVER, -1000, -18000, -18000, -14400 } },
		{ __LINE__, -1001, { -ZONE_FOREVER, -1000, -18000, -18000, -14400 } },
		{ __LINE__, -1000, { -1000, 1000, -14400, -18000, -18000 } },
		{ __LINE__, 999, { -1000, 1000, -14400, -18000, -18000 } },
		{ __LINE__, 1000, { 1000, 5000, -18000, -14400, -14400 } },
		{ __LINE__, 5000, { 5000, ZONE_FOREVER, -14400, -18000, -14400 } },
		{ __LINE__, SECONDS_MAX, { 5000, ZONE_FOREVER, -14400, -18000, -14400 } },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct zone_span s = zone_span(z, rows[i].t);
		CHECK_INT_AT(rows[i].line, s.from, rows[i].want.from);
		CHECK_INT_AT(rows[i].line, s.to, rows[i].want.to);
		CHECK_INT_AT(rows[i].line, s.offset, rows[i].want.offset);
		CHECK_INT_AT(rows[i].line, s.before, rows[i].want.before);
		CHECK_INT_AT(rows[i].line, s.after, rows[i].want.after);
	}
	check_spans(z);
}

/* A fat file has all data twice; its first block alone is a version 1 file. */
TEST(version_1_of_a_real_file)
{
	struct str all = test_tzif(ZONEINFO "Europe/Berlin");
	struct zone *narrow = NULL, *wide = NULL;
	char *copy = malloc(all.n);
	memcpy(copy, all.p, all.n);
	copy[4] = 0;
	CHECK_INT(zone_parse(all, &wide, NULL), OK);
	if (CHECK_INT(zone_parse((struct str){ copy, all.n }, &narrow, NULL), OK) &&
	    zone_span(narrow, 0).from != -ZONE_FOREVER) /* else the file is slim: its first block is empty */
		for (int64_t t = test_utc("1902-01-01T00:00:00"); t < test_utc("2037-01-01T00:00:00");
		     t += 86400 * 5)
			CHECK_INT(zone_offset(narrow, t), zone_offset(wide, t));
	zone_free(narrow);
	zone_free(wide);
	free(copy);
}

TEST(only_changes_of_the_offset_are_kept)
{
	static const int32_t types[] = { 3600, 3600, 7200 };
	static const struct change changes[] = {
		{ 1000, 1 }, { 2000, 0 }, { 3000, 2 }, { 4000, 2 }, { 5000, 1 }
	};
	struct file f = make('2', types, 3, changes, 5, "");
	_cleanup_(zone_freep) struct zone *z = parse_at(__LINE__, &f);
	if (!z)
		return;
	CHECK_INT(zone_span(z, 1500).from, -ZONE_FOREVER);
	CHECK_INT(zone_span(z, 1500).to, 3000);
	CHECK_INT(zone_span(z, 3500).to, 5000);
	CHECK_INT(zone_span(z, 6000).to, ZONE_FOREVER);
	CHECK_INT(zone_offset(z, 6000), 3600);
	check_spans(z);
}

TEST(fixed_zones)
{
	static const int32_t offsets[] = { 0, 3600, -3600, 50400, -43200, 20700, 1234, -1 };
	zone_free(NULL);
	for (size_t i = 0; i < ARRAY_LEN(offsets); i++) {
		_cleanup_(zone_freep) struct zone *z = NULL;
		if (!CHECK_INT(zone_fixed(offsets[i], &z), OK))
			return;
		static const int64_t times[] = { SECONDS_MIN, -1, 0, 1, 1767225600, SECONDS_MAX };
		for (size_t k = 0; k < ARRAY_LEN(times); k++) {
			struct zone_span s = zone_span(z, times[k]);
			CHECK_INT(s.from, -ZONE_FOREVER);
			CHECK_INT(s.to, ZONE_FOREVER);
			CHECK(s.offset == offsets[i] && s.before == offsets[i] && s.after == offsets[i]);
			enum zone_fit fit = ZONE_GAP;
			CHECK_INT(zone_utc(z, times[k], &fit), times[k] - offsets[i]);
			CHECK_INT(fit, ZONE_ONCE);
		}
	}
}

/* A file without transitions, only with a footer. */
static struct zone *rule_zone(int line, const char *rule, int32_t std)
{
	struct file f = make('3', &std, 1, NULL, 0, rule);
	test_case("%s", rule);
	return parse_at(line, &f);
}

/* Computed by hand from the rules: the offset changes at this second, not before. */
TEST(footer_rules_change_at_the_right_second)
{
	static const struct {
		int line;
		const char *rule;
		int32_t std;
		const char *at;
		int32_t before, after;
	} rows[] = {
		{ __LINE__, "EST5EDT,M3.2.0,M11.1.0", -18000, "2026-03-08T07:00:00", -18000, -14400 },
		{ __LINE__, "EST5EDT,M3.2.0,M11.1.0", -18000, "2026-11-01T06:00:00", -14400, -18000 },
		{ __LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", 3600, "2040-03-25T01:00:00", 3600, 7200 },
		{ __LINE__, "CET-1CEST,M3.5.0,M10.5.0/3", 3600, "2040-10-28T01:00:00", 7200, 3600 },
		/* Negative daylight saving time: Dublin's winter. */
		{ __LINE__, "IST-1GMT0,M10.5.0,M3.5.0/1", 3600, "2026-03-29T01:00:00", 0, 3600 },
		{ __LINE__, "IST-1GMT0,M10.5.0,M3.5.0/1", 3600, "2026-10-25T01:00:00", 3600, 0 },
		/* South of the equator daylight saving time spans the new year; offsets with half an hour and
		 * with seconds. */
		{ __LINE__, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, "2026-04-04T15:00:00", 39600,
		  37800 },
		{ __LINE__, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, "2026-10-03T15:30:00", 37800,
		  39600 },
		{ __LINE__, "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 45900, "2026-04-04T14:00:00",
		  49500, 45900 },
		{ __LINE__, "AAA1:02:03BBB,M3.2.0/1:00:30,M11.1.0", -3723, "2026-03-08T02:02:33", -3723,
		  -123 },
		/* Hours before the beginning and after the end of the day. */
		{ __LINE__, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, "2026-03-29T01:00:00", -7200, -3600 },
		{ __LINE__, "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, "2026-10-25T01:00:00", -3600, -7200 },
		{ __LINE__, "EET-2EEST,M3.4.4/50,M10.4.4/50", 7200, "2026-03-28T00:00:00", 7200, 10800 },
		{ __LINE__, "EET-2EEST,M3.4.4/50,M10.4.4/50", 7200, "2026-10-23T23:00:00", 10800, 7200 },
		{ __LINE__, "AAA0BBB,M3.1.0/167,M11.1.0/-167", 0, "2026-03-07T23:00:00", 0, 3600 },
		/* Jn never counts 29 February, n does. */
		{ __LINE__, "AAA3BBB,J60,J300", -10800, "2026-03-01T05:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,J60,J300", -10800, "2028-03-01T05:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,J60,J300", -10800, "2028-10-27T04:00:00", -7200, -10800 },
		{ __LINE__, "AAA3BBB,J59,J300", -10800, "2028-02-28T05:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,59,299", -10800, "2026-03-01T05:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,59,299", -10800, "2028-02-29T05:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,59,299", -10800, "2028-10-26T04:00:00", -7200, -10800 },
		{ __LINE__, "AAA3BBB,0/0,J365/0", -10800, "2026-01-01T03:00:00", -10800, -7200 },
		{ __LINE__, "AAA3BBB,0/0,J365/0", -10800, "2026-12-31T02:00:00", -7200, -10800 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(zone_freep) struct zone *z = rule_zone(rows[i].line, rows[i].rule, rows[i].std);
		int64_t at = test_utc(rows[i].at);
		if (!z)
			continue;
		CHECK_INT_AT(rows[i].line, zone_offset(z, at - 1), rows[i].before);
		CHECK_INT_AT(rows[i].line, zone_offset(z, at), rows[i].after);
		CHECK_INT_AT(rows[i].line, zone_span(z, at).from, at);
		CHECK_INT_AT(rows[i].line, zone_span(z, at - 1).to, at);
		check_spans(z);
	}
}

/* libc reads the same rules from TZ. The rules are compared for twelve years before and after the end of the
 * table. */
TEST(footer_rules_agree_with_libc)
{
	static const struct {
		const char *rule;
		int32_t std;
	} rows[] = {
		{ "EST5EDT,M3.2.0,M11.1.0", -18000 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", 3600 },
		{ "IST-1GMT0,M10.5.0,M3.5.0/1", 3600 },
		{ "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800 },
		{ "<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 45900 },
		{ "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200 },
		{ "EET-2EEST,M3.4.4/50,M10.4.4/50", 7200 },
		{ "IST-2IDT,M3.4.4/26,M10.5.0", 7200 },
		{ "AAA3BBB,J60,J300", -10800 },
		{ "AAA3BBB,59,299", -10800 },
		{ "AAA-11BBB,J300/0,J40/0", 39600 },
		{ "AAA11:59:59BBB,M2.5.6/23:59:59,M9.1.1/0:00:01", -43199 },
		{ "<-03>3", -10800 },
		{ "UTC0", 0 },
	};
	const char *old = getenv("TZ");
	char kept[100];
	snprintf(kept, sizeof kept, "%s", old ? old : "");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(zone_freep) struct zone *z = rule_zone(__LINE__, rows[i].rule, rows[i].std);
		setenv("TZ", rows[i].rule, 1);
		tzset();
		unsigned differ = 0;
		for (int64_t t = test_utc("2025-01-01T00:00:00"); z && t < test_utc("2050-01-01T00:00:00");
		     t += 1800) {
			time_t at = t;
			struct tm tm;
			localtime_r(&at, &tm);
			if (zone_offset(z, t) != tm.tm_gmtoff && differ++ < 3)
				printf("%s at %lld: %d, not %ld\n", rows[i].rule, (long long)t,
				       zone_offset(z, t), tm.tm_gmtoff);
		}
		CHECK_INT(differ, 0);
	}
	if (old)
		setenv("TZ", kept, 1);
	else
		unsetenv("TZ");
	tzset();
}

TEST(daylight_saving_time_all_year_is_a_fixed_offset)
{
	static const int32_t types[] = { -18000, -14400 };
	static const struct change changes[] = { { 1000000000, 1 } };
	struct file f = make('3', types, 2, changes, 1, "EST5EDT,0/0,J365/25");
	_cleanup_(zone_freep) struct zone *z = parse_at(__LINE__, &f);
	if (!z)
		return;
	CHECK_INT(zone_offset(z, 999999999), -18000);
	struct zone_span s = zone_span(z, test_utc("2026-01-01T04:30:00"));
	CHECK_INT(s.offset, -14400);
	CHECK_INT(s.from, 1000000000);
	CHECK_INT(s.to, ZONE_FOREVER);
	for (int64_t t = test_utc("2025-12-20T00:00:00"); t < test_utc("2061-01-10T00:00:00"); t += 3600)
		if (zone_offset(z, t) != -14400) {
			CHECK_INT(zone_offset(z, t), -14400);
			break;
		}
}

TEST(bad_footers_are_refused)
{
	static const struct {
		int line;
		const char *rule;
	} rows[] = {
		{ __LINE__, "EST" },
		{ __LINE__, "5" },
		{ __LINE__, "ES5" },
		{ __LINE__, "EST25" },
		{ __LINE__, "EST5:60" },
		{ __LINE__, "EST5:00:60" },
		{ __LINE__, "<-03" },
		{ __LINE__, "<>3" },
		{ __LINE__, "<-0 3>3" },
		{ __LINE__, "EST5ED" },
		{ __LINE__, "EST5EDT," },
		{ __LINE__, "EST5EDT,M3.2.0" },
		{ __LINE__, "EST5EDT,M3.2.0," },
		{ __LINE__, "EST5EDT,M0.2.0,M11.1.0" },
		{ __LINE__, "EST5EDT,M13.2.0,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.0.0,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.6.0,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2.7,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2,M11.1.0" },
		{ __LINE__, "EST5EDT,J0,J300" },
		{ __LINE__, "EST5EDT,J366,J300" },
		{ __LINE__, "EST5EDT,366,300" },
		{ __LINE__, "EST5EDT,M3.2.0/168,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2.0/-168,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2.0/,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2.0/2:,M11.1.0" },
		{ __LINE__, "EST5EDT,M3.2.0,M11.1.0x" },
		{ __LINE__, "EST5EDT,M3.2.0,M11.1.0,J1" },
		{ __LINE__, "EST5EDT,M99999999999.2.0,M11.1.0" },
		{ __LINE__, "EST99999999999" },
		{ __LINE__, " EST5" },
		{ __LINE__, "EST5 " },
	};
	static const int32_t std = -18000;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct file f = make('2', &std, 1, NULL, 0, rows[i].rule);
		struct zone *z = NULL;
		struct why why = { 0 };
		test_case("%s", rows[i].rule);
		CHECK_INT_AT(rows[i].line, parse(f.p, f.n, &z, &why), E_INPUT);
		CHECK_AT(rows[i].line, strncmp(why.text, "bad zone rule: ", 15) == 0);
		CHECK_AT(rows[i].line, z == NULL);
		zone_free(z);
	}
}

/* The footer applies after the last transition, even if that transition changed only the name. Lisbon's slim
 * file ends with such a transition: 1996-03-31, from CET to WEST. */
TEST(the_footer_begins_after_the_last_transition)
{
	static const int32_t types[] = { 7200, 3600, 3600 };
	const struct change changes[] = { { test_utc("1995-09-24T01:00:00"), 1 },
					  { test_utc("1996-03-31T01:00:00"), 2 } };
	struct file f = make('2', types, 3, changes, 2, "WET0WEST,M3.5.0/1,M10.5.0");
	_cleanup_(zone_freep) struct zone *z = parse_at(__LINE__, &f);
	if (!z)
		return;
	CHECK_INT(zone_offset(z, test_utc("1995-09-23T00:00:00")), 7200);
	CHECK_INT(zone_offset(z, test_utc("1995-10-29T01:00:00")), 3600);
	CHECK_INT(zone_offset(z, test_utc("1996-01-01T00:00:00")), 3600);
	CHECK_INT(zone_span(z, test_utc("1996-01-01T00:00:00")).to, test_utc("1996-10-27T01:00:00"));
	CHECK_INT(zone_offset(z, test_utc("1996-12-01T00:00:00")), 0);

	/* The same after the last year of the table. */
	const struct change late[] = { { test_utc("2050-09-25T01:00:00"), 1 },
				       { test_utc("2052-03-31T01:00:00"), 2 } };
	struct file g = make('2', types, 3, late, 2, "WET0WEST,M3.5.0/1,M10.5.0");
	_cleanup_(zone_freep) struct zone *y = parse_at(__LINE__, &g);
	if (!y)
		return;
	CHECK_INT(zone_offset(y, test_utc("2050-01-01T00:00:00")), 7200);
	CHECK_INT(zone_offset(y, test_utc("2051-01-01T00:00:00")), 3600);
	CHECK_INT(zone_offset(y, test_utc("2052-01-01T00:00:00")), 3600);
	CHECK_INT(zone_span(y, test_utc("2051-01-01T00:00:00")).to, test_utc("2052-10-27T01:00:00"));
	CHECK_INT(zone_offset(y, test_utc("2053-01-01T00:00:00")), 0);

	/* Here only the name changes, years after the last change of the offset. */
	const struct change far[] = { { test_utc("2050-09-25T01:00:00"), 1 },
				      { test_utc("2056-03-26T01:00:00"), 2 } };
	struct file h = make('2', types, 3, far, 2, "WET0WEST,M3.5.0/1,M10.5.0");
	_cleanup_(zone_freep) struct zone *x = parse_at(__LINE__, &h);
	if (!x)
		return;
	CHECK_INT(zone_offset(x, test_utc("2054-01-01T00:00:00")), 3600);
	CHECK_INT(zone_span(x, test_utc("2051-01-01T00:00:00")).to, test_utc("2056-10-29T01:00:00"));
	CHECK_INT(zone_span(x, test_utc("2051-01-01T00:00:00")).after, 0);
	CHECK_INT(zone_span(x, test_utc("2056-12-01T00:00:00")).from, test_utc("2056-10-29T01:00:00"));
}

TEST(local_times)
{
	static const struct {
		int line;
		const char *zone, *local, *want;
		enum zone_fit fit;
	} rows[] = {
		{ __LINE__, "America/New_York", "2026-03-08T01:59:59", "2026-03-08T06:59:59", ZONE_ONCE },
		{ __LINE__, "America/New_York", "2026-03-08T02:00:00", "2026-03-08T07:00:00", ZONE_GAP },
		{ __LINE__, "America/New_York", "2026-03-08T02:59:59", "2026-03-08T07:59:59", ZONE_GAP },
		{ __LINE__, "America/New_York", "2026-03-08T03:00:00", "2026-03-08T07:00:00", ZONE_ONCE },
		{ __LINE__, "America/New_York", "2026-11-01T00:59:59", "2026-11-01T04:59:59", ZONE_ONCE },
		{ __LINE__, "America/New_York", "2026-11-01T01:00:00", "2026-11-01T05:00:00", ZONE_TWICE },
		{ __LINE__, "America/New_York", "2026-11-01T01:59:59", "2026-11-01T05:59:59", ZONE_TWICE },
		{ __LINE__, "America/New_York", "2026-11-01T02:00:00", "2026-11-01T07:00:00", ZONE_ONCE },
		{ __LINE__, "America/New_York", "2060-11-07T01:30:00", "2060-11-07T05:30:00", ZONE_TWICE },
		{ __LINE__, "Australia/Lord_Howe", "2026-10-04T02:15:00", "2026-10-03T15:45:00", ZONE_GAP },
		{ __LINE__, "Australia/Lord_Howe", "2026-04-05T01:45:00", "2026-04-04T14:45:00", ZONE_TWICE },
		{ __LINE__, "Australia/Lord_Howe", "2026-04-05T01:15:00", "2026-04-04T14:15:00", ZONE_ONCE },
		{ __LINE__, "Pacific/Apia", "2011-12-29T23:59:59", "2011-12-30T09:59:59", ZONE_ONCE },
		{ __LINE__, "Pacific/Apia", "2011-12-30T00:00:00", "2011-12-30T10:00:00", ZONE_GAP },
		{ __LINE__, "Pacific/Apia", "2011-12-30T23:59:59", "2011-12-31T09:59:59", ZONE_GAP },
		{ __LINE__, "Pacific/Apia", "2011-12-31T00:00:00", "2011-12-30T10:00:00", ZONE_ONCE },
		{ __LINE__, "Europe/Dublin", "2026-03-29T01:30:00", "2026-03-29T01:30:00", ZONE_GAP },
		{ __LINE__, "Europe/Dublin", "2026-10-25T01:30:00", "2026-10-25T00:30:00", ZONE_TWICE },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct zone *z = test_zone(rows[i].zone);
		enum zone_fit fit = 99;
		test_case("%s %s", rows[i].zone, rows[i].local);
		CHECK_INT_AT(rows[i].line, zone_utc(z, test_utc(rows[i].local), &fit),
			     test_utc(rows[i].want));
		CHECK_INT_AT(rows[i].line, fit, rows[i].fit);
		CHECK_INT_AT(rows[i].line, zone_utc(z, test_utc(rows[i].local), NULL),
			     test_utc(rows[i].want));
	}
}

TEST(different_data_has_different_fingerprints)
{
	struct str berlin = test_tzif(ZONEINFO "Europe/Berlin");
	struct zone *a = NULL, *b = NULL, *c = NULL;
	CHECK_INT(zone_parse(berlin, &a, NULL), OK);
	CHECK_INT(zone_parse(berlin, &b, NULL), OK);
	CHECK_INT(zone_parse(test_tzif(ZONEINFO "Europe/Dublin"), &c, NULL), OK);
	CHECK(zone_fingerprint(a) == zone_fingerprint(b));
	CHECK(zone_fingerprint(a) != zone_fingerprint(c));
	zone_free(a);
	zone_free(b);
	zone_free(c);
}

static int descending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x < y) - (x > y);
}

/* The hundred largest zones, at most 4 KB each on average. */
TEST(a_hundred_zones_fit_400_kb)
{
	static size_t sizes[1000];
	size_t n = 0, total = 0;
	FILE *f = fopen(ZONEINFO "zone1970.tab", "r");
	if (!CHECK(f != NULL))
		return;
	char line[500], name[100], path[200];
	while (fgets(line, sizeof line, f) && n < ARRAY_LEN(sizes)) {
		if (line[0] == '#' || sscanf(line, "%*s %*s %99s", name) != 1)
			continue;
		snprintf(path, sizeof path, ZONEINFO "%s", name);
		_cleanup_(zone_freep) struct zone *z = NULL;
		struct str bytes = test_tzif(path);
		test_case("%s", name);
		if (CHECK_INT(zone_parse(bytes, &z, NULL), OK)) {
			sizes[n++] = zone_size(z);
			CHECK(zone_size(z) <= bytes.n + 4096);
		}
	}
	fclose(f);
	CHECK(n > 250);
	qsort(sizes, n, sizeof sizes[0], descending);
	for (size_t i = 0; i < 100; i++)
		total += sizes[i];
	CHECK(total < 400 * 1024);
	printf("the largest hundred of %zu zones: %zu bytes\n", n, total);
}
