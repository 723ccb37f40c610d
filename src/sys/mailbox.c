/* The mailbox: two arrays that are exchanged when the owner runs what is queued, so that calls are made
 * without the lock. */
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
	pthread_mutex_t lock;
	pthread_cond_t room; /* signalled when the box was emptied, or closed */
	bool closed;
	struct mail *mail;
	unsigned n, most;
	struct mail *taken; /* by the thread that empties it */
	int bell;
};

enum err mailbox_new(unsigned capacity, struct mailbox **ret)
{
	struct mailbox *m = calloc(1, sizeof *m);
	if (!m)
		return E_NOMEM;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->room, NULL);
	m->most = most;
	m->mail = calloc(most, sizeof *m->mail);
	m->taken = calloc(most, sizeof *m->taken);
	m->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!m->mail || !m->taken || m->bell < 0) {
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
	if (m->bell >= 0)
		close(m->bell);
	free(m->mail);
	free(m->taken);
	pthread_cond_destroy(&m->room);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void ring(struct mailbox *m)
{
	if (eventfd_write(m->bell, 1) < 0) {
		/* The counter is full: it rings already. */
	}
}

static enum err add_mail(struct mailbox *m, unsigned room, bool wait, struct mail mail)
{
	pthread_mutex_lock(&m->lock);
	while (wait && m->n + room >= m->most && !m->closed)
		pthread_cond_wait(&m->room, &m->lock);
	bool fits = m->n + room < m->most;
	if (fits)
		m->mail[m->n++] = mail;
	pthread_mutex_unlock(&m->lock);
	if (fits)
		ring(m);
	return fits ? OK : wait ? E_GONE : E_LIMIT;
}

enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg)
{
	return add_mail(m, 0, false, (struct mail){ fn, arg });
}

enum err mailbox_put_reserving(struct mailbox *m, unsigned reserve, mail_fn *fn, void *arg)
{
	return add_mail(m, room, false, (struct mail){ fn, arg });
}

enum err mailbox_put_wait(struct mailbox *m, mail_fn *fn, void *arg)
{
	return add_mail(m, 0, true, (struct mail){ fn, arg });
}

void mailbox_close(struct mailbox *m)
{
	pthread_mutex_lock(&m->lock);
	m->closed = true;
	pthread_cond_broadcast(&m->room);
	pthread_mutex_unlock(&m->lock);
	ring(m);
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
