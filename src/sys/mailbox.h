#pragma once
/* A mailbox: a bounded queue of function calls for one thread, filled by any thread. The eventfd becomes
 * readable when there is something in it. Used by the daemon's threads to hand work to each other. */
#include "base/err.h"

struct mailbox;
typedef void mail_fn(void *arg);

must_check enum err mailbox_new(unsigned capacity, struct mailbox **ret);
void mailbox_free(struct mailbox *m); /* calls that are still queued are discarded */
/* Queues fn(arg) for the thread that calls mailbox_run. E_LIMIT: the queue is full. Any thread. */
must_check enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg);
/* The same, for what can wait: it leaves room for so many others. */
must_check enum err mailbox_put_leaving(struct mailbox *m, unsigned room, mail_fn *fn, void *arg);
/* The same, but waits while the box is full. E_GONE: it was full and closed, and `fn` will not be called. Not
 * for the thread that empties the box. */
must_check enum err mailbox_put_wait(struct mailbox *m, mail_fn *fn, void *arg);
/* Nobody empties the box any more: threads in mailbox_put_wait stop waiting. Readers of the descriptor are
 * woken. */
void mailbox_close(struct mailbox *m);
/* Does everything that is in it, and only that: what is put in meanwhile rings again. */
void mailbox_empty(struct mailbox *m);
/* Takes the last of it out, undone; false: it is empty. */
bool mailbox_take(struct mailbox *m, mail_fn **fn, void **arg);
int mailbox_fd(const struct mailbox *m); /* readable when there is something in it */
