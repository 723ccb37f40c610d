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
	"paused_until, next_set_at, put_at, dropped, rules"
#define RUN_COLUMNS                                                                                          \
	"run, sid, rev, attempt, reason, kind, state, outcome, uncounted, replaced, missed, nominal, due, "  \
	"claimed, "                                                                                          \
	"started, ended, retry_at, \"end\", fence, cost, tokens_in, tokens_out, exit_code"
#define PROBLEM_COLUMNS "number, count, opened, last_reported, acked, closed, key, subject, text, by, note"
#define MEMORY_COLUMNS  "m.number, m.run, m.at, m.agent, m.text, m.tags"
#define MESSAGE_COLUMNS                                                                                      \
	"n.number, n.kind, n.state, n.attempts, n.sid, n.run, n.problem, n.joined, n.receiver, n.at, "       \
	"n.tried_at, "                                                                                       \
	"n.next, n.origin, n.target, n.body, n.result"
/* SQL: whether the run `o` has the last end of a schedule that is not removed. The schedule's next run gets
 * its result. */
#define IS_LAST_END                                                                                          \
	"(o.state = 3 AND EXISTS (SELECT 1 FROM schedule s WHERE s.sid = o.sid AND s.dropped IS NULL)"       \
	" AND o.\"end\" = (SELECT max(l.\"end\") FROM run l INDEXED BY run_end WHERE l.sid = o.sid"          \
	" AND l.state = 3))"
enum { SCHED_PARAMS = 18, RUN_PARAMS = 23, MEMORY_PARAMS = 6 };

/* Binds all columns to the parameters 1 to …_PARAMS. The rules are not copied: `s` must live until the
 * statement has run. */
void sched_bind(sqlite3_stmt *st, const struct sched_record *s);
void run_bind(sqlite3_stmt *st, const struct run_row *r);
/* Read the columns from `at` on. */
void sched_read(sqlite3_stmt *st, int at, struct sched_record *ret);
void run_read(sqlite3_stmt *st, int at, struct run_row *ret);
/* The texts are valid until the statement is stepped or reset. */
void problem_row_read(sqlite3_stmt *st, int at, struct problem_row *ret);
void memory_row_read(sqlite3_stmt *st, int at, struct memory_row *ret);
void message_row_read(sqlite3_stmt *st, int at, struct message_row *ret);
/* p NULL: the column is NULL. */
struct str text_read(sqlite3_stmt *st, int at);
