/* ST_OCC, ST_RANGE and ST_WITHDRAW. */
#include "model/inner.h"

static void move(struct model_sched *s, const struct row_move *m)
{
	s->row.next = m->next;
	s->row.high = m->high.us < s->row.pruned_to.us ? s->row.pruned_to : m->high;
	s->row.left = m->left;
	s->row.owed = m->owed;
	s->row.owed_since = m->owed_since;
	s->row.seen = m->seen;
	s->row.next_set_at = (struct wall){ 0 };
}

/* Whether the schedule has already passed the time `nominal`, or the follower the end, to which the request
 * would move it. */
static bool is_behind(const struct model_sched *s, const struct st_req *q, struct wall nominal)
{
	if (!q->moves)
		return false;
	return s->row.after ? q->move.seen <= s->row.seen
			    : nominal.us <= s->row.high.us || nominal.us <= s->row.pruned_to.us;
}

/* Times at or before the pruning mark cannot be claimed. */
static bool is_pruned(const struct model_sched *s, const struct st_req *q)
{
	return !s->row.after && q->run.kind != KIND_MANUAL && q->run.nominal.us <= s->row.pruned_to.us;
}

/* `old`: the record that a backfill replaces, or NULL. */
static struct model_run *add_run(struct model *m, const struct st_req *q, const struct model_run *old)
{
	uint8_t was = old ? (uint8_t)(old->row.state + 1) : q->run.replaced;
	uint64_t end = q->run.state == RUN_FINISHED ? ++find_sched(m, q->sid)->last_end : 0;
	if (old)
		remove_run(m, find_run(m, old->row.run));
	ADD_ROOM(m->run, m->run_room, m->runs);
	struct model_run *x = &m->run[m->runs];
	*x = (struct model_run){ .row = q->run, .open_at = UINT32_MAX };
	x->row.replaced = was;
	x->row.end = end;
	number_map_put(&m->by_run, q->run.run, m->runs);
	if (q->run.kind != KIND_MANUAL)
		number_map_put(&m->by_nominal, hash_pair(q->sid, (uint64_t)q->run.nominal.us), m->runs);
	m->runs++;
	update_open(m, x);
	if (q->run.run > m->last_run)
		m->last_run = q->run.run;
	return x;
}

static bool is_same_record(const struct run_row *a, const struct run_row *b)
{
	return a->sid == b->sid && same_wall(a->nominal, b->nominal) && a->kind == b->kind &&
	       same_wall(a->claimed, b->claimed) && a->node == b->node;
}

uint8_t apply_occ(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	if (!is_number(q->run.run) || q->run.sid != q->sid)
		return ST_REFUSED;
	const struct model_run *same = find_run(m, q->run.run);
	if (same && !is_same_record(&same->row, &q->run))
		return ST_COLLISION;
	if (same && q->run.state == RUN_FINISHED)
		ret->end = same->row.end;
	if (same)
		return ST_OK; /* repeated */
	struct model_sched *s = find_sched(m, q->sid);
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev || is_behind(s, q, q->run.nominal))
		return ST_STALE;
	const struct model_run *old =
		q->run.kind == KIND_MANUAL ? NULL : find_occurrence(m, q->sid, q->run.nominal);
	bool pruned = is_pruned(s, q);
	bool replaces = old && q->run.kind == KIND_BACKFILL && is_idle(old->row.state);
	if (pruned || (old && !replaces)) {
		if (old)
			ret->existing = old->row;
		return ST_LOST;
	}
	ret->end = add_run(m, q, old)->row.end;
	add_news(m, q, (struct news_row){ .sid = q->sid, .run = q->run.run });
	log_occurrence(m, q);
	if (q->moves)
		move(s, &q->move);
	return ST_OK;
}

static bool is_alike(const struct range_row *a, const struct range_row *b)
{
	return a->state == b->state && a->reason == b->reason;
}

/* The range that ends at the schedule's high and may be extended; if there are several, the one that begins
 * last. */
static struct range_row *range_at_high(struct model_sched *s, const struct range_row *want)
{
	struct range_row *found = NULL;
	for (unsigned i = 0; i < s->ranges; i++) {
		struct range_row *g = &s->range[i];
		if (is_alike(g, want) && same_wall(g->last, s->row.high) && want->first.us > s->row.high.us &&
		    (!found || g->first.us > found->first.us))
			found = g;
	}
	return found;
}

static bool has_open_range(const struct model_sched *s)
{
	for (unsigned i = 0; i < s->ranges; i++)
		if (same_wall(s->range[i].last, WALL_NEVER))
			return true;
	return false;
}

uint8_t apply_range(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_sched *s = find_sched(m, q->sid);
	const struct range_row *want = &q->range;
	(void)ret;
	if (!s || s->dropped || want->sid != q->sid || !is_idle(want->state) ||
	    want->first.us > want->last.us)
		return ST_REFUSED;
	for (unsigned i = 0; i < s->ranges; i++) {
		const struct range_row *g = &s->range[i];
		if (is_alike(g, want) && g->first.us <= want->first.us && g->last.us >= want->last.us)
			return ST_OK; /* repeated */
	}
	if (s->row.rev != q->rev || is_behind(s, q, want->first))
		return ST_STALE;
	bool open = same_wall(want->last, WALL_NEVER);
	if (open && has_open_range(s))
		return ST_REFUSED;
	struct range_row *extended = open ? NULL : range_at_high(s, want);
	if (extended) {
		extended->last = want->last;
	} else {
		ADD_ROOM(s->range, s->range_room, s->ranges);
		s->range[s->ranges++] = *want;
	}
	add_news(m, q, (struct news_row){ .sid = q->sid, .first = want->first, .last = want->last });
	log_event(m,
		  q->expires                  ? EVENT_SCHEDULE_EXPIRED
		  : want->state == RUN_MISSED ? EVENT_SCHEDULE_MISSED
					      : EVENT_SCHEDULE_SKIPPED,
		  (struct event_row){ .sid = q->sid,
				      .rev = s->row.rev,
				      .reason = want->reason,
				      .first = want->first,
				      .last = want->last });
	if (q->moves)
		move(s, &q->move);
	return ST_OK;
}

static void withdraw_runs(struct model *m, const struct model_sched *s, const struct st_req *q)
{
	for (unsigned i = 0; i < m->runs; i++) {
		struct model_run *x = &m->run[i];
		bool stays = x->row.kind == KIND_MANUAL || x->row.kind == KIND_AFTER ||
			     (x->row.kind == KIND_CATCH_UP && s->row.after);
		if (!x->removed && x->row.sid == q->sid && x->row.nominal.us > q->at.us && !stays &&
		    is_idle(x->row.state))
			remove_run(m, x);
	}
}

static void withdraw_ranges(struct model_sched *s, const struct st_req *q)
{
	for (unsigned i = 0; i < s->ranges;) {
		struct range_row *g = &s->range[i];
		bool open = same_wall(g->last, WALL_NEVER);
		if (!open && g->first.us > q->at.us) {
			*g = s->range[--s->ranges];
			continue;
		}
		if (open && g->first.us > q->move.next.us)
			g->first = q->move.next;
		if (!open && g->last.us > q->at.us)
			g->last = q->at;
		i++;
	}
}

uint8_t apply_withdraw(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_sched *s = find_sched(m, q->sid);
	(void)ret;
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev)
		return ST_STALE;
	withdraw_runs(m, s, q);
	withdraw_ranges(s, q);
	s->row.high = s->row.pruned_to;
	s->row.next = q->move.next;
	s->row.next_set_at = (struct wall){ 0 };
	if (s->row.changed.us > q->at.us)
		s->row.changed = q->at;
	return ST_OK;
}
