#include "core/schedule/why.h"

static bool is_nominal(const struct rule *r, const struct zone *zone, struct wall t)
{
	struct wall n;
	return rule_next(r, zone, (struct wall){ t.us - 1 }, &n) == OK && n.us == t.us;
}

/* Without its start and end date: they only say from when to when its times count. */
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
	/* People see due times, to the second. */
	if (rule_prev(&rule, zone, t, &n) != OK || wall_seconds(rule_due(&rule, zone, n)) != wall_seconds(t))
		return false;
	*ret = n;
	return true;
}

static void nearest(const struct why_facts *f, struct wall t, struct why_answer *a)
{
	a->before = a->after = WALL_NEVER;
	if (rule_prev(&f->rules->when, f->with.zone, (struct wall){ t.us - 1 }, &a->before) != OK)
		a->before = WALL_NEVER;
	if (rule_next(&f->rules->when, f->with.zone, t, &a->after) != OK)
		a->after = WALL_NEVER;
}

/* Why it would be refused if it came due with things as they are. */
static enum reason obstacle(const struct why_facts *f, struct wall nominal)
{
	enum reason bar = rules_bar(f->rules, &f->with, nominal);
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

/* What the schedule's own dates say of a time that it would otherwise have. */
static enum reason out_of_dates(const struct why_facts *f, struct wall nominal)
{
	int64_t t = wall_seconds(nominal);
	return t < f->rules->when.from     ? REASON_NOT_STARTED
	       : t >= f->rules->when.until ? REASON_EXPIRED
					   : REASON_NONE;
}

struct why_answer why_at(const struct why_facts *f, struct wall t)
{
	struct why_answer a = { .state = RUN_SKIPPED, .nominal = t, .due = t };
	nearest(f, t, &a);
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
	/* The ends of a range are times it had once, whatever it has now. */
	bool end = f->range && (f->range->first.us == t.us || f->range->last.us == t.us);
	/* What a run has set is a time as well, and nothing from then on is kept out for it. */
	bool set = f->row->next_set_at.us && t.us >= f->row->next.us;
	const struct range_row *range = set && f->range && f->range->reason == REASON_GATED ? NULL : f->range;
	if (set && t.us == f->row->next.us) {
		a.nominal = t;
	} else if (!why_nominal(f->rules, f->with.zone, t, &a.nominal)) {
		a.kind = end ? WHY_REFUSED : WHY_NO_TIME;
		a.state = end ? (enum run_state)f->range->state : a.state;
		a.reason = end ? (enum reason)f->range->reason : REASON_NONE;
		return a;
	}
	a.due = rule_due(&f->rules->when, f->with.zone, a.nominal);
	nearest(f, a.nominal, &a);
	if ((a.reason = out_of_dates(f, a.nominal))) {
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
		a.reason = obstacle(f, a.nominal);
		a.state = a.reason == REASON_RATE_LIMITED ? RUN_MISSED : RUN_SKIPPED;
		a.kind = a.reason || !f->enabled ? WHY_WILL_NOT : WHY_WILL_RUN;
	}
	return a;
}
