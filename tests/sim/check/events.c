/* The log of events: an event exists exactly if its cause was committed. The rows are compared before and
 * after each request, whether it is the first time, a repetition, or the last that a crash lets through; what
 * has changed is what must have been logged. */
#include "check/internal.h"

/* What one request must log. */
struct expected {
	unsigned n;
	uint8_t type[8];
	struct run_row run; /* the run that the events are about; run 0: none */
};

static uint64_t hash_ranges(const struct model_sched *s)
{
	uint64_t sum = 0;
	for (unsigned i = 0; s && i < s->ranges; i++)
		sum += hash_pair(hash_pair((uint64_t)s->range[i].first.us, (uint64_t)s->range[i].last.us),
				 hash_pair(s->range[i].state, s->range[i].reason));
	return sum;
}

static struct rows_seen look(const struct check *c, const struct st_req *q)
{
	const struct model *m = c->w->rows;
	const struct run_row *run = model_run(m, q->run.run);
	const struct model_sched *s = model_sched(m, q->sid);
	const struct hold_row *hold = model_hold(m, q->hold.key);
	struct rows_seen now = { .last_event = m->last_event, .ranges = hash_ranges(s) };
	if (run)
		now.run = *run;
	if (s)
		now.rev = s->row.rev;
	now.dropped = s && s->dropped;
	if (hold && q->op == ST_HOLD)
		now.hold = *hold;
	return now;
}

void observe_applying(struct check *c, const struct st_req *q)
{
	c->before = look(c, q);
}

static void expect(struct expected *x, enum event_type type)
{
	x->type[x->n++] = (uint8_t)type;
}

static void expect_end(struct expected *x, const struct run_row *run)
{
	/* Only an event is done without an attempt. */
	if (run->outcome == OUTCOME_DONE && !run->attempt)
		expect(x, EVENT_CUSTOM);
	expect(x, EVENT_RUN_FINISHED);
	expect(x, EVENT_SCHEDULE_COMPLETED);
}

static void expect_new_run(struct expected *x, const struct run_row *run)
{
	if (run->state == RUN_SKIPPED)
		expect(x, EVENT_SCHEDULE_SKIPPED);
	else if (run->state == RUN_MISSED)
		expect(x, EVENT_SCHEDULE_MISSED);
	else
		expect(x, EVENT_RUN_CLAIMED);
	if (run->state == RUN_CLAIMED || run->state == RUN_FINISHED)
		expect(x, EVENT_SCHEDULE_TRIGGERED);
	if (run->state == RUN_FINISHED)
		expect_end(x, run);
}

/* A run that was there before. */
static void expect_changed_run(struct expected *x, const struct st_req *q, const struct run_row *before,
			       const struct run_row *after)
{
	bool other_state = before->state != after->state || before->reason != after->reason;
	if (q->op == ST_VERDICT && other_state)
		expect(x, after->state == RUN_CLAIMED   ? EVENT_SCHEDULE_TRIGGERED
			  : after->state == RUN_SKIPPED ? EVENT_SCHEDULE_SKIPPED
							: EVENT_SCHEDULE_MISSED);
	if (q->op == ST_STARTED && after->attempt > before->attempt)
		expect(x, EVENT_RUN_STARTED);
	bool ended = other_state || before->ended.us != after->ended.us ||
		     before->attempt != after->attempt || before->retry_at.us != after->retry_at.us;
	if (q->op == ST_FINISH && ended && after->state == RUN_FINISHED)
		expect_end(x, after);
	else if (q->op == ST_FINISH && ended)
		expect(x, EVENT_RUN_FAILED);
}

static struct expected expected_of(const struct st_req *q, const struct rows_seen *before,
				   const struct rows_seen *after)
{
	struct expected x = { .run = after->run };
	bool hold_changed =
		before->hold.reason != after->hold.reason || before->hold.until.us != after->hold.until.us;
	if (after->run.run && !before->run.run)
		expect_new_run(&x, &after->run);
	else if (after->run.run)
		expect_changed_run(&x, q, &before->run, &after->run);
	if (after->rev != before->rev)
		expect(&x, before->rev ? EVENT_SCHEDULE_UPDATED : EVENT_SCHEDULE_CREATED);
	if (after->dropped && !before->dropped)
		expect(&x, EVENT_SCHEDULE_DELETED);
	if (q->op == ST_RANGE && after->ranges != before->ranges)
		expect(&x, q->range.reason == REASON_EXPIRED ? EVENT_SCHEDULE_EXPIRED
			   : q->range.state == RUN_MISSED    ? EVENT_SCHEDULE_MISSED
							     : EVENT_SCHEDULE_SKIPPED);
	if (hold_changed)
		expect(&x, after->hold.reason ? EVENT_HOLD_SET : EVENT_HOLD_FREED);
	return x;
}

static void compare_event(struct check *c, const struct st_req *q, const struct expected *x,
			  const struct event_row *e, unsigned i)
{
	if (e->number != c->before.last_event + i + 1)
		check_fail(c, "events: number %llu after %llu", (unsigned long long)e->number,
			   (unsigned long long)(c->before.last_event + i));
	if (e->type != x->type[i])
		check_fail(c, "events: operation %u has logged type %u, and caused type %u", q->op, e->type,
			   x->type[i]);
	bool of_run =
		x->run.run && q->op != ST_PUT && q->op != ST_DROP && q->op != ST_RANGE && q->op != ST_HOLD;
	if (of_run && (e->run != x->run.run || e->sid != x->run.sid || e->attempt != x->run.attempt ||
		       e->first.us != x->run.nominal.us || e->rev != x->run.rev))
		check_fail(c, "events: number %llu is about another run than %llu",
			   (unsigned long long)e->number, (unsigned long long)x->run.run);
	if (e->type == EVENT_RUN_FINISHED && (e->outcome != x->run.outcome || e->reason != x->run.reason))
		check_fail(c, "events: the end of run %llu is logged otherwise",
			   (unsigned long long)x->run.run);
}

void check_events(struct check *c, const struct st_req *q, const struct st_ack *a)
{
	const struct model *m = c->w->rows;
	const struct rows_seen after = look(c, q);
	struct expected x = expected_of(q, &c->before, &after);
	size_t logged = (size_t)(after.last_event - c->before.last_event);
	if (logged != x.n || model_events(m) < logged) {
		check_fail(c, "events: operation %u about sid %llu has caused %u events and logged %zu",
			   q->op, (unsigned long long)q->sid, x.n, logged);
		return;
	}
	if (a->event != (x.n ? after.last_event : 0))
		check_fail(c, "events: the answer names event %llu", (unsigned long long)a->event);
	for (unsigned i = 0; i < x.n; i++)
		compare_event(c, q, &x, model_event_at(m, model_events(m) - x.n + i), i);
}
