#pragma once
/* A store under test. The model and the SQLite store are used by the same calls. */
#include "base/buf.h"
#include "model/store.h"
#include "store/sqlite/store.h"

enum fixture_kind { FIXTURE_MODEL, FIXTURE_SQLITE, FIXTURE_KINDS };

struct fixture {
	enum fixture_kind kind;
	const struct store_ops *ops;
	void *store; /* struct model_store or struct store */
	uint64_t tags;
	char dir[64], path[80]; /* directory and database of the SQLite store */
};

void fixture_open(struct fixture *f, enum fixture_kind kind);
/* SQLite: closes the file and opens it again. Model: continues with a clone. */
void fixture_reopen(struct fixture *f);
void fixture_close(struct fixture *f);
const char *fixture_name(enum fixture_kind kind);

/* Submits a request and waits for its answer, which must have the same tag. */
struct st_ack fixture_ask(struct fixture *f, struct st_req r);
/* Collects `n` answers, waits at most ten seconds for each, and returns how many there were. */
unsigned collect_answers(const struct store_ops *ops, void *store, struct st_ack *ret, unsigned n);
/* All rows as text, sorted. */
void fixture_dump(struct fixture *f, struct buf *out);

/* --- files --- */

/* Whether PRAGMA integrity_check and the full-text index find no error. */
bool database_is_sound(const char *path);
/* Runs SQL text on a connection of its own. */
void run_sql(const char *path, const char *text);
/* The one number that SQL text selects. */
int64_t select_number(const char *path, const char *sql);

/* make_dir makes a new directory below $TMPDIR; remove_dir removes a directory with its files. */
void make_dir(char *ret, size_t size);
void remove_dir(const char *dir);
