#pragma once
/* Shared by the files of the shim: the state of the one attempt that the process runs. */
#include "runfile/sections.h"
#include "shim/agent.h"
#include "shim/fetch.h"
#include "shim/lease.h"
#include "shim/output/output.h"
#include "shim/tree.h"

#include <limits.h>

enum shim_phase {
	SHIM_RUNNING,
	SHIM_TERMINATING, /* SIGTERM was sent; at `grace_end` SHIM_KILLING follows */
	SHIM_KILLING,     /* a round of SIGKILL at `next_round`, until nothing is left */
};

struct shim {
	struct launch_request rq;
	char boot[40], cgroup[PATH_MAX], mark[sizeof RUN_MARK_NAME + RUN_MARK_BYTES];
	int dir;            /* of the files of the run */
	int file;           /* the run file; holds its lock */
	int signals, timer; /* signalfd, timerfd */
	int context;        /* the .ctx file, not linked yet; -1: none */
	int fds[3];         /* standard input, output and error of the agent */
	bool fetching;      /* fetches secrets, before the agent is executed */
	bool expecting;     /* checks expectations, after the agent has ended */
	struct fetcher secrets;
	struct agent agent;
	struct tree tree;
	struct output output;
	struct lease lease;
	enum shim_phase phase;
	struct exit_facts exit;
	/* Times by the boot clock; `round` is the pause between two rounds. */
	int64_t started, timeout_at, silent_since, lease_end, grace_end, next_round, round;
};

/* start.c: prepares the attempt and creates its run file. Returns 0 or an errno; EEXIST: there is a run file
 * already, or the attempt was too late and the new file records that. */
int shim_start(struct shim *s);
struct program shim_program(struct shim *s); /* of the agent */

/* watch.c */
/* Records why the attempt ends; later causes are ignored. */
void shim_end_for(struct shim *s, enum run_cause cause, int reason);
/* Handles signals and deadlines, and sets the timer for the next deadline. False: the attempt must end. */
bool shim_tick(struct shim *s);
/* Watches the tree until none of its processes is alive. */
void shim_watch(struct shim *s);

/* shim.c */
void shim_release_agent(struct shim *s); /* executes the agent, with its secrets */
void shim_note_in_log(struct shim *s);   /* appends the note of the exit section */

/* expectations.c: after the agent has ended with 0. A failed expectation becomes the cause. */
void shim_check_expectations(struct shim *s);
