#pragma once
/* A connection: how it is opened, what its errors mean, and statements whose parameters are whole numbers. */
#include "base/err.h"
#include "store/failures.h"

#include <sqlite3.h>

/* `why` names the file. The database is neither created nor changed unless flags say so. */
must_check enum err db_open(const char *path, int flags, sqlite3 **ret, struct why *why);
/* Fills `why` with what just failed on this connection, the machine's own word for it included. */
void db_explain(sqlite3 *db, int rc, struct why *why);

/* What a result of SQLite's means for whoever asked. */
enum db_fate {
	DB_DONE,
	DB_OUTAGE, /* the same thing may succeed later: the disk, a lock, memory */
	DB_DAMAGE, /* the file is damaged, or a database no more: any answer could be wrong, now and later */
	DB_FAULT,  /* the request's own */
};
enum db_fate db_fate(int rc);
/* SQLite calls a file damaged that the disk only could not read just now. With errno 0 before, and what
 * SQLite made of it after, this is what it was. */
int db_result(int rc);
/* Notes what just failed on this connection, as final if it is damage, or that all is well. */
void db_note(sqlite3 *db, int rc, struct trouble *t, enum trouble_with with);

/* The one number a statement gives; `other` if there is no row. */
must_check int db_number(sqlite3 *db, const char *sql, int64_t other, int64_t *ret);

/* Binds parameters 1 to n. */
void db_bind(sqlite3_stmt *s, const int64_t *v, unsigned n);
#define DB_BIND(s, ...)                                                                                      \
	db_bind((s), (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / 8)
/* One parameter, NULL without a text. The text is not copied: it must live until the statement has run. */
must_check int db_bind_text(sqlite3_stmt *s, int at, struct str text);
/* Steps a statement that gives no rows, and makes it ready again. */
must_check int db_step(sqlite3_stmt *s);
