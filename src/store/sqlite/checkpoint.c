/* The checkpoint thread: waits until enough pages were committed, then moves them into the database. */
#include "store/sqlite/checkpoint.h"
#include "store/sqlite/db.h"
#include "sys/thread.h"

#include <time.h>

/* Waits until a pass is wanted; after a failed pass, at most STORE_CHECKPOINT_SECONDS. False: the store is
 * closing. */
static bool wait_for_pass(struct checkpoint *c, bool failed)
{
	struct timespec until;
	int rc = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STORE_CHECKPOINT_SECONDS;
	while (!c->closing && !c->wanted && rc == 0)
		rc = failed ? pthread_cond_timedwait(&c->wake, &c->lock, &until)
			    : pthread_cond_wait(&c->wake, &c->lock);
	return !c->closing;
}

/* Returns whether the pass failed. Called with the lock held, and releases it during the checkpoint
 * itself. */
static bool make_pass(struct checkpoint *c)
{
	int in_log = 0, moved = 0;
	uint64_t commits = c->commits;
	c->wanted = false;
	c->passing = true;
	c->written = 0;
	pthread_mutex_unlock(&c->lock);

	pthread_mutex_lock(&c->log);
	int rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
	pthread_mutex_unlock(&c->log);
	bool failed =
		rc != SQLITE_OK && (rc & 0xFF) != SQLITE_BUSY; /* busy: another connection is checkpointing */
	db_record(c->db, failed ? rc : SQLITE_OK, c->failures, STORE_CHECKPOINTING);

	pthread_mutex_lock(&c->lock);
	c->passing = false;
	c->complete = rc == SQLITE_OK && in_log == moved && c->commits == commits;
	return failed;
}

static void *checkpoint_main(void *arg)
{
	struct checkpoint *c = arg;
	bool failed = false;
	pthread_mutex_lock(&c->lock);
	while (wait_for_pass(c, failed) && !failures_are_final(c->failures))
		failed = make_pass(c);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void destroy_locks(struct checkpoint *c)
{
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->log);
}

enum err checkpoint_start(struct checkpoint *c, sqlite3 *db, unsigned threshold,
			  struct store_failures *failures)
{
	*c = (struct checkpoint){ .db = db, .threshold = threshold, .failures = failures };
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->log, NULL);
	thread_cond_init(&c->wake);
	if (thread_start(&c->thread, checkpoint_main, c) == OK)
		return OK;
	destroy_locks(c);
	return E_NOMEM;
}

void checkpoint_stop(struct checkpoint *c)
{
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	destroy_locks(c);
	sqlite3_close(c->db);
}

static void want_pass(struct checkpoint *c)
{
	c->wanted = true;
	pthread_cond_signal(&c->wake);
}

void checkpoint_committed(struct checkpoint *c, unsigned pages)
{
	pthread_mutex_lock(&c->lock);
	c->commits++;
	c->complete = false;
	c->written += pages;
	if (c->written >= c->threshold && !c->wanted)
		want_pass(c);
	pthread_mutex_unlock(&c->lock);
}

bool checkpoint_is_complete(struct checkpoint *c)
{
	pthread_mutex_lock(&c->lock);
	bool complete = c->complete;
	if (!complete)
		want_pass(c);
	pthread_mutex_unlock(&c->lock);
	return complete;
}

bool checkpoint_is_near(struct checkpoint *c, unsigned pages)
{
	pthread_mutex_lock(&c->lock);
	bool near = !c->wanted && !c->passing && c->written <= pages;
	if (!near && !c->passing)
		want_pass(c);
	pthread_mutex_unlock(&c->lock);
	return near;
}

int checkpoint_now(struct checkpoint *c, sqlite3 *writer, int mode)
{
	pthread_mutex_lock(&c->log);
	int rc = sqlite3_wal_checkpoint_v2(writer, NULL, mode, NULL, NULL);
	pthread_mutex_unlock(&c->log);
	return rc;
}
