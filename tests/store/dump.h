#pragma once
/* All rows of a store as text, one line each, so that two stores, or one store at two times, can be compared.
 * The rows of SQLite are read by SQL of the tests, not by the code under test. */
#include "base/buf.h"
#include "model/model.h"

#include <sqlite3.h>

/* All rows, sorted. */
void dump_model(const struct model *m, struct buf *out);
void dump_sqlite(const char *path, struct buf *out);
/* The items of load, in their order. */
void dump_load(const struct store_ops *ops, void *store, struct buf *out);
/* One row, without a line end. */
void dump_sched_row(const struct sched_row *r, struct buf *out);
void dump_run_row(const struct run_row *r, struct buf *out);
void dump_text(struct str text, struct buf *out); /* after a space */
/* An answer without its tag. */
void dump_ack(const struct st_ack *ack, struct buf *out);
/* One column of the statement's row, after a space. */
void dump_column(sqlite3_stmt *s, int column, struct buf *out);

/* Compares two dumps and prints the first line in which they differ. */
bool is_same_dump(const char *file, int line, struct str got, struct str want);
#define CHECK_SAME(got, want) is_same_dump(__FILE__, __LINE__, buf_str(got), buf_str(want))

/* A connection that waits for the locks of others. */
sqlite3 *open_database(const char *path);
