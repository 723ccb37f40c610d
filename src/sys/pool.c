/* The pool: a list of tasks that wait, one of tasks that wait for a time, and the key that each thread has.
 */
#include "sys/pool.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <stdlib.h>
#include <time.h>

struct task_list {
	struct pool_task *first, **last;
};

struct pool_thread {
	struct pool *pool;
	unsigned number;
	pthread_t id;
	bool busy;
	uint64_t key; /* of its task */
};

struct pool {
	pool_fn *carry_out;
	void *ctx;
	pthread_mutex_t lock; /* protects everything below */
	pthread_cond_t changed;
	bool stop;
	struct task_list ready, timed;
	unsigned count, capacity; /* of `ready` */
	unsigned threads;
	struct pool_thread thread[];
};

static void add(struct task_list *l, struct pool_task *t)
{
	t->next = NULL;
	*l->last = t;
	l->last = &t->next;
}

static void take_out(struct task_list *l, struct pool_task **at)
{
	struct pool_task *t = *at;
	*at = t->next;
	if (l->last == &t->next)
		l->last = at;
	t->next = NULL;
}

/* --- the threads --- */

static bool key_is_busy(const struct pool *p, uint64_t key)
{
	for (unsigned i = 0; i < p->threads; i++)
		if (p->thread[i].busy && p->thread[i].key == key)
			return true;
	return false;
}

/* Makes the timed tasks ready whose time has come. Returns the time of the next one. */
static int64_t move_due(struct pool *p)
{
	int64_t now = clock_boot().us, next = INT64_MAX;
	for (struct pool_task **at = &p->timed.first; *at;) {
		struct pool_task *t = *at;
		if (t->after.us <= now) {
			take_out(&p->timed, at);
			add(&p->ready, t);
			p->count++;
			continue;
		}
		next = t->after.us < next ? t->after.us : next;
		at = &t->next;
	}
	return next;
}

static struct pool_task *take_task(struct pool *p)
{
	for (struct pool_task **at = &p->ready.first; *at; at = &(*at)->next)
		if (!key_is_busy(p, (*at)->key)) {
			struct pool_task *t = *at;
			take_out(&p->ready, at);
			p->count--;
			return t;
		}
	return NULL;
}

static void wait_until(struct pool *p, int64_t next)
{
	struct timespec until;
	if (next == INT64_MAX) {
		pthread_cond_wait(&p->changed, &p->lock);
		return;
	}
	int64_t us = next - clock_boot().us;
	clock_gettime(CLOCK_MONOTONIC, &until);
	us = (us > 0 ? us : 0) + until.tv_nsec / 1000;
	until.tv_sec += (time_t)(us / USEC);
	until.tv_nsec = (long)(us % USEC) * 1000;
	pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static void *thread_main(void *arg)
{
	struct pool_thread *self = arg;
	struct pool *p = self->pool;
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		int64_t next = move_due(p);
		struct pool_task *t = take_task(p);
		if (!t) {
			wait_until(p, next);
			continue;
		}
		self->busy = true;
		self->key = t->key;
		pthread_mutex_unlock(&p->lock);
		p->carry_out(p->ctx, t, self->number);
		pthread_mutex_lock(&p->lock);
		self->busy = false;
		pthread_cond_broadcast(&p->changed); /* the next task of this key can be taken */
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* --- open and close --- */

enum err pool_new(unsigned threads, unsigned capacity, pool_fn *carry_out, void *ctx, struct pool **ret)
{
	struct pool *p = calloc(1, sizeof *p + threads * sizeof *p->thread);
	if (!p)
		return E_NOMEM;
	p->carry_out = carry_out;
	p->ctx = ctx;
	p->capacity = capacity;
	p->ready.last = &p->ready.first;
	p->timed.last = &p->timed.first;
	pthread_mutex_init(&p->lock, NULL);
	thread_cond_init(&p->changed);
	enum err e = OK;
	while (!e && p->threads < threads) {
		struct pool_thread *t = &p->thread[p->threads];
		*t = (struct pool_thread){ .pool = p, .number = p->threads };
		pthread_mutex_lock(&p->lock); /* the threads read the count */
		e = thread_start(&t->id, thread_main, t);
		p->threads += !e;
		pthread_mutex_unlock(&p->lock);
	}
	if (e)
		pool_close(p);
	else
		*ret = p;
	return e;
}

struct pool_task *pool_close(struct pool *p)
{
	if (!p)
		return NULL;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->threads; i++)
		pthread_join(p->thread[i].id, NULL);
	*p->ready.last = p->timed.first;
	struct pool_task *left = p->ready.first;
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p);
	return left;
}

enum err pool_put(struct pool *p, struct pool_task *t, unsigned reserve)
{
	pthread_mutex_lock(&p->lock);
	bool timed = t->after.us > 0, fits = timed || p->count + reserve < p->capacity;
	if (fits)
		add(timed ? &p->timed : &p->ready, t);
	p->count += fits && !timed;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return fits ? OK : E_LIMIT;
}
