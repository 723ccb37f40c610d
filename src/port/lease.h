#pragma once
/* The lease page: one file per data directory, written by the daemon, read by its shims. After the deadline a
 * shim kills its run. A page that was written in another boot counts as expired.
 *
 * The daemon renews the lease by one aligned 8-byte store to `deadline`. The deadline is computed from the
 * time before the renewal was sent, and never decreases. Every version since 1 must stay readable. */
#include "base/attr.h"

#define LEASE_MAGIC   UINT32_C(0x61746f72) /* "rota" */
#define LEASE_VERSION 1

struct lease_page {
	uint32_t magic, version;
	int64_t deadline; /* microseconds of CLOCK_BOOTTIME */
	char boot[40];    /* boot id, terminated */
};
