/* The model: creation, clone and destruction, the table of operations, and queries for tests. */
#include "model/inner.h"

struct model *model_new(void)
{
	struct model *m = must_realloc(NULL, sizeof *m);
	*m = (struct model){ .node = 1, .now = wall_of(1800000000) };
	ADD_ROOM(m->part, m->part_room, m->parts);
	m->part[m->parts++] = (struct part_row){ .part = 0, .node = 1, .epoch = 0 };
	return m;
}

/* --- texts --- */

struct str text_dup(struct str s)
{
	return s.p ? (struct str){ memcpy(must_realloc(NULL, s.n), s.p, s.n), s.n } : s;
}

void text_free(struct str *s)
{
	free((char *)s->p);
	*s = (struct str){ 0 };
}

void text_set(struct str *to, struct str s)
{
	if (s.p)
		text_replace(to, s);
}

void text_replace(struct str *to, struct str s)
{
	free((char *)to->p);
	*to = text_dup(s);
}

void text_set_note(struct str *to, struct str s)
{
	text_set(to, s);
	if (to->p && !to->n)
		text_free(to);
}

bool text_fits(struct str s)
{
	return s.n <= STORE_PROBLEM_BYTES_MAX;
}

/* --- rows with texts --- */

typedef void text_fn(struct str *s);

static void each_sched_text(struct model_sched *s, text_fn *fn)
{
	fn(&s->id);
	fn(&s->document);
	fn(&s->source.from);
	fn(&s->note);
	for (unsigned i = 0; i < s->versions; i++)
		fn(&s->version[i].text);
}

static void each_memory_text(struct memory_row *row, text_fn *fn)
{
	fn(&row->agent);
	fn(&row->text);
	fn(&row->tags);
}

static void each_message_text(struct message_row *row, text_fn *fn)
{
	fn(&row->origin);
	fn(&row->target);
	fn(&row->body);
	fn(&row->result);
}

static void each_problem_text(struct problem_row *p, text_fn *fn)
{
	fn(&p->key);
	fn(&p->subject);
	fn(&p->text);
	fn(&p->by);
	fn(&p->note);
}

/* Every text that the model owns. */
static void each_text(struct model *m, text_fn *fn)
{
	for (unsigned i = 0; i < m->scheds; i++)
		each_sched_text(&m->sched[i], fn);
	for (unsigned i = 0; i < m->holds; i++)
		fn(&m->hold[i].note);
	for (unsigned i = 0; i < m->names; i++)
		fn(&m->name[i].text);
	for (unsigned i = 0; i < m->run_texts; i++)
		fn(&m->run_text[i].text);
	for (unsigned i = 0; i < m->states; i++) {
		fn(&m->state[i].row.key);
		fn(&m->state[i].row.text);
	}
	for (unsigned i = 0; i < m->memories; i++)
		each_memory_text(&m->memory[i], fn);
	for (unsigned i = 0; i < m->agents; i++) {
		fn(&m->agent[i].row.name);
		fn(&m->agent[i].row.text);
		fn(&m->agent[i].source.from);
	}
	for (unsigned i = 0; i < m->messages; i++)
		each_message_text(&m->message[i], fn);
	for (unsigned i = 0; i < m->problems; i++)
		each_problem_text(&m->problem[i], fn);
	for (unsigned i = 0; i < m->events; i++)
		fn(&m->event[i].row.text);
}

void free_sched(struct model_sched *s)
{
	each_sched_text(s, text_free);
	free(s->range);
	free(s->version);
}

void free_memory(struct memory_row *row)
{
	each_memory_text(row, text_free);
}

void free_message(struct message_row *row)
{
	each_message_text(row, text_free);
	*row = (struct message_row){ 0 };
}

void free_problem(struct problem_row *p)
{
	each_problem_text(p, text_free);
	*p = (struct problem_row){ 0 };
}

/* --- clone and free --- */

static void *copy_bytes(const void *p, size_t bytes)
{
	return bytes ? memcpy(must_realloc(NULL, bytes), p, bytes) : NULL;
}
#define COPY_ARRAY(items, room) ((items) = copy_bytes((items), (room) * sizeof *(items)))

static void dup_in_place(struct str *s)
{
	*s = text_dup(*s);
}

struct model *model_clone(const struct model *m)
{
	struct model *c = copy_bytes(m, sizeof *m);
	COPY_ARRAY(c->sched, c->sched_room);
	for (unsigned i = 0; i < c->scheds; i++) {
		COPY_ARRAY(c->sched[i].range, c->sched[i].range_room);
		COPY_ARRAY(c->sched[i].version, c->sched[i].version_room);
	}
	COPY_ARRAY(c->run, c->run_room);
	COPY_ARRAY(c->open, c->open_room);
	COPY_ARRAY(c->hold, c->hold_room);
	COPY_ARRAY(c->name, c->name_room);
	COPY_ARRAY(c->run_text, c->run_text_room);
	COPY_ARRAY(c->avoided, c->avoided_room);
	COPY_ARRAY(c->state, c->state_room);
	COPY_ARRAY(c->memory, c->memory_room);
	COPY_ARRAY(c->agent, c->agent_room);
	COPY_ARRAY(c->news, c->news_room);
	COPY_ARRAY(c->message, c->message_room);
	COPY_ARRAY(c->problem, c->problem_room);
	COPY_ARRAY(c->part, c->part_room);
	COPY_ARRAY(c->event, c->event_room);
	each_text(c, dup_in_place);
	c->by_sid = number_map_clone(&m->by_sid);
	c->by_run = number_map_clone(&m->by_run);
	c->by_nominal = number_map_clone(&m->by_nominal);
	return c;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	each_text(m, text_free);
	for (unsigned i = 0; i < m->scheds; i++) {
		free(m->sched[i].range);
		free(m->sched[i].version);
	}
	void *const arrays[] = { m->sched,    m->run,     m->open,    m->hold,  m->name,
				 m->run_text, m->avoided, m->state,   m->agent, m->memory,
				 m->news,     m->message, m->problem, m->part,  m->event };
	for (unsigned i = 0; i < ARRAY_LEN(arrays); i++)
		free(arrays[i]);
	map_free(&m->by_sid);
	map_free(&m->by_run);
	map_free(&m->by_nominal);
	free(m);
}

void model_mark_restored(struct model *m, struct wall now, uint64_t last_run)
{
	if (m->restored.us < now.us) /* an earlier restore may have been by a clock that was ahead */
		m->restored = now;
	m->restored_run = m->last_run;
	if (last_run > m->last_run)
		m->last_run = last_run;
	/* Readers know events that the copy does not contain: at most one for each microsecond. */
	const struct event_row *last = m->events ? &m->event[m->events - 1].row : NULL;
	if (last && now.us > last->at.us)
		m->last_event += (uint64_t)(now.us - last->at.us);
}

/* --- finding rows --- */

struct model_sched *find_sched(const struct model *m, uint64_t sid)
{
	uint32_t i;
	return number_map_get(&m->by_sid, sid, &i) ? &m->sched[i] : NULL;
}

struct model_run *find_run(const struct model *m, uint64_t run)
{
	uint32_t i;
	return number_map_get(&m->by_run, run, &i) ? &m->run[i] : NULL;
}

struct model_run *find_occurrence(const struct model *m, uint64_t sid, struct wall nominal)
{
	uint32_t i;
	if (!number_map_get(&m->by_nominal, hash_pair(sid, (uint64_t)nominal.us), &i))
		return NULL;
	struct model_run *found = &m->run[i];
	assert(found->row.sid == sid && found->row.nominal.us == nominal.us);
	return found;
}

void update_open(struct model *m, struct model_run *x)
{
	bool open = run_is_open(&x->row);
	if (open && x->open_at == UINT32_MAX) {
		ADD_ROOM(m->open, m->open_room, m->opens);
		x->open_at = m->opens;
		m->open[m->opens++] = (uint32_t)(x - m->run);
	} else if (!open && x->open_at != UINT32_MAX) {
		uint32_t last = m->open[--m->opens];
		m->open[x->open_at] = last;
		m->run[last].open_at = x->open_at;
		x->open_at = UINT32_MAX;
	}
}

uint64_t last_end(const struct model *m, uint64_t sid)
{
	const struct model_sched *s = find_sched(m, sid);
	return s ? s->last_end : 0;
}

void remove_run(struct model *m, struct model_run *x)
{
	x->removed = true;
	number_map_remove(&m->by_run, x->row.run);
	if (x->row.kind != KIND_MANUAL)
		number_map_remove(&m->by_nominal, hash_pair(x->row.sid, (uint64_t)x->row.nominal.us));
}

/* --- the table of operations --- */

enum answers_row { ROW_NONE, ROW_OF_SCHEDULE, ROW_OF_RUN };
static const struct {
	model_fn *carry_out;
	enum answers_row row; /* the schedule's row in the answer */
} operations[] = {
	[ST_PUT] = { apply_put, ROW_OF_SCHEDULE },
	[ST_DROP] = { apply_drop, ROW_OF_SCHEDULE },
	[ST_OCC] = { apply_occ, ROW_OF_SCHEDULE },
	[ST_RANGE] = { apply_range, ROW_OF_SCHEDULE },
	[ST_WITHDRAW] = { apply_withdraw, ROW_OF_SCHEDULE },
	[ST_VERDICT] = { apply_verdict, ROW_OF_RUN },
	[ST_STARTED] = { apply_started, ROW_OF_RUN },
	[ST_FINISH] = { apply_finish, ROW_OF_RUN },
	[ST_HOLD] = { apply_hold, ROW_NONE },
	[ST_PROBLEM] = { apply_problem, ROW_NONE },
	[ST_NAME] = { apply_name, ROW_NONE },
	[ST_SOURCE] = { apply_source, ROW_OF_SCHEDULE },
	[ST_RUN_TEXT] = { apply_run_text, ROW_NONE },
	[ST_STATE] = { apply_state, ROW_NONE },
	[ST_MEMORY] = { apply_memory, ROW_NONE },
	[ST_AGENT] = { apply_agent, ROW_NONE },
	[ST_MESSAGES] = { apply_messages, ROW_NONE },
	[ST_DELIVERY] = { apply_delivery, ROW_NONE },
	[ST_REPORT] = { apply_report, ROW_OF_RUN },
	[ST_PRUNE] = { apply_prune, ROW_OF_SCHEDULE },
	[ST_NUMBERS] = { apply_numbers, ROW_NONE },
	[ST_TAKE] = { apply_take, ROW_NONE },
	[ST_KEY] = { apply_key, ROW_NONE },
};
static_assert(ARRAY_LEN(operations) == ST_OPS, "every operation is in the table");

void model_apply(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	assert(q->op < ST_OPS);
	*ret = (struct st_ack){ .tag = q->tag, .op = q->op, .run = q->run.run };
	enum answers_row row = operations[q->op].row;
	const struct model_run *x = row == ROW_OF_RUN ? find_run(m, q->run.run) : NULL;
	uint64_t sid = x ? x->row.sid : q->sid;
	if (OWNER_OPS >> q->op & 1 && is_fenced(m, q, find_sched(m, sid))) {
		ret->res = ST_FENCED;
		return;
	}
	uint64_t last_event = m->last_event;
	m->request_first_event = last_event + 1;
	ret->res = operations[q->op].carry_out(m, q, ret);
	if (m->last_event > last_event)
		ret->event = m->last_event;
	const struct model_sched *s = row == ROW_NONE ? NULL : find_sched(m, sid);
	if (s && !s->dropped) {
		ret->has_row = true;
		ret->row = s->row;
	}
}

/* --- queries for tests --- */

const struct model_sched *model_sched(const struct model *m, uint64_t sid)
{
	return find_sched(m, sid);
}

const struct run_row *model_run(const struct model *m, uint64_t run)
{
	const struct model_run *x = find_run(m, run);
	return x ? &x->row : NULL;
}

const struct run_row *model_occurrence(const struct model *m, uint64_t sid, struct wall nominal)
{
	const struct model_run *x = find_occurrence(m, sid, nominal);
	return x ? &x->row : NULL;
}

const struct hold_row *model_hold(const struct model *m, uint32_t key)
{
	for (unsigned i = 0; i < m->holds; i++)
		if (m->hold[i].row.key == key)
			return &m->hold[i].row;
	return NULL;
}

uint64_t model_avoided(const struct model *m, uint64_t sid)
{
	for (unsigned i = 0; i < m->avoided_n; i++)
		if (m->avoided[i].sid == sid && m->avoided[i].since == AVOIDED_EVER)
			return m->avoided[i].n;
	return 0;
}

static uint64_t hash_sched(uint64_t h, const struct model_sched *s)
{
	h = hash_pair(h, s->row.sid);
	h = hash_pair(h, s->row.rev + ((uint64_t)s->row.flags << 32) + s->dropped);
	h = hash_pair(h, (uint64_t)s->row.next.us);
	h = hash_pair(h, (uint64_t)s->row.high.us);
	h = hash_pair(h, (uint64_t)s->row.next_set_at.us);
	h = hash_pair(h, s->row.seen);
	h = hash_pair(h, s->row.left + ((uint64_t)s->row.failures << 32));
	uint64_t ranges = 0; /* a sum, because the order of ranges does not matter */
	for (unsigned i = 0; i < s->ranges; i++)
		ranges += hash_pair(hash_pair((uint64_t)s->range[i].first.us, (uint64_t)s->range[i].last.us),
				    s->range[i].reason);
	return hash_pair(h, ranges);
}

uint64_t model_digest(const struct model *m)
{
	uint64_t h = 1;
	for (unsigned i = 0; i < m->scheds; i++)
		h = hash_sched(h, &m->sched[i]);
	for (unsigned i = 0; i < m->runs; i++) {
		const struct run_row *x = &m->run[i].row;
		if (m->run[i].removed)
			continue;
		h = hash_pair(h, x->run);
		h = hash_pair(h, hash_pair(x->sid, (uint64_t)x->nominal.us));
		h = hash_pair(h, x->state + 16u * x->outcome + 256u * x->attempt + 65536u * x->reason);
		h = hash_pair(h, (uint64_t)x->ended.us);
		h = hash_pair(h, x->end);
	}
	return h;
}
