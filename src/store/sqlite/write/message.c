#include "store/sqlite/write/message.h"
#include "store/sqlite/db.h"

int news_add(struct sql_set *sql, const struct st_req *r, uint64_t sid, uint64_t run, uint64_t problem)
{
	sqlite3_stmt *s = sql->stmt[SQL_NEWS_ADD];
	bool range = r->op == ST_RANGE, attempt = r->op == ST_STARTED || r->op == ST_FINISH;
	if (!r->news)
		return SQLITE_OK;
	DB_BIND(s, r->news, attempt ? r->run.attempt : 0, sid, run, problem, range ? r->range.first.us : 0,
		range ? r->range.last.us : 0);
	return db_step(s);
}

static int one_number(sqlite3_stmt *s, int64_t *ret)
{
	int rc = sqlite3_step(s);
	*ret = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_reset(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static bool fits(const struct message_row *n)
{
	return n->origin.n <= STORE_MESSAGE_BYTES_MAX && n->target.n <= STORE_MESSAGE_BYTES_MAX &&
	       n->body.n <= STORE_MESSAGE_BYTES_MAX && n->result.n <= STORE_MESSAGE_BYTES_MAX &&
	       n->state < MESSAGE_STATES;
}

static bool can_be(const struct message_batch *t)
{
	for (unsigned i = 0; i < t->n && i < STORE_MESSAGES_MAX; i++)
		if (!fits(&t->message[i]) || !t->message[i].origin.p || !t->message[i].target.p ||
		    !t->message[i].body.p || (t->message[i].joined && !i))
			return false;
	return t->n <= STORE_MESSAGES_MAX && t->news_upto <= INT64_MAX && (t->news_upto || t->n);
}

static int put(struct sql_set *sql, const struct message_row *n, struct wall at, int64_t *whole,
	       struct st_ack *ret)
{
	const struct str texts[] = { n->origin, n->target, n->body, n->result };
	sqlite3_stmt *s = sql->stmt[SQL_NOTICE_ADD];
	int rc = SQLITE_OK;
	DB_BIND(s, n->kind, n->state, n->attempts, n->sid, n->run, n->problem, n->joined ? *whole : 0,
		(int64_t)n->receiver, at.us, n->tried_at.us, n->next.us);
	for (unsigned i = 0; i < ARRAY_LEN(texts) && rc == SQLITE_OK; i++)
		rc = db_bind_text(s, 12 + (int)i, texts[i]);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s);
	int64_t number = sqlite3_last_insert_rowid(sql->db);
	if (!n->joined)
		*whole = number;
	if (!ret->message)
		ret->message = (uint64_t)number;
	return rc;
}

int tell_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	const struct message_batch *t = &r->messages;
	sqlite3_stmt *first = sql->stmt[SQL_NEWS_FIRST], *last = sql->stmt[SQL_NOTICE_LAST];
	int64_t n = 0, whole = 0;
	if (!can_be(t)) {
		ret->res = ST_REFUSED;
		return SQLITE_OK;
	}
	int rc = one_number(t->news_upto ? first : last, &n);
	bool mine = t->news_upto ? !n || (uint64_t)n > t->news_upto : n == r->at.us && n;
	if (rc != SQLITE_OK || mine)
		return rc;
	for (unsigned i = 0; i < t->n && rc == SQLITE_OK; i++)
		rc = put(sql, &t->message[i], r->at, &whole, ret);
	if (rc != SQLITE_OK || !t->news_upto)
		return rc;
	DB_BIND(sql->stmt[SQL_NEWS_DROP], (int64_t)t->news_upto);
	return db_step(sql->stmt[SQL_NEWS_DROP]);
}

int tried_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	const struct message_row *n = &r->delivery;
	sqlite3_stmt *get = sql->stmt[SQL_NOTICE_GET], *s = sql->stmt[SQL_NOTICE_TRIED];
	DB_BIND(get, (int64_t)n->number);
	int rc = sqlite3_step(get);
	bool there = rc == SQLITE_ROW;
	int64_t state = sqlite3_column_int64(get, 0), attempts = sqlite3_column_int64(get, 1),
		tried = sqlite3_column_int64(get, 2);
	sqlite3_reset(get);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return rc;
	if (!there || !fits(n))
		ret->res = ST_REFUSED;
	else if (attempts == n->attempts && tried == r->at.us)
		return SQLITE_OK; /* mine */
	else if (state != MESSAGE_WAITING || (n->attempts != attempts && n->attempts != attempts + 1))
		ret->res = ST_LOST;
	if (ret->res != ST_OK)
		return SQLITE_OK;
	DB_BIND(s, (int64_t)n->number, n->state, n->attempts, r->at.us, n->next.us);
	rc = db_bind_text(s, 6, n->result);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s);
	return rc;
}
