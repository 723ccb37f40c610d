/* The mailbox: two arrays that are exchanged when the owner makes the queued calls, so that the lock is not
 * held during the calls. */
#include "sys/mailbox.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct mail {
	mail_fn *fn;
	void *arg;
};

struct mailbox {
	pthread_mutex_t lock; /* protects `queued`, `n` and `closed` */
	pthread_cond_t room;  /* signalled when the queue was emptied or closed */
	bool closed;
	struct mail *queued;
	unsigned n, capacity;
	struct mail *running; /* used by mailbox_run alone */
	int eventfd;
};

enum err mailbox_new(unsigned capacity, struct mailbox **ret)
{
	struct mailbox *m = calloc(1, sizeof *m);
	if (!m)
		return E_NOMEM;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->room, NULL);
	m->capacity = capacity;
	m->queued = calloc(capacity, sizeof *m->queued);
	m->running = calloc(capacity, sizeof *m->running);
	m->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!m->queued || !m->running || m->eventfd < 0) {
		mailbox_free(m);
		return E_NOMEM;
	}
	*ret = m;
	return OK;
}

void mailbox_free(struct mailbox *m)
{
	if (!m)
		return;
	if (m->eventfd >= 0)
		close(m->eventfd);
	free(m->queued);
	free(m->running);
	pthread_cond_destroy(&m->room);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void wake(struct mailbox *m)
{
	if (eventfd_write(m->eventfd, 1) < 0) {
		/* The counter is full, so the eventfd is readable already. */
	}
}

static enum err add_call(struct mailbox *m, unsigned reserve, bool wait, struct mail mail)
{
	pthread_mutex_lock(&m->lock);
	while (wait && m->n + reserve >= m->capacity && !m->closed)
		pthread_cond_wait(&m->room, &m->lock);
	bool fits = m->n + reserve < m->capacity;
	if (fits)
		m->queued[m->n++] = mail;
	pthread_mutex_unlock(&m->lock);
	if (fits)
		wake(m);
	return fits ? OK : wait ? E_GONE : E_LIMIT;
}

enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg)
{
	return add_call(m, 0, false, (struct mail){ fn, arg });
}

enum err mailbox_put_reserving(struct mailbox *m, unsigned reserve, mail_fn *fn, void *arg)
{
	return add_call(m, reserve, false, (struct mail){ fn, arg });
}

enum err mailbox_put_wait(struct mailbox *m, mail_fn *fn, void *arg)
{
	return add_call(m, 0, true, (struct mail){ fn, arg });
}

void mailbox_close(struct mailbox *m)
{
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	pthread_cond_broadcast(&m->room);
	pthread_mutex_unlock(&m->lock);
	wake(m);
}

void mailbox_run(struct mailbox *m)
{
	eventfd_t count;
	if (eventfd_read(m->eventfd, &count) < 0) {
		/* Nothing was queued since the last time. */
	}
	pthread_mutex_lock(&m->lock);
	unsigned n = m->n;
	struct mail *full = m->queued;
	m->queued = m->running;
	m->running = full;
	m->n = 0;
	pthread_cond_broadcast(&m->room);
	pthread_mutex_unlock(&m->lock);
	for (unsigned i = 0; i < n; i++)
		m->running[i].fn(m->running[i].arg);
}

bool mailbox_pop(struct mailbox *m, mail_fn **fn, void **arg)
{
	pthread_mutex_lock(&m->lock);
	bool some = m->n > 0;
	if (some) {
		*fn = m->queued[--m->n].fn;
		*arg = m->queued[m->n].arg;
	}
	pthread_mutex_unlock(&m->lock);
	return some;
}

int mailbox_fd(const struct mailbox *m)
{
	return m->eventfd;
}
