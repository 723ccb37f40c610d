#pragma once
/* A runner with a real launcher in a directory of its own. The test program is the subreaper of everything it
 * starts: what a test leaves behind comes to it, is counted against it, and killed. */
#include "exec/runner.h"
#include "test.h"

#include <sys/types.h>

struct rig {
	struct runner *r;
	char dir[64];
	char runs[80];
	struct launch_place place;
	struct launch launch; /* what RN_START is given */
	bool mute;            /* it is given nothing */
	unsigned wanted;
};

extern const char *rig_launcher; /* the program */
extern const char *rig_agent;    /* tests/runner/agent.c */

/* The harness's main calls this first where a test needs more than one directory. */
void rig_begin(struct rig *g);
/* Another runner on the same directory, as after a crash of the daemon. */
void rig_reopen(struct rig *g);
void rig_open(struct rig *g);
void rig_give_launcher(struct rig *g);
/* Closes, counts what is left of processes, removes the directory. */
void rig_end(struct rig *g);

/* What to run: argv as words, ending with NULL. */
void rig_argv(struct rig *g, ...);
void rig_ask(struct rig *g, enum rn_op op, uint64_t run, unsigned attempt, unsigned reason);
/* The next thing said, within ten seconds; say is UINT8_MAX if nothing is. */
struct rn_report rig_next(struct rig *g);
/* Nothing is said for `ms`. */
bool rig_quiet(struct rig *g, int ms);
/* Starts, and expects birth. */
bool rig_start(struct rig *g, uint64_t run);

/* The whole of a file of the run, terminated, in a buffer that the next call reuses; "" if there is none. */
const char *rig_file(struct rig *g, uint64_t run, unsigned attempt, const char *kind, size_t *size);
struct runfile rig_runfile(struct rig *g, uint64_t run, unsigned attempt);
/* Waits, at most ten seconds, until the file (in the rig's directory) has at least so many lines; how many.
 */
unsigned rig_lines(struct rig *g, const char *name, unsigned lines, pid_t *pids, unsigned max);
bool rig_alive(pid_t pid); /* not a zombie either */
/* Every one of them is dead within `ms`. */
bool rig_all_dead(const pid_t *pids, unsigned n, int ms);
void rig_sleep(int ms);
/* A delegated cgroup for tests, or NULL with the reason in `say`. Remove it with rig_cgroup_end. */
const char *rig_cgroup(char say[static 128]);
void rig_cgroup_end(void);
