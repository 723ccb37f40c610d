#pragma once
/* The process of the agent, from fork to exec. It is forked before the run file is created, so that the file
 * can name it, and waits until it is released; a shim that finds the run file taken kills it instead.
 * Programs for secrets and expectations are executed in the same way. */
#include "shim/request.h"

#include <sys/types.h>

struct agent {
	pid_t pid;
	int socket; /* to it: variables, and the release; from it: struct agent_failure */
};

/* What it executes. */
struct program {
	char *const *argv;
	char **envp;     /* with room for agent_set_variable */
	const char *cwd; /* NULL: / */
};

struct agent_failure {
	int error;
	char what[16]; /* the step that failed: descriptors, cwd, exec */
};

/* `fds` become its descriptors 0, 1 and 2. 0 or an errno. */
int agent_fork(const struct program *p, const int fds[3], struct agent *ret);
/* Before its release: adds the entry NAME=value to its environment, or replaces it. */
void agent_set_variable(struct agent *a, const char *entry);
/* Lets it execute the program. */
void agent_release(struct agent *a);
/* From now on this process, which knows secrets, dumps no core. Agents keep the limit they would have had. */
void agent_disable_core_dumps(void);
/* Instead of its release. */
void agent_kill(struct agent *a);
/* After its end. False: the program was executed. */
bool agent_failed(const struct agent *a, struct agent_failure *ret);
