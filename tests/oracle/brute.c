/* Compares rota's zones and cron with brute force. The model (naive.h, local.h) uses libc only: a parser into
 * bool arrays, and a table of all local minutes of several years with their instants. Each zone is a test;
 * arguments are prefixes of the names to run, as in every test program, and BRUTE_SEED=n changes the random
 * cases. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* nftw */
#endif
#include "core/when/rule.h"
#include "local.h"
#include "naive.h"
#include "random.h"
#include "test.h"
#include "zoneinfo.h"

#include <ftw.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define ZONEINFO "/usr/share/zoneinfo"

enum {
	SHOWN_MAX = 10,     /* mismatches that one test prints at most */
	FULL_MAX = 4000,    /* longer lists are compared near clock changes only */
	RANDOM_EXPRS = 300, /* random expressions for each zone and range of years */
	RANDOM_TIMES = 6,   /* random times for each expression */
};

/* --- reporting --- */

static unsigned long long mismatches, compared;

static uint64_t seed_of(void)
{
	const char *s = getenv("BRUTE_SEED");
	return s ? strtoull(s, NULL, 0) : 20260613;
}

static bool mismatch(void)
{
	return mismatches++ < SHOWN_MAX;
}

static void report(const char *what)
{
	if (mismatches > SHOWN_MAX)
		printf("… %llu more (BRUTE_SEED=%llu)\n", mismatches - SHOWN_MAX,
		       (unsigned long long)seed_of());
	check_true(__FILE__, __LINE__, mismatches == 0, what);
	mismatches = 0;
}

/* --- the model's occurrences --- */

struct list {
	int64_t *t;
	size_t n, cap;
};

static void list_add(struct list *l, int64_t t)
{
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 1024;
		l->t = realloc(l->t, l->cap * sizeof *l->t);
		if (!l->t)
			abort();
	}
	l->t[l->n++] = t;
}

static int by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* One schedule, for rota and for the model. */
struct subject {
	const char *text;
	struct naive model;
	struct rule rule;
	int gap, fold; /* -1: the default */
	struct days except;
	int64_t from, until;
	int minutes[1440], n_minutes, seconds[60], n_seconds; /* the model's times of day */
};

static bool excepted(const struct subject *s, int64_t local_day)
{
	for (unsigned i = 0; i < s->except.n; i++)
		if (s->except.day[i] == local_day)
			return true;
	return false;
}

/* naive_day with a cache. */
static struct naive_day model_day(int64_t day)
{
	static struct naive_day known[40000];
	if (!known[day].year)
		known[day] = naive_day(day);
	return known[day];
}

static void model_add(const struct subject *s, const struct local *l, int64_t t, int64_t a, int64_t b,
		      struct list *out)
{
	if (t >= a && t < b && !excepted(s, local_day(l, t)))
		list_add(out, t);
}

/* Adds all occurrences of a local minute, by the specification's rules for daylight saving time. */
static void model_minute(const struct subject *s, const struct local *l, int64_t m, int64_t a, int64_t b,
			 struct list *out)
{
	bool follow = s->model.every_hour;
	bool shift = s->gap < 0 ? !follow : s->gap == GAP_SHIFT;
	bool first = s->fold < 0 || s->fold != FOLD_SECOND;
	bool second = s->fold < 0 ? follow : s->fold != FOLD_FIRST;
	if (l->first[m] < 0) {
		if (shift)
			model_add(s, l, (l->base + l->after[m]) * 60, a, b, out);
		return;
	}
	if (l->second[m] < 0)
		first = true, second = false;
	int64_t pass[2] = { (l->base + l->first[m]) * 60, (l->base + l->second[m]) * 60 };
	for (int k = !first; k <= second; k++)
		for (int i = 0; i < s->n_seconds && pass[k] + 60 > a && pass[k] < b; i++)
			model_add(s, l, pass[k] + s->seconds[i], a, b, out);
}

/* The occurrences in [a, b), in order. Tests every local minute that could be one of them: an offset moves a
 * time by at most a day, and so does a gap. */
static void model_list(const struct subject *s, const struct local *l, int64_t a, int64_t b, struct list *out)
{
	a = a > s->from ? a : s->from;
	b = b < s->until ? b : s->until;
	int64_t low = a / 60 - l->base - 2 * 1440, high = b / 60 - l->base + 2 * 1440;
	out->n = 0;
	for (int64_t day = a / 86400 - 2; a < b && day <= b / 86400 + 2; day++) {
		int64_t m = day * 1440 - l->base;
		if (m < 0 || m + 1440 > l->minutes || !naive_has_day(&s->model, model_day(day)))
			continue;
		for (int i = 0; i < s->n_minutes; i++)
			if (m + s->minutes[i] >= low && m + s->minutes[i] <= high)
				model_minute(s, l, m + s->minutes[i], a, b, out);
	}
	bool sorted = true;
	for (size_t i = 1; i < out->n; i++)
		sorted &= out->t[i - 1] < out->t[i];
	if (sorted)
		return;
	qsort(out->t, out->n, sizeof *out->t, by_time);
	size_t n = 1;
	for (size_t i = 1; i < out->n; i++)
		if (out->t[i] != out->t[n - 1])
			out->t[n++] = out->t[i];
	out->n = n;
}

/* --- rota's occurrences --- */

static void show_subject(const struct subject *s, const struct local *l)
{
	static const char *const gaps[] = { "default", "shift", "skip" };
	static const char *const folds[] = { "default", "first", "second", "both" };
	printf("%s '%s' GAP %s FOLD %s", l->zone, s->text, gaps[s->gap + 1], folds[s->fold + 1]);
	if (s->from > INT64_MIN)
		printf(" FROM %s", local_show(s->from));
	if (s->until < INT64_MAX)
		printf(" UNTIL %s", local_show(s->until));
	for (unsigned i = 0; i < s->except.n && i < 8; i++) {
		struct naive_day d = naive_day(s->except.day[i]);
		printf(" EXCEPT %d-%02d-%02d", d.year, d.month, d.mday);
	}
	printf(" (BRUTE_SEED=%llu)\n", (unsigned long long)seed_of());
}

static void show_time(const char *label, int64_t t)
{
	printf("\t%s %s\n", label, t == INT64_MAX || t == INT64_MIN ? "none" : local_show(t));
}

/* Reads `text` with both parsers. False: rota refuses the text, which may be right. */
static bool subject_init(struct subject *s, const char *text, int gap, int fold, struct why *why)
{
	*s = (struct subject){
		.text = text, .gap = gap, .fold = fold, .from = INT64_MIN, .until = INT64_MAX
	};
	s->model = naive_parse(text);
	for (int m = 0; m < 1440; m++)
		if (s->model.hour[m / 60] && s->model.minute[m % 60])
			s->minutes[s->n_minutes++] = m;
	for (int i = 0; i < 60; i++)
		if (s->model.second[i])
			s->seconds[s->n_seconds++] = i;
	s->rule = (struct rule){ .kind = RULE_CRON, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER };
	if (cron_parse(str_of(text), STR(""), &s->rule.cron, why))
		return false;
	if (gap >= 0)
		s->rule.cron.gap = (uint8_t)gap;
	if (fold >= 0)
		s->rule.cron.fold = (uint8_t)fold;
	return true;
}

static int64_t rota_next(const struct subject *s, const struct zone *z, struct wall after)
{
	struct wall t;
	while (rule_next(&s->rule, z, after, &t) == OK) {
		if (!days_have(&s->except, z, t))
			return wall_seconds(t);
		after = t;
	}
	return INT64_MAX;
}

static int64_t rota_prev(const struct subject *s, const struct zone *z, struct wall until)
{
	struct wall t;
	while (rule_prev(&s->rule, z, until, &t) == OK) {
		if (!days_have(&s->except, z, t))
			return wall_seconds(t);
		until.us = t.us - 1;
	}
	return INT64_MIN;
}

/* --- comparisons --- */

/* Each function returns whether rota and the model agreed. After the first difference a subject is not
 * compared any more. */

static bool compare_list(const struct subject *s, const struct local *l, const struct zone *z, int64_t a,
			 int64_t b)
{
	static struct list want;
	model_list(s, l, a, b, &want);
	int64_t t = a - 1;
	for (size_t i = 0; i <= want.n; i++) {
		int64_t expected = i < want.n ? want.t[i] : INT64_MAX, after = t;
		if (s->except.n || s->from > INT64_MIN || s->until < INT64_MAX)
			t = rota_next(s, z, wall_of(after));
		else if (cron_next(&s->rule.cron, z, after, &t))
			t = INT64_MAX;
		compared++;
		if (i == want.n ? t >= b : t == expected)
			continue;
		if (mismatch()) {
			show_subject(s, l);
			show_time("after   ", after);
			show_time("expected", expected);
			show_time("got     ", t);
		}
		return false;
	}
	return true;
}

static bool compare_around_changes(const struct subject *s, const struct local *l, const struct zone *z)
{
	int per_day = s->n_minutes * s->n_seconds;
	int64_t around = per_day <= 100     ? 3 * 86400
			 : per_day <= 1440  ? 43200
			 : per_day <= 20000 ? 10800
					    : 5400;
	int64_t covered = l->from;
	for (int i = -1; i < l->changes; i++) {
		int64_t at = i < 0 ? l->from + 59 * 86400 : l->change[i];
		int64_t a = at - around > covered ? at - around : covered;
		int64_t b = at + around < l->to ? at + around : l->to;
		if (a < b && !compare_list(s, l, z, a, b))
			return false;
		covered = b > covered ? b : covered;
	}
	return true;
}

static bool compare_whole(const struct subject *s, const struct local *l, const struct zone *z)
{
	int64_t days = 0;
	for (int64_t d = l->from / 86400; d < l->to / 86400; d++)
		days += naive_has_day(&s->model, model_day(d));
	return days * s->n_minutes * s->n_seconds <= FULL_MAX ? compare_list(s, l, z, l->from, l->to)
							      : compare_around_changes(s, l, z);
}

/* The model's first occurrence after t; INT64_MAX if there is none in these years. Searches one range of time
 * after the other. */
static int64_t model_next(const struct subject *s, const struct local *l, int64_t t)
{
	static struct list found;
	int64_t a = t + 1, b;
	for (int64_t width = 7200; a < l->to; width *= 2, a = b) {
		b = a + width < l->to ? a + width : l->to;
		model_list(s, l, a, b, &found);
		if (found.n)
			return found.t[0];
	}
	return INT64_MAX;
}

static int64_t model_prev(const struct subject *s, const struct local *l, int64_t t)
{
	static struct list found;
	int64_t a, b = t + 1;
	for (int64_t width = 7200; b > l->from; width *= 2, b = a) {
		a = b - width > l->from ? b - width : l->from;
		model_list(s, l, a, b, &found);
		if (found.n)
			return found.t[found.n - 1];
	}
	return INT64_MIN;
}

static bool compare_at(const struct subject *s, const struct local *l, const struct zone *z, struct wall at)
{
	int64_t t = wall_seconds(at);
	const char *what = "next after";
	int64_t want = model_next(s, l, t), got = rota_next(s, z, at);
	bool good = want == INT64_MAX ? got >= l->to : got == want;
	if (good) {
		what = "last until";
		want = model_prev(s, l, t), got = rota_prev(s, z, at);
		good = want == INT64_MIN ? got < l->from : got == want;
	}
	compared += 2;
	if (!good && mismatch()) {
		show_subject(s, l);
		printf("\t%s %s + %d us\n", what, local_show(t), (int)(at.us - t * USEC));
		show_time("expected", want);
		show_time("got     ", got);
	}
	return good;
}

/* Compares cron_between: whether there is a matching local time in [from, to). It does not depend on the
 * zone. */
static bool compare_between(const struct subject *s, const struct local *l, int64_t from, int64_t to)
{
	bool want = false;
	for (int64_t day = from / 86400; day <= to / 86400 && !want; day++) {
		if (!naive_has_day(&s->model, model_day(day)))
			continue;
		for (int i = 0; i < s->n_minutes && !want; i++)
			for (int k = 0; k < s->n_seconds && !want; k++) {
				int64_t t = day * 86400 + s->minutes[i] * 60 + s->seconds[k];
				want = t >= from && t < to;
			}
	}
	compared++;
	if (cron_between(&s->rule.cron, from, to) == want)
		return true;
	if (mismatch()) {
		show_subject(s, l);
		printf("\tcron_between local %lld and %lld: expected %d\n", (long long)from, (long long)to,
		       want);
	}
	return false;
}

/* --- fixed expressions --- */

static const char *const tricky[] = {
	"* * * * *",
	"*/30 * * * *",
	"*/7 * * * *",
	"15,45 0-23 * * *",
	"59 */1 * * *",
	"0 */2 * * *",
	"0 1/2 * * *",
	"0 0 * * *",
	"30 0 * * *",
	"0,1,2,30,31,58,59 0 * * *",
	"0 1 * * *",
	"30 1 * * *",
	"15,45 1,2 * * *",
	"0 2 * * *",
	"30 2 * * *",
	"*/10 2 * * *",
	"44-46 2,3 * * *",
	"0 3 * * *",
	"30 3 * * *",
	"0,30 0-3 * * *",
	"0 9 * * *",
	"0 22-2 * * *",
	"*/20 23-3 * * *",
	"55-5 23-4 * * *",
	"59 23 * * *",
	"0 0 L * *",
	"30 2 L * *",
	"0 3 L-3 * *",
	"0 6 L-30 * *",
	"15 2 LW * *",
	"0 0 1W * *",
	"30 2 15W * *",
	"0 12 31W * *",
	"0 2 29W 2 *",
	"0 2 * * FRIL",
	"30 1 * * 0L",
	"30 2 ? * SUN#2",
	"45 1 * * 0#1",
	"0 18 * * 5#5",
	"0 0 29 2 *",
	"0 0 1-7 * 1",
	"0 0 */2 * 1",
	"0 0 1-7 * */2",
	"30 2 8-14 MAR,nov SUN",
	"0 0 30 12 *",
	"30 9 30,31 12 5",
	"0 4 * * FRI-MON",
	"0 4 28-3 NOV-FEB ?",
	"0 5 L,1,15W * 7#3,2L",
	"30 59 1 * * *",
	"0,59 0,59 0-3 * * *",
	"*/15 0 * * * *",
	"* 29-31 2 * * SUN",
	"5/25 */20 22-2 * * *",
	"* * * * * *",
};

static void fixed_expressions(const struct local *l, const struct zone *z)
{
	for (size_t i = 0; i < ARRAY_LEN(tricky); i++)
		for (int gap = -1; gap <= GAP_SKIP; gap++)
			for (int fold = -1; fold <= FOLD_BOTH; fold++) {
				if ((gap < 0) != (fold < 0))
					continue;
				struct subject s;
				struct why why = { 0 };
				if (!subject_init(&s, tricky[i], gap, fold, &why)) {
					if (mismatch())
						printf("'%s' refused: %s\n", tricky[i], why.text);
				} else if (gap < 0) {
					compare_whole(&s, l, z);
				} else {
					compare_around_changes(&s, l, z);
				}
			}
}

/* --- random expressions --- */

static int by_day(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
	return (x > y) - (x < y);
}

/* A random instant of the years; half of these instants are near a clock change. */
static int64_t random_time(const struct local *l)
{
	int64_t span = l->to - l->from;
	if (l->changes && below(2)) {
		int64_t t = l->change[below(l->changes)] + below(4 * 7200) - 7200;
		if (t >= l->from && t < l->to)
			return below(3) ? t : t / 60 * 60;
	}
	int64_t t = l->from + (int64_t)(test_random(&random_state) % (uint64_t)span);
	return below(2) ? t : t / 1800 * 1800;
}

static void random_expression(const struct local *l, const struct zone *z)
{
	char text[RANDOM_MAX] = "";
	random_cron(text);
	struct subject s;
	struct why why = { 0 };
	int gap = between(-1, 1), fold = between(-1, 2);
	bool taken = subject_init(&s, text, gap, fold, &why), ever = taken || naive_ever(&s.model);
	if (taken != ever || (!taken && !strstr(why.text, "never"))) {
		if (mismatch())
			printf("'%s' refused: %s, at %zu\n", text, why.text, why.at);
	}
	if (!taken)
		return;
	int32_t except[12];
	if (below(3) == 0) {
		s.except.day = except;
		for (s.except.n = 0; s.except.n < ARRAY_LEN(except); s.except.n++)
			except[s.except.n] = (int32_t)local_day(l, random_time(l));
		qsort(except, s.except.n, sizeof *except, by_day);
	}
	if (below(6) == 0) {
		/* Half of the bounds are exactly at an occurrence: FROM is included, UNTIL is not. */
		int64_t from = random_time(l), on = below(2) ? model_next(&s, l, from) : INT64_MAX;
		from = on < INT64_MAX ? on : from;
		int64_t until = from + 1 + below(40 * 86400);
		on = below(2) ? model_next(&s, l, until) : INT64_MAX;
		s.from = s.rule.from = from;
		if (below(2))
			s.until = s.rule.until = on < INT64_MAX ? on : until;
	}
	bool good = compare_around_changes(&s, l, z);
	for (int i = 0; i < RANDOM_TIMES; i++) {
		int64_t t = random_time(l);
		struct wall at = { t * USEC + (below(3) ? 0 : below(1000000)) };
		int64_t end = t + below(below(2) ? 7200 : 3 * 86400);
		good = good && compare_at(&s, l, z, at) && compare_between(&s, l, t, end);
	}
}

/* --- offsets --- */

static void show_offset(const char *zone, int64_t t, int32_t want, struct zone_span got)
{
	printf("%s at %s: offset expected %d, got %d in [%lld, %lld) between %d and %d\n", zone,
	       local_show(t), want, got.offset, (long long)got.from, (long long)got.to, got.before,
	       got.after);
}

/* Checks that the span around t agrees with libc inside and on both sides, and that it begins where the span
 * before it ended. */
static void compare_span(const char *zone, struct zone_span s, int64_t t, int64_t begins)
{
	bool first = s.from == -ZONE_FOREVER, last = s.to == ZONE_FOREVER;
	compared++;
	bool good = s.from <= t && t < s.to && (begins == INT64_MIN || s.from == begins) &&
		    local_offset_of(t) == s.offset &&
		    (first ? s.before == s.offset
			   : s.before != s.offset && local_offset_of(s.from - 1) == s.before &&
				     local_offset_of(s.from) == s.offset) &&
		    (last ? s.after == s.offset
			  : s.after != s.offset && local_offset_of(s.to - 1) == s.offset &&
				     local_offset_of(s.to) == s.after);
	if (!good && mismatch())
		show_offset(zone, t, local_offset_of(t), s);
}

/* Compares the offset every 15 minutes, and every span. */
static void compare_offsets(const struct local *l, const struct zone *z)
{
	struct zone_span last = { INT64_MIN, INT64_MIN, 0, 0, 0 };
	for (int64_t t = l->from; t < l->to; t += 900) {
		struct zone_span s = zone_span(z, t);
		compared++;
		if (s.offset != local_offset(l, t) && mismatch())
			show_offset(l->zone, t, local_offset(l, t), s);
		if (s.from != last.from)
			compare_span(l->zone, s, t, last.to);
		last = s;
	}
}

/* Compares local times with instants every 15 minutes, and every minute near a clock change. */
static void compare_utc(const struct local *l, const struct zone *z)
{
	int64_t end = l->minutes - LOCAL_PAD;
	for (int64_t m = LOCAL_PAD, step; m < end; m += step) {
		step = 15;
		for (int i = 0; i < l->changes; i++)
			if (llabs((l->base + m) * 60 - l->change[i]) < 2 * 86400)
				step = 1;
		bool gap = l->first[m] < 0;
		int second = (int)(m * 7 % 60);
		int64_t local = (l->base + m) * 60 + second;
		int64_t want = gap ? local - l->before[m] : (l->base + l->first[m]) * 60 + second;
		enum zone_fit fit = gap ? ZONE_GAP : l->second[m] < 0 ? ZONE_ONCE : ZONE_TWICE, got_fit = 99;
		int64_t got = zone_utc(z, local, &got_fit);
		compared++;
		if ((got != want || got_fit != fit || zone_utc(z, local, NULL) != want) && mismatch()) {
			printf("%s local second %lld: fit expected %d, got %d\n", l->zone, (long long)local,
			       (int)fit, (int)got_fit);
			show_time("expected", want);
			show_time("got     ", got);
		}
	}
}

/* --- tests --- */

static struct zone *open_zone(const char *dir, const char *name)
{
	char path[512];
	struct zone *z = NULL;
	struct why why = { 0 };
	snprintf(path, sizeof path, "%s/%s", dir, name);
	if (zone_parse(test_tzif(path), &z, &why) && mismatch())
		printf("%s: %s\n", path, why.text);
	return z;
}

static void compare_zone(const char *name)
{
	static const int years[][2] = { { 2009, 2014 }, { 2024, 2029 }, { 2039, 2042 } };
	_cleanup_(zone_freep) struct zone *z = open_zone(ZONEINFO, name);
	if (!z)
		return report("the zone can be read");
	random_state = seed_of();
	for (const char *p = name; *p; p++)
		random_state = random_state * 31 + (unsigned char)*p;
	for (size_t i = 0; i < ARRAY_LEN(years); i++) {
		struct local l;
		local_init(&l, name, years[i][0], years[i][1]);
		compare_offsets(&l, z);
		compare_utc(&l, z);
		report("offsets and local times agree with libc");
		fixed_expressions(&l, z);
		report("the occurrences of fixed expressions agree with the model");
		for (int k = 0; k < RANDOM_EXPRS; k++)
			random_expression(&l, z);
		report("the occurrences of random expressions agree with the model");
		local_free(&l);
	}
}

#define ZONE_TEST(fn, name)                                                                                  \
	TEST(fn)                                                                                             \
	{                                                                                                    \
		compare_zone(name);                                                                          \
	}

ZONE_TEST(new_york, "America/New_York")
ZONE_TEST(berlin, "Europe/Berlin")
ZONE_TEST(lord_howe, "Australia/Lord_Howe")
ZONE_TEST(havana, "America/Havana")
ZONE_TEST(apia, "Pacific/Apia")
ZONE_TEST(casablanca, "Africa/Casablanca")
ZONE_TEST(dublin, "Europe/Dublin")
ZONE_TEST(kolkata, "Asia/Kolkata")
ZONE_TEST(chatham, "Pacific/Chatham")
ZONE_TEST(st_johns, "America/St_Johns")
ZONE_TEST(sao_paulo, "America/Sao_Paulo")
ZONE_TEST(tokyo, "Asia/Tokyo")
ZONE_TEST(utc, "UTC")

/* The system's zone files, and slim files made by zic. A slim file has fewer transitions, so the footer rule
 * decides about more times. */
static char slim[64];
static unsigned zones_seen;

static bool is_zone(const char *path, const struct stat *st, int type)
{
	const char *name = path + sizeof ZONEINFO;
	return type == FTW_F && st->st_size > 44 && strncmp(name, "right/", 6) &&
	       strncmp(name, "posix/", 6) && test_tzif(path).n > 44 &&
	       memcmp(test_tzif(path).p, "TZif", 4) == 0;
}

static int compare_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)at;
	static const int years[][2] = { { 2009, 2014 }, { 2024, 2029 }, { 2039, 2042 } };
	if (!is_zone(path, st, type))
		return 0;
	const char *name = path + sizeof ZONEINFO;
	_cleanup_(zone_freep) struct zone *z = open_zone(ZONEINFO, name);
	if (!z)
		return 0;
	zones_seen++;
	local_set_zone(name);
	for (size_t i = 0; i < ARRAY_LEN(years); i++)
		for (int64_t t = local_utc(years[i][0], 1, 1); t < local_utc(years[i][1], 1, 1);
		     t += 86400 / 3) {
			int32_t want = local_offset_of(t);
			compared++;
			if (zone_offset(z, t) != want && mismatch())
				show_offset(name, t, want, zone_span(z, t));
		}
	/* All spans, from the first one to some after the end of the table. */
	int64_t start = local_utc(1840, 1, 1), end = local_utc(2060, 1, 1);
	for (int64_t t = start; t < end; t = zone_span(z, t).to)
		compare_span(name, zone_span(z, t), t, t == start ? INT64_MIN : t);
	return 0;
}

TEST(all_zones_have_the_offsets_of_libc)
{
	zones_seen = 0;
	nftw(ZONEINFO, compare_file, 16, FTW_PHYS);
	report("offsets agree with libc");
	CHECK(zones_seen > 400);
	printf("%u zones\n", zones_seen);
}

static int compare_slim(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)at;
	if (type != FTW_F || st->st_size <= 44)
		return 0;
	const char *name = path + strlen(slim) + 1;
	_cleanup_(zone_freep) struct zone *thin = open_zone(slim, name);
	_cleanup_(zone_freep) struct zone *fat = open_zone(ZONEINFO, name);
	if (!thin || !fat)
		return 0;
	zones_seen++;
	/* The zic of glibc 2.36 leaves the changes of Gaza after 2072 out of a slim file. */
	int64_t end = local_utc(2072, 1, 1);
	for (int64_t t = local_utc(1840, 1, 1); t < end; t = zone_span(fat, t).to) {
		struct zone_span a = zone_span(fat, t), b = zone_span(thin, t);
		compared++;
		if ((a.from != b.from || a.to != b.to || a.offset != b.offset || a.before != b.before ||
		     a.after != b.after) &&
		    mismatch()) {
			show_offset(name, t, a.offset, b);
			printf("\tthe system's file: [%lld, %lld)\n", (long long)a.from, (long long)a.to);
		}
	}
	return 0;
}

static int remove_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

extern char **environ;

TEST(slim_files_give_the_same_spans)
{
	snprintf(slim, sizeof slim, "/tmp/rota-slim-XXXXXX");
	if (!CHECK(mkdtemp(slim) != NULL))
		return;
	const char *zic[] = { "zic", "-b", "slim", "-d", slim, ZONEINFO "/tzdata.zi", NULL };
	int status = -1;
	pid_t pid;
	/* On Debian, zic is in a directory that only root's PATH contains. */
	int failed = posix_spawnp(&pid, "zic", NULL, NULL, (char *const *)zic, environ);
	if (failed)
		failed = posix_spawn(&pid, "/usr/sbin/zic", NULL, NULL, (char *const *)zic, environ);
	if (CHECK(!failed) && CHECK(waitpid(pid, &status, 0) == pid && status == 0)) {
		zones_seen = 0;
		local_set_zone("UTC");
		nftw(slim, compare_slim, 16, FTW_PHYS);
		report("slim files have the same spans as the system's files");
		CHECK(zones_seen > 300);
		printf("%u zones\n", zones_seen);
	}
	nftw(slim, remove_file, 16, FTW_DEPTH | FTW_PHYS);
	printf("%llu comparisons in all\n", compared);
}
