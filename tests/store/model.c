#include "model.h"

#include "table.h"

#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT32_MAX

struct record {
	struct run_row row;
	uint32_t open_at; /* in `open`, or NOWHERE */
	bool gone;
};

/* A hold with its note. */
struct held {
	struct hold_row row;
	struct str note;
};

struct rows {
	struct rows_sched *sched;
	struct record *record;
	uint32_t *open; /* records that are not finished, in no order */
	struct held *hold;
	struct name_row *name; /* in order of kind and number */
	size_t names, name_room;
	struct run_text_row *words;
	size_t said, words_room;
	struct avoided_row *avoided;
	size_t avoids, avoided_room;
	struct rows_state *state;
	size_t states, state_room;
	struct memory_row *memory; /* in order of numbers */
	size_t memories, memory_room;
	struct rows_agent *agent;
	size_t agents, agent_room;
	struct news_row *news; /* in the order of their numbers */
	size_t newses, news_room;
	struct message_row *notice; /* number n stands at n - 1: one that is gone has number 0 */
	size_t notices, message_room;
	uint64_t last_news;
	struct problem_row *problem; /* number n stands at n - 1: one that is gone has number 0 */
	size_t scheds, records, opens, holds, problems;
	size_t sched_room, record_room, open_room, hold_room, problem_room;
	struct table by_sid, by_run, by_nominal;
	uint64_t last_run, last_sid, last_end, last_memory;
	uint64_t pruned_sid; /* the largest that is gone */
};

#define ROOM(array, n, room)                                                                                 \
	do {                                                                                                 \
		if ((n) == (room)) {                                                                         \
			(room) = (room) ? (room)*2 : 16;                                                     \
			(array) = grow((array), (room) * sizeof *(array));                                   \
		}                                                                                            \
	} while (0)

struct rows *rows_new(void)
{
	struct rows *r = grow(NULL, sizeof *r);
	*r = (struct rows){ 0 };
	return r;
}

static void *copy(const void *p, size_t bytes)
{
	return bytes ? memcpy(grow(NULL, bytes), p, bytes) : NULL;
}

static struct str copy_text(struct str s)
{
	return s.p ? (struct str){ memcpy(grow(NULL, s.n), s.p, s.n), s.n } : s;
}

/* Without a text, what is there stays. */
static void set_text(struct str *to, struct str s)
{
	if (!s.p)
		return;
	free((char *)to->p);
	*to = copy_text(s);
}

/* The same, but one that is not given takes it away. */
static void give_text(struct str *to, struct str s)
{
	free((char *)to->p);
	*to = copy_text(s);
}

/* The same, but an empty one takes it away. */
static void set_note(struct str *to, struct str s)
{
	set_text(to, s);
	if (to->p && !to->n) {
		free((char *)to->p);
		*to = (struct str){ 0 };
	}
}

struct rows *rows_clone(const struct rows *r)
{
	struct rows *c = copy(r, sizeof *r);
	c->sched = copy(r->sched, r->sched_room * sizeof *r->sched);
	for (size_t i = 0; i < c->scheds; i++) {
		struct rows_sched *s = &c->sched[i];
		s->range = copy(s->range, s->room * sizeof *s->range);
		s->id = copy_text(s->id);
		s->document = copy_text(s->document);
		s->source.from = copy_text(s->source.from);
		s->note = copy_text(s->note);
	}
	c->record = copy(r->record, r->record_room * sizeof *r->record);
	c->open = copy(r->open, r->open_room * sizeof *r->open);
	c->hold = copy(r->hold, r->hold_room * sizeof *r->hold);
	for (size_t i = 0; i < c->holds; i++)
		c->hold[i].note = copy_text(c->hold[i].note);
	c->name = copy(r->name, r->name_room * sizeof *r->name);
	for (size_t i = 0; i < c->names; i++)
		c->name[i].text = copy_text(c->name[i].text);
	c->words = copy(r->words, r->words_room * sizeof *r->words);
	for (size_t i = 0; i < c->said; i++)
		c->words[i].text = copy_text(c->words[i].text);
	c->avoided = copy(r->avoided, r->avoided_room * sizeof *r->avoided);
	c->state = copy(r->state, r->state_room * sizeof *r->state);
	for (size_t i = 0; i < c->states; i++) {
		c->state[i].row.key = copy_text(c->state[i].row.key);
		c->state[i].row.text = copy_text(c->state[i].row.text);
	}
	c->memory = copy(r->memory, r->memory_room * sizeof *r->memory);
	for (size_t i = 0; i < c->memories; i++) {
		c->memory[i].agent = copy_text(c->memory[i].agent);
		c->memory[i].text = copy_text(c->memory[i].text);
		c->memory[i].tags = copy_text(c->memory[i].tags);
	}
	c->agent = copy(r->agent, r->agent_room * sizeof *r->agent);
	for (size_t i = 0; i < c->agents; i++) {
		c->agent[i].row.name = copy_text(c->agent[i].row.name);
		c->agent[i].row.text = copy_text(c->agent[i].row.text);
		c->agent[i].source.from = copy_text(c->agent[i].source.from);
	}
	c->news = copy(r->news, r->news_room * sizeof *r->news);
	c->notice = copy(r->notice, r->message_room * sizeof *r->notice);
	for (size_t i = 0; i < c->notices; i++) {
		struct message_row *n = &c->notice[i];
		n->origin = copy_text(n->origin);
		n->target = copy_text(n->target);
		n->body = copy_text(n->body);
		n->result = copy_text(n->result);
	}
	c->problem = copy(r->problem, r->problem_room * sizeof *r->problem);
	for (size_t i = 0; i < c->problems; i++) {
		struct problem_row *p = &c->problem[i];
		p->key = copy_text(p->key);
		p->subject = copy_text(p->subject);
		p->text = copy_text(p->text);
		p->by = copy_text(p->by);
		p->note = copy_text(p->note);
	}
	c->by_sid = table_clone(&r->by_sid);
	c->by_run = table_clone(&r->by_run);
	c->by_nominal = table_clone(&r->by_nominal);
	return c;
}

static void free_sched(struct rows_sched *s)
{
	free(s->range);
	free((char *)s->id.p);
	free((char *)s->document.p);
	free((char *)s->source.from.p);
	free((char *)s->note.p);
}

static void free_memory(struct memory_row *m)
{
	free((char *)m->agent.p);
	free((char *)m->text.p);
	free((char *)m->tags.p);
}

static void free_problem(struct problem_row *p)
{
	free((char *)p->key.p);
	free((char *)p->subject.p);
	free((char *)p->text.p);
	free((char *)p->by.p);
	free((char *)p->note.p);
}

static void free_notice(struct message_row *n)
{
	free((char *)n->origin.p);
	free((char *)n->target.p);
	free((char *)n->body.p);
	free((char *)n->result.p);
	*n = (struct message_row){ 0 };
}

void rows_free(struct rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->scheds; i++)
		free_sched(&r->sched[i]);
	for (size_t i = 0; i < r->names; i++)
		free((char *)r->name[i].text.p);
	free(r->name);
	for (size_t i = 0; i < r->states; i++) {
		free((char *)r->state[i].row.key.p);
		free((char *)r->state[i].row.text.p);
	}
	free(r->state);
	for (size_t i = 0; i < r->memories; i++)
		free_memory(&r->memory[i]);
	free(r->memory);
	for (size_t i = 0; i < r->agents; i++) {
		free((char *)r->agent[i].row.name.p);
		free((char *)r->agent[i].row.text.p);
		free((char *)r->agent[i].source.from.p);
	}
	free(r->agent);
	for (size_t i = 0; i < r->said; i++)
		free((char *)r->words[i].text.p);
	free(r->words);
	free(r->avoided);
	free(r->news);
	for (size_t i = 0; i < r->notices; i++)
		free_notice(&r->notice[i]);
	free(r->notice);
	for (size_t i = 0; i < r->problems; i++)
		free_problem(&r->problem[i]);
	free(r->problem);
	free(r->sched);
	free(r->record);
	free(r->open);
	for (size_t i = 0; i < r->holds; i++)
		free((char *)r->hold[i].note.p);
	free(r->hold);
	table_free(&r->by_sid);
	table_free(&r->by_run);
	table_free(&r->by_nominal);
	free(r);
}

/* --- finding --- */

static struct rows_sched *sched_of(const struct rows *r, uint64_t sid)
{
	uint32_t i;
	return table_get(&r->by_sid, sid, &i) ? &r->sched[i] : NULL;
}

static struct record *record_of(const struct rows *r, uint64_t run)
{
	uint32_t i;
	return table_get(&r->by_run, run, &i) ? &r->record[i] : NULL;
}

static struct record *record_at(const struct rows *r, uint64_t sid, struct wall nominal)
{
	uint32_t i;
	if (!table_get(&r->by_nominal, mix2(sid, (uint64_t)nominal.us), &i))
		return NULL;
	struct record *found = &r->record[i];
	assert(found->row.sid == sid && found->row.nominal.us == nominal.us);
	return found;
}

static void set_open(struct rows *r, struct record *x, bool want)
{
	uint32_t self = (uint32_t)(x - r->record);
	if (want && x->open_at == NOWHERE) {
		ROOM(r->open, r->opens, r->open_room);
		x->open_at = (uint32_t)r->opens;
		r->open[r->opens++] = self;
	} else if (!want && x->open_at != NOWHERE) {
		uint32_t last = r->open[--r->opens];
		r->open[x->open_at] = last;
		r->record[last].open_at = x->open_at;
		x->open_at = NOWHERE;
	}
}

/* --- what each request does --- */

/* Numbers of schedules and runs: 0 means none, and databases give their integers a sign. */
static bool is_number(uint64_t n)
{
	return n > 0 && n <= INT64_MAX;
}

/* Of a record: it will not run. */
static bool is_idle(unsigned state)
{
	return state == RUN_SKIPPED || state == RUN_MISSED;
}

static bool same_wall(struct wall a, struct wall b)
{
	return a.us == b.us;
}

static void close_range(struct rows_sched *s, struct wall at)
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

static void set_high(struct rows_sched *s, struct wall high)
{
	s->row.high = high.us < s->row.pruned_to.us ? s->row.pruned_to : high;
}

/* Somebody else who lives has it. */
static bool id_taken(const struct rows *r, uint64_t sid, struct str id)
{
	for (size_t i = 0; id.p && i < r->scheds; i++) {
		const struct rows_sched *s = &r->sched[i];
		if (s->row.sid != sid && !s->dropped && s->id.p && str_eq(s->id, id))
			return true;
	}
	return false;
}

static void set_source(struct rows_sched *s, const struct st_req *q)
{
	set_text(&s->source.from, q->source.from);
	if (q->source.from.p)
		s->source.line = q->source.line;
}

static uint8_t source(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	if (!s || s->dropped || !q->source.from.p)
		return ST_REFUSED;
	set_source(s, q);
	return ST_OK;
}

/* A mark at or below which nothing is claimed. */
static bool is_pruned(const struct rows_sched *s, const struct st_req *q)
{
	return !s->row.after && q->run.kind != KIND_MANUAL && q->run.nominal.us <= s->row.pruned_to.us;
}

static bool has_end(const struct rows *r, uint64_t sid, uint64_t beyond)
{
	for (size_t i = r->records; i-- > 0;)
		if (!r->record[i].gone && r->record[i].row.sid == sid && r->record[i].row.end > beyond)
			return true;
	return false;
}

static uint8_t put(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	if (!is_number(q->sid) || q->rev == UINT32_MAX)
		return ST_REFUSED;
	if (s && s->row.rev == q->rev + 1 && same_wall(s->put_at, q->at))
		return ST_OK; /* mine */
	if (q->rev == 0 && !s) {
		if (q->sid <= r->pruned_sid || id_taken(r, q->sid, q->id))
			return ST_REFUSED;
		ROOM(r->sched, r->scheds, r->sched_room);
		s = &r->sched[r->scheds];
		*s = (struct rows_sched){ .row = q->row, .put_at = q->at };
		s->row.sid = q->sid;
		s->row.rev = 1;
		set_text(&s->id, q->id);
		set_text(&s->document, q->document);
		set_source(s, q);
		set_note(&s->note, q->note);
		table_put(&r->by_sid, q->sid, (uint32_t)r->scheds++);
		if (q->sid > r->last_sid)
			r->last_sid = q->sid;
		return ST_OK;
	}
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev)
		return ST_STALE;
	if (q->ends_known && has_end(r, s->row.after, q->row.seen))
		return ST_STALE;
	if (id_taken(r, q->sid, q->id))
		return ST_REFUSED;
	struct sched_row old = s->row;
	s->row = q->row;
	s->row.sid = old.sid;
	s->row.rev = old.rev + 1;
	s->row.pruned_to = old.pruned_to;
	s->put_at = q->at;
	if (q->keep_next) {
		s->row.next = old.next;
		s->row.high = old.high;
		s->row.left = old.left;
		s->row.failures = old.failures;
		s->row.owed = old.owed;
		s->row.owed_since = old.owed_since;
		s->row.seen = old.seen;
		s->row.next_set_at = old.next_set_at;
	}
	set_high(s, s->row.high);
	set_text(&s->id, q->id);
	set_text(&s->document, q->document);
	set_source(s, q);
	set_note(&s->note, q->note);
	if (q->close_range)
		close_range(s, q->at);
	return ST_OK;
}

static uint8_t drop(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	if (!s)
		return ST_REFUSED;
	if (s->dropped)
		return ST_OK; /* mine */
	if (s->row.rev != q->rev)
		return ST_STALE;
	s->dropped = true;
	s->dropped_at = q->at;
	if (q->close_range)
		close_range(s, q->at);
	return ST_OK;
}

static void move(struct rows_sched *s, const struct row_move *m)
{
	s->row.next = m->next;
	set_high(s, m->high);
	s->row.left = m->left;
	s->row.owed = m->owed;
	s->row.owed_since = m->owed_since;
	s->row.seen = m->seen;
	s->row.next_set_at = (struct wall){ 0 };
}

/* What moves the schedule past `nominal`, or a follower past an end, was decided before that happened. */
static bool is_behind(const struct rows_sched *s, const struct st_req *q, struct wall nominal)
{
	if (!q->moves)
		return false;
	return s->row.after ? q->move.seen <= s->row.seen
			    : nominal.us <= s->row.high.us || nominal.us <= s->row.pruned_to.us;
}

/* Somebody wants to be told of what was made so just now. */
static void add_news(struct rows *r, const struct st_req *q, struct news_row about)
{
	if (!q->news)
		return;
	ROOM(r->news, r->newses, r->news_room);
	about.number = ++r->last_news;
	about.what = q->news;
	r->news[r->newses++] = about;
}

static uint8_t occ(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	if (!is_number(q->run.run) || q->run.sid != q->sid)
		return ST_REFUSED;
	const struct record *mine = record_of(r, q->run.run);
	if (mine && q->run.state == RUN_FINISHED)
		ret->end = mine->row.end;
	if (mine)
		return ST_OK;
	struct rows_sched *s = sched_of(r, q->sid);
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev || is_behind(s, q, q->run.nominal))
		return ST_STALE;
	struct record *old = q->run.kind == KIND_MANUAL ? NULL : record_at(r, q->sid, q->run.nominal);
	bool pruned = is_pruned(s, q);
	bool takes_over = old && !pruned && q->run.kind == KIND_BACKFILL && is_idle(old->row.state);
	if (pruned || (old && !takes_over)) {
		if (old)
			ret->existing = old->row;
		return ST_LOST;
	}
	ROOM(r->record, r->records, r->record_room);
	struct record *x = &r->record[r->records];
	*x = (struct record){ .row = q->run, .open_at = NOWHERE };
	x->row.end = q->run.state == RUN_FINISHED ? ++r->last_end : 0;
	ret->end = x->row.end;
	if (takes_over) {
		old = record_at(r, q->sid, q->run.nominal); /* it may have moved */
		x->row.replaced = old->row.state + 1;
		old->gone = true;
		table_del(&r->by_run, old->row.run);
	}
	table_put(&r->by_run, q->run.run, (uint32_t)r->records);
	if (q->run.kind != KIND_MANUAL)
		table_put(&r->by_nominal, mix2(q->sid, (uint64_t)q->run.nominal.us), (uint32_t)r->records);
	r->records++;
	set_open(r, x, run_open(&x->row));
	if (q->run.run > r->last_run)
		r->last_run = q->run.run;
	add_news(r, q, (struct news_row){ .sid = q->sid, .run = q->run.run });
	if (q->moves)
		move(s, &q->move);
	return ST_OK;
}

static uint8_t range(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	const struct range_row *want = &q->range;
	if (!s || s->dropped || want->sid != q->sid || !is_idle(want->state) ||
	    want->first.us > want->last.us)
		return ST_REFUSED;
	for (unsigned i = 0; i < s->ranges; i++) {
		const struct range_row *g = &s->range[i];
		if (g->state == want->state && g->reason == want->reason && g->first.us <= want->first.us &&
		    g->last.us >= want->last.us)
			return ST_OK; /* mine */
	}
	if (s->row.rev != q->rev || is_behind(s, q, want->first))
		return ST_STALE;
	bool open = same_wall(want->last, WALL_NEVER);
	struct range_row *into = NULL;
	for (unsigned i = 0; i < s->ranges; i++) {
		struct range_row *g = &s->range[i];
		if (open && same_wall(g->last, WALL_NEVER))
			return ST_REFUSED;
		if (g->state == want->state && g->reason == want->reason && same_wall(g->last, s->row.high) &&
		    want->first.us > s->row.high.us && (!into || g->first.us > into->first.us))
			into = g;
	}
	if (into && !open) {
		into->last = want->last;
	} else {
		ROOM(s->range, s->ranges, s->room);
		s->range[s->ranges++] = *want;
	}
	add_news(r, q, (struct news_row){ .sid = q->sid, .first = want->first, .last = want->last });
	if (q->moves)
		move(s, &q->move);
	return ST_OK;
}

static void remove_record(struct rows *r, struct record *x)
{
	x->gone = true;
	table_del(&r->by_run, x->row.run);
	if (x->row.kind != KIND_MANUAL)
		table_del(&r->by_nominal, mix2(x->row.sid, (uint64_t)x->row.nominal.us));
}

static void withdraw_records(struct rows *r, struct rows_sched *s, const struct st_req *q)
{
	for (size_t i = 0; i < r->records; i++) {
		struct record *x = &r->record[i];
		bool stays = x->row.kind == KIND_MANUAL || x->row.kind == KIND_AFTER ||
			     (x->row.kind == KIND_CATCH_UP && s->row.after);
		if (x->gone || x->row.sid != q->sid || x->row.nominal.us <= q->at.us || stays ||
		    !is_idle(x->row.state))
			continue;
		remove_record(r, x);
	}
	for (unsigned i = 0; i < s->ranges;) {
		struct range_row *g = &s->range[i];
		if (same_wall(g->last, WALL_NEVER)) {
			if (g->first.us > q->move.next.us)
				g->first = q->move.next;
			i++;
			continue;
		}
		if (g->first.us > q->at.us) {
			*g = s->range[--s->ranges];
			continue;
		}
		if (g->last.us > q->at.us)
			g->last = q->at;
		i++;
	}
}

static uint8_t withdraw(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	if (!s || s->dropped)
		return ST_REFUSED;
	if (s->row.rev != q->rev)
		return ST_STALE;
	withdraw_records(r, s, q);
	s->row.high = s->row.pruned_to;
	s->row.next = q->move.next;
	s->row.next_set_at = (struct wall){ 0 };
	if (s->row.changed.us > q->at.us)
		s->row.changed = q->at;
	return ST_OK;
}

static uint8_t verdict(struct rows *r, const struct st_req *q)
{
	struct record *x = record_of(r, q->run.run);
	if (!x || (q->run.state != RUN_CLAIMED && !is_idle(q->run.state)))
		return ST_REFUSED;
	if (x->row.state == q->run.state && x->row.reason == q->run.reason)
		return ST_OK; /* mine */
	if (x->row.state != RUN_PENDING && (x->row.state != RUN_CLAIMED || x->row.attempt != 0))
		return ST_LOST;
	x->row.state = q->run.state;
	x->row.reason = q->run.reason;
	set_open(r, x, run_open(&x->row));
	add_news(r, q, (struct news_row){ .sid = x->row.sid, .run = x->row.run });
	return ST_OK;
}

static uint8_t started(struct rows *r, const struct st_req *q)
{
	struct record *x = record_of(r, q->run.run);
	if (!x)
		return ST_REFUSED;
	if ((x->row.state == RUN_CLAIMED || x->row.state == RUN_RETRYING) &&
	    q->run.attempt >= x->row.attempt) {
		if (q->run.attempt > x->row.attempt)
			add_news(r, q,
				 (struct news_row){
					 .sid = x->row.sid, .run = x->row.run, .attempt = q->run.attempt });
		x->row.state = RUN_CLAIMED;
		x->row.attempt = q->run.attempt;
		x->row.started = q->run.started;
	}
	return ST_OK;
}

static void count_avoided(struct rows *r, uint64_t sid, int64_t since)
{
	size_t i = 0;
	while (i < r->avoids && (r->avoided[i].sid != sid || r->avoided[i].since != since))
		i++;
	if (i == r->avoids) {
		ROOM(r->avoided, r->avoids, r->avoided_room);
		r->avoided[r->avoids++] = (struct avoided_row){ sid, since, 0 };
	}
	r->avoided[i].n++;
}

static void forget_avoided(struct rows *r, uint64_t sid, int64_t before)
{
	for (size_t i = 0; i < r->avoids;) {
		const struct avoided_row *x = &r->avoided[i];
		if (x->sid == sid && (sid || x->since != AVOIDED_EVER) && x->since < before)
			r->avoided[i] = r->avoided[--r->avoids];
		else
			i++;
	}
}

static uint8_t finish(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	struct record *x = record_of(r, q->run.run);
	const struct run_row *end = &q->run;
	if (!x || (end->state != RUN_FINISHED && end->state != RUN_RETRYING))
		return ST_REFUSED;
	struct run_row *row = &x->row;
	if (row->attempt == end->attempt && row->state == end->state && row->outcome == end->outcome &&
	    row->reason == end->reason && row->uncounted == end->uncounted &&
	    same_wall(row->ended, end->ended) && same_wall(row->retry_at, end->retry_at) &&
	    row->cost == end->cost && row->tokens_in == end->tokens_in &&
	    row->tokens_out == end->tokens_out && row->exit_code == end->exit_code) {
		ret->end = row->end;
		return ST_OK; /* mine */
	}
	if (!run_open(row) || row->attempt > end->attempt)
		return ST_LOST;
	if (q->avoided) {
		count_avoided(r, 0, AVOIDED_EVER);
		count_avoided(r, 0, avoided_since(end->ended));
		count_avoided(r, row->sid, AVOIDED_EVER);
	}
	row->attempt = end->attempt;
	row->state = end->state;
	row->outcome = end->outcome;
	row->reason = end->reason;
	row->uncounted = end->uncounted;
	row->ended = end->ended;
	row->retry_at = end->retry_at;
	row->cost = end->cost;
	row->tokens_in = end->tokens_in;
	row->tokens_out = end->tokens_out;
	row->exit_code = end->exit_code;
	struct rows_sched *s = sched_of(r, row->sid);
	if (row->state == RUN_FINISHED) {
		s->row.failures = q->failures;
		ret->end = row->end = ++r->last_end;
	}
	add_news(r, q, (struct news_row){ .sid = row->sid, .run = row->run, .attempt = row->attempt });
	set_open(r, x, run_open(row));
	return ST_OK;
}

static uint8_t hold(struct rows *r, const struct st_req *q)
{
	size_t i = 0;
	while (i < r->holds && r->hold[i].row.key != q->hold.key)
		i++;
	if (q->hold.reason == 0) {
		if (i < r->holds) {
			free((char *)r->hold[i].note.p);
			r->hold[i] = r->hold[--r->holds];
		}
		return ST_OK;
	}
	if (i == r->holds) {
		ROOM(r->hold, r->holds, r->hold_room);
		r->hold[r->holds++] = (struct held){ 0 };
	}
	r->hold[i].row = q->hold;
	set_note(&r->hold[i].note, q->note);
	return ST_OK;
}

static bool fits(struct str s)
{
	return s.n <= STORE_PROBLEM_BYTES_MAX;
}

/* The one that is meant: the latest of its key, or the one that has the number. */
static uint8_t name(struct rows *r, const struct st_req *q)
{
	const struct name_row *n = &q->name;
	size_t i = 0;
	if (!n->text.p || n->text.n > STORE_PROBLEM_BYTES_MAX)
		return ST_REFUSED;
	while (i < r->names &&
	       (r->name[i].kind < n->kind || (r->name[i].kind == n->kind && r->name[i].number < n->number)))
		i++;
	if (i < r->names && r->name[i].kind == n->kind && r->name[i].number == n->number)
		return str_eq(r->name[i].text, n->text) ? ST_OK : ST_LOST;
	ROOM(r->name, r->names, r->name_room);
	memmove(&r->name[i + 1], &r->name[i], (r->names++ - i) * sizeof *r->name);
	r->name[i] = (struct name_row){ n->kind, n->number, copy_text(n->text) };
	return ST_OK;
}

static bool rows_problem_is(const struct rows *r, uint64_t number)
{
	return number <= r->problems && r->problem[number - 1].number;
}

static struct problem_row *problem_of(const struct rows *r, const struct problem_change *said)
{
	if (said->act != PROBLEM_OPEN && said->number)
		return rows_problem_is(r, said->number) ? &r->problem[said->number - 1] : NULL;
	for (size_t i = r->problems; i > 0; i--)
		if (rows_problem_is(r, i) && str_eq(r->problem[i - 1].key, said->key))
			return &r->problem[i - 1];
	return NULL;
}

static void open_problem(struct rows *r, struct problem_row **p, const struct st_req *q)
{
	const struct problem_change *said = &q->problem;
	if (*p && same_wall((*p)->last_reported, q->at))
		return; /* mine */
	if (*p && same_wall((*p)->closed, WALL_NEVER)) {
		(*p)->count++;
		(*p)->last_reported = q->at;
		set_text(&(*p)->text, said->text);
		return;
	}
	ROOM(r->problem, r->problems, r->problem_room);
	*p = &r->problem[r->problems++];
	**p = (struct problem_row){ .number = r->problems,
				    .count = 1,
				    .opened = q->at,
				    .last_reported = q->at,
				    .acked = WALL_NEVER,
				    .closed = WALL_NEVER,
				    .key = copy_text(said->key),
				    .subject = copy_text(said->subject),
				    .text = copy_text(said->text) };
	add_news(r, q, (struct news_row){ .problem = r->problems });
}

static uint8_t ack_problem(struct problem_row *p, const struct st_req *q)
{
	if (same_wall(p->acked, q->at))
		return ST_OK; /* mine */
	if (!same_wall(p->acked, WALL_NEVER) || !same_wall(p->closed, WALL_NEVER))
		return ST_LOST;
	p->acked = q->at;
	set_text(&p->by, q->problem.by);
	set_text(&p->note, q->problem.note);
	return ST_OK;
}

static uint8_t problem(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	const struct problem_change *said = &q->problem;
	bool named = said->key.n || (said->act != PROBLEM_OPEN && said->number);
	if (!named || said->act >= PROBLEM_ACTS || same_wall(q->at, WALL_NEVER) || !fits(said->key) ||
	    !fits(said->subject) || !fits(said->text) || !fits(said->by) || !fits(said->note))
		return ST_REFUSED;
	struct problem_row *p = problem_of(r, said);
	uint8_t res = ST_OK;
	if (said->act == PROBLEM_OPEN)
		open_problem(r, &p, q);
	else if (!p)
		return ST_REFUSED;
	else if (said->act == PROBLEM_ACK)
		res = ack_problem(p, q);
	else if (same_wall(p->closed, WALL_NEVER)) {
		p->closed = q->at;
		add_news(r, q, (struct news_row){ .problem = p->number });
	}
	ret->problem = p->number;
	ret->count = p->count;
	return res;
}

static uint8_t words(struct rows *r, const struct st_req *q)
{
	const struct run_text_row *w = &q->run_text;
	size_t i = 0;
	if (!record_of(r, w->run) || w->kind >= RUN_TEXT_KINDS || w->text.n > STORE_RUN_TEXT_BYTES_MAX)
		return ST_REFUSED;
	while (i < r->said && (r->words[i].run != w->run || r->words[i].kind != w->kind))
		i++;
	if (i == r->said && w->text.n) {
		ROOM(r->words, r->said, r->words_room);
		r->words[r->said++] = (struct run_text_row){ w->run, w->kind, { 0 } };
	}
	if (w->text.n) {
		set_text(&r->words[i].text, w->text);
	} else if (i < r->said) {
		free((char *)r->words[i].text.p);
		r->words[i] = r->words[--r->said];
	}
	return ST_OK;
}

static uint8_t state(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	const struct state_row *said = &q->state;
	size_t i = 0;
	if (!said->key.p || !said->text.p || said->rev == UINT32_MAX || !fits(said->key))
		return ST_REFUSED;
	while (i < r->states && !str_eq(r->state[i].row.key, said->key))
		i++;
	uint32_t rev = i < r->states ? r->state[i].row.rev : 0;
	ret->count = rev;
	if (rev == said->rev + 1 && same_wall(r->state[i].at, q->at))
		return ST_OK; /* mine */
	if (rev != said->rev)
		return ST_STALE;
	ret->count = rev + 1;
	if (i == r->states) {
		ROOM(r->state, r->states, r->state_room);
		r->state[r->states++] = (struct rows_state){ .row.key = copy_text(said->key) };
	}
	set_text(&r->state[i].row.text, said->text);
	r->state[i].row.rev = rev + 1;
	r->state[i].at = q->at;
	return ST_OK;
}

static uint8_t remember(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	const struct memory_change *m = &q->memory;
	unsigned notes = 0;
	if (!m->agent.n || !fits(m->agent) || !m->text.n || m->text.n > STORE_MEMORY_BYTES_MAX ||
	    m->tags.n > STORE_MEMORY_TAGS_MAX || same_wall(q->at, WALL_NEVER))
		return ST_REFUSED;
	for (size_t i = 0; i < r->memories; i++) {
		const struct memory_row *row = &r->memory[i];
		bool its = str_eq(row->agent, m->agent);
		notes += its;
		if (its && same_wall(row->at, q->at) && row->run == m->run && str_eq(row->text, m->text)) {
			ret->note = row->number;
			return ST_OK; /* mine */
		}
	}
	if (notes >= STORE_MEMORIES_MAX)
		return ST_REFUSED;
	ROOM(r->memory, r->memories, r->memory_room);
	r->memory[r->memories++] = (struct memory_row){ .number = ++r->last_memory,
							.run = m->run,
							.at = q->at,
							.agent = copy_text(m->agent),
							.text = copy_text(m->text),
							.tags = copy_text(m->tags.p ? m->tags : STR("")) };
	ret->note = r->last_memory;
	return ST_OK;
}

/* One by its number, or those of a run from a number on. */
static void forget(struct rows *r, const struct memory_change *m)
{
	size_t kept = 0;
	for (size_t i = 0; i < r->memories; i++) {
		struct memory_row *row = &r->memory[i];
		bool meant = m->act == MEMORY_REMOVE_RUN ? row->run == m->run && row->number >= m->number
							 : row->number == m->number;
		if (meant && (!m->agent.p || str_eq(row->agent, m->agent)))
			free_memory(row);
		else
			r->memory[kept++] = *row;
	}
	r->memories = kept;
}

static uint8_t memory(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	switch ((enum memory_act)q->memory.act) {
	case MEMORY_ADD:
		return remember(r, q, ret);
	case MEMORY_REMOVE:
		forget(r, &q->memory);
		return ST_OK;
	case MEMORY_REMOVE_RUN:
		if (!q->memory.run)
			return ST_REFUSED;
		forget(r, &q->memory);
		return ST_OK;
	case MEMORY_ACTS:
		break;
	}
	return ST_REFUSED;
}

static uint8_t agent(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	const struct agent_row *said = &q->agent;
	size_t i = 0;
	if (!said->name.n || !fits(said->name) || said->rev == UINT32_MAX || said->act >= AGENT_ACTS ||
	    (said->act == AGENT_PUT && !said->text.p))
		return ST_REFUSED;
	while (i < r->agents && !str_eq(r->agent[i].row.name, said->name))
		i++;
	uint32_t rev = i < r->agents ? r->agent[i].row.rev : 0;
	ret->count = rev;
	if (said->act != AGENT_MOVE && rev == said->rev + 1 && same_wall(r->agent[i].at, q->at))
		return ST_OK; /* mine */
	if (rev != said->rev)
		return ST_STALE;
	if (said->act != AGENT_PUT && (i == r->agents || !r->agent[i].row.text.p))
		return ST_REFUSED;
	if (i == r->agents) {
		ROOM(r->agent, r->agents, r->agent_room);
		r->agent[r->agents++] = (struct rows_agent){ .row.name = copy_text(said->name) };
	}
	struct rows_agent *a = &r->agent[i];
	bool goes = said->act == AGENT_DROP;
	give_text(&a->source.from, goes ? (struct str){ 0 } : q->source.from);
	a->source.line = goes ? 0 : q->source.line;
	if (said->act == AGENT_MOVE)
		return ST_OK;
	give_text(&a->row.text, goes ? (struct str){ 0 } : said->text);
	ret->count = a->row.rev = rev + 1;
	a->at = q->at;
	return ST_OK;
}

static bool message_fits(const struct message_row *n)
{
	const struct str *texts[] = { &n->origin, &n->target, &n->body, &n->result };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i]->n > STORE_MESSAGE_BYTES_MAX)
			return false;
	return n->state < MESSAGE_STATES;
}

static uint8_t tell(struct rows *r, const struct st_req *q)
{
	const struct message_batch *t = &q->messages;
	uint64_t whole = 0;
	if (t->n > STORE_MESSAGES_MAX || (!t->n && !t->news_upto) || t->news_upto > INT64_MAX)
		return ST_REFUSED;
	for (unsigned i = 0; i < t->n; i++) {
		const struct message_row *n = &t->message[i];
		if (!message_fits(n) || !n->origin.p || !n->target.p || !n->body.p || (n->joined && i == 0))
			return ST_REFUSED;
	}
	if (t->news_upto && (!r->newses || r->news[0].number > t->news_upto))
		return ST_OK;            /* mine */
	struct message_row *last = NULL; /* that there is */
	for (size_t i = 0; i < r->notices; i++)
		if (r->notice[i].number)
			last = &r->notice[i];
	if (!t->news_upto && last && same_wall(last->at, q->at))
		return ST_OK; /* mine */
	for (unsigned i = 0; i < t->n; i++) {
		const struct message_row *n = &t->message[i];
		ROOM(r->notice, r->notices, r->message_room);
		struct message_row *to = &r->notice[r->notices++];
		*to = *n;
		to->number = r->notices;
		to->at = q->at;
		to->origin = copy_text(n->origin);
		to->target = copy_text(n->target);
		to->body = copy_text(n->body);
		to->result = copy_text(n->result);
		to->joined = n->joined ? whole : 0;
		if (!n->joined)
			whole = to->number;
	}
	size_t gone = 0;
	while (gone < r->newses && r->news[gone].number <= t->news_upto)
		gone++;
	if (gone)
		memmove(r->news, r->news + gone, (r->newses - gone) * sizeof *r->news);
	r->newses -= gone;
	return ST_OK;
}

static uint8_t tried(struct rows *r, const struct st_req *q)
{
	const struct message_row *end = &q->delivery;
	if (!end->number || end->number > r->notices || !r->notice[end->number - 1].number ||
	    !message_fits(end))
		return ST_REFUSED;
	struct message_row *n = &r->notice[end->number - 1];
	if (n->attempts == end->attempts && same_wall(n->tried_at, q->at))
		return ST_OK; /* mine */
	if (n->state != MESSAGE_WAITING || end->attempts < n->attempts || end->attempts > n->attempts + 1)
		return ST_LOST;
	n->state = end->state;
	n->attempts = end->attempts;
	n->tried_at = q->at;
	n->next = end->next;
	free((char *)n->result.p);
	n->result = copy_text(end->result);
	return ST_OK;
}

static void keep_up_to(struct rows_sched *s, struct wall t)
{
	if (s->row.pruned_to.us < t.us)
		s->row.pruned_to = t;
}

/* Is it the last of its schedule that has ended? */
static bool is_latest(const struct rows *r, const struct run_row *run)
{
	for (size_t i = 0; i < r->records; i++)
		if (!r->record[i].gone && r->record[i].row.sid == run->sid && r->record[i].row.end > run->end)
			return false;
	return true;
}

static void prune_runs(struct rows *r, const struct st_req *q)
{
	for (size_t i = 0; i < r->records; i++) {
		struct record *x = &r->record[i];
		const struct run_row *run = &x->row;
		struct rows_sched *s = sched_of(r, run->sid);
		if (x->gone || run->run < q->prune.first || run->run > q->prune.last || run_open(run) ||
		    run->nominal.us > q->at.us || run->claimed.us > q->at.us || run->ended.us > q->at.us ||
		    run->retry_at.us > q->at.us)
			continue;
		if (run->state == RUN_FINISHED &&
		    (run->end > q->prune.end || (!s->dropped && is_latest(r, run))))
			continue;
		if (run->kind != KIND_MANUAL)
			keep_up_to(s, run->nominal);
		remove_record(r, x);
	}
	forget_avoided(r, 0, wall_seconds(q->at));
	for (size_t i = 0; i < r->said;) {
		struct run_text_row *w = &r->words[i];
		if (w->run < q->prune.first || w->run > q->prune.last || record_of(r, w->run)) {
			i++;
			continue;
		}
		free((char *)w->text.p);
		*w = r->words[--r->said];
	}
	for (size_t i = 0; i < r->notices; i++) {
		struct message_row *n = &r->notice[i];
		bool its = n->run && n->run >= q->prune.first && n->run <= q->prune.last &&
			   !record_of(r, n->run);
		bool loose = !n->run && n->state != MESSAGE_WAITING && n->at.us <= q->at.us &&
			     n->tried_at.us <= q->at.us;
		if (n->number && (its || loose))
			free_notice(n);
	}
}

static void prune_ranges(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	for (unsigned i = 0; s && i < s->ranges;) {
		if (same_wall(s->range[i].last, WALL_NEVER) || s->range[i].last.us > q->at.us) {
			i++;
			continue;
		}
		keep_up_to(s, s->range[i].last);
		s->range[i] = s->range[--s->ranges];
	}
}

static void prune_sched(struct rows *r, const struct st_req *q)
{
	struct rows_sched *s = sched_of(r, q->sid);
	if (!s || !s->dropped || s->dropped_at.us > q->at.us)
		return;
	for (size_t i = 0; i < r->records; i++)
		if (!r->record[i].gone && r->record[i].row.sid == q->sid)
			return;
	forget_avoided(r, q->sid, INT64_MAX);
	free_sched(s);
	table_del(&r->by_sid, q->sid);
	if (q->sid > r->pruned_sid)
		r->pruned_sid = q->sid;
	struct rows_sched *last = &r->sched[--r->scheds];
	if (s != last) {
		*s = *last;
		table_put(&r->by_sid, s->row.sid, (uint32_t)(s - r->sched));
	}
}

static void prune_problem(struct rows *r, const struct st_req *q)
{
	uint64_t number = q->prune.first;
	if (!number || !rows_problem_is(r, number))
		return;
	struct problem_row *p = &r->problem[number - 1];
	if (same_wall(p->closed, WALL_NEVER) || p->closed.us > q->at.us)
		return;
	free_problem(p);
	*p = (struct problem_row){ 0 };
}

static uint8_t prune(struct rows *r, const struct st_req *q)
{
	switch ((enum prune_what)q->prune.what) {
	case PRUNE_RUNS:
		prune_runs(r, q);
		return ST_OK;
	case PRUNE_RANGES:
		prune_ranges(r, q);
		return ST_OK;
	case PRUNE_VERSION:
		return ST_OK; /* of documents the model has the latest only */
	case PRUNE_SCHED:
		prune_sched(r, q);
		return ST_OK;
	case PRUNE_PROBLEM:
		prune_problem(r, q);
		return ST_OK;
	case PRUNES:
		break;
	}
	return ST_REFUSED;
}

void rows_apply(struct rows *r, const struct st_req *q, struct st_ack *ret)
{
	*ret = (struct st_ack){ .tag = q->tag, .op = q->op, .run = q->run.run };
	switch ((enum st_op)q->op) {
	case ST_PUT:
		ret->res = put(r, q);
		break;
	case ST_DROP:
		ret->res = drop(r, q);
		break;
	case ST_OCC:
		ret->res = occ(r, q, ret);
		break;
	case ST_RANGE:
		ret->res = range(r, q);
		break;
	case ST_WITHDRAW:
		ret->res = withdraw(r, q);
		break;
	case ST_VERDICT:
		ret->res = verdict(r, q);
		break;
	case ST_STARTED:
		ret->res = started(r, q);
		break;
	case ST_FINISH:
		ret->res = finish(r, q, ret);
		break;
	case ST_HOLD:
		ret->res = hold(r, q);
		break;
	case ST_PROBLEM:
		ret->res = problem(r, q, ret);
		break;
	case ST_NAME:
		ret->res = name(r, q);
		break;
	case ST_SOURCE:
		ret->res = source(r, q);
		break;
	case ST_RUN_TEXT:
		ret->res = words(r, q);
		break;
	case ST_STATE:
		ret->res = state(r, q, ret);
		break;
	case ST_MEMORY:
		ret->res = memory(r, q, ret);
		break;
	case ST_AGENT:
		ret->res = agent(r, q, ret);
		break;
	case ST_MESSAGES:
		ret->res = tell(r, q);
		break;
	case ST_DELIVERY:
		ret->res = tried(r, q);
		break;
	case ST_PRUNE:
		ret->res = prune(r, q);
		break;
	case ST_OPS:
		assert(false);
	}
	if (q->op == ST_HOLD || q->op == ST_PROBLEM || q->op == ST_NAME || q->op == ST_STATE ||
	    q->op == ST_MEMORY || q->op == ST_AGENT || q->op == ST_RUN_TEXT || q->op == ST_MESSAGES ||
	    q->op == ST_DELIVERY)
		return;
	bool on_a_run = q->op == ST_VERDICT || q->op == ST_STARTED || q->op == ST_FINISH;
	const struct record *x = on_a_run ? record_of(r, q->run.run) : NULL;
	const struct rows_sched *s = sched_of(r, x ? x->row.sid : q->sid);
	if (s && !s->dropped) {
		ret->has_row = true;
		ret->row = s->row;
	}
}

/* --- load --- */

static bool has_open_run(const struct rows *r, uint64_t sid)
{
	for (size_t i = 0; i < r->opens; i++)
		if (r->record[r->open[i]].row.sid == sid)
			return true;
	return false;
}

static bool has_open_range(const struct rows_sched *s)
{
	for (unsigned i = 0; i < s->ranges; i++)
		if (same_wall(s->range[i].last, WALL_NEVER))
			return true;
	return false;
}

static int by_key(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	return (x->row.key > y->row.key) - (x->row.key < y->row.key);
}

static int by_sid(const void *a, const void *b)
{
	const struct sched_row *x = *(const struct sched_row *const *)a,
			       *y = *(const struct sched_row *const *)b;
	return (x->sid > y->sid) - (x->sid < y->sid);
}

static int by_run(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return (x->run > y->run) - (x->run < y->run);
}

static int by_end(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return (x->end > y->end) - (x->end < y->end);
}

static void load_ends(const struct rows *r, const struct sched_row *s, load_fn *fn, void *ctx)
{
	const struct run_row **end = NULL;
	size_t n = 0, room = 0;
	for (size_t i = 0; i < r->records; i++) {
		const struct record *x = &r->record[i];
		if (x->gone || x->row.sid != s->after || x->row.end <= s->seen)
			continue;
		ROOM(end, n, room);
		end[n++] = &x->row;
	}
	if (n)
		qsort(end, n, sizeof *end, by_end);
	for (size_t i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_END, .follower = s->sid, .run = *end[i] });
	free(end);
}

void rows_load(const struct rows *r, load_fn *fn, void *ctx)
{
	for (size_t i = 0; i < r->names; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_NAME, .name = r->name[i] });
	struct held *holds = copy(r->hold, r->holds * sizeof *holds);
	if (r->holds)
		qsort(holds, r->holds, sizeof *holds, by_key);
	for (size_t i = 0; i < r->holds; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_HOLD, .hold = holds[i].row });
	free(holds);

	const struct sched_row **s = grow(NULL, r->scheds * sizeof *s);
	size_t n = 0;
	for (size_t i = 0; i < r->scheds; i++)
		if (!r->sched[i].dropped || has_open_run(r, r->sched[i].row.sid))
			s[n++] = &r->sched[i].row;
	if (n)
		qsort(s, n, sizeof *s, by_sid);
	for (size_t i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_SCHED,
					     .open = has_open_range(sched_of(r, s[i]->sid)),
					     .dropped = sched_of(r, s[i]->sid)->dropped,
					     .sched = *s[i] });

	const struct run_row **open = grow(NULL, r->opens * sizeof *open);
	for (size_t i = 0; i < r->opens; i++)
		open[i] = &r->record[r->open[i]].row;
	if (r->opens)
		qsort(open, r->opens, sizeof *open, by_run);
	for (size_t i = 0; i < r->opens; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_RUN, .run = *open[i] });
	free(open);

	for (size_t i = 0; i < n; i++)
		if (s[i]->after && !sched_of(r, s[i]->sid)->dropped)
			load_ends(r, s[i], fn, ctx);
	free(s);
	for (size_t i = 0; i < r->problems; i++)
		if (r->problem[i].number && same_wall(r->problem[i].closed, WALL_NEVER))
			fn(ctx, &(struct load_item){ .kind = LOAD_PROBLEM, .problem = r->problem[i] });
	fn(ctx, &(struct load_item){ .kind = LOAD_DONE, .done = { r->last_run, r->last_sid, r->last_end } });
}

/* --- looking in --- */

size_t rows_scheds(const struct rows *r)
{
	return r->scheds;
}

const struct rows_sched *rows_sched_at(const struct rows *r, size_t i)
{
	return &r->sched[i];
}

const struct rows_sched *rows_sched(const struct rows *r, uint64_t sid)
{
	return sched_of(r, sid);
}

size_t rows_runs(const struct rows *r)
{
	return r->records;
}

const struct run_row *rows_run_at(const struct rows *r, size_t i)
{
	return r->record[i].gone ? NULL : &r->record[i].row;
}

const struct run_row *rows_run(const struct rows *r, uint64_t run)
{
	const struct record *x = record_of(r, run);
	return x ? &x->row : NULL;
}

const struct run_row *rows_at(const struct rows *r, uint64_t sid, struct wall nominal)
{
	const struct record *x = record_at(r, sid, nominal);
	return x ? &x->row : NULL;
}

size_t rows_open(const struct rows *r)
{
	return r->opens;
}

const struct run_row *rows_open_at(const struct rows *r, size_t i)
{
	return &r->record[r->open[i]].row;
}

size_t rows_problems(const struct rows *r)
{
	return r->problems;
}

const struct problem_row *rows_problem_at(const struct rows *r, size_t i)
{
	return r->problem[i].number ? &r->problem[i] : NULL;
}

size_t rows_newses(const struct rows *r)
{
	return r->newses;
}

const struct news_row *rows_news_at(const struct rows *r, size_t i)
{
	return &r->news[i];
}

size_t rows_notices(const struct rows *r)
{
	return r->notices;
}

const struct message_row *rows_notice_at(const struct rows *r, size_t i)
{
	return r->notice[i].number ? &r->notice[i] : NULL;
}

size_t rows_said(const struct rows *r)
{
	return r->said;
}

size_t rows_avoids(const struct rows *r)
{
	return r->avoids;
}

const struct avoided_row *rows_avoided_at(const struct rows *r, size_t i)
{
	return &r->avoided[i];
}

uint64_t rows_avoided(const struct rows *r, uint64_t sid)
{
	for (size_t i = 0; i < r->avoids; i++)
		if (r->avoided[i].sid == sid && r->avoided[i].since == AVOIDED_EVER)
			return r->avoided[i].n;
	return 0;
}

const struct run_text_row *rows_words_at(const struct rows *r, size_t i)
{
	return &r->words[i];
}

size_t rows_memories(const struct rows *r)
{
	return r->memories;
}

const struct memory_row *rows_memory_at(const struct rows *r, size_t i)
{
	return &r->memory[i];
}

size_t rows_states(const struct rows *r)
{
	return r->states;
}

const struct rows_state *rows_state_at(const struct rows *r, size_t i)
{
	return &r->state[i];
}

size_t rows_agents(const struct rows *r)
{
	return r->agents;
}

const struct rows_agent *rows_agent_at(const struct rows *r, size_t i)
{
	return &r->agent[i];
}

size_t rows_holds(const struct rows *r)
{
	return r->holds;
}

const struct hold_row *rows_hold_at(const struct rows *r, size_t i)
{
	return &r->hold[i].row;
}

const struct hold_row *rows_hold(const struct rows *r, uint32_t key)
{
	for (size_t i = 0; i < r->holds; i++)
		if (r->hold[i].row.key == key)
			return &r->hold[i].row;
	return NULL;
}

struct str rows_hold_note(const struct rows *r, uint32_t key)
{
	for (size_t i = 0; i < r->holds; i++)
		if (r->hold[i].row.key == key)
			return r->hold[i].note;
	return (struct str){ 0 };
}

uint64_t rows_digest(const struct rows *r)
{
	uint64_t h = 1;
	for (size_t i = 0; i < r->scheds; i++) {
		const struct rows_sched *s = &r->sched[i];
		h = mix2(h, s->row.sid);
		h = mix2(h, s->row.rev + ((uint64_t)s->row.flags << 32) + s->dropped);
		h = mix2(h, (uint64_t)s->row.next.us);
		h = mix2(h, (uint64_t)s->row.high.us);
		h = mix2(h, (uint64_t)s->row.next_set_at.us);
		h = mix2(h, s->row.seen);
		h = mix2(h, s->row.left + ((uint64_t)s->row.failures << 32));
		uint64_t ranges = 0; /* in any order */
		for (unsigned k = 0; k < s->ranges; k++)
			ranges += mix2(mix2((uint64_t)s->range[k].first.us, (uint64_t)s->range[k].last.us),
				       s->range[k].reason);
		h = mix2(h, ranges);
	}
	for (size_t i = 0; i < r->records; i++) {
		const struct run_row *x = &r->record[i].row;
		if (r->record[i].gone)
			continue;
		h = mix2(h, x->run);
		h = mix2(h, mix2(x->sid, (uint64_t)x->nominal.us));
		h = mix2(h, x->state + 16u * x->outcome + 256u * x->attempt + 65536u * x->reason);
		h = mix2(h, (uint64_t)x->ended.us);
		h = mix2(h, x->end);
	}
	return h;
}
