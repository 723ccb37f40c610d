/* Answers to the judges' questions: clocks, rules, and what the daemon knew. */
#include "opinion/facts.h"

/* --- spans --- */

void spans_add(struct spans *s, int64_t from, int64_t to)
{
	ADD_ROOM(s->at, s->room, s->n);
	s->at[s->n++] = (struct span_of_time){ from, to };
}

bool spans_last(const struct spans *s)
{
	return s->n && s->at[s->n - 1].to == INT64_MAX;
}

void spans_begin(struct spans *s, int64_t t)
{
	if (!spans_last(s))
		spans_add(s, t, INT64_MAX);
}

void spans_end(struct spans *s, int64_t t)
{
	if (spans_last(s))
		s->at[s->n - 1].to = t;
}

bool spans_touch(const struct spans *s, int64_t from, int64_t to)
{
	for (unsigned i = s->n; i-- > 0 && s->at[i].to >= from;)
		if (s->at[i].from <= to)
			return true;
	return false;
}

/* --- lookups --- */

struct opinion_sched *find_opinion_sched(const struct opinion *o, uint64_t sid)
{
	uint32_t i;
	return number_map_get(&o->sched_of, sid, &i) ? &o->sched[i] : NULL;
}

struct opinion_run *find_opinion_run(const struct opinion *o, uint64_t run)
{
	uint32_t i;
	return number_map_get(&o->run_of, run, &i) && i < o->runs ? &o->run[i] : NULL;
}

const struct zone *opinion_zone(const struct opinion *o, const struct rules *r)
{
	return o->w->zones[r->policy.zone < WORLD_ZONES ? r->policy.zone : 0];
}

bool run_was_open(const struct opinion *o, const struct run_row *r)
{
	const struct opinion_run *x = find_opinion_run(o, r->run);
	return x && run_is_open(&x->row);
}

/* --- clocks --- */

struct wall wall_at(const struct opinion *o, int64_t t)
{
	unsigned i = o->readings;
	while (i > 1 && o->reading[i - 1].t > t)
		i--;
	return (struct wall){ o->reading[i - 1].wall + (t - o->reading[i - 1].t) };
}

int64_t true_time(const struct opinion *o, struct wall at)
{
	for (unsigned i = o->readings; i-- > 0;) {
		const struct clock_reading *r = &o->reading[i];
		if (at.us < r->wall)
			continue;
		int64_t t = r->t + (at.us - r->wall);
		return i + 1 < o->readings && t > r[1].t ? r[1].t : t;
	}
	return o->reading[0].t;
}

bool stepped_between(const struct opinion *o, int64_t from, int64_t to)
{
	return spans_touch(&o->stepped, from, to);
}

/* --- rules --- */

bool next_nominal(const struct opinion *o, const struct rules *r, struct wall after, struct wall *ret)
{
	return rule_next(&r->when, opinion_zone(o, r), after, ret) == OK;
}

bool next_time(const struct opinion *o, const struct opinion_sched *s, struct wall after, struct wall *ret)
{
	bool set = s->row.next_set_at.us && s->row.next.us > after.us;
	bool regular = next_nominal(o, &s->rules, after, ret);
	if (set && (!regular || s->row.next.us < ret->us))
		*ret = s->row.next;
	return set || regular;
}

struct wall due_of(const struct opinion *o, const struct rules *r, struct wall nominal)
{
	return rule_due(&r->when, opinion_zone(o, r), nominal);
}

static int64_t local_seconds(const struct zone *z, struct wall t)
{
	return wall_seconds(t) + zone_offset(z, wall_seconds(t));
}

static bool is_excluded(const struct opinion *o, const struct rules *r, struct wall nominal)
{
	const struct days *d =
		r->policy.calendar < WORLD_CALENDARS ? &world_calendars[r->policy.calendar] : NULL;
	int64_t day = floor_div(local_seconds(opinion_zone(o, r), nominal), 86400);
	for (unsigned i = 0; d && i < d->n; i++)
		if (d->day[i] == day)
			return true;
	return false;
}

/* Minutes are counted from the beginning of the hours, which may span midnight. */
static bool is_outside_hours(const struct opinion *o, const struct rules *r, struct wall nominal)
{
	const struct hours *h = &r->active;
	int64_t local = local_seconds(o->w->zones[h->zone < WORLD_ZONES ? h->zone : 0], nominal);
	int64_t minute = floor_div(local, 60) - floor_div(local, 86400) * 1440;
	return h->from != h->to && (minute - h->from + 1440) % 1440 >= (h->to - h->from + 1440) % 1440;
}

enum reason barred(const struct opinion *o, const struct rules *r, struct wall nominal)
{
	return is_excluded(o, r, nominal)        ? REASON_EXCLUDED
	       : is_outside_hours(o, r, nominal) ? REASON_ACTIVE_HOURS
						 : REASON_NONE;
}

int64_t grace_seconds(const struct policy *p)
{
	return p->window ? p->window : 60;
}

bool run_is_good(const struct run_row *r)
{
	return r->outcome == OUTCOME_DONE || r->outcome == OUTCOME_NO_WORK;
}

/* --- what the daemon knew --- */

bool known_paused(const struct opinion *o, const struct opinion_sched *s)
{
	return s->known_flags & SCHED_PAUSED || spans_last(&o->all_paused);
}

static bool concerns(const struct held *h, const struct policy *p, bool forever)
{
	if (forever)
		return h->key == p->agent && h->until.us == INT64_MAX;
	return h->key && (h->key == p->agent || h->key == p->account);
}

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

const struct held *surely_held(const struct opinion *o, const struct policy *p, int64_t t, bool forever)
{
	for (unsigned i = o->helds; i-- > 0;) {
		const struct held *h = &o->held[i];
		if (concerns(h, p, forever) && h->sure && h->asked < t &&
		    smaller(h->ends, h->releasing) > t &&
		    (h->until.us == INT64_MAX || !stepped_between(o, h->asked, t)))
			return h;
	}
	return NULL;
}

const struct held *maybe_held(const struct opinion *o, const struct policy *p, int64_t from, int64_t to,
			      bool forever)
{
	for (unsigned i = o->helds; i-- > 0;) {
		const struct held *h = &o->held[i];
		int64_t end = smaller(h->ends, h->released);
		if (concerns(h, p, forever) && h->asked <= to && (end == INT64_MAX || end >= from))
			return h;
	}
	return NULL;
}

bool has_pending_retry(const struct opinion_run *r)
{
	return r->row.state == RUN_RETRYING && r->requested <= r->row.attempt;
}

/* A request in this very step may come after the decision that is judged. */
static bool is_surely_live(const struct opinion *o, const struct opinion_run *r)
{
	return r->requested_t != o->w->t && r->known && !r->gone && !r->ending && !r->probing &&
	       !r->preventing && !has_pending_retry(r) && run_is_open(&r->row);
}

static bool is_maybe_live(const struct opinion *o, const struct opinion_run *r)
{
	(void)o;
	/* After a load, the next attempt may have been requested before the crash; it counts until it is
	 * prevented. */
	return r->known && !r->gone && !r->ending && (r->loaded || r->preventing || !has_pending_retry(r));
}

static unsigned count_runs(const struct opinion *o, const struct opinion_sched *s,
			   bool (*is)(const struct opinion *, const struct opinion_run *))
{
	unsigned n = 0;
	for (unsigned i = 0; i < o->opens; i++) {
		const struct opinion_run *r = &o->run[o->open[i]];
		n += &o->sched[r->sched] == s && (!is || is(o, r));
	}
	return n;
}

unsigned surely_live(const struct opinion *o, const struct opinion_sched *s)
{
	return count_runs(o, s, is_surely_live);
}

unsigned maybe_live(const struct opinion *o, const struct opinion_sched *s)
{
	return count_runs(o, s, is_maybe_live);
}

struct knowledge knowledge_of(const struct opinion *o, const struct st_req *q)
{
	const struct opinion_sched *s = find_opinion_sched(o, q->sid);
	if (q->tag && q->tag < o->askeds && o->asked[q->tag].t)
		return o->asked[q->tag];
	return (struct knowledge){ .t = o->w->t,
				   .wall = world_wall(o->w),
				   .surely_live = s ? surely_live(o, s) : 0,
				   .maybe_live = s ? maybe_live(o, s) : 0,
				   .open = s ? count_runs(o, s, NULL) : 0,
				   .paused = s && known_paused(o, s),
				   .dropped = s && s->known_dropped,
				   .failures = s ? s->known_failures : 0 };
}

static void extend(int64_t *end, const struct spans *s, int64_t from, int64_t to)
{
	for (unsigned i = s->n; i-- > 0 && s->at[i].to >= from;)
		if (s->at[i].from <= to && s->at[i].to > *end)
			*end = s->at[i].to;
}

int64_t undelayed_since(const struct opinion *o, const struct opinion_sched *s, int64_t from, int64_t to)
{
	const struct spans *all[] = { &o->down,      &o->outage,     &o->suspended, &o->stepped,
				      &o->untrusted, &o->all_paused, &s->paused,    &s->no_runs,
				      &s->gated,     &s->changing,   &s->line };
	int64_t end = from;
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		extend(&end, all[i], from, to);
	for (unsigned i = 0; i < o->helds; i++) {
		const struct held *h = &o->held[i];
		int64_t over = smaller(h->ends, h->released);
		if (concerns(h, &s->rules.policy, false) && h->asked <= to && over > end)
			end = over;
	}
	return end;
}
