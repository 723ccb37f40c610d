#include "store/sqlite/write/agent.h"
#include "store/sqlite/db.h"

/* What stands. */
struct standing {
	uint32_t rev; /* 0: there never was one */
	int64_t at;
	bool there;
};

static int find(struct sql_set *sql, struct str name, struct standing *ret)
{
	sqlite3_stmt *s = sql->stmt[SQL_AGENT_GET];
	int rc = db_bind_text(s, 1, name);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	*ret = (struct standing){ 0 };
	if (rc == SQLITE_ROW)
		*ret = (struct standing){ (uint32_t)sqlite3_column_int64(s, 0), sqlite3_column_int64(s, 1),
					  sqlite3_column_int(s, 2) };
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Texts stand behind `at` numbers, and are about to go. */
static int step_with(sqlite3_stmt *s, int at, const struct str *text, unsigned n)
{
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
		rc = db_bind_text(s, at + 1 + (int)i, text[i]);
	if (rc == SQLITE_OK)
		rc = db_step(s);
	sqlite3_clear_bindings(s);
	return rc;
}

static int move(struct sql_set *sql, const struct st_req *r)
{
	sqlite3_stmt *s = sql->stmt[SQL_AGENT_MOVE];
	const struct str text[] = { r->agent.name, r->source.from };
	DB_BIND(s, r->source.line);
	return step_with(s, 1, text, ARRAY_LEN(text));
}

/* A removed one keeps nothing but its rev. */
static int put(struct sql_set *sql, const struct st_req *r, uint32_t rev)
{
	sqlite3_stmt *s = sql->stmt[SQL_AGENT_PUT];
	bool goes = r->agent.act == AGENT_DROP;
	const struct str none = { 0 }, text[] = { r->agent.name, goes ? none : r->agent.text,
						  goes ? none : r->source.from };
	DB_BIND(s, rev, r->at.us, goes ? 0 : r->source.line);
	return step_with(s, 3, text, ARRAY_LEN(text));
}

int agent_carry_out(struct sql_set *sql, const struct st_req *r, struct st_ack *ret)
{
	const struct agent_row *q = &r->agent;
	struct standing now;
	ret->res = ST_REFUSED;
	if (!q->name.n || q->name.n > STORE_PROBLEM_BYTES_MAX || q->rev == UINT32_MAX ||
	    q->act >= AGENT_ACTS || (q->act == AGENT_PUT && !q->text.p))
		return SQLITE_OK;
	int rc = find(sql, q->name, &now);
	if (rc != SQLITE_OK)
		return rc;
	bool mine = q->act != AGENT_MOVE && now.rev == q->rev + 1 && now.at == r->at.us;
	bool good = now.rev == q->rev && (now.there || q->act == AGENT_PUT);
	ret->res = mine || good ? ST_OK : now.rev != q->rev ? ST_STALE : ST_REFUSED;
	ret->count = now.rev + (good && q->act != AGENT_MOVE);
	if (!good)
		return SQLITE_OK;
	return q->act == AGENT_MOVE ? move(sql, r) : put(sql, r, ret->count);
}
