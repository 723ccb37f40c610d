#pragma once
/* A runner with a real launcher in its own directory. The test program is the subreaper of all processes it
 * starts: processes that a test leaves behind become its children, count as failures, and are killed. */
#include "exec/runner.h"
#include "test.h"

#include <sys/types.h>

struct rig {
	struct runner *r;
	char dir[64];
	char runs[80];
	struct launch_place place;
	struct launch launch; /* the answer to `want` */
	bool mute;            /* do not answer `want` */
	unsigned wanted;      /* calls of `want` */
};

extern const char *rig_launcher; /* path of the launcher program */
extern const char *rig_agent;    /* path of the program made from tests/runner/agent.c */

/* Makes a directory, and opens a runner with a launcher in it. */
void rig_begin(struct rig *g);
/* Opens another runner on the same directory, as after a crash of the daemon. */
void rig_reopen(struct rig *g);
void rig_open(struct rig *g);
void rig_give_launcher(struct rig *g);
/* Closes the runner, fails if processes are left, and removes the directory. */
void rig_end(struct rig *g);

/* Sets the program to run and its arguments, ending with NULL. */
void rig_argv(struct rig *g, ...);
void rig_ask(struct rig *g, enum rn_op op, uint64_t run, unsigned attempt, unsigned reason);
/* The next report; its kind is UINT8_MAX if there is none within ten seconds. */
struct rn_report rig_next(struct rig *g);
/* Whether there is no report for `ms`. */
bool rig_quiet(struct rig *g, int ms);
/* Starts attempt 1, and expects RN_STARTED. */
bool rig_start(struct rig *g, uint64_t run);

/* The content of a file of the run, ended by a zero byte, in a buffer that the next call reuses; empty: there
 * is no such file. */
const char *rig_file(struct rig *g, uint64_t run, unsigned attempt, const char *kind, size_t *size);
struct runfile rig_runfile(struct rig *g, uint64_t run, unsigned attempt);
/* Waits, at most ten seconds, until a file in the directory has at least `lines` lines, and reads pids from
 * them. Returns the number of lines. */
unsigned rig_lines(struct rig *g, const char *name, unsigned lines, pid_t *pids, unsigned max);
bool rig_alive(pid_t pid); /* false for zombies */
/* Whether all of them are dead within `ms`. */
bool rig_all_dead(const pid_t *pids, unsigned n, int ms);
void rig_sleep(int ms);
/* A cgroup for tests, to be removed with rig_cgroup_end; NULL: there is none. `text` says which cgroup it is,
 * or why there is none. */
const char *rig_cgroup(char text[static 128]);
void rig_cgroup_end(void);
