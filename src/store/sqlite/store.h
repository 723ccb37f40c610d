#pragma once
/* The store in one SQLite file, behind port/store.h. Every answer is durable: WAL, synchronous=FULL or
 * more, always.
 *
 * Three connections, each used by one thread at a time: a writer thread carries out what was submitted, many
 * requests to a transaction; a checkpoint thread moves the log into the database beside it; the caller's own
 * thread reads. submit and collect may be called from any thread, load from one.
 *
 * A disk that fails or is full, or somebody else's lock, is an outage and no answer: the writer rolls back
 * and tries the same requests again until they are done, and store_sqlite_trouble says so meanwhile. A
 * damaged file is no outage, for it does not pass: whichever thread meets the damage, from then on nothing is
 * carried out, moved or loaded, and store_sqlite_trouble says that it is final. */
#include "port/store.h"

struct store;

/* When to commit and to tidy; the log is measured in pages of 4 KiB. The defaults are for production; tests
 * make them small. */
struct store_tuning {
	unsigned group;      /* at most STORE_GROUP_MAX */
	unsigned checkpoint; /* written since the last pass: the checkpoint thread makes another */
	unsigned wal_lull;   /* a longer log is cut by the writer at a lull … */
	unsigned lull_ms;    /* … that is, when nothing was asked for so long … */
	unsigned wal_max;    /* … and begun anew at once when it has become this long */
};
extern const struct store_tuning store_tuning_default;

/* Opens, or creates, the database at `path` and brings its schema up to date. E_INPUT: it is no database of
 * rota's, or of a newer rota. E_IO: it cannot be read or written, or is damaged. */
must_check enum err store_sqlite_open(const char *path, struct store **ret, struct why *why);
must_check enum err store_sqlite_open_tuned(const char *path, const struct store_tuning *tuning,
					    struct store **ret, struct why *why);
/* Carries out what is queued, unless there is an outage: then what is not yet answered is given up. Answers
 * that were not collected are lost. NULL is fine. */
void store_sqlite_close(struct store *s);

/* E_IO while something fails, with what, since when, and whether it is final; else OK, and nothing is
 * written. Any of the pointers may be NULL. From any thread. */
must_check enum err store_sqlite_trouble(struct store *s, struct wall *since, bool *final, struct why *why);

/* E_IO while what is submitted must wait for an outage to end, or is lost on a damaged file. From any thread.
 */
must_check enum err store_sqlite_writes(struct store *s, struct why *why);

/* A reader of its database (store/sqlite_read.h), to be closed before the store is. Damage it meets is final,
 * too. */
struct reader;
must_check enum err store_sqlite_reader(struct store *s, struct reader **ret, struct why *why);

/* Looks over a database that nobody serves, and changes nothing in it. E_NOTFOUND: there is none; else as
 * store_sqlite_open. Damage is looked for during STORE_CHECK_MS at most. */
must_check enum err store_sqlite_check(const char *path, struct why *why);

/* To be used with a struct store. */
extern const struct store_ops store_sqlite_ops;
