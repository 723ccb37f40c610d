#pragma once
/* Requests on their way to a store's writer thread, and answers on their way back. The queue is bounded, and
 * no call waits for a disk. An entry holds the request and its answer, so that answering needs no memory. */
#include "port/store.h"

#include <pthread.h>

struct queue_entry {
	struct queue_entry *next;
	size_t bytes;            /* of text */
	struct st_req req;       /* its texts point into `text` */
	struct st_ack ack;       /* written by the writer thread */
	_Alignas(8) char text[]; /* the rows of ST_MESSAGES first, then all texts */
};

struct queue_list {
	struct queue_entry *first, *last;
	unsigned n;
};

struct request_queue {
	pthread_mutex_t lock;
	pthread_cond_t wake; /* signalled for a new request, and when the queue closes */
	struct queue_list lane[LANES], answers;
	unsigned under_way, under_way_max; /* entries submitted and not yet collected */
	size_t bytes, bytes_max;           /* of their texts */
	bool closing;
	int fd; /* an eventfd: readable while there are answers */
};

must_check enum err queue_init(struct request_queue *q, unsigned under_way_max, size_t bytes_max);
/* Frees every entry. No thread may use the queue any more. */
void queue_destroy(struct request_queue *q);

/* --- for the thread that submits; see struct store_ops --- */

must_check enum err queue_submit(struct request_queue *q, const struct st_req *r);
unsigned queue_collect(struct request_queue *q, struct st_ack *ret, unsigned max);
/* Tells the writer thread to end once the lanes are empty. */
void queue_close(struct request_queue *q);

/* --- for the writer thread --- */

/* Takes up to `max` requests: higher lanes first, in order of submission within a lane. Each lower lane that
 * has requests gets one of every STORE_LANE_SHARE places. Waits at most `ms` for the first request (-1:
 * without a limit). `end`: the queue is closing and its lanes are empty. */
unsigned queue_take(struct request_queue *q, struct queue_entry **ret, unsigned max, int ms, bool *end);
void queue_answer(struct request_queue *q, struct queue_entry **answered, unsigned n);
/* Waits `ms`. False: the queue is closing; then it returns at once. */
bool queue_pause(struct request_queue *q, int ms);
