#pragma once
/* The lease page: one per data directory, written by the daemon, read by its shims. Past its deadline a shim
 * kills what it runs. A page of another boot has no deadline that means anything, and counts as expired.
 *
 * The daemon renews it by one store of eight aligned bytes; `deadline` counts from before the renewal was
 * sent. It may only ever grow. Read every version since 1. */
#include "base/attr.h"

#define LEASE_MAGIC   UINT32_C(0x61746f72) /* "rota" */
#define LEASE_VERSION 1

struct lease_page {
	uint32_t magic, version;
	int64_t deadline; /* microseconds of CLOCK_BOOTTIME */
	char boot[40];    /* boot id, terminated */
};
