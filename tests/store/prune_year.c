/* Simulates a year in which the store is pruned every day: the real engine with the SQLite store, on a
 * virtual clock. Schedules are changed, removed, backfilled and followed, the clock is set back, and the
 * engine is restarted. The file must not grow during the year, and no occurrence may be claimed twice,
 * whether or not its record is left. */
#include "core/engine/engine.h"
#include "fixture.h"
#include "number_map.h"
#include "port/read.h"
#include "requests.h"
#include "test.h"

#define HOUR        INT64_C(3600)
#define DAY_SECONDS (24 * HOUR)

enum { KEPT_DAYS = 30, DAYS = 365, UNDER_WAY_MAX = 8192, SCHEDULES = 24, RUNS_A_DAY = 3 };
#define INTERVAL (DAY_SECONDS / RUNS_A_DAY)

struct year {
	struct fixture store;
	struct reader *reader;
	struct zone *utc;
	const struct zone *zones[1];
	struct engine *engine;
	struct now now;
	struct st_req waiting[UNDER_WAY_MAX];
	unsigned under_way;
	uint64_t tags, edited, removed;
	struct map fired;
	unsigned claims, lost, backfilled, steps;
	char document[2048];
};

static const struct days no_days;

/* --- the engine and its store --- */

static void step(struct year *y, const struct event *ev)
{
	struct effects fx = { 0 };
	engine_step(y->engine, ev, y->now, &fx);
	y->steps++;
	for (unsigned i = 0; i < fx.stores; i++) {
		CHECK_INT(y->store.ops->submit(y->store.store, &fx.store[i]), OK);
		if (CHECK(y->under_way < UNDER_WAY_MAX))
			y->waiting[y->under_way++] = fx.store[i];
	}
	CHECK_INT(fx.runners, 0); /* actions of kind event need no runner */
	CHECK(!fx.failed);
	effects_free(&fx);
}

static void check_claim(struct year *y, const struct st_req *r, const struct st_ack *ack)
{
	uint32_t count;
	uint64_t key = hash_pair(r->sid, (uint64_t)r->run.nominal.us);
	if (r->op != ST_OCC)
		return;
	y->lost += ack->res == ST_LOST;
	if (ack->res != ST_OK || r->run.kind == KIND_MANUAL || r->run.state != RUN_FINISHED)
		return;
	test_case("sid %llu at %lld", (unsigned long long)r->sid, (long long)r->run.nominal.us);
	CHECK(!number_map_get(&y->fired, key, &count));
	number_map_put(&y->fired, key, 1);
	y->claims++;
	y->backfilled += r->run.kind == KIND_BACKFILL;
}

static void take_answers(struct year *y)
{
	struct st_ack ack;
	while (y->under_way && CHECK_INT(collect_answers(y->store.ops, y->store.store, &ack, 1), 1)) {
		unsigned i = 0;
		while (i < y->under_way && y->waiting[i].tag != ack.tag)
			i++;
		if (!CHECK(i < y->under_way))
			return;
		struct st_req r = y->waiting[i];
		y->waiting[i] = y->waiting[--y->under_way];
		check_claim(y, &r, &ack);
		step(y, &(struct event){ .kind = EV_ACK, .ack = &ack });
	}
}

static void load_into_engine(void *ctx, const struct load_item *item)
{
	engine_load(((struct year *)ctx)->engine, item);
}

static void start_engine(struct year *y)
{
	struct engine_config config = { .slots = 16,
					.catch_up_per_second = 1000,
					.zones = y->zones,
					.zone_count = 1,
					.calendars = &no_days,
					.calendar_count = 1 };
	engine_free(y->engine);
	y->engine = NULL;
	CHECK_INT(engine_new(&config, &y->engine), OK);
	CHECK_INT(y->store.ops->load(y->store.store, load_into_engine, y), OK);
	step(y, &(struct event){ .kind = EV_LOADED });
	take_answers(y);
}

static void pass_time(struct year *y, int64_t us)
{
	y->now.wall.us += us;
	y->now.boot.us += us;
}

/* --- commands --- */

static uint64_t send_command(struct year *y, struct command c)
{
	c.tag = ++y->tags;
	step(y, &(struct event){ .kind = EV_COMMAND, .command = &c });
	take_answers(y);
	return c.tag;
}

static struct command put_command(struct year *y, uint64_t sid, int64_t interval, int64_t anchor,
				  uint64_t after)
{
	struct command c = {
		.kind = CMD_PUT, .sid = sid, .enabled = true, .max_runs = UINT32_MAX, .after = after
	};
	c.rules = (struct rules){ .version = RULES_VERSION, .zone_print = zone_fingerprint(y->utc) };
	if (!after) { /* a follower has no times of its own: its rule is empty */
		c.rules.when = (struct rule){ .kind = RULE_EVERY,
					      .from = RULE_FROM_ALWAYS,
					      .until = RULE_UNTIL_NEVER };
		c.rules.when.every.interval = interval;
		c.rules.when.every.anchor = anchor;
	}
	CHECK(rules_are_valid(&c.rules));
	c.rules.policy.action = ACTION_EVENT;
	c.rules.policy.missed = (uint8_t)(y->tags % MISSED_COUNT);
	c.rules.policy.after = AFTER_ANY;
	c.document = (struct str){ y->document, sizeof y->document };
	return c;
}

static void keep_last_sid(void *ctx, const struct load_item *item)
{
	if (item->kind == LOAD_DONE)
		*(uint64_t *)ctx = item->done.last_sid;
}

static uint64_t add_schedule(struct year *y, int64_t interval, int64_t anchor, uint64_t after)
{
	uint64_t sid = 0;
	send_command(y, put_command(y, 0, interval, anchor, after));
	CHECK_INT(y->store.ops->load(y->store.store, keep_last_sid, &sid), OK);
	return sid;
}

static struct wall days_ago(const struct year *y, int64_t days)
{
	return (struct wall){ y->now.wall.us - days * DAY_SECONDS * USEC };
}

/* --- pruning --- */

static void prune_all(struct year *y)
{
	static struct old_item item[READ_LIST_MAX];
	for (unsigned what = 0; what < PRUNES; what++) {
		struct wall by = days_ago(y, KEPT_DAYS);
		if (what == PRUNE_RUNS && engine_acted_until(y->engine).us < by.us)
			by = engine_acted_until(y->engine);
		if (what == PRUNE_EVENTS)
			by.us = INT64_MAX -
				1; /* events have the time of the machine's clock: all are pruned */
		uint64_t after = 0;
		unsigned n = READ_LIST_MAX;
		struct why why;
		while (n == READ_LIST_MAX) {
			if (!CHECK_INT(read_old(y->reader, what, after, by, item, READ_LIST_MAX, &n, &why),
				       OK))
				return;
			for (unsigned i = 0; i < n; i++) {
				struct st_req r = req_prune(what, item[i].sid, by.us);
				after = item[i].at;
				if (!item[i].old || ((what == PRUNE_RUNS || what == PRUNE_EVENTS) && i))
					continue;
				r.rev = item[i].rev;
				r.prune.first = item[i].at;
				r.prune.last = item[n - 1].at;
				CHECK_INT(fixture_ask(&y->store, r).res, ST_OK);
			}
		}
	}
}

/* --- a day --- */

static void run_until(struct year *y, struct wall until)
{
	unsigned before = y->steps;
	while (y->now.wall.us < until.us) {
		struct wall next;
		bool any = engine_next(y->engine, y->now, &next);
		struct wall t = any && next.us < until.us ? next : until;
		pass_time(y, t.us > y->now.wall.us ? t.us - y->now.wall.us : 0);
		step(y, &(struct event){ .kind = EV_TICK });
		take_answers(y);
		/* The engine must not loop over occurrences that it may not claim. */
		if (!CHECK(y->steps - before < 20000))
			return;
	}
}

static void set_back(struct year *y, int64_t seconds)
{
	y->now.wall.us -= seconds * USEC;
	step(y, &(struct event){ .kind = EV_TICK });
	take_answers(y);
}

static void run_day_events(struct year *y, unsigned day)
{
	if (day % 3 == 1) /* a change of the schedule, with or without a change of its times */
		send_command(y, put_command(y, y->edited, INTERVAL, day % 2 ? 0 : 600, 0));
	if (day % 20 == 7)
		set_back(y, INTERVAL);
	if (day % 31 == 11) {
		pass_time(y, 3 * INTERVAL * USEC);
		start_engine(y);
	}
	if (day % 10 == 3) {
		send_command(y, (struct command){ .kind = CMD_DROP, .sid = y->removed });
		y->removed = add_schedule(y, INTERVAL, 0, 0);
	}
	if (day % 15 == 9) /* missed occurrences, and some that were pruned */
		send_command(y, (struct command){ .kind = CMD_BACKFILL,
						  .sid = 2,
						  .from = days_ago(y, 3 * KEPT_DAYS),
						  .to = y->now.wall });
	if (day == 200) { /* far before the pruning mark */
		set_back(y, (KEPT_DAYS + 10) * DAY_SECONDS);
		start_engine(y);
	}
}

TEST(a_year_of_pruning)
{
	static struct year y;
	struct why why;
	int64_t early = 0, late = 0;
	fixture_open(&y.store, FIXTURE_SQLITE);
	CHECK_INT(y.store.ops->reader(y.store.store, &y.reader, &why), OK);
	CHECK_INT(zone_fixed(0, &y.utc), OK);
	y.zones[0] = y.utc;
	memset(y.document, 'x', sizeof y.document);
	y.now = (struct now){ wall_of(INT64_C(1700000000)), { HOUR * USEC } };
	start_engine(&y);
	for (unsigned i = 0; i < SCHEDULES; i++)
		add_schedule(&y, INTERVAL, 0, 0);
	y.edited = 3;
	y.removed = add_schedule(&y, INTERVAL, 0, 0);
	add_schedule(&y, 0, 0, 4); /* a follower of schedule 4 */
	for (unsigned day = 0; day < DAYS; day++) {
		run_until(&y, (struct wall){ y.now.wall.us + DAY_SECONDS * USEC });
		run_day_events(&y, day);
		prune_all(&y);
		int64_t pages = select_number(y.store.path, "PRAGMA page_count");
		if (day < 2 * KEPT_DAYS)
			early = pages > early ? pages : early;
		late = pages > late ? pages : late;
	}
	test_case("pages %lld, then at most %lld; %u claims, %u lost, %u backfilled, %u steps",
		  (long long)early, (long long)late, y.claims, y.lost, y.backfilled, y.steps);
	CHECK(late <= early * 5 / 4);
	CHECK(y.claims > DAYS * RUNS_A_DAY * SCHEDULES / 2);
	CHECK(y.lost > 100 && y.backfilled > 100);
	test_case(NULL);
	/* A month of records must be left, and the older records that are still needed. */
	char sql[200];
	snprintf(sql, sizeof sql, "SELECT count(*) FROM run WHERE max(nominal, claimed, ended) <= %lld",
		 (long long)days_ago(&y, KEPT_DAYS).us);
	CHECK(select_number(y.store.path, sql) <= SCHEDULES + 8);
	CHECK(select_number(y.store.path, "SELECT count(*) FROM version") <= KEPT_DAYS / 3 + 4);
	CHECK(select_number(y.store.path, "SELECT count(*) FROM schedule WHERE dropped IS NOT NULL") <=
	      KEPT_DAYS / 10 + 2);
	CHECK_INT(select_number(y.store.path, "SELECT count(*) FROM document d LEFT JOIN schedule USING (sid)"
					      " WHERE rev IS NULL"),
		  0);
	CHECK(select_number(
		      y.store.path,
		      "SELECT count(*) FROM run WHERE sid = (SELECT sid FROM schedule WHERE after <> 0)") >
	      0);
	CHECK(database_is_sound(y.store.path));
	if (getenv("SHOW"))
		printf("pages %lld early, %lld at most; %u claims, %u lost, %u backfilled, %u steps\n",
		       (long long)early, (long long)late, y.claims, y.lost, y.backfilled, y.steps);
	engine_free(y.engine);
	reader_close(y.reader);
	map_free(&y.fired);
	fixture_close(&y.store);
	zone_free(y.utc);
}
