/* ST_AGENT and ST_STATE: the definitions and the state texts of agents. */
#include "store/sqlite/write/operations.h"

/* The stored row of a name or key. */
struct stored {
	bool found;
	uint32_t rev; /* 0: there never was one */
	int64_t at;
	bool has_text;
};

/* Reads by statement `which`, SQL_AGENT_GET or SQL_STATE_GET: rev, `at`, and whether there is a text. */
static int read_stored(struct operation *o, enum write_statement which, struct str name, struct stored *ret)
{
	sqlite3_stmt *s = o->sql->stmt[which];
	int rc = db_bind_text(s, 1, name);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	*ret = (struct stored){ 0 };
	if (rc == SQLITE_ROW)
		*ret = (struct stored){ true, (uint32_t)sqlite3_column_int64(s, 0),
					sqlite3_column_int64(s, 1), sqlite3_column_int(s, 2) };
	return db_looked(db_leave(s, rc));
}

/* --- definitions --- */

static int move_agent(struct operation *o)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_AGENT_MOVE];
	DB_BIND(s, o->r->source.line);
	return db_step_bound(s, DB_BIND_TEXTS(s, 2, o->r->agent.name, o->r->source.from));
}

/* A removed agent keeps only its name and rev. */
static int put_agent(struct operation *o, uint32_t rev)
{
	const struct st_req *r = o->r;
	sqlite3_stmt *s = o->sql->stmt[SQL_AGENT_PUT];
	bool drop = r->agent.act == AGENT_DROP;
	struct str none = { 0 };
	DB_BIND(s, rev, r->at.us, drop ? 0 : r->source.line);
	return db_step_bound(s, DB_BIND_TEXTS(s, 4, r->agent.name, drop ? none : r->agent.text,
					      drop ? none : r->source.from));
}

int write_agent(struct operation *o)
{
	const struct agent_row *q = &o->r->agent;
	struct stored now;
	if (!q->name.n || q->name.n > STORE_PROBLEM_BYTES_MAX || q->rev == UINT32_MAX ||
	    q->act >= AGENT_ACTS || (q->act == AGENT_PUT && !q->text.p))
		return operation_answer(o, ST_REFUSED);
	int rc = read_stored(o, SQL_AGENT_GET, q->name, &now);
	if (rc != SQLITE_OK)
		return rc;
	bool repeated = q->act != AGENT_MOVE && now.rev == q->rev + 1 && now.at == o->r->at.us;
	bool may = now.rev == q->rev && (now.has_text || q->act == AGENT_PUT);
	o->ack->count = now.rev + (may && q->act != AGENT_MOVE);
	if (!may)
		return operation_answer(o, repeated ? ST_OK : now.rev != q->rev ? ST_STALE : ST_REFUSED);
	return q->act == AGENT_MOVE ? move_agent(o) : put_agent(o, o->ack->count);
}

/* --- state --- */

int write_state(struct operation *o)
{
	const struct state_row *q = &o->r->state;
	sqlite3_stmt *s = o->sql->stmt[SQL_STATE_PUT];
	struct stored now;
	if (!q->key.p || !q->text.p || q->rev == UINT32_MAX || q->key.n > STORE_PROBLEM_BYTES_MAX)
		return operation_answer(o, ST_REFUSED);
	int rc = read_stored(o, SQL_STATE_GET, q->key, &now);
	if (rc != SQLITE_OK)
		return rc;
	bool repeated = now.found && now.rev == q->rev + 1 && now.at == o->r->at.us;
	o->ack->count = now.rev;
	if (repeated || now.rev != q->rev)
		return operation_answer(o, repeated ? ST_OK : ST_STALE);
	o->ack->count = now.rev + 1;
	DB_BIND(s, now.rev + 1, o->r->at.us);
	return db_step_bound(s, DB_BIND_TEXTS(s, 3, q->key, q->text));
}
