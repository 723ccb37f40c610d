/* Checks of the requests to the store, of their effects, and of the answers to the engine. */
#include "check/internal.h"

#include <stdio.h>

#define RUN_PRECONDITIONS ((1u << ASK_CHECK) - 1)

static bool is_nominal(const struct check *c, const struct rules *r, struct wall n)
{
	struct wall t;
	return rule_next(&r->when, check_zone(c, r), (struct wall){ n.us - 1 }, &t) == OK && t.us == n.us;
}

/* A nominal time of the rule, or the next check. */
static bool is_time(const struct check *c, const struct version *v, struct wall n)
{
	return (v->next_check.us && n.us == v->next_check.us) || is_nominal(c, &v->rules, n);
}

static struct wall next_nominal(const struct check *c, const struct rules *r, struct wall after)
{
	struct wall t;
	return rule_next(&r->when, check_zone(c, r), after, &t) == OK ? t : WALL_NEVER;
}

static bool is_excluded(const struct check *c, const struct rules *r, struct wall n)
{
	return r->policy.calendar < WORLD_CALENDARS &&
	       days_have(&world_calendars[r->policy.calendar], check_zone(c, r), n);
}

/* True if the time is outside the agent's hours, counted in minutes from their beginning. */
static bool is_inactive(const struct check *c, const struct rules *r, struct wall n)
{
	const struct hours *h = &r->active;
	int64_t t = n.us / USEC, local = t + zone_offset(c->w->zones[h->zone], t);
	int64_t open = ((int64_t)h->to - h->from + 1440) % 1440,
		passed = ((local / 60 % 1440) - h->from + 1440) % 1440;
	return open && passed >= open;
}

/* Why the time never runs; REASON_NONE: it may run. */
static enum reason bar_reason(const struct check *c, const struct rules *r, struct wall n)
{
	return is_excluded(c, r, n)   ? REASON_EXCLUDED
	       : is_inactive(c, r, n) ? REASON_ACTIVE_HOURS
				      : REASON_NONE;
}

/* --- requests --- */

void observe_step(struct check *c, const struct effects *fx)
{
	unsigned claims = 0;
	for (unsigned i = 0; i < fx->stores; i++)
		claims += fx->store[i].op == ST_OCC || fx->store[i].op == ST_RANGE;
	if (claims > 2 * STEP_DUE_MAX + CATCH_UP_MAX)
		check_fail(c, "R7: %u claims in one step", claims);
}

static bool is_refused(unsigned state)
{
	return state == RUN_SKIPPED || state == RUN_MISSED;
}

/* True if the schedule has a live run that the engine knows, or knew a moment ago. */
static bool has_live_run(const struct check *c, uint64_t sid)
{
	for (size_t i = 0; i < model_open_runs(c->w->rows); i++) {
		const struct run_row *r = model_open_run_at(c->w->rows, i);
		const struct check_run *v = check_find_run(c, r->run);
		if (r->sid == sid && (r->state != RUN_RETRYING || (v && v->requested > r->attempt)))
			return true;
	}
	/* The end of a run may just have been written, while the answer is still on its way. */
	for (const struct check_run *v = run_newest(c, check_find_sched(c, sid)); v; v = run_older(c, v))
		if (v->ending)
			return true;
	return false;
}

static unsigned count_open_runs(const struct check *c, uint64_t sid)
{
	unsigned n = 0;
	for (size_t i = 0; i < model_open_runs(c->w->rows); i++)
		n += model_open_run_at(c->w->rows, i)->sid == sid;
	return n;
}

static bool has_process(const struct check *c, uint64_t sid)
{
	for (size_t i = 0; i < c->alives; i++)
		if (c->run[c->alive[i]].row.sid == sid && !c->run[c->alive[i]].orphan)
			return true;
	return false;
}

/* A missed record: the reason must belong to the policy, and the time must be late. */
static void check_missed(struct check *c, const struct policy *p, uint64_t sid, struct wall last_due,
			 uint16_t reason)
{
	const char *wrong = NULL;
	switch (reason) {
	case REASON_DOWN:
	case REASON_SUSPENDED:
	case REASON_CLOCK:
	case REASON_STORE:
	case REASON_RATE_LIMITED:
		if (p->window || (p->missed != MISSED_SKIP && p->missed != MISSED_EXECUTE_NEXT))
			wrong = "its policy is a different one";
		break;
	case REASON_SUPERSEDED:
		if (p->window || p->missed != MISSED_EXECUTE_IMMEDIATELY)
			wrong = "its policy is a different one";
		break;
	case REASON_LIMIT:
		if (p->window || p->missed != MISSED_CATCH_UP)
			wrong = "its policy is a different one";
		break;
	case REASON_WINDOW_CLOSED:
		if (!p->window)
			wrong = "it has no window";
		break;
	case REASON_EDITED:
		break;
	case REASON_RESTORED:
		if (last_due.us > c->restored.us)
			wrong = "it is after the restore";
		break;
	default:
		wrong = "that is not a reason for a missed time";
	}
	if (!wrong && reason != REASON_LIMIT && reason != REASON_EDITED && reason != REASON_RESTORED &&
	    world_wall(c->w).us <= last_due.us + grace_of(p))
		wrong = "it is not late";
	if (wrong)
		check_fail(c, "sid %llu, due %s: missed/%s, but %s", (unsigned long long)sid,
			   check_time_text(last_due), reason_words[reason], wrong);
}

static void check_claim(struct check *c, const struct st_req *q, const struct version *v)
{
	const struct run_row *r = &q->run;
	const struct policy *p = &v->rules.policy;
	struct wall now = world_wall(c->w);
	unsigned long long sid = q->sid;
	const char *at = check_time_text(r->nominal);
	/* A change that was made while the clock was ahead must not stop the schedule from running until the
	 * clock reaches that time again. */
	if (r->nominal.us <= v->changed.us && !check_repeated(c, v->changed))
		check_fail(c, "sid %llu: fires %s, at or before its change %s", sid, at,
			   check_time_text(v->changed));
	if (!(v->flags & SCHED_ENABLED))
		check_fail(c, "sid %llu: fires %s while disabled", sid, at);
	if (v->flags & SCHED_PAUSED)
		check_fail(c, "sid %llu: fires %s while paused", sid, at);
	if (bar_reason(c, &v->rules, r->nominal))
		check_fail(c, "sid %llu: fires %s, which is skipped/%s", sid, at,
			   reason_words[bar_reason(c, &v->rules, r->nominal)]);
	if (check_is_held(c, p->agent) || check_is_held(c, p->account))
		check_fail(c, "sid %llu: fires %s while its agent or account is held", sid, at);
	if (r->claimed.us != now.us)
		check_fail(c, "sid %llu: %s says it was claimed at %s", sid, at, check_time_text(r->claimed));
	bool late = now.us > r->due.us + grace_of(p);
	if (late && p->window)
		check_fail(c, "R5: sid %llu: %s is claimed after its window", sid, at);
	if (r->kind == KIND_CATCH_UP && p->missed != MISSED_CATCH_UP)
		check_fail(c, "sid %llu: %s is catch-up without that policy", sid, at);
	if (late && r->kind != KIND_CATCH_UP && p->missed != MISSED_EXECUTE_IMMEDIATELY)
		check_fail(c, "sid %llu: %s runs %.3f s late although its policy is %s", sid, at,
			   (double)(now.us - r->due.us) / 1e6, missed_words[p->missed]);
	if (late && r->kind == KIND_TIMER && p->missed == MISSED_EXECUTE_IMMEDIATELY) {
		struct wall next = next_nominal(c, &v->rules, r->nominal);
		while (next.us != INT64_MAX && bar_reason(c, &v->rules, next))
			next = next_nominal(c, &v->rules, next);
		const struct run_row *taken = model_occurrence(c->w->rows, q->sid, next);
		if (next.us != INT64_MAX && !taken &&
		    rule_due(&v->rules.when, check_zone(c, &v->rules), next).us <= now.us)
			check_fail(c, "sid %llu: %s runs late although %s is due too", sid, at,
				   check_time_text(next));
	}
	if (p->overlap == OVERLAP_SKIP && r->kind != KIND_CATCH_UP && p->action != ACTION_EVENT &&
	    has_process(c, q->sid))
		check_fail(c, "sid %llu: %s is claimed although a run is alive (overlap skip)", sid, at);
}

/* The fingerprint of the agent's present definition. */
static uint64_t agent_print_now(const struct check *c, const struct policy *p)
{
	return p->agent_choice == AGENT_CHOICE_DEFAULT ? c->w->default_agent
	       : p->agent_choice == AGENT_CHOICE_NAMED ? c->w->agents[p->agent]
						       : 0;
}

static void check_occ(struct check *c, const struct st_req *q, const struct version *v)
{
	const struct run_row *r = &q->run;
	const struct policy *p = &v->rules.policy;
	struct wall now = world_wall(c->w);
	unsigned long long sid = q->sid;
	const char *at = check_time_text(r->nominal);
	if (q->sid != r->sid || q->rev != r->rev)
		check_fail(c, "sid %llu: the record names sid %llu, rev %u", sid, (unsigned long long)r->sid,
			   r->rev);
	if (r->kind == KIND_MANUAL)
		return;
	if ((r->state == RUN_CLAIMED || r->state == RUN_FINISHED) && check_asks(c, p) & RUN_PRECONDITIONS)
		check_fail(c, "R10: sid %llu: %s is claimed before its preconditions are asked", sid, at);
	bool by_rule = r->kind == KIND_TIMER || r->kind == KIND_CATCH_UP || r->kind == KIND_BACKFILL;
	bool set = r->kind != KIND_BACKFILL && is_time(c, v, r->nominal);
	if (by_rule && v->after == 0 && !set && !is_nominal(c, &v->rules, r->nominal))
		check_fail(c, "sid %llu: %s is no nominal time of its rule", sid, at);
	if (by_rule && v->after == 0 && r->kind != KIND_BACKFILL &&
	    r->due.us != rule_due(&v->rules.when, check_zone(c, &v->rules), r->nominal).us)
		check_fail(c, "sid %llu: %s has the wrong due time %s", sid, at, check_time_text(r->due));
	if (r->due.us > now.us && !(v->after && check_repeated(c, r->due)))
		check_fail(c, "G7: sid %llu: %s is early", sid, at);
	if (v->rules.zone_print != zone_fingerprint(check_zone(c, &v->rules)))
		check_fail(c, "R9: sid %llu: %s by rules of other zone data", sid, at);
	if (v->rules.agent_print != agent_print_now(c, &v->rules.policy))
		check_fail(c, "R9: sid %llu: %s by rules with another definition of its agent", sid, at);
	if (r->kind == KIND_BACKFILL)
		return;
	if (q->moves && v->after == 0 && q->move.high.us < r->nominal.us)
		check_fail(c, "R3: sid %llu: %s is recorded, but high is only %s", sid, at,
			   check_time_text(q->move.high));
	if (q->moves && v->after && q->move.seen <= model_sched(c->w->rows, q->sid)->row.seen &&
	    q->rev == model_sched(c->w->rows, q->sid)->row.rev && !model_run(c->w->rows, r->run))
		check_fail(c, "R3: sid %llu: %s is recorded, but acts on no new end", sid, at);
	if (q->moves && v->after == 0 && q->move.next.us <= r->nominal.us)
		check_fail(c, "R3: sid %llu: %s is recorded, but next is %s", sid, at,
			   check_time_text(q->move.next));
	/* The schedule has another leader now. */
	bool stray = r->kind == KIND_AFTER && r->reason == REASON_EDITED;
	if (!q->moves && !stray)
		check_fail(c, "R3: sid %llu: %s is recorded and moves nothing", sid, at);
	if (v->next_check.us && r->nominal.us < v->next_check.us)
		check_fail(c, "sid %llu: %s is recorded, but the next check is %s", sid, at,
			   check_time_text(v->next_check));
	if (!is_refused(r->state)) {
		check_claim(c, q, v);
	} else if (r->state == RUN_MISSED) {
		check_missed(c, p, q->sid, r->due, r->reason);
	} else if (r->reason == REASON_EXCLUDED || r->reason == REASON_ACTIVE_HOURS) {
		if (bar_reason(c, &v->rules, r->nominal) != r->reason)
			check_fail(c, "sid %llu: %s is not skipped/%s", sid, at, reason_words[r->reason]);
	} else if (r->reason == REASON_OVERLAP) {
		/* Some of the open runs may have ended a moment ago. */
		if (count_open_runs(c, q->sid) < RUNS_OPEN_MAX - 10 &&
		    (p->overlap == OVERLAP_ALLOW || !has_live_run(c, q->sid)))
			check_fail(c, "sid %llu: %s skipped/overlap, but nothing is alive", sid, at);
	} else if (v->after == 0 || (r->reason != REASON_BLOCKED && r->reason != REASON_PAUSED &&
				     r->reason != REASON_MAX_RUNS)) {
		check_fail(c, "sid %llu: %s is recorded at once as skipped/%s", sid, at,
			   reason_words[r->reason]);
	}
}

static void check_range(struct check *c, const struct st_req *q, const struct version *v)
{
	const struct range_row *g = &q->range;
	unsigned long long sid = q->sid;
	bool open = g->last.us == INT64_MAX;
	if (!is_refused(g->state))
		check_fail(c, "R11: sid %llu: a range of state %u", sid, g->state);
	if (v->rules.zone_print != zone_fingerprint(check_zone(c, &v->rules)))
		check_fail(c, "R9: sid %llu: a range by rules of other zone data", sid);
	if (open) {
		if (g->state != RUN_SKIPPED ||
		    (g->reason != REASON_PAUSED && g->reason != REASON_BLOCKED &&
		     g->reason != REASON_MAX_RUNS && g->reason != REASON_NOT_STARTED &&
		     g->reason != REASON_EXPIRED && g->reason != REASON_GATED))
			check_fail(c, "R11: sid %llu: an open range of %s", sid, reason_words[g->reason]);
		const struct rule *when = &v->rules.when;
		if (g->reason == REASON_NOT_STARTED && g->first.us >= when->from * USEC)
			check_fail(c, "sid %llu: not_started at %s, which is not before its start", sid,
				   check_time_text(g->first));
		if (g->reason == REASON_EXPIRED && g->first.us < when->until * USEC)
			check_fail(c, "sid %llu: expired at %s, which is before its end", sid,
				   check_time_text(g->first));
		if (g->reason == REASON_GATED && g->first.us >= v->next_check.us)
			check_fail(c, "sid %llu: gated at %s, which is not before the next check", sid,
				   check_time_text(g->first));
		if (g->reason == REASON_PAUSED && !(v->flags & SCHED_PAUSED) && !c->all_paused)
			check_fail(c, "sid %llu: skipped/paused without a pause", sid);
		return;
	}
	if (g->last.us < g->first.us)
		check_fail(c, "R11: sid %llu: a range from %s to %s", sid, check_time_text(g->first),
			   check_time_text(g->last));
	if (v->after == 0 && (!is_time(c, v, g->first) || !is_time(c, v, g->last)))
		check_fail(c, "R11: sid %llu: a range from %s to %s, which are no nominal times", sid,
			   check_time_text(g->first), check_time_text(g->last));
	if (q->moves && q->move.high.us < g->last.us)
		check_fail(c, "R3: sid %llu: a range to %s, but high is only %s", sid,
			   check_time_text(g->last), check_time_text(q->move.high));
	struct wall due = v->after ? g->last : rule_due(&v->rules.when, check_zone(c, &v->rules), g->last);
	bool by_nominal = g->reason == REASON_EDITED || g->reason == REASON_PAUSED;
	if ((by_nominal ? g->last.us : due.us) > world_wall(c->w).us)
		check_fail(c, "G7: sid %llu: a range to %s is early", sid, check_time_text(g->last));
	bool by_rule = g->reason == REASON_EXCLUDED || g->reason == REASON_ACTIVE_HOURS;
	for (struct wall n = g->first; by_rule && n.us <= g->last.us; n = next_nominal(c, &v->rules, n))
		if (bar_reason(c, &v->rules, n) != g->reason)
			check_fail(c, "sid %llu: %s is not skipped/%s", sid, check_time_text(n),
				   reason_words[g->reason]);
	if (g->state == RUN_MISSED)
		check_missed(c, &v->rules.policy, q->sid, due, g->reason);
}

static void check_verdict(struct check *c, const struct st_req *q)
{
	struct check_run *v = check_find_run(c, q->run.run);
	unsigned long long run = q->run.run;
	if (!v) {
		check_fail(c, "a verdict on run %llu, which is not recorded", run);
		return;
	}
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	struct wall now = world_wall(c->w);
	unsigned mask = v->row.kind == KIND_MANUAL ? 1u << ASK_BUDGET : RUN_PRECONDITIONS;
	unsigned want = check_asks(c, p) & mask, want2 = check_asks(c, p2) & mask;
	unsigned yes = v->answers_epoch == c->w->epoch ? v->yes : 0,
		 no = v->answers_epoch == c->w->epoch ? v->no : 0;
	bool edited = p->window != p2->window;
	struct wall closes = { v->row.due.us + SECONDS(p->window) };
	bool bad = false;
	if (q->run.state == RUN_CLAIMED) {
		bad = (yes & want) != want && (yes & want2) != want2;
	} else if (q->run.state == RUN_MISSED) {
		bad = q->run.reason == REASON_RESTORED
			      ? q->run.run > c->w->rows->restored_run
			      : q->run.reason != REASON_WINDOW_CLOSED ||
					(!edited && (!p->window || now.us <= closes.us) &&
					 !check_repeated(c, closes));
	} else if (q->run.state == RUN_SKIPPED && q->run.reason == REASON_CONDITION) {
		bad = !(no & 1u << ASK_CONDITION) || (!edited && p->window && now.us < closes.us);
	} else if (q->run.state == RUN_SKIPPED) {
		const struct check_sched *sched = check_find_sched(c, v->row.sid);
		bad = q->run.reason == REASON_BUDGET ? !(no & 1u << ASK_BUDGET)
		      : q->run.reason == REASON_HOOK ? !(no & (1u << ASK_HOOK | 1u << ASK_CONFIG_HOOK))
		      : q->run.reason == REASON_PAUSED
			      ? !(sched->known_flags & SCHED_PAUSED) && !c->all_paused &&
					c->w->t - sched->resumed > SECONDS(30) &&
					c->w->t - c->all_resumed > SECONDS(30)
			      : q->run.reason != REASON_BLOCKED;
	} else {
		bad = true;
	}
	if (bad)
		check_fail(c,
			   "run %llu (sid %llu, %s): verdict %u/%s does not match (preconditions %x, yes %x, "
			   "no %x)",
			   run, (unsigned long long)v->row.sid, check_time_text(v->row.nominal), q->run.state,
			   reason_words[q->run.reason], want, yes, no);
	if (q->run.state != RUN_CLAIMED) {
		v->last_finish = c->w->t;
		v->ending = true;
	}
	if (q->run.state != RUN_CLAIMED && v->requested) {
		const struct run_file *f = sim_runner_file(c->w, v->row.run, v->requested);
		if (f && (f->state == FILE_ALIVE || f->state == FILE_REQUESTED))
			check_fail(c, "run %llu is refused although it was started", run);
	}
}

static bool retryable(uint8_t outcome, uint16_t reason)
{
	if (outcome != OUTCOME_FAILED && outcome != OUTCOME_KILLED)
		return false;
	switch (reason) {
	case REASON_CANCELLED:
	case REASON_BUDGET:
	case REASON_DEFINITION:
	case REASON_TEMPLATE:
	case REASON_DENIED:
	case REASON_REPLACED:
	case REASON_AUTH:
	case REASON_BILLING:
		return false;
	default:
		return true;
	}
}

static int64_t retry_delay(const struct policy *p, unsigned n)
{
	int64_t d = p->retry_delay;
	if (p->backoff == BACKOFF_LINEAR)
		d *= n;
	for (unsigned i = 1; p->backoff == BACKOFF_EXPONENTIAL && i < n && d < INT64_C(1) << 40; i++)
		d *= 2;
	return SECONDS(p->retry_most && d > p->retry_most ? p->retry_most : d);
}

/* True if the run may end although attempts are left. */
static bool may_end_early(const struct check *c, const struct check_run *v)
{
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	const uint32_t keys[] = { p->agent, p->account, p2->agent, p2->account };
	for (unsigned i = 0; i < ARRAY_LEN(keys); i++) {
		int64_t meant = c->hold_requested[keys[i] % ARRAY_LEN(c->hold_requested)];
		if (keys[i] && (model_hold(c->w->rows, keys[i]) || (meant && meant >= c->w->t - c->slack)))
			return true;
	}
	if (v->row.run <= c->w->rows->restored_run || v->stopped || c->all_paused ||
	    (sched->resumed && c->w->t - sched->resumed < SECONDS(30)) ||
	    (c->all_resumed && c->w->t - c->all_resumed < SECONDS(30)) || sched->dropped ||
	    sched->known_flags & SCHED_PAUSED || sched->known_dropped)
		return true;
	const struct model_sched *s = model_sched(c->w->rows, v->row.sid);
	if (s->row.flags & SCHED_PAUSED)
		return true;
	/* A newer run of the schedule was recorded. */
	for (const struct check_run *o = run_newest(c, sched); o && o != v; o = run_older(c, o))
		if (o->row.kind != KIND_BACKFILL)
			return true;
	return false;
}

/* A model call counts as avoided if, and only if, the check of an agent's turn found no work before anything
 * was started. While the schedule is being changed to or from a turn both are accepted. */
static void check_avoided(struct check *c, const struct st_req *q, const struct policy *then,
			  const struct policy *now, const struct run_file *f)
{
	bool idle = q->run.state == RUN_FINISHED && q->run.outcome == OUTCOME_NO_WORK &&
		    !(f && f->state == FILE_ENDED);
	bool was = then->action == ACTION_TURN, is = now->action == ACTION_TURN;
	if (q->avoided ? !idle || !(was || is) : idle && was && is)
		check_fail(c, "run %llu: a model call is%s counted as avoided",
			   (unsigned long long)q->run.run, q->avoided ? "" : " not");
}

/* The record must say how the process ended. */
static void check_attempt_end(struct check *c, const struct check_run *v, const struct run_row *r,
			      const struct run_file *f)
{
	unsigned long long run = r->run;
	if (f->state == FILE_ALIVE || (f->state == FILE_REQUESTED && v->requested_epoch == c->w->epoch))
		check_fail(c, "G5: run %llu: the end of attempt %u is recorded while it is alive", run,
			   r->attempt);
	if (f->state != FILE_ENDED || !r->attempt || v->known_state == RUN_RETRYING)
		return;
	if ((f->exit.outcome != r->outcome || f->exit.reason != r->reason) &&
	    !(r->outcome == OUTCOME_FAILED && r->reason == REASON_LOST))
		check_fail(c, "run %llu: attempt %u ended %s/%s, recorded is %s/%s", run, r->attempt,
			   outcome_words[f->exit.outcome], reason_words[f->exit.reason],
			   outcome_words[r->outcome], reason_words[r->reason]);
	else if (r->reason != REASON_LOST && f->exit.exit_code != r->exit_code)
		check_fail(c, "run %llu: attempt %u ended with code %d, recorded is %d", run, r->attempt,
			   f->exit.exit_code, r->exit_code);
}

static void check_retry(struct check *c, const struct check_run *v, const struct run_row *r,
			const struct run_file *f)
{
	const struct policy *p = &v->rules.policy;
	const struct run_row *stored = model_run(c->w->rows, r->run);
	unsigned long long run = r->run;
	unsigned retries = p->retries;
	unsigned used = r->attempt - r->uncounted;
	bool prevented = r->reason == REASON_LOST && f && f->state == FILE_PREVENTED;
	bool uncounted = r->reason == REASON_RATE_LIMITED || prevented;
	if (stored && stored->attempt < r->attempt + (stored->state == RUN_CLAIMED) &&
	    r->uncounted != stored->uncounted + uncounted)
		check_fail(c, "run %llu: %u attempts do not count, expected are %u", run, r->uncounted,
			   stored->uncounted + uncounted);
	if (!uncounted && !retryable(r->outcome, r->reason))
		check_fail(c, "run %llu: %s/%s is retried", run, outcome_words[r->outcome],
			   reason_words[r->reason]);
	if (!uncounted && used > retries)
		check_fail(c, "run %llu: retry %u of %u", run, used, retries);
	int64_t in = r->retry_at.us - world_wall(c->w).us, want = retry_delay(p, used);
	if (!uncounted && (in < want - SECONDS(1) || in > want + SECONDS(1)))
		check_fail(c, "run %llu: retry %u in %.3f s, expected in %.0f s", run, used, (double)in / 1e6,
			   (double)want / 1e6);
	if (check_find_sched(c, v->row.sid)->known_flags & SCHED_PAUSED && v->row.kind != KIND_MANUAL)
		check_fail(c, "run %llu is to be retried although its schedule is paused", run);
}

static void check_run_end(struct check *c, const struct check_run *v, const struct run_row *r)
{
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	unsigned long long run = r->run;
	unsigned retries = p->retries;
	unsigned used = r->attempt - r->uncounted;
	if (r->outcome == OUTCOME_NONE || r->outcome >= OUTCOME_COUNT)
		check_fail(c, "run %llu is finished without an outcome", run);
	if (r->attempt && retryable(r->outcome, r->reason) && r->reason != REASON_RATE_LIMITED &&
	    used <= retries && !may_end_early(c, v))
		check_fail(c, "run %llu ends after %u of %u attempts, for no reason", run, used, 1 + retries);
	bool no_work = v->answers_epoch == c->w->epoch && v->no & 1u << ASK_CHECK;
	bool event = (p->action == ACTION_EVENT || p2->action == ACTION_EVENT) && r->outcome == OUTCOME_DONE;
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	bool removed = sched->known_dropped || sched->killed;
	if (!r->attempt && !no_work && !event && !removed && !(v->stopped || r->reason == REASON_REPLACED))
		check_fail(c, "run %llu ends %s/%s without a start", run, outcome_words[r->outcome],
			   reason_words[r->reason]);
}

static void check_finish(struct check *c, const struct st_req *q)
{
	const struct run_row *r = &q->run;
	unsigned long long run = r->run;
	struct check_run *v = check_find_run(c, r->run);
	if (!v) {
		check_fail(c, "run %llu ends without a record", run);
		return;
	}
	const struct run_file *f = sim_runner_file(c->w, r->run, r->attempt ? r->attempt : 1);
	check_avoided(c, q, &v->rules.policy, check_latest_policy(c, v), f);
	if (f)
		check_attempt_end(c, v, r, f);
	if (r->state == RUN_RETRYING)
		check_retry(c, v, r, f);
	else if (r->state == RUN_FINISHED)
		check_run_end(c, v, r);
	else
		check_fail(c, "run %llu finishes in state %u", run, r->state);
	v->last_finish = c->w->t;
	v->ending = true;
	v->steps_seen = c->clock_steps;
}

void observe_submit(struct check *c, const struct st_req *q)
{
	static const char *const words[] = { "put",     "drop",    "occ",    "range", "withdraw",
					     "verdict", "started", "finish", "hold",  "problem" };
	check_owner(c, q);
	if (q->op == ST_NUMBERS || c->w->fenced)
		return;
	if (c->w->verbose)
		world_log(c->w,
			  "  > %s tag %llu sid %llu rev %u run %llu kind %u state %u/%u/%s attempt %u "
			  "nominal %s"
			  " range %s..%s move next %s high %s",
			  words[q->op], (unsigned long long)q->tag, (unsigned long long)q->sid, q->rev,
			  (unsigned long long)q->run.run, q->run.kind, q->run.state, q->run.outcome,
			  reason_words[q->op == ST_RANGE ? q->range.reason : q->run.reason], q->run.attempt,
			  check_time_text(q->run.nominal), check_time_text(q->range.first),
			  check_time_text(q->range.last), check_time_text(q->move.next),
			  check_time_text(q->move.high));
	if (q->op == ST_HOLD)
		world_log(c->w, "    hold of %u, %s, until %s", q->hold.key, reason_words[q->hold.reason],
			  check_time_text(q->hold.until));
	const struct version *v = check_version(check_find_sched(c, q->sid), q->rev);
	if ((q->op == ST_OCC || q->op == ST_RANGE) && !v) {
		check_fail(c, "a claim for sid %llu by rev %u, which was never in the store",
			   (unsigned long long)q->sid, q->rev);
		return;
	}
	switch ((enum st_op)q->op) {
	case ST_OCC:
		check_occ(c, q, v);
		break;
	case ST_RANGE:
		check_range(c, q, v);
		break;
	case ST_VERDICT:
		check_verdict(c, q);
		break;
	case ST_STARTED:
		if (q->run.outcome || q->run.reason)
			check_fail(c, "run %llu: the start of attempt %u carries the end of another",
				   (unsigned long long)q->run.run, q->run.attempt);
		break;
	case ST_FINISH:
		check_finish(c, q);
		break;
	case ST_HOLD:
		c->hold_requested[q->hold.key % ARRAY_LEN(c->hold_requested)] =
			q->hold.reason ? c->w->t + 1 : 0;
		break;
	default:
		break;
	}
	if ((q->op == ST_OCC || q->op == ST_RANGE) && ++c->claims > CLAIMS_MAX)
		check_fail(c, "R7: %u claims under way", c->claims);
}

/* --- effects of requests --- */

/* A next check stays set until its time comes, unless a person changes the schedule's times or pauses it. */
static void check_next_check_stays(struct check *c, const struct version *before, const struct sched_row *row)
{
	struct rules now;
	memcpy(&now, row->rules, sizeof now);
	const struct policy *p = &before->rules.policy;
	bool edited = !rule_same(&before->rules.when, &now.when) || p->zone != now.policy.zone ||
		      p->calendar != now.policy.calendar || before->after != row->after ||
		      (before->flags ^ row->flags) & SCHED_ENABLED;
	bool paused = (before->flags | row->flags) & SCHED_PAUSED;
	bool due = before->next_check.us > world_wall(c->w).us && before->next_check_set_at.us != INT64_MAX;
	if (due && !row->next_set_at.us && !edited && !paused)
		check_fail(c, "G3: sid %llu: its next check %s is forgotten", (unsigned long long)row->sid,
			   check_time_text(before->next_check));
}

static void add_version(struct check *c, const struct st_req *q, const struct sched_row *row)
{
	struct check_sched *sched = check_find_sched(c, row->sid);
	if (!sched) {
		ADD_ROOM(c->sched, c->sched_room, c->scheds);
		sched = &c->sched[c->scheds];
		*sched = (struct check_sched){ .sid = row->sid };
		number_map_put(&c->sched_of, row->sid, (uint32_t)c->scheds++);
	}
	if (check_version(sched, row->rev))
		return; /* a repeated request */
	if (sched->versions)
		check_next_check_stays(c, &sched->version[sched->versions - 1], row);
	ADD_ROOM(sched->version, sched->version_room, sched->versions);
	struct version *v = &sched->version[sched->versions++];
	*v = (struct version){ .rev = row->rev,
			       .flags = row->flags,
			       .after = row->after,
			       .changed = row->changed,
			       .t = c->w->t };
	memcpy(&v->rules, row->rules, sizeof v->rules);
	if (row->next_set_at.us) {
		bool asked = false;
		for (size_t i = 0; i < c->commands; i++)
			asked |= c->command[i].kind == CMD_NEXT_CHECK && c->command[i].sid == row->sid &&
				 c->command[i].to.us == row->next.us;
		if (!asked)
			check_fail(c, "sid %llu: its next check is set to %s without a command",
				   (unsigned long long)row->sid, check_time_text(row->next));
		v->next_check = v->gated_until = row->next;
		v->next_check_set_at = row->next_set_at;
	}
	if (!q->keep_next) {
		uint64_t more = row->left == UINT32_MAX ? UINT64_MAX : row->left;
		sched->allowed = more == UINT64_MAX || sched->allowed == UINT64_MAX ? UINT64_MAX
										    : sched->allowed + more;
	}
	struct wall now = world_wall(c->w), cut = q->at.us < now.us ? q->at : now, from = row->changed;
	if (sched->stretches) {
		struct stretch *last = &sched->stretch[sched->stretches - 1];
		if (sched->version[last->version].changed.us == row->changed.us)
			from = cut.us > last->from.us ? cut : last->from;
		else if (row->changed.us < cut.us)
			cut = row->changed;
		last->to = cut;
		/* The clock may have stepped back while the request was under way. No stretch may end after
		 * the cut. */
		for (unsigned i = 0; i < sched->stretches; i++) {
			struct stretch *s = &sched->stretch[i];
			struct wall to = s->to.us > cut.us ? cut : s->to;
			s->to = to.us > s->from.us ? to : s->from;
		}
	}
	ADD_ROOM(sched->stretch, sched->stretch_room, sched->stretches);
	sched->stretch[sched->stretches++] = (struct stretch){ from, WALL_NEVER, sched->versions - 1 };
}

/* A next check at or before the new high is recorded. */
static void mark_next_check_recorded(struct check *c, const struct st_req *q)
{
	struct check_sched *sched = check_find_sched(c, q->sid);
	for (unsigned i = 0; q->moves && i < sched->versions; i++)
		if (sched->version[i].next_check.us <= q->move.high.us)
			sched->version[i].next_check_set_at = WALL_NEVER;
}

static void add_run(struct check *c, const struct st_req *q)
{
	if (check_find_run(c, q->run.run))
		return;
	const struct version *ver = check_version(check_find_sched(c, q->sid), q->rev);
	ADD_ROOM(c->run, c->run_room, c->runs);
	struct check_run *v = &c->run[c->runs];
	*v = (struct check_run){ .row = q->run, .recorded = c->w->t };
	if (ver)
		v->rules = ver->rules;
	struct check_sched *sched = check_find_sched(c, q->sid);
	v->older = sched->last_run;
	sched->last_run = (uint32_t)c->runs + 1;
	number_map_put(&c->run_of, q->run.run, (uint32_t)c->runs++);
}

static void add_ends(struct check *c, const struct st_req *q, const struct run_row *r)
{
	struct wall over = r->retry_at.us ? r->retry_at : r->ended;
	for (size_t i = 0; i < c->scheds; i++) {
		struct check_sched *sched = &c->sched[i];
		const struct version *v = &sched->version[sched->versions - 1];
		if (v->after != r->sid || sched->dropped || !check_follows(v, q->run.outcome) ||
		    over.us <= v->changed.us || r->end <= sched->last_end)
			continue;
		struct wall n = over;
		for (unsigned k = 0; k < sched->ends; k++)
			if (sched->end[k].nominal.us == n.us) {
				n.us++;
				k = UINT32_MAX; /* start again from the first */
			}
		ADD_ROOM(sched->end, sched->end_room, sched->ends);
		sched->end[sched->ends++] =
			(struct due_end){ n, c->w->t, sched->versions - 1, q->run.outcome };
		sched->last_end = r->end;
	}
}

/* After ST_WITHDRAW: a last change in the future becomes `at`. */
static void apply_withdraw(struct check *c, struct check_sched *sched, struct wall at)
{
	struct version *v = &sched->version[sched->versions - 1];
	struct stretch *last = &sched->stretch[sched->stretches - 1];
	if (v->next_check.us > at.us && v->next_check_set_at.us <= at.us && v->changed.us <= at.us)
		check_fail(c, "G3: sid %llu: its next check %s is forgotten", (unsigned long long)sched->sid,
			   check_time_text(v->next_check));
	v->next_check = (struct wall){ 0 };
	if (v->changed.us <= at.us)
		return;
	v->changed = at;
	if (last->to.us == INT64_MAX)
		last->from = at;
}

static void add_hold(struct check *c, const struct hold_row *h)
{
	for (size_t i = 0; i < c->holds; i++)
		if (c->hold[i].key == h->key && c->hold[i].to == INT64_MAX) {
			if (h->reason == c->hold[i].reason && h->until.us == c->hold[i].until.us)
				return;
			c->hold[i].to = c->w->t;
		}
	if (h->reason == 0)
		return;
	int64_t since = c->hold_requested[h->key % ARRAY_LEN(c->hold_requested)] -
			1; /* the change is in force from the request on */
	ADD_ROOM(c->hold, c->hold_room, c->holds);
	c->hold[c->holds++] = (struct check_hold){ h->key, h->reason, since, INT64_MAX, h->until };
}

void observe_applied(struct check *c, const struct st_req *q, const struct st_ack *a)
{
	static const char *const words[] = { "ok", "lost", "stale", "fenced", "refused", "collision" };
	world_log(c->w, "    store: tag %llu %s", (unsigned long long)q->tag, words[a->res]);
	if (a->res != ST_OK)
		return;
	switch ((enum st_op)q->op) {
	case ST_PUT:
		add_version(c, q, &a->row);
		break;
	case ST_RANGE:
		mark_next_check_recorded(c, q);
		break;
	case ST_DROP: {
		struct check_sched *sched = check_find_sched(c, q->sid);
		struct stretch *last = sched->stretches ? &sched->stretch[sched->stretches - 1] : NULL;
		if (!sched->dropped && last && last->to.us == INT64_MAX)
			last->to = q->at.us > last->from.us ? q->at : last->from;
		sched->dropped = true;
		break;
	}
	case ST_OCC:
		mark_next_check_recorded(c, q);
		if (q->run.state != RUN_FINISHED && !is_refused(q->run.state))
			add_run(c, q);
		if (q->run.state == RUN_FINISHED) {
			const struct run_row *r = model_run(c->w->rows, q->run.run);
			if (r)
				add_ends(c, q, r);
		}
		break;
	case ST_FINISH: {
		const struct run_row *r = model_run(c->w->rows, q->run.run);
		if (r && r->state == RUN_FINISHED)
			add_ends(c, q, r);
		break;
	}
	case ST_HOLD:
		add_hold(c, &q->hold);
		break;
	case ST_WITHDRAW:
		apply_withdraw(c, check_find_sched(c, q->sid), q->at);
		break;
	default:
		break;
	}
}

void observe_ack(struct check *c, const struct st_req *q, const struct st_ack *a)
{
	world_log(c->w, "< ack tag %llu", (unsigned long long)q->tag);
	struct check_sched *sched = check_find_sched(c, q->sid);
	if ((q->op == ST_OCC || q->op == ST_RANGE) && c->claims)
		c->claims--;
	if (q->op == ST_HOLD && q->hold.key == 0) {
		if (c->all_paused && !q->hold.reason)
			c->all_resumed = c->w->t;
		c->all_paused = q->hold.reason != 0;
	}
	bool of_a_run = q->op == ST_VERDICT || q->op == ST_STARTED || q->op == ST_FINISH;
	if (sched && a->has_row && !of_a_run) {
		if (sched->known_flags & ~a->row.flags & SCHED_PAUSED)
			sched->resumed = c->w->t;
		sched->known_flags = a->row.flags;
		sched->known_rev = a->row.rev;
	}
	if (sched && q->moves) {
		/* The request was stale, or was repeated without moving the row, so the decision had no
		 * effect. */
		struct wall want = q->op == ST_OCC ? q->run.nominal : q->range.last;
		bool behind = a->row.after ? a->row.seen < q->move.seen : a->row.high.us < want.us;
		bool stuck = a->res == ST_STALE || (a->res == ST_OK && a->has_row && behind);
		sched->stuck = stuck ? sched->stuck + 1 : 0;
		if (sched->stuck > 50)
			check_fail(c, "G8: sid %llu repeats its claim endlessly",
				   (unsigned long long)sched->sid);
	}
	struct check_run *v = check_find_run(c, q->run.run);
	if (v && (q->op == ST_FINISH || q->op == ST_VERDICT))
		v->ending = false;
	/* Its record was withdrawn, or has another end: the engine forgets the run. */
	if (v && (q->op == ST_FINISH || q->op == ST_VERDICT) && a->res != ST_OK)
		v->known_state = RUN_SKIPPED;
	if (sched && q->op == ST_OCC && a->res == ST_LOST) {
		ADD_ROOM(sched->lost, sched->lost_room, sched->losts);
		sched->lost[sched->losts++] = c->w->t;
	}
	if (sched && a->res == ST_REFUSED && !a->has_row)
		sched->known_dropped = true; /* another writer has removed it */
	if (a->res != ST_OK)
		return;
	if (q->op == ST_DROP)
		sched->known_dropped = true;
	if (v && (q->op == ST_OCC || q->op == ST_VERDICT || q->op == ST_FINISH)) {
		v->known_epoch = c->w->epoch;
		v->known_state = q->run.state;
		v->known_attempt = q->op == ST_FINISH ? q->run.attempt : v->known_attempt;
	}
}
