/* A schedule's own dates. The times it would have before its start and after its end do not count: they lie
 * in one open range, as those of a pause do. A start is a change like any other, made by the clock: it closes
 * that range, and nothing before it fires. */
#include "core/engine/state.h"

/* The first of its times after all that it has dealt with, and after `past`, its dates left aside. */
static struct wall first_aside(const struct sched *s, int64_t past)
{
	struct rule rule = rules_of(s)->when;
	struct wall after = s->row.high.us > s->row.changed.us ? s->row.high : s->row.changed, first;
	if (after.us < past)
		after.us = past;
	rule.from = RULE_FROM_ALWAYS;
	rule.until = RULE_UNTIL_NEVER;
	return rule_next(&rule, s->zone, after, &first) == OK ? first : WALL_NEVER;
}

static struct wall start_of(const struct sched *s)
{
	return wall_of(rules_of(s)->when.from);
}

/* Are there times before its start that have not been dealt with? */
static bool is_before_start(const struct sched *s, struct wall *first)
{
	if (s->row.after || rules_of(s)->when.from == RULE_FROM_ALWAYS ||
	    s->row.changed.us >= start_of(s).us - 1 || s->row.high.us >= start_of(s).us)
		return false;
	*first = first_aside(s, INT64_MIN);
	return first->us < start_of(s).us;
}

bool dates_have_ended(const struct sched *s)
{
	return !s->row.after && s->row.next.us == INT64_MAX && rules_of(s)->when.until != RULE_UNTIL_NEVER;
}

bool dates_arrive(struct engine *e, struct sched *s)
{
	struct wall first;
	if (!s->range_open || e->now.wall.us < start_of(s).us || !is_before_start(s, &first))
		return false;
	command_close_range_before(e, s, (struct wall){ start_of(s).us - 1 });
	return true;
}

bool dates_hold_back(struct engine *e, struct sched *s)
{
	struct wall first, at;
	if (is_before_start(s, &first)) {
		if (!s->range_open) {
			due_open_range(e, s, first, REASON_NOT_STARTED);
		} else if (clock_is_unsettled(e, s) || !dates_arrive(e, s)) {
			at = start_of(s).us > e->now.wall.us ? start_of(s)
							     : (struct wall){ e->now.wall.us + USEC / 100 };
			if (s->row.flags & SCHED_PAUSED && s->row.paused_until.us < at.us)
				at = s->row.paused_until;
			heap_put(&e->due, sched_index(e, s), at.us);
		}
		return true;
	}
	if (s->range_open || !dates_have_ended(s))
		return false;
	/* A clock that went back has lowered `high`: what was before its end has been dealt with all the
	 * same. */
	first = first_aside(s, wall_of(rules_of(s)->when.until).us - 1);
	if (first.us == INT64_MAX)
		return false;
	due_open_range(e, s, first, REASON_EXPIRED);
	return true;
}
