#pragma once
/* The agent's process, from fork to exec. It is forked before the run file is born, so that the file can name
 * it, and waits for the word; whoever loses the race for the file never gives it. */
#include "shim/request.h"

#include <sys/types.h>

struct agent {
	pid_t pid;
	int line; /* one byte: go. Comes back: why it could not */
};

struct agent_failure {
	int error;
	char what[16]; /* cwd, exec */
};

/* fds become its 0, 1 and 2. 0 or an errno. */
int agent_fork(struct request *rq, const int fds[3], struct agent *ret);
void agent_go(struct agent *a);
/* Ends and collects one that was not let go. */
void agent_drop(struct agent *a);
/* After its end: false if it was executed. */
bool agent_failed(const struct agent *a, struct agent_failure *ret);
