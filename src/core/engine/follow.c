/* Followers: due when a run of their leader ends. Ends come in the order of their numbers, and each follower
 * acts on its own one after another; its row says up to which. */
#include "base/array.h"
#include "core/engine/state.h"

void follow_add_end(struct engine *e, struct sched *s, const struct run_row *run)
{
	uint32_t i = e->end_free;
	if (s->removed || run->end <= s->row.seen)
		return;
	if (i != NONE)
		e->end_free = e->end[i].next;
	else if (ARRAY_ADD_ROOM(e->end, e->end_room, e->ends))
		i = e->ends++;
	if (i == NONE) {
		e->broken = true;
		return;
	}
	e->end[i] = (struct leader_end){ NONE, run->outcome, run->end,
					 run->retry_at.us ? run->retry_at : run->ended };
	*(s->first_end == NONE ? &s->first_end : &e->end[s->last_end].next) = i;
	s->last_end = i;
	e->ends_open++;
	if (e->is_loaded)
		due_enqueue(e, s);
}

static void forget_first(struct engine *e, struct sched *s)
{
	uint32_t i = s->first_end;
	s->first_end = e->end[i].next;
	e->end[i].next = e->end_free;
	e->end_free = i;
	e->ends_open--;
}

void follow_drop_all(struct engine *e, struct sched *s)
{
	while (s->first_end != NONE)
		forget_first(e, s);
}

static bool fits(const struct sched *s, const struct leader_end *end)
{
	bool good = end->outcome == OUTCOME_DONE || end->outcome == OUTCOME_NO_WORK;
	enum after_outcome wanted = (enum after_outcome)policy_of(s)->after;
	return wanted == AFTER_ANY || good == (wanted == AFTER_DONE);
}

/* Has the follower nothing to do with it, or acted on it? */
static bool is_past(const struct sched *s, const struct leader_end *end)
{
	return s->removed || !(s->row.flags & SCHED_ENABLED) || end->number <= s->row.seen || !fits(s, end);
}

/* While a change is under way it is not known whether it has a use for them. */
void follow_drop_handled(struct engine *e, struct sched *s)
{
	while (!s->busy && s->first_end != NONE && is_past(s, &e->end[s->first_end]))
		forget_first(e, s);
}

/* How many it has left to act on, counted up to `most`. */
static unsigned count(const struct engine *e, const struct sched *s, unsigned most)
{
	unsigned n = 0;
	for (uint32_t i = s->first_end; i != NONE && n < most; i = e->end[i].next)
		n += !is_past(s, &e->end[i]);
	return n;
}

static void refuse(struct engine *e, struct sched *s, const struct leader_end *end, enum run_state state,
		   enum reason reason)
{
	due_record(e, s, end->nominal, end, KIND_AFTER, state, reason, 0);
}

/* An end that is late: its policy decides. */
static void settle_late(struct engine *e, struct sched *s, const struct leader_end *end)
{
	const struct policy *p = policy_of(s);
	enum missed missed = (enum missed)p->missed;
	unsigned limit = missed == MISSED_CATCH_UP ? late_limit(s) : 1;
	if (p->window)
		refuse(e, s, end, RUN_MISSED, REASON_WINDOW_CLOSED);
	else if (missed == MISSED_SKIP || missed == MISSED_EXECUTE_NEXT)
		refuse(e, s, end, RUN_MISSED, late_cause(e, s, end->nominal));
	else if (count(e, s, limit + 1) > limit)
		refuse(e, s, end, RUN_MISSED, missed == MISSED_CATCH_UP ? REASON_LIMIT : REASON_SUPERSEDED);
	else if (late_take_token(e, s, end->nominal))
		due_claim(e, s, end->nominal, end, missed == MISSED_CATCH_UP ? KIND_CATCH_UP : KIND_AFTER, 0);
}

/* Why an end does not start a run, whatever its time. */
static enum reason refusal(struct engine *e, struct sched *s, struct wall nominal)
{
	if (s->row.flags & SCHED_PAUSED || e->paused_all)
		return REASON_PAUSED;
	if (s->row.left == 0)
		return REASON_MAX_RUNS;
	if (due_held_until(e, s).us == INT64_MAX)
		return REASON_BLOCKED;
	return due_bar_reason(e, s, nominal);
}

void follow_run_first(struct engine *e, struct sched *s)
{
	const struct leader_end *end = &e->end[s->first_end];
	struct wall held = due_held_until(e, s);
	if (held.us > e->now.wall.us && held.us != INT64_MAX) {
		s->late_cause = REASON_RATE_LIMITED;
		heap_put(&e->due, sched_index(e, s), held.us);
		return;
	}
	enum reason reason = refusal(e, s, end->nominal);
	if (end->nominal.us <= s->row.changed.us)
		refuse(e, s, end, RUN_MISSED, REASON_EDITED);
	else if (end->nominal.us <= e->restored_at.us)
		refuse(e, s, end, RUN_MISSED, REASON_RESTORED);
	else if (reason)
		refuse(e, s, end, RUN_SKIPPED, reason);
	else if (e->now.wall.us - end->nominal.us > due_grace(s))
		settle_late(e, s, end);
	else
		due_claim(e, s, end->nominal, end, KIND_AFTER, 0);
}

/* Two ends at one instant are two occurrences all the same. */
void follow_shift_first(struct engine *e, const struct sched *s)
{
	e->end[s->first_end].nominal.us++;
}

bool follow_refuse_pending(struct engine *e, struct sched *s)
{
	follow_drop_handled(e, s);
	if (s->first_end == NONE)
		return false;
	refuse(e, s, &e->end[s->first_end], RUN_MISSED, REASON_EDITED);
	return true;
}
