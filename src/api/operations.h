#pragma once
/* The operations thread: it runs the handlers, and everything else of the API that may wait for a disk. The
 * HTTP thread only moves bytes, so a disk that hangs delays neither other connections nor streams.
 *
 * Meanwhile the HTTP thread checks the operations thread every OPERATIONS_LOOK_MS. If OPERATIONS_LOOKS checks
 * in a row find it in the same wait for a file, it hangs, and requests are refused until it goes on. A thread
 * that works slowly, or has to wait for the processor, does not hang. */
#include "sys/mailbox.h"

struct operations;
must_check enum err operations_open(struct operations **ret);
/* Runs what is queued, and ends the thread. NULL is fine. */
void operations_close(struct operations *o);

/* Has fn(arg) called on the thread, in the order of the calls, exactly once if this returns OK. E_BUSY: too
 * many are waiting; E_GONE: the thread ends. Any thread. */
must_check enum err operations_add(struct operations *o, mail_fn *fn, void *arg);
/* The same for a new request: E_BUSY already if little room is left, so that requests under way can go on. */
must_check enum err operations_add_request(struct operations *o, mail_fn *fn, void *arg);

/* --- for one thread, the one that watches --- */

/* Checks the thread; to be called at least OPERATIONS_LOOK_MS after the previous call. True: it hangs. */
bool operations_look(struct operations *o);
/* Whether it still hangs, as operations_look has found. May be called at any time. */
bool operations_hang(struct operations *o);
