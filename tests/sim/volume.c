/* The workload of 1,245,000 occurrences. */
#include "volume.h"

#include "spec.h"

#include <stdio.h>
#include <time.h>

enum { HALF_HOURLY = 800, EVERY_HOUR = 120, DAILY = 220, SCHEDULES = HALF_HOURLY + EVERY_HOUR + DAILY };
/* 800 * 1440 + 120 * 720 + 220 * 30 = 1,245,000 */

struct volume {
	bool crashes;
	unsigned crashed;
};

static struct process_plan plan_process(struct world *w, const struct rn_req *q)
{
	(void)q;
	return (struct process_plan){ .lasts = world_between(w, (struct span){ SECONDS(1), MINUTES(5) }),
				      .outcome = OUTCOME_DONE,
				      .kill_takes = SECONDS(1) };
}

static bool answer_precondition(struct world *w, const struct rn_req *q, uint16_t *reason)
{
	(void)w, (void)q, (void)reason;
	return true;
}

/* A crash every few hours while requests are under way; the daemon is down for up to three hours. */
static void schedule_crash(struct world *w, uint64_t a, uint64_t b)
{
	(void)a, (void)b;
	struct volume *v = w->workload->self;
	if (w->draining)
		return;
	w->crash_machine = world_chance(w, 20);
	w->down_for = world_between(w, (struct span){ 10000, world_chance(w, 50) ? MINUTES(1) : HOURS(3) });
	w->crash_at = w->calls + 1 + world_random(w, 3000);
	v->crashed++;
	world_add_incident(w, world_between(w, (struct span){ HOURS(2), HOURS(10) }), 0, 0);
}

/* The i-th schedule. Each schedule has 30 * 24 hours of nominal times in any zone, because times that a clock
 * change would move across the end are not used. */
static struct spec nth_spec(unsigned i, int64_t until)
{
	static char text[SCHEDULES][32];
	static const uint8_t missed[] = { MISSED_EXECUTE_IMMEDIATELY, MISSED_SKIP, MISSED_EXECUTE_NEXT,
					  MISSED_CATCH_UP };
	struct spec s = { .cron = text[i], .until = until };
	s.policy.missed = missed[i % 4];
	s.policy.catch_up_limit = 5;
	s.policy.overlap = (uint8_t)(i % 7 ? OVERLAP_SKIP : OVERLAP_QUEUE_ALL);
	s.policy.action = ACTION_EVENT;
	if (i < HALF_HOURLY) {
		/* One schedule in eight is due at the full and half hour. */
		unsigned m = i % 8 ? i * 7 % 30 : 0;
		snprintf(text[i], sizeof text[i], "%u,%u * * * *", m, m + 30);
	} else if (i < HALF_HOURLY + EVERY_HOUR) {
		snprintf(text[i], sizeof text[i], "%u * * * *", i * 7 % 60);
		s.policy.action = i % 6 ? ACTION_EVENT : ACTION_RUN;
	} else {
		snprintf(text[i], sizeof text[i], "%u %u * * *", i * 7 % 60, 4 + i % 12);
		s.policy.zone = (uint16_t)(i % WORLD_ZONES);
		s.policy.action = ACTION_RUN;
	}
	return s;
}

struct volume_result volume_run(uint64_t seed, unsigned days, bool crashes)
{
	struct volume v = { .crashes = crashes };
	const struct workload workload = { plan_process, answer_precondition, schedule_crash, &v };
	struct wall start = wall_of(seconds_of(2026, 3, 5, 0, 0, 0));
	clock_t began = clock();
	struct world w;
	world_open(&w, &(struct world_options){ .seed = seed,
						.start = { start.us - SECONDS(30) },
						.slots = 64,
						.catch_up_per_second = 50,
						.timing = { .commit = { 500, 4000 },
							    .answer = { 100, 2000 },
							    .launch = { 500, 5000 },
							    .report = { 100, 5000 },
							    .ask = { 1000, 5000 },
							    .wake = { 0, 1000 },
							    .orphan_percent = 30,
							    .unseen_percent = 50 },
						.workload = &workload });
	if (!days)
		days = 30;
	bool ok = true;
	for (unsigned i = 0; i < SCHEDULES && ok; i++) {
		/* The last nominal time is just before the end of the days. */
		struct spec s = nth_spec(i, wall_seconds(start) + days * DAY);
		world_command(&w, spec_command(&s, 0));
		if (i % 50 == 0)
			ok = world_run(&w, w.t + 10000);
	}
	if (crashes)
		world_add_incident(&w, HOURS(1), 0, 0);
	ok = ok && world_run(&w, SECONDS(30) + DAYS(days));
	struct volume_result r = { .crashes = v.crashed };
	if (ok && world_drain(&w, DAYS(2))) {
		world_compare(&w);
		r.tally = check_account(w.check);
	}
	r.failures = check_failures(w.check);
	r.steps = w.steps;
	r.runs = w.files;
	world_close(&w);
	r.seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
	return r;
}

static double percent(uint64_t n, uint64_t of)
{
	return of ? 100.0 * (double)n / (double)of : 0;
}

void volume_print(const struct volume_result *r, bool crashes)
{
	const struct tally *t = &r->tally;
	printf("occurrences %llu (%llu with a process), %u crashes, %llu steps, %.1f s\n",
	       (unsigned long long)t->due, (unsigned long long)r->runs, r->crashes,
	       (unsigned long long)r->steps, r->seconds);
	if (crashes)
		printf("  lost %llu, twice %llu; due while up %llu, of them on time %.4f %%; due while down "
		       "%llu, of "
		       "them settled by policy %.4f %%; latest on time %.1f ms\n",
		       (unsigned long long)t->lost, (unsigned long long)t->twice,
		       (unsigned long long)t->healthy, percent(t->on_time, t->healthy),
		       (unsigned long long)t->down, percent(t->settled, t->down), (double)t->latest / 1e3);
	else
		printf("  on time %.4f %%, missed %llu, twice %llu, lost %llu; latest %.1f ms\n",
		       percent(t->on_time, t->due), (unsigned long long)t->missed,
		       (unsigned long long)t->twice, (unsigned long long)t->lost, (double)t->latest / 1e3);
}
