/* The operations thread: its queue, and whether it hangs. */
#include "api/operations.h"

#include "sys/thread.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>

struct operations {
	struct mailbox *mail;
	pthread_t thread;
	bool started;
	atomic_bool closing;
	atomic_bool busy; /* the thread is not waiting for something to do */
	atomic_int tid;   /* of the thread; 0: it has not begun */
	/* Used by the thread that watches. */
	struct thread_wait wait; /* the wait that the last check found */
	unsigned looks;          /* number of checks in a row that found this wait */
};

/* --- the thread --- */

static void *operations_main(void *arg)
{
	struct operations *o = arg;
	struct pollfd fd = { .fd = mailbox_fd(o->mail), .events = POLLIN };
	thread_set_name("operations");
	atomic_store(&o->tid, thread_id());
	for (;;) {
		poll(&fd, 1, -1);
		bool closing = atomic_load(&o->closing);
		atomic_store(&o->busy, true);
		mailbox_run(o->mail);
		atomic_store(&o->busy, false);
		if (closing && poll(&fd, 1, 0) <= 0)
			return NULL;
	}
}

enum err operations_open(struct operations **ret)
{
	struct operations *o = calloc(1, sizeof *o);
	enum err e = o ? mailbox_new(OPERATIONS_MAX, &o->mail) : E_NOMEM;
	if (!e)
		e = thread_start(&o->thread, operations_main, o);
	if (e) {
		operations_close(o);
		return e;
	}
	o->started = true;
	*ret = o;
	return OK;
}

void operations_close(struct operations *o)
{
	if (!o)
		return;
	if (o->started) {
		atomic_store(&o->closing, true);
		mailbox_close(o->mail);
		pthread_join(o->thread, NULL);
	}
	mailbox_free(o->mail);
	free(o);
}

static enum err add_task(struct operations *o, unsigned reserve, mail_fn *fn, void *arg)
{
	if (atomic_load(&o->closing))
		return E_GONE;
	enum err e = mailbox_put_reserving(o->mail, reserve, fn, arg);
	return e == E_LIMIT ? E_BUSY : e;
}

enum err operations_add(struct operations *o, mail_fn *fn, void *arg)
{
	return add_task(o, 0, fn, arg);
}

enum err operations_add_request(struct operations *o, mail_fn *fn, void *arg)
{
	return add_task(o, OPERATIONS_RESERVED, fn, arg);
}

/* --- watching it --- */

/* Whether the thread is in the wait that the last check has found. */
static bool is_same_wait(struct operations *o, struct thread_wait *now)
{
	*now = (struct thread_wait){ 0 };
	return atomic_load(&o->busy) && thread_wait(atomic_load(&o->tid), now) && now->waits &&
	       o->wait.waits && now->count == o->wait.count;
}

bool operations_look(struct operations *o)
{
	struct thread_wait now;
	o->looks = is_same_wait(o, &now) ? o->looks + 1 : now.waits;
	o->wait = now;
	return o->looks >= OPERATIONS_LOOKS;
}

bool operations_hang(struct operations *o)
{
	struct thread_wait now;
	return o->looks >= OPERATIONS_LOOKS && is_same_wait(o, &now);
}
