/* Opens readers, begins and ends the transaction of an answer, and copies rows out of statements. */
#include "store/sqlite/read/reader.h"
#include "store/sqlite/migration.h"
#include "store/sqlite/read/query.h"
#include "store/sqlite/schema.h"

#include <stdlib.h>
#include <time.h>

/* --- opening --- */

static enum err check_version(sqlite3 *db, struct why *why)
{
	int64_t version;
	enum err e = migration_check(db, why);
	if (e != OK)
		return e;
	int rc = db_number(db, "PRAGMA user_version", 0, &version);
	if (rc != SQLITE_OK)
		return db_fail(db, rc, why);
	if (version == schema_version)
		return OK;
	return why_set(why, E_INPUT, WHY_NOWHERE,
		       "%s has version %lld and must be migrated to version %u first; `rota serve` does that",
		       sqlite3_db_filename(db, NULL), (long long)version, schema_version);
}

static int64_t now(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

static int is_late(void *reader)
{
	const struct sqlite_reader *r = reader;
	return now(CLOCK_THREAD_CPUTIME_ID) > r->work_end || now(CLOCK_MONOTONIC) > r->wait_end;
}

static void close_reader(struct reader *reader)
{
	struct sqlite_reader *r = sqlite_reader_of(reader);
	read_statements_finalize(r->stmt);
	sqlite3_close(r->db);
	free(r);
}

static const struct read_ops operations = {
	.close = close_reader,
	.sched = sqlite_read_sched,
	.id = sqlite_read_id,
	.document_of = sqlite_read_document_of,
	.document_at = sqlite_read_document_at,
	.sched_removed = sqlite_read_sched_removed,
	.sched_named = sqlite_read_sched_named,
	.scheds = sqlite_read_scheds,
	.scheds_noted = sqlite_read_scheds_noted,
	.scheds_from = sqlite_read_scheds_from,
	.agent = sqlite_read_agent,
	.agents = sqlite_read_agents,
	.state = sqlite_read_state,
	.memory = sqlite_read_memory,
	.memories = sqlite_read_memories,
	.memories_about = sqlite_read_memories_about,
	.memories_with = sqlite_read_memories_with,
	.run = sqlite_read_run,
	.run_text = sqlite_read_run_text,
	.runs = sqlite_read_runs,
	.avoided = sqlite_read_avoided,
	.ranges = sqlite_read_ranges,
	.why = sqlite_read_why,
	.problem = sqlite_read_problem,
	.problems = sqlite_read_problems,
	.holds = sqlite_read_holds,
	.news = sqlite_read_news,
	.message = sqlite_read_message,
	.messages_of = sqlite_read_messages_of,
	.messages = sqlite_read_messages,
	.messages_due = sqlite_read_messages_due,
	.message_next = sqlite_read_message_next,
	.message_after = sqlite_read_message_after,
	.receiver_gone = sqlite_read_receiver_gone,
	.events = sqlite_read_events,
	.attempt = sqlite_read_attempt,
	.old = sqlite_read_old,
	.old_run = sqlite_read_old_run,
};

enum err sqlite_reader_open(const char *path, struct reader **ret, struct why *why)
{
	struct sqlite_reader *r = calloc(1, sizeof *r);
	if (!r)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	r->port.ops = &operations;
	r->work_end = r->wait_end = INT64_MAX;
	enum err e = db_open(path, SQLITE_OPEN_READONLY, &r->db, why);
	if (e == OK) {
		sqlite3_busy_timeout(r->db, READ_MS_MAX);
		e = check_version(r->db, why);
	}
	int rc = e == OK ? read_statements_prepare(r->db, r->stmt) : SQLITE_OK;
	if (rc != SQLITE_OK)
		e = db_fail(r->db, rc, why);
	if (e != OK) {
		close_reader(&r->port);
		return e;
	}
	sqlite3_progress_handler(r->db, READ_STEPS, is_late, r);
	*ret = &r->port;
	return OK;
}

/* --- the transaction of an answer --- */

int reader_begin(struct sqlite_reader *r)
{
	r->work_end = now(CLOCK_THREAD_CPUTIME_ID) + READ_MS_MAX * INT64_C(1000);
	r->wait_end = now(CLOCK_MONOTONIC) + READ_WAIT_MS_MAX * INT64_C(1000);
	return db_step(r->stmt[READ_BEGIN]);
}

enum err reader_end(struct sqlite_reader *r, int rc, struct why *why)
{
	rc = db_result(rc);
	bool read = db_looked(rc) == SQLITE_OK;
	if (!read && rc != SQLITE_INTERRUPT && rc != SQLITE_NOMEM)
		db_explain(r->db, rc, why);
	if (r->failures && db_fate(rc) == DB_DAMAGE)
		failures_set_final(r->failures, STORE_READING, why);
	/* The deadline does not apply to the end of the transaction. */
	r->work_end = r->wait_end = INT64_MAX;
	if (!sqlite3_get_autocommit(r->db)) {
		int end = db_step(r->stmt[READ_END]);
		if (read && end != SQLITE_OK)
			return db_fail(r->db, end, why);
	}
	if (rc == SQLITE_INTERRUPT && r->port.patient)
		return why_set(why, E_BUSY, WHY_NOWHERE, "reading the store takes too long; try again later");
	if (rc == SQLITE_INTERRUPT)
		return why_set(
			why, E_LIMIT, WHY_NOWHERE,
			"the store has too many records to search for this; ask for fewer records at a time");
	if (rc == SQLITE_NOMEM)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	return read ? OK : E_IO;
}

/* --- rows --- */

bool query_copy_text(struct arena *a, struct str *s)
{
	if (s->p)
		s->p = arena_dup(a, *s);
	return s->p || !s->n;
}

int query_one(sqlite3_stmt *s, int bound, const struct row_kind *kind, struct arena *a, void *item)
{
	int rc = bound == SQLITE_OK ? sqlite3_step(s) : bound;
	int read = rc == SQLITE_ROW ? kind->read(s, a, item) : SQLITE_OK;
	if (read != SQLITE_OK)
		rc = read;
	return db_leave(s, rc);
}

int query_list(sqlite3_stmt *s, int bound, unsigned limit, const struct row_kind *kind, struct arena *a,
	       struct row_list *ret)
{
	size_t bytes = 0;
	int rc = bound;
	ret->item = arena_alloc(a, limit * kind->size);
	if (rc == SQLITE_OK && !ret->item)
		rc = SQLITE_NOMEM;
	while (rc == SQLITE_OK && (rc = sqlite3_step(s)) == SQLITE_ROW) {
		bytes += kind->text ? (size_t)sqlite3_column_bytes(s, kind->text) : 0;
		ret->more = ret->n == limit || (ret->n && bytes > READ_BYTES_MAX);
		if (ret->more)
			break;
		char *item = (char *)ret->item + ret->n++ * kind->size;
		rc = kind->read(s, a, item);
	}
	return db_leave(s, rc);
}

static int read_text_row(sqlite3_stmt *s, struct arena *a, void *item)
{
	struct str *ret = item;
	*ret = text_read(s, 0);
	return query_copied(query_copy_text(a, ret));
}

int query_first_text(sqlite3_stmt *s, struct arena *a, struct str *ret)
{
	static const struct row_kind text_kind = { sizeof(struct str), read_text_row, 0 };
	return query_one(s, SQLITE_OK, &text_kind, a, ret);
}

enum err query_text(struct sqlite_reader *r, sqlite3_stmt *s, struct arena *a, struct str *ret,
		    struct why *why)
{
	struct str found = { 0 };
	int rc = reader_begin(r);
	if (rc == SQLITE_OK)
		rc = query_first_text(s, a, &found);
	enum err e = reader_end(r, rc, why);
	if (e == OK)
		*ret = found;
	return e;
}
