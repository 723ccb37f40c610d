/* Org files: reading a plan of 1 MB, and the agenda of one with 10,000 headlines, each beside a plain scan of
 * its lines. The same files are read by Emacs (org.el), which prints the same counts.
 *
 * usage: bench_org DIRECTORY      writes DIRECTORY/plan.org and DIRECTORY/agenda.org, prints "name value"
 * lines */
#include "core/org/row.h"
#include "core/plan/agenda.h"

#include <assert.h>
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

static void add_task(struct buf *out, unsigned i)
{
	static const char *const states[] = { "TODO", "NEXT", "DONE", "WAITING", "TODO" };
	buf_addf(out, "%s %s [#%c] Task number %u of the plan  :tag%u:work:\n", i % 10 ? "**" : "*",
		 states[i % 5], 'A' + (char)(i % 3), i, i % 7);
	if (i % 2)
		buf_addf(out, "SCHEDULED: <20%02u-%02u-%02u Mon 09:00 +%uw> DEADLINE: <2027-01-%02u>\n",
			 20 + i % 8, 1 + i % 12, 1 + i % 28, 1 + i % 4, 1 + i % 28);
	if (i % 3 == 0)
		buf_addf(out, ":PROPERTIES:\n:ID:       task-%u\n:Effort:   1:00\n:END:\n", i);
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

/* The best of several rounds, with or without the agenda; *n is what Emacs must count, too. */
static double best_read(struct str text, bool with_agenda, unsigned *n)
{
	double best = 1e18;
	struct zone *utc;
	enum err e = zone_fixed(0, &utc);
	assert(e == OK);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct arena a = { 0 };
		struct agenda_plan plan = { .file = STR("plan.org") };
		struct agenda agenda = { 0 };
		double start = now_us();
		e = org_read(text, &a, &plan.org, NULL);
		const struct agenda_query q = {
			.plan = &plan, .plans = 1, .zone = utc, .now = 1794990000, .stale_after = 1
		};
		if (!e && with_agenda)
			e = agenda_read(&q, &a, &agenda);
		double took = now_us() - start;
		assert(e == OK);
		best = took < best ? took : best;
		*n = with_agenda ? agenda.n[AGENDA_DUE] : plan.org.heads;
		arena_free(&a);
	}
	zone_free(utc);
	return best;
}

static void measure(const char *directory, const char *name, struct str text, bool with_agenda)
{
	char file[64];
	unsigned n, stars;
	snprintf(file, sizeof file, "%s.org", name);
	save(directory, file, text);
	double scan = best_scan(text, &stars), ours = best_read(text, with_agenda, &n);
	printf("%s_us %.1f\n%s_scan_us %.1f\n%s_count %u\n%s_bytes %zu\n", name, ours, name, scan, name, n,
	       name, text.n);
}

int main(int argc, char **argv)
{
	struct buf plan = { 0 }, agenda = { 0 };
	if (argc != 2)
		return 2;
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
