/* The engine after its store was restored from a copy. Runs may have happened that the copy does not know;
 * they are not repeated. */
#include "core/engine/engine.h"
#include "test.h"

#define AT(minutes) wall_of(INT64_C(1700000040) + 60 * (minutes)) /* a full minute */

static struct zone *utc;
static const struct zone *zones[1];
static const struct days none;
static struct effects fx;

static struct engine *engine_with(void)
{
	struct engine *e = NULL;
	CHECK_INT(zone_fixed(0, &utc), OK);
	zones[0] = utc;
	struct engine_config config = { .slots = 16,
					.catch_up_per_second = 50,
					.zones = zones,
					.zone_count = 1,
					.calendars = &none,
					.calendar_count = 1 };
	CHECK_INT(engine_new(&config, &e), OK);
	return e;
}

static void free_engine(struct engine *e)
{
	engine_free(e);
	effects_free(&fx);
	zone_free(utc);
}

/* Loads a schedule that is due every minute and is recorded up to `high`. */
static void load_sched(struct engine *e, uint64_t sid, uint64_t after, enum missed missed, struct wall high)
{
	struct rules rules = { .version = RULES_VERSION, .zone_print = zone_fingerprint(utc) };
	struct load_item item = { .kind = LOAD_SCHED };
	rules.when = (struct rule){ .kind = RULE_EVERY, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER };
	rules.when.every.interval = 60;
	rules.policy.missed = (uint8_t)missed;
	rules.policy.retries = 3;
	rules.policy.retry_delay = 60;
	rules.policy.catch_up_limit = 100;
	rules.policy.after = AFTER_ANY;
	item.sched = (struct sched_row){ .sid = sid,
					 .rev = 1,
					 .after = after,
					 .flags = SCHED_ENABLED,
					 .left = UINT32_MAX,
					 .high = high,
					 .next = after ? WALL_NEVER : (struct wall){ high.us + 60 * USEC },
					 .paused_until = WALL_NEVER };
	memcpy(item.sched.rules, &rules, sizeof rules);
	engine_load(e, &item);
}

static void load_run(struct engine *e, uint64_t run, uint64_t sid, enum run_state state, uint16_t attempt)
{
	struct load_item item = { .kind = LOAD_RUN };
	item.run = (struct run_row){ .run = run,
				     .sid = sid,
				     .rev = 1,
				     .state = (uint8_t)state,
				     .attempt = attempt,
				     .outcome = attempt && state == RUN_RETRYING ? OUTCOME_FAILED : 0,
				     .nominal = AT(-(int64_t)run),
				     .due = AT(-(int64_t)run),
				     .retry_at = state == RUN_RETRYING ? AT(3) : (struct wall){ 0 } };
	engine_load(e, &item);
}

static void load_done(struct engine *e, struct wall restored, uint64_t restored_run)
{
	struct load_item part = { .kind = LOAD_PART, .part = { .node = 1 } };
	engine_load(e, &part);
	struct load_item item = { .kind = LOAD_DONE };
	item.done.last_run = 4095;
	item.done.last_sid = 100;
	item.done.restored = restored;
	item.done.restored_run = restored_run;
	engine_load(e, &item);
}

/* Takes the first request for numbers out of the effects. */
static bool take_numbers_request(struct st_req *ret)
{
	for (unsigned i = 0; i < fx.stores; i++)
		if (fx.store[i].op == ST_NUMBERS) {
			*ret = fx.store[i];
			memmove(&fx.store[i], &fx.store[i + 1], (--fx.stores - i) * sizeof *fx.store);
			return true;
		}
	return false;
}

/* Steps, and gives the numbers that the engine asks for. */
static void step(struct engine *e, const struct event *ev, struct wall at)
{
	static uint64_t given[NUMBER_KINDS];
	struct now now = { at, { at.us - AT(0).us + 3600 * USEC } };
	struct st_req r;
	if (ev->kind == EV_LOADED)
		memset(given, 0, sizeof given);
	effects_clear(&fx);
	engine_step(e, ev, now, &fx);
	while (take_numbers_request(&r)) {
		struct st_ack ack = { .tag = r.tag, .op = r.op, .res = ST_OK };
		ack.first = 4096 + given[r.numbers.kind];
		given[r.numbers.kind] += r.numbers.n;
		engine_step(e, &(struct event){ .kind = EV_ACK, .ack = &ack }, now, &fx);
	}
}

static void report_run(struct engine *e, uint64_t run, uint16_t attempt, enum rn_report_kind what,
		       struct wall at)
{
	struct rn_report s = {
		.kind = (uint8_t)what, .run = run, .attempt = attempt, .cost = -1, .exit_code = 1
	};
	s.outcome = OUTCOME_FAILED;
	s.reason = REASON_EXIT;
	step(e, &(struct event){ .kind = EV_RUNNER, .report = &s }, at);
}

static const struct st_req *find_request(uint64_t sid, uint64_t run)
{
	for (unsigned i = 0; i < fx.stores; i++)
		if (fx.store[i].sid == sid && fx.store[i].run.run == run)
			return &fx.store[i];
	return NULL;
}

TEST(times_since_the_copy_are_one_missed_range)
{
	struct engine *e = engine_with();
	for (unsigned missed = 0; missed < MISSED_COUNT; missed++)
		load_sched(e, missed + 1, 0, missed, AT(-100));
	load_sched(e, 50, 0, MISSED_CATCH_UP, AT(-5)); /* changed after the restore, so it is up to date */
	load_done(e, AT(-10), 7);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	for (unsigned missed = 0; missed < MISSED_COUNT; missed++) {
		const struct st_req *r = find_request(missed + 1, 0);
		test_case("policy %u", missed);
		if (!CHECK(r != NULL))
			continue;
		CHECK_INT(r->op, ST_RANGE);
		CHECK_INT(r->range.state, RUN_MISSED);
		CHECK_INT(r->range.reason, REASON_RESTORED);
		CHECK_INT(r->range.first.us, AT(-99).us);
		CHECK_INT(r->range.last.us, AT(-10).us);
		CHECK_INT(r->move.next.us, AT(-9).us);
	}
	const struct st_req *r = find_request(50, 0);
	CHECK(!r || r->range.reason != REASON_RESTORED);
	free_engine(e);
}

/* The range is recorded in one step when the clock is accepted, and nothing in it is ever claimed. */
TEST(a_copy_of_long_ago)
{
	struct engine *e = engine_with();
	struct command believe = { .kind = CMD_CLOCK, .tag = 1 };
	load_sched(e, 1, 0, MISSED_CATCH_UP, AT(-60 * 24 * 500));
	load_done(e, AT(-1), 7);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	CHECK(engine_clock_held(e));
	CHECK_INT(fx.stores, 0);
	step(e, &(struct event){ .kind = EV_COMMAND, .command = &believe }, AT(0));
	if (CHECK_INT(fx.stores, 1)) {
		CHECK_INT(fx.store[0].range.reason, REASON_RESTORED);
		CHECK_INT(fx.store[0].range.last.us, AT(-1).us);
	}
	free_engine(e);
}

/* If the clock was years ahead when the store was restored, the years until then are not skipped. */
TEST(restored_by_a_clock_far_ahead)
{
	struct engine *e = engine_with();
	load_sched(e, 1, 0, MISSED_SKIP, AT(0));
	load_done(e, AT(60 * 24 * 366), 7);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	step(e, &(struct event){ .kind = EV_TICK }, AT(1));
	if (CHECK_INT(fx.stores, 1))
		CHECK_INT(fx.store[0].op, ST_OCC);
	free_engine(e);
	/* If the clock is less than that before the restore, it may have been set back since. Runs of that
	 * time must not be repeated. */
	static const int64_t ahead[] = { 60, 60 * 30, 60 * 24 * 366 - 1 };
	for (unsigned i = 0; i < ARRAY_LEN(ahead); i++) {
		test_case("%lld minutes", (long long)ahead[i]);
		e = engine_with();
		load_sched(e, 1, 0, MISSED_SKIP, AT(0));
		load_done(e, AT(ahead[i]), 7);
		step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
		step(e, &(struct event){ .kind = EV_TICK }, AT(1));
		if (CHECK_INT(fx.stores, 1))
			CHECK_INT(fx.store[0].range.reason, REASON_RESTORED);
		free_engine(e);
	}
}

TEST(followers_do_not_act_on_earlier_ends)
{
	struct engine *e = engine_with();
	struct load_item item = { .kind = LOAD_END, .follower = 2 };
	load_sched(e, 1, 0, MISSED_CATCH_UP, AT(0));
	load_sched(e, 2, 1, MISSED_CATCH_UP, AT(-100));
	item.run =
		(struct run_row){ .run = 3, .sid = 1, .end = 50, .outcome = OUTCOME_DONE, .ended = AT(-20) };
	engine_load(e, &item);
	load_done(e, AT(-10), 7);
	CHECK_INT(engine_acted_until(e).us, AT(-20).us - 1);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	const struct st_req *r = find_request(2, 4096);
	if (CHECK(r != NULL)) {
		CHECK_INT(r->run.state, RUN_MISSED);
		CHECK_INT(r->run.reason, REASON_RESTORED);
		CHECK_INT(r->move.seen, 50);
	}
	free_engine(e);
}

/* The engine asks the runner about these runs. If the runner has no files of a run, the run ends without
 * being started. */
TEST(open_runs_of_the_copy_are_not_started_again)
{
	static const struct {
		int line;
		uint8_t state;
		uint16_t attempt;
		uint8_t end_state;
		uint8_t outcome;
		uint16_t reason;
	} rows[] = {
		{ __LINE__, RUN_PENDING, 0, RUN_MISSED, 0, REASON_RESTORED },
		{ __LINE__, RUN_CLAIMED, 0, RUN_MISSED, 0, REASON_RESTORED },
		{ __LINE__, RUN_CLAIMED, 1, RUN_FINISHED, OUTCOME_FAILED, REASON_LOST },
		{ __LINE__, RUN_RETRYING, 1, RUN_FINISHED, OUTCOME_FAILED, 0 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct engine *e = engine_with();
		test_case("line %d", rows[i].line);
		load_sched(e, 1, 0, MISSED_SKIP, AT(0));
		load_run(e, 5, 1, rows[i].state, rows[i].attempt);
		load_done(e, AT(0), 7);
		step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
		for (unsigned n = 0; n < 2 && !find_request(1, 5); n++) {
			if (!CHECK_INT(fx.runners, 1))
				break;
			CHECK_INT(fx.runner[0].op, n ? RN_PREVENT : RN_PROBE);
			report_run(e, 5, fx.runner[0].attempt, RN_NOT_STARTED, AT(0));
		}
		const struct st_req *r = find_request(1, 5);
		if (CHECK(r != NULL)) {
			CHECK_INT(r->op, rows[i].end_state == RUN_MISSED ? ST_VERDICT : ST_FINISH);
			CHECK_INT(r->run.state, rows[i].end_state);
			CHECK_INT(r->run.outcome, rows[i].outcome);
			CHECK_INT(r->run.reason, rows[i].reason);
		}
		free_engine(e);
	}
}

/* Runs that are alive are adopted, and are not retried when they end. */
TEST(open_runs_of_the_copy_are_adopted)
{
	struct engine *e = engine_with();
	load_sched(e, 1, 0, MISSED_SKIP, AT(0));
	load_run(e, 5, 1, RUN_CLAIMED, 1);
	load_done(e, AT(0), 7);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	report_run(e, 5, 1, RN_ALIVE, AT(0));
	CHECK_INT(engine_counts(e).running, 1);
	report_run(e, 5, 1, RN_EXIT, AT(0));
	const struct st_req *r = find_request(1, 5);
	if (CHECK(r != NULL)) {
		CHECK_INT(r->op, ST_FINISH);
		CHECK_INT(r->run.state, RUN_FINISHED); /* though it has retries left */
		CHECK_INT(r->run.reason, REASON_EXIT);
	}
	free_engine(e);
	/* A run that was claimed after the restore is retried. */
	e = engine_with();
	load_sched(e, 1, 0, MISSED_SKIP, AT(0));
	load_run(e, 8, 1, RUN_CLAIMED, 1);
	load_done(e, AT(0), 7);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	report_run(e, 8, 1, RN_EXIT, AT(0));
	r = find_request(1, 8);
	if (CHECK(r != NULL))
		CHECK_INT(r->run.state, RUN_RETRYING);
	free_engine(e);
}

/* --- several nodes --- */

/* A run that another node holds is not probed; its end is reported by that node. */
TEST(runs_held_elsewhere_are_not_probed)
{
	struct engine *e = engine_with();
	struct load_item item = { .kind = LOAD_RUN };
	load_sched(e, 1, 0, MISSED_SKIP, AT(60));
	item.run = (struct run_row){
		.run = 3, .sid = 1, .rev = 1, .state = RUN_CLAIMED, .attempt = 1, .node = 2, .started = AT(-5)
	};
	engine_load(e, &item);
	load_done(e, (struct wall){ 0 }, 0);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	CHECK_INT(fx.runners, 0);
	CHECK_INT(engine_counts(e).elsewhere, 1);
	CHECK_INT(engine_counts(e).slots_used, 0); /* it uses a slot of the other node */
	struct command stop = { .tag = 9, .kind = CMD_STOP, .run = 3 };
	step(e, &(struct event){ .kind = EV_COMMAND, .command = &stop }, AT(1));
	CHECK_INT(fx.runners, 0); /* this node does not kill the run */
	report_run(e, 3, 1, RN_EXIT, AT(2));
	const struct st_req *r = find_request(1, 3);
	if (CHECK(r != NULL))
		CHECK(r->op == ST_FINISH && r->run.node == 2 && r->run.state == RUN_FINISHED);
	free_engine(e);
}

/* After a fenced answer the engine knows nothing of the part, and asks nothing more. */
TEST(a_fenced_part_is_forgotten)
{
	struct engine *e = engine_with();
	load_sched(e, 1, 0, MISSED_SKIP, AT(0));
	load_done(e, (struct wall){ 0 }, 0);
	step(e, &(struct event){ .kind = EV_LOADED }, AT(0));
	step(e, &(struct event){ .kind = EV_TICK }, AT(1));
	if (!CHECK(fx.stores == 1 && fx.store[0].op == ST_OCC))
		return;
	struct st_ack ack = { .tag = fx.store[0].tag, .op = ST_OCC, .res = ST_FENCED };
	step(e, &(struct event){ .kind = EV_ACK, .ack = &ack }, AT(1));
	CHECK(fx.stores == 0 && fx.runners == 0);
	CHECK(engine_counts(e).schedules == 0 && engine_counts(e).runs == 0);
	step(e, &(struct event){ .kind = EV_TICK }, AT(1000));
	CHECK(fx.stores == 0 && fx.runners == 0);
	struct command run = { .tag = 9, .kind = CMD_RUN, .sid = 1 };
	step(e, &(struct event){ .kind = EV_COMMAND, .command = &run }, AT(1001));
	CHECK(fx.stores == 0 && fx.replies == 1 && fx.reply[0].code == REPLY_BUSY);
	free_engine(e);
}
