#pragma once
/* Requests on their way to a store's writer thread, and answers on their way back. Bounded; nothing here
 * waits for a disk. A request becomes its own answer, so that answering needs no memory. */
#include "port/store.h"

#include <pthread.h>

struct ask {
	struct ask *next;
	struct st_req req; /* its texts point into text */
	struct st_ack ack;
	_Alignas(8) char text[]; /* rows of notices, too */
};

struct ask_list {
	struct ask *first, *last;
	unsigned n;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* there is a request, or the end */
	struct ask_list lane[LANES], answers;
	unsigned under_way, under_way_max; /* submitted and not yet collected */
	size_t text, text_max;             /* bytes of their texts */
	bool closing;
	int fd; /* an eventfd: readable while there are answers */
};

must_check enum err queue_init(struct queue *q, unsigned under_way_max, size_t text_max);
/* Everything in it is freed; no thread uses it any more. */
void queue_destroy(struct queue *q);

/* For the caller's side; see struct store_ops. */
must_check enum err queue_submit(struct queue *q, const struct st_req *r);
unsigned queue_collect(struct queue *q, struct st_ack *ret, unsigned max);
/* From now on the writer's side is told so. */
void queue_close(struct queue *q);

/* For the writer's side. Takes up to `max` requests: higher lanes first, in order of submission within each,
 * but of every STORE_LANE_SHARE places each lower lane that has something in it keeps one. Waits for the
 * first request, at most `ms` (-1: for ever). `end`: it is closing, and nothing is left. */
unsigned queue_take(struct queue *q, struct ask **ret, unsigned max, int ms, bool *end);
void queue_answer(struct queue *q, struct ask **done, unsigned n);
/* Waits `ms`, unless it is closing: then false, at once. */
bool queue_pause(struct queue *q, int ms);
