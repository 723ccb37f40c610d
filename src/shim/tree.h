#pragma once
/* The tree of a run, seen from its shim: the subreaper of all, so that whoever loses its parent becomes the
 * shim's own child. No child left to wait for is the proof that none is alive. */
#include "base/attr.h"

#include <sys/types.h>

struct tree {
	const char *cgroup; /* NULL: by descent alone */
	pid_t main;         /* the agent itself */
	int status;         /* how it ended, as waitpid says */
	bool main_gone;
};

/* Collects the dead. True: nothing of the tree is left. */
bool tree_gone(struct tree *t);
/* SIGTERM to all there are. */
void tree_terminate(const struct tree *t);
/* One round of killing: everything stands still first, so that nobody can fork in between. Call it again
 * until tree_gone. */
void tree_kill(const struct tree *t);
