/* ST_HOLD, ST_NAME and ST_PROBLEM. */
#include "model/inner.h"

uint8_t apply_hold(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	unsigned i = 0;
	(void)ret;
	while (i < m->holds && m->hold[i].row.key != q->hold.key)
		i++;
	if (q->hold.reason == 0) {
		if (i < m->holds) {
			text_free(&m->hold[i].note);
			m->hold[i] = m->hold[--m->holds];
			log_event(m, EVENT_HOLD_FREED, (struct event_row){ .subject = q->hold.key });
		}
		return ST_OK;
	}
	if (i == m->holds || m->hold[i].row.reason != q->hold.reason ||
	    !same_wall(m->hold[i].row.until, q->hold.until))
		log_event(m, EVENT_HOLD_SET,
			  (struct event_row){
				  .subject = q->hold.key, .reason = q->hold.reason, .first = q->hold.until });
	if (i == m->holds) {
		ADD_ROOM(m->hold, m->hold_room, m->holds);
		m->hold[m->holds++] = (struct model_hold){ 0 };
	}
	m->hold[i].row = q->hold;
	text_set_note(&m->hold[i].note, q->note);
	return ST_OK;
}

/* The place of a name in the order of kind and number. */
static unsigned place_of_name(const struct model *m, const struct name_row *n)
{
	unsigned i = 0;
	while (i < m->names &&
	       (m->name[i].kind < n->kind || (m->name[i].kind == n->kind && m->name[i].number < n->number)))
		i++;
	return i;
}

uint8_t apply_name(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct name_row *n = &q->name;
	if (!n->text.p || n->text.n > STORE_NAME_BYTES_MAX)
		return ST_REFUSED;
	for (unsigned i = 0; i < m->names; i++)
		if (m->name[i].kind == n->kind && str_eq(m->name[i].text, n->text)) {
			ret->name = m->name[i].number;
			return ret->name == n->number ? ST_OK : ST_LOST;
		}
	unsigned at = place_of_name(m, n);
	if (at < m->names && m->name[at].kind == n->kind && m->name[at].number == n->number)
		return ST_COLLISION;
	ADD_ROOM(m->name, m->name_room, m->names);
	memmove(&m->name[at + 1], &m->name[at], (m->names++ - at) * sizeof *m->name);
	m->name[at] = (struct name_row){ n->kind, n->number, text_dup(n->text) };
	ret->name = n->number;
	return ST_OK;
}

/* --- problems --- */

/* The problem with the request's number, else the last one with its key. */
static struct problem_row *find_problem(const struct model *m, const struct problem_change *want)
{
	if (want->act != PROBLEM_OPEN && want->number)
		return want->number <= m->problems && m->problem[want->number - 1].number
			       ? &m->problem[want->number - 1]
			       : NULL;
	for (unsigned i = m->problems; i > 0; i--)
		if (m->problem[i - 1].number && str_eq(m->problem[i - 1].key, want->key))
			return &m->problem[i - 1];
	return NULL;
}

static struct problem_row *add_problem(struct model *m, const struct st_req *q)
{
	const struct problem_change *want = &q->problem;
	ADD_ROOM(m->problem, m->problem_room, m->problems);
	struct problem_row *p = &m->problem[m->problems++];
	*p = (struct problem_row){ .number = m->problems,
				   .count = 1,
				   .opened = q->at,
				   .last_reported = q->at,
				   .acked = WALL_NEVER,
				   .closed = WALL_NEVER,
				   .key = text_dup(want->key),
				   .subject = text_dup(want->subject),
				   .text = text_dup(want->text) };
	add_news(m, q, (struct news_row){ .problem = p->number });
	log_event(m, EVENT_PROBLEM_OPENED, (struct event_row){ .subject = p->number, .text = want->text });
	return p;
}

/* Returns the problem that is open afterwards. `p`: the last problem with this key, or NULL. */
static struct problem_row *open_problem(struct model *m, struct problem_row *p, const struct st_req *q)
{
	if (p && same_wall(p->last_reported, q->at))
		return p; /* repeated */
	if (!p || !same_wall(p->closed, WALL_NEVER))
		return add_problem(m, q);
	p->count++;
	p->last_reported = q->at;
	text_set(&p->text, q->problem.text);
	return p;
}

static uint8_t ack_problem(struct model *m, struct problem_row *p, const struct st_req *q)
{
	if (same_wall(p->acked, q->at))
		return ST_OK; /* repeated */
	if (!same_wall(p->acked, WALL_NEVER) || !same_wall(p->closed, WALL_NEVER))
		return ST_LOST;
	p->acked = q->at;
	text_set(&p->by, q->problem.by);
	text_set(&p->note, q->problem.note);
	log_event(m, EVENT_PROBLEM_ACKNOWLEDGED, (struct event_row){ .subject = p->number });
	return ST_OK;
}

static void close_problem(struct model *m, struct problem_row *p, const struct st_req *q)
{
	if (!same_wall(p->closed, WALL_NEVER))
		return;
	p->closed = q->at;
	add_news(m, q, (struct news_row){ .problem = p->number });
	log_event(m, EVENT_PROBLEM_CLOSED, (struct event_row){ .subject = p->number });
}

uint8_t apply_problem(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct problem_change *want = &q->problem;
	bool named = want->key.n || (want->act != PROBLEM_OPEN && want->number);
	if (!named || want->act >= PROBLEM_ACTS || same_wall(q->at, WALL_NEVER) || !text_fits(want->key) ||
	    !text_fits(want->subject) || !text_fits(want->text) || !text_fits(want->by) ||
	    !text_fits(want->note))
		return ST_REFUSED;
	struct problem_row *p = find_problem(m, want);
	uint8_t res = ST_OK;
	if (want->act == PROBLEM_OPEN)
		p = open_problem(m, p, q);
	else if (!p)
		return ST_REFUSED;
	else if (want->act == PROBLEM_ACK)
		res = ack_problem(m, p, q);
	else
		close_problem(m, p, q);
	ret->problem = p->number;
	ret->count = p->count;
	return res;
}
