#pragma once
/* The text of the two sections of a run file (port/runfile.h). Linked into the static launcher and into the
 * daemon. */
#include "port/runfile.h"

#include <sys/types.h>

struct start_facts {
	uint64_t run;
	unsigned attempt;
	const char *boot, *mark, *cgroup; /* cgroup NULL: none */
	unsigned secrets;                 /* how many it fetches */
	pid_t shim, agent;                /* the agent's session has the same number */
	uint64_t shim_start, agent_start;
	int64_t started; /* wall clock, microseconds */
};

struct exit_facts {
	unsigned cause; /* enum run_cause */
	int reason, status, signal;
	int64_t ended, lasted; /* wall clock; microseconds since the start */
	uint64_t output, left_out;
	unsigned log; /* enum run_log */
	bool no_work;
	char note[200];
};

/* Fills a block with the start section and an empty exit section. 0, or ENAMETOOLONG: the cgroup's path does
 * not fit. */
int runfile_start_section(char block[static RUNFILE_BYTES], const struct start_facts *f);
void runfile_exit_section(char section[static RUNFILE_SECTION], const struct exit_facts *f);
