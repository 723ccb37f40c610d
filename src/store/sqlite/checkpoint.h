#pragma once
/* Moves the write-ahead log into the database, on a thread and a connection of its own, so that no commit
 * waits for it. Its passes are passive: they never wait for the writer either, and hence never quite empty
 * the log of a busy one. Emptying it is the writer's business, which asks here for the right moment. */
#include "store/failures.h"

#include <sqlite3.h>

struct checkpoint {
	sqlite3 *db;
	pthread_t thread;
	pthread_mutex_t lock, turn; /* turn: held by whoever works on the log */
	pthread_cond_t wake;
	unsigned threshold; /* pages written since the last pass that make another worth while */
	unsigned written;
	uint64_t commits; /* seen so far */
	bool wanted, passing, complete, closing;
	struct trouble *trouble;
};

/* Takes over `db`, if it succeeds. */
must_check enum err checkpoint_start(struct checkpoint *c, sqlite3 *db, unsigned threshold,
				     struct trouble *trouble);
void checkpoint_stop(struct checkpoint *c);

/* The writer has committed so many pages. */
void checkpoint_note(struct checkpoint *c, unsigned pages);
/* Whether all that was committed is in the database. If not, a pass is made soon. */
bool checkpoint_settled(struct checkpoint *c);
/* Whether at most so many pages have been committed since the last pass began, and none is under way: then
 * there is little left to be done for whoever begins the log anew. If not, a pass is made soon. */
bool checkpoint_is_near(struct checkpoint *c, unsigned pages);
/* One of SQLite's checkpoints on the writer's own connection, after the pass that is under way. (SQLite would
 * not wait for that, but give up.) */
must_check int checkpoint_now(struct checkpoint *c, sqlite3 *writer, int mode);
