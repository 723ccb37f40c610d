/* Judges the records of nominal times: what was decided must be what the rules ask for at that instant, in
 * the order of schedules.md: paused or blocked, dates, max_runs, excluded days, active hours; then lateness,
 * by the policy; then overlap. */
#include "opinion/facts.h"

#include <stdio.h>

static const char *words_of(unsigned state, unsigned reason)
{
	static char text[4][48];
	static unsigned turn;
	char *z = text[turn++ % 4];
	snprintf(z, sizeof text[0], "%s/%s",
		 state == RUN_MISSED    ? "missed"
		 : state == RUN_SKIPPED ? "skipped"
					: "run",
		 reason_words[reason]);
	return z;
}

/* What must be recorded; more than one answer where it cannot be known. */
struct expected {
	uint8_t state; /* RUN_SKIPPED, RUN_MISSED, or RUN_CLAIMED: it runs */
	uint16_t reason;
	bool waits;     /* nothing may be recorded yet */
	bool any_cause; /* missed for one of the causes of lateness */
	bool any;       /* not known */
};

static struct expected refusal(enum run_state state, enum reason reason)
{
	return (struct expected){ .state = (uint8_t)state, .reason = (uint16_t)reason };
}

/* --- causes of lateness --- */

enum cause { CAUSE_HELD = 1, CAUSE_DOWN = 2, CAUSE_CLOCK = 4, CAUSE_STORE = 8, CAUSE_SUSPENDED = 16 };

static unsigned cause_of_reason(unsigned reason)
{
	switch (reason) {
	case REASON_RATE_LIMITED:
		return CAUSE_HELD;
	case REASON_DOWN:
		return CAUSE_DOWN;
	case REASON_CLOCK:
		return CAUSE_CLOCK;
	case REASON_STORE:
		return CAUSE_STORE;
	case REASON_SUSPENDED:
		return CAUSE_SUSPENDED;
	default:
		return 0;
	}
}

/* The causes that delayed a time from when it was due until it was decided. */
static unsigned causes_between(const struct opinion *o, const struct opinion_sched *s, int64_t from,
			       int64_t to)
{
	unsigned c = 0;
	int64_t since = from - o->slack;
	c |= maybe_held(o, &s->rules.policy, since, to, false) ? CAUSE_HELD : 0;
	c |= spans_touch(&o->down, since, to) ? CAUSE_DOWN : 0;
	c |= spans_touch(&o->stepped, since, to) || spans_touch(&o->untrusted, since, to) ? CAUSE_CLOCK : 0;
	c |= spans_touch(&o->outage, since, to) ? CAUSE_STORE : 0;
	c |= spans_touch(&o->suspended, since, to) ? CAUSE_SUSPENDED : 0;
	return c;
}

/* Whether a hold ended after this time, by the wall clock. */
static bool held_by_the_clock(const struct opinion *o, const struct opinion_sched *s, struct wall due)
{
	const struct policy *p = &s->rules.policy;
	for (unsigned i = 0; i < o->helds; i++)
		if (o->held[i].key && (o->held[i].key == p->agent || o->held[i].key == p->account) &&
		    o->held[i].until.us >= due.us && stepped_between(o, o->held[i].asked, o->w->t))
			return true;
	return false;
}

static void judge_cause(struct opinion *o, const struct opinion_sched *s, struct wall nominal,
			struct wall due, unsigned reason, int64_t decided)
{
	int64_t t = true_time(o, due);
	unsigned causes = causes_between(o, s, t, decided), named = cause_of_reason(reason);
	const struct held *h = surely_held(o, &s->rules.policy, t, false);
	bool through = h && h->until.us != INT64_MAX && h->ends > t + o->slack && h->releasing > decided;
	if (causes & CAUSE_SUSPENDED)
		causes |= CAUSE_STORE; /* an answer that was under way seems slow after it */
	if (causes & CAUSE_CLOCK || held_by_the_clock(o, s, due))
		causes |= CAUSE_HELD; /* times that waited for a hold before a step of the clock */
	if (!named || s->changed > t - o->slack || s->change_told > t - o->slack ||
	    stepped_between(o, decided, INT64_MAX) || spans_touch(&s->line, t - o->slack, decided) ||
	    (!(causes & CAUSE_STORE) && spans_touch(&s->changing, t - o->slack, decided - o->slack)))
		return;
	if (!(causes & named) && causes)
		FIND(o,
		     "sid %llu: %s is missed/%s, but nothing of that kind happened since it was due (causes "
		     "%x)",
		     (unsigned long long)s->sid, check_time_text(nominal), reason_words[reason], causes);
	else if (through && !stepped_between(o, h->asked, decided) && named != CAUSE_HELD)
		FIND(o, "sid %llu: %s is missed/%s, but its account was held", (unsigned long long)s->sid,
		     check_time_text(nominal), reason_words[reason]);
	else if (!causes)
		FIND(o, "sid %llu: %s is missed/%s, but nothing delayed it", (unsigned long long)s->sid,
		     check_time_text(nominal), reason_words[reason]);
}

/* --- what must happen to a time --- */

/* How many nominal times in (after, now] are due and may run, counted up to `most`. */
static unsigned due_after(const struct opinion *o, const struct opinion_sched *s, struct wall after,
			  struct wall now, unsigned most, bool *many)
{
	unsigned n = 0, visited = 0;
	struct wall t = after;
	/* With so many times, the engine's limits apply. */
	while (visited++ < STRETCH_MAX - 100 && n < most && next_time(o, s, t, &t) && t.us <= now.us)
		n += due_of(o, &s->rules, t).us <= now.us && !barred(o, &s->rules, t);
	*many = visited >= STRETCH_MAX - 100;
	return n;
}

static struct expected by_policy(const struct opinion *o, const struct opinion_sched *s, struct wall nominal,
				 struct wall now)
{
	const struct policy *p = &s->rules.policy;
	unsigned limit = p->catch_up_limit < CATCH_UP_MAX ? p->catch_up_limit : CATCH_UP_MAX;
	bool many;
	if (p->window)
		return refusal(RUN_MISSED, REASON_WINDOW_CLOSED);
	switch ((enum missed)p->missed) {
	case MISSED_SKIP:
	case MISSED_EXECUTE_NEXT:
		return (struct expected){ .state = RUN_MISSED, .any_cause = true };
	case MISSED_EXECUTE_IMMEDIATELY:
		if (due_after(o, s, nominal, now, 1, &many))
			return refusal(RUN_MISSED, REASON_SUPERSEDED);
		break;
	case MISSED_CATCH_UP:
		if (due_after(o, s, nominal, now, limit, &many) >= limit)
			return refusal(RUN_MISSED, REASON_LIMIT);
		if (many)
			return (struct expected){ .any = true };
		break;
	case MISSED_COUNT:
		break;
	}
	return (struct expected){ .state = RUN_CLAIMED };
}

static struct expected expect(const struct opinion *o, const struct opinion_sched *s, struct wall nominal,
			      struct wall due, int64_t decided)
{
	struct wall now = o->then.wall;
	const struct policy *p = &s->rules.policy;
	if (o->then.paused)
		return refusal(RUN_SKIPPED, REASON_PAUSED);
	if (surely_held(o, p, decided, true))
		return refusal(RUN_SKIPPED, REASON_BLOCKED);
	if (s->row.left == 0)
		return refusal(RUN_SKIPPED, REASON_MAX_RUNS);
	if (maybe_held(o, p, decided, decided, true))
		return (struct expected){ .any = true };
	if (due.us <= o->restored.us)
		return refusal(RUN_MISSED, REASON_RESTORED);
	if (surely_held(o, p, decided, false))
		return (struct expected){ .waits = true };
	if (barred(o, &s->rules, nominal))
		return refusal(RUN_SKIPPED, barred(o, &s->rules, nominal));
	if (now.us - due.us > SECONDS(grace_seconds(p)))
		return by_policy(o, s, nominal, now);
	return (struct expected){ .state = RUN_CLAIMED };
}

/* --- overlap --- */

/* How many live runs make a new one an overlap. */
static unsigned overlap_limit(const struct policy *p)
{
	switch ((enum overlap)p->overlap) {
	case OVERLAP_SKIP:
		return 1;
	case OVERLAP_QUEUE_ONE:
		return 2;
	case OVERLAP_QUEUE_ALL:
	case OVERLAP_CANCEL_RUNNING:
		return QUEUE_ALL_MAX + 1;
	default:
		return UINT32_MAX;
	}
}

static void judge_overlap(struct opinion *o, const struct opinion_sched *s, struct wall nominal, bool skipped,
			  unsigned kind)
{
	unsigned limit = overlap_limit(&s->rules.policy), sure = o->then.surely_live,
		 maybe = o->then.maybe_live;
	if (skipped && maybe < limit && o->then.open + 10 < RUNS_OPEN_MAX)
		FIND(o, "sid %llu: %s is skipped/overlap, but only %u runs are live (overlap %s)",
		     (unsigned long long)s->sid, check_time_text(nominal), maybe,
		     overlap_words[s->rules.policy.overlap]);
	if (!skipped && sure >= limit && kind != KIND_CATCH_UP)
		FIND(o, "sid %llu: %s is claimed, but %u runs are live (overlap %s)",
		     (unsigned long long)s->sid, check_time_text(nominal), sure,
		     overlap_words[s->rules.policy.overlap]);
}

/* --- records --- */

/* A time may be decided late only by what the delays of the ports, and the faults since it was due, explain.
 */
static void judge_punctuality(struct opinion *o, const struct opinion_sched *s, struct wall nominal,
			      struct wall due, int64_t decided)
{
	int64_t t = true_time(o, due);
	int64_t since = undelayed_since(o, s, t - o->slack, decided);
	if (since < t)
		since = t;
	if (decided - since > o->slack + SECONDS(5))
		FIND(o, "sid %llu: %s is decided %.3f s after it could have been", (unsigned long long)s->sid,
		     check_time_text(nominal), (double)(decided - since) / 1e6);
}

static void judge_time(struct opinion *o, struct opinion_sched *s, struct wall nominal, unsigned state,
		       unsigned reason, unsigned kind, int64_t decided)
{
	struct wall due = due_of(o, &s->rules, nominal);
	struct expected x = expect(o, s, nominal, due, decided);
	bool runs = state != RUN_SKIPPED && state != RUN_MISSED;
	if (reason == REASON_EDITED) {
		if (s->edit_sent <= decided)
			FIND(o, "sid %llu: %s is missed/edited, but nothing was edited",
			     (unsigned long long)s->sid, check_time_text(nominal));
		return;
	}
	if (x.any)
		return;
	if (x.waits) {
		FIND(o, "sid %llu: %s is %s, but its agent or account is held", (unsigned long long)s->sid,
		     check_time_text(nominal), words_of(state, reason));
		return;
	}
	if (reason == REASON_OVERLAP || (runs && x.state == RUN_CLAIMED)) {
		judge_overlap(o, s, nominal, reason == REASON_OVERLAP, kind);
		state = RUN_CLAIMED;
		reason = 0;
	}
	if (runs)
		state = RUN_CLAIMED;
	if (x.any_cause && state == RUN_MISSED && cause_of_reason(reason))
		judge_cause(o, s, nominal, due, reason, decided);
	else if (state != x.state || reason != x.reason)
		FIND(o, "sid %llu: %s is %s, expected is %s (decided %s)", (unsigned long long)s->sid,
		     check_time_text(nominal), words_of(state, reason),
		     x.any_cause ? "missed" : words_of(x.state, x.reason), check_time_text(o->then.wall));
	judge_punctuality(o, s, nominal, due, decided);
}

static bool late_at(const struct opinion *o, const struct opinion_sched *s, const struct run_row *r)
{
	return o->then.wall.us - r->due.us > SECONDS(grace_seconds(&s->rules.policy));
}

void judge_claim(struct opinion *o, struct opinion_sched *s, const struct run_row *r, int64_t decided)
{
	judge_told(o, s, r);
	if (r->kind == KIND_MANUAL || r->kind == KIND_BACKFILL)
		return;
	if (s->row.after || r->kind == KIND_AFTER) {
		judge_follower(o, s, r, decided);
		return;
	}
	bool runs = r->state != RUN_SKIPPED && r->state != RUN_MISSED;
	if (runs && s->rules.policy.missed == MISSED_CATCH_UP && late_at(o, s, r) && r->kind != KIND_CATCH_UP)
		FIND(o, "sid %llu: %s was missed, but does not run as catch-up", (unsigned long long)s->sid,
		     check_time_text(r->nominal));
	if (r->kind == KIND_CATCH_UP && s->rules.policy.missed != MISSED_CATCH_UP)
		FIND(o, "sid %llu: %s runs as catch-up by policy %s", (unsigned long long)s->sid,
		     check_time_text(r->nominal), missed_words[s->rules.policy.missed]);
	judge_time(o, s, r->nominal, r->state, r->reason, r->kind, decided);
}

/* A range that was just opened: its reason must be in force. */
static void judge_opened(struct opinion *o, struct opinion_sched *s, const struct range_row *g,
			 int64_t decided)
{
	const struct rule *when = &s->rules.when;
	bool ok = false;
	s->opened = decided;
	note_open_agent(s, true);
	switch (g->reason) {
	case REASON_PAUSED:
		ok = o->then.paused;
		break;
	case REASON_BLOCKED:
		ok = maybe_held(o, &s->rules.policy, decided, decided, true);
		break;
	case REASON_MAX_RUNS:
		ok = s->row.left == 0;
		break;
	case REASON_NOT_STARTED:
		ok = g->first.us < wall_of(when->from).us;
		break;
	case REASON_EXPIRED:
		ok = when->until != RULE_UNTIL_NEVER && g->first.us >= wall_of(when->until).us;
		break;
	case REASON_GATED:
		ok = s->row.next_set_at.us && g->first.us < s->row.next.us;
		break;
	default:
		break;
	}
	if (!ok)
		FIND(o, "sid %llu: from %s on times are skipped/%s, but there is no reason for it",
		     (unsigned long long)s->sid, check_time_text(g->first), reason_words[g->reason]);
}

void judge_range(struct opinion *o, struct opinion_sched *s, const struct range_row *g, struct wall after,
		 int64_t decided)
{
	if (g->last.us == INT64_MAX) {
		judge_opened(o, s, g, decided);
		return;
	}
	if (s->row.after)
		return; /* judge_follower judges its records one by one */
	struct wall n = after, now = o->then.wall;
	unsigned all = 0, at = 0;
	while (next_time(o, s, n, &n) && n.us <= g->last.us)
		all++;
	/* Of very many times, those near the ends of the range are judged. */
	for (n = after; at < all && next_time(o, s, n, &n); at++) {
		bool owed = g->state == RUN_MISSED;
		if (model_occurrence(o->w->rows, s->sid, n)) {
			s->taken_now += owed; /* it ran before the clock was stepped back */
			continue;
		}
		s->missed_now += owed;
		/* After a pause of all schedules, its times are recorded by their nominal times, and are not
		 * judged one by one. */
		int64_t t = true_time(o, n);
		bool resumed = g->reason == REASON_PAUSED && o->all_paused.n && n.us <= now.us &&
			       (o->all_paused.at[o->all_paused.n - 1].to >= decided - o->slack ||
				spans_touch(&o->all_paused, t - o->slack, t + o->slack));
		if (!resumed && (at < 100 || at + 100 >= all))
			judge_time(o, s, n, g->state, g->reason, KIND_TIMER, decided);
	}
}

/* --- open ranges --- */

void note_open_agent(struct opinion_sched *s, bool first)
{
	if (first)
		s->open_agents = 0;
	if (s->open_agents < ARRAY_LEN(s->open_agent))
		s->open_agent[s->open_agents] = s->rules.policy.agent;
	s->open_agents++;
}

/* The schedule may have had several agents since its range was opened. */
static bool open_agent_held(const struct opinion *o, const struct opinion_sched *s, int64_t from, int64_t to)
{
	for (unsigned i = 0; i < s->open_agents && i < ARRAY_LEN(s->open_agent); i++) {
		struct policy p = { .agent = s->open_agent[i] };
		if (maybe_held(o, &p, from, to, true))
			return true;
	}
	return s->open_agents > ARRAY_LEN(s->open_agent);
}

static bool is_in_force(const struct opinion *o, const struct opinion_sched *s, struct wall n,
			unsigned reason, int64_t t)
{
	int64_t from = t - o->slack - SECONDS(3), to = t + o->slack;
	const struct rule *when = &s->rules.when;
	switch (reason) {
	case REASON_PAUSED:
		return spans_touch(&s->paused, from, to) || spans_touch(&o->all_paused, from, to);
	case REASON_BLOCKED:
		return maybe_held(o, &s->rules.policy, from, to, true) || open_agent_held(o, s, from, to);
	case REASON_MAX_RUNS:
		return spans_touch(&s->no_runs, from, to);
	case REASON_NOT_STARTED:
		return n.us < wall_of(when->from).us;
	case REASON_EXPIRED:
		return when->until != RULE_UNTIL_NEVER && n.us >= wall_of(when->until).us;
	case REASON_GATED:
		return n.us < s->gated_to.us && spans_touch(&s->gated, from, to);
	default:
		return true;
	}
}

/* The schedule is resumed: whether its own pause was over at that time, even if the daemon was down then.
 * Times up to `high` were recorded, or pruned, for another reason. */
static bool pause_was_over(const struct opinion *o, const struct opinion_sched *s, const struct range_row *g,
			   struct wall n)
{
	const struct model_sched *m = model_sched(o->w->rows, s->sid);
	int64_t t = true_time(o, n);
	return g->reason == REASON_PAUSED && s->row.flags & SCHED_PAUSED && m &&
	       !(m->row.flags & SCHED_PAUSED) && n.us > s->row.paused_until.us && n.us > s->row.high.us &&
	       !spans_touch(&o->all_paused, t - o->slack, t + o->slack) &&
	       !spans_touch(&o->untrusted, t - o->slack, t + o->slack) &&
	       !spans_touch(&o->stepped, t - SECONDS(60), INT64_MAX);
}

/* The range of `s` that was open ends at `last`: each of its times must have come while its reason was in
 * force. While the daemon is down, only a pause can end. */
void judge_closed_range(struct opinion *o, const struct opinion_sched *s, const struct range_row *g,
			struct wall last)
{
	struct rules all = s->rules;
	struct wall n = { g->first.us - 1 };
	if (s->row.after || g->reason == REASON_EXPIRED)
		return;
	if (g->reason == REASON_NOT_STARTED)
		all.when.from = RULE_FROM_ALWAYS;
	for (unsigned i = 0; i < 500 && next_nominal(o, &all, n, &n) && n.us <= last.us; i++) {
		int64_t t = true_time(o, n);
		if (pause_was_over(o, s, g, n))
			FIND(o, "sid %llu: %s is skipped/paused, but the pause was over at %s",
			     (unsigned long long)s->sid, check_time_text(n),
			     check_time_text(s->row.paused_until));
		/* In the future: the clock was stepped back while the range was being closed. */
		if (t <= s->opened + o->slack || t > o->w->t ||
		    spans_touch(&o->outage, t - o->slack - SECONDS(3), t + o->slack) ||
		    spans_touch(&o->untrusted, t - o->slack, t + o->slack) ||
		    spans_touch(&o->stepped, t - SECONDS(60), INT64_MAX) ||
		    spans_touch(&o->suspended, t - o->slack - SECONDS(3), t + o->slack) ||
		    spans_touch(&o->down, t - o->slack - SECONDS(3), t + o->slack))
			continue;
		if (!is_in_force(o, s, n, g->reason, t))
			FIND(o, "sid %llu: %s is skipped/%s, but that was over", (unsigned long long)s->sid,
			     check_time_text(n), reason_words[g->reason]);
	}
}
