#pragma once
/* A mailbox: a bounded queue of function calls for one thread, filled by any thread. The eventfd becomes
 * readable when a call is queued. Used by the daemon's threads to hand work to each other. */
#include "base/err.h"

struct mailbox;
typedef void mail_fn(void *arg);

must_check enum err mailbox_new(unsigned capacity, struct mailbox **ret);
void mailbox_free(struct mailbox *m); /* calls that are still queued are discarded */
/* Queues fn(arg) for the thread that calls mailbox_run. E_LIMIT: the queue is full. May be called by any
 * thread. */
must_check enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg);
/* The same, but also E_LIMIT if fewer than `reserve` places would stay free. */
must_check enum err mailbox_put_reserving(struct mailbox *m, unsigned reserve, mail_fn *fn, void *arg);
/* The same, but waits while the queue is full. E_GONE: the queue is full, and mailbox_close was called. Must
 * not be called by the thread that calls mailbox_run. */
must_check enum err mailbox_put_wait(struct mailbox *m, mail_fn *fn, void *arg);
/* mailbox_run will not be called any more: wakes the threads that wait for room, and makes the eventfd
 * readable. */
void mailbox_close(struct mailbox *m);
/* Makes the calls that are queued now. Calls that are queued meanwhile stay for the next time, and keep the
 * eventfd readable. */
void mailbox_run(struct mailbox *m);
/* Removes the newest call without making it; false: the queue is empty. */
bool mailbox_pop(struct mailbox *m, mail_fn **fn, void **arg);
int mailbox_fd(const struct mailbox *m);
