#pragma once
/* A pool of threads that carry out tasks in the order in which they arrive. Tasks with the same key are
 * carried out one after the other: so the tasks of one key never occupy more than one thread, and a task of
 * another key does not wait for them while there is a free thread. */
#include "base/err.h"
#include "base/time.h"

struct pool;
struct pool_task;
typedef void pool_fn(void *ctx, struct pool_task *t, unsigned thread); /* threads count from 0 */

/* Part of the caller's own struct. The pool uses it from pool_put until it calls the function. */
struct pool_task {
	uint64_t key;
	struct boot after; /* not before this time; 0: as soon as possible */
	struct pool_task *next;
};

/* `carry_out` is called on one of the threads with each task. `capacity` bounds the tasks that wait; those
 * that have a time `after` do not count. */
must_check enum err pool_new(unsigned threads, unsigned capacity, pool_fn *carry_out, void *ctx,
			     struct pool **ret);
/* Ends the threads when they have finished their tasks, and returns the tasks that are left as a list. */
struct pool_task *pool_close(struct pool *p);

/* From any thread. E_LIMIT: there would be fewer than `reserve` free places left. */
must_check enum err pool_put(struct pool *p, struct pool_task *t, unsigned reserve);
