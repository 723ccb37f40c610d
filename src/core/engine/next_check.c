/* A next time that one of its runs has set: once, in place of the rule's. The regular times before it do not
 * count: they lie in one open range, as those before a start do, and its coming is a change like any other,
 * made by the clock, that closes the range just before it. Then it is taken up as a regular time is. */
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
	if (!s->range_open || s->busy || clock_is_unsettled(e, s) || s->row.next.us > e->now.wall.us ||
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
	if (!s->range_open) {
		due_open_range(e, s, first, REASON_GATED);
	} else if (!next_check_arrive(e, s)) {
		struct wall soon = { e->now.wall.us + USEC / 100 };
		heap_put(&e->due, sched_index(e, s), s->row.next.us > soon.us ? s->row.next.us : soon.us);
	}
	return true;
}

/* Whether it is a time that could be; who asked was judged before. */
static enum reply_code judge(const struct engine *e, const struct sched *s, struct wall to)
{
	struct wall first;
	const struct rule *when = &rules_of(s)->when;
	if (s->busy || s->outdated || clock_is_unsettled(e, s) ||
	    (s->row.next_set_at.us && s->row.next.us <= e->now.wall.us))
		return REPLY_BUSY;
	bool out = s->row.flags & SCHED_PAUSED || !(s->row.flags & SCHED_ENABLED) || e->paused_all ||
		   !s->row.left || s->row.after || (s->range_open && !next_check_gates(s, &first));
	bool beyond =
		to.us <= e->now.wall.us || wall_seconds(to) < when->from || wall_seconds(to) >= when->until;
	return out || beyond ? REPLY_REFUSED : REPLY_OK;
}

/* What was due and has not been taken up is before it as well. `high` tells where that begins. */
void next_check_set(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	enum reply_code no = !s || s->removed ? REPLY_NOT_FOUND : judge(e, s, c->to);
	if (no) {
		engine_reply_code(e, c->tag, no, c->sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	struct wall dealt_with = { s->next_try.us <= e->now.wall.us ? s->next_try.us - 1 : e->now.wall.us };
	r.keep_next = false;
	r.close_range = s->range_open;
	r.row.next = c->to;
	r.row.next_set_at = e->now.wall;
	r.row.high = dealt_with.us > s->row.high.us ? dealt_with : s->row.high;
	command_submit(e, s, &r, FOR_PUT, c->tag);
}
