/* Org files: reading a plan of 1 MB, and reading one with 10,000 headlines and its agenda, each beside a
 * plain scan of its lines. The same files are read by Emacs (org.el), which must print the same counts and
 * sums.
 *
 * usage: bench_org DIRECTORY      writes DIRECTORY/plan.org and DIRECTORY/agenda.org, prints "name value"
 * lines */
#include "core/org/row.h"
#include "core/plan/agenda.h"

#include <assert.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 30 };

static double now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* the machine may have other work */
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Tasks of all kinds that an agenda distinguishes: with and without times, claimed, ordered, with
 * dependencies. */
static void add_task(struct buf *out, unsigned i)
{
	static const char *const states[] = { "TODO", "NEXT", "DONE", "WAITING", "DOING", "TODO", "TODO" };
	const char *state = states[i % 7];
	buf_addf(out, "%s %s [#%c] Task number %u of the plan  :tag%u:work:\n", i % 10 ? "**" : "*", state,
		 'A' + (char)(i % 3), i, i % 7);
	if (i % 2)
		buf_addf(out, "SCHEDULED: <20%02u-%02u-%02u Mon 09:00 +%uw> DEADLINE: <202%u-01-%02u>\n",
			 20 + i % 8, 1 + i % 12, 1 + i % 28, 1 + i % 4, 6 + i / 2 % 2, 1 + i % 28);
	bool claimed = i % 7 == 4;
	if (i % 3 == 0 || claimed) {
		buf_addf(out, ":PROPERTIES:\n:ID:       task-%u\n:Effort:   1:00\n", i);
		if (claimed)
			buf_addf(out, ":AGENT:    wren\n:CLAIMED:  [2026-11-%02u Mon 10:00]\n", 1 + i % 18);
		if (i % 30 == 0)
			buf_add(out, STR(":ORDERED:  t\n"));
		if (i % 9 == 0 && i > 9)
			buf_addf(out, ":DEPENDS:  task-%u, Task number %u of the plan\n", i - 9, i - 7);
		buf_add(out, STR(":END:\n"));
	}
	buf_add(out,
		STR("Some text about the task, as people write it: a line or two.\n- a list\n- of things\n"));
	if (i % 11 == 0)
		buf_add(out, STR("#+begin_src sh\necho hello\n#+end_src\n"));
}

static void save(const char *directory, const char *name, struct str text)
{
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", directory, name);
	FILE *f = fopen(path, "w");
	if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f)) {
		perror(path);
		exit(1);
	}
}

/* The peer: finds the lines, and looks at the first byte of each. */
static unsigned scan_lines(struct str text)
{
	unsigned stars = 0;
	for (const char *p = text.p, *end = text.p + text.n; p < end;) {
		const char *next = memchr(p, '\n', (size_t)(end - p));
		stars += *p == '*';
		p = next ? next + 1 : end;
	}
	return stars;
}

static double best_scan(struct str text, unsigned *stars)
{
	double best = 1e18;
	for (unsigned i = 0; i < ROUNDS; i++) {
		double start = now_us();
		*stars = scan_lines(text);
		double took = now_us() - start;
		best = took < best ? took : best;
	}
	return best;
}

/* What was read in the last round. */
struct reading {
	struct arena arena;
	struct agenda_plan plan;
	struct agenda agenda;
};

/* The best of several rounds, with or without the agenda. */
static double best_read(struct str text, bool with_agenda, struct reading *r)
{
	double best = 1e18;
	struct zone *utc;
	enum err e = zone_fixed(0, &utc);
	assert(e == OK);
	for (unsigned i = 0; i < ROUNDS; i++) {
		arena_free(&r->arena);
		*r = (struct reading){ .plan.file = STR("plan.org") };
		const struct agenda_query q = {
			.plan = &r->plan, .plans = 1, .zone = utc, .now = 1794990000, .stale_after = 86400
		};
		double start = now_us();
		e = org_read(text, &r->arena, &r->plan.org, NULL);
		if (!e && with_agenda)
			e = agenda_read(&q, &r->arena, &r->agenda);
		double took = now_us() - start;
		assert(e == OK);
		best = took < best ? took : best;
	}
	zone_free(utc);
	return best;
}

/* The number of headlines, and a sum of their places that depends on their order. */
static void print_list(const char *name, const char *list, const struct org *o,
		       const struct agenda_item *item, unsigned n)
{
	uint64_t sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum = (sum + (i + UINT64_C(1)) * o->head[item ? item[i].head : i].at) % 1000000007;
	printf("%s_%s_count %u\n%s_%s_sum %llu\n", name, list, n, name, list, (unsigned long long)sum);
}

static void measure(const char *directory, const char *name, struct str text, bool with_agenda)
{
	char file[64];
	unsigned stars;
	struct reading r = { 0 };
	snprintf(file, sizeof file, "%s.org", name);
	save(directory, file, text);
	double scan = best_scan(text, &stars), ours = best_read(text, with_agenda, &r);
	assert(stars == r.plan.org.heads);
	printf("%s_us %.1f\n%s_scan_us %.1f\n%s_bytes %zu\n", name, ours, name, scan, name, text.n);
	if (!with_agenda)
		print_list(name, "headlines", &r.plan.org, NULL, r.plan.org.heads);
	for (unsigned i = 0; i < AGENDA_LISTS && with_agenda; i++)
		print_list(name, agenda_list_words[i], &r.plan.org, r.agenda.item[i], r.agenda.n[i]);
	arena_free(&r.arena);
}

int main(int argc, char **argv)
{
	struct buf plan = { 0 }, agenda = { 0 };
	if (argc != 2)
		return 2;
	/* Freed memory stays in the process, as it does in Emacs: both are measured warm. */
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	for (unsigned i = 0; plan.n < 1000000; i++)
		add_task(&plan, i);
	for (unsigned i = 0; i < 10000; i++)
		add_task(&agenda, i);
	measure(argv[1], "plan", buf_str(&plan), false);
	measure(argv[1], "agenda", buf_str(&agenda), true);
	buf_free(&plan);
	buf_free(&agenda);
	return 0;
}
