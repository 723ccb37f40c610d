/* ST_MEMORY: the notes of agents, and memory_words, the index of their words: both change in one transaction,
 * so that they always match. */
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
	rc = db_step_bound(add, DB_BIND_TEXTS(add, 4, m->agent, m->text, m->tags));
	return rc == SQLITE_OK ? OP_RUN(o, SQL_MEMORY_INDEX, number) : rc;
}

static int remove_note(struct operation *o)
{
	const enum write_statement steps[] = { SQL_MEMORY_UNINDEX, SQL_MEMORY_REMOVE };
	int rc = SQLITE_OK;
	for (unsigned i = 0; i < ARRAY_LEN(steps) && rc == SQLITE_OK; i++) {
		sqlite3_stmt *s = o->sql->stmt[steps[i]];
		DB_BIND(s, (int64_t)o->r->memory.number);
		rc = db_step_bound(s, db_bind_text(s, 2, o->r->memory.agent));
	}
	return rc;
}

static int remove_notes_of_run(struct operation *o)
{
	const struct memory_change *m = &o->r->memory;
	const enum write_statement steps[] = { SQL_MEMORY_UNINDEX_RUN, SQL_MEMORY_REMOVE_RUN };
	int rc = SQLITE_OK;
	if (!m->run || m->run > INT64_MAX || m->number > INT64_MAX)
		return operation_answer(o, ST_REFUSED);
	for (unsigned i = 0; i < ARRAY_LEN(steps) && rc == SQLITE_OK; i++) {
		sqlite3_stmt *s = o->sql->stmt[steps[i]];
		DB_BIND(s, (int64_t)m->run, (int64_t)m->number);
		rc = db_step_bound(s, db_bind_text(s, 3, m->agent));
	}
	return rc;
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
