/* Handles the end of an attempt: sets holds on its agent and account, decides about a retry, and counts
 * failures of the schedule. */
#include "core/engine/state.h"
#include "core/schedule/news.h"
#include "core/schedule/retry.h"

/* Holds the agent or account, unless it is held for longer already. */
static void extend_hold(struct engine *e, uint32_t key, enum reason reason, struct wall until)
{
	const struct resource *res = engine_resource(e, key);
	if (res && !(res->held && res->hold.until.us >= until.us))
		command_hold(e, key, reason, until);
}

static struct retry_rules rules_of_policy(const struct policy *p)
{
	return (struct retry_rules){ .retries = p->retries,
				     .backoff = (enum backoff)p->backoff,
				     .delay = p->retry_delay,
				     .most = p->retry_most ? p->retry_most : 3600 };
}

uint64_t finish_retry_number(const struct sched *s)
{
	struct retry_rules rules = rules_of_policy(policy_of(s));
	return retry_encode(&rules);
}

/* Those of the version under which the run was claimed. Runs of older stores have none: then the present
 * version applies. */
static struct retry_rules rules_of_run(struct engine *e, const struct run *r)
{
	struct retry_rules rules;
	return retry_decode(r->row.retry, &rules) ? rules : rules_of_policy(policy_of(runs_sched(e, r)));
}

int64_t finish_max_delay(struct engine *e, const struct run *r)
{
	return rules_of_run(e, r).most;
}

/* For how many seconds a rate limit lasts. A reset too far away comes from a wrong clock and is ignored. */
static int64_t rate_limit_seconds(const struct engine *e, const struct run *r, struct wall reset)
{
	int64_t seconds = reset.us ? (reset.us - e->now.wall.us + USEC - 1) / USEC : 0;
	return seconds > 0 && seconds <= RETRY_SECONDS_MAX ? seconds : retry_rate_limited(r->row.uncounted);
}

/* True if the schedule's next time comes within that many seconds; false if it has no next time. */
static bool next_comes_within(const struct engine *e, const struct sched *s, int64_t seconds)
{
	bool none = !(s->row.flags & SCHED_ENABLED) || s->row.flags & SCHED_PAUSED || s->range_reason ||
		    !s->row.left;
	return !none && s->row.next.us <= e->now.wall.us + seconds * USEC;
}

/* A rate limit or a refused login concerns all schedules of the account or agent, whatever happens to this
 * run. */
static void hold_resources(struct engine *e, const struct run *r, const struct rn_report *report,
			   int64_t seconds)
{
	const struct policy *p = policy_of(runs_sched(e, r));
	if (report->reason == REASON_RATE_LIMITED)
		extend_hold(e, p->account ? p->account : p->agent, REASON_RATE_LIMITED,
			    (struct wall){ e->now.wall.us + seconds * USEC });
	else if (report->reason == REASON_AUTH || report->reason == REASON_BILLING)
		extend_hold(e, p->agent, (enum reason)report->reason, WALL_NEVER);
}

/* Whether there is another attempt, and after how many seconds. */
static bool has_retry(struct engine *e, struct run *r, const struct rn_report *report, int64_t *seconds)
{
	const struct sched *s = runs_sched(e, r);
	const struct retry_rules rules = rules_of_run(e, r);
	bool final = s->removed || runs_is_paused(e, r) || r->killed || is_from_before_restore(e, r);
	bool limited = report->reason == REASON_RATE_LIMITED && report->outcome == OUTCOME_FAILED;
	*seconds = rate_limit_seconds(e, r, report->reset);
	hold_resources(e, r, report, *seconds);
	if (limited) {
		r->row.uncounted++;
		return !final && !next_comes_within(e, s, *seconds);
	}
	unsigned used = r->attempt - r->row.uncounted;
	if (final || !retry_wanted((enum outcome)report->outcome, (enum reason)report->reason) || used < 1 ||
	    used > rules.retries)
		return false;
	*seconds = retry_delay(rules.backoff, rules.delay, rules.most, used);
	return true;
}

/* What this end does to the failures in a row. */
static enum failures_change change_of_failures(const struct run *r)
{
	bool good = r->row.outcome == OUTCOME_DONE || r->row.outcome == OUTCOME_NO_WORK;
	bool by_hand = r->row.kind == KIND_MANUAL || r->row.reason == REASON_CANCELLED ||
		       r->row.reason == REASON_REPLACED;
	return good ? FAILURES_CLEAR : by_hand ? FAILURES_STAY : FAILURES_GROW;
}

void finish_record(struct engine *e, struct run *r, bool avoided)
{
	if (r->row.state == RUN_RETRYING)
		r->row.node = e->node; /* the next attempt is started here, wherever this one was */
	struct st_req q = runs_new_request(r, ST_FINISH, LANE_FINISH);
	if (r->row.state == RUN_FINISHED) {
		struct sched *s = runs_sched(e, r);
		uint32_t before = s->finishing ? s->failures_pending : s->row.failures;
		q.failures = (uint8_t)change_of_failures(r);
		q.publishes = policy_of(s)->action == ACTION_EVENT && r->row.outcome == OUTCOME_DONE &&
			      !r->row.attempt;
		s->failures_pending =
			q.failures == FAILURES_CLEAR ? 0 : before + (q.failures == FAILURES_GROW);
		s->finishing++;
		q.news = news_of_end(policy_of(s), &r->row, before, s->failures_pending);
	}
	q.avoided = avoided;
	r->phase = PHASE_ENDING;
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

void finish_attempt(struct engine *e, struct run *r, const struct rn_report *report)
{
	int64_t seconds = 0;
	gate_dequeue(e, r);
	gate_release_slot(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	runs_launch_answered(e, r);
	r->row.attempt = r->attempt;
	r->row.outcome = report->outcome;
	r->row.reason = report->reason;
	r->row.ended = report->ended;
	r->row.cost = report->cost;
	r->row.tokens_in = report->tokens_in;
	r->row.tokens_out = report->tokens_out;
	r->row.exit_code = report->exit_code;
	bool again = has_retry(e, r, report, &seconds);
	r->row.state = again ? RUN_RETRYING : RUN_FINISHED;
	r->row.retry_at.us = again ? e->now.wall.us + seconds * USEC : 0;
	r->retry_at.us = e->now.boot.us + seconds * USEC;
	finish_record(e, r,
		      report->kind == RN_ANSWER && report->outcome == OUTCOME_NO_WORK &&
			      policy_of(runs_sched(e, r))->action == ACTION_TURN);
}
