#pragma once
/* The lease page, written by the daemon (port/lease.h); shim/lease.h reads it. The daemon of a
 * single machine needs no lease; several nodes will renew it. */
#include "base/err.h"
#include "base/time.h"

struct lease_keeper;

/* Creates the page with a deadline, or opens the existing one. */
must_check enum err lease_keep(const char *path, struct boot deadline, struct lease_keeper **ret,
			       struct why *why);
/* Sets the deadline by one store into shared memory, which shims see at once. Does nothing if the deadline is
 * earlier than the present one. */
void lease_renew(struct lease_keeper *l, struct boot deadline);
/* The page and its deadline stay. */
void lease_close(struct lease_keeper *l);
