#pragma once
/* A connection: how it is opened, what its errors mean, and statements whose parameters are whole numbers. */
#include "base/err.h"

#include <sqlite3.h>

/* `why` names the file. The database is neither created nor changed unless flags say so. */
must_check enum err db_open(const char *path, int flags, sqlite3 **ret, struct why *why);
/* Fills `why` with what just failed on this connection, the machine's own word for it included. */
void db_explain(sqlite3 *db, int rc, struct why *why);

/* Whether the same thing may succeed later: the disk, a lock, memory. What is not an outage is the request's
 * own fault. Damage counts as an outage: any answer could be wrong. */
bool db_outage(int rc);

/* The one number a statement gives; `other` if there is no row. */
must_check int db_number(sqlite3 *db, const char *sql, int64_t other, int64_t *ret);

/* Binds parameters 1 to n. */
void db_bind(sqlite3_stmt *s, const int64_t *v, unsigned n);
#define DB_BIND(s, ...)                                                                                      \
	db_bind((s), (const int64_t[]){ __VA_ARGS__ }, sizeof((const int64_t[]){ __VA_ARGS__ }) / 8)
/* Steps a statement that gives no rows, and makes it ready again. */
must_check int db_step(sqlite3_stmt *s);
