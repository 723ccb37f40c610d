#include "store/sqlite/write/writer.h"
#include "store/sqlite/db.h"
#include "store/sqlite/write/operations.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

/* --- transactions --- */

static int step(struct writer *w, enum sql which)
{
	return db_step(w->sql.stmt[which]);
}

/* Most errors leave the rolling back to us. Whatever keeps us from it is an outage. */
static int roll_back(struct writer *w)
{
	if (sqlite3_get_autocommit(w->db) || step(w, SQL_ROLLBACK) == SQLITE_OK)
		return SQLITE_OK;
	return SQLITE_BUSY;
}

/* All of them, or none. */
static int transaction(struct writer *w, struct ask **a, unsigned n)
{
	errno = 0;
	int rc = roll_back(w); /* if it could not be done the last time */
	if (rc == SQLITE_OK)
		rc = step(w, SQL_BEGIN);
	for (unsigned i = 0; i < n && rc == SQLITE_OK; i++)
		rc = ops_carry_out(&w->sql, &a[i]->req, &a[i]->ack);
	if (rc == SQLITE_OK)
		rc = step(w, SQL_COMMIT);
	rc = db_result(rc);
	if (rc == SQLITE_OK)
		return rc;
	db_explain(w->db, rc, &w->why);
	(void)roll_back(w);
	return rc;
}

/* A request of the group cannot be carried out, but which? Each gets a transaction of its own. */
static int one_by_one(struct writer *w, struct ask **a, unsigned n, unsigned *done)
{
	for (*done = 0; *done < n; ++*done) {
		struct ask *ask = a[*done];
		int rc = transaction(w, &ask, 1);
		if (rc != SQLITE_OK && db_fate(rc) != DB_FAULT)
			return rc;
		if (rc != SQLITE_OK)
			ask->ack = (struct st_ack){ .tag = ask->req.tag,
						    .op = ask->req.op,
						    .res = ST_REFUSED,
						    .run = ask->req.run.run };
	}
	return SQLITE_OK;
}

static void stamp(struct ask **a, unsigned n)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	for (unsigned i = 0; i < n; i++)
		a[i]->ack.done.us = (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

/* What the last transaction came to, for anybody to read. Its own explanation, for the connection has rolled
 * back since. */
static void note(struct writer *w, int rc)
{
	if (db_fate(rc) == DB_DAMAGE)
		trouble_note_final(w->trouble, TROUBLE_WRITE, &w->why);
	else
		trouble_note(w->trouble, TROUBLE_WRITE, rc == SQLITE_OK ? NULL : &w->why);
}

/* Answers all of them, however long it takes. False: the rest was given up, because it is closing in the
 * midst of an outage, or because the database is damaged, as the writer or another thread has found. */
static bool settle(struct writer *w, struct ask **a, unsigned n)
{
	for (int ms = 1; !trouble_is_final(w->trouble);
	     ms = ms < STORE_BACKOFF_MS_MAX / 2 ? 2 * ms : STORE_BACKOFF_MS_MAX) {
		int rc = transaction(w, a, n);
		unsigned done = rc == SQLITE_OK ? n : 0;
		if (db_fate(rc) == DB_FAULT)
			rc = one_by_one(w, a, n, &done);
		note(w, rc);
		stamp(a, done);
		queue_answer(w->queue, a, done);
		a += done;
		n -= done;
		if (!n)
			return true;
		if (!queue_pause(w->queue, ms))
			break;
	}
	while (n)
		free(a[--n]);
	return false;
}

/* --- the log --- */

static int on_commit(void *arg, sqlite3 *db, const char *name, int pages)
{
	struct writer *w = arg;
	unsigned log = (unsigned)pages;
	(void)db, (void)name;
	checkpoint_note(w->checkpoint, log > w->log ? log - w->log : log); /* less: it began anew */
	w->log = log;
	w->file = log > w->file ? log : w->file;
	return SQLITE_OK;
}

/* Nothing is asked for: cut the log, once the checkpoint thread has left nothing to do for us. A reader in
 * the way means another time. */
static void tidy(struct writer *w)
{
	if (!checkpoint_settled(w->checkpoint))
		return;
	sqlite3_busy_timeout(w->db, 0);
	if (checkpoint_now(w->checkpoint, w->db, SQLITE_CHECKPOINT_TRUNCATE) == SQLITE_OK)
		w->log = w->file = 0;
	sqlite3_busy_timeout(w->db, STORE_BUSY_MS);
}

/* There was no lull for too long: it is time to begin the log anew. That costs what the checkpoint thread has
 * not done yet, and whoever comes due waits for it: the moment when that is little is waited for, while the
 * log grows by a quarter at most. */
static bool restart_is_due(struct writer *w)
{
	unsigned most = w->tuning.wal_max + w->tuning.wal_max / 4, little = w->tuning.checkpoint / 8;
	return w->log > w->log_full && (w->log > most || checkpoint_is_near(w->checkpoint, little));
}

/* Readers are waited for as long as one of ours may take; if one is in the way for longer, the log may grow
 * by another quarter before we try again. */
static void restart(struct writer *w)
{
	sqlite3_busy_timeout(w->db, READ_MS_MAX);
	int rc = checkpoint_now(w->checkpoint, w->db, SQLITE_CHECKPOINT_RESTART);
	sqlite3_busy_timeout(w->db, STORE_BUSY_MS);
	w->log_full = rc == SQLITE_OK ? w->tuning.wal_max : w->log + w->tuning.wal_max / 4;
	if (rc == SQLITE_OK)
		w->log = 0;
}

static void *work(void *arg)
{
	struct writer *w = arg;
	bool end = false;
	thread_short_slices();
	while (!end) {
		int ms = w->file > w->tuning.wal_lull ? (int)w->tuning.lull_ms : -1;
		unsigned n = queue_take(w->queue, w->group, w->tuning.group, ms, &end);
		if (n)
			end = !settle(w, w->group, n);
		else if (!end)
			tidy(w);
		if (restart_is_due(w))
			restart(w);
	}
	return NULL;
}

enum err writer_start(struct writer *w, sqlite3 *db, struct why *why)
{
	assert(w->tuning.group >= 1 && w->tuning.group <= STORE_GROUP_MAX);
	int rc = sql_prepare(&w->sql, db);
	if (rc != SQLITE_OK) {
		db_explain(db, rc, why);
		sql_finalize(&w->sql);
		return E_IO;
	}
	w->db = db;
	w->log = w->file = 0;
	w->log_full = w->tuning.wal_max;
	sqlite3_wal_hook(db, on_commit, w);
	if (thread_start(&w->thread, work, w) == OK)
		return OK;
	sqlite3_wal_hook(db, NULL, NULL);
	sql_finalize(&w->sql);
	return why_set(why, E_NOMEM, WHY_NOWHERE, "no thread for the store");
}

void writer_stop(struct writer *w)
{
	pthread_join(w->thread, NULL);
}

void writer_free(struct writer *w)
{
	sql_finalize(&w->sql);
	sqlite3_close(w->db);
}
