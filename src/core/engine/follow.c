/* Followers: schedules that are due when a run of their leader ends. Ends arrive in the order of their
 * numbers. A follower acts on them one after another; sched_row.seen is the last one it has acted on. */
#include "base/array.h"
#include "core/engine/state.h"

/* --- leaders --- */

static struct leader *find_leader(const struct engine *e, uint64_t sid)
{
	uint32_t i = map_get(&e->leader_by_sid, sid);
	return i == MAP_NONE ? NULL : &e->leader[i];
}

/* NULL: out of memory, `broken` is set. */
static struct leader *add_leader(struct engine *e, uint64_t sid)
{
	uint32_t i = e->leader_free;
	if (i != NONE)
		e->leader_free = e->leader[i].first_follower;
	else if (ARRAY_ADD_ROOM(e->leader, e->leader_room, e->leaders))
		i = e->leaders++;
	if (i == NONE || !map_put(&e->leader_by_sid, sid, i)) {
		e->broken = true;
		return NULL;
	}
	e->leader[i] = (struct leader){ .sid = sid, .first_follower = NONE };
	return &e->leader[i];
}

/* `seen` is a number that the leader has given, so the engine knows it from now on. */
void follow_link(struct engine *e, struct sched *s)
{
	if (!s->row.after)
		return;
	struct leader *l = find_leader(e, s->row.after);
	if (!l)
		l = add_leader(e, s->row.after);
	if (!l)
		return;
	s->next_follower = l->first_follower;
	l->first_follower = sched_index(e, s);
	if (s->row.seen > l->last_end)
		l->last_end = s->row.seen;
}

void follow_unlink(struct engine *e, struct sched *s)
{
	struct leader *l = s->row.after ? find_leader(e, s->row.after) : NULL;
	if (!l)
		return;
	uint32_t i = sched_index(e, s), *at = &l->first_follower;
	while (*at != NONE && *at != i)
		at = &e->sched[*at].next_follower;
	if (*at == i)
		*at = s->next_follower;
	if (l->first_follower != NONE)
		return;
	map_remove(&e->leader_by_sid, l->sid);
	l->first_follower = e->leader_free;
	e->leader_free = (uint32_t)(l - e->leader);
}

uint64_t follow_known_end(const struct engine *e, uint64_t leader)
{
	const struct leader *l = find_leader(e, leader);
	return l ? l->last_end : 0;
}

void follow_notify(struct engine *e, const struct run_row *run)
{
	const struct leader *l = find_leader(e, run->sid);
	for (uint32_t i = l ? l->first_follower : NONE; i != NONE; i = e->sched[i].next_follower)
		follow_add_end(e, &e->sched[i], run);
}

/* --- ends --- */

void follow_add_end(struct engine *e, struct sched *s, const struct run_row *run)
{
	uint32_t i = e->end_free;
	struct leader *l = find_leader(e, run->sid);
	if (l && run->end > l->last_end)
		l->last_end = run->end;
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
	struct wall ended = run->retry_at.us ? run->retry_at : run->ended;
	e->end[i] = (struct leader_end){ NONE, run->outcome, run->end, ended, ended };
	*(s->first_end == NONE ? &s->first_end : &e->end[s->last_end].next) = i;
	s->last_end = i;
	e->ends_open++;
	if (e->is_loaded)
		due_enqueue(e, s);
}

static void drop_first(struct engine *e, struct sched *s)
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
		drop_first(e, s);
}

/* True if the outcome is one that the follower waits for. */
static bool outcome_matches(const struct sched *s, const struct leader_end *end)
{
	bool good = end->outcome == OUTCOME_DONE || end->outcome == OUTCOME_NO_WORK;
	enum after_outcome wanted = (enum after_outcome)policy_of(s)->after;
	return wanted == AFTER_ANY || good == (wanted == AFTER_DONE);
}

/* True if the follower has acted on this end, or it does not concern the follower. */
static bool is_handled(const struct sched *s, const struct leader_end *end)
{
	return s->removed || !(s->row.flags & SCHED_ENABLED) || end->number <= s->row.seen ||
	       !outcome_matches(s, end);
}

/* While a change of the follower is under way it is not known which ends concern it. */
void follow_drop_handled(struct engine *e, struct sched *s)
{
	while (!s->busy && s->first_end != NONE && is_handled(s, &e->end[s->first_end]))
		drop_first(e, s);
}

/* How many ends are left to act on, counted up to `most`. */
static unsigned count_open(const struct engine *e, const struct sched *s, unsigned most)
{
	unsigned n = 0;
	for (uint32_t i = s->first_end; i != NONE && n < most; i = e->end[i].next)
		n += !is_handled(s, &e->end[i]);
	return n;
}

static bool is_another_open(const struct engine *e, const struct sched *s)
{
	return count_open(e, s, 2) > 1;
}

static void refuse_end(struct engine *e, struct sched *s, const struct leader_end *end, enum run_state state,
		       enum reason reason)
{
	due_record(e, s, end->nominal, end, KIND_AFTER, state, reason, 0);
}

/* The end is late: the policy for missed times decides. */
static void settle_late_end(struct engine *e, struct sched *s, const struct leader_end *end)
{
	const struct policy *p = policy_of(s);
	enum missed missed = (enum missed)p->missed;
	unsigned limit = missed == MISSED_CATCH_UP ? late_limit(s) : 1;
	if (p->window)
		refuse_end(e, s, end, RUN_MISSED, REASON_WINDOW_CLOSED);
	else if (missed == MISSED_SKIP || missed == MISSED_EXECUTE_NEXT)
		refuse_end(e, s, end, RUN_MISSED, late_cause(e, s, end->nominal));
	else if (count_open(e, s, limit + 1) > limit)
		refuse_end(e, s, end, RUN_MISSED,
			   missed == MISSED_CATCH_UP ? REASON_LIMIT : REASON_SUPERSEDED);
	else if (late_take_token(e, s, end->nominal))
		due_claim(e, s, end->nominal, end, missed == MISSED_CATCH_UP ? KIND_CATCH_UP : KIND_AFTER, 0);
}

/* Why an end is skipped even if it is not late; REASON_NONE: it is not skipped. */
static enum reason skip_reason(struct engine *e, struct sched *s, struct wall nominal)
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
	enum reason reason = skip_reason(e, s, end->nominal);
	if (end->nominal.us <= s->row.changed.us)
		refuse_end(e, s, end, RUN_MISSED, REASON_EDITED);
	else if (end->nominal.us <= e->restored_at.us)
		refuse_end(e, s, end, RUN_MISSED, REASON_RESTORED);
	else if (reason)
		refuse_end(e, s, end, RUN_SKIPPED, reason);
	else if (e->now.wall.us - end->nominal.us > due_grace(s))
		settle_late_end(e, s, end);
	else if (!late_joins_line(e, s, end->nominal, is_another_open))
		due_claim(e, s, end->nominal, end, KIND_AFTER, 0);
	else if (late_take_token(e, s, end->nominal))
		due_claim(e, s, end->nominal, end, KIND_CATCH_UP, 0);
}

/* Two ends at one instant are two occurrences, so they need different nominal times. */
void follow_shift_first(struct engine *e, const struct sched *s)
{
	e->end[s->first_end].nominal.us++;
}

bool follow_refuse_pending(struct engine *e, struct sched *s)
{
	follow_drop_handled(e, s);
	if (s->first_end == NONE)
		return false;
	refuse_end(e, s, &e->end[s->first_end], RUN_MISSED, REASON_EDITED);
	return true;
}
