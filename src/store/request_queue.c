/* The request queue: copies each request with its texts, and passes it to the writer thread and back. */
#include "store/request_queue.h"
#include "sys/thread.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static void list_add(struct queue_list *l, struct queue_entry *e)
{
	e->next = NULL;
	*(l->first ? &l->last->next : &l->first) = e;
	l->last = e;
	l->n++;
}

static struct queue_entry *list_take(struct queue_list *l)
{
	struct queue_entry *e = l->first;
	l->first = e->next;
	l->n--;
	return e;
}

static void list_free(struct queue_list *l)
{
	while (l->n)
		free(list_take(l));
}

enum err queue_init(struct request_queue *q, unsigned under_way_max, size_t bytes_max)
{
	*q = (struct request_queue){ .under_way_max = under_way_max, .bytes_max = bytes_max };
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0)
		return E_IO;
	thread_cond_init(&q->wake);
	pthread_mutex_init(&q->lock, NULL);
	return OK;
}

void queue_destroy(struct request_queue *q)
{
	for (unsigned i = 0; i < LANES; i++)
		list_free(&q->lane[i]);
	list_free(&q->answers);
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	close(q->fd);
}

/* --- copying a request --- */

enum { REQUEST_TEXTS_MAX = 10 };

/* Every text of a request, except those of the messages of ST_MESSAGES. */
static unsigned request_texts(struct st_req *r, struct str *ret[static REQUEST_TEXTS_MAX])
{
	struct str *all[REQUEST_TEXTS_MAX] = { &r->id, &r->document, &r->source.from, &r->note, &r->result };
	struct str **to = all + 5;
	switch ((enum st_op)r->op) {
	case ST_PROBLEM:
		*to++ = &r->problem.key;
		*to++ = &r->problem.subject;
		*to++ = &r->problem.text;
		*to++ = &r->problem.by;
		*to++ = &r->problem.note;
		break;
	case ST_NAME:
		*to++ = &r->name.text;
		break;
	case ST_RUN_TEXT:
		*to++ = &r->run_text.text;
		break;
	case ST_REPORT:
		*to++ = &r->report.text;
		break;
	case ST_STATE:
		*to++ = &r->state.key;
		*to++ = &r->state.text;
		break;
	case ST_MEMORY:
		*to++ = &r->memory.agent;
		*to++ = &r->memory.text;
		*to++ = &r->memory.tags;
		break;
	case ST_AGENT:
		*to++ = &r->agent.name;
		*to++ = &r->agent.text;
		break;
	case ST_DELIVERY:
		*to++ = &r->delivery.origin;
		*to++ = &r->delivery.target;
		*to++ = &r->delivery.body;
		*to++ = &r->delivery.result;
		break;
	default:
		break;
	}
	memcpy(ret, all, sizeof all);
	return (unsigned)(to - all);
}

static char *copy_text(char *to, struct str *s)
{
	if (s->n)
		memcpy(to, s->p, s->n);
	if (s->p) /* a text that was not given stays NULL */
		s->p = to;
	return to + s->n;
}

static size_t batch_bytes(const struct message_batch *t)
{
	size_t bytes = t->n * sizeof *t->message;
	for (unsigned i = 0; i < t->n; i++) {
		const struct message_row *m = &t->message[i];
		bytes += m->origin.n + m->target.n + m->body.n + m->result.n;
	}
	return bytes;
}

/* The rows come first: `to` is aligned for them. */
static char *copy_batch(char *to, struct message_batch *t)
{
	struct message_row *rows = (struct message_row *)to;
	if (!t->n)
		return to;
	memcpy(rows, t->message, t->n * sizeof *rows);
	t->message = rows;
	to += t->n * sizeof *rows;
	for (unsigned i = 0; i < t->n; i++) {
		to = copy_text(copy_text(to, &rows[i].origin), &rows[i].target);
		to = copy_text(copy_text(to, &rows[i].body), &rows[i].result);
	}
	return to;
}

/* A copy of the request with its texts. NULL: no memory. */
static struct queue_entry *entry_new(const struct st_req *r)
{
	struct st_req req = *r;
	struct str *text[REQUEST_TEXTS_MAX];
	unsigned n = request_texts(&req, text);
	size_t bytes = req.op == ST_MESSAGES ? batch_bytes(&req.messages) : 0;
	for (unsigned i = 0; i < n; i++)
		bytes += text[i]->n;
	struct queue_entry *e = malloc(sizeof *e + bytes + 1);
	if (!e)
		return NULL;
	char *to = req.op == ST_MESSAGES ? copy_batch(e->text, &req.messages) : e->text;
	for (unsigned i = 0; i < n; i++)
		to = copy_text(to, text[i]);
	e->req = req;
	e->bytes = bytes;
	return e;
}

/* --- for the thread that submits --- */

enum err queue_submit(struct request_queue *q, const struct st_req *r)
{
	assert(r->op < ST_OPS && r->lane < LANES);
	struct queue_entry *e = entry_new(r);
	if (!e)
		return E_NOMEM;
	pthread_mutex_lock(&q->lock);
	/* While no other text is under way, a text of any size is accepted; otherwise a very large text would
	 * never be accepted. */
	bool full = q->under_way >= q->under_way_max || (q->bytes > 0 && q->bytes + e->bytes > q->bytes_max);
	if (!full) {
		list_add(&q->lane[r->lane], e);
		q->under_way++;
		q->bytes += e->bytes;
	}
	pthread_mutex_unlock(&q->lock);
	if (full)
		free(e);
	else
		pthread_cond_signal(&q->wake); /* after unlocking: the woken thread needs the lock */
	return full ? E_LIMIT : OK;
}

unsigned queue_collect(struct request_queue *q, struct st_ack *ret, unsigned max)
{
	struct queue_list collected = { 0 };
	unsigned n = 0;
	pthread_mutex_lock(&q->lock);
	while (q->answers.n && n < max) {
		struct queue_entry *e = list_take(&q->answers);
		q->bytes -= e->bytes;
		list_add(&collected, e);
		n++;
	}
	q->under_way -= n;
	uint64_t count;
	if (n && !q->answers.n && read(q->fd, &count, sizeof count) < 0)
		count = 0; /* cannot happen; it would only cost a needless wake-up */
	pthread_mutex_unlock(&q->lock);
	for (unsigned i = 0; i < n; i++) {
		struct queue_entry *e = list_take(&collected);
		ret[i] = e->ack;
		free(e);
	}
	return n;
}

void queue_close(struct request_queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closing = true;
	pthread_cond_broadcast(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

/* --- for the writer thread --- */

static struct timespec deadline_in(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static bool lanes_are_empty(const struct request_queue *q)
{
	for (unsigned i = 0; i < LANES; i++)
		if (q->lane[i].n)
			return false;
	return true;
}

/* How many requests of `lane` go into a group of `max` places, if the higher lanes have left `room` places
 * free. */
static unsigned places_for(const struct request_queue *q, unsigned lane, unsigned room, unsigned max)
{
	unsigned share = max / STORE_LANE_SHARE;
	if (lane == LANE_BULK && room > STORE_BULK_MAX)
		room = STORE_BULK_MAX;
	for (unsigned i = lane + 1; i < LANES; i++)
		room -= q->lane[i].n < share ? q->lane[i].n : share;
	return q->lane[lane].n < room ? q->lane[lane].n : room;
}

unsigned queue_take(struct request_queue *q, struct queue_entry **ret, unsigned max, int ms, bool *end)
{
	unsigned n = 0;
	int rc = 0;
	struct timespec until = deadline_in(ms < 0 ? 0 : ms);
	pthread_mutex_lock(&q->lock);
	while (lanes_are_empty(q) && !q->closing && rc == 0)
		rc = ms < 0 ? pthread_cond_wait(&q->wake, &q->lock)
			    : pthread_cond_timedwait(&q->wake, &q->lock, &until);
	for (unsigned lane = 0; lane < LANES; lane++)
		for (unsigned left = places_for(q, lane, max - n, max); left > 0; left--)
			ret[n++] = list_take(&q->lane[lane]);
	*end = n == 0 && q->closing;
	pthread_mutex_unlock(&q->lock);
	return n;
}

void queue_answer(struct request_queue *q, struct queue_entry **answered, unsigned n)
{
	uint64_t one = 1;
	if (!n)
		return;
	pthread_mutex_lock(&q->lock);
	bool was_empty = !q->answers.n;
	for (unsigned i = 0; i < n; i++)
		list_add(&q->answers, answered[i]);
	/* Written while the lock is held: otherwise another thread could collect the answers first, and the
	 * eventfd would be readable without answers. */
	if (was_empty && write(q->fd, &one, sizeof one) < 0)
		one = 0; /* the counter is full: the eventfd is readable already */
	pthread_mutex_unlock(&q->lock);
}

bool queue_pause(struct request_queue *q, int ms)
{
	struct timespec until = deadline_in(ms);
	int rc = 0;
	pthread_mutex_lock(&q->lock);
	while (!q->closing && rc == 0)
		rc = pthread_cond_timedwait(&q->wake, &q->lock, &until);
	bool closing = q->closing;
	pthread_mutex_unlock(&q->lock);
	return !closing;
}
