#pragma once
/* The agent's process, from fork to exec. It is forked before the run file is born, so that the file can name
 * it, and waits for the word; whoever loses the race for the file never gives it. */
#include "shim/request.h"

#include <sys/types.h>

struct agent {
	pid_t pid;
	int line; /* variables, and the word to go. Comes back: why it could not */
};

/* What it becomes. */
struct program {
	char *const *argv;
	char **envp;     /* with room for what is given to it later */
	const char *cwd; /* NULL: / */
};

struct agent_failure {
	int error;
	char what[16]; /* cwd, exec */
};

/* fds become its 0, 1 and 2. 0 or an errno. */
int agent_fork(const struct program *p, const int fds[3], struct agent *ret);
/* A variable more for one that waits, NAME=value; it replaces another of that name. */
void agent_set_variable(struct agent *a, const char *entry);
void agent_release(struct agent *a);
/* From now on a core of this process, which would have secrets in it, is left nowhere; agents leave theirs as
 * before. */
void agent_disable_core_dumps(void);
/* Ends and collects one that was not let go. */
void agent_kill(struct agent *a);
/* After its end: false if it was executed. */
bool agent_failed(const struct agent *a, struct agent_failure *ret);
