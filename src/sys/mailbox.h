#pragma once
/* Work for one thread, put in by any other: a queue with a bell. */
#include "base/err.h"

struct mailbox;
typedef void mail_fn(void *arg);

must_check enum err mailbox_new(unsigned most, struct mailbox **ret);
void mailbox_free(struct mailbox *m); /* what is still in it is not done */
/* `fn` will be called with `arg` by the thread that empties the box. E_LIMIT: full; E_NOMEM. Any thread. */
must_check enum err mailbox_put(struct mailbox *m, mail_fn *fn, void *arg);
/* The same, for what can wait: it leaves room for so many others. */
must_check enum err mailbox_put_reserving(struct mailbox *m, unsigned room, mail_fn *fn, void *arg);
/* Does everything that is in it, and only that: what is put in meanwhile rings again. */
void mailbox_run(struct mailbox *m);
/* Takes the last of it out, undone; false: it is empty. */
bool mailbox_pop(struct mailbox *m, mail_fn **fn, void **arg);
int mailbox_fd(const struct mailbox *m); /* readable when there is something in it */
