/* Opens and closes a store: its connections, its threads, its queue. */
#include "store/sqlite/store.h"
#include "store/sqlite/file.h"
#include "store/sqlite/load.h"
#include "store/sqlite/migration.h"
#include "store/sqlite/read/query.h"
#include "store/sqlite/restore.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/write/writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const struct store_tuning store_tuning_default = {
	.group = STORE_GROUP_MAX,
	.checkpoint = 1024, /* 4 MiB */
	.wal_lull = 4096,   /* 16 MiB */
	.lull_ms = 50,
	.wal_max = 65536, /* 256 MiB */
};

struct sqlite_store {
	struct store port; /* first: callers have a pointer to it */
	struct request_queue queue;
	struct store_failures failures;
	struct checkpoint checkpoint;
	struct writer writer;
	sqlite3 *loader; /* the connection of load */
};

static struct sqlite_store *store_of(void *store)
{
	return store;
}

/* --- opening --- */

static enum err set_wal_mode(sqlite3 *db, struct why *why)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode = WAL", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	const char *mode = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	enum err e = OK;
	if (rc != SQLITE_ROW)
		e = db_fail(db, rc, why);
	else if (!mode || strcmp(mode, "wal") != 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "%s: the file system does not support a write-ahead log",
			    sqlite3_db_filename(db, NULL));
	sqlite3_finalize(s);
	return e;
}

static enum err set_pragmas(sqlite3 *db, const char *pragmas, struct why *why)
{
	int rc = sqlite3_exec(db, pragmas, NULL, NULL, NULL);
	return rc == SQLITE_OK ? OK : db_fail(db, rc, why);
}

/* Commits that a killed process left in the log may not be on the disk yet. A repeated request would be
 * answered from them without a write, so all of the log is flushed first. If another connection prevents the
 * checkpoint, a commit of our own flushes the whole log. */
static enum err make_durable(sqlite3 *db, struct why *why)
{
	int rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if ((rc & 0xFF) == SQLITE_BUSY)
		rc = sqlite3_exec(db, "UPDATE meta SET value = value", NULL, NULL, NULL);
	return rc == SQLITE_OK ? OK : db_fail(db, rc, why);
}

/* EXTRA is FULL plus a sync of the directory after a rollback journal was deleted. A new database uses such a
 * journal until it is switched to WAL; if the journal came back after a power cut, everything written since
 * would be undone. */
static enum err open_writer(const char *path, sqlite3 **ret, struct why *why)
{
	char pragmas[160];
	snprintf(pragmas, sizeof pragmas,
		 "PRAGMA synchronous = EXTRA; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = OFF;"
		 "PRAGMA cache_size = -%d",
		 STORE_CACHE_KIB);
	sqlite3 *db = NULL;
	enum err e = db_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db, why);
	if (e == OK)
		e = migration_check(db, why); /* before anything is changed */
	if (e == OK)
		e = set_pragmas(db, pragmas, why);
	if (e == OK)
		e = set_wal_mode(db, why);
	if (e == OK)
		e = migration_run(db, why);
	int rc = e == OK ? rows_check_meta(db, RUN_DATABASE_MAX) : SQLITE_OK;
	if (rc != SQLITE_OK)
		e = db_fail(db, rc, why);
	if (e == OK)
		e = make_durable(db, why);
	if (e == OK) {
		sqlite3_limit(db, SQLITE_LIMIT_LENGTH, STORE_DOCUMENT_BYTES_MAX);
		*ret = db;
	} else {
		sqlite3_close(db);
	}
	return e;
}

static enum err open_connection(const char *path, const char *pragmas, sqlite3 **ret, struct why *why)
{
	sqlite3 *db = NULL;
	enum err e = db_open(path, SQLITE_OPEN_READWRITE, &db, why);
	if (e == OK)
		e = set_pragmas(db, pragmas, why);
	if (e == OK)
		*ret = db;
	else
		sqlite3_close(db);
	return e;
}

/* Opens the connections and starts the threads. */
static enum err start_threads(struct sqlite_store *s, const char *path, unsigned threshold, struct why *why)
{
	sqlite3 *writer = NULL, *checkpoint = NULL;
	enum err e = open_writer(path, &writer, why);
	if (e == OK)
		e = open_connection(path, "PRAGMA query_only = ON", &s->loader, why);
	if (e == OK)
		e = open_connection(path, "PRAGMA synchronous = FULL", &checkpoint, why);
	if (e == OK && checkpoint_start(&s->checkpoint, checkpoint, threshold, &s->failures) != OK)
		e = why_set(why, E_NOMEM, WHY_NOWHERE, "cannot start a thread for the store");
	if (e != OK) {
		sqlite3_close(checkpoint);
	} else {
		e = writer_start(&s->writer, writer, why);
		if (e == OK)
			return OK;
		checkpoint_stop(&s->checkpoint);
	}
	sqlite3_close(s->loader);
	sqlite3_close(writer);
	return e;
}

enum err store_sqlite_open_tuned(const char *path, const struct store_tuning *tuning, struct store **ret,
				 struct why *why)
{
	struct sqlite_store *s = calloc(1, sizeof *s);
	if (!s)
		return why_set(why, E_NOMEM, WHY_NOWHERE, "out of memory");
	s->port.ops = &store_sqlite_ops;
	enum err e = queue_init(&s->queue, STORE_UNDER_WAY_MAX, STORE_TEXT_BYTES_MAX);
	if (e != OK) {
		why_write(why, WHY_NOWHERE, "cannot create an eventfd for the store: %m");
		free(s);
		return e;
	}
	failures_init(&s->failures);
	s->writer.queue = &s->queue;
	s->writer.checkpoint = &s->checkpoint;
	s->writer.failures = &s->failures;
	s->writer.tuning = *tuning;
	e = start_threads(s, path, tuning->checkpoint, why);
	if (e == OK) {
		*ret = &s->port;
		return OK;
	}
	failures_destroy(&s->failures);
	queue_destroy(&s->queue);
	free(s);
	return e;
}

enum err store_sqlite_open(const char *path, struct store **ret, struct why *why)
{
	return store_sqlite_open_tuned(path, &store_tuning_default, ret, why);
}

void store_sqlite_close(struct store *store)
{
	struct sqlite_store *s = store_of(store);
	if (!s)
		return;
	queue_close(&s->queue);
	writer_stop(&s->writer);
	checkpoint_stop(&s->checkpoint);
	sqlite3_close(s->loader);
	writer_free(&s->writer);
	failures_destroy(&s->failures);
	queue_destroy(&s->queue);
	free(s);
}

enum err store_sqlite_failure(struct store *store, struct wall *since, bool *final, struct why *why)
{
	return failures_worst(&store_of(store)->failures, since, final, why);
}

/* --- checking a file --- */

static int is_past(void *deadline)
{
	struct timespec now, *at = deadline;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec >= at->tv_sec;
}

static enum err check_for_damage(sqlite3 *db, struct why *why)
{
	sqlite3_stmt *s = NULL;
	struct timespec deadline;
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += STORE_CHECK_MS / 1000;
	sqlite3_progress_handler(db, READ_STEPS, is_past, &deadline);
	int rc = sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &s, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	const char *result = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(s, 0) : NULL;
	enum err e = OK;
	if (rc == SQLITE_ROW && result && strcmp(result, "ok") != 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "%s: %s: %s", sqlite3_db_filename(db, NULL),
			    sqlite3_errstr(SQLITE_CORRUPT), result);
	else if (rc != SQLITE_ROW && rc != SQLITE_INTERRUPT)
		e = db_fail(db, rc, why);
	sqlite3_finalize(s);
	return e;
}

enum err store_sqlite_check(const char *path, struct why *why)
{
	sqlite3 *db = NULL;
	if (access(path, F_OK) != 0 && errno == ENOENT)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no file %s", path);
	enum err e = db_open(path, SQLITE_OPEN_READONLY, &db, why);
	if (e == OK)
		e = migration_check(db, why);
	if (e == OK)
		e = check_for_damage(db, why);
	sqlite3_close(db);
	return e;
}

/* --- struct store_ops --- */

static enum err submit(void *store, const struct st_req *r)
{
	struct sqlite_store *s = store;
	return failures_are_final(&s->failures) ? E_IO : queue_submit(&s->queue, r);
}

static unsigned collect(void *store, struct st_ack *ret, unsigned max)
{
	return queue_collect(&store_of(store)->queue, ret, max);
}

static int fd(void *store)
{
	return store_of(store)->queue.fd;
}

static enum err load(void *store, load_fn *fn, void *ctx)
{
	struct sqlite_store *s = store;
	if (failures_are_final(&s->failures))
		return E_IO;
	errno = 0;
	int rc = db_result(load_all(s->loader, fn, ctx));
	db_record(s->loader, rc, &s->failures, STORE_READING);
	return rc == SQLITE_OK ? OK : E_IO;
}

static const char *path_of(void *store)
{
	return sqlite3_db_filename(store_of(store)->loader, NULL);
}

static enum err open_reader(void *store, struct reader **ret, struct why *why)
{
	enum err e = sqlite_reader_open(path_of(store), ret, why);
	if (e == OK)
		sqlite_reader_of(*ret)->failures = &store_of(store)->failures;
	return e;
}

static enum err failure(void *store, struct wall *since, bool *final, struct why *why)
{
	return store_sqlite_failure(store, since, final, why);
}

static enum err write_failure(void *store, struct why *why)
{
	return failures_of_writing(&store_of(store)->failures, why);
}

static enum err count_opening(void *store, uint64_t last_run, struct wall now, struct restore_state *ret,
			      struct why *why)
{
	char generation[PATH_MAX];
	const char *path = path_of(store);
	file_beside(generation, path, "generation");
	return restore_detect(&(struct restore_request){ path, generation, last_run, now }, ret, why);
}

static enum err clear_unknown_runs(void *store, struct why *why)
{
	return restore_clear_unknown_runs(path_of(store), why);
}

static void close_store(void *store)
{
	store_sqlite_close(store);
}

const struct store_ops store_sqlite_ops = {
	.submit = submit,
	.collect = collect,
	.fd = fd,
	.load = load,
	.reader = open_reader,
	.failure = failure,
	.write_failure = write_failure,
	.count_opening = count_opening,
	.clear_unknown_runs = clear_unknown_runs,
	.close = close_store,
};
