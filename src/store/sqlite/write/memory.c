#include "store/sqlite/write/memory.h"
#include "store/sqlite/db.h"

static int refuse(struct st_ack *ret)
{
	ret->res = ST_REFUSED;
	return SQLITE_OK;
}

/* The first column of the row of a statement that has been bound; `there`: if there is one. */
static int look(sqlite3_stmt *s, int bound, bool *there, int64_t *ret)
{
	int rc = bound == SQLITE_OK ? sqlite3_step(s) : bound;
	*there = rc == SQLITE_ROW;
	if (*there)
		*ret = sqlite3_column_int64(s, 0);
	sqlite3_reset(s);
	sqlite3_clear_bindings(s); /* the texts are about to go */
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int change(sqlite3_stmt *s, int bound)
{
	int rc = bound == SQLITE_OK ? db_step(s) : bound;
	sqlite3_clear_bindings(s);
	return rc;
}

/* From parameter `at` on. */
static int bind_texts(sqlite3_stmt *s, int at, const struct str *text, unsigned n)
{
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
		rc = db_bind_text(s, at + (int)i, text[i]);
	return rc;
}

static bool can_be(const struct st_req *r)
{
	const struct memory_change *m = &r->memory;
	return m->agent.n && m->agent.n <= STORE_PROBLEM_BYTES_MAX && m->text.n &&
	       m->text.n <= STORE_MEMORY_BYTES_MAX && m->tags.n <= STORE_MEMORY_TAGS_MAX &&
	       m->run <= INT64_MAX && r->at.us != INT64_MAX;
}

static int add(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	const struct memory_change *m = &r->memory;
	const struct str texts[] = { m->agent, m->text, m->tags };
	sqlite3_stmt *mine = sql->stmt[SQL_MEMORY_MINE], *more = sql->stmt[SQL_MEMORY_MORE],
		     *put = sql->stmt[SQL_MEMORY_ADD];
	int64_t number = 0, one;
	bool there;
	if (!can_be(r))
		return refuse(ret);
	DB_BIND(mine, r->at.us, (int64_t)m->run);
	int rc = look(mine, bind_texts(mine, 3, texts, 2), &there, &number);
	ret->note = (uint64_t)number;
	if (rc != SQLITE_OK || there)
		return rc;
	DB_BIND(more, STORE_MEMORIES_MAX - 1);
	rc = look(more, bind_texts(more, 2, texts, 1), &there, &one);
	if (rc != SQLITE_OK || there)
		return rc != SQLITE_OK ? rc : refuse(ret);

	rc = look(sql->stmt[SQL_MEMORY_LAST], SQLITE_OK, &there, &number);
	if (rc != SQLITE_OK || !there)
		return rc != SQLITE_OK ? rc : SQLITE_CORRUPT; /* the schema puts it there */
	number++;
	DB_BIND(sql->stmt[SQL_MEMORY_GIVE], number);
	rc = db_step(sql->stmt[SQL_MEMORY_GIVE]);
	if (rc != SQLITE_OK)
		return rc;
	ret->note = (uint64_t)number;
	DB_BIND(put, number, (int64_t)m->run, r->at.us);
	return change(put, bind_texts(put, 4, texts, 3));
}

static int remove_one(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	sqlite3_stmt *s = sql->stmt[SQL_MEMORY_REMOVE];
	(void)ret;
	DB_BIND(s, (int64_t)r->memory.number);
	return change(s, bind_texts(s, 2, &r->memory.agent, 1));
}

static int remove_run(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	const struct memory_change *m = &r->memory;
	sqlite3_stmt *s = sql->stmt[SQL_MEMORY_RUN_REMOVE];
	if (!m->run || m->run > INT64_MAX || m->number > INT64_MAX)
		return refuse(ret);
	DB_BIND(s, (int64_t)m->run, (int64_t)m->number);
	return change(s, bind_texts(s, 3, &m->agent, 1));
}

int memory_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	static int (*const acts[])(struct sql_set *, const struct st_req *, struct st_ack *) = {
		[MEMORY_ADD] = add,
		[MEMORY_REMOVE] = remove_one,
		[MEMORY_REMOVE_RUN] = remove_run,
	};
	static_assert(ARRAY_LEN(acts) == MEMORY_ACTS, "every act is here");
	return r->memory.act < MEMORY_ACTS ? acts[r->memory.act](sql, r, ret) : refuse(ret);
}
