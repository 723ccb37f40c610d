/* The start and end date of a schedule. Times before the start and after the end do not run: they lie in one
 * open range, like the times of a pause. When the start comes, the schedule is changed as if by a person: the
 * range is closed, and nothing before the start fires. */
#include "core/engine/state.h"

/* The first time of the rule, ignoring its dates, after everything that is recorded and after `least`. */
static struct wall first_ignoring_dates(const struct sched *s, int64_t least)
{
	struct rule rule = rules_of(s)->when;
	struct wall after = s->row.high.us > s->row.changed.us ? s->row.high : s->row.changed, first;
	if (after.us < least)
		after.us = least;
	rule.from = RULE_FROM_ALWAYS;
	rule.until = RULE_UNTIL_NEVER;
	return rule_next(&rule, s->zone, after, &first) == OK ? first : WALL_NEVER;
}

static struct wall start_of(const struct sched *s)
{
	return wall_of(rules_of(s)->when.from);
}

bool dates_have_not_begun(const struct sched *s, struct wall *first)
{
	if (s->row.after || rules_of(s)->when.from == RULE_FROM_ALWAYS ||
	    s->row.changed.us >= start_of(s).us - 1 || s->row.high.us >= start_of(s).us)
		return false;
	*first = first_ignoring_dates(s, INT64_MIN);
	return first->us < start_of(s).us;
}

bool dates_have_ended(const struct sched *s)
{
	return !s->row.after && s->row.next.us == INT64_MAX && rules_of(s)->when.until != RULE_UNTIL_NEVER;
}

bool dates_arrive(struct engine *e, struct sched *s)
{
	struct wall first;
	if (!s->range_reason || e->now.wall.us < start_of(s).us || !dates_have_not_begun(s, &first))
		return false;
	command_close_range_before(e, s, (struct wall){ start_of(s).us - 1 });
	return true;
}

bool dates_hold_back(struct engine *e, struct sched *s)
{
	struct wall first, at;
	if (dates_have_not_begun(s, &first)) {
		if (!s->range_reason) {
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
	if (s->range_reason || !dates_have_ended(s))
		return false;
	/* A step back of the clock may have lowered `high`; times before the end date are recorded
	 * nevertheless. */
	first = first_ignoring_dates(s, wall_of(rules_of(s)->when.until).us - 1);
	if (first.us == INT64_MAX)
		return false;
	due_open_range(e, s, first, REASON_EXPIRED);
	return true;
}
