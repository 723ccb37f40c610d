/* Which clock to believe. The wall clock may be stepped; the clock that only counts, suspension included,
 * says by how much. */
#include "core/engine/state.h"

/* Next times must be found anew, and what happened in a time that is yet to come explains nothing. */
static void turn_back(struct engine *e)
{
	struct wall *past[] = { &e->loaded_at, &e->stepped_at, &e->resumed_at, &e->stalled_at };
	for (size_t i = 0; i < ARRAY_LEN(past); i++)
		if (past[i]->us > e->now.wall.us)
			*past[i] = e->now.wall;
	e->rewind = 0;
}

/* How long somebody is held does not depend on what time it is. */
static void shift_holds(struct engine *e, int64_t step)
{
	for (uint32_t i = 0; i < e->resources; i++) {
		const struct resource *r = e->resource[i];
		const struct hold_row hold = r->hold;
		struct wall until = { hold.until.us + step };
		if (r->held && !r->releasing && hold.until.us != INT64_MAX && hold.until.us > e->now.wall.us)
			command_hold(e, hold.key, (enum reason)hold.reason, until);
	}
}

static void believed(struct engine *e)
{
	e->skew = e->now.wall.us - e->now.boot.us;
	if (e->skew >= e->max_skew) {
		e->max_skew = e->skew;
		e->max_ahead = CLOCK_AHEAD_SECONDS * USEC;
	}
}

/* A step of the wall clock shows in its distance to the clock that only counts. One far ahead is a fault more
 * often than not, and to believe it would cost years: it is held. But one that lags behind a time that was
 * reached before is known to be wrong, and back to that time it is set right. */
void clock_update(struct engine *e)
{
	int64_t skew = e->now.wall.us - e->now.boot.us, step = skew - e->skew;
	bool far = skew - e->max_skew >= e->max_ahead;
	if (skew - e->last_skew <= -CLOCK_STEP_SECONDS * USEC)
		shift_holds(e, skew - e->last_skew);
	e->last_skew = skew;
	if (e->clock_held && !far) {
		e->clock_held = false;
		e->stepped_at = e->now.wall;
		e->rewind = 0; /* people may have changed things meanwhile */
	} else if (far) {
		e->clock_held = true;
	}
	if (e->clock_held)
		return;
	if (step >= CLOCK_STEP_SECONDS * USEC)
		e->stepped_at = e->now.wall;
	else if (step <= -CLOCK_STEP_SECONDS * USEC)
		turn_back(e);
	believed(e);
}

/* The latest instant the store knows of. */
static struct wall last_record(const struct engine *e)
{
	struct wall last = { INT64_MIN };
	for (uint32_t i = 0; i < e->scheds; i++) {
		const struct sched_row *r = &e->sched[i].row;
		const struct wall both[] = { r->high, r->changed };
		for (size_t k = 0; k < ARRAY_LEN(both) && !e->sched[i].removed; k++)
			if (both[k].us > last.us)
				last = both[k];
	}
	return last;
}

void clock_init(struct engine *e)
{
	struct wall last = last_record(e);
	e->skew = e->last_skew = e->max_skew = e->now.wall.us - e->now.boot.us;
	e->max_ahead = CLOCK_AHEAD_SECONDS * USEC;
	/* Brought back by a clock that was far ahead: that is not to cost years. */
	if (e->restored_at.us - e->now.wall.us > CLOCK_AHEAD_SECONDS * USEC)
		e->restored_at = e->now.wall;
	if (last.us == INT64_MIN)
		return;
	e->clock_held = e->now.wall.us - last.us >= CLOCK_ABSENCE_SECONDS * USEC;
	if (e->clock_held || last.us > e->now.wall.us) {
		e->max_skew = last.us - e->now.boot.us;
		e->max_ahead = CLOCK_ABSENCE_SECONDS * USEC;
	}
	if (e->clock_held)
		e->skew = e->max_skew;
}

void clock_accept(struct engine *e)
{
	if (!e->clock_held)
		return;
	e->clock_held = false;
	e->stepped_at = e->now.wall;
	believed(e);
	e->rewind = 0; /* it may have gone back meanwhile */
}

/* Does its row speak of times that have not come, or may its records? Then also its next time, as it should
 * be. The row of one that is out of the queue stands still while a backfill goes on. */
static bool is_ahead(const struct engine *e, const struct sched *s, struct wall *next)
{
	*next = WALL_NEVER;
	if (!s->in_use || s->removed)
		return false;
	if (!s->row.after && rule_next(&rules_of(s)->when, s->zone, e->now.wall, next) != OK)
		*next = WALL_NEVER;
	/* What a run has set stands, unless the clock went back behind that: then it would be too long until
	 * then. */
	bool set = s->row.next_set_at.us;
	if (set && s->row.next_set_at.us <= e->now.wall.us && s->row.changed.us <= e->now.wall.us)
		return false;
	bool sooner = set || next->us < s->row.next.us;
	if (!sooner)
		*next = s->row.next; /* what is due and waits for its turn is not passed over */
	/* Recorded is one that a run had set: the rule need not have any after now. */
	bool beyond =
		!s->row.after && s->row.high.us > e->now.wall.us && s->row.high.us > s->row.pruned_to.us;
	return sooner || beyond || s->row.changed.us > e->now.wall.us || s->range_open ||
	       !(s->row.flags & SCHED_ENABLED);
}

/* The clock went back: times that lie ahead again must be found again, and what was recorded for them goes.
 */
bool clock_rewind_next(struct engine *e)
{
	for (unsigned looked = 0; e->rewind < e->scheds; looked++) {
		struct sched *s = &e->sched[e->rewind];
		struct wall next;
		if (looked == STEP_FIX_MAX)
			return true;
		if (s->in_use && s->busy) {
			e->rewind_waits = true; /* its answer comes first */
			return false;
		}
		if (is_ahead(e, s, &next)) {
			struct st_req r = due_new_request(s, ST_WITHDRAW, LANE_BULK);
			r.at = e->now.wall;
			r.move = due_keep_row(s);
			r.move.next = next;
			due_dequeue(e, s);
			s->busy = true;
			engine_submit_store(e, &r, FOR_WITHDRAW, 0, 0, s);
			e->rewind++;
			return true;
		}
		if (s->in_use && s->first_end != NONE)
			due_enqueue(e, s); /* by the new time */
		e->rewind++;
	}
	e->rewind = NONE;
	return false;
}
