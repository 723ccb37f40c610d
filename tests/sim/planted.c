/* The planted bugs. */
#include "planted.h"

#include "history.h"

#include <string.h>

/* --- helpers --- */

static struct rules rules_of(const struct world *w, uint64_t sid)
{
	struct rules r = { 0 };
	const struct model_sched *s = model_sched(w->rows, sid);
	if (s)
		memcpy(&r, s->row.rules, sizeof r);
	return r;
}

/* After a moment, sends an ST_OK that the store did not give. */
static void answer_ok(struct world *w, const struct st_req *q)
{
	agenda_add(&w->agenda, w->t + 1, W_BUG, q->tag, hash_pair(q->op, w->epoch) << 8 | q->op);
}

static void deliver_answer(struct world *w, uint64_t tag, uint64_t b)
{
	struct st_ack a = { .tag = tag, .op = (uint8_t)b, .res = ST_OK };
	if (b == (hash_pair(a.op, w->epoch) << 8 | a.op))
		world_step(w, &(struct event){ .kind = EV_ACK, .ack = &a });
}

/* --- R1: one answer per request; ST_OK for a repeated request only --- */

static bool answer_is_lost(struct world *w, struct st_ack *a)
{
	return a->op == ST_HOLD || a->tag % 97 != 13 || w->t < HOURS(1);
}

static bool lost_is_mine(struct world *w, struct st_ack *a)
{
	(void)w;
	if (a->op == ST_OCC && a->res == ST_LOST)
		a->res = ST_OK;
	return true;
}

/* --- R2: nothing starts before its cause is answered --- */

static bool start_before_answer(struct world *w, struct st_req *q)
{
	if (q->op == ST_OCC && q->run.state == RUN_CLAIMED &&
	    rules_of(w, q->sid).policy.action != ACTION_EVENT)
		sim_runner_request(w, &(struct rn_req){ .op = RN_START,
							.run = q->run.run,
							.attempt = 1,
							.sid = q->sid,
							.rev = q->rev });
	return true;
}

/* --- R3: high is set together with the record --- */

static bool high_is_not_set(struct world *w, struct st_req *q)
{
	if ((q->op == ST_OCC || q->op == ST_RANGE) && q->moves)
		q->move.high = model_sched(w->rows, q->sid)->row.high;
	return true;
}

/* --- R4: after ST_STALE the engine decides again --- */

static bool stale_is_ok(struct world *w, struct st_ack *a)
{
	(void)w;
	if (a->res == ST_STALE && a->op == ST_OCC)
		a->res = ST_OK;
	return true;
}

/* --- R5: no start after the window --- */

static void widen_window(struct sched_row *row)
{
	struct rules r;
	memcpy(&r, row->rules, sizeof r);
	if (r.policy.window)
		r.policy.window += 7200;
	memcpy(row->rules, &r, sizeof r);
}

static bool ack_has_wide_window(struct world *w, struct st_ack *a)
{
	(void)w;
	if (a->has_row)
		widen_window(&a->row);
	return true;
}

static void load_has_wide_window(struct world *w, struct load_item *item)
{
	(void)w;
	if (item->kind == LOAD_SCHED)
		widen_window(&item->sched);
}

/* --- R6: a slot is free when the tree is dead; a retry starts when the finish is durable --- */

static bool report_exit_at_kill(struct world *w, struct rn_req *q)
{
	if (q->op == RN_KILL)
		agenda_add(&w->agenda, w->t + 1, W_BUG, q->run, q->attempt | (uint64_t)q->reason << 16);
	return true;
}

static void report_early_exit(struct world *w, uint64_t run, uint64_t b)
{
	struct rn_report s = { .kind = RN_EXIT,
			       .run = run,
			       .attempt = (uint16_t)b,
			       .outcome = OUTCOME_KILLED,
			       .reason = (uint16_t)(b >> 16),
			       .ended = world_wall(w),
			       .cost = -1,
			       .exit_code = -1 };
	world_step(w, &(struct event){ .kind = EV_RUNNER, .report = &s });
}

static bool finish_is_not_written(struct world *w, struct st_req *q)
{
	if (q->op != ST_FINISH || q->run.state != RUN_RETRYING)
		return true;
	answer_ok(w, q);
	return false;
}

/* --- R7: limits --- */

static void one_slot_more(struct engine_config *c)
{
	c->slots++;
}

/* Reports starts before they happen, so that the engine launches too many runs. */
static bool report_start_at_once(struct world *w, struct rn_req *q)
{
	if (q->op == RN_START)
		agenda_add(&w->agenda, w->t, W_BUG, q->run, q->attempt);
	return true;
}

static void report_start(struct world *w, uint64_t run, uint64_t attempt)
{
	struct rn_report s = { .kind = RN_STARTED, .run = run, .attempt = (uint16_t)attempt };
	world_step(w, &(struct event){ .kind = EV_RUNNER, .report = &s });
}

/* --- R8: memory can be rebuilt from the rows --- */

static bool hold_is_not_written(struct world *w, struct st_req *q)
{
	if (q->op != ST_HOLD)
		return true;
	answer_ok(w, q);
	return false;
}

/* --- R9: rules are valid for their zone data only --- */

static void flip_zone_print(struct sched_row *row, uint64_t flip)
{
	struct rules r;
	memcpy(&r, row->rules, sizeof r);
	r.zone_print ^= flip;
	memcpy(row->rules, &r, sizeof r);
}

static bool put_has_old_print(struct world *w, struct st_req *q)
{
	(void)w;
	if (q->op == ST_PUT)
		flip_zone_print(&q->row, 1);
	return true;
}

static bool ack_has_new_print(struct world *w, struct st_ack *a)
{
	(void)w;
	if (a->has_row)
		flip_zone_print(&a->row, 1);
	return true;
}

static void load_has_new_print(struct world *w, struct load_item *item)
{
	(void)w;
	if (item->kind == LOAD_SCHED)
		flip_zone_print(&item->sched, 1);
}

/* --- R10: preconditions are asked after the record --- */

static bool ask_before_record(struct world *w, struct st_req *q)
{
	if (q->op == ST_OCC && q->run.state == RUN_PENDING)
		sim_runner_request(w, &(struct rn_req){ .op = RN_ASK,
							.ask = (uint8_t)__builtin_ctz(
								rules_of(w, q->sid).policy.preconditions),
							.number = 1,
							.run = q->run.run,
							.sid = q->sid,
							.rev = q->rev });
	return true;
}

/* --- R11: ranges are exact --- */

static bool range_is_short(struct world *w, struct st_req *q)
{
	struct rules r = rules_of(w, q->sid);
	struct wall second;
	if (q->op == ST_RANGE && q->range.last.us != INT64_MAX &&
	    rule_next(&r.when, w->zones[r.policy.zone], q->range.first, &second) == OK &&
	    second.us <= q->range.last.us)
		q->range.first = second;
	return true;
}

static bool range_is_long(struct world *w, struct st_req *q)
{
	struct rules r = rules_of(w, q->sid);
	struct wall next;
	if (q->op == ST_RANGE && q->range.last.us != INT64_MAX &&
	    rule_next(&r.when, w->zones[r.policy.zone], q->range.last, &next) == OK) {
		q->range.last = next;
		if (q->moves)
			q->move.high = next;
	}
	return true;
}

/* --- news are written with their cause, once --- */

static bool failure_is_not_news(struct world *w, struct st_req *q)
{
	if (w->t > HOURS(1) && q->op == ST_FINISH)
		q->news &= (uint8_t) ~(1u << NEWS_FAILURE);
	return true;
}

static bool retry_is_news(struct world *w, struct st_req *q)
{
	(void)w;
	if (q->op == ST_FINISH && q->run.state == RUN_RETRYING)
		q->news = 1u << NEWS_FAILURE;
	return true;
}

/* --- events are logged with their cause, once --- */

static void event_is_lost(struct world *w, const struct st_req *q, struct st_ack *a)
{
	if (q->op == ST_FINISH && a->event && w->t > HOURS(1)) {
		w->rows->events--;
		w->rows->last_event--;
		a->event--;
	}
}

/* A store that does not recognize a repetition. */
static void event_is_repeated(struct world *w, const struct st_req *q, struct st_ack *a)
{
	const struct run_row *run = model_run(w->rows, q->run.run);
	if (q->op != ST_OCC || a->event || !run || a->res != ST_OK)
		return;
	w->rows->event[w->rows->events - 1].row.number = ++w->rows->last_event;
	a->event = w->rows->last_event;
}

static void number_is_used_twice(struct world *w, const struct st_req *q, struct st_ack *a)
{
	if (q->op == ST_RANGE && a->event)
		w->rows->event[w->rows->events - 1].row.number--;
}

static bool event_is_not_published(struct world *w, struct st_req *q)
{
	(void)w;
	if (q->op == ST_FINISH)
		q->publishes = false; /* claimed events publish; those that were asked first do not */
	return true;
}

static bool end_date_is_skipped(struct world *w, struct st_req *q)
{
	(void)w;
	q->expires = false;
	return true;
}

/* --- G3: a next check is kept --- */

static void next_check_is_not_loaded(struct world *w, struct load_item *item)
{
	(void)w;
	if (item->kind == LOAD_SCHED)
		item->sched.next_set_at = (struct wall){ 0 };
}

/* --- several nodes --- */

static bool collision_is_mine(struct world *w, struct st_ack *a)
{
	(void)w;
	if (a->op == ST_OCC && a->res == ST_COLLISION)
		a->res = ST_OK;
	return true;
}

static void foreign_run_is_mine(struct world *w, struct load_item *item)
{
	if (item->kind == LOAD_RUN)
		item->run.node = model_part(w->rows, 0)->node;
}

/* The last claims that were sent, by tag. */
static struct st_req claim[64];

static bool keep_claim(struct world *w, struct st_req *q)
{
	(void)w;
	if (q->op == ST_OCC)
		claim[q->tag % ARRAY_LEN(claim)] = *q;
	return true;
}

static bool ask_fenced_claim_again(struct world *w, struct st_ack *a)
{
	const struct st_req *q = &claim[a->tag % ARRAY_LEN(claim)];
	if (a->res == ST_FENCED && a->op == ST_OCC && q->tag == a->tag)
		agenda_add(&w->agenda, w->t + 1, W_BUG, a->tag, 0);
	return true;
}

static void send_claim(struct world *w, uint64_t tag, uint64_t b)
{
	(void)b;
	sim_store_submit(w, &claim[tag % ARRAY_LEN(claim)]);
}

enum { CRASHES = 1, CLOCKS = 2, EVERYTHING = 4, DENSE = 5, PEOPLE = 6, FOREIGN = 9, BURST = 10, NODES = 12 };

const struct planted planted[] = {
	{ { "an answer is lost", "R1", .ack = answer_is_lost }, "never comes to rest", PEOPLE, 1 },
	{ { "lost is taken for ok", "R1", .ack = lost_is_mine }, "not recorded", CLOCKS, 12 },
	{ { "starts before the answer", "R2", .submit = start_before_answer }, "R2", CRASHES, 6 },
	{ { "high is not set", "R3", .submit = high_is_not_set }, "R3", CRASHES, 6 },
	{ { "stale is taken for ok", "R4", .ack = stale_is_ok }, "not recorded", FOREIGN, 4 },
	{ { "starts after the window", "R5", .ack = ack_has_wide_window, .load = load_has_wide_window },
	  "R5",
	  DENSE,
	  1 },
	{ { "slot is free at the kill", "R6", .runner = report_exit_at_kill, .later = report_early_exit },
	  "G5",
	  PEOPLE,
	  8 },
	{ { "retry before the finish", "R6", .submit = finish_is_not_written, .later = deliver_answer },
	  "R6",
	  DENSE,
	  1 },
	{ { "one slot too many", "R7", .config = one_slot_more }, "slots are", DENSE, 1 },
	{ { "too many launches", "R7", .runner = report_start_at_once, .later = report_start },
	  "launches under way",
	  BURST,
	  1 },
	{ { "memory without a row", "R8", .submit = hold_is_not_written, .later = deliver_answer },
	  "R8",
	  PEOPLE,
	  8 },
	{ { "rules of old zone data", "R9", .submit = put_has_old_print, .ack = ack_has_new_print,
	    .load = load_has_new_print },
	  "R9",
	  CRASHES,
	  6 },
	{ { "precondition before the record", "R10", .submit = ask_before_record }, "R10", DENSE, 1 },
	{ { "range is too short", "R11", .submit = range_is_short }, "no record", CRASHES, 6 },
	{ { "a failure is not news", "news", .submit = failure_is_not_news }, "news", DENSE, 1 },
	{ { "a retry is news", "news", .submit = retry_is_news }, "news", DENSE, 1 },
	{ { "an event is lost", "events", .applied = event_is_lost }, "events", DENSE, 1 },
	{ { "an event is logged again", "events", .applied = event_is_repeated }, "events", EVERYTHING, 6 },
	{ { "an event's number is used twice", "events", .applied = number_is_used_twice },
	  "events",
	  CRASHES,
	  6 },
	{ { "an event is not published", "events", .submit = event_is_not_published }, "events", DENSE, 1 },
	{ { "an end date is no event", "events", .submit = end_date_is_skipped }, "events", EVERYTHING, 6 },
	{ { "range is too long", "R11", .submit = range_is_long }, "early", CRASHES, 6 },
	{ { "a collided number answered as mine", "nodes", .ack = collision_is_mine },
	  "not recorded",
	  NODES,
	  10 },
	{ { "a foreign run probed", "nodes", .load = foreign_run_is_mine }, "held elsewhere", NODES, 10 },
	{ { "a fenced claim asked again", "nodes", .submit = keep_claim, .ack = ask_fenced_claim_again,
	    .later = send_claim },
	  "fenced",
	  NODES,
	  10 },
	{ { "next check is forgotten", "G3", .load = next_check_is_not_loaded }, "is forgotten", DENSE, 1 },
};
const unsigned planted_count = ARRAY_LEN(planted);

static bool history_shows(const struct planted *p, uint64_t seed, bool with_bug)
{
	return history_run(&(struct history_options){ .seed = seed,
						      .profile = p->profile,
						      .days = p->days,
						      .quiet = true,
						      .bug = with_bug ? &p->bug : NULL,
						      .want = p->want })
		.found;
}

unsigned planted_find(const struct planted *p)
{
	enum { TRIES = 12 };
	for (unsigned i = 1; i <= TRIES; i++)
		if (history_shows(p, i, true) && !history_shows(p, i, false))
			return i;
	return 0;
}
