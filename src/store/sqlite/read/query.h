#pragma once
/* Used by all functions of a reader: the transaction with its deadline, and copying rows into the caller's
 * arena. */
#include "store/sqlite/db.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

struct sqlite_reader {
	struct reader port; /* first: callers have a pointer to it */
	sqlite3 *db;
	struct store_failures *failures; /* of its store; NULL: the reader was opened without a store */
	sqlite3_stmt *stmt[READ_STATEMENTS];
	/* The deadlines of the current answer in microseconds, by the processor time of this thread and by
	 * the monotonic clock. The second is much later: a short answer must not fail because other threads
	 * kept the processor busy. */
	int64_t work_end, wait_end;
};

static inline struct sqlite_reader *sqlite_reader_of(struct reader *r)
{
	return (struct sqlite_reader *)r;
}

/* --- the operations --- */

read_sched_fn sqlite_read_sched;
read_id_fn sqlite_read_id;
read_document_of_fn sqlite_read_document_of;
read_document_at_fn sqlite_read_document_at;
read_sched_removed_fn sqlite_read_sched_removed;
read_sched_named_fn sqlite_read_sched_named;
read_scheds_fn sqlite_read_scheds;
read_scheds_noted_fn sqlite_read_scheds_noted;
read_scheds_from_fn sqlite_read_scheds_from;
read_agent_fn sqlite_read_agent;
read_agents_fn sqlite_read_agents;
read_state_fn sqlite_read_state;
read_memory_fn sqlite_read_memory;
read_memories_fn sqlite_read_memories;
read_memories_about_fn sqlite_read_memories_about;
read_memories_with_fn sqlite_read_memories_with;
read_run_fn sqlite_read_run;
read_run_text_fn sqlite_read_run_text;
read_runs_fn sqlite_read_runs;
read_avoided_fn sqlite_read_avoided;
read_ranges_fn sqlite_read_ranges;
read_why_fn sqlite_read_why;
read_problem_fn sqlite_read_problem;
read_problems_fn sqlite_read_problems;
read_holds_fn sqlite_read_holds;
read_news_fn sqlite_read_news;
read_message_fn sqlite_read_message;
read_messages_of_fn sqlite_read_messages_of;
read_messages_fn sqlite_read_messages;
read_messages_due_fn sqlite_read_messages_due;
read_message_next_fn sqlite_read_message_next;
read_message_after_fn sqlite_read_message_after;
read_receiver_gone_fn sqlite_read_receiver_gone;
read_events_fn sqlite_read_events;
read_attempt_fn sqlite_read_attempt;
read_old_fn sqlite_read_old;
read_old_run_fn sqlite_read_old_run;

/* --- one answer --- */

/* Begin and end the transaction of one answer. reader_end takes the result of the queries (SQLITE_OK,
 * SQLITE_ROW and SQLITE_DONE mean success) and returns the error for the caller. */
must_check int reader_begin(struct sqlite_reader *r);
must_check enum err reader_end(struct sqlite_reader *r, int rc, struct why *why);

/* The limit of a list: at most READ_LIST_MAX; 0 means READ_LIST_MAX. */
static inline unsigned list_limit(unsigned limit)
{
	return limit && limit < READ_LIST_MAX ? limit : READ_LIST_MAX;
}

/* The parameter for a cursor of a descending list: 0 becomes the largest number. */
static inline int64_t cursor_before(uint64_t before)
{
	return before && before <= INT64_MAX ? (int64_t)before : INT64_MAX;
}

/* Copies the bytes of a text into the arena. False: no memory. */
bool query_copy_text(struct arena *a, struct str *s);
static inline int query_copied(bool copied)
{
	return copied ? SQLITE_OK : SQLITE_NOMEM;
}

/* How one row becomes an item of an answer. */
struct row_kind {
	size_t size; /* of an item */
	/* SQLITE_OK, SQLITE_NOMEM or ROW_INVALID. */
	int (*read)(sqlite3_stmt *s, struct arena *a, void *item);
	int text; /* the column whose bytes READ_BYTES_MAX bounds; 0: none */
};

struct row_list {
	void *item;
	unsigned n;
	bool more;
};

/* Steps a bound statement that gives at most one row. SQLITE_ROW: *item was read. `bound` is the result of
 * binding. */
must_check int query_one(sqlite3_stmt *s, int bound, const struct row_kind *kind, struct arena *a,
			 void *item);
/* Steps a statement that was bound for limit + 1 rows. */
must_check int query_list(sqlite3_stmt *s, int bound, unsigned limit, const struct row_kind *kind,
			  struct arena *a, struct row_list *ret);
/* Reads the first column of the row of a bound statement, a text; p NULL: there is no row, or no text in it.
 */
must_check int query_first_text(sqlite3_stmt *s, struct arena *a, struct str *ret);
/* Reads the text that a bound statement gives, in a transaction of its own; p NULL: the statement gave
 * none. */
must_check enum err query_text(struct sqlite_reader *r, sqlite3_stmt *s, struct arena *a, struct str *ret,
			       struct why *why);

/* --- parts of answers, inside a transaction; SQLITE_ROW: found, SQLITE_DONE: there is none --- */

must_check int query_run(struct sqlite_reader *r, uint64_t run, struct run_row *ret);
/* The latest run of the same schedule before this one that has finished. */
must_check int query_previous_run(struct sqlite_reader *r, const struct run_row *run, bool *found,
				  struct run_row *ret);
/* The text of this kind about a run; p NULL: there is none. */
must_check int query_run_text(struct sqlite_reader *r, uint64_t run, enum run_text_kind kind, struct arena *a,
			      struct str *ret);
must_check int query_document(struct sqlite_reader *r, uint64_t sid, uint32_t rev, struct arena *a,
			      struct str *ret);
must_check int query_state(struct sqlite_reader *r, struct str key, struct arena *a, struct state_row *ret);
must_check int query_agent(struct sqlite_reader *r, struct str name, struct arena *a, struct read_agent *ret);
/* Notes of an agent (empty: of all) and a run (0: of any) with numbers below `before`, the newest first. */
must_check int query_memories(struct sqlite_reader *r, struct str agent, uint64_t run, uint64_t before,
			      unsigned limit, struct arena *a, struct read_memories *ret);
