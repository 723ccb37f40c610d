#include "store/sqlite/write/problem.h"
#include "store/sqlite/db.h"
#include "store/sqlite/write/message.h"

/* What an act is decided by. */
struct problem {
	bool there;
	uint64_t number;
	int64_t count, said, acked, closed;
};

static int read_problem(sqlite3_stmt *s, struct problem *ret)
{
	int rc = sqlite3_step(s);
	*ret = (struct problem){ .there = rc == SQLITE_ROW };
	if (ret->there) {
		ret->number = (uint64_t)sqlite3_column_int64(s, 0);
		ret->count = sqlite3_column_int64(s, 1);
		ret->said = sqlite3_column_int64(s, 2);
		ret->acked = sqlite3_column_int64(s, 3);
		ret->closed = sqlite3_column_int64(s, 4);
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* The one that is meant. */
static int find(struct sql_set *sql, const struct problem_change *p, struct problem *ret)
{
	sqlite3_stmt *s = sql->stmt[p->number ? SQL_PROBLEM_GET : SQL_PROBLEM_OF];
	int rc = SQLITE_OK;
	if (p->number)
		DB_BIND(s, (int64_t)p->number);
	else
		rc = db_bind_text(s, 1, p->key);
	return rc == SQLITE_OK ? read_problem(s, ret) : rc;
}

/* Steps a statement to which texts were bound; they are about to go. */
static int finish(sqlite3_stmt *s, int bound)
{
	int rc = bound == SQLITE_OK ? db_step(s) : bound;
	sqlite3_clear_bindings(s);
	return rc;
}

static int say_again(struct sql_set *sql, const struct st_req *r, struct problem *p)
{
	sqlite3_stmt *s = sql->stmt[SQL_PROBLEM_SAY];
	p->count += p->count < UINT32_MAX;
	DB_BIND(s, (int64_t)p->number, p->count, r->at.us);
	return finish(s, db_bind_text(s, 4, r->problem.text));
}

static int add(struct sql_set *sql, const struct st_req *r, struct problem *ret)
{
	sqlite3_stmt *last = sql->stmt[SQL_PROBLEM_LAST], *s = sql->stmt[SQL_PROBLEM_ADD];
	int rc = sqlite3_step(last);
	int64_t number = sqlite3_column_int64(last, 0) + 1;
	sqlite3_reset(last);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? SQLITE_CORRUPT : rc; /* the schema puts it there */
	DB_BIND(sql->stmt[SQL_PROBLEM_GIVE], number);
	rc = db_step(sql->stmt[SQL_PROBLEM_GIVE]);
	if (rc != SQLITE_OK)
		return rc;
	*ret = (struct problem){ .there = true, .number = (uint64_t)number, .count = 1 };
	DB_BIND(s, number, r->at.us);
	rc = db_bind_text(s, 3, r->problem.key);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 4, r->problem.subject);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 5, r->problem.text);
	rc = finish(s, rc);
	return rc == SQLITE_OK ? news_add(sql, r, 0, 0, ret->number) : rc;
}

static int act_open(struct sql_set *sql, const struct st_req *r, struct problem *p, struct st_ack *ret)
{
	(void)ret;
	if (p->there && p->said == r->at.us)
		return SQLITE_OK; /* mine */
	return p->there && p->closed == INT64_MAX ? say_again(sql, r, p) : add(sql, r, p);
}

static int act_ack(struct sql_set *sql, const struct st_req *r, struct problem *p, struct st_ack *ret)
{
	sqlite3_stmt *s = sql->stmt[SQL_PROBLEM_ACK];
	if (p->acked == r->at.us)
		return SQLITE_OK; /* mine */
	if (p->acked != INT64_MAX || p->closed != INT64_MAX) {
		ret->res = ST_LOST;
		return SQLITE_OK;
	}
	DB_BIND(s, (int64_t)p->number, r->at.us);
	int rc = db_bind_text(s, 3, r->problem.by);
	if (rc == SQLITE_OK)
		rc = db_bind_text(s, 4, r->problem.note);
	return finish(s, rc);
}

static int act_close(struct sql_set *sql, const struct st_req *r, struct problem *p, struct st_ack *ret)
{
	sqlite3_stmt *s = sql->stmt[SQL_PROBLEM_CLOSE];
	(void)ret;
	if (p->closed != INT64_MAX)
		return SQLITE_OK; /* mine, or as good as mine */
	DB_BIND(s, (int64_t)p->number, r->at.us);
	int rc = db_step(s);
	return rc == SQLITE_OK ? news_add(sql, r, 0, 0, p->number) : rc;
}

static bool fits(struct str s)
{
	return s.n <= STORE_PROBLEM_BYTES_MAX;
}

static bool can_be(const struct st_req *r)
{
	const struct problem_change *p = &r->problem;
	bool named = p->key.n > 0 || (p->act != PROBLEM_OPEN && p->number);
	return p->act < PROBLEM_ACTS && named && r->at.us != INT64_MAX && fits(p->key) && fits(p->subject) &&
	       fits(p->text) && fits(p->by) && fits(p->note);
}

int problem_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	static int (*const acts[])(struct sql_set *, const struct st_req *, struct problem *,
				   struct st_ack *) = {
		[PROBLEM_OPEN] = act_open,
		[PROBLEM_ACK] = act_ack,
		[PROBLEM_CLOSE] = act_close,
	};
	static_assert(ARRAY_LEN(acts) == PROBLEM_ACTS, "every act is here");
	struct problem_change said = r->problem;
	struct problem p;
	if (!can_be(r)) {
		ret->res = ST_REFUSED;
		return SQLITE_OK;
	}
	if (said.act == PROBLEM_OPEN)
		said.number = 0;
	int rc = find(sql, &said, &p);
	if (rc != SQLITE_OK)
		return rc;
	if (!p.there && said.act != PROBLEM_OPEN) {
		ret->res = ST_REFUSED;
		return SQLITE_OK;
	}
	rc = acts[said.act](sql, r, &p, ret);
	ret->problem = p.number;
	ret->count = (uint32_t)p.count;
	return rc;
}
