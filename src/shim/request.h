#pragma once
/* A rendered request as it arrives: mapped, checked, and pointed into. */
#include "port/launch.h"

struct blob {
	const char *p; /* NULL: not given. A 0 follows the bytes */
	size_t n;
};

struct request {
	const struct launch_head *head;
	struct blob one[LAUNCH_FIELDS]; /* fields that come once */
	char **argv, **envp;            /* end with NULL; envp has room for one more */
	struct blob *secret;
	unsigned argc, envc, secrets;
};

/* 0 or an errno. Maps the memfd for good: a shim handles one request in its life. */
int request_read(int memfd, struct request *ret);
