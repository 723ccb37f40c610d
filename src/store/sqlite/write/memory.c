/* ST_MEMORY: the notes of agents. */
#include "store/sqlite/write/operations.h"

static bool is_valid_note(const struct st_req *r)
{
	const struct memory_change *m = &r->memory;
	return m->agent.n && m->agent.n <= STORE_PROBLEM_BYTES_MAX && m->text.n &&
	       m->text.n <= STORE_MEMORY_BYTES_MAX && m->tags.n <= STORE_MEMORY_TAGS_MAX &&
	       m->run <= INT64_MAX && r->at.us != INT64_MAX;
}

/* Assigns the next note number. */
static int next_note_number(struct operation *o, int64_t *ret)
{
	bool found;
	int rc = operation_has_row(o, SQL_MEMORY_LAST, &found, ret);
	if (rc != SQLITE_OK || !found)
		return rc != SQLITE_OK ? rc : SQLITE_CORRUPT; /* the schema inserts this row */
	return OP_RUN(o, SQL_MEMORY_SET_LAST, ++*ret);
}

static int add_note(struct operation *o)
{
	const struct memory_change *m = &o->r->memory;
	sqlite3_stmt *find = o->sql->stmt[SQL_MEMORY_FIND], *more = o->sql->stmt[SQL_MEMORY_HAS_MORE_THAN],
		     *add = o->sql->stmt[SQL_MEMORY_ADD];
	int64_t number = 0;
	bool found;
	if (!is_valid_note(o->r))
		return operation_answer(o, ST_REFUSED);
	DB_BIND(find, o->r->at.us, (int64_t)m->run);
	int rc = db_first_number(find, DB_BIND_TEXTS(find, 3, m->agent, m->text), &found, &number);
	o->ack->note = (uint64_t)number;
	if (rc != SQLITE_OK || found)
		return rc; /* repeated */
	DB_BIND(more, STORE_MEMORIES_MAX - 1);
	rc = db_first_number(more, db_bind_text(more, 2, m->agent), &found, NULL);
	if (rc != SQLITE_OK || found)
		return rc != SQLITE_OK ? rc : operation_answer(o, ST_REFUSED);
	rc = next_note_number(o, &number);
	if (rc != SQLITE_OK)
		return rc;
	o->ack->note = (uint64_t)number;
	DB_BIND(add, number, (int64_t)m->run, o->r->at.us);
	return db_step_bound(add, DB_BIND_TEXTS(add, 4, m->agent, m->text, m->tags));
}

static int remove_note(struct operation *o)
{
	sqlite3_stmt *s = o->sql->stmt[SQL_MEMORY_REMOVE];
	DB_BIND(s, (int64_t)o->r->memory.number);
	return db_step_bound(s, db_bind_text(s, 2, o->r->memory.agent));
}

static int remove_notes_of_run(struct operation *o)
{
	const struct memory_change *m = &o->r->memory;
	sqlite3_stmt *s = o->sql->stmt[SQL_MEMORY_REMOVE_RUN];
	if (!m->run || m->run > INT64_MAX || m->number > INT64_MAX)
		return operation_answer(o, ST_REFUSED);
	DB_BIND(s, (int64_t)m->run, (int64_t)m->number);
	return db_step_bound(s, db_bind_text(s, 3, m->agent));
}

int write_memory(struct operation *o)
{
	static int (*const acts[])(struct operation *) = {
		[MEMORY_ADD] = add_note,
		[MEMORY_REMOVE] = remove_note,
		[MEMORY_REMOVE_RUN] = remove_notes_of_run,
	};
	static_assert(ARRAY_LEN(acts) == MEMORY_ACTS, "every act is in the table");
	return o->r->memory.act < MEMORY_ACTS ? acts[o->r->memory.act](o) : operation_answer(o, ST_REFUSED);
}
