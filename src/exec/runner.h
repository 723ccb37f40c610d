#pragma once
/* The runner: implements port/runner.h. It asks the launcher for shims, watches them, and reads their run
 * files. It never forks and never blocks, and must be used by one thread only.
 *
 * The lock on the run file shows whether an attempt is alive, and the exit section how it ended; pids and
 * pidfds only show when to read the file. An outage (no launcher, a full disk when an attempt is to start, an
 * unreadable file) is not reported as the end of an attempt: the runner retries until it succeeds, and
 * runner_trouble describes the outage meanwhile.
 *
 * Runs do not depend on the runner. When it is closed or killed they go on, and the next runner finds them by
 * RN_PROBE. */
#include "exec/launch.h"
#include "exec/launcher.h"

struct runner;

struct runner_config {
	struct launch_place place; /* copied */
	const char *owner;         /* as for launcher_start; not copied */
	void *ctx;
	/* Called for RN_START of an attempt that the runner does not know, and for RN_ASK of a check or hook,
	 * whose attempt number is that of port/runfile.h: answer with runner_give or runner_refuse, at once
	 * or later. */
	void (*want)(void *ctx, const struct rn_req *r);
};

/* E_INPUT: runs cannot be kept in that directory (exec/rundir.h). */
must_check enum err runner_open(const struct runner_config *c, struct runner **ret, struct why *why);
void runner_close(struct runner *r);

/* Replaces the launcher, and takes over its descriptors. Requests that the previous one has not carried out
 * are sent to the new one. */
void runner_launcher(struct runner *r, struct launcher l);
/* False: there is none, or it has died. */
bool runner_has_launcher(const struct runner *r);
/* Starts a launcher if the runner has none, at most one in RUNNER_LAUNCHER_MS; a failure shows in
 * runner_trouble. False: there is still none, call again later. */
bool runner_keep_launcher(struct runner *r, const char *program);

/* E_LIMIT, E_BUSY, E_NOMEM: too many attempts at a time, submit again later. Run numbers are below 2^48. */
must_check enum err runner_submit(struct runner *r, const struct rn_req *q);
/* Answers `want` with the program to execute; `l` is copied. Ignored if the attempt is no longer wanted.
 * Fails as launch_render does; the attempt then still waits for an answer. */
must_check enum err runner_give(struct runner *r, uint64_t run, uint16_t attempt, const struct launch *l,
				struct why *why);
/* Answers `want` when there is nothing to execute. An attempt is reported as RN_EXIT with this outcome, a
 * check as a negative RN_ANSWER with this reason, a hook as below. */
void runner_refuse(struct runner *r, uint64_t run, uint16_t attempt, uint8_t outcome, uint16_t reason);
/* The run has ended: kills the check before this attempt, and the hooks before the run, if they run. */
void runner_drop_questions(struct runner *r, uint64_t run, uint16_t attempt);

/* Handles all events, and returns up to `max` reports. Reports about one attempt are in the order of the
 * events. The end of a hook is an RN_ANSWER with outcome, reason and exit code of its program, and without
 * `yes`: the answer follows from these and from its output (daemon/prepare/hook_answer.h). */
unsigned runner_collect(struct runner *r, struct rn_report *ret, unsigned max);
/* Readable when runner_collect should be called. */
int runner_fd(const struct runner *r);

/* E_IO while there is an outage, with its description and its beginning (`since` may be NULL); else OK. */
must_check enum err runner_trouble(const struct runner *r, struct wall *since, struct why *why);
/* The number of attempts that the runner handles now. */
unsigned runner_busy(const struct runner *r);
