/* The retention thread: finds old records and files, and has them removed. */
#include "daemon/retention/retention.h"

#include "daemon/daemon.h"
#include "port/read.h"
#include "runfile/walk.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <stdlib.h>

/* Facts from the engine that pruning depends on. */
struct engine_facts {
	bool clock_trusted;
	struct wall acted_until; /* no follower has to act on ends up to this instant */
};

struct retention {
	struct retention_options options;
	struct reader *reader;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Protected by the lock. */
	bool closing;
	unsigned unanswered; /* requests to the store */
	bool has_facts;
	struct engine_facts facts;
};

/* --- waiting --- */

/* False: the thread must end. */
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
		rc = pthread_cond_timedwait(&r->changed, &r->lock, &until);
	bool goes_on = !r->closing;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

/* Waits for all answers of the store, even during an outage. False: the thread must end. */
static bool wait_for_answers(struct retention *r)
{
	pthread_mutex_lock(&r->lock);
	while (!r->closing && r->unanswered)
		pthread_cond_wait(&r->changed, &r->lock);
	bool goes_on = !r->closing;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

/* Runs on the daemon's thread. */
static void pruned(void *ctx, const struct st_ack *ack)
{
	struct retention *r = ctx;
	(void)ack;
	pthread_mutex_lock(&r->lock);
	r->unanswered--;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* Runs on the daemon's thread. */
static void report_facts(void *arg)
{
	struct retention *r = arg;
	const struct engine *e = daemon_engine(r->options.daemon);
	pthread_mutex_lock(&r->lock);
	r->facts = (struct engine_facts){ !engine_clock_held(e), engine_acted_until(e) };
	r->has_facts = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
}

/* False: the thread must end, or the daemon is too busy to answer. */
static bool ask_facts(struct retention *r, struct engine_facts *ret)
{
	pthread_mutex_lock(&r->lock);
	r->has_facts = false;
	pthread_mutex_unlock(&r->lock);
	if (daemon_call(r->options.daemon, report_facts, r))
		return false;
	pthread_mutex_lock(&r->lock);
	while (!r->closing && !r->has_facts)
		pthread_cond_wait(&r->changed, &r->lock);
	bool goes_on = !r->closing;
	*ret = r->facts;
	pthread_mutex_unlock(&r->lock);
	return goes_on;
}

/* --- records --- */

/* False: the thread must end. */
static bool send_prune(struct retention *r, const struct st_req *q)
{
	pthread_mutex_lock(&r->lock);
	r->unanswered++;
	pthread_mutex_unlock(&r->lock);
	while (daemon_send(r->options.daemon, q, pruned, r))
		if (!sleep_for(r, RETENTION_PAUSE_MS))
			return false;
	return true;
}

/* Runs and events are pruned by ranges of numbers. */
static bool is_pruned_by_range(unsigned what)
{
	return what == PRUNE_RUNS || what == PRUNE_EVENTS;
}

/* Asks the store to prune the old items of a batch: by one request for a range of numbers, or one by one.
 * False: the thread must end. */
static bool prune_batch(struct retention *r, struct st_req q, const struct old_item *item, unsigned n)
{
	unsigned asked = 0;
	bool goes_on = true;
	for (unsigned i = 0; i < n && goes_on; i++) {
		if (!item[i].old || (is_pruned_by_range(q.prune.what) && asked))
			continue;
		q.sid = item[i].sid;
		q.rev = item[i].rev;
		q.prune.first = item[i].at;
		if (is_pruned_by_range(q.prune.what)) {
			q.sid = 0;
			q.prune.last = item[n - 1].at;
		}
		goes_on = send_prune(r, &q);
		asked++;
	}
	if (!goes_on || !asked)
		return goes_on;
	return wait_for_answers(r) && sleep_for(r, RETENTION_PAUSE_MS);
}

/* False: the thread must end. */
static bool prune_records(struct retention *r, enum prune_what what, struct wall by)
{
	static _Thread_local struct old_item item[READ_LIST_MAX];
	struct st_req q = { .op = ST_PRUNE, .lane = LANE_BULK, .at = by };
	/* Nothing refers to events, and they are many: deleting them is cheap. */
	const unsigned batch = what == PRUNE_EVENTS ? RETENTION_EVENTS : RETENTION_BATCH;
	uint64_t after = 0;
	unsigned n, young;
	struct why why;
	q.prune = (struct prune_request){ .what = (uint8_t)what };
	do {
		if (read_old(r->reader, what, after, by, item, READ_LIST_MAX, &n, &why))
			return true; /* the store's failure is reported elsewhere; the next pass tries again
				      */
		young = 0;
		for (unsigned i = 0; i < n; i++)
			young += item[i].young;
		for (unsigned i = 0; i < n; i += batch)
			if (!prune_batch(r, q, &item[i], n - i < batch ? n - i : batch))
				return false;
		after = n ? item[n - 1].at : after;
	} while (n == READ_LIST_MAX && young < n);
	return true;
}

/* --- files --- */

struct file_pass {
	struct retention *r;
	struct wall by;   /* files last written before this are old */
	uint64_t bytes;   /* total size of the files that are left */
	bool by_size;     /* second pass: the oldest are removed, whatever their age, until the rest fits */
	unsigned removed; /* number of files removed since the last pause */
};

/* Whether the store has the result of a run. */
static bool has_result(const struct file_pass *p, uint64_t run)
{
	_cleanup_(arena_free) struct arena a = { 0 };
	struct str text = { 0 };
	struct why why;
	return read_run_text(p->r->reader, run, RUN_TEXT_RESULT, &a, &text, &why) == OK && text.n;
}

/* Files of a run that has not ended stay, because they show whether it is alive. The next run of a schedule
 * gets the result of the latest one. If the previous version of rota has recorded that one, its result is
 * only in its file, which then stays. */
static bool may_remove(const struct file_pass *p, const struct run_files *f, bool *keep_result)
{
	struct old_run run;
	struct why why;
	if (read_old_run(p->r->reader, f->run, &run, &why))
		return false;
	*keep_result = run.known && run.latest && !has_result(p, f->run);
	if (run.known)
		return run.over && (p->by_size || (run.at.us <= p->by.us && !run.latest));
	return (p->by_size || f->touched <= p->by.us) &&
	       !runfile_any_alive(daemon_runs_dir(p->r->options.daemon), f);
}

static bool remove_if_old(void *ctx, struct run_files *f)
{
	struct file_pass *p = ctx;
	bool keep_result;
	if (p->by_size && p->bytes <= (uint64_t)p->r->options.logs_bytes)
		return false;
	if (!p->by_size)
		p->bytes += f->bytes;
	if ((p->by_size || f->touched <= p->by.us) && may_remove(p, f, &keep_result)) {
		uint64_t bytes = runfile_remove(f, keep_result);
		p->bytes -= bytes < p->bytes ? bytes : p->bytes;
		p->removed += f->files;
	}
	if (p->removed < RETENTION_BATCH)
		return true;
	p->removed = 0;
	return sleep_for(p->r, RETENTION_PAUSE_MS);
}

static void remove_files(struct retention *r, struct wall by)
{
	const char *dir = daemon_runs_dir(r->options.daemon);
	struct file_pass p = { .r = r, .by = by };
	struct why why;
	/* If a directory cannot be read, the runner reports that. */
	if (runfile_walk(dir, 0, remove_if_old, &p, &why) || p.bytes <= (uint64_t)r->options.logs_bytes)
		return;
	p.by_size = true;
	if (runfile_walk(dir, 0, remove_if_old, &p, &why))
		return;
}

/* --- the thread --- */

static struct wall days_ago(int64_t days)
{
	return (struct wall){ clock_wall().us - days * 86400 * USEC };
}

/* An event is not kept longer than the records that it is worded with. */
static int64_t days_of_events(const struct retention_options *o)
{
	return o->events_days < o->runs_days ? o->events_days : o->runs_days;
}

static void do_pass(struct retention *r)
{
	/* Events first, since they are worded with the records of runs, schedules and problems. Then runs:
	 * other records are kept as long as runs refer to them. */
	static const enum prune_what order[] = { PRUNE_EVENTS,  PRUNE_RUNS,  PRUNE_RANGES,
						 PRUNE_VERSION, PRUNE_SCHED, PRUNE_PROBLEM };
	static_assert(ARRAY_LEN(order) == PRUNES, "every kind is pruned");
	struct engine_facts facts;
	/* If the clock is far ahead, all records seem old, so nothing is removed. */
	if (!ask_facts(r, &facts) || !facts.clock_trusted)
		return;
	for (unsigned i = 0; i < ARRAY_LEN(order); i++) {
		struct wall by = days_ago(order[i] == PRUNE_EVENTS ? days_of_events(&r->options)
								   : r->options.runs_days);
		if (order[i] == PRUNE_RUNS && facts.acted_until.us < by.us)
			by = facts.acted_until;
		if (!prune_records(r, order[i], by))
			return;
	}
	remove_files(r, days_ago(r->options.logs_days));
}

static void *retention_main(void *arg)
{
	struct retention *r = arg;
	int64_t every = r->options.every;
	int64_t wait = every < RETENTION_FIRST_SECONDS ? every : RETENTION_FIRST_SECONDS;
	for (; sleep_for(r, wait * 1000); wait = every)
		do_pass(r);
	return NULL;
}

enum err retention_open(const struct retention_options *o, struct retention **ret, struct why *why)
{
	struct retention *r = calloc(1, sizeof *r);
	if (!r)
		return E_NOMEM;
	r->options = *o;
	pthread_mutex_init(&r->lock, NULL);
	thread_cond_init(&r->changed);
	enum err e = daemon_reader(o->daemon, &r->reader, why);
	if (!e)
		e = thread_start(&r->thread, retention_main, r);
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
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	if (r->started)
		pthread_join(r->thread, NULL);
	reader_close(r->reader);
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
