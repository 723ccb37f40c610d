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
	struct mail *mail;
	unsigned n, most;
	struct mail *taken; /* by the thread that empties it */
	int bell;
};

enum err mailbox_new(unsigned most, struct mailbox **ret)
{
	struct mailbox *m = calloc(1, sizeof *m);
	if (!m)
		return E_NOMEM;
	pthread_mutex_init(&m->lock, NULL);
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
	pthread_mutex_destroy(&m->lock);
	free(m);
}

enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg)
{
	return mailbox_put_reserving(m, 0, fn, arg);
}

enum err mailbox_put_reserving(struct mailbox *m, unsigned room, mail_fn *fn, void *arg)
{
	enum err e = OK;
	pthread_mutex_lock(&m->lock);
	if (m->n + room >= m->most)
		e = E_LIMIT;
	else
		m->mail[m->n++] = (struct mail){ fn, arg };
	pthread_mutex_unlock(&m->lock);
	if (!e && eventfd_write(m->bell, 1) < 0) {
		/* The counter is full: it rings already. */
	}
	return e;
}

void mailbox_run(struct mailbox *m)
{
	eventfd_t rings;
	if (eventfd_read(m->bell, &rings) < 0) {
		/* Nobody rang. */
	}
	pthread_mutex_lock(&m->lock);
	unsigned n = m->n;
	struct mail *full = m->mail;
	m->mail = m->taken;
	m->taken = full;
	m->n = 0;
	pthread_mutex_unlock(&m->lock);
	for (unsigned i = 0; i < n; i++)
		m->taken[i].fn(m->taken[i].arg);
}

bool mailbox_pop(struct mailbox *m, mail_fn **fn, void **arg)
{
	pthread_mutex_lock(&m->lock);
	bool some = m->n > 0;
	if (some) {
		*fn = m->mail[--m->n].fn;
		*arg = m->mail[m->n].arg;
	}
	pthread_mutex_unlock(&m->lock);
	return some;
}

int mailbox_fd(const struct mailbox *m)
{
	return m->bell;
}
