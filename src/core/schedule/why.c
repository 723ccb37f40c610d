/* The answers of `rota why`, from a record, a range, or else the rules. */
#include "core/schedule/why.h"

static bool is_nominal(const struct rule *r, const struct zone *zone, struct wall t)
{
	struct wall n;
	return rule_next(r, zone, (struct wall){ t.us - 1 }, &n) == OK && n.us == t.us;
}

/* The rule without start and end date, which bound its times but do not change them. */
static struct rule unbounded(const struct rules *r)
{
	struct rule rule = r->when;
	rule.from = RULE_FROM_ALWAYS;
	rule.until = RULE_UNTIL_NEVER;
	return rule;
}

bool why_nominal(const struct rules *r, const struct zone *zone, struct wall t, struct wall *ret)
{
	struct rule rule = unbounded(r);
	struct wall n;
	if (is_nominal(&rule, zone, t)) {
		*ret = t;
		return true;
	}
	/* A person may give the due time instead, which is shown without fractions of a second. */
	if (rule_prev(&rule, zone, t, &n) != OK || wall_seconds(rule_due(&rule, zone, n)) != wall_seconds(t))
		return false;
	*ret = n;
	return true;
}

static void set_nearest(const struct why_facts *f, struct wall t, struct why_answer *a)
{
	a->before = a->after = WALL_NEVER;
	if (rule_prev(&f->rules->when, f->context.zone, (struct wall){ t.us - 1 }, &a->before) != OK)
		a->before = WALL_NEVER;
	if (rule_next(&f->rules->when, f->context.zone, t, &a->after) != OK)
		a->after = WALL_NEVER;
}

/* Why a future time would be refused in the present state; REASON_NONE: it would run. */
static enum reason expected_refusal(const struct why_facts *f, struct wall nominal)
{
	enum reason bar = rules_bar(f->rules, &f->context, nominal);
	bool pause_ends = f->row->paused_until.us <= nominal.us, hold_ends = f->held_until.us <= nominal.us;
	if (f->paused && !pause_ends)
		return REASON_PAUSED;
	if (f->row->next_set_at.us && nominal.us < f->row->next.us)
		return REASON_GATED;
	if (f->row->left == 0)
		return REASON_MAX_RUNS;
	if (f->blocked)
		return REASON_BLOCKED;
	if (f->held && !hold_ends)
		return f->held == REASON_RATE_LIMITED ? REASON_RATE_LIMITED : REASON_BLOCKED;
	return bar;
}

/* Whether the time is before the start date or after the end date. */
static enum reason dates_refusal(const struct why_facts *f, struct wall nominal)
{
	int64_t t = wall_seconds(nominal);
	return t < f->rules->when.from     ? REASON_NOT_STARTED
	       : t >= f->rules->when.until ? REASON_EXPIRED
					   : REASON_NONE;
}

struct why_answer why_at(const struct why_facts *f, struct wall t)
{
	struct why_answer a = { .state = RUN_SKIPPED, .nominal = t, .due = t };
	set_nearest(f, t, &a);
	if (f->record) {
		bool refused = f->record->state == RUN_SKIPPED || f->record->state == RUN_MISSED;
		a.nominal = f->record->nominal;
		a.due = f->record->due;
		a.kind = refused ? WHY_REFUSED : WHY_RUN;
		a.state = (enum run_state)f->record->state;
		a.reason = (enum reason)f->record->reason;
		return a;
	}
	if (f->row->after) {
		a.kind = WHY_FOLLOWS;
		return a;
	}
	/* The first and last time of a range were nominal times once, even if the rule has changed. */
	bool end = f->range && (f->range->first.us == t.us || f->range->last.us == t.us);
	/* If a run has set the next check, that time is a nominal time too, and it and later times are not
	 * gated. */
	bool set = f->row->next_set_at.us && t.us >= f->row->next.us;
	const struct range_row *range = set && f->range && f->range->reason == REASON_GATED ? NULL : f->range;
	if (set && t.us == f->row->next.us) {
		a.nominal = t;
	} else if (!why_nominal(f->rules, f->context.zone, t, &a.nominal)) {
		a.kind = end ? WHY_REFUSED : WHY_NO_TIME;
		a.state = end ? (enum run_state)f->range->state : a.state;
		a.reason = end ? (enum reason)f->range->reason : REASON_NONE;
		return a;
	}
	a.due = rule_due(&f->rules->when, f->context.zone, a.nominal);
	set_nearest(f, a.nominal, &a);
	if ((a.reason = dates_refusal(f, a.nominal))) {
		a.kind = a.nominal.us > f->now.us ? WHY_WILL_NOT : WHY_REFUSED;
	} else if (range && range->last.us != INT64_MAX) {
		a.kind = WHY_REFUSED;
		a.state = (enum run_state)range->state;
		a.reason = (enum reason)range->reason;
	} else if (range && a.due.us <= f->now.us) {
		a.kind = WHY_REFUSED;
		a.reason = (enum reason)range->reason;
	} else if (a.nominal.us <= f->row->pruned_to.us) {
		a.kind = WHY_PRUNED;
	} else if (a.nominal.us <= f->row->changed.us) {
		a.kind = WHY_BEFORE;
	} else if (f->removed) {
		a.kind = WHY_REMOVED;
	} else if (a.due.us <= f->now.us && f->enabled) {
		a.kind = WHY_WAITS;
	} else {
		a.reason = expected_refusal(f, a.nominal);
		a.state = a.reason == REASON_RATE_LIMITED ? RUN_MISSED : RUN_SKIPPED;
		a.kind = a.reason || !f->enabled ? WHY_WILL_NOT
			 : f->condition_false    ? WHY_IF
			 : f->would_fail         ? WHY_WILL_FAIL
						 : WHY_WILL_RUN;
	}
	return a;
}
