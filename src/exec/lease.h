#pragma once
/* The lease page as the daemon keeps it (port/lease.h). */
#include "base/err.h"
#include "base/time.h"

struct lease_keeper;

/* Makes the page with a deadline, or takes over the one that is there. */
must_check enum err lease_keep(const char *path, struct boot deadline, struct lease_keeper **ret,
			       struct why *why);
/* One store into memory; shims see it at once. An earlier deadline than the one that stands is passed over.
 */
void lease_renew(struct lease_keeper *l, struct boot deadline);
/* The page stays, and with it the deadline. */
void lease_close(struct lease_keeper *l);
