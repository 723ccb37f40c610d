/* The workload, and its histories with crashes. */
#include "crash_points.h"

#include "spec.h"

#include <stdio.h>

/* Nine schedules that together use every policy, a dozen commands, two steps of the clock and one suspension,
 * in 40 minutes. */
enum { LEADER = 1, GUARDED, EVENT, FOLLOWER, REPLACED, LINE, LIMITED, QUEUED, FEW, SCHEDULES = FEW };

static const struct spec specs[SCHEDULES + 1] = {
	[LEADER] = { .cron = "*/2 * * * *", .policy = { .retries = 1, .retry_delay = 20, .agent = 1 } },
	[GUARDED] = { .cron = "*/3 * * * *",
		      .policy = { .preconditions = (2 << ASK_CHECK) - 1,
				  .window = 60,
				  .overlap = OVERLAP_QUEUE_ONE,
				  .key = 20 } },
	[EVENT] = { .cron = "*/5 * * * *", .policy = { .action = ACTION_EVENT, .missed = MISSED_SKIP } },
	[FOLLOWER] = { .after = LEADER, .policy = { .after = AFTER_ANY, .overlap = OVERLAP_QUEUE_ALL } },
	[REPLACED] = { .cron = "*/4 * * * *", .policy = { .overlap = OVERLAP_CANCEL_RUNNING } },
	[LINE] = { .cron = "* * * * *",
		   .policy = { .missed = MISSED_CATCH_UP, .catch_up_limit = 3, .overlap = OVERLAP_ALLOW } },
	[LIMITED] = { .cron = "*/3 * * * *",
		      .policy = { .missed = MISSED_EXECUTE_NEXT,
				  .agent = 2,
				  .account = 9,
				  .max_failures = 3 } },
	[QUEUED] = { .cron = "*/2 * * * *",
		     .policy = { .overlap = OVERLAP_QUEUE_ALL, .key = 20, .priority = 2 } },
	[FEW] = { .cron = "*/6 * * * *", .max_runs = 3, .policy.preconditions = 1 << ASK_CONDITION },
};

static struct process_plan plan_process(struct world *w, const struct rn_req *q)
{
	struct process_plan f = { .lasts = SECONDS(2), .outcome = OUTCOME_DONE, .kill_takes = SECONDS(1) };
	unsigned n = (unsigned)(hash_pair(q->run, q->attempt) % 8);
	if (w->draining)
		return f;
	if (q->sid == LEADER && n < 3) {
		f.outcome = OUTCOME_FAILED;
		f.reason = REASON_EXIT;
	}
	if (q->sid == REPLACED)
		f.lasts = MINUTES(5);
	if (q->sid == QUEUED)
		f.lasts = SECONDS(70);
	if (q->sid == LINE && n == 0)
		f.leaves_no_record = true;
	if (q->sid == LIMITED && n < 2) {
		f.outcome = OUTCOME_FAILED;
		f.reason = n ? REASON_RATE_LIMITED : REASON_AUTH;
		f.reset = (struct wall){ world_wall(w).us + MINUTES(2) };
	}
	return f;
}

static bool answer_precondition(struct world *w, const struct rn_req *q, uint16_t *reason)
{
	static const uint16_t reasons[RN_ASKS] = { [ASK_BUDGET] = REASON_BUDGET,
						   [ASK_CONDITION] = REASON_CONDITION,
						   [ASK_BLOCKED] = REASON_BLOCKED,
						   [ASK_CONFIG_HOOK] = REASON_HOOK,
						   [ASK_HOOK] = REASON_HOOK };
	*reason = reasons[q->ask];
	return w->draining || hash_pair(q->run, q->ask) % 6 != 0;
}

enum { CLOCK_BACK = 100, CLOCK_AHEAD, SUSPEND, STATE };

static const struct {
	int64_t at; /* seconds */
	int kind;   /* the kind of a command, or one of the above */
	uint64_t sid;
} script[] = {
	{ 7 * 60, CMD_PAUSE, EVENT },
	{ 8 * 60 + 1, STATE, 0 },
	{ 9 * 60, CMD_RUN, FEW },
	{ 11 * 60, CMD_RESUME, EVENT },
	{ 13 * 60, CMD_PUT, GUARDED },
	{ 14 * 60, CMD_PUT, LEADER },
	{ 15 * 60, CMD_RUN, LINE },
	{ 16 * 60 + 30, CMD_STOP, REPLACED },
	{ 18 * 60 + 1, CMD_BACKFILL, EVENT },
	{ 20 * 60 + 1, CMD_PAUSE, 0 },
	{ 22 * 60, CMD_RESUME, 0 },
	{ 25 * 60, CMD_DROP, REPLACED },
	{ 26 * 60, CMD_RELEASE, 0 },
	{ 28 * 60, CLOCK_BACK, 0 },
	{ 30 * 60, CLOCK_AHEAD, 0 },
	{ 32 * 60, SUSPEND, 0 },
	{ 34 * 60, CMD_RELEASE, 0 },
	{ 34 * 60 + 30, CMD_STOP, QUEUED },
};

static void run_script_entry(struct world *w, uint64_t i, uint64_t b)
{
	(void)b;
	struct command c = { .kind = (uint8_t)script[i].kind, .sid = script[i].sid, .to = WALL_NEVER };
	struct wall now = world_wall(w);
	if (w->draining)
		return;
	switch (script[i].kind) {
	case CLOCK_BACK:
		world_step_clock(w, -SECONDS(90));
		return;
	case CLOCK_AHEAD:
		world_step_clock(w, SECONDS(200));
		return;
	case SUSPEND:
		world_suspend(w, MINUTES(3));
		return;
	case STATE:
		world_state_changed(w, 0);
		return;
	case CMD_PUT: {
		struct spec s = specs[c.sid];
		if (c.sid == GUARDED)
			s.cron = "1-59/4 * * * *";
		else
			s.policy.retries = 2;
		c = spec_command(&s, c.sid);
		break;
	}
	case CMD_STOP:
		for (size_t k = 0; k < model_open_runs(w->rows); k++)
			if (model_open_run_at(w->rows, k)->sid == c.sid)
				c.run = model_open_run_at(w->rows, k)->run;
		break;
	case CMD_BACKFILL:
		c.from = (struct wall){ now.us - MINUTES(15) };
		c.to = now;
		break;
	case CMD_DROP:
		c.kill = true;
		break;
	case CMD_RELEASE:
		c.key = model_hold(w->rows, 9) ? 9 : 2;
		break;
	default:
		break;
	}
	world_command(w, c);
}

enum crash_kind { DAEMON, DAEMON_LONG, MACHINE, TWICE, CRASH_KINDS };

/* Runs one history with a crash at `call` (0: without a crash) and returns the number of calls. */
static uint64_t run_history(uint64_t call, enum crash_kind kind, const struct crash_points_options *o,
			    unsigned *failures)
{
	static const int64_t down[CRASH_KINDS] = { SECONDS(1), MINUTES(4), SECONDS(45), 20000 };
	const struct workload workload = { plan_process, answer_precondition, run_script_entry, NULL };
	struct world w;
	world_open(&w, &(struct world_options){ .seed = call,
						.start = wall_of(seconds_of(2026, 3, 8, 6, 50, 0)),
						.slots = 3,
						.catch_up_per_second = 50,
						.timing = { .commit = { 5000, 5000 },
							    .answer = { 5000, 5000 },
							    .launch = { 20000, 20000 },
							    .report = { 10000, 10000 },
							    .ask = { 50000, 50000 },
							    .orphan_percent = 50,
							    .unseen_percent = 50 },
						.workload = &workload,
						.bug = o->bug,
						.verbose = o->verbose });
	w.coverage = o->coverage;
	if (o->bug)
		check_set_quiet(w.check);
	w.crash_at = call;
	w.crash_machine = kind == MACHINE;
	w.down_for = down[kind];
	w.crash_again = kind == TWICE ? 1 + call % 23 : 0;
	for (unsigned i = 1; i <= SCHEDULES; i++) {
		/* The command is repeated until the schedule is in the store, because a crash may have
		 * prevented it. */
		while (model_scheds(w.rows) < i && check_failures(w.check) == 0) {
			world_command(&w, spec_command(&specs[i], 0));
			world_run(&w, w.t + SECONDS(10));
		}
	}
	for (unsigned i = 0; i < ARRAY_LEN(script); i++)
		agenda_add(&w.agenda, SECONDS(script[i].at) + 1 > w.t ? SECONDS(script[i].at) + 1 : w.t,
			   W_INCIDENT, i, 0);
	bool ok = world_run(&w, MINUTES(40));
	uint64_t calls = w.calls;
	w.draining = true;
	for (unsigned i = 0; ok && i < 4; i++) {
		for (size_t k = model_holds(w.rows); k-- > 0;)
			world_command(&w, (struct command){ .kind = CMD_RELEASE,
							    .key = model_hold_at(w.rows, k)->key });
		ok = world_run(&w, w.t + MINUTES(1));
	}
	if (ok && world_drain(&w, DAYS(1))) {
		world_compare(&w);
		check_account(w.check);
	}
	*failures = check_failures(w.check);
	if (*failures && !o->bug)
		printf("… with a crash at port call %llu, kind %u\n", (unsigned long long)call, kind);
	world_close(&w);
	return calls;
}

struct crash_points_result crash_points_run(const struct crash_points_options *o)
{
	struct crash_points_result r = { 0 };
	unsigned failures;
	r.calls = run_history(0, DAEMON, o, &failures);
	if (failures) {
		r.histories = r.failed = 1;
		return r;
	}
	for (uint64_t call = 1 + o->offset; call <= r.calls; call += o->stride ? o->stride : 1) {
		if (o->only && call != o->only)
			continue;
		run_history(call, (enum crash_kind)(call / 2 % CRASH_KINDS), o, &failures);
		r.histories++;
		if (failures && !r.failed++)
			r.first_failed = call;
		if (r.failed >= 10)
			break;
	}
	return r;
}
