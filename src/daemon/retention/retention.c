#include "daemon/retention/retention.h"

#include "runfile/read.h"
#include "runfile/walk.h"
#include "store/sqlite/read/prune_scan.h"
#include "sys/clock.h"

#include <pthread.h>
#include <stdlib.h>

struct retention {
	struct retention_options options;
	struct reader *reader;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t bell;
	/* Below: by the lock. */
	bool closing, told, trusted;
	unsigned waiting; /* answers of the store */
	uint64_t acted_on;
};

/* --- waiting --- */

/* False: it is closing. */
static bool sleep_for(struct retention *r, int64_t ms)
{
	struct timespec until;
	int rc = 0;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += (time_t)(ms / 1000) + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&r->lock);
	while (!r->closing && rc == 0)
		rc = pthread_cond_timedwait(&r->bell, &r->lock, &until);
	bool goes_on = !r->closing;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

/* An outage of the store is waited for: there is no hurry. */
static bool wait_for_answers(struct retention *r)
{
	pthread_mutex_lock(&r->lock);
	while (!r->closing && r->waiting)
		pthread_cond_wait(&r->bell, &r->lock);
	bool goes_on = !r->closing;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

void retention_answered(struct retention *r)
{
	pthread_mutex_lock(&r->lock);
	r->waiting--;
	pthread_cond_broadcast(&r->bell);
	pthread_mutex_unlock(&r->lock);
}

void retention_facts(struct retention *r, bool trusted, uint64_t acted_on)
{
	pthread_mutex_lock(&r->lock);
	r->told = true;
	r->trusted = trusted;
	r->acted_on = acted_on;
	pthread_cond_broadcast(&r->bell);
	pthread_mutex_unlock(&r->lock);
}

static bool ask_facts(struct retention *r, bool *trusted, uint64_t *acted_on)
{
	pthread_mutex_lock(&r->lock);
	r->told = false;
	pthread_mutex_unlock(&r->lock);
	if (r->options.ask(r->options.ctx))
		return false;
	pthread_mutex_lock(&r->lock);
	while (!r->closing && !r->told)
		pthread_cond_wait(&r->bell, &r->lock);
	bool goes_on = !r->closing;
	*trusted = r->trusted;
	*acted_on = r->acted_on;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

/* --- records --- */

/* False: it is closing. */
static bool send(struct retention *r, const struct st_req *q)
{
	pthread_mutex_lock(&r->lock);
	r->waiting++;
	pthread_mutex_unlock(&r->lock);
	while (r->options.send(r->options.ctx, q))
		if (!sleep_for(r, RETAIN_PAUSE_MS))
			return false;
	return true;
}

/* Asks for those of a batch that are old; runs by their numbers, all in one. */
static bool prune_batch(struct retention *r, struct st_req q, const struct old_item *item, unsigned n)
{
	unsigned asked = 0;
	bool goes_on = true;
	for (unsigned i = 0; i < n && goes_on; i++) {
		if (!item[i].old || (q.prune.what == PRUNE_RUNS && asked))
			continue;
		q.sid = item[i].sid;
		q.rev = item[i].rev;
		q.prune.first = item[i].at;
		if (q.prune.what == PRUNE_RUNS) {
			q.sid = 0;
			q.prune.last = item[n - 1].at;
		}
		goes_on = send(r, &q);
		asked++;
	}
	if (!goes_on || !asked)
		return goes_on;
	return wait_for_answers(r) && sleep_for(r, RETAIN_PAUSE_MS);
}

static bool prune_records(struct retention *r, enum prune_what what, struct wall by, uint64_t acted_on)
{
	static _Thread_local struct old_item item[READ_LIST_MAX];
	struct st_req q = { .op = ST_PRUNE, .lane = LANE_BULK, .at = by };
	uint64_t after = 0;
	unsigned n, young;
	struct why why;
	q.prune = (struct prune_request){ .what = (uint8_t)what, .end = acted_on };
	do {
		if (read_old(r->reader, what, after, by, item, READ_LIST_MAX, &n, &why))
			return true; /* the store's trouble is told by others; another time */
		young = 0;
		for (unsigned i = 0; i < n; i++)
			young += item[i].young;
		for (unsigned i = 0; i < n; i += RETAIN_BATCH)
			if (!prune_batch(r, q, &item[i], n - i < RETAIN_BATCH ? n - i : RETAIN_BATCH))
				return false;
		after = n ? item[n - 1].at : after;
	} while (n == READ_LIST_MAX && young < n);
	return true;
}

/* --- files --- */

struct broom {
	struct retention *r;
	struct wall by;
	uint64_t bytes; /* of all that is left */
	bool by_size;   /* the oldest go until there is room, whatever their age */
	unsigned removed;
};

static bool is_alive(const struct retention *r, const struct run_files *f)
{
	for (unsigned i = 0; i < f->files; i++) {
		struct runfile file = { 0 };
		enum run_life life = LIFE_ALIVE;
		struct why why;
		if (!strcmp(f->file[i].kind, "run") &&
		    (runfile_read(r->options.runs, f->run, f->file[i].attempt, &life, &file, &why) ||
		     life == LIFE_ALIVE))
			return true;
	}
	return false;
}

/* The files of a run that is not over are its record of life, and those of the latest the next one's context.
 */
static bool may_go(const struct broom *b, const struct run_files *f, bool *keep_result)
{
	struct old_run run;
	struct why why;
	if (read_old_run(b->r->reader, f->run, &run, &why))
		return false;
	*keep_result = run.known && run.latest;
	if (run.known)
		return run.over && (b->by_size || (run.at.us <= b->by.us && !run.latest));
	return (b->by_size || f->touched <= b->by.us) && !is_alive(b->r, f);
}

static bool sweep(void *ctx, struct run_files *f)
{
	struct broom *b = ctx;
	bool keep_result;
	if (b->by_size && b->bytes <= (uint64_t)b->r->options.logs_bytes)
		return false;
	if (!b->by_size)
		b->bytes += f->bytes;
	if ((b->by_size || f->touched <= b->by.us) && may_go(b, f, &keep_result)) {
		uint64_t bytes = runfile_remove(f, keep_result);
		b->bytes -= bytes < b->bytes ? bytes : b->bytes;
		b->removed += f->files;
	}
	if (b->removed < RETAIN_BATCH)
		return true;
	b->removed = 0;
	return sleep_for(b->r, RETAIN_PAUSE_MS);
}

static void prune_files(struct retention *r, struct wall by)
{
	struct broom b = { .r = r, .by = by };
	struct why why;
	/* What cannot be read is trouble that the runner tells of. */
	if (runfile_walk(r->options.runs, 0, sweep, &b, &why) || b.bytes <= (uint64_t)r->options.logs_bytes)
		return;
	b.by_size = true;
	if (runfile_walk(r->options.runs, 0, sweep, &b, &why))
		return;
}

/* --- the thread --- */

static struct wall days_ago(int64_t days)
{
	return (struct wall){ clock_wall().us - days * 86400 * USEC };
}

/* Runs before what they hold on to. */
static void pass(struct retention *r)
{
	static const enum prune_what order[] = { PRUNE_RUNS, PRUNE_RANGES, PRUNE_VERSION, PRUNE_SCHED,
						 PRUNE_PROBLEM };
	static_assert(ARRAY_LEN(order) == PRUNES, "all of them are here");
	bool trusted;
	uint64_t acted_on;
	/* A clock that ran ahead would make everything old. */
	if (!ask_facts(r, &trusted, &acted_on) || !trusted)
		return;
	for (unsigned i = 0; i < ARRAY_LEN(order); i++)
		if (!prune_records(r, order[i], days_ago(r->options.runs_days), acted_on))
			return;
	prune_files(r, days_ago(r->options.logs_days));
}

static void *work(void *arg)
{
	struct retention *r = arg;
	for (int64_t wait = r->options.first; sleep_for(r, wait * 1000); wait = r->options.every)
		pass(r);
	return NULL;
}

enum err retention_open(const struct retention_options *o, struct retention **ret, struct why *why)
{
	struct retention *r = calloc(1, sizeof *r);
	pthread_condattr_t attr;
	if (!r)
		return E_NOMEM;
	r->options = *o;
	pthread_mutex_init(&r->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&r->bell, &attr);
	pthread_condattr_destroy(&attr);
	enum err e = reader_open(o->database, &r->reader, why);
	if (!e && pthread_create(&r->thread, NULL, work, r))
		e = why_set(why, E_IO, WHY_NOWHERE, "a thread cannot be started");
	r->started = !e;
	if (e)
		retention_close(r);
	else
		*ret = r;
	return e;
}

void retention_close(struct retention *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->closing = true;
	pthread_cond_broadcast(&r->bell);
	pthread_mutex_unlock(&r->lock);
	if (r->started)
		pthread_join(r->thread, NULL);
	reader_close(r->reader);
	pthread_cond_destroy(&r->bell);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
