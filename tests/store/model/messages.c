/* News, ST_MESSAGES and ST_DELIVERY. */
#include "model/inner.h"

void add_news(struct model *m, const struct st_req *q, struct news_row about)
{
	if (!q->news)
		return;
	ADD_ROOM(m->news, m->news_room, m->news_n);
	about.number = ++m->last_news;
	about.what = q->news;
	m->news[m->news_n++] = about;
}

static bool message_fits(const struct message_row *row)
{
	const struct str *texts[] = { &row->origin, &row->target, &row->body, &row->result };
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i]->n > STORE_MESSAGE_BYTES_MAX)
			return false;
	return row->state < MESSAGE_STATES;
}

static bool is_valid_batch(const struct message_batch *t)
{
	if (t->n > STORE_MESSAGES_MAX || (!t->n && !t->news_upto) || t->news_upto > INT64_MAX)
		return false;
	for (unsigned i = 0; i < t->n; i++) {
		const struct message_row *row = &t->message[i];
		if (!message_fits(row) || !row->origin.p || !row->target.p || !row->body.p ||
		    (row->joined && i == 0))
			return false;
	}
	return true;
}

static const struct message_row *last_message(const struct model *m)
{
	for (unsigned i = m->messages; i > 0; i--)
		if (m->message[i - 1].number)
			return &m->message[i - 1];
	return NULL;
}

/* `whole`: the number of the last message that is not joined to another. */
static void add_message(struct model *m, const struct message_row *row, struct wall at, uint64_t *whole)
{
	ADD_ROOM(m->message, m->message_room, m->messages);
	struct message_row *to = &m->message[m->messages++];
	*to = *row;
	to->number = m->messages;
	to->at = at;
	to->origin = text_dup(row->origin);
	to->target = text_dup(row->target);
	to->body = text_dup(row->body);
	to->result = text_dup(row->result);
	to->joined = row->joined ? *whole : 0;
	if (!row->joined)
		*whole = to->number;
	m->request_first_event = m->last_event + 1; /* each message has an event of its own */
	if (!row->silent)
		log_event(m, EVENT_MESSAGE_CREATED,
			  (struct event_row){ .sid = row->sid, .run = row->run, .subject = to->number });
}

static void remove_news(struct model *m, uint64_t upto)
{
	unsigned n = 0;
	while (n < m->news_n && m->news[n].number <= upto)
		n++;
	if (n)
		memmove(m->news, m->news + n, (m->news_n - n) * sizeof *m->news);
	m->news_n -= n;
}

uint8_t apply_messages(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct message_batch *t = &q->messages;
	const struct message_row *last = last_message(m);
	uint64_t whole = 0;
	(void)ret;
	if (!is_valid_batch(t))
		return ST_REFUSED;
	if (t->news_upto ? !m->news_n || m->news[0].number > t->news_upto
			 : last && same_wall(last->at, q->at))
		return ST_OK; /* repeated */
	for (unsigned i = 0; i < t->n; i++)
		add_message(m, &t->message[i], q->at, &whole);
	remove_news(m, t->news_upto);
	return ST_OK;
}

uint8_t apply_delivery(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	const struct message_row *end = &q->delivery;
	(void)ret;
	if (!end->number || end->number > m->messages || !m->message[end->number - 1].number ||
	    !message_fits(end))
		return ST_REFUSED;
	struct message_row *row = &m->message[end->number - 1];
	if (row->attempts == end->attempts && same_wall(row->tried_at, q->at))
		return ST_OK; /* repeated */
	if (row->state != MESSAGE_WAITING || end->attempts < row->attempts ||
	    end->attempts > row->attempts + 1)
		return ST_LOST;
	row->state = end->state;
	row->attempts = end->attempts;
	row->tried_at = q->at;
	row->next = end->next;
	text_replace(&row->result, end->result);
	const struct event_row about = { .sid = row->sid, .run = row->run, .subject = row->number };
	if (row->state == MESSAGE_DELIVERED && !end->silent)
		log_event(m, EVENT_MESSAGE_DELIVERED, about);
	else if (row->state != MESSAGE_DELIVERED && row->state != MESSAGE_WAITING)
		log_event(m, EVENT_MESSAGE_GIVEN_UP, about);
	return ST_OK;
}
