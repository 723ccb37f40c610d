/* Judges holds of agents and accounts, and pauses that end by themselves. */
#include "opinion/facts.h"

/* The true time at which a hold until `until` is meant to end. */
static int64_t meant_end(const struct opinion *o, struct wall until, int64_t decided)
{
	return until.us == INT64_MAX ? INT64_MAX : decided + (until.us - wall_at(o, decided).us);
}

static struct held *present_hold(const struct opinion *o, uint32_t key)
{
	for (unsigned i = o->helds; i-- > 0;)
		if (o->held[i].key == key && o->held[i].released == INT64_MAX)
			return &o->held[i];
	return NULL;
}

static void add_hold(struct opinion *o, const struct hold_row *h, int64_t t)
{
	ADD_ROOM(o->held, o->held_room, o->helds);
	o->held[o->helds++] = (struct held){ .key = h->key,
					     .reason = h->reason,
					     .asked = t,
					     .ends = meant_end(o, h->until, t),
					     .least = meant_end(o, h->until, t),
					     .until = h->until,
					     .sure = true,
					     .released = INT64_MAX,
					     .releasing = INT64_MAX };
}

/* A hold is in force when it is requested. It is never shortened, except that its end moves with a step back
 * of the clock, so that it lasts as long as it was meant to. A load that finds records of the future moves
 * it, too: not by more than the step, but perhaps by less. */
void judge_holds(struct opinion *o, const struct st_req *q)
{
	const struct hold_row *h = &q->hold;
	struct held *old = present_hold(o, h->key);
	int64_t ends = meant_end(o, h->until, o->w->t);
	if (!h->key || !h->reason)
		return;
	bool back = old && o->last_back > old->asked;
	bool running = old && old->releasing == INT64_MAX && old->ends > o->w->t;
	if (running && ends < old->ends && !back && o->loaded != o->w->t)
		FIND(o, "the hold of %u, %s until %s, is shortened: %s until %s", h->key,
		     reason_words[old->reason], check_time_text(old->until), reason_words[h->reason],
		     check_time_text(h->until));
	bool moves = running && back && h->reason == old->reason && old->until.us != INT64_MAX &&
		     h->until.us < old->until.us;
	if (moves && old->loaded == o->w->t && ends < old->least && old->least > o->w->t)
		FIND(o, "the hold of %u was meant to end in %.3f s, and ends in %.3f s after a load", h->key,
		     (double)(old->least - o->w->t) / 1e6, (double)(ends - o->w->t) / 1e6);
	if (moves && old->loaded != o->w->t && old->sure && ends != old->ends)
		FIND(o,
		     "the hold of %u was meant to end in %.3f s, and ends in %.3f s after a step of the "
		     "clock",
		     h->key, (double)(old->ends - o->w->t) / 1e6, (double)(ends - o->w->t) / 1e6);
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		const struct policy *p = &r->rules.policy, *now = &o->sched[r->sched].rules.policy;
		if (p->agent == h->key || p->account == h->key || now->agent == h->key ||
		    now->account == h->key)
			r->ready = 0;
	}
	for (unsigned i = 0; i < o->helds; i++)
		o->held[i].must_move &= o->held[i].key != h->key;
	if (running) {
		/* The same hold goes on, longer or moved. */
		old->reason = h->reason;
		old->until = h->until;
		old->ends = old->least = ends;
		old->sure = true;
		return;
	}
	add_hold(o, h, o->w->t);
}

void holds_released(struct opinion *o, uint32_t key, bool told)
{
	for (unsigned i = 0; i < o->helds; i++) {
		struct held *h = &o->held[i];
		if (h->key != key)
			continue;
		if (h->releasing == INT64_MAX)
			h->releasing = o->w->t;
		/* A hold that was requested after the release stays. */
		if (told && h->released == INT64_MAX && !model_hold(o->w->rows, key))
			h->released = o->w->t;
	}
}

/* After a load only what the store has is in force; the clock may have been stepped meanwhile. */
void holds_loaded(struct opinion *o)
{
	int64_t crashed = o->down.n ? o->down.at[o->down.n - 1].from : o->w->t;
	for (unsigned i = 0, n = o->helds; i < n; i++) {
		struct held *h = &o->held[i];
		h->must_move = false; /* that is judged only while the daemon is up */
		const struct hold_row *row = model_hold(o->w->rows, h->key);
		if (h->released != INT64_MAX)
			continue;
		if (!row || row->until.us != h->until.us) {
			/* The request was lost, or the release was written; an older hold may go on. */
			h->released = h->releasing = crashed;
			if (row && row->until.us > world_wall(o->w).us) {
				add_hold(o, row, o->w->t);
				o->held[o->helds - 1].sure = row->until.us == INT64_MAX;
				o->held[o->helds - 1].least = INT64_MIN; /* not known */
			}
			continue;
		}
		int64_t ends = meant_end(o, row->until, o->w->t);
		h->sure = ends == h->ends && !stepped_between(o, h->asked, o->w->t);
		h->until = row->until;
		h->reason = row->reason;
		if (ends > o->w->t || h->ends > o->w->t)
			h->ends = ends > o->w->t ? ends : o->w->t;
		h->releasing = INT64_MAX;
		h->loaded = o->w->t;
	}
}

void holds_restored(struct opinion *o)
{
	for (unsigned i = 0; i < o->helds; i++)
		if (o->held[i].released == INT64_MAX)
			o->held[i].released = o->held[i].releasing = o->w->t;
	for (size_t i = 0; i < model_holds(o->w->rows); i++)
		if (model_hold_at(o->w->rows, i)->key)
			add_hold(o, model_hold_at(o->w->rows, i), o->w->t);
}

/* A step ahead brings the ends of holds nearer. After a step back they must be moved. */
void holds_stepped(struct opinion *o, int64_t by)
{
	for (unsigned i = 0; i < o->helds; i++) {
		struct held *h = &o->held[i];
		bool lasts = h->until.us != INT64_MAX && h->until.us > world_wall(o->w).us;
		h->must_move = o->w->engine && by <= -SECONDS(1) && lasts && h->releasing == INT64_MAX &&
			       h->sure && h->ends > o->w->t;
	}
	for (unsigned i = 0; i < o->helds && by > 0; i++)
		if (o->held[i].ends > o->w->t && o->held[i].ends != INT64_MAX) {
			o->held[i].ends = o->held[i].ends - by > o->w->t ? o->held[i].ends - by : o->w->t;
			o->held[i].least -= o->held[i].least > INT64_MIN / 2 ? by : 0;
		}
}

/* How long a rate limit lasts: until the provider's reset; unknown or absurd: 15 minutes, doubling to 5
 * hours. */
int64_t rate_limit_delay(const struct opinion *o, const struct opinion_run *r)
{
	int64_t left = r->exit_reset.us - o->then.wall.us, seconds = floor_div(left + USEC - 1, USEC);
	if (r->exit_reset.us && seconds > 0 && seconds <= 8 * 86400)
		return SECONDS(seconds);
	seconds = 900;
	for (unsigned i = 0; i < r->row.uncounted && seconds < 18000; i++)
		seconds *= 2;
	return SECONDS(seconds < 18000 ? seconds : 18000);
}

/* A rate limit holds the account, or the agent if there is none; a refused login blocks the agent. */
void judge_hold_of_end(struct opinion *o, const struct opinion_run *r, const struct run_row *end,
		       int64_t decided)
{
	const struct policy *p = &r->rules.policy;
	bool limited = end->reason == REASON_RATE_LIMITED && end->outcome == OUTCOME_FAILED;
	bool login = end->reason == REASON_AUTH || end->reason == REASON_BILLING;
	uint32_t key = limited && p->account ? p->account : p->agent;
	if (!key || !(limited || login) || o->sched[r->sched].versions != r->versions)
		return;
	const struct held *h = NULL;
	for (unsigned i = 0; i < o->helds; i++)
		if (o->held[i].key == key && o->held[i].asked <= decided && o->held[i].released > decided)
			h = &o->held[i];
	int64_t least = login ? INT64_MAX : decided + rate_limit_delay(o, r);
	if ((!h || h->ends < least) && !stepped_between(o, decided - o->slack, o->w->t) && !(h && !h->sure))
		FIND(o, "run %llu ended failed/%s, but %u is %s", (unsigned long long)end->run,
		     reason_words[end->reason], key, h ? "held for too short" : "not held");
}

/* The daemon moves the ends of holds in its first step after the clock was stepped back. */
void judge_moved(struct opinion *o)
{
	for (unsigned i = 0; i < o->helds; i++) {
		if (o->held[i].must_move)
			FIND(o, "the hold of %u until %s does not move with the clock", o->held[i].key,
			     check_time_text(o->held[i].until));
		o->held[i].must_move = false;
	}
}

/* A pause with an end must be over at its end. */
void judge_pauses(struct opinion *o)
{
	if (!spans_last(&o->all_paused) || o->all_until.us == INT64_MAX)
		return;
	int64_t over = true_time(o, o->all_until);
	if (world_wall(o->w).us < o->all_until.us)
		return;
	const struct spans *faults[] = { &o->down, &o->outage, &o->suspended, &o->stepped, &o->untrusted };
	for (unsigned i = 0; i < ARRAY_LEN(faults); i++)
		if (spans_touch(faults[i], over - o->slack, INT64_MAX))
			return;
	if (o->w->t - over > o->slack + SECONDS(4)) {
		FIND(o, "all schedules are paused until %s, and still are", check_time_text(o->all_until));
		o->all_until = WALL_NEVER;
	}
}
