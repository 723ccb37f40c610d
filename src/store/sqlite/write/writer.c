/* The writer thread: transactions, and the length of the write-ahead log. */
#include "store/sqlite/write/writer.h"
#include "store/sqlite/write/operations.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdlib.h>

/* --- transactions --- */

static int step(struct writer *w, enum write_statement which)
{
	return db_step(w->sql.stmt[which]);
}

/* After most errors SQLite does not roll back by itself. A failure to roll back is an outage. */
static int roll_back(struct writer *w)
{
	if (sqlite3_get_autocommit(w->db) || step(w, SQL_ROLLBACK) == SQLITE_OK)
		return SQLITE_OK;
	return SQLITE_BUSY;
}

/* Carries out all of the requests, or none. */
static int carry_out_group(struct writer *w, struct queue_entry **e, unsigned n)
{
	struct numbers_given before = w->sql.numbers;
	struct event_numbers events = w->sql.events;
	w->sql.now = clock_wall();
	errno = 0;
	int rc = roll_back(w); /* repeats a rollback that has failed */
	if (rc == SQLITE_OK)
		rc = step(w, SQL_BEGIN);
	for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
		rc = operation_carry_out(&w->sql, &e[i]->req, &e[i]->ack);
	if (rc == SQLITE_OK)
		rc = step(w, SQL_COMMIT);
	rc = db_result(rc);
	if (rc == SQLITE_OK)
		return rc;
	w->error = db_error(w->db, rc);
	db_explain(w->db, rc, &w->why);
	w->sql.numbers = before; /* no caller has got the numbers that were taken */
	w->sql.events = events;
	w->sql.parts.known = false;
	(void)roll_back(w);
	return rc;
}

/* After a request of the group failed by its own fault: carries out each in a transaction of its own, and
 * refuses those that fail. */
static int carry_out_each(struct writer *w, struct queue_entry **e, unsigned n, unsigned *done)
{
	for (*done = 0; *done < n; ++*done) {
		struct queue_entry *one = e[*done];
		int rc = carry_out_group(w, &one, 1);
		if (rc != SQLITE_OK && db_fate(rc) != DB_FAULT)
			return rc;
		if (rc != SQLITE_OK)
			one->ack = (struct st_ack){ .tag = one->req.tag,
						    .op = one->req.op,
						    .res = ST_REFUSED,
						    .run = one->req.run.run };
	}
	return SQLITE_OK;
}

static void set_done_time(struct queue_entry **e, unsigned n)
{
	struct wall now = clock_wall();
	for (unsigned i = 0; i < n; i++)
		e[i]->ack.done = now;
}

/* Records the result of the last transaction. Uses w->error and w->why, because the connection has rolled
 * back since and cannot explain the failure any more. */
static void record_result(struct writer *w, int rc)
{
	if (db_fate(rc) == DB_DAMAGE)
		failures_set_final(w->failures, STORE_WRITING, &w->why);
	else
		failures_set(w->failures, STORE_WRITING, rc == SQLITE_OK ? OK : w->error, &w->why);
}

/* Answers all of the requests, however long it takes. False: the rest was freed without an answer, because
 * the queue is closing during an outage, or because this or another thread found the database damaged. */
static bool answer_group(struct writer *w, struct queue_entry **e, unsigned n)
{
	for (int ms = 1; !failures_are_final(w->failures);
	     ms = ms < STORE_BACKOFF_MS_MAX / 2 ? 2 * ms : STORE_BACKOFF_MS_MAX) {
		int rc = carry_out_group(w, e, n);
		unsigned done = rc == SQLITE_OK ? n : 0;
		if (db_fate(rc) == DB_FAULT)
			rc = carry_out_each(w, e, n, &done);
		record_result(w, rc);
		set_done_time(e, done);
		queue_answer(w->queue, e, done);
		e += done;
		n -= done;
		if (!n)
			return true;
		if (!queue_pause(w->queue, ms))
			break;
	}
	while (n)
		free(e[--n]);
	return false;
}

/* --- the log --- */

static int on_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct writer *w = arg;
	unsigned log = (unsigned)pages;
	(void)db, (void)name;
	checkpoint_committed(w->checkpoint,
			     log > w->log ? log - w->log : log); /* fewer pages: the log was restarted */
	w->log = log;
	w->file = log > w->file ? log : w->file;
	return SQLITE_OK;
}

/* While there are no requests: truncates the log, once the checkpoint thread has moved all of it. If a reader
 * prevents it, the next lull tries again. */
static void truncate_log(struct writer *w)
{
	if (!checkpoint_is_complete(w->checkpoint))
		return;
	sqlite3_busy_timeout(w->db, 0);
	if (checkpoint_now(w->checkpoint, w->db, SQLITE_CHECKPOINT_TRUNCATE) == SQLITE_OK)
		w->log = w->file = 0;
	sqlite3_busy_timeout(w->db, STORE_BUSY_MS);
}

/* Whether to restart the log because there was no lull for too long. Restarting moves the pages that the
 * checkpoint thread has not moved yet, and requests wait meanwhile. So the writer waits until little is left,
 * while the log grows by at most a quarter. */
static bool restart_is_due(struct writer *w)
{
	unsigned most = w->tuning.wal_max + w->tuning.wal_max / 4, little = w->tuning.checkpoint / 8;
	return w->log > w->restart_at && (w->log > most || checkpoint_is_near(w->checkpoint, little));
}

/* Waits for readers as long as an answer of struct reader may take. If one reads for longer, the log may grow
 * by another quarter before the next try. */
static void restart_log(struct writer *w)
{
	sqlite3_busy_timeout(w->db, READ_MS_MAX);
	int rc = checkpoint_now(w->checkpoint, w->db, SQLITE_CHECKPOINT_RESTART);
	sqlite3_busy_timeout(w->db, STORE_BUSY_MS);
	w->restart_at = rc == SQLITE_OK ? w->tuning.wal_max : w->log + w->tuning.wal_max / 4;
	if (rc == SQLITE_OK)
		w->log = 0;
}

static void *writer_main(void *arg)
{
	struct writer *w = arg;
	bool end = false;
	thread_short_slices();
	while (!end) {
		int ms = w->file > w->tuning.wal_lull ? (int)w->tuning.lull_ms : -1;
		unsigned n = queue_take(w->queue, w->group, w->tuning.group, ms, &end);
		if (n)
			end = !answer_group(w, w->group, n);
		else if (!end)
			truncate_log(w);
		if (restart_is_due(w))
			restart_log(w);
	}
	return NULL;
}

enum err writer_start(struct writer *w, sqlite3 *db, struct why *why)
{
	assert(w->tuning.group >= 1 && w->tuning.group <= STORE_GROUP_MAX);
	int rc = write_statements_prepare(&w->sql, db);
	if (rc != SQLITE_OK) {
		write_statements_finalize(&w->sql);
		return db_fail(db, rc, why);
	}
	w->db = db;
	w->sql.no_events = w->tuning.no_events;
	w->log = w->file = 0;
	w->restart_at = w->tuning.wal_max;
	sqlite3_wal_hook(db, on_commit, w);
	if (thread_start(&w->thread, writer_main, w) == OK)
		return OK;
	sqlite3_wal_hook(db, NULL, NULL);
	write_statements_finalize(&w->sql);
	return why_set(why, E_NOMEM, WHY_NOWHERE, "cannot start a thread for the store");
}

void writer_stop(struct writer *w)
{
	pthread_join(w->thread, NULL);
}

void writer_free(struct writer *w)
{
	write_statements_finalize(&w->sql);
	sqlite3_close(w->db);
}
