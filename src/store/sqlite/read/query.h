#pragma once
/* Used by all functions of a reader: the transaction with its deadline, and copying rows into the caller's
 * arena. */
#include "store/sqlite/db.h"
#include "store/sqlite/read/reader.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/rows.h"

struct reader {
	sqlite3 *db;
	struct store_failures *failures; /* of its store; NULL: the reader was opened without a store */
	sqlite3_stmt *stmt[READ_STATEMENTS];
	/* The deadlines of the current answer in microseconds, by the processor time of this thread and by
	 * the monotonic clock. The second is much later: a short answer must not fail because other threads
	 * kept the processor busy. */
	int64_t work_end, wait_end;
	bool patient;
};

/* Begin and end the transaction of one answer. reader_end takes the result of the queries (SQLITE_OK,
 * SQLITE_ROW and SQLITE_DONE mean success) and returns the error for the caller. */
must_check int reader_begin(struct reader *r);
must_check enum err reader_end(struct reader *r, int rc, struct why *why);

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

/* How one row becomes an item of an answer. */
struct row_kind {
	size_t size;                                                /* of an item */
	bool (*read)(sqlite3_stmt *s, struct arena *a, void *item); /* false: no memory */
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
/* Reads the text that a bound statement gives, in a transaction of its own; p NULL: the statement gave
 * none. */
must_check enum err query_text(struct reader *r, sqlite3_stmt *s, struct arena *a, struct str *ret,
			       struct why *why);
