#pragma once
/* The lease page, read by a shim (port/lease.h). It is read, not mapped: if the file is truncated, access to
 * a mapping would kill the shim by SIGBUS. */
#include "port/lease.h"

struct lease {
	int fd; /* -1: there is no lease */
	const char *boot;
};

/* `path` NULL: no lease. `boot` must stay valid. 0 or an errno. */
int lease_open(struct lease *l, const char *path, const char *boot);
/* The present deadline. INT64_MAX: there is no lease; 0: the lease has expired, because the page is
 * unreadable or of another boot. */
int64_t lease_deadline(const struct lease *l);
