/* ST_MESSAGES and ST_DELIVERY: messages to receivers, and attempts to deliver them. */
#include "store/sqlite/write/operations.h"

static bool fits(const struct message_row *m)
{
	return m->origin.n <= STORE_MESSAGE_BYTES_MAX && m->target.n <= STORE_MESSAGE_BYTES_MAX &&
	       m->body.n <= STORE_MESSAGE_BYTES_MAX && m->result.n <= STORE_MESSAGE_BYTES_MAX &&
	       m->state < MESSAGE_STATES;
}

static bool is_valid_batch(const struct message_batch *t)
{
	for (unsigned i = 0; i < t->n && i < STORE_MESSAGES_MAX; i++)
		if (!fits(&t->message[i]) || !t->message[i].origin.p || !t->message[i].target.p ||
		    !t->message[i].body.p || (t->message[i].joined && !i))
			return false;
	return t->n <= STORE_MESSAGES_MAX && t->news_upto <= INT64_MAX && (t->news_upto || t->n);
}

/* `whole`: the number of the last message that is not joined to another. */
static int add_message(struct operation *o, const struct message_row *m, int64_t *whole)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_MESSAGE_ADD];
	DB_BIND(s, m->kind, m->state, m->attempts, m->sid, m->run, m->problem, m->joined ? *whole : 0,
		(int64_t)m->receiver, o->r->at.us, m->tried_at.us, m->next.us);
	int rc = db_step_bound(s, DB_BIND_TEXTS(s, 12, m->origin, m->target, m->body, m->result));
	int64_t number = sqlite3_last_insert_rowid(o->sql->db);
	if (!m->joined)
		*whole = number;
	if (!o->ack->message)
		o->ack->message = (uint64_t)number;
	if (rc != SQLITE_OK || m->silent)
		return rc;
	return operation_log(
		o, EVENT_MESSAGE_CREATED,
		&(struct event_row){ .sid = m->sid, .run = m->run, .subject = (uint64_t)number });
}

/* Whether the request was carried out before: its news are gone; without news, the last message has its `at`.
 */
static int is_repeated_batch(struct operation *o, bool *ret)
{
	const struct message_batch *t = &o->r->messages;
	bool found;
	int64_t n = 0;
	int rc = operation_has_row(o, t->news_upto ? SQL_NEWS_FIRST : SQL_MESSAGE_LAST, &found, &n);
	*ret = t->news_upto ? !n || (uint64_t)n > t->news_upto : n == o->r->at.us && n;
	return rc;
}

int write_messages(struct operation *o)
{
	const struct message_batch *t = &o->r->messages;
	int64_t whole = 0;
	bool repeated;
	if (!is_valid_batch(t))
		return operation_answer(o, ST_REFUSED);
	int rc = is_repeated_batch(o, &repeated);
	if (rc != SQLITE_OK || repeated)
		return rc;
	for (unsigned i = 0; i < t->n && rc == SQLITE_OK; i++)
		rc = add_message(o, &t->message[i], &whole);
	return rc == SQLITE_OK && t->news_upto ? OP_RUN(o, SQL_NEWS_REMOVE, (int64_t)t->news_upto) : rc;
}

/* Logs the end of the delivery, if it has come; `of`: the message's schedule and run. */
static int log_delivery(struct operation *o, const struct event_row *of)
{
	const struct message_row *m = &o->r->delivery;
	if (m->state == MESSAGE_WAITING || (m->state == MESSAGE_DELIVERED && m->silent))
		return SQLITE_OK;
	return operation_log(
		o, m->state == MESSAGE_DELIVERED ? EVENT_MESSAGE_DELIVERED : EVENT_MESSAGE_GIVEN_UP, of);
}

int write_delivery(struct operation *o)
{
	const struct message_row *m = &o->r->delivery;
	sqlite3_stmt *get = o->sql->stmt[SQL_MESSAGE_GET], *set = o->sql->stmt[SQL_MESSAGE_TRIED];
	struct event_row event = { .subject = m->number };
	DB_BIND(get, (int64_t)m->number);
	int rc = sqlite3_step(get);
	int64_t state = sqlite3_column_int64(get, 0), attempts = sqlite3_column_int64(get, 1),
		tried = sqlite3_column_int64(get, 2);
	event.sid = (uint64_t)sqlite3_column_int64(get, 3);
	event.run = (uint64_t)sqlite3_column_int64(get, 4);
	sqlite3_reset(get);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	if (rc == SQLITE_DONE || !fits(m))
		return operation_answer(o, ST_REFUSED);
	if (attempts == m->attempts && tried == o->r->at.us)
		return operation_answer(o, ST_OK); /* repeated */
	if (state != MESSAGE_WAITING || (m->attempts != attempts && m->attempts != attempts + 1))
		return operation_answer(o, ST_LOST);
	DB_BIND(set, (int64_t)m->number, m->state, m->attempts, o->r->at.us, m->next.us);
	rc = db_step_bound(set, db_bind_text(set, 6, m->result));
	return rc == SQLITE_OK ? log_delivery(o, &event) : rc;
}
