/* sim: the simulator's front. */
#include "coverage.h"
#include "crash_points.h"
#include "history.h"
#include "planted.h"
#include "scenario.h"
#include "volume.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"usage: sim [WHAT...] [-v]\n"
	"Without WHAT: a bit of everything, in about a minute.\n"
	"  --scenario NAME   the named scenarios that begin so ('' for all)\n"
	"  --seeds N         so many histories, from --seed S on\n"
	"  --seed S          one history\n"
	"  --days D          of simulated time for each, instead of its climate's\n"
	"  --climate K       for each, instead of the seed's\n"
	"  --calls N         a crash at every Nth port call of a small workload (1: all)\n"
	"  --call K          a crash at port call K of it\n"
	"  --occurrences     thirty days, 1,245,000 occurrences, without faults and with crashes\n"
	"  --planted         the bugs planted on purpose are all found\n"
	"  --long            all of it, at length, and the table of what was tried\n"
	"  -v                tell what happens\n";

struct options {
	const char *scenario;
	uint64_t seeds, seed, call;
	unsigned days, calls;
	int climate;
	bool one, occurrences, planted, full, verbose;
};

struct score {
	unsigned passed, failed;
};

static void note(struct score *s, bool ok)
{
	*(ok ? &s->passed : &s->failed) += 1;
}

static void run_scenarios(const char *prefix, bool verbose, struct score *score)
{
	for (const struct scenario *s = scenario_first(); s; s = s->next) {
		if (strncmp(s->name, prefix, strlen(prefix)) != 0)
			continue;
		bool ok = scenario_run(s, verbose);
		if (!ok)
			printf("FAILED scenario %s\n", s->name);
		note(score, ok);
	}
}

static void run_history(const struct options *o, uint64_t seed, struct coverage *cover, struct score *score)
{
	struct history_options h = {
		.seed = seed, .days = o->days, .profile = o->climate, .verbose = o->verbose, .coverage = cover
	};
	struct history_result r = history_run(&h);
	bool ok = r.failures == 0;
	/* Now and then: the same seed is the same history. */
	if (ok && seed % 16 == 0 && !o->verbose) {
		h.coverage = NULL;
		ok = history_run(&h).hash == r.hash;
		if (!ok)
			printf("seed %llu gave two histories\n", (unsigned long long)seed);
	}
	if (!ok || o->one)
		printf("%s seed %llu (%s): %u findings; %llu steps, %llu digests compared, %llu nominal "
		       "times, %llu runs, "
		       "%llu missed, hash %016llx\n",
		       ok ? "ok" : "FAILED", (unsigned long long)seed, r.profile, r.failures,
		       (unsigned long long)r.steps, (unsigned long long)r.digests,
		       (unsigned long long)r.tally.due, (unsigned long long)r.tally.runs,
		       (unsigned long long)r.tally.missed, (unsigned long long)r.hash);
	note(score, ok);
}

static void run_calls(unsigned stride, unsigned offset, struct coverage *cover, struct score *score)
{
	struct crash_points_result r = crash_points_run(
		&(struct crash_points_options){ .stride = stride, .offset = offset, .coverage = cover });
	printf("crashes at %llu of %llu port calls: %llu failed\n", (unsigned long long)r.histories,
	       (unsigned long long)r.calls, (unsigned long long)r.failed);
	note(score, r.failed == 0);
}

static void run_volume(unsigned days, bool crashes, struct score *score)
{
	struct volume_result r = volume_run(1, days, crashes);
	const struct tally *t = &r.tally;
	volume_print(&r, crashes);
	bool ok = r.failures == 0 && t->lost == 0 && t->twice == 0 && t->on_time == t->healthy;
	if (!crashes)
		ok = ok && t->on_time == t->due && t->missed == 0;
	if (!days)
		ok = ok && t->due == 1245000;
	note(score, ok);
}

static void run_planted(struct score *score)
{
	for (unsigned i = 0; i < planted_count; i++) {
		unsigned n = planted_find(&planted[i]);
		if (n)
			printf("found %s, %s, in history %u\n", planted[i].bug.rule, planted[i].bug.name, n);
		else
			printf("NOT FOUND %s, %s\n", planted[i].bug.rule, planted[i].bug.name);
		note(score, n != 0);
	}
}

static bool parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *a = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
		if (!strcmp(a, "-v")) {
			o->verbose = true;
		} else if (!strcmp(a, "--occurrences")) {
			o->occurrences = true;
		} else if (!strcmp(a, "--planted")) {
			o->planted = true;
		} else if (!strcmp(a, "--long")) {
			o->full = true;
		} else if (!value) {
			return false;
		} else if (!strcmp(a, "--scenario")) {
			o->scenario = value, i++;
		} else if (!strcmp(a, "--seeds")) {
			o->seeds = strtoull(value, NULL, 10), i++;
		} else if (!strcmp(a, "--seed")) {
			o->seed = strtoull(value, NULL, 10), o->one = true, i++;
		} else if (!strcmp(a, "--days")) {
			o->days = (unsigned)strtoul(value, NULL, 10), i++;
		} else if (!strcmp(a, "--climate")) {
			o->climate = (int)strtol(value, NULL, 10), i++;
		} else if (!strcmp(a, "--calls")) {
			o->calls = (unsigned)strtoul(value, NULL, 10), i++;
		} else if (!strcmp(a, "--call")) {
			o->call = strtoull(value, NULL, 10), i++;
		} else {
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	struct options o = { .climate = -1 };
	struct score score = { 0 };
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	bool all = !o.scenario && !o.seeds && !o.one && !o.calls && !o.call && !o.occurrences && !o.planted;
	struct coverage *cover = o.full ? coverage_new() : NULL;
	if (o.scenario || all)
		run_scenarios(o.scenario ? o.scenario : "", o.verbose, &score);
	if (o.call) {
		struct crash_points_result r = crash_points_run(
			&(struct crash_points_options){ .only = o.call, .verbose = o.verbose });
		note(&score, r.failed == 0);
	}
	if (o.calls || all)
		run_calls(o.calls ? o.calls : o.full ? 1 : 11, 0, cover, &score);
	uint64_t seeds = o.seeds ? o.seeds : o.one ? 1 : !all ? 0 : o.full ? 3000 : 220;
	/* At length: on until everything that can befall anything has, within reason. */
	for (uint64_t s = o.seed, end = s + seeds, most = s + 4 * seeds;
	     s < end || (cover && s < most && !coverage_is_complete(cover)); s++)
		run_history(&o, s, cover, &score);
	if (o.planted || all)
		run_planted(&score);
	if (o.occurrences || all) {
		unsigned days = o.occurrences || o.full ? o.days : 2;
		run_volume(days, false, &score);
		run_volume(days, true, &score);
	}
	if (cover) {
		note(&score, coverage_print(cover) == 0);
		coverage_free(cover);
	}
	printf("%u passed, %u failed\n", score.passed, score.failed);
	return score.failed > 0;
}
