/* Decides whether to trust the wall clock. The wall clock can be stepped; the boot clock cannot. So a change
 * of their difference, the skew, is a step of the wall clock. */
#include "core/engine/state.h"

/* The clock stepped back: next times must be found again, and causes of lateness must not lie in the
 * future. */
static void start_rewind(struct engine *e)
{
	struct wall *causes[] = { &e->loaded_at, &e->stepped_at, &e->resumed_at, &e->stalled_at,
				  &e->all_resumed_at };
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (causes[i]->us > e->now.wall.us)
			*causes[i] = e->now.wall;
	e->rewind = 0;
}

static void raise_to(struct wall *last, struct wall t)
{
	if (t.us > last->us)
		*last = t;
}

/* True if the hold has an end, which has not come, and is not being released. */
static bool hold_will_end(const struct engine *e, const struct resource *r)
{
	return r->held && !r->releasing && r->hold.until.us != INT64_MAX && r->hold.until.us > e->now.wall.us;
}

/* Moves the end of the hold by the step, so that it lasts as long as intended. No hold with an end was meant
 * to last longer than RETRY_SECONDS_MAX. */
static void shift_hold(struct engine *e, const struct resource *r, int64_t step)
{
	const struct hold_row hold = r->hold;
	struct wall latest = { e->now.wall.us + RETRY_SECONDS_MAX * USEC };
	struct wall until = { hold.until.us + step };
	if (!hold_will_end(e, r))
		return;
	if (until.us > latest.us)
		until = latest;
	if (until.us != hold.until.us)
		command_hold(e, hold.key, (enum reason)hold.reason, until);
}

/* The clock stepped back. */
static void shift_holds(struct engine *e, int64_t step)
{
	raise_to(&e->set_back_from, (struct wall){ e->now.wall.us - step });
	for (uint32_t i = 0; i < e->resources; i++)
		shift_hold(e, e->resource[i], step);
}

static void accept_skew(struct engine *e)
{
	e->skew = e->now.wall.us - e->now.boot.us;
	if (e->skew >= e->max_skew) {
		e->max_skew = e->skew;
		e->max_ahead = CLOCK_AHEAD_SECONDS * USEC;
	}
}

/* A step far ahead is usually a fault, and accepting it would record years as missed; so the clock is held.
 * Steps ahead are measured from max_skew: a clock behind it is known to be slow, so setting it right again is
 * accepted. */
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
		start_rewind(e); /* it may have been ahead when the engine was loaded or schedules changed */
	} else if (far) {
		e->clock_held = true;
	}
	if (e->clock_held)
		return;
	if (step >= CLOCK_STEP_SECONDS * USEC)
		e->stepped_at = e->now.wall;
	else if (step <= -CLOCK_STEP_SECONDS * USEC)
		start_rewind(e);
	accept_skew(e);
}

/* The latest instant on record. */
static struct wall last_record(const struct engine *e)
{
	struct wall last = { INT64_MIN };
	for (uint32_t i = 0; i < e->scheds; i++) {
		const struct sched_row *r = &e->sched[i].row;
		const struct wall both[] = { r->high, r->changed };
		for (size_t k = 0; k < ARRAY_LEN(both) && !e->sched[i].removed; k++)
			raise_to(&last, both[k]);
	}
	return last;
}

/* By how much the clock was set back before the load, as far as the rows of schedules show. After a step back
 * the rows are corrected, all but the mark of pruning; so the same step is not found again by the next load.
 */
static int64_t set_back(const struct engine *e)
{
	struct wall last = e->now.wall;
	for (uint32_t i = 0; i < e->scheds; i++) {
		const struct sched_row *r = &e->sched[i].row;
		if (!e->sched[i].in_use || e->sched[i].removed)
			continue;
		raise_to(&last, r->changed);
		if (!r->after && r->high.us > r->pruned_to.us)
			raise_to(&last, r->high);
	}
	int64_t step = last.us - e->now.wall.us;
	return step >= CLOCK_STEP_SECONDS * USEC ? step : 0;
}

void clock_init(struct engine *e)
{
	struct wall last = last_record(e);
	e->skew = e->last_skew = e->max_skew = e->now.wall.us - e->now.boot.us;
	e->max_ahead = CLOCK_AHEAD_SECONDS * USEC;
	e->set_back = set_back(e);
	if (last.us == INT64_MIN)
		return;
	/* The clock was years ahead when the store was restored: do not record years as missed. No engine
	 * trusts such a clock, so nothing has run by it. */
	if (e->restored_at.us - e->now.wall.us > CLOCK_AHEAD_SECONDS * USEC &&
	    e->restored_at.us - last.us >= CLOCK_ABSENCE_SECONDS * USEC)
		e->restored_at = e->now.wall;
	e->clock_held = e->now.wall.us - last.us >= CLOCK_ABSENCE_SECONDS * USEC;
	if (e->clock_held || last.us > e->now.wall.us) {
		e->max_skew = last.us - e->now.boot.us;
		e->max_ahead = CLOCK_ABSENCE_SECONDS * USEC;
	}
	if (e->clock_held)
		e->skew = e->max_skew;
}

/* If the daemon crashed while it corrected the records of a step back, those that are left show the step
 * again. A hold that was moved for them is not moved a second time. */
void clock_shift_loaded(struct engine *e)
{
	struct wall last = { e->set_back ? e->now.wall.us + e->set_back : 0 };
	e->set_back_from = last;
	for (uint32_t i = 0; i < e->resources; i++)
		if (hold_will_end(e, e->resource[i]))
			raise_to(&e->set_back_from, e->resource[i]->hold.set_back_from);
	for (uint32_t i = 0; i < e->resources; i++)
		shift_hold(e, e->resource[i],
			   e->resource[i]->hold.set_back_from.us < last.us ? -e->set_back : 0);
}

/* While requests are under way, one of them may still write a record that lies ahead. */
void clock_settle(struct engine *e)
{
	if (!e->set_back_from.us || e->clock_held || e->rewind != NONE || e->under_way)
		return;
	e->set_back_from = (struct wall){ 0 };
	for (uint32_t i = 0; i < e->resources; i++) {
		const struct hold_row hold = e->resource[i]->hold;
		if (hold_will_end(e, e->resource[i]) && hold.set_back_from.us)
			command_hold(e, hold.key, (enum reason)hold.reason, hold.until);
	}
}

void clock_accept(struct engine *e)
{
	if (!e->clock_held)
		return;
	e->clock_held = false;
	e->stepped_at = e->now.wall;
	accept_skew(e);
	e->rewind = 0; /* the clock may have stepped back while it was held */
}

/* True if the schedule's row, or possibly its records, refer to times after now; *next is then the next time
 * that the row should have. A disabled schedule or one with an open range is always corrected: its row does
 * not move, but a backfill may have recorded times. */
static bool needs_rewind(const struct engine *e, const struct sched *s, struct wall *next)
{
	*next = WALL_NEVER;
	if (!s->in_use || s->removed)
		return false;
	if (!s->row.after && rule_next(&rules_of(s)->when, s->zone, e->now.wall, next) != OK)
		*next = WALL_NEVER;
	/* A next check stays, unless the clock is now before the instant at which the next check was set:
	 * then the wait would be too long. */
	bool set = s->row.next_set_at.us;
	if (set && s->row.next_set_at.us <= e->now.wall.us && s->row.changed.us <= e->now.wall.us)
		return false;
	bool sooner = set || next->us < s->row.next.us;
	if (!sooner)
		*next = s->row.next; /* a time that is due and waits for a token must not be skipped */
	/* `high` may be the time of a next check, which need not be a time of the rule. */
	bool beyond =
		!s->row.after && s->row.high.us > e->now.wall.us && s->row.high.us > s->row.pruned_to.us;
	return sooner || beyond || s->row.changed.us > e->now.wall.us || s->range_reason ||
	       !(s->row.flags & SCHED_ENABLED);
}

/* Times that are in the future again will come due again, so their records are withdrawn. */
bool clock_rewind_next(struct engine *e)
{
	for (unsigned visited = 0; e->rewind < e->scheds; visited++) {
		struct sched *s = &e->sched[e->rewind];
		struct wall next;
		if (visited == STEP_FIX_MAX)
			return true;
		if (s->in_use && s->busy) {
			e->rewind_waits = true;
			return false;
		}
		if (needs_rewind(e, s, &next)) {
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
		e->rewind++;
		/* Its key in the heap is from before the clock stepped back; or the reason of its open range
		 * has changed while the clock was held. */
		if (s->in_use && (s->first_end != NONE || s->range_reason))
			due_enqueue(e, s);
	}
	e->rewind = NONE;
	return false;
}
