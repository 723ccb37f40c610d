#include "store/sqlite/checkpoint.h"
#include "store/sqlite/db.h"
#include "sys/thread.h"

#include <time.h>

/* Waits until a pass is wanted. A failed one is tried again after a while. */
static bool wait_for_work(struct checkpoint *c, bool failed)
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

/* Locked, but not during the pass itself. Whether it failed. */
static bool pass(struct checkpoint *c)
{
	int in_log = 0, moved = 0;
	uint64_t commits = c->commits;
	c->wanted = false;
	c->passing = true;
	c->written = 0;
	pthread_mutex_unlock(&c->lock);

	pthread_mutex_lock(&c->turn);
	int rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &moved);
	pthread_mutex_unlock(&c->turn);
	bool failed = rc != SQLITE_OK && (rc & 0xFF) != SQLITE_BUSY; /* busy: somebody else is at it */
	db_note(c->db, failed ? rc : SQLITE_OK, c->trouble, TROUBLE_CHECKPOINT);

	pthread_mutex_lock(&c->lock);
	c->passing = false;
	c->complete = rc == SQLITE_OK && in_log == moved && c->commits == commits;
	return failed;
}

static void *work(void *arg)
{
	struct checkpoint *c = arg;
	bool failed = false;
	pthread_mutex_lock(&c->lock);
	while (wait_for_work(c, failed) && !trouble_is_final(c->trouble))
		failed = pass(c);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void destroy(struct checkpoint *c)
{
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->turn);
}

enum err checkpoint_start(struct checkpoint *c, sqlite3 *db, unsigned threshold, struct trouble *trouble)
{
	*c = (struct checkpoint){ .db = db, .threshold = threshold, .trouble = trouble };
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->turn, NULL);
	thread_cond_init(&c->wake);
	if (thread_start(&c->thread, work, c) == OK)
		return OK;
	destroy(c);
	return E_NOMEM;
}

void checkpoint_stop(struct checkpoint *c)
{
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	destroy(c);
	sqlite3_close(c->db);
}

static void want(struct checkpoint *c)
{
	c->wanted = true;
	pthread_cond_signal(&c->wake);
}

void checkpoint_note(struct checkpoint *c, unsigned pages)
{
	pthread_mutex_lock(&c->lock);
	c->commits++;
	c->complete = false;
	c->written += pages;
	if (c->written >= c->threshold && !c->wanted)
		want(c);
	pthread_mutex_unlock(&c->lock);
}

bool checkpoint_settled(struct checkpoint *c)
{
	pthread_mutex_lock(&c->lock);
	bool settled = c->complete;
	if (!settled)
		want(c);
	pthread_mutex_unlock(&c->lock);
	return settled;
}

bool checkpoint_is_near(struct checkpoint *c, unsigned pages)
{
	pthread_mutex_lock(&c->lock);
	bool near = !c->wanted && !c->passing && c->written <= pages;
	if (!near && !c->passing)
		want(c);
	pthread_mutex_unlock(&c->lock);
	return near;
}

int checkpoint_now(struct checkpoint *c, sqlite3 *writer, int mode)
{
	pthread_mutex_lock(&c->turn);
	int rc = sqlite3_wal_checkpoint_v2(writer, NULL, mode, NULL, NULL);
	pthread_mutex_unlock(&c->turn);
	return rc;
}
