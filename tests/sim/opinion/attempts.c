/* Judges attempts: answers of preconditions, windows, how a run ends, and its retries. */
#include "opinion/facts.h"

/* --- preconditions and refusals --- */

#define HOOKS (1u << ASK_CONFIG_HOOK | 1u << ASK_HOOK)

static bool by_hand(const struct opinion_run *r)
{
	return r->row.kind == KIND_MANUAL || r->row.kind == KIND_BACKFILL;
}

static struct wall window_end(const struct opinion_run *r)
{
	return (struct wall){ r->row.due.us + SECONDS(r->rules.policy.window) };
}

/* Whether a run that was not started may be refused for the reason in `now`. */
static bool may_refuse(const struct opinion *o, const struct opinion_run *r, const struct run_row *now,
		       int64_t decided)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	const struct policy *p = &r->rules.policy;
	bool manual = r->row.kind == KIND_MANUAL;
	int64_t from = decided - o->slack - SECONDS(4);
	struct wall at = o->then.wall;
	if (r->no && r->no_reason == now->reason && now->reason != REASON_CONDITION)
		return true;
	switch (now->reason) {
	case REASON_BUDGET:
		return r->no & 1u << ASK_BUDGET;
	case REASON_HOOK:
		return r->no & HOOKS && !manual;
	case REASON_CONDITION:
		return r->no & 1u << ASK_CONDITION && !manual &&
		       (!p->window || at.us >= window_end(r).us || stepped_between(o, r->asked, decided));
	case REASON_PAUSED:
		return !manual && (o->then.paused || spans_touch(&s->paused, from, decided) ||
				   spans_touch(&o->all_paused, from, decided));
	case REASON_BLOCKED:
		return maybe_held(o, p, from, decided, true) ||
		       maybe_held(o, &s->rules.policy, from, decided, true);
	case REASON_WINDOW_CLOSED:
		return now->state == RUN_MISSED && p->window && !by_hand(r) &&
		       (at.us > window_end(r).us || stepped_between(o, r->asked, decided));
	case REASON_RESTORED:
		return now->state == RUN_MISSED && r->row.run <= o->restored_run;
	default:
		return false;
	}
}

static void judge_refusal(struct opinion *o, const struct opinion_run *r, const struct run_row *now,
			  int64_t decided)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	if (s->versions == r->versions && !may_refuse(o, r, now, decided))
		FIND(o, "run %llu is refused for %s, but there is no reason for it (answers yes %x, no %x)",
		     (unsigned long long)r->row.run, reason_words[now->reason], r->yes, r->no);
}

static void judge_verdict(struct opinion *o, const struct opinion_run *r)
{
	unsigned want = r->rules.policy.preconditions & ~(1u << ASK_CHECK);
	want |= (unsigned)o->w->config.has_hook << ASK_CONFIG_HOOK;
	if (r->row.kind == KIND_MANUAL)
		want &= 1u << ASK_BUDGET;
	if (o->sched[r->sched].versions == r->versions && r->known && (r->yes & want) != want)
		FIND(o, "run %llu is claimed, but its preconditions did not say yes (%x of %x)",
		     (unsigned long long)r->row.run, r->yes, want);
}

void judge_question(struct opinion *o, struct opinion_run *r, enum rn_ask ask)
{
	if (r->row.kind == KIND_MANUAL && ask != ASK_BUDGET && ask != ASK_CHECK)
		FIND(o, "manual run %llu is asked for precondition %u", (unsigned long long)r->row.run, ask);
	if (ask != ASK_CHECK && r->yes & 1u << ask && r->known)
		FIND(o, "run %llu: precondition %u has said yes, and is asked again",
		     (unsigned long long)r->row.run, ask);
	if (HOOKS >> ask & 1 && r->no & HOOKS && r->known && o->sched[r->sched].versions == r->versions)
		FIND(o, "run %llu: a hook has cancelled it, and hook %u is asked",
		     (unsigned long long)r->row.run, ask);
	bool again = ask == ASK_CONDITION && r->no & 1u << ASK_CONDITION;
	if (again && !r->rules.policy.window && o->sched[r->sched].versions == r->versions)
		FIND(o, "run %llu: its condition is asked again without a window",
		     (unsigned long long)r->row.run);
	r->no &= (uint8_t) ~(1u << ask);
	if (ask == ASK_CHECK)
		r->yes &= (uint8_t) ~(1u << ASK_CHECK);
}

/* A false condition is asked again within 30 seconds while the window is open. */
void judge_waiting(struct opinion *o)
{
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		bool waits = r->row.state == RUN_PENDING && r->no & 1u << ASK_CONDITION &&
			     r->answered[ASK_CONDITION] >= r->questioned && r->rules.policy.window &&
			     o->sched[r->sched].versions == r->versions;
		int64_t since = r->answered[ASK_CONDITION];
		if (waits && o->w->t - since > SECONDS(31) + o->slack &&
		    !spans_touch(&o->suspended, since, o->w->t) && !spans_touch(&o->outage, since, o->w->t)) {
			FIND(o, "run %llu: its condition is not asked again for %.3f s",
			     (unsigned long long)r->row.run, (double)(o->w->t - since) / 1e6);
			r->no = 0;
		}
		if (r->must_end < o->w->t) {
			FIND(o, "run %llu keeps its retry although a later run was claimed or it is paused",
			     (unsigned long long)r->row.run);
			r->must_end = INT64_MAX;
		}
	}
}

/* --- ends and retries --- */

static bool is_retryable(const struct run_row *r)
{
	static const uint16_t final[] = { REASON_CANCELLED, REASON_BUDGET, REASON_DEFINITION,
					  REASON_TEMPLATE,  REASON_DENIED, REASON_REPLACED,
					  REASON_AUTH,      REASON_BILLING };
	for (unsigned i = 0; i < ARRAY_LEN(final); i++)
		if (r->reason == final[i])
			return false;
	return r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_KILLED;
}

static int64_t delay_before(const struct policy *p, unsigned attempt)
{
	int64_t most = p->retry_most ? p->retry_most : 3600, d = p->retry_delay;
	for (unsigned i = 1; i < attempt && d < most; i++)
		d = p->backoff == BACKOFF_EXPONENTIAL ? d * 2
		    : p->backoff == BACKOFF_LINEAR    ? d + p->retry_delay
						      : d;
	return SECONDS(d < most ? d : most);
}

/* Whether the schedule's next time comes within that time; *sure is false if that was changing. */
static bool next_comes_first(const struct opinion *o, const struct opinion_sched *s, int64_t decided,
			     int64_t delay, bool *sure)
{
	bool open = false;
	for (unsigned i = 0; i < s->ranges; i++)
		open |= s->range[i].last.us == INT64_MAX;
	*sure = !spans_touch(&s->changing, decided - o->slack, INT64_MAX) &&
		s->changed < decided - o->slack && !stepped_between(o, decided - o->slack, decided) &&
		!spans_touch(&o->down, decided - o->slack, decided);
	if (!(s->row.flags & SCHED_ENABLED) || s->row.flags & SCHED_PAUSED || open || !s->row.left)
		return false;
	return s->row.next.us <= o->then.wall.us + delay;
}

/* Whether an attempt that has just ended is tried again: 1 yes, 0 no, -1 not sure. */
static int wants_retry(const struct opinion *o, const struct opinion_run *r, const struct run_row *now,
		       int64_t decided)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	bool manual = r->row.kind == KIND_MANUAL, sure = true;
	bool final = o->then.dropped || (!manual && o->then.paused) || r->row.run <= o->restored_run ||
		     r->killed < decided;
	if (final)
		return 0;
	if (r->may_be_killed || s->removing || s->dropped ||
	    (!manual && (spans_touch(&s->paused, decided - o->slack, decided) ||
			 spans_touch(&o->all_paused, decided - o->slack, decided))))
		return -1;
	if (now->outcome == OUTCOME_FAILED && now->reason == REASON_RATE_LIMITED) {
		bool no = next_comes_first(o, s, decided, rate_limit_delay(o, r), &sure);
		return sure ? !no : -1;
	}
	/* A run keeps the version under which it was claimed. */
	unsigned used = now->attempt - now->uncounted;
	return is_retryable(now) && used >= 1 && used <= r->rules.policy.retries;
}

static void judge_delay(struct opinion *o, struct opinion_run *r, const struct run_row *now, int64_t decided)
{
	bool limited = now->reason == REASON_RATE_LIMITED;
	int64_t want = limited ? rate_limit_delay(o, r)
			       : delay_before(&r->rules.policy, now->attempt - now->uncounted);
	int64_t is = now->retry_at.us - o->then.wall.us;
	bool prevented = now->reason == REASON_LOST && is == 0;
	r->retry_asked = decided;
	r->delay = is;
	r->retry_steps = o->stepped.n;
	if (is != want && !prevented)
		FIND(o, "run %llu: attempt %u in %.3f s, expected in %.3f s", (unsigned long long)now->run,
		     now->attempt + 1u, (double)is / 1e6, (double)want / 1e6);
}

/* An attempt has ended. */
static void judge_attempt_end(struct opinion *o, struct opinion_run *r, const struct run_row *now,
			      int64_t decided)
{
	bool prevented = now->reason == REASON_LOST && now->uncounted > r->row.uncounted;
	bool limited = now->outcome == OUTCOME_FAILED && now->reason == REASON_RATE_LIMITED;
	if (now->uncounted != r->row.uncounted + (limited || prevented))
		FIND(o, "run %llu: %u attempts do not count, expected are %u", (unsigned long long)now->run,
		     now->uncounted, r->row.uncounted + limited);
	if (r->exit_reported && r->exit_attempt == now->attempt && now->reason != REASON_LOST &&
	    (r->exit_outcome != now->outcome || r->exit_reason != now->reason))
		FIND(o, "run %llu: attempt %u ended %s/%s, recorded is %s/%s", (unsigned long long)now->run,
		     now->attempt, outcome_words[r->exit_outcome], reason_words[r->exit_reason],
		     outcome_words[now->outcome], reason_words[now->reason]);
	judge_hold_of_end(o, r, now, decided);
	if (prevented && now->state == RUN_RETRYING) {
		judge_delay(o, r, now, decided);
		return;
	}
	int want = wants_retry(o, r, now, decided);
	if (want == 0 && now->state == RUN_RETRYING)
		FIND(o, "run %llu: %s/%s after attempt %u is tried again (%u retries, %u uncounted)",
		     (unsigned long long)now->run, outcome_words[now->outcome], reason_words[now->reason],
		     now->attempt, r->rules.policy.retries, now->uncounted);
	if (want == 1 && now->state == RUN_FINISHED)
		FIND(o, "run %llu: %s/%s after attempt %u is final (%u retries)",
		     (unsigned long long)now->run, outcome_words[now->outcome], reason_words[now->reason],
		     now->attempt, r->rules.policy.retries);
	if (now->state == RUN_RETRYING)
		judge_delay(o, r, now, decided);
}

/* A pending retry is given up. */
static void judge_given_up(struct opinion *o, const struct opinion_run *r, int64_t decided)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	int64_t from = decided - o->slack - SECONDS(4);
	bool manual = r->row.kind == KIND_MANUAL;
	bool paused = !manual && (o->then.paused || spans_touch(&s->paused, from, decided) ||
				  spans_touch(&o->all_paused, from, decided));
	if (r->dropped || r->may_be_killed || s->removing || s->dropped || paused ||
	    r->row.run <= o->restored_run || maybe_held(o, &r->rules.policy, from, decided, true) ||
	    maybe_held(o, &s->rules.policy, from, decided, true))
		return;
	FIND(o, "run %llu: its retry is given up for no reason", (unsigned long long)r->row.run);
}

static void judge_unstarted_end(struct opinion *o, const struct opinion_run *r, const struct run_row *now)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	bool event = r->rules.policy.action == ACTION_EVENT || s->rules.policy.action == ACTION_EVENT;
	bool ended = now->outcome == OUTCOME_KILLED && (r->may_be_killed || s->removing || s->dropped);
	if (!ended && !(event && now->outcome == OUTCOME_DONE))
		FIND(o, "run %llu ends %s/%s without an attempt", (unsigned long long)now->run,
		     outcome_words[now->outcome], reason_words[now->reason]);
}

void judge_run_change(struct opinion *o, struct opinion_run *r, const struct run_row *now, int64_t decided)
{
	const struct run_row *old = &r->row;
	bool ended = now->state == RUN_RETRYING || now->state == RUN_FINISHED;
	if (!run_is_open(old))
		return;
	if (now->state == RUN_SKIPPED || now->state == RUN_MISSED)
		judge_refusal(o, r, now, decided);
	else if (old->state == RUN_PENDING && now->state == RUN_CLAIMED)
		judge_verdict(o, r);
	else if (now->state == RUN_FINISHED && old->state == RUN_RETRYING && now->attempt == old->attempt)
		judge_given_up(o, r, decided);
	else if (now->state == RUN_FINISHED && now->attempt == 0)
		judge_unstarted_end(o, r, now);
	else if (ended && (now->attempt != old->attempt || old->state == RUN_CLAIMED))
		judge_attempt_end(o, r, now, decided);
}

/* A later run was claimed: pending retries of its schedule are dropped, unless both may go on. */
void judge_dropped_retries(struct opinion *o, const struct opinion_sched *s, const struct opinion_run *by)
{
	const struct policy *p = &s->rules.policy;
	bool both = p->overlap == OVERLAP_ALLOW || p->overlap == OVERLAP_QUEUE_ALL;
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		if (&o->sched[r->sched] != s || r->row.run >= by->row.run)
			continue;
		r->dropped |= !both;
		if (!both && has_pending_retry(r) && !r->probing && !r->preventing &&
		    s->versions == r->versions)
			r->must_end = o->w->t + o->slack + SECONDS(4);
	}
}

/* --- starts --- */

void judge_start(struct opinion *o, struct opinion_run *r, uint16_t attempt)
{
	const struct opinion_sched *s = &o->sched[r->sched];
	struct wall now = world_wall(o->w);
	unsigned long long run = r->row.run;
	bool same = s->versions == r->versions;
	if (attempt == 1 && r->rules.policy.window && !by_hand(r) && same && now.us > window_end(r).us)
		FIND(o, "run %llu starts after its window", run);
	if (r->row.kind != KIND_MANUAL && known_paused(o, s))
		FIND(o, "run %llu starts while paused", run);
	if (surely_held(o, &r->rules.policy, o->w->t, false) &&
	    surely_held(o, &s->rules.policy, o->w->t, false))
		FIND(o, "run %llu starts while its agent or account is held", run);
	if (attempt > 1 && r->retry_asked && r->retry_steps == o->stepped.n &&
	    o->w->t - r->retry_asked < r->delay)
		FIND(o, "run %llu: attempt %u starts %.3f s too early", run, attempt,
		     (double)(r->delay - (o->w->t - r->retry_asked)) / 1e6);
	if (attempt > 1 && r->retry_asked > o->loaded && o->w->t - r->retry_asked < r->delay)
		FIND(o, "run %llu: attempt %u starts %.3f s too early", run, attempt,
		     (double)(r->delay - (o->w->t - r->retry_asked)) / 1e6);
	if (r->rules.policy.preconditions & 1u << ASK_CHECK && same && !(r->yes & 1u << ASK_CHECK) &&
	    r->requested != attempt)
		FIND(o, "run %llu: attempt %u starts without its check", run, attempt);
}
