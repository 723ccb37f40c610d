#pragma once
/* The rows of port/store.h in SQLite: their columns, how they are bound to statements and read from them. */
#include "port/store.h"

#include <sqlite3.h>

/* The row of the table schedule. */
struct sched_record {
	bool found, dropped;
	struct wall put_at; /* `at` of the last ST_PUT */
	struct sched_row row;
};

#define SCHED_COLUMNS                                                                                        \
	"sid, after, seen, rev, flags, left, failures, owed, owed_since, next, high, pruned_to, changed, "   \
	"paused_until, next_set_at, put_at, part, dropped, rules"
#define RUN_COLUMNS                                                                                          \
	"run, sid, rev, attempt, reason, kind, state, outcome, uncounted, replaced, missed, nominal, due, "  \
	"claimed, "                                                                                          \
	"started, ended, retry_at, retry, \"end\", fence, node, cost, tokens_in, tokens_out, exit_code"
#define PROBLEM_COLUMNS "number, count, opened, last_reported, acked, closed, key, subject, text, by, note"
#define MEMORY_COLUMNS  "m.number, m.run, m.at, m.agent, m.text, m.tags"
#define MESSAGE_COLUMNS                                                                                      \
	"n.number, n.kind, n.state, n.attempts, n.sid, n.run, n.problem, n.joined, n.receiver, n.at, "       \
	"n.tried_at, "                                                                                       \
	"n.next, n.origin, n.target, n.body, n.result"
#define EVENT_COLUMNS "number, cause, at, sid, rev, run, attempt, reason, outcome, first, last, subject, text"
/* SQL: the number of the newest row of the log, its cause and its time, and the number of the newest event
 * that was pruned; one row in any case. last_event_read turns it into the number of the newest event. */
#define LAST_EVENT                                                                                           \
	"SELECT ifnull(e.number, 0), ifnull(e.cause, 0), m.value, ifnull(e.at, 0) FROM meta m"               \
	" LEFT JOIN event e ON e.number = (SELECT max(number) FROM event) WHERE m.key = 'last_event'"
/* SQL: whether the run `o` has the last end of a schedule that is not removed, or that has a run which is not
 * finished. The schedule's next run gets its result, and the next end the number after it. CASE, because
 * SQLite evaluates both sides of an AND or OR that is a column. */
#define IS_LAST_END                                                                                          \
	"CASE WHEN o.state = 3 AND o.\"end\" = (SELECT max(l.\"end\") FROM run l INDEXED BY run_end"         \
	" WHERE l.sid = o.sid AND l.state = 3)"                                                              \
	" THEN CASE WHEN EXISTS (SELECT 1 FROM schedule s WHERE s.sid = o.sid AND s.dropped IS NULL) THEN 1" \
	" ELSE EXISTS (SELECT 1 FROM run p WHERE p.sid = o.sid AND p.kind <> 4 AND p.state < 3)"             \
	" OR EXISTS (SELECT 1 FROM run p WHERE p.sid = o.sid AND p.kind = 4 AND p.state < 3) END"            \
	" ELSE 0 END"
enum { SCHED_PARAMS = 19, RUN_PARAMS = 25, MEMORY_PARAMS = 6 };

/* Binds all columns to the parameters 1 to …_PARAMS. The rules are not copied: `s` must live until the
 * statement has run. */
void sched_bind(sqlite3_stmt *st, const struct sched_record *s);
void run_bind(sqlite3_stmt *st, const struct run_row *r);
/* Read the columns from `at` on. False: the row is not valid, and row_error says why. The file may have been
 * written by another program. */
must_check bool sched_read(sqlite3_stmt *st, int at, struct sched_record *ret);
must_check bool run_read(sqlite3_stmt *st, int at, struct run_row *ret);
/* The texts are valid until the statement is stepped or reset. */
must_check bool problem_row_read(sqlite3_stmt *st, int at, struct problem_row *ret);
must_check bool memory_row_read(sqlite3_stmt *st, int at, struct memory_row *ret);
must_check bool message_row_read(sqlite3_stmt *st, int at, struct message_row *ret);
/* *cause: enum event_cause; the type is not set. The text is valid until the statement is stepped or reset.
 */
must_check bool event_row_read(sqlite3_stmt *st, int at, struct event_row *ret, unsigned *cause);
uint64_t last_event_read(sqlite3_stmt *st);
/* p NULL: the column is NULL. */
struct str text_read(sqlite3_stmt *st, int at);

/* The tables whose rows have numbers that must be within bounds. */
enum row_table {
	ROW_SCHEDULE,
	ROW_RUN,
	ROW_PROBLEM,
	ROW_MEMORY,
	ROW_MESSAGE,
	ROW_RANGE,
	ROW_HOLD,
	ROW_NEWS,
	ROW_NAME,
	ROW_PART,
	ROW_EVENT,
	ROW_TABLES
};
/* Whether the columns from `at` on, in the order of the table's row, are within bounds. */
must_check bool row_is_valid(sqlite3_stmt *st, int at, enum row_table which);
/* The same without the first `from` columns of the table. */
must_check bool row_is_valid_from(sqlite3_stmt *st, int at, enum row_table which, unsigned from);
/* The result of a query with a row that is not valid; db_explain then gives the text of row_error. */
#define ROW_INVALID SQLITE_MISMATCH
/* What was wrong with the last row on this thread: its table, its key, the column and its value. */
const char *row_error(void);
/* Checks the last numbers that were used, that of runs against `last_run`: SQLITE_OK, ROW_INVALID, or another
 * error. */
must_check int rows_check_meta(sqlite3 *db, uint64_t last_run);
/* Checks every row of a database with the current schema: likewise. */
must_check int rows_check_all(sqlite3 *db);
