#pragma once
/* The operations of port/store.h on the writer's connection, inside a transaction that the caller begins and
 * ends. Each of them is one function; those of one subject are in one file. */
#include "port/store.h"
#include "store/sqlite/db.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/write/statements.h"

/* Carries out one request and fills in its answer. SQLITE_OK: it was carried out or refused. Otherwise the
 * request may be half done, and the caller must roll back. */
must_check int operation_carry_out(struct write_statements *sql, const struct st_req *r, struct st_ack *ret);

/* --- for the operations --- */

/* One request being carried out. An operation works on `sched` and `run` as they were read, writes its
 * changes, and leaves both as they are after it. The answer is ST_OK unless the operation sets another. */
struct operation {
	struct write_statements *sql;
	const struct st_req *r;
	struct st_ack *ack;
	struct sched_record sched;
	struct run_row run; /* for operations on runs only */
};

int write_schedule(struct operation *o);
int write_drop(struct operation *o);
int write_source(struct operation *o);
int write_occurrence(struct operation *o);
int write_range(struct operation *o);
int write_withdrawal(struct operation *o);
int write_verdict(struct operation *o);
int write_start(struct operation *o);
int write_end(struct operation *o);
int write_run_text(struct operation *o);
int write_hold(struct operation *o);
int write_name(struct operation *o);
int write_problem(struct operation *o);
int write_state(struct operation *o);
int write_agent(struct operation *o);
int write_memory(struct operation *o);
int write_messages(struct operation *o);
int write_delivery(struct operation *o);
int write_report(struct operation *o);
int write_prune(struct operation *o);
int write_numbers(struct operation *o);
int write_take(struct operation *o);
int write_key(struct operation *o);

/* --- what several operations share --- */

/* Sets the answer. Returns SQLITE_OK. */
int operation_answer(struct operation *o, enum st_res res);

#define OP_BIND(o, which, ...) DB_BIND((o)->sql->stmt[which], __VA_ARGS__)
/* Binds numbers, and steps a statement that gives no rows. */
#define OP_RUN(o, which, ...) (OP_BIND(o, which, __VA_ARGS__), db_step((o)->sql->stmt[which]))
/* Steps a bound statement. `found`: whether it gives a row; `ret`: its first column (may be NULL). */
int operation_has_row(struct operation *o, enum write_statement which, bool *found, int64_t *ret);

/* Reads the schedule into o->sched; o->sched.found stays false if there is no such schedule. */
int operation_read_schedule(struct operation *o, uint64_t sid);
/* Reads one run with statement `which` (SQL_RUN_GET or SQL_RUN_AT), whose parameters are bound already. */
int operation_read_run(struct operation *o, enum write_statement which, bool *found, struct run_row *ret);
/* Writes the columns of o->sched that runs change. */
int operation_save_counts(struct operation *o);

/* Checks the schedule of a request. ST_OK: it is not removed and has the rev for which the request was
 * decided. */
enum st_res operation_judge(const struct operation *o);
/* The same. Also ST_STALE if the request would move the schedule, but the schedule has already moved past
 * `nominal` (a follower: past the end). */
enum st_res operation_judge_move(const struct operation *o, struct wall nominal);
/* Carries out r->move, if the request moves its schedule. */
int operation_move(struct operation *o);

/* Reads the number of the last end of a schedule; 0: it has none. */
int operation_last_end(struct operation *o, uint64_t sid, uint64_t *ret);
/* A number was recorded that need not have been given out by ST_NUMBERS. */
void operation_number_used(struct operation *o, unsigned kind, uint64_t number);
/* Whether the request comes from an owner whose epoch has ended. */
int operation_is_fenced(struct operation *o, bool *ret);
/* Sets a text about a run; an empty one is removed. */
int operation_set_run_text(struct operation *o, uint64_t run, enum run_text_kind kind, struct str text);
/* Adds a row of news about this schedule, run and problem, if the request has news. */
int operation_add_news(struct operation *o, uint64_t sid, uint64_t run, uint64_t problem);

/* Logs the events of a cause (enum event_cause); `e` has what they have in common. */
int operation_log(struct operation *o, unsigned cause, const struct event_row *e);
/* The same for events about a run. */
int operation_log_run(struct operation *o, unsigned cause, const struct run_row *run);
int operation_prune_events(struct operation *o);

/* Whether a number can be that of a schedule or run: 0 means none, and SQLite's integers are signed. */
static inline bool is_number(uint64_t n)
{
	return n > 0 && n <= INT64_MAX;
}

static inline struct wall earlier(struct wall a, struct wall b)
{
	return a.us < b.us ? a : b;
}

static inline struct wall later(struct wall a, struct wall b)
{
	return a.us > b.us ? a : b;
}
