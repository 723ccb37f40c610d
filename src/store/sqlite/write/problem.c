/* ST_PROBLEM: opens, acknowledges and closes problems. */
#include "store/sqlite/write/operations.h"

/* The columns on which the answer to a request depends. */
struct stored_problem {
	bool found;
	uint64_t number;
	int64_t count, last_reported, acked, closed;
};

/* The problem with the request's number, else the last one with its key. */
static int find_problem(struct operation *o, struct stored_problem *ret)
{
	const struct problem_change *p = &o->r->problem;
	bool by_number = p->number && p->act != PROBLEM_OPEN;
	sqlite3_stmt *s = o->sql->stmt[by_number ? SQL_PROBLEM_GET : SQL_PROBLEM_LAST_OF];
	int rc = by_number ? sqlite3_bind_int64(s, 1, (int64_t)p->number) : db_bind_text(s, 1, p->key);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	*ret = (struct stored_problem){ .found = rc == SQLITE_ROW };
	if (ret->found) {
		ret->number = (uint64_t)sqlite3_column_int64(s, 0);
		ret->count = sqlite3_column_int64(s, 1);
		ret->last_reported = sqlite3_column_int64(s, 2);
		ret->acked = sqlite3_column_int64(s, 3);
		ret->closed = sqlite3_column_int64(s, 4);
	}
	return db_looked(db_leave(s, rc));
}

static int repeat_problem(struct operation *o, struct stored_problem *p)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_PROBLEM_REPEAT];
	p->count += p->count < UINT32_MAX;
	DB_BIND(s, (int64_t)p->number, p->count, o->r->at.us);
	return db_step_bound(s, db_bind_text(s, 4, o->r->problem.text));
}

static int add_problem(struct operation *o, struct stored_problem *ret)
{
	const struct problem_change *p = &o->r->problem;
	sqlite3_stmt *s = o->sql->stmt[SQL_PROBLEM_ADD];
	bool found;
	int64_t number = 0;
	int rc = operation_has_row(o, SQL_PROBLEM_LAST, &found, &number);
	if (rc != SQLITE_OK || !found)
		return rc != SQLITE_OK ? rc : SQLITE_CORRUPT; /* the schema inserts this row */
	rc = OP_RUN(o, SQL_PROBLEM_SET_LAST, ++number);
	if (rc != SQLITE_OK)
		return rc;
	*ret = (struct stored_problem){ .found = true, .number = (uint64_t)number, .count = 1 };
	DB_BIND(s, number, o->r->at.us);
	rc = db_step_bound(s, DB_BIND_TEXTS(s, 3, p->key, p->subject, p->text));
	if (rc == SQLITE_OK)
		rc = operation_add_news(o, 0, 0, ret->number);
	/* A later report of the same problem replaces its text. */
	const struct event_row opened = { .subject = ret->number, .text = p->text };
	return rc == SQLITE_OK ? operation_log(o, EVENT_PROBLEM_OPENED, &opened) : rc;
}

static int open_problem(struct operation *o, struct stored_problem *p)
{
	if (p->found && p->last_reported == o->r->at.us)
		return SQLITE_OK; /* repeated */
	return p->found && p->closed == INT64_MAX ? repeat_problem(o, p) : add_problem(o, p);
}

static int ack_problem(struct operation *o, struct stored_problem *p)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_PROBLEM_ACK];
	if (p->acked == o->r->at.us)
		return SQLITE_OK; /* repeated */
	if (p->acked != INT64_MAX || p->closed != INT64_MAX)
		return operation_answer(o, ST_LOST);
	DB_BIND(s, (int64_t)p->number, o->r->at.us);
	int rc = db_step_bound(s, DB_BIND_TEXTS(s, 3, o->r->problem.by, o->r->problem.note));
	const struct event_row acked = { .subject = p->number };
	return rc == SQLITE_OK ? operation_log(o, EVENT_PROBLEM_ACKNOWLEDGED, &acked) : rc;
}

static int close_problem(struct operation *o, struct stored_problem *p)
{
	if (p->closed != INT64_MAX)
		return SQLITE_OK; /* repeated, or closed by another request */
	int rc = OP_RUN(o, SQL_PROBLEM_CLOSE, (int64_t)p->number, o->r->at.us);
	if (rc == SQLITE_OK)
		rc = operation_add_news(o, 0, 0, p->number);
	const struct event_row closed = { .subject = p->number };
	return rc == SQLITE_OK ? operation_log(o, EVENT_PROBLEM_CLOSED, &closed) : rc;
}

static bool fits(struct str s)
{
	return s.n <= STORE_PROBLEM_BYTES_MAX;
}

static bool is_valid_problem(const struct st_req *r)
{
	const struct problem_change *p = &r->problem;
	bool named = p->key.n > 0 || (p->act != PROBLEM_OPEN && p->number);
	return p->act < PROBLEM_ACTS && named && r->at.us != INT64_MAX && fits(p->key) && fits(p->subject) &&
	       fits(p->text) && fits(p->by) && fits(p->note);
}

int write_problem(struct operation *o)
{
	static int (*const acts[])(struct operation *, struct stored_problem *) = {
		[PROBLEM_OPEN] = open_problem,
		[PROBLEM_ACK] = ack_problem,
		[PROBLEM_CLOSE] = close_problem,
	};
	static_assert(ARRAY_LEN(acts) == PROBLEM_ACTS, "every act is in the table");
	struct stored_problem p;
	if (!is_valid_problem(o->r))
		return operation_answer(o, ST_REFUSED);
	int rc = find_problem(o, &p);
	if (rc != SQLITE_OK)
		return rc;
	if (!p.found && o->r->problem.act != PROBLEM_OPEN)
		return operation_answer(o, ST_REFUSED);
	rc = acts[o->r->problem.act](o, &p);
	o->ack->problem = p.number;
	o->ack->count = (uint32_t)p.count;
	return rc;
}
