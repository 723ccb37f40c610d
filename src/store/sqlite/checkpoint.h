#pragma once
/* Moves the write-ahead log into the database, on a thread and a connection of its own, so that no commit
 * waits for it. Its passes are passive: they do not wait for the writer either, and so never empty the log of
 * a busy writer. The writer empties the log itself, and asks here when there is little left to move. */
#include "store/failures.h"

#include <sqlite3.h>

struct checkpoint {
	sqlite3 *db;
	pthread_t thread;
	pthread_mutex_t lock; /* of the fields below */
	pthread_mutex_t log;  /* held during a checkpoint, by this thread or by the writer */
	pthread_cond_t wake;
	unsigned threshold;   /* a pass is made after so many pages were committed */
	unsigned written;     /* pages committed since the last pass began */
	uint64_t commits;     /* so far */
	bool wanted, passing; /* a pass is to be made; one is being made */
	bool complete;        /* the last pass moved everything, and no commit followed */
	bool closing;
	struct store_failures *failures;
};

/* Takes over `db` if it succeeds. */
must_check enum err checkpoint_start(struct checkpoint *c, sqlite3 *db, unsigned threshold,
				     struct store_failures *failures);
void checkpoint_stop(struct checkpoint *c);

/* The writer has committed so many pages. */
void checkpoint_committed(struct checkpoint *c, unsigned pages);
/* Whether every commit is in the database. If not, a pass is made soon. */
bool checkpoint_is_complete(struct checkpoint *c);
/* Whether no pass is being made and at most `pages` were committed since the last one began, so that the
 * writer has little to move when it restarts the log. If not, a pass is made soon. */
bool checkpoint_is_near(struct checkpoint *c, unsigned pages);
/* A checkpoint of this mode on the writer's own connection, after the pass that is being made (for which
 * SQLite would not wait: it would give up). */
must_check int checkpoint_now(struct checkpoint *c, sqlite3 *writer, int mode);
