#pragma once
/* What the tests of stores share: either store behind the same calls, and all its rows as text, one line
 * each, so that two stores (or one store at two times) can be compared. The SQLite rows are read by SQL of
 * our own, not by the code under test. */
#include "base/buf.h"
#include "model_store.h"
#include "store/sqlite/store.h"

#include <sqlite3.h>

enum rig_kind { RIG_ROWS, RIG_SQLITE, RIG_KINDS };

struct rig {
	enum rig_kind kind;
	const struct store_ops *ops;
	void *store; /* struct rows_store or struct store */
	uint64_t tags;
	char dir[64], path[80]; /* SQLite */
};

void rig_open(struct rig *rig, enum rig_kind kind);
/* SQLite: closes the file and opens it again. Rows: goes on with a clone. */
void rig_reopen(struct rig *rig);
void rig_close(struct rig *rig);
const char *rig_name(enum rig_kind kind);

/* Submits, waits, and takes the answer, which must have the tag that was given. */
struct st_ack rig_ask(struct rig *rig, const struct st_req *r);
/* Takes `n` answers, waiting for each at most ten seconds; how many there were. */
unsigned rig_collect(const struct store_ops *ops, void *store, struct st_ack *ret, unsigned n);

/* All rows, sorted. */
void rig_dump(struct rig *rig, struct buf *out);
void dump_rows(const struct rows *r, struct buf *out);
void dump_sqlite(const char *path, struct buf *out);
/* One column of the statement's row, after a space. */
void dump_column(sqlite3_stmt *s, int column, struct buf *out);
/* What load tells, in its order. */
void dump_load(const struct store_ops *ops, void *store, struct buf *out);
/* An answer without its tag. */
void dump_ack(const struct st_ack *ack, struct buf *out);
/* Compares two dumps and prints the first line in which they differ. */
bool same_text(const char *file, int line, struct str got, struct str want);
#define CHECK_SAME(got, want) same_text(__FILE__, __LINE__, buf_str(got), buf_str(want))

/* "ok" from PRAGMA integrity_check. */
bool database_is_sound(const char *path);

/* A fresh directory below $TMPDIR, and its end. */
void make_dir(char *ret, size_t size);
void remove_dir(const char *dir);
