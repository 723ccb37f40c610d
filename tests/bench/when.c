/* The `when` benchmark. Prints "name value" lines for tests/bench/run, which adds the peers in other
 * programs.
 *
 *   bench_when figures     next, parse and memory; exit 1 if rota and the peer disagree on any answer
 *   bench_when questions   the expressions and instants as JSON, for the peers in JavaScript
 *   bench_when copy FILE   the peer of `rota next --batch`: reads and writes as many lines
 */
#include "bare_cron.h"
#include "core/when/cron.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	INSTANTS = 2048,
	ROUNDS = 15,
	ZONES = 100,
	PARSE_REPEAT = 500,
};

#define ZONEINFO  "/usr/share/zoneinfo/"
#define ALL_60    ((UINT64_C(1) << 60) - 1)
#define ALL_HOURS 0xFFFFFFu
#define ALL_DAYS  0xFFFFFFFEu
#define ALL_MONTH 0x1FFEu
#define ALL_WEEK  0x7Fu
#define BIT(n)    (UINT64_C(1) << (n))
/* An expression of the peer. Without further members it matches every day, at full minutes. */
#define BARE(...)                                                                                            \
	{                                                                                                    \
		.second = 1, .minute = 1, .mday = ALL_DAYS, .month = ALL_MONTH, .wday = ALL_WEEK,            \
		__VA_ARGS__                                                                                  \
	}

#pragma GCC diagnostic ignored "-Woverride-init"
static const struct {
	const char *text;
	struct bare bare;
} list[] = {
	{ "0 9 * * *", BARE(.hour = BIT(9)) },
	{ "30 8 * * 1-5", BARE(.minute = BIT(30), .hour = BIT(8), .wday = 0x3E) },
	{ "*/5 * * * *", BARE(.minute = 0x0084210842108421, .hour = ALL_HOURS) },
	{ "30 2 * * *", BARE(.minute = BIT(30), .hour = BIT(2)) },
	{ "*/20 1,2 * * *", BARE(.minute = BIT(0) | BIT(20) | BIT(40), .hour = BIT(1) | BIT(2)) },
	{ "*/15 22-2 * * FRI-MON",
	  BARE(.minute = BIT(0) | BIT(15) | BIT(30) | BIT(45), .hour = 0xC00007, .wday = 0x63) },
	{ "0 0 29 2 *", BARE(.hour = 1, .mday = BIT(29), .month = BIT(2)) },
	{ "0 18 L * *", BARE(.hour = BIT(18), .mday = 0, .last = 1) },
	{ "0 9 15W * *", BARE(.hour = BIT(9), .mday = 0, .near = 15) },
	{ "0 17 LW * *", BARE(.hour = BIT(17), .mday = 0, .last_near = 1) },
	{ "0 10 * * MON#1", BARE(.hour = BIT(10), .wday = 0, .wday_first = BIT(1)) },
	{ "0 6 * * FRIL", BARE(.hour = BIT(6), .wday = 0, .wday_last = BIT(5)) },
	{ "0 12 1,15 * FRI", BARE(.hour = BIT(12), .mday = BIT(1) | BIT(15), .wday = BIT(5), .either = 1) },
	{ "*/10 * 9-17 * * *", BARE(.second = BIT(0) | BIT(10) | BIT(20) | BIT(30) | BIT(40) | BIT(50),
				    .minute = ALL_60, .hour = 0x3FE00) },
};
enum { LIST = sizeof list / sizeof *list };

static struct cron compiled[LIST];
static int64_t instants[INSTANTS];
static struct zone *zone;
static struct bare_zone bare_zone;

/* --- setting up --- */

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_when: %s: %s\n", what, why);
	exit(1);
}

static struct str read_zone(const char *name)
{
	static char bytes[TZIF_BYTES_MAX];
	char path[256];
	snprintf(path, sizeof path, ZONEINFO "%s", name);
	FILE *f = fopen(path, "rb");
	if (!f)
		die(path, "cannot be opened");
	size_t n = fread(bytes, 1, sizeof bytes, f);
	fclose(f);
	return (struct str){ bytes, n };
}

static uint64_t random_number(uint64_t *state)
{
	uint64_t x = *state += 0x9E3779B97F4A7C15;
	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
	x = (x ^ x >> 27) * 0x94D049BB133111EB;
	return x ^ x >> 31;
}

/* Of four instants, three are anywhere in ten years, and one is within two days of a clock change. */
static void make_instants(void)
{
	const int64_t from = 1577836800, to = 1893456000; /* 2020, 2030 */
	uint64_t seed = 1;
	for (unsigned i = 0; i < INSTANTS; i++) {
		int64_t t = from + (int64_t)(random_number(&seed) % (uint64_t)(to - from));
		if (i % 4 == 0)
			t = zone_span(zone, t).to - (int64_t)(random_number(&seed) % 345600) + 172800;
		instants[i] = t;
	}
}

static void set_up(void)
{
	struct why why = { 0 };
	struct str tzif = read_zone("America/New_York");
	if (zone_parse(tzif, &zone, &why))
		die("America/New_York", why.text);
	bare_zone_read(&bare_zone, (const unsigned char *)tzif.p, tzif.n);
	for (unsigned i = 0; i < LIST; i++)
		if (cron_parse(str_of(list[i].text), STR(""), &compiled[i], &why))
			die(list[i].text, why.text);
	make_instants();
}

static void check_answers(void)
{
	for (unsigned j = 0; j < INSTANTS; j++)
		for (unsigned i = 0; i < LIST; i++) {
			int64_t ours = 0, bare = bare_next(&list[i].bare, &bare_zone, instants[j]);
			if (cron_next(&compiled[i], zone, instants[j], &ours) || ours != bare) {
				fprintf(stderr,
					"bench_when: '%s' after %lld: rota says %lld, the bare walk %lld\n",
					list[i].text, (long long)instants[j], (long long)ours,
					(long long)bare);
				exit(1);
			}
		}
}

/* --- measuring --- */

static volatile int64_t sink; /* uses the answers, so that the calls are not optimized away */

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Disturbances only make a measurement longer, so the shortest one is the most precise. */
static double shortest(const double *v, unsigned n)
{
	double best = v[0];
	for (unsigned i = 1; i < n; i++)
		best = v[i] < best ? v[i] : best;
	return best;
}

static void next_ours(void)
{
	int64_t sum = 0, t = 0;
	for (unsigned j = 0; j < INSTANTS; j++)
		for (unsigned i = 0; i < LIST; i++) {
			if (cron_next(&compiled[i], zone, instants[j], &t) == OK)
				sum += t;
		}
	sink = sum;
}

static void next_bare(void)
{
	int64_t sum = 0;
	for (unsigned j = 0; j < INSTANTS; j++)
		for (unsigned i = 0; i < LIST; i++)
			sum += bare_next(&list[i].bare, &bare_zone, instants[j]);
	sink = sum;
}

static void parse_ours(void)
{
	int64_t sum = 0;
	struct cron c;
	for (unsigned j = 0; j < PARSE_REPEAT; j++)
		for (unsigned i = 0; i < LIST; i++)
			if (cron_parse(str_of(list[i].text), STR(""), &c, NULL) == OK)
				sum += c.hour;
	sink = sum;
}

static void parse_bare(void)
{
	int64_t sum = 0;
	for (unsigned j = 0; j < PARSE_REPEAT; j++)
		for (unsigned i = 0; i < LIST; i++)
			sum += (int64_t)bare_scan(list[i].text);
	sink = sum;
}

static double time_of(void (*work)(void), unsigned calls)
{
	double start = now_ns();
	work();
	return (now_ns() - start) / calls;
}

/* Measures rota and the peer alternately, so that a slow moment of the machine affects both. */
static void compare(const char *name, void (*ours)(void), void (*peer)(void), unsigned calls)
{
	double a[ROUNDS], b[ROUNDS];
	ours();
	peer();
	for (unsigned i = 0; i < ROUNDS; i++) {
		a[i] = time_of(ours, calls);
		b[i] = time_of(peer, calls);
	}
	printf("%s_ours %.1f\n%s_peer %.1f\n", name, shortest(a, ROUNDS), name, shortest(b, ROUNDS));
}

/* ROTA_BENCH_DETAIL=1: the time of each expression. */
static void print_detail(void)
{
	for (unsigned i = 0; i < LIST; i++) {
		double a[ROUNDS], b[ROUNDS];
		int64_t sum = 0, t = 0;
		for (unsigned r = 0; r < ROUNDS; r++) {
			double start = now_ns();
			for (unsigned j = 0; j < INSTANTS; j++)
				if (cron_next(&compiled[i], zone, instants[j], &t) == OK)
					sum += t;
			a[r] = (now_ns() - start) / INSTANTS;
			start = now_ns();
			for (unsigned j = 0; j < INSTANTS; j++)
				sum += bare_next(&list[i].bare, &bare_zone, instants[j]);
			b[r] = (now_ns() - start) / INSTANTS;
		}
		sink = sum;
		fprintf(stderr, "%-24s %6.1f ns, bare %6.1f ns\n", list[i].text, shortest(a, ROUNDS),
			shortest(b, ROUNDS));
	}
}

/* The first hundred zones of the system's own list, in memory and on disk. */
static void measure_zones(void)
{
	FILE *f = fopen(ZONEINFO "zone1970.tab", "r");
	if (!f)
		die(ZONEINFO "zone1970.tab", "cannot be opened");
	char line[512], name[64];
	unsigned n = 0;
	size_t held = 0, files = 0;
	while (n < ZONES && fgets(line, sizeof line, f)) {
		if (line[0] == '#' || sscanf(line, "%*s %*s %63s", name) != 1)
			continue;
		struct str tzif = read_zone(name);
		struct why why = { 0 };
		struct zone *z;
		if (zone_parse(tzif, &z, &why))
			die(name, why.text);
		held += zone_size(z);
		files += tzif.n;
		zone_free(z);
		n++;
	}
	fclose(f);
	printf("zones %u\nzones_ours %zu\nzones_peer %zu\n", n, held, files);
}

static void print_figures(void)
{
	check_answers();
	compare("next", next_ours, next_bare, INSTANTS * LIST);
	compare("parse", parse_ours, parse_bare, PARSE_REPEAT * LIST);
	printf("cron_ours %zu\ncron_peer %zu\n", sizeof(struct cron), sizeof(struct bare));
	measure_zones();
	if (getenv("ROTA_BENCH_DETAIL"))
		print_detail();
}

static void print_questions(void)
{
	printf("{\"zone\":\"America/New_York\",\"exprs\":[");
	for (unsigned i = 0; i < LIST; i++)
		printf("%s\"%s\"", i ? "," : "", list[i].text);
	printf("],\"instants\":[");
	for (unsigned j = 0; j < INSTANTS; j++)
		printf("%s%lld", j ? "," : "", (long long)instants[j]);
	printf("]}\n");
}

static void copy_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	if (!f)
		die(path, "cannot be opened");
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, f) > 0)
		puts("{\"next\":[\"2026-11-16T14:00:00Z\"]}");
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "copy") == 0) {
		copy_lines(argv[2]);
		return 0;
	}
	set_up();
	if (argc == 2 && strcmp(argv[1], "figures") == 0)
		print_figures();
	else if (argc == 2 && strcmp(argv[1], "questions") == 0)
		print_questions();
	else
		die("usage", "bench_when figures | questions | copy FILE");
	zone_free(zone);
	return 0;
}
