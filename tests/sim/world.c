/* The simulated world: its clocks, its agenda and the engine in it. */
#include "world.h"

#include "check/check.h"
#include "coverage.h"
#include "opinion/opinion.h"
#include "zoneinfo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* 2026-03-10, 03-17, 03-29 (summer time in Berlin), 04-05 (end of it in Sydney) */
static const int32_t some_days[] = { 20522, 20529, 20541, 20548 };
const struct days world_calendars[WORLD_CALENDARS] = {
	[CALENDAR_SOME] = { some_days, ARRAY_LEN(some_days) },
};

const struct zone *world_zone(unsigned zone)
{
	static const char *const names[] = { [ZONE_UTC] = "UTC",
					     [ZONE_NEW_YORK] = "America/New_York",
					     [ZONE_SYDNEY] = "Australia/Sydney",
					     [ZONE_BERLIN] = "Europe/Berlin" };
	return test_zone(names[zone]);
}

/* The tag of commands to a fenced engine. */
#define FENCED_TAG UINT64_MAX

/* --- random numbers and times --- */

static uint64_t draw(struct world *w)
{
	w->random += UINT64_C(0x9e3779b97f4a7c15);
	return hash_number(w->random);
}

uint64_t world_random(struct world *w, uint64_t below)
{
	return below ? draw(w) % below : 0;
}

int64_t world_between(struct world *w, struct span s)
{
	return s.lo + (int64_t)world_random(w, (uint64_t)(s.hi - s.lo) + 1);
}

bool world_chance(struct world *w, unsigned percent)
{
	return percent && (percent >= 100 || world_random(w, 100) < percent);
}

struct wall world_wall(const struct world *w)
{
	return (struct wall){ w->t + w->wall_ahead };
}

struct now world_now(const struct world *w)
{
	return (struct now){ world_wall(w), { w->t - w->booted } };
}

void world_hash(struct world *w, uint64_t what)
{
	w->hash = hash_pair(w->hash ^ (uint64_t)w->t, what);
}

void world_log(struct world *w, const char *fmt, ...)
{
	if (!w->verbose)
		return;
	char text[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	int64_t us = world_wall(w).us, s = floor_div(us, USEC), day = floor_div(s, DAY);
	struct date d = date_of(day);
	s -= day * DAY;
	printf("%04d-%02u-%02u %02d:%02d:%02d.%03d %s\n", d.year, d.month, d.day, (int)(s / 3600),
	       (int)(s / 60 % 60), (int)(s % 60), (int)(floor_div(us, 1000) - floor_div(us, USEC) * 1000),
	       text);
}

/* --- opening and closing --- */

void world_open(struct world *w, const struct world_options *o)
{
	*w = (struct world){
		.seed = o->seed,
		.random = hash_number(o->seed),
		.wall_ahead = o->start.us,
		.wake = INT64_MAX,
		.down_for = SECONDS(2),
		.timing = o->timing,
		.workload = o->workload,
		.bug = o->bug,
		.verbose = o->verbose,
		.rows = model_new(),
	};
	for (unsigned i = 0; i < WORLD_ZONES; i++)
		w->zones[i] = world_zone(i);
	w->booted = -HOURS(1);
	w->config = (struct engine_config){
		.slots = o->slots,
		.catch_up_per_second = o->catch_up_per_second,
		.zones = w->zones,
		.zone_count = WORLD_ZONES,
		.calendars = world_calendars,
		.calendar_count = WORLD_CALENDARS,
		.agents = w->agents,
		.agent_count = WORLD_AGENTS,
		.default_agent = &w->default_agent,
		.has_hook = o->has_hook,
	};
	w->check = check_new(w);
	w->opinion = opinion_new(w);
	world_start_engine(w);
	world_run(w, w->timing.commit.hi + w->timing.answer.hi + 1); /* until the engine has numbers */
}

void world_close(struct world *w)
{
	engine_free(w->engine);
	effects_free(&w->fx);
	sim_store_free(w);
	sim_runner_free(w);
	agenda_free(&w->agenda);
	model_free(w->rows);
	model_free(w->backup);
	check_free(w->check);
	opinion_free(w->opinion);
}

void world_add_incident(struct world *w, int64_t delay, uint64_t a, uint64_t b)
{
	agenda_add(&w->agenda, w->t + delay, W_INCIDENT, a, b);
}

/* --- the engine --- */

static void load_with_bug(void *ctx, const struct load_item *item)
{
	struct world *w = ctx;
	struct load_item i = *item;
	if (w->bug && w->bug->load)
		w->bug->load(w, &i);
	engine_load(w->engine, &i);
}

static void load_plainly(void *ctx, const struct load_item *item)
{
	engine_load(ctx, item);
}

static struct engine *new_engine(const struct world *w)
{
	struct engine_config config = w->config;
	struct engine *e = NULL;
	if (w->bug && w->bug->config)
		w->bug->config(&config);
	if (engine_new(&config, &e))
		abort();
	return e;
}

void world_compare(struct world *w)
{
	struct now now = world_now(w);
	if (w->engine)
		check_clock(w->check);
	if (!w->engine || w->foreign_writes || w->taken || !engine_quiet(w->engine, now))
		return;
	struct engine *fresh = new_engine(w);
	struct effects fx = { 0 };
	model_load(w->rows, load_plainly, fresh);
	engine_step(fresh, &(struct event){ .kind = EV_LOADED }, now, &fx);
	if (engine_digest(fresh) != engine_digest(w->engine))
		check_fail(w->check,
			   "R8: the digest of a quiet engine differs from that of a freshly loaded one");
	effects_free(&fx);
	engine_free(fresh);
	w->digests++;
}

static void set_timer(struct world *w)
{
	struct wall next;
	w->wake = INT64_MAX;
	if (!w->engine || !engine_next(w->engine, world_now(w), &next) || next.us == INT64_MAX)
		return;
	int64_t t = next.us - w->wall_ahead;
	w->wake = t <= w->t ? w->t : t + world_between(w, w->timing.wake);
}

static void carry_out(struct world *w, bool stores, uint32_t epoch)
{
	for (unsigned i = 0; stores && i < w->fx.stores && epoch == w->epoch; i++) {
		if (world_call(w))
			return;
		sim_store_submit(w, &w->fx.store[i]);
		if (world_call(w))
			return;
	}
	for (unsigned i = 0; !stores && i < w->fx.runners && epoch == w->epoch; i++) {
		if (world_call(w))
			return;
		sim_runner_request(w, &w->fx.runner[i]);
		if (world_call(w))
			return;
	}
}

void world_step(struct world *w, const struct event *ev)
{
	if (!w->engine)
		return;
	uint32_t epoch = w->epoch;
	effects_clear(&w->fx);
	engine_step(w->engine, ev, world_now(w), &w->fx);
	w->steps++;
	if (w->fx.failed)
		check_fail(w->check, "the engine ran out of memory");
	observe_step(w->check, &w->fx);
	/* Store requests and runner requests of a step may be carried out in either order. */
	bool stores = w->timing.report.hi == w->timing.report.lo || world_chance(w, 50);
	carry_out(w, stores, epoch);
	carry_out(w, !stores, epoch);
	for (unsigned i = 0; i < w->fx.replies && epoch == w->epoch; i++) {
		if (world_call(w))
			return;
		if (w->fx.reply[i].tag != FENCED_TAG) {
			observe_reply(w->check, &w->fx.reply[i]);
			opinion_replied(w->opinion, &w->fx.reply[i]);
		}
		world_hash(w, hash_pair(w->fx.reply[i].tag, w->fx.reply[i].code));
	}
	if (epoch != w->epoch)
		return;
	if (!w->fenced)
		opinion_step_done(w->opinion);
	set_timer(w);
	if (w->steps % (model_scheds(w->rows) > 100 ? 4096 : 16) == 0)
		world_compare(w);
}

void world_start_engine(struct world *w)
{
	if (w->engine)
		return;
	w->epoch++;
	world_take_back(w);
	world_hold_elsewhere(w);
	model_forget_numbers(w->rows); /* as SQLite does: no other process uses them */
	w->engine = new_engine(w);
	observe_up(w->check);
	opinion_up(w->opinion);
	world_log(w, "up, epoch %u", w->epoch);
	model_load(w->rows, load_with_bug, w);
	world_step(w, &(struct event){ .kind = EV_LOADED });
	world_compare(w);
}

static void go_down(struct world *w, bool machine, int64_t down_for)
{
	if (!w->engine)
		return;
	world_log(w, machine ? "machine crash for %.3f s" : "crash for %.3f s", (double)down_for / 1e6);
	world_hash(w, machine ? 2 : 1);
	coverage_count_fault(w->coverage, w, machine ? FAULT_MACHINE : FAULT_CRASH_BEFORE);
	engine_free(w->engine);
	w->engine = NULL;
	w->wake = INT64_MAX;
	if (!w->fenced) {
		observe_down(w->check);
		opinion_down(w->opinion);
	}
	w->fenced = false;
	sim_store_crash(w);
	sim_runner_crash(w, machine);
	if (machine) {
		w->booted = w->t + down_for - world_between(w, (struct span){ SECONDS(2), SECONDS(20) });
	}
	w->epoch++; /* makes everything under way void */
	agenda_add(&w->agenda, w->t + down_for, W_UP, 0, 0);
}

void world_crash(struct world *w, int64_t down_for)
{
	go_down(w, false, down_for);
}

void world_crash_machine(struct world *w, int64_t down_for)
{
	go_down(w, true, down_for < SECONDS(30) ? SECONDS(30) : down_for);
}

bool world_call(struct world *w)
{
	if (++w->calls != w->crash_at)
		return false;
	w->crash_at = w->crash_again ? w->calls + w->crash_again : 0;
	w->crash_again = 0;
	if (w->crash_machine)
		world_crash_machine(w, w->down_for);
	else
		world_crash(w, w->down_for);
	return true;
}

void world_outage(struct world *w, int64_t lasts)
{
	world_log(w, "store outage for %.3f s", (double)lasts / 1e6);
	if (w->t + lasts <= w->outage_until)
		return;
	w->outage_until = w->t + lasts;
	observe_outage(w->check, w->outage_until);
	opinion_outage(w->opinion, w->outage_until);
	coverage_count_fault(w->coverage, w, FAULT_OUTAGE);
}

void world_step_clock(struct world *w, int64_t by)
{
	int64_t before = world_wall(w).us;
	world_log(w, "clock step by %.3f s", (double)by / 1e6);
	w->wall_ahead += by;
	model_free(w->backup); /* see world_restore */
	w->backup = NULL;
	world_hash(w, (uint64_t)by);
	observe_clock_step(w->check, before);
	opinion_stepped(w->opinion, by);
	coverage_count_fault(w->coverage, w, by < 0 ? FAULT_CLOCK_BACK : FAULT_CLOCK_AHEAD);
	set_timer(w);
	agenda_add(&w->agenda, w->t + world_between(w, w->timing.wake), W_TICK, w->epoch, 0);
}

void world_suspend(struct world *w, int64_t lasts)
{
	int64_t since = w->t;
	world_log(w, "suspended for %.3f s", (double)lasts / 1e6);
	coverage_count_fault(w->coverage, w, FAULT_SUSPEND);
	w->t += lasts;
	w->idle_steps = 0;
	world_hash(w, 3);
	sim_runner_suspend(w, lasts);
	observe_suspend(w->check, since);
	opinion_suspended(w->opinion, since);
	if (w->engine)
		agenda_add(&w->agenda, w->t + world_between(w, w->timing.wake), W_RESUMED, w->epoch, 0);
}

uint64_t world_command(struct world *w, struct command c)
{
	if (!w->engine)
		return 0;
	world_hash(w, hash_pair(c.kind + 700u, c.sid));
	if (w->fenced) { /* whatever the command is, a fenced engine must send no request */
		c.tag = FENCED_TAG;
		world_step(w, &(struct event){ .kind = EV_COMMAND, .command = &c });
		return 0;
	}
	c.tag = ++w->command_tag;
	observe_command(w->check, &c);
	opinion_command(w->opinion, &c);
	world_step(w, &(struct event){ .kind = EV_COMMAND, .command = &c });
	return c.tag;
}

void world_foreign_write(struct world *w, const struct st_req *q)
{
	struct st_ack a;
	world_log(w, "another writer changes sid %llu", (unsigned long long)q->sid);
	w->foreign_writes = true;
	model_apply(w->rows, q, &a);
	observe_applied(w->check, q, &a);
	opinion_written(w->opinion, q, &a);
}

void world_state_changed(struct world *w, uint32_t key)
{
	world_log(w, "state of %u changed", key);
	world_hash(w, key);
	world_step(w, &(struct event){ .kind = EV_STATE, .key = key });
}

void world_documents_applied(struct world *w)
{
	world_log(w, "documents are applied");
	world_step(w, &(struct event){ .kind = EV_DOCUMENTS });
}

/* --- time passes --- */

static void run_entry(struct world *w, const struct agenda_entry *e)
{
	switch ((enum world_kind)e->kind) {
	case W_COMMIT:
		sim_store_commit(w, (unsigned)e->a);
		break;
	case W_ANSWER:
		sim_store_answer(w, (unsigned)e->a);
		break;
	case W_START:
		sim_runner_start(w, (unsigned)e->a);
		break;
	case W_END:
		sim_runner_end(w, (unsigned)e->a);
		break;
	case W_REPORT:
		sim_runner_report(w, (unsigned)e->a);
		break;
	case W_UP:
		world_start_engine(w);
		break;
	case W_TICK:
		if (e->a == w->epoch)
			world_step(w, &(struct event){ .kind = EV_TICK });
		break;
	case W_RESUMED:
		if (e->a == w->epoch)
			world_step(w, &(struct event){ .kind = EV_RESUMED });
		break;
	case W_RELOAD:
		if (e->a == w->epoch)
			world_crash(w, world_between(w, (struct span){ 1000, SECONDS(10) }));
		break;
	case W_BUG:
		w->bug->later(w, e->a, e->b);
		break;
	case W_INCIDENT:
		w->workload->incident(w, e->a, e->b);
		break;
	}
}

bool world_run(struct world *w, int64_t t)
{
	enum { IDLE_STEPS_MAX = 500 };
	while (check_failures(w->check) < CHECK_FAILURES_MAX) {
		const struct agenda_entry *top = agenda_top(&w->agenda);
		int64_t first = top ? top->t : INT64_MAX;
		bool wake = w->wake <= first;
		int64_t next = wake ? w->wake : first;
		if (next > t) {
			w->t = w->t > t ? w->t : t;
			return true;
		}
		if (next > w->t) {
			w->t = next;
			w->idle_steps = 0;
		}
		if (wake) {
			w->wake = INT64_MAX;
			world_step(w, &(struct event){ .kind = EV_TICK });
			/* A few ticks without any effect at the same time are allowed, but not an endless
			 * number. */
			bool idle = w->wake == w->t && !w->fx.stores && !w->fx.runners && !w->fx.replies;
			w->idle_steps = idle ? w->idle_steps + 1 : 0;
			if (w->idle_steps > IDLE_STEPS_MAX) {
				check_fail(w->check, "G8: the engine asks for a tick at once, again and "
						     "again, and does nothing");
				w->wake = w->t + 1000;
				w->idle_steps = 0;
			}
		} else {
			struct agenda_entry e = agenda_pop(&w->agenda);
			run_entry(w, &e);
		}
	}
	return false;
}

bool world_run_until_wall(struct world *w, struct wall at)
{
	return world_run(w, at.us - w->wall_ahead);
}

bool world_drain(struct world *w, int64_t most)
{
	w->draining = true;
	w->crash_at = 0;
	w->timing.repeat_percent = 0;
	int64_t end = w->t + most;
	while (w->t < end) {
		if (!world_run(w, w->t + SECONDS(1)))
			return false;
		if (!w->engine || w->t < w->outage_until || !sim_store_idle(w) || w->reports_under_way ||
		    !engine_quiet(w->engine, world_now(w)))
			continue;
		struct engine_counts n = engine_counts(w->engine);
		if (n.runs == 0 && model_open_runs(w->rows) == 0)
			return true;
	}
	struct engine_counts n = { 0 };
	if (w->engine)
		n = engine_counts(w->engine);
	check_fail(w->check,
		   "the engine never comes to rest: it is %s, %u runs (%u waiting, %u queued, %u running, %u "
		   "retrying), %u "
		   "slots used, %u claims and %u launches under way; %zu runs open in the store",
		   !w->engine                              ? "down"
		   : engine_quiet(w->engine, world_now(w)) ? "quiet"
							   : "not quiet",
		   n.runs, n.waiting, n.queued, n.running, n.retrying, n.slots_used, n.claims_under_way,
		   n.launches_under_way, model_open_runs(w->rows));
	return false;
}
