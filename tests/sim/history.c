/* Random histories: profiles, random commands, incidents. */
#include "history.h"

#include "spec.h"

#include <stdio.h>
#include <stdlib.h>

/* How many incidents of each kind happen in ten days. */
struct profile {
	const char *name;
	unsigned days, schedules, slots;
	bool dense, years;
	bool burst;       /* all schedules are due at the same time */
	unsigned prune;   /* old records */
	unsigned restore; /* of backups */
	unsigned nodes;   /* another node takes the part over, or uses a number of this one */
	unsigned foreign; /* changes by another writer */
	unsigned crash, machine, outage, clock, suspend, command;
	struct port_timing timing;
};

#define FAST_PORTS                                                                                           \
	.commit = { 200, 5000 }, .answer = { 50, 3000 }, .launch = { 500, 20000 }, .report = { 50, 20000 },  \
	.ask = { 1000, 300000 }, .wake = { 0, 2000 }
#define SLOW_PORTS                                                                                           \
	.commit = { 200, 400000 }, .answer = { 50, 200000 }, .launch = { 500, 2000000 },                     \
	.report = { 50, 3000000 }, .ask = { 1000, 20000000 }, .wake = { 0, 50000 }, .repeat_percent = 15,    \
	.orphan_percent = 30, .unseen_percent = 50

static const struct profile profiles[] = {
	{ "calm", 35, 10, 16, .command = 2, .timing = { FAST_PORTS } },
	{ "crashes", 35, 8, 4, .crash = 60, .machine = 8, .command = 4, .timing = { SLOW_PORTS } },
	{ "clocks", 35, 6, 4, .clock = 15, .suspend = 15, .command = 3, .timing = { FAST_PORTS } },
	{ "outages", 35, 8, 4, .outage = 40, .suspend = 3, .command = 10, .timing = { SLOW_PORTS } },
	{ "everything", 35, 8, 3, .crash = 20, .machine = 5, .outage = 10, .clock = 6, .suspend = 6,
	  .command = 20, .timing = { SLOW_PORTS } },
	{ "dense", 2, 8, 2, .dense = true, .crash = 400, .machine = 40, .outage = 100, .suspend = 40,
	  .command = 300, .timing = { SLOW_PORTS } },
	{ "people", 35, 8, 3, .crash = 5, .command = 150, .timing = { SLOW_PORTS } },
	{ "years", 35, 3, 4, .years = true, .clock = 5, .crash = 5, .command = 2, .timing = { FAST_PORTS } },
	{ "dense people", 1, 6, 2, .dense = true, .crash = 60, .clock = 60, .command = 1500,
	  .timing = { SLOW_PORTS } },
	{ "foreign", 10, 6, 3, .crash = 10, .foreign = 100, .command = 20, .timing = { SLOW_PORTS } },
	{ "burst", 1, 120, 200, .burst = true, .crash = 40, .timing = { SLOW_PORTS } },
	{ "kept", 25, 7, 3, .prune = 60, .restore = 6, .crash = 15, .machine = 3, .command = 60, .clock = 2,
	  .timing = { SLOW_PORTS } },
	{ "nodes", 10, 6, 3, .crash = 20, .nodes = 150, .command = 60,
	  .timing = { SLOW_PORTS, .elsewhere_percent = 40 } },
};

struct history {
	const struct profile *profile;
	struct map false_now; /* schedules whose condition is false at present */
	struct spec *spec;    /* the last specification that was sent, by sid */
	size_t specs;
};

enum incident {
	INCIDENT_CRASH,
	INCIDENT_MACHINE,
	INCIDENT_OUTAGE,
	INCIDENT_CLOCK,
	INCIDENT_SUSPEND,
	INCIDENT_COMMAND,
	INCIDENT_FOREIGN,
	INCIDENT_NODES,
	INCIDENT_STATE,
	INCIDENT_ACCEPT_CLOCK,
	INCIDENT_PRUNE,
	INCIDENT_BACK_UP,
	INCIDENT_RESTORE,
	INCIDENTS
};

enum { ONCE = 1 }; /* an incident that is not repeated */

static struct history *history_of(const struct world *w)
{
	return w->workload->self;
}

/* --- ends of runs, and answers of preconditions --- */

static int64_t random_duration(struct world *w, int64_t lo, int64_t hi)
{
	return world_between(w, (struct span){ lo, hi });
}

static struct process_plan random_plan(struct world *w, const struct rn_req *start)
{
	(void)start;
	struct process_plan f = { .outcome = OUTCOME_DONE,
				  .kill_takes = random_duration(w, 1000, SECONDS(10)) };
	if (w->draining) {
		f.lasts = random_duration(w, 1000, SECONDS(2));
		return f;
	}
	uint64_t n = world_random(w, 100);
	bool dense = history_of(w)->profile->dense;
	f.lasts = n < 60   ? random_duration(w, 1000, SECONDS(30))
		  : n < 85 ? random_duration(w, SECONDS(1), MINUTES(10))
			   : random_duration(w, SECONDS(1), dense ? MINUTES(15) : HOURS(2));
	n = world_random(w, 100);
	if (n < 14) {
		f.outcome = OUTCOME_FAILED;
		f.reason = REASON_EXIT;
	} else if (n < 22) {
		f.outcome = OUTCOME_NO_WORK;
	} else if (n < 25) {
		f.outcome = OUTCOME_FAILED;
		f.reason = REASON_RATE_LIMITED;
		if (world_chance(w, 50))
			f.reset =
				(struct wall){ world_wall(w).us + f.lasts + random_duration(w, 0, HOURS(2)) };
	} else if (n < 26) {
		f.outcome = OUTCOME_FAILED;
		f.reason = REASON_AUTH;
	} else if (n < 29) {
		f.leaves_no_record = true;
	} else if (n < 31) {
		f.outcome = OUTCOME_KILLED;
		f.reason = REASON_TIMEOUT;
		f.lasts = dense ? MINUTES(20) : HOURS(2);
	} else if (n < 32) {
		f.outcome = OUTCOME_FAILED;
		f.reason = REASON_DENIED;
	}
	return f;
}

static bool random_answer(struct world *w, const struct rn_req *q, uint16_t *reason)
{
	static const uint16_t reasons[] = {
		[ASK_BUDGET] = REASON_BUDGET,   [ASK_CONDITION] = REASON_CONDITION,
		[ASK_BLOCKED] = REASON_BLOCKED, [ASK_CONFIG_HOOK] = REASON_HOOK,
		[ASK_HOOK] = REASON_HOOK,       [ASK_CHECK] = REASON_NONE
	};
	uint32_t ignored;
	if (w->draining)
		return true;
	*reason = reasons[q->ask];
	if (q->ask == ASK_CONDITION)
		return !number_map_get(&history_of(w)->false_now, q->sid, &ignored);
	if (q->ask == ASK_CHECK && world_chance(w, 5)) {
		*reason = REASON_CHECK;
		return false;
	}
	return !world_chance(w, 15);
}

/* --- random commands --- */

static void remember_spec(struct history *h, uint64_t sid, const struct spec *s)
{
	if (sid >= h->specs) {
		size_t n = sid + 16;
		h->spec = must_realloc(h->spec, n * sizeof *h->spec);
		memset(h->spec + h->specs, 0, (n - h->specs) * sizeof *h->spec);
		h->specs = n;
	}
	h->spec[sid] = *s;
}

/* A schedule that is not removed, half of the time one with an open run; 0: none. */
static uint64_t random_sid(struct world *w)
{
	size_t n = model_scheds(w->rows), open = model_open_runs(w->rows);
	if (open && world_chance(w, 50)) {
		const struct run_row *r = model_open_run_at(w->rows, world_random(w, open));
		/* Runs that wait for a retry are preferred, because they would rarely be chosen otherwise. */
		for (size_t i = 0; i < open && world_chance(w, 80); i++)
			if (model_open_run_at(w->rows, i)->state == RUN_RETRYING)
				r = model_open_run_at(w->rows, i);
		if (!model_sched(w->rows, r->sid)->dropped)
			return r->sid;
	}
	for (unsigned i = 0; n && i < 8; i++) {
		const struct model_sched *s = model_sched_at(w->rows, world_random(w, n));
		if (!s->dropped)
			return s->row.sid;
	}
	return 0;
}

/* A schedule older than `sid`, so that no schedule follows itself; 0: none. */
static uint64_t random_older_sid(struct world *w, uint64_t sid)
{
	uint64_t older = random_sid(w);
	return older < sid ? older : 0;
}

static void add_random_schedule(struct world *w)
{
	struct history *h = history_of(w);
	struct spec s = spec_random(w, h->profile->dense);
	if (h->profile->burst)
		s = (struct spec){ .cron = "*/30 * * * *",
				   .policy.missed = (uint8_t)world_random(w, MISSED_COUNT) };
	uint64_t sid = random_sid(w);
	if (sid && !h->profile->burst && world_chance(w, 15))
		s.after = sid; /* the leader may be a follower itself */
	s.bulk = model_scheds(w->rows) % 2;
	world_command(w, spec_command(&s, 0));
	remember_spec(h, model_scheds(w->rows) + 1, &s);
}

static void change_random_schedule(struct world *w, uint64_t sid)
{
	struct history *h = history_of(w);
	struct spec s = sid < h->specs ? h->spec[sid] : (struct spec){ 0 };
	if (!s.cron && !s.every && !s.at)
		s = spec_random(w, h->profile->dense);
	s.after = model_sched(w->rows, sid)->row.after;
	if (world_chance(w, 10))
		s.after = s.after ? 0 : random_older_sid(w, sid);
	s = world_chance(w, 50) ? spec_new_times(w, s, h->profile->dense) : spec_new_policy(w, s);
	if (world_chance(w, 10))
		s.disabled = !s.disabled;
	world_command(w, spec_command(&s, sid));
	remember_spec(h, sid, &s);
}

/* Another writer changes a schedule's policy in the store, or removes it; the engine learns of it from a
 * stale answer. */
static void write_foreign_change(struct world *w)
{
	uint64_t sid = random_sid(w);
	if (!sid)
		return;
	struct st_req q = { .op = ST_PUT, .sid = sid, .keep_next = true, .at = world_wall(w) };
	struct rules r;
	q.row = model_sched(w->rows, sid)->row;
	q.rev = q.row.rev;
	if (world_chance(w, 3)) {
		q.op = ST_DROP;
		q.close_range = true;
		/* Times at or after a next check were not gated. */
		if (q.row.next_set_at.us && q.row.next.us <= q.at.us)
			q.at.us = q.row.next.us - 1;
	}
	memcpy(&r, q.row.rules, sizeof r);
	r.policy.retries = (uint16_t)world_random(w, 4);
	memcpy(q.row.rules, &r, sizeof r);
	world_foreign_write(w, &q);
}

static void send_random_command(struct world *w)
{
	struct history *h = history_of(w);
	uint64_t sid = random_sid(w), n = world_random(w, 100);
	struct wall now = world_wall(w);
	size_t live = 0;
	for (size_t i = 0; i < model_scheds(w->rows); i++)
		live += !model_sched_at(w->rows, i)->dropped;
	if (!sid || live < h->profile->schedules) {
		add_random_schedule(w);
	} else if (n < 20) {
		change_random_schedule(w, sid);
	} else if (n < 26) {
		world_command(w,
			      (struct command){ .kind = CMD_DROP, .sid = sid, .kill = world_chance(w, 50) });
	} else if (n < 38) {
		struct wall to = world_chance(w, 50)
					 ? WALL_NEVER
					 : (struct wall){ now.us + random_duration(w, 0, HOURS(5)) };
		world_command(w, (struct command){
					 .kind = CMD_PAUSE, .sid = world_chance(w, 10) ? 0 : sid, .to = to });
	} else if (n < 58) {
		world_command(w,
			      (struct command){ .kind = CMD_RESUME, .sid = world_chance(w, 10) ? 0 : sid });
	} else if (n < 64) {
		world_command(w, (struct command){ .kind = CMD_RUN, .sid = sid });
	} else if (n < 70) {
		int64_t in = random_duration(w, 1, h->profile->dense ? 1800 : 43200);
		world_command(w, (struct command){ .kind = CMD_NEXT_CHECK,
						   .sid = sid,
						   .to = wall_of(wall_seconds(now) + in) });
	} else if (n < 80) {
		size_t open = model_open_runs(w->rows);
		if (open)
			world_command(
				w, (struct command){
					   .kind = CMD_STOP,
					   .run = model_open_run_at(w->rows, world_random(w, open))->run });
	} else if (n < 88) {
		struct wall from = { now.us - random_duration(w, 0, h->profile->dense ? HOURS(1) : DAYS(2)) };
		struct wall to = { from.us + random_duration(w, 0, h->profile->dense ? HOURS(1) : DAYS(2)) };
		world_command(w, (struct command){ .kind = CMD_BACKFILL,
						   .sid = sid,
						   .from = from,
						   .to = to.us < now.us ? to : now });
	} else {
		size_t holds = model_holds(w->rows);
		uint32_t key = holds ? model_hold_at(w->rows, world_random(w, holds))->key : 1;
		world_command(w, (struct command){ .kind = CMD_RELEASE, .key = key });
	}
}

/* --- incidents --- */

static int64_t random_downtime(struct world *w, bool dense)
{
	uint64_t n = world_random(w, 100);
	if (n < 20)
		return random_duration(w, 1000, SECONDS(1));
	if (n < 60)
		return random_duration(w, SECONDS(1), MINUTES(1));
	if (n < 92 || dense)
		return random_duration(w, MINUTES(1), dense ? MINUTES(30) : HOURS(3));
	return random_duration(w, HOURS(3), DAYS(3));
}

static int64_t random_step(struct world *w, bool years)
{
	static const int64_t steps[] = { HOURS(1),     -HOURS(1), SECONDS(5), -SECONDS(5), MINUTES(10),
					 -MINUTES(10), HOURS(30), -HOURS(30), SECONDS(61), -SECONDS(61) };
	if (years) { /* steps the clock ahead, and the next time back again */
		int64_t ahead = w->wall_ahead - seconds_of(2026, 3, 5, 0, 0, 0) * USEC;
		return ahead > DAYS(300) ? -ahead : DAYS(365) * (int64_t)(1 + world_random(w, 3));
	}
	return steps[world_random(w, ARRAY_LEN(steps))];
}

/* Schedules the next incident of this kind. */
static void schedule_next(struct world *w, enum incident incident)
{
	const struct profile *k = history_of(w)->profile;
	const unsigned rate[INCIDENTS] = {
		[INCIDENT_CRASH] = k->crash,     [INCIDENT_MACHINE] = k->machine,
		[INCIDENT_OUTAGE] = k->outage,   [INCIDENT_CLOCK] = k->clock,
		[INCIDENT_SUSPEND] = k->suspend, [INCIDENT_COMMAND] = k->command,
		[INCIDENT_PRUNE] = k->prune,     [INCIDENT_BACK_UP] = k->restore * 4,
		[INCIDENT_RESTORE] = k->restore, [INCIDENT_FOREIGN] = k->foreign,
		[INCIDENT_NODES] = k->nodes,     [INCIDENT_STATE] = k->dense ? 600 : 20
	};
	if (rate[incident])
		world_add_incident(w, random_duration(w, 1, 2 * DAYS(10) / rate[incident]), incident, 0);
}

/* Schedules a fault that happens while the command is under way. */
static void schedule_soon(struct world *w)
{
	const struct profile *k = history_of(w)->profile;
	const unsigned rate[] = { [INCIDENT_CRASH] = k->crash,
				  [INCIDENT_MACHINE] = k->machine,
				  [INCIDENT_OUTAGE] = k->outage,
				  [INCIDENT_CLOCK] = k->clock,
				  [INCIDENT_SUSPEND] = k->suspend };
	unsigned which = (unsigned)world_random(w, ARRAY_LEN(rate));
	if (rate[which])
		world_add_incident(
			w, world_between(w, (struct span){ 0, w->timing.commit.hi + w->timing.answer.hi }),
			which, ONCE);
}

/* Crashes at once, or at one of the next port calls, when requests are under way. */
static void crash(struct world *w, bool machine, bool at_once)
{
	int64_t down_for;
	bool dense = history_of(w)->profile->dense;
	if (at_once || world_chance(w, machine ? 50 : 30)) {
		down_for = random_downtime(w, dense);
		if (machine)
			world_crash_machine(w, down_for);
		else
			world_crash(w, down_for);
		return;
	}
	w->crash_machine = machine;
	w->down_for = random_downtime(w, dense);
	w->crash_at = w->calls + 1 + world_random(w, 40);
}

/* The condition of a random schedule changes. */
static void change_state(struct world *w)
{
	struct history *h = history_of(w);
	uint64_t sid = random_sid(w);
	uint32_t ignored;
	if (!sid)
		return;
	if (number_map_get(&h->false_now, sid, &ignored))
		number_map_remove(&h->false_now, sid);
	else if (world_chance(w, 50))
		number_map_put(&h->false_now, sid, 0);
	world_state_changed(w, world_chance(w, 50) ? 0 : 1 + (uint32_t)world_random(w, 3));
}

static void act_as_other_node(struct world *w)
{
	uint64_t sid = random_sid(w);
	if (world_chance(w, 50))
		world_take_over(w);
	else if (sid && !w->taken)
		world_collide(w, sid);
}

static void handle_incident(struct world *w, uint64_t a, uint64_t b)
{
	if (w->draining)
		return;
	const struct profile *k = history_of(w)->profile;
	switch ((enum incident)a) {
	case INCIDENT_CRASH:
	case INCIDENT_MACHINE:
		crash(w, a == INCIDENT_MACHINE, b == ONCE);
		break;
	case INCIDENT_OUTAGE:
		world_outage(w, world_chance(w, 50)
					? random_duration(w, 1000, SECONDS(30))
					: random_duration(w, SECONDS(30), k->dense ? MINUTES(10) : HOURS(3)));
		break;
	case INCIDENT_CLOCK:
		world_step_clock(w, random_step(w, k->years));
		if (world_chance(w, 70))
			world_add_incident(w, random_duration(w, 0, HOURS(6)), INCIDENT_ACCEPT_CLOCK, ONCE);
		break;
	case INCIDENT_SUSPEND:
		world_suspend(w, world_chance(w, 50) ? random_duration(w, SECONDS(1), MINUTES(2))
						     : random_duration(w, MINUTES(1),
								       k->dense ? MINUTES(30) : HOURS(12)));
		break;
	case INCIDENT_COMMAND:
		if (w->engine)
			send_random_command(w);
		if (world_chance(w, 50))
			schedule_soon(w);
		break;
	case INCIDENT_STATE:
		change_state(w);
		break;
	case INCIDENT_ACCEPT_CLOCK:
		if (w->engine && engine_counts(w->engine).clock_held)
			world_command(w, (struct command){ .kind = CMD_CLOCK });
		break;
	case INCIDENT_FOREIGN:
		write_foreign_change(w);
		break;
	case INCIDENT_PRUNE:
		world_prune(w, (struct wall){ world_wall(w).us - random_duration(w, 0, DAYS(4)) });
		break;
	case INCIDENT_BACK_UP:
		world_back_up(w);
		break;
	case INCIDENT_RESTORE:
		world_restore(w, random_downtime(w, k->dense));
		break;
	case INCIDENT_NODES:
		act_as_other_node(w);
		break;
	case INCIDENTS:
		break;
	}
	if (b != ONCE)
		schedule_next(w, (enum incident)a);
}

/* A hold that is in force; NULL: none. */
static const struct hold_row *find_hold(const struct world *w)
{
	for (size_t k = 0; k < model_holds(w->rows); k++)
		if (model_hold_at(w->rows, k)->until.us > world_wall(w).us)
			return model_hold_at(w->rows, k);
	return NULL;
}

/* Lets everything come to an end. Holds are released, including one that the last run has caused. */
static bool drain_all(struct world *w)
{
	w->draining = true;
	w->crash_at = 0;
	if (w->taken)
		world_crash(w, SECONDS(1));
	bool ok = w->outage_until <= w->t || world_run(w, w->outage_until);
	for (unsigned i = 0; ok && i < 40; i++) {
		while (!w->engine && ok)
			ok = world_run(w, w->t + HOURS(1));
		if (ok && engine_counts(w->engine).clock_held)
			world_command(w, (struct command){ .kind = CMD_CLOCK });
		ok = ok && world_run(w, w->t + MINUTES(5));
		if (ok && !find_hold(w) && !engine_counts(w->engine).clock_held) {
			ok = world_drain(w, DAYS(3));
			if (!ok || !find_hold(w))
				return ok;
		}
		if (ok && find_hold(w))
			world_command(w, (struct command){ .kind = CMD_RELEASE, .key = find_hold(w)->key });
	}
	return ok && world_drain(w, DAYS(3));
}

enum { HOOKED = 1515 }; /* chooses the histories whose configuration has a hook */

struct history_result history_run(const struct history_options *o)
{
	unsigned which = o->profile >= 0 ? (unsigned)o->profile % ARRAY_LEN(profiles)
					 : (unsigned)(o->seed % ARRAY_LEN(profiles));
	struct history h = { .profile = &profiles[which] };
	const struct workload workload = { random_plan, random_answer, handle_incident, &h };
	struct world w;
	world_open(&w, &(struct world_options){ .seed = o->seed,
						.start = wall_of(seconds_of(2026, 3, 5, 0, 0, 0)),
						.slots = h.profile->slots,
						.catch_up_per_second = 50,
						.timing = h.profile->timing,
						.workload = &workload,
						.bug = o->bug,
						.has_hook = hash_pair(o->seed, HOOKED) % 4 == 0,
						.verbose = o->verbose });
	w.coverage = o->coverage;
	if (o->want)
		check_expect_finding(w.check, o->want);
	if (o->quiet)
		check_set_quiet(w.check);
	for (unsigned i = 0; i < h.profile->schedules; i++) {
		add_random_schedule(&w);
		world_run(&w, w.t + random_duration(&w, 0, SECONDS(3)));
	}
	for (unsigned i = 0; i < INCIDENTS; i++)
		schedule_next(&w, (enum incident)i);
	struct history_result ret = { .profile = h.profile->name };
	bool ok = world_run(&w, DAYS(o->days ? o->days : h.profile->days)) && drain_all(&w);
	if (ok) {
		world_compare(&w);
		ret.tally = check_account(w.check);
	}
	ret.failures = check_failures(w.check);
	ret.found = check_has_finding(w.check);
	snprintf(ret.first, sizeof ret.first, "%s", check_first_finding(w.check));
	ret.hash = hash_pair(w.hash, model_digest(w.rows));
	ret.steps = w.steps;
	ret.digests = w.digests;
	world_close(&w);
	map_free(&h.false_now);
	free(h.spec);
	return ret;
}
