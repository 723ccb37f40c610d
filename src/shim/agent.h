#pragma once
/* The process of the agent, from fork to exec. It is forked before the run file is created, so that the file
 * can contain its pid, and waits until the shim releases it. If the run file exists already, the shim kills
 * the process instead. Programs for secrets and expectations are executed in the same way. */
#include "shim/request.h"

#include <sys/types.h>

struct agent {
	pid_t pid;
	int socket; /* to the agent: variables, and the release; from it: struct agent_failure */
};

/* The program that the agent executes. */
struct program {
	char *const *argv;
	char **envp;     /* with room for agent_set_variable */
	const char *cwd; /* NULL: / */
};

struct agent_failure {
	int error;
	char what[16]; /* the step that failed: descriptors, cwd, exec */
};

/* Forks the agent. `fds` become its descriptors 0, 1 and 2. Returns 0 or an errno. */
int agent_fork(const struct program *p, const int fds[3], struct agent *ret);
/* Adds the entry NAME=value to its environment, or replaces it. To be called before its release. */
void agent_set_variable(struct agent *a, const char *entry);
/* Lets the agent execute its program. */
void agent_release(struct agent *a);
/* Prevents core dumps of this process, because its memory has secrets. Agents keep the limit they would have
 * had. */
void agent_disable_core_dumps(void);
/* Kills the waiting agent, instead of releasing it. */
void agent_kill(struct agent *a);
/* To be called after its end. False: the program was executed. */
bool agent_failed(const struct agent *a, struct agent_failure *ret);
