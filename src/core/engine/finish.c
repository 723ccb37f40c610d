/* The end of an attempt: what it says of its agent and account, whether there is a retry, what becomes of the
 * schedule's failures, and who is told when the run is over. */
#include "core/engine/state.h"
#include "core/schedule/news.h"
#include "core/schedule/retry.h"

/* Unless it is held for longer already. */
static void hold(struct engine *e, uint32_t key, enum reason reason, struct wall until)
{
	const struct resource *res = engine_resource(e, key);
	if (res && !(res->held && res->hold.until.us >= until.us))
		command_hold(e, key, reason, until);
}

int64_t finish_max_delay(const struct policy *p)
{
	return p->retry_most ? p->retry_most : 3600;
}

/* A reset that is too far away is a wrong clock's: as good as none. */
static int64_t limited_for(const struct engine *e, const struct run *r, struct wall reset)
{
	int64_t seconds = reset.us ? (reset.us - e->now.wall.us + USEC - 1) / USEC : 0;
	return seconds > 0 && seconds <= RETRY_SECONDS_MAX ? seconds : retry_rate_limited(r->row.uncounted);
}

/* Is its schedule's next time due before that many seconds have passed? Never if it is out of the queue. */
static bool next_is_sooner(const struct engine *e, const struct sched *s, int64_t seconds)
{
	bool out = !(s->row.flags & SCHED_ENABLED) || s->row.flags & SCHED_PAUSED || s->range_open ||
		   !s->row.left;
	return !out && s->row.next.us <= e->now.wall.us + seconds * USEC;
}

/* What an attempt was told of its agent or account goes for all who use them, whatever becomes of the run. */
static void hold_others(struct engine *e, const struct run *r, const struct rn_report *says, int64_t seconds)
{
	const struct policy *p = policy_of(runs_sched(e, r));
	if (says->reason == REASON_RATE_LIMITED)
		hold(e, p->account ? p->account : p->agent, REASON_RATE_LIMITED,
		     (struct wall){ e->now.wall.us + seconds * USEC });
	else if (says->reason == REASON_AUTH || says->reason == REASON_BILLING)
		hold(e, p->agent, (enum reason)says->reason, WALL_NEVER);
}

/* Until when the run waits for another attempt; false if it has ended for good. */
static bool retries(struct engine *e, struct run *r, const struct rn_report *says, int64_t *seconds)
{
	const struct sched *s = runs_sched(e, r);
	const struct policy *p = policy_of(s);
	bool over = s->removed || runs_is_paused(e, r) || r->killed || is_from_before_restore(e, r);
	bool limited = says->reason == REASON_RATE_LIMITED && says->outcome == OUTCOME_FAILED;
	*seconds = limited_for(e, r, says->reset);
	hold_others(e, r, says, *seconds);
	if (limited) {
		r->row.uncounted++;
		return !over && !next_is_sooner(e, s, *seconds);
	}
	unsigned used = r->attempt - r->row.uncounted;
	if (over || !retry_wanted((enum outcome)says->outcome, (enum reason)says->reason) || used < 1 ||
	    used > p->retries)
		return false;
	*seconds = retry_delay((enum backoff)p->backoff, p->retry_delay, finish_max_delay(p), used);
	return true;
}

/* Failures in a row after this end, if there were so many before. */
static uint32_t failures_after(uint32_t before, const struct run *r)
{
	bool good = r->row.outcome == OUTCOME_DONE || r->row.outcome == OUTCOME_NO_WORK;
	bool by_hand = r->row.kind == KIND_MANUAL || r->row.reason == REASON_CANCELLED ||
		       r->row.reason == REASON_REPLACED;
	return good ? 0 : by_hand ? before : before + 1;
}

void finish_record(struct engine *e, struct run *r, bool avoided)
{
	struct st_req q = runs_new_request(r, ST_FINISH, LANE_FINISH);
	if (r->row.state == RUN_FINISHED) {
		struct sched *s = runs_sched(e, r);
		uint32_t before = s->finishing ? s->failures_pending : s->row.failures;
		s->failures_pending = failures_after(before, r);
		s->finishing++;
		q.news = news_of_end(policy_of(s), &r->row, before, s->failures_pending);
		q.failures = s->failures_pending;
	}
	q.avoided = avoided;
	r->phase = PHASE_ENDING;
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

void finish_attempt(struct engine *e, struct run *r, const struct rn_report *says)
{
	int64_t seconds = 0;
	gate_dequeue(e, r);
	gate_release_slot(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	runs_launch_answered(e, r);
	r->row.attempt = r->attempt;
	r->row.outcome = says->outcome;
	r->row.reason = says->reason;
	r->row.ended = says->ended;
	r->row.cost = says->cost;
	r->row.tokens_in = says->tokens_in;
	r->row.tokens_out = says->tokens_out;
	r->row.exit_code = says->exit_code;
	bool again = retries(e, r, says, &seconds);
	r->row.state = again ? RUN_RETRYING : RUN_FINISHED;
	r->row.retry_at.us = again ? e->now.wall.us + seconds * USEC : 0;
	r->retry_at.us = e->now.boot.us + seconds * USEC;
	finish_record(e, r,
		      says->kind == RN_ANSWER && says->outcome == OUTCOME_NO_WORK &&
			      policy_of(runs_sched(e, r))->action == ACTION_TURN);
}

void finish_notify_followers(struct engine *e, const struct run_row *run)
{
	if (run->end > e->last_end)
		e->last_end = run->end;
	for (uint32_t i = map_get(&e->followers_by_sid, run->sid); i != NONE; i = e->sched[i].next_follower)
		follow_add_end(e, &e->sched[i], run);
}
