#pragma once
/* The process tree of an attempt. Its shim is the subreaper: a process that loses its parent becomes a child
 * of the shim. When the shim has no children left to wait for, no process of the tree is alive. */
#include "base/attr.h"

#include <sys/types.h>

struct tree {
	const char *cgroup; /* NULL: processes are found by descent alone */
	pid_t main;         /* the agent */
	int status;         /* of waitpid, when main_gone */
	bool main_gone;
};

/* Collects zombies. True: no process of the tree is alive. */
bool tree_gone(struct tree *t);
/* Sends SIGTERM to all processes, and continues those that are stopped. */
void tree_terminate(const struct tree *t);
/* One round of killing: stops all processes first, so that none can fork meanwhile. To be repeated until
 * tree_gone. */
void tree_kill(const struct tree *t);
