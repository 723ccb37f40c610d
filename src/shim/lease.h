#pragma once
/* The lease as a shim sees it. Read, not mapped: a page cut short must not kill the reader by SIGBUS. */
#include "port/lease.h"

struct lease {
	int fd; /* -1: there is none, and nothing expires */
	const char *boot;
};

/* 0 or an errno. `path` NULL: none. Keeps `boot`. */
int lease_open(struct lease *l, const char *path, const char *boot);
/* Its deadline as it stands now; INT64_MAX: none; 0: unreadable, or of another boot, hence expired. */
int64_t lease_deadline(const struct lease *l);
