#pragma once
/* The store in one SQLite file, behind port/store.h. Every answer is durable: WAL with synchronous FULL or
 * more.
 *
 * Three connections, each used by one thread at a time: a writer thread carries out the submitted requests,
 * many in one transaction; a checkpoint thread moves the log into the database meanwhile; the caller's own
 * thread loads. submit and collect may be called from any thread, load from one.
 *
 * A failing or full disk, or a lock of another process, is an outage: the writer rolls back and tries the
 * same requests again until they succeed, and gives no answer meanwhile. Damage is permanent: after any
 * thread has met a damaged page, no request is carried out, no page is moved and nothing is loaded.
 * store_ops.failure reports both, damage as final. */
#include "port/store.h"

/* When to commit and to shorten the log, which is measured in pages of 4 KiB. The defaults are for
 * production; tests use small values. */
struct store_tuning {
	unsigned group;      /* requests in one transaction, at most STORE_GROUP_MAX */
	unsigned checkpoint; /* pages written between two passes of the checkpoint thread */
	unsigned wal_lull;   /* the writer truncates a longer log if there was no request for lull_ms */
	unsigned lull_ms;    /* milliseconds */
	bool no_events;      /* no event is logged: for the benchmark that measures what the log costs */
	unsigned wal_max;    /* the writer restarts a longer log even if requests must wait */
};
extern const struct store_tuning store_tuning_default;

/* Opens or creates the database at `path` and migrates its schema to this version. E_INPUT: the file is no
 * database of rota, or was written by a newer rota. E_IO: the file cannot be read or written, or is damaged.
 */
must_check enum err store_sqlite_open(const char *path, struct store **ret, struct why *why);
must_check enum err store_sqlite_open_tuned(const char *path, const struct store_tuning *tuning,
					    struct store **ret, struct why *why);
/* Carries out the queued requests, or drops them during an outage. Answers that were not collected are lost.
 * NULL is fine. */
void store_sqlite_close(struct store *s);

/* As store_ops.failure. */
must_check enum err store_sqlite_failure(struct store *s, struct wall *since, bool *final, struct why *why);

/* Checks a database that no daemon uses, and changes nothing in it. E_NOTFOUND: there is no file; other
 * errors as store_sqlite_open. Searches for damage for at most STORE_CHECK_MS. */
must_check enum err store_sqlite_check(const char *path, struct why *why);

/* Its operations, for stores of the functions above. */
extern const struct store_ops store_sqlite_ops;
