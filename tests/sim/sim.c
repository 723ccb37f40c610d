/* sim: the command line of the simulator. */
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
	"Without WHAT: a short version of everything, in about a minute.\n"
	"  --scenario NAME   the scenarios whose name begins with NAME ('' for all)\n"
	"  --seeds N         N random histories, beginning with --seed S\n"
	"  --seed S          one random history\n"
	"  --days D          length of each, instead of the profile's\n"
	"  --profile K       profile of each, instead of the seed's\n"
	"  --calls N         a crash at every Nth port call of a small workload (1: all)\n"
	"  --call K          a crash at port call K of it\n"
	"  --occurrences     thirty days with 1,245,000 occurrences, without faults and with crashes\n"
	"  --planted         look for the planted bugs, all of which must be found\n"
	"  --long            everything in full length, and the table of coverage\n"
	"  -v                print what happens\n";

struct options {
	const char *scenario;
	uint64_t seeds, seed, call;
	unsigned days, calls;
	int profile;
	bool one, occurrences, planted, full, verbose;
};

struct score {
	unsigned passed, failed;
};

static void count_result(struct score *s, bool ok)
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
		count_result(score, ok);
	}
}

static void run_history(const struct options *o, uint64_t seed, struct coverage *coverage,
			struct score *score)
{
	struct history_options h = { .seed = seed,
				     .days = o->days,
				     .profile = o->profile,
				     .verbose = o->verbose,
				     .coverage = coverage };
	struct history_result r = history_run(&h);
	bool ok = r.failures == 0;
	/* Now and then, check that the same seed gives the same history. */
	if (ok && seed % 16 == 0 && !o->verbose) {
		h.coverage = NULL;
		ok = history_run(&h).hash == r.hash;
		if (!ok)
			printf("seed %llu gave two different histories\n", (unsigned long long)seed);
	}
	if (!ok || o->one)
		printf("%s seed %llu (%s): %u findings; %llu steps, %llu digests compared, %llu nominal "
		       "times, %llu runs, "
		       "%llu missed, hash %016llx\n",
		       ok ? "ok" : "FAILED", (unsigned long long)seed, r.profile, r.failures,
		       (unsigned long long)r.steps, (unsigned long long)r.digests,
		       (unsigned long long)r.tally.due, (unsigned long long)r.tally.runs,
		       (unsigned long long)r.tally.missed, (unsigned long long)r.hash);
	count_result(score, ok);
}

static void run_calls(unsigned stride, unsigned offset, struct coverage *coverage, struct score *score)
{
	struct crash_points_result r = crash_points_run(
		&(struct crash_points_options){ .stride = stride, .offset = offset, .coverage = coverage });
	printf("crashes at %llu of %llu port calls: %llu failed\n", (unsigned long long)r.histories,
	       (unsigned long long)r.calls, (unsigned long long)r.failed);
	count_result(score, r.failed == 0);
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
	count_result(score, ok);
}

static void run_planted(struct score *score)
{
	for (unsigned i = 0; i < planted_count; i++) {
		unsigned n = planted_find(&planted[i]);
		if (n)
			printf("found %s, %s, in history %u\n", planted[i].bug.rule, planted[i].bug.name, n);
		else
			printf("NOT FOUND %s, %s\n", planted[i].bug.rule, planted[i].bug.name);
		count_result(score, n != 0);
	}
}

static bool parse_options(int argc, char **argv, struct options *o)
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
		} else if (!strcmp(a, "--profile")) {
			o->profile = (int)strtol(value, NULL, 10), i++;
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
	struct options o = { .profile = -1 };
	struct score score = { 0 };
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse_options(argc, argv, &o)) {
		fputs(usage, stderr);
		return 2;
	}
	bool all = !o.scenario && !o.seeds && !o.one && !o.calls && !o.call && !o.occurrences && !o.planted;
	struct coverage *coverage = o.full ? coverage_new() : NULL;
	if (o.scenario || all)
		run_scenarios(o.scenario ? o.scenario : "", o.verbose, &score);
	if (o.call) {
		struct crash_points_result r = crash_points_run(
			&(struct crash_points_options){ .only = o.call, .verbose = o.verbose });
		count_result(&score, r.failed == 0);
	}
	if (o.calls || all)
		run_calls(o.calls ? o.calls : o.full ? 1 : 11, 0, coverage, &score);
	uint64_t seeds = o.seeds ? o.seeds : o.one ? 1 : !all ? 0 : o.full ? 3000 : 220;
	/* With --long, more seeds are run until the table of coverage is complete, but at most four times as
	 * many. */
	for (uint64_t s = o.seed, end = s + seeds, most = s + 4 * seeds;
	     s < end || (coverage && s < most && !coverage_is_complete(coverage)); s++)
		run_history(&o, s, coverage, &score);
	if (o.planted || all)
		run_planted(&score);
	if (o.occurrences || all) {
		unsigned days = o.occurrences || o.full ? o.days : 2;
		run_volume(days, false, &score);
		run_volume(days, true, &score);
	}
	if (coverage) {
		count_result(&score, coverage_print(coverage) == 0);
		coverage_free(coverage);
	}
	printf("%u passed, %u failed\n", score.passed, score.failed);
	return score.failed > 0;
}
