#pragma once
/* The rows of port/store.h in SQLite: in which columns they stand, how they are bound and read. */
#include "port/store.h"

#include <sqlite3.h>

/* A schedule as the store keeps it. */
struct sched_record {
	bool there, dropped;
	struct wall put_at; /* when its last change was decided */
	struct sched_row row;
};

#define SCHED_COLUMNS                                                                                        \
	"sid, after, seen, rev, flags, left, failures, owed, owed_since, next, high, kept, changed, "        \
	"paused_until, next_set_at, put_at, dropped, rules"
#define RUN_COLUMNS                                                                                          \
	"run, sid, rev, attempt, reason, kind, state, outcome, limited, was, missed, nominal, due, "         \
	"claimed, "                                                                                          \
	"started, ended, retry_at, \"end\", fence, cost, tokens_in, tokens_out, exit_code"
#define PROBLEM_COLUMNS "number, count, opened, said, acked, closed, key, subject, text, by, note"
#define MEMORY_COLUMNS  "m.number, m.run, m.at, m.agent, m.text, m.tags"
#define MESSAGE_COLUMNS                                                                                      \
	"n.number, n.kind, n.state, n.attempts, n.sid, n.run, n.problem, n.joined, n.line, n.at, n.tried, "  \
	"n.next, n.origin, n.target, n.body, n.said"
enum { SCHED_PARAMS = 18, RUN_PARAMS = 23, MEMORY_PARAMS = 6 };

/* All columns as parameters 1 to …_PARAMS. The rules are not copied: `s` must live until the statement has
 * run. */
void sched_bind(sqlite3_stmt *st, const struct sched_record *s);
void run_bind(sqlite3_stmt *st, const struct run_row *r);
/* From columns `at` and following. */
void sched_read(sqlite3_stmt *st, int at, struct sched_record *ret);
void run_read(sqlite3_stmt *st, int at, struct run_row *ret);
/* Its texts are good until the statement is stepped or reset. */
void problem_row_read(sqlite3_stmt *st, int at, struct problem_row *ret);
void memory_row_read(sqlite3_stmt *st, int at, struct memory_row *ret);
void message_row_read(sqlite3_stmt *st, int at, struct message_row *ret);
struct str text_read(sqlite3_stmt *st, int at);
