#pragma once
/* One SQLite connection: how it is opened, what its errors mean, and how statements are bound and stepped. */
#include "base/err.h"
#include "store/failures.h"

#include <sqlite3.h>

/* Opens a database of the data directory. Neither creates nor changes it unless `flags` say so. E_INPUT: the
 * file, its journal or its log is a link, a pipe or a file of another user. `why` names the file. */
must_check enum err db_open(const char *path, int flags, sqlite3 **ret, struct why *why);
/* Opens any other database, for reading. */
must_check enum err db_open_foreign(const char *path, sqlite3 **ret, struct why *why);
/* Fills `why` with the failure of the last call on this connection, including the text of errno. */
void db_explain(sqlite3 *db, int rc, struct why *why);
/* What the last call on this connection failed for: E_NOMEM: lack of memory; E_IO: anything else. OK with
 * SQLITE_OK. */
enum err db_error(sqlite3 *db, int rc);
/* Explains it, and returns E_IO. */
enum err db_fail(sqlite3 *db, int rc, struct why *why);

/* What an SQLite result means for the caller. */
enum db_fate {
	DB_DONE,
	DB_OUTAGE, /* the same call may succeed later: the disk, a lock, memory */
	DB_DAMAGE, /* the file is damaged or is no database any more: no answer from it can be trusted */
	DB_FAULT,  /* the request itself is at fault */
};
enum db_fate db_fate(int rc);
/* SQLite reports SQLITE_CORRUPT also when the disk could not read a page. Set errno to 0 before the call;
 * with EIO or ENXIO in errno after it, this returns SQLITE_IOERR_READ instead, which is an outage. */
int db_result(int rc);
/* Records the failure of the last call on this connection, as final if it is damage. With SQLITE_OK, records
 * that the activity works. */
void db_record(sqlite3 *db, int rc, struct store_failures *f, enum store_activity activity);

/* Reads the one number that the SQL text selects; `none` if it selects no row. */
must_check int db_number(sqlite3 *db, const char *sql, int64_t none, int64_t *ret);

/* Binds numbers to parameters 1 to n. */
void db_bind(sqlite3_stmt *s, const int64_t *v, unsigned n);
#define DB_BIND(s, ...)                                                                                      \
	db_bind((s), (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / 8)
/* Binds texts to the parameters from `at` on; a text with p NULL becomes NULL. The bytes are not copied: they
 * must live until the statement has run. */
must_check int db_bind_text(sqlite3_stmt *s, int at, struct str text);
must_check int db_bind_texts(sqlite3_stmt *s, int at, const struct str *text, unsigned n);
#define DB_BIND_TEXTS(s, at, ...)                                                                            \
	db_bind_texts((s), (at), (const struct str[]){ __VA_ARGS__ },                                        \
		      sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

/* Steps a statement that gives no rows, and resets it. */
must_check int db_step(sqlite3_stmt *s);
/* The same for a statement with bound texts, whose bindings it clears. `bound` is the result of binding them:
 * if it is an error, the statement is not stepped. */
must_check int db_step_bound(sqlite3_stmt *s, int bound);
/* Steps and resets a statement like db_step_bound. `found`: whether there was a row; `ret`: its first column
 * (may be NULL). */
must_check int db_first_number(sqlite3_stmt *s, int bound, bool *found, int64_t *ret);
/* Resets a statement, clears its bindings, and returns `rc`. */
int db_leave(sqlite3_stmt *s, int rc);
/* For a statement that may or may not give a row: turns SQLITE_ROW and SQLITE_DONE into SQLITE_OK. */
static inline int db_looked(int rc)
{
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}
