/* The next check: a next time that one of the schedule's runs has set, once, in place of the rule's. Regular
 * times before it do not run: they lie in one open range, like the times before a start date. When the next
 * check comes, the range is closed just before it, and it is handled like a regular time. */
#include "core/engine/state.h"

bool next_check_gates(const struct sched *s, struct wall *first)
{
	struct wall after = s->row.high.us > s->row.changed.us ? s->row.high : s->row.changed;
	return s->row.next_set_at.us && rule_next(&rules_of(s)->when, s->zone, after, first) == OK &&
	       first->us < s->row.next.us;
}

bool next_check_arrive(struct engine *e, struct sched *s)
{
	struct wall first;
	if (!s->range_reason || s->busy || clock_is_unsettled(e, s) || s->row.next.us > e->now.wall.us ||
	    !next_check_gates(s, &first))
		return false;
	command_close_range_before(e, s, (struct wall){ s->row.next.us - 1 });
	return true;
}

bool next_check_hold_back(struct engine *e, struct sched *s)
{
	struct wall first;
	if (s->row.flags & SCHED_PAUSED || !next_check_gates(s, &first))
		return false;
	if (!s->range_reason) {
		due_open_range(e, s, first, REASON_GATED);
	} else if (!next_check_arrive(e, s)) {
		struct wall soon = { e->now.wall.us + USEC / 100 };
		heap_put(&e->due, sched_index(e, s), s->row.next.us > soon.us ? s->row.next.us : soon.us);
	}
	return true;
}

/* Whether the next check may be set to `to`; the caller's rights were checked before. */
static enum reply_code validate(const struct engine *e, const struct sched *s, struct wall to)
{
	struct wall first;
	const struct rule *when = &rules_of(s)->when;
	if (s->busy || s->outdated || clock_is_unsettled(e, s) ||
	    (s->row.next_set_at.us && s->row.next.us <= e->now.wall.us))
		return REPLY_BUSY;
	bool excluded = s->row.flags & SCHED_PAUSED || !(s->row.flags & SCHED_ENABLED) || e->paused_all ||
			!s->row.left || s->row.after || (s->range_reason && !next_check_gates(s, &first));
	bool out_of_dates =
		to.us <= e->now.wall.us || wall_seconds(to) < when->from || wall_seconds(to) >= when->until;
	return excluded || out_of_dates ? REPLY_REFUSED : REPLY_OK;
}

/* Times that are due but not recorded yet are gated too: `high` is set just before the first of them. */
void next_check_set(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	enum reply_code code = !s || s->removed ? REPLY_NOT_FOUND : validate(e, s, c->to);
	if (code) {
		engine_reply_code(e, c->tag, code, c->sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	struct wall recorded_to = { s->next_try.us <= e->now.wall.us ? s->next_try.us - 1 : e->now.wall.us };
	r.keep_next = false;
	r.close_range = s->range_reason;
	r.row.next = c->to;
	r.row.next_set_at = e->now.wall;
	r.row.high = recorded_to.us > s->row.high.us ? recorded_to : s->row.high;
	command_submit(e, s, &r, FOR_PUT, c->tag);
}
