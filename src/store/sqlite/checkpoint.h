#pragma once
/* Moves the write-ahead log into the database, on a thread and a connection of its own, so that no commit
 * waits for it. Its passes are passive: they do not wait for the writer either, so they never empty the log
 * while the writer is busy. The writer restarts or truncates the log itself, and learns from
 * checkpoint_is_near whether little is left to move. */
#include "store/failures.h"

#include <sqlite3.h>

struct checkpoint {
	sqlite3 *db;
	pthread_t thread;
	pthread_mutex_t lock; /* protects the fields below */
	pthread_mutex_t log;  /* held during a checkpoint, by this thread or by the writer */
	pthread_cond_t wake;
	unsigned threshold;   /* pages committed between two passes */
	unsigned written;     /* pages committed since the last pass began */
	uint64_t commits;     /* so far */
	bool wanted, passing; /* a pass is requested; a pass is being made */
	bool complete;        /* the last pass moved all pages, and nothing was committed since */
	bool closing;
	struct store_failures *failures;
};

/* Takes over `db` if it succeeds. */
must_check enum err checkpoint_start(struct checkpoint *c, sqlite3 *db, unsigned threshold,
				     struct store_failures *failures);
void checkpoint_stop(struct checkpoint *c);

/* To be called after each commit, with the number of pages that it wrote. */
void checkpoint_committed(struct checkpoint *c, unsigned pages);
/* Whether every commit is in the database. If not, a pass is made soon. */
bool checkpoint_is_complete(struct checkpoint *c);
/* Whether no pass is being made and at most `pages` were committed since the last one began, so that the
 * writer has little to move when it restarts the log. If not, a pass is made soon. */
bool checkpoint_is_near(struct checkpoint *c, unsigned pages);
/* Makes a checkpoint of this mode on the writer's own connection. Waits for a pass that is being made: SQLite
 * itself would not wait, but fail. */
must_check int checkpoint_now(struct checkpoint *c, sqlite3 *writer, int mode);
