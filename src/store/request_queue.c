#include "store/request_queue.h"
#include "sys/thread.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static void list_add(struct ask_list *l, struct ask *a)
{
	a->next = NULL;
	*(l->first ? &l->last->next : &l->first) = a;
	l->last = a;
	l->n++;
}

static struct ask *list_take(struct ask_list *l)
{
	struct ask *a = l->first;
	l->first = a->next;
	l->n--;
	return a;
}

static void list_free(struct ask_list *l)
{
	while (l->n)
		free(list_take(l));
}

enum err queue_init(struct queue *q, unsigned under_way_max, size_t text_max)
{
	*q = (struct queue){ .under_way_max = under_way_max, .text_max = text_max };
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (q->fd < 0)
		return E_IO;
	thread_cond_init(&q->wake);
	pthread_mutex_init(&q->lock, NULL);
	return OK;
}

void queue_destroy(struct queue *q)
{
	for (unsigned i = 0; i < LANES; i++)
		list_free(&q->lane[i]);
	list_free(&q->answers);
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	close(q->fd);
}

/* --- the caller's side --- */

static char *keep(char *to, struct str *s)
{
	if (s->n)
		memcpy(to, s->p, s->n);
	if (s->p) /* a text that was not given stays not given */
		s->p = to;
	return to + s->n;
}

static size_t text_of_notice(const struct message_row *n)
{
	return n->origin.n + n->target.n + n->body.n + n->result.n;
}

static char *keep_notice(char *to, struct message_row *n)
{
	return keep(keep(keep(keep(to, &n->origin), &n->target), &n->body), &n->result);
}

/* The rows themselves come first, for the place where texts are kept is aligned. */
static size_t text_of_tell(const struct message_batch *t)
{
	size_t n = t->n * sizeof *t->message;
	for (unsigned i = 0; i < t->n; i++)
		n += text_of_notice(&t->message[i]);
	return n;
}

static void keep_tell(char *to, struct message_batch *t)
{
	struct message_row *all = (struct message_row *)to;
	if (!t->n)
		return;
	memcpy(all, t->message, t->n * sizeof *all);
	t->message = all;
	to += t->n * sizeof *all;
	for (unsigned i = 0; i < t->n; i++)
		to = keep_notice(to, &all[i]);
}

static size_t text_of(const struct st_req *r)
{
	const struct problem_change *p = &r->problem;
	size_t n = r->id.n + r->document.n + r->source.from.n + r->note.n;
	return r->op == ST_PROBLEM    ? n + p->key.n + p->subject.n + p->text.n + p->by.n + p->note.n
	       : r->op == ST_NAME     ? n + r->name.text.n
	       : r->op == ST_RUN_TEXT ? n + r->run_text.text.n
	       : r->op == ST_STATE    ? n + r->state.key.n + r->state.text.n
	       : r->op == ST_AGENT    ? n + r->agent.name.n + r->agent.text.n
	       : r->op == ST_MEMORY   ? n + r->memory.agent.n + r->memory.text.n + r->memory.tags.n
	       : r->op == ST_MESSAGES ? text_of_tell(&r->messages)
	       : r->op == ST_DELIVERY ? n + text_of_notice(&r->delivery)
				      : n;
}

static struct ask *ask_new(const struct st_req *r)
{
	struct ask *a = malloc(sizeof *a + text_of(r) + 1);
	if (!a)
		return NULL;
	a->req = *r;
	if (r->op == ST_MESSAGES) {
		keep_tell(a->text, &a->req.messages);
		return a;
	}
	char *to = keep(keep(a->text, &a->req.id), &a->req.document);
	to = keep(keep(to, &a->req.source.from), &a->req.note);
	if (r->op == ST_PROBLEM) {
		struct problem_change *p = &a->req.problem;
		to = keep(keep(keep(to, &p->key), &p->subject), &p->text);
		keep(keep(to, &p->by), &p->note);
	}
	if (r->op == ST_NAME)
		keep(to, &a->req.name.text);
	if (r->op == ST_RUN_TEXT)
		keep(to, &a->req.run_text.text);
	if (r->op == ST_STATE)
		keep(keep(to, &a->req.state.key), &a->req.state.text);
	if (r->op == ST_MEMORY)
		keep(keep(keep(to, &a->req.memory.agent), &a->req.memory.text), &a->req.memory.tags);
	if (r->op == ST_AGENT)
		keep(keep(to, &a->req.agent.name), &a->req.agent.text);
	if (r->op == ST_DELIVERY)
		keep_notice(to, &a->req.delivery);
	return a;
}

enum err queue_submit(struct queue *q, const struct st_req *r)
{
	assert(r->op < ST_OPS && r->lane < LANES);
	struct ask *a = ask_new(r);
	if (!a)
		return E_NOMEM;
	pthread_mutex_lock(&q->lock);
	/* One text of any size may pass when no other is under way, or it never could. */
	bool full = q->under_way >= q->under_way_max || (q->text > 0 && q->text + text_of(r) > q->text_max);
	if (!full) {
		list_add(&q->lane[r->lane], a);
		q->under_way++;
		q->text += text_of(r);
	}
	pthread_mutex_unlock(&q->lock);
	if (full)
		free(a);
	else
		pthread_cond_signal(&q->wake); /* unlocked: whom it wakes needs the lock */
	return full ? E_LIMIT : OK;
}

unsigned queue_collect(struct queue *q, struct st_ack *ret, unsigned max)
{
	struct ask_list done = { 0 };
	unsigned n = 0;
	pthread_mutex_lock(&q->lock);
	while (q->answers.n && n < max) {
		struct ask *a = list_take(&q->answers);
		q->text -= text_of(&a->req);
		list_add(&done, a);
		n++;
	}
	q->under_way -= n;
	uint64_t count;
	if (n && !q->answers.n && read(q->fd, &count, sizeof count) < 0)
		count = 0; /* cannot be, and would do no harm: a wake-up for nothing */
	pthread_mutex_unlock(&q->lock);
	for (unsigned i = 0; i < n; i++) {
		struct ask *a = list_take(&done);
		ret[i] = a->ack;
		free(a);
	}
	return n;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closing = true;
	pthread_cond_broadcast(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

/* --- the writer's side --- */

static struct timespec in_ms(int ms)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += (long)(ms % 1000) * 1000000;
	t.tv_sec += ms / 1000 + t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

static bool is_empty(const struct queue *q)
{
	for (unsigned i = 0; i < LANES; i++)
		if (q->lane[i].n)
			return false;
	return true;
}

/* How many of `lane` go into a group of `max` places that has `room` left by the higher lanes. */
static unsigned places(const struct queue *q, unsigned lane, unsigned room, unsigned max)
{
	unsigned share = max / STORE_LANE_SHARE;
	if (lane == LANE_BULK && room > STORE_BULK_MAX)
		room = STORE_BULK_MAX;
	for (unsigned i = lane + 1; i < LANES; i++)
		room -= q->lane[i].n < share ? q->lane[i].n : share;
	return q->lane[lane].n < room ? q->lane[lane].n : room;
}

unsigned queue_take(struct queue *q, struct ask **ret, unsigned max, int ms, bool *end)
{
	unsigned n = 0;
	int rc = 0;
	struct timespec until = in_ms(ms < 0 ? 0 : ms);
	pthread_mutex_lock(&q->lock);
	while (is_empty(q) && !q->closing && rc == 0)
		rc = ms < 0 ? pthread_cond_wait(&q->wake, &q->lock)
			    : pthread_cond_timedwait(&q->wake, &q->lock, &until);
	for (unsigned lane = 0; lane < LANES; lane++)
		for (unsigned left = places(q, lane, max - n, max); left > 0; left--)
			ret[n++] = list_take(&q->lane[lane]);
	*end = n == 0 && q->closing;
	pthread_mutex_unlock(&q->lock);
	return n;
}

void queue_answer(struct queue *q, struct ask **done, unsigned n)
{
	uint64_t one = 1;
	if (!n)
		return;
	pthread_mutex_lock(&q->lock);
	bool was_empty = !q->answers.n;
	for (unsigned i = 0; i < n; i++)
		list_add(&q->answers, done[i]);
	/* Locked: rung after all were taken, it would ring on. */
	if (was_empty && write(q->fd, &one, sizeof one) < 0)
		one = 0; /* the counter is full, hence readable: just as well */
	pthread_mutex_unlock(&q->lock);
}

bool queue_pause(struct queue *q, int ms)
{
	struct timespec until = in_ms(ms);
	int rc = 0;
	pthread_mutex_lock(&q->lock);
	while (!q->closing && rc == 0)
		rc = pthread_cond_timedwait(&q->wake, &q->lock, &until);
	bool closing = q->closing;
	pthread_mutex_unlock(&q->lock);
	return !closing;
}
