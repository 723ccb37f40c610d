/* ST_PUT, ST_DROP and ST_SOURCE. */
#include "model/inner.h"

static void close_range(struct model_sched *s, struct wall at)
{
	for (unsigned i = 0; i < s->ranges; i++) {
		struct range_row *g = &s->range[i];
		if (!same_wall(g->last, WALL_NEVER))
			continue;
		if (g->first.us > at.us)
			*g = s->range[--s->ranges];
		else
			g->last = at;
		return;
	}
}

/* Whether another schedule that was not removed has the id. */
static bool id_is_taken(const struct model *m, uint64_t sid, struct str id)
{
	for (unsigned i = 0; id.p && i < m->scheds; i++) {
		const struct model_sched *s = &m->sched[i];
		if (s->row.sid != sid && !s->dropped && s->id.p && str_eq(s->id, id))
			return true;
	}
	return false;
}

static void set_source(struct model_sched *s, const struct st_req *q)
{
	text_set(&s->source.from, q->source.from);
	if (q->source.from.p)
		s->source.line = q->source.line;
}

static void set_texts(struct model_sched *s, const struct st_req *q)
{
	text_set(&s->id, q->id);
	text_set(&s->document, q->document);
	set_source(s, q);
	text_set_note(&s->note, q->note);
}

static void log_sched(struct model *m, enum event_type type, const struct sched_row *row)
{
	log_event(m, type, (struct event_row){ .sid = row->sid, .rev = row->rev, .first = row->next });
}

static uint8_t add_sched(struct model *m, const struct st_req *q)
{
	if (q->sid <= m->pruned_sid || id_is_taken(m, q->sid, q->id))
		return ST_REFUSED;
	ADD_ROOM(m->sched, m->sched_room, m->scheds);
	struct model_sched *s = &m->sched[m->scheds];
	*s = (struct model_sched){ .row = q->row, .put_at = q->at };
	s->row.sid = q->sid;
	s->row.rev = 1;
	s->row.part = q->part;
	s->row.failures = 0;
	s->row.seen = last_end(m, s->row.after);
	set_texts(s, q);
	number_map_put(&m->by_sid, q->sid, m->scheds++);
	if (q->sid > m->last_sid)
		m->last_sid = q->sid;
	log_sched(m, EVENT_SCHEDULE_CREATED, &s->row);
	return ST_OK;
}

/* The document of each rev is kept for the runs that were claimed under it. */
static void keep_version(struct model *m, struct model_sched *s, const struct st_req *q)
{
	ADD_ROOM(s->version, s->version_room, s->versions);
	s->version[s->versions++] = (struct model_version){
		.number = ++m->last_version, .rev = q->rev, .at = q->at, .text = text_dup(s->document)
	};
}

static void change_sched(const struct model *m, struct model_sched *s, const struct st_req *q)
{
	struct sched_row old = s->row;
	s->row = q->row;
	s->row.sid = old.sid;
	s->row.rev = old.rev + 1;
	s->row.part = old.part;
	s->row.pruned_to = old.pruned_to;
	s->row.failures = q->clear_failures ? 0 : old.failures;
	s->put_at = q->at;
	if (q->keep_next) {
		s->row.next = old.next;
		s->row.high = old.high;
		s->row.left = old.left;
		s->row.owed = old.owed;
		s->row.owed_since = old.owed_since;
		s->row.seen = old.seen;
		s->row.next_set_at = old.next_set_at;
	}
	if (s->row.after != old.after)
		s->row.seen = last_end(m, s->row.after);
	if (s->row.high.us < s->row.pruned_to.us)
		s->row.high = s->row.pruned_to;
	set_texts(s, q);
	if (q->close_range)
		close_range(s, q->at);
}

static bool has_id(const struct model_sched *s, struct str id)
{
	return s->id.p && id.p ? str_eq(s->id, id) : !s->id.p && !id.p;
}

uint8_t apply_put(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_sched *s = find_sched(m, q->sid);
	(void)ret;
	if (!is_number(q->sid) || q->rev == UINT32_MAX)
		return ST_REFUSED;
	if (s && s->row.rev == q->rev + 1 && same_wall(s->put_at, q->at) && (q->rev || has_id(s, q->id)))
		return ST_OK; /* repeated */
	if (q->rev == 0)
		return s ? ST_COLLISION : add_sched(m, q);
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev)
		return ST_STALE;
	if (q->ends_known && last_end(m, s->row.after) > q->row.seen)
		return ST_STALE;
	if (id_is_taken(m, q->sid, q->id))
		return ST_REFUSED;
	if (q->document.p)
		keep_version(m, s, q);
	change_sched(m, s, q);
	log_sched(m, EVENT_SCHEDULE_UPDATED, &s->row);
	return ST_OK;
}

uint8_t apply_drop(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_sched *s = find_sched(m, q->sid);
	(void)ret;
	if (!s)
		return ST_REFUSED;
	if (s->dropped)
		return ST_OK; /* repeated */
	if (s->row.rev != q->rev)
		return ST_STALE;
	s->dropped = true;
	s->dropped_at = q->at;
	if (q->close_range)
		close_range(s, q->at);
	log_sched(m, EVENT_SCHEDULE_DELETED, &s->row);
	return ST_OK;
}

uint8_t apply_source(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	struct model_sched *s = find_sched(m, q->sid);
	(void)ret;
	if (!s || s->dropped || !q->source.from.p)
		return ST_REFUSED;
	set_source(s, q);
	return ST_OK;
}
