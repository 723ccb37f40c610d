/* Handles late times: finds the cause, applies the policy for missed times, and spreads their starts over
 * time by tokens. */
#include "core/engine/state.h"

/* When the last hold of its agent or account ended, or will end; INT64_MIN: there was none. */
static struct wall hold_end(struct engine *e, const struct sched *s)
{
	const struct resource *both[] = { engine_resource(e, policy_of(s)->agent),
					  engine_resource(e, policy_of(s)->account) };
	struct wall end = due_held_until(e, s);
	for (unsigned i = 0; i < ARRAY_LEN(both); i++)
		if (both[i] && both[i]->released_at.us > end.us)
			end = both[i]->released_at;
	return end;
}

/* Each cause explains lateness up to an instant, *until. The order matters: a time that was held before a
 * crash is late because of the hold, not because of the crash. late_cause is set for times that waited for a
 * hold which does not concern the schedule any more. */
static enum reason cause_of(struct engine *e, const struct sched *s, struct wall due, struct wall *until)
{
	const struct {
		enum reason reason;
		struct wall from, until;
	} causes[] = {
		{ REASON_DOWN, { INT64_MIN }, e->loaded_at },
		{ REASON_CLOCK, { INT64_MIN }, e->stepped_at },
		{ REASON_STORE, e->resumed_at, e->stalled_at },
		{ REASON_SUSPENDED, { INT64_MIN }, e->resumed_at },
	};
	*until = hold_end(e, s);
	if (due.us <= until->us)
		return REASON_RATE_LIMITED;
	*until = WALL_NEVER;
	if (s->late_cause)
		return (enum reason)s->late_cause;
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (due.us > causes[i].from.us && due.us <= causes[i].until.us) {
			*until = causes[i].until;
			return causes[i].reason;
		}
	return REASON_SUSPENDED;
}

enum reason late_cause(struct engine *e, const struct sched *s, struct wall due)
{
	struct wall until;
	return cause_of(e, s, due, &until);
}

static struct wall time_before(const struct sched *s, struct wall t)
{
	struct wall prev = { t.us - 1 };
	if (rule_prev(&rules_of(s)->when, s->zone, prev, &prev) != OK || prev.us < s->next_try.us)
		return s->next_try;
	return prev;
}

/* At most one token is saved up; with more, a quiet time would be followed by twice the rate for a second. */
int64_t late_tokens(const struct engine *e, struct boot now)
{
	int64_t per_second = e->config.catch_up_per_second ? e->config.catch_up_per_second : 1;
	int64_t passed = now.us - e->token_refill.us;
	int64_t tokens = e->tokens + (passed <= 0 ? 0 : passed > USEC ? USEC : passed * per_second);
	return tokens < USEC ? tokens : USEC;
}

bool late_next_token(const struct engine *e, struct now now, struct wall *ret)
{
	int64_t per_second = e->config.catch_up_per_second ? e->config.catch_up_per_second : 1;
	int64_t missing = USEC - late_tokens(e, now.boot);
	*ret = (struct wall){ now.wall.us + (missing > 0 ? missing / per_second + 1 : 0) };
	return e->catch_up.n;
}

/* Schedules in the catch_up heap are not visited before there is a token: there may be a million of them. */
bool late_take_token(struct engine *e, struct sched *s, struct wall due)
{
	e->tokens = late_tokens(e, e->now.boot);
	e->token_refill = e->now.boot;
	if (e->tokens >= USEC) {
		e->tokens -= USEC;
		return true;
	}
	if (heap_reserve(&e->catch_up, e->scheds))
		heap_put(&e->catch_up, sched_index(e, s), due.us);
	else
		e->broken = true;
	return false;
}

void late_start(struct engine *e, struct sched *s, enum run_kind kind)
{
	if (late_take_token(e, s, due_time(s, s->next_try))) {
		due_claim(e, s, s->next_try, NULL, kind, 0);
		return;
	}
	/* There is no token yet. If the schedule's next time comes before a token, it must not become late
	 * because of the time that waits for the token. */
	struct wall next = due_next(s, s->next_try);
	if (kind == KIND_TIMER && next.us != INT64_MAX && !due_has_come(e, s, next))
		heap_put(&e->due, sched_index(e, s), due_time(s, next).us);
}

/* True if a later nominal time than `t` is due and may run. */
static bool has_newer_due(const struct engine *e, const struct sched *s, struct wall t)
{
	unsigned n = 0;
	for (t = due_next(s, t); n < STRETCH_MAX && due_has_come(e, s, t); t = due_next(s, t), n++)
		if (!due_bar_reason(e, s, t))
			return true;
	return false;
}

unsigned late_limit(const struct sched *s)
{
	unsigned limit = policy_of(s)->catch_up_limit ? policy_of(s)->catch_up_limit : CATCH_UP_DEFAULT;
	return limit < CATCH_UP_MAX ? limit : CATCH_UP_MAX;
}

static void catch_up(struct engine *e, struct sched *s)
{
	/* Find the newest times that are due and may run, going back from now up to the limit. */
	struct wall first = { e->now.wall.us + 1 };
	for (unsigned n = 0, visited = 0; n < late_limit(s) && visited < STRETCH_MAX; visited++) {
		struct wall t;
		if (!due_prev(s, (struct wall){ first.us - 1 }, &t))
			break;
		first = t;
		n += due_has_come(e, s, t) && !due_bar_reason(e, s, t);
	}
	if (first.us > s->next_try.us && first.us <= e->now.wall.us)
		due_record_range(e, s, due_same_bar(e, s, time_before(s, first)), RUN_MISSED, REASON_LIMIT);
	else
		late_start(e, s, KIND_CATCH_UP);
}

/* The last nominal time up to `last` whose lateness is explained by the cause that ends at `until`. */
static struct wall last_of_cause(const struct sched *s, struct wall last, struct wall until)
{
	if (until.us < s->next_try.us)
		return last;
	if (last.us > until.us)
		last = time_before(s, (struct wall){ until.us + 1 });
	/* Jitter may make the last of them due after the cause has ended. */
	return due_time(s, last).us > until.us ? time_before(s, last) : last;
}

/* The last instant at which the engine could not handle what was due. */
static struct wall interrupted_until(const struct engine *e)
{
	const struct wall all[] = { e->loaded_at, e->stepped_at, e->resumed_at, e->stalled_at };
	struct wall last = all[0];
	for (size_t i = 1; i < ARRAY_LEN(all); i++)
		if (all[i].us > last.us)
			last = all[i];
	return last;
}

bool late_joins_line(const struct engine *e, const struct sched *s, struct wall due,
		     bool (*more)(const struct engine *e, const struct sched *s))
{
	if (policy_of(s)->missed != MISSED_CATCH_UP)
		return false;
	return s->in_line || ((s->late_cause || due.us <= interrupted_until(e).us) && more(e, s));
}

void late_settle(struct engine *e, struct sched *s)
{
	const struct policy *p = policy_of(s);
	struct wall until;
	enum reason cause = cause_of(e, s, due_time(s, s->next_try), &until);
	struct wall last = due_same_bar(e, s, due_last_since(e, s, due_grace(s) + 1));
	if (p->window) {
		due_record_range(e, s, last, RUN_MISSED, REASON_WINDOW_CLOSED);
		return;
	}
	switch ((enum missed)p->missed) {
	case MISSED_SKIP:
	case MISSED_EXECUTE_NEXT:
		due_record_range(e, s, last_of_cause(s, last, until), RUN_MISSED, cause);
		break;
	case MISSED_EXECUTE_IMMEDIATELY:
		if (has_newer_due(e, s, last))
			due_record_range(e, s, last, RUN_MISSED, REASON_SUPERSEDED);
		else if (last.us > s->next_try.us)
			due_record_range(e, s, time_before(s, last), RUN_MISSED, REASON_SUPERSEDED);
		else
			late_start(e, s, KIND_TIMER);
		break;
	case MISSED_CATCH_UP:
		catch_up(e, s);
		break;
	case MISSED_COUNT:
		assert(false);
	}
}
