#pragma once
/* The runner behind port/runner.h: asks the launcher for shims, watches them, reads their run files. It never
 * forks, never waits, and is used by one thread.
 *
 * Life is judged by the lock on the run file, ends by its exit section; pids and pidfds only say when to
 * look. An outage (no launcher, a full disk at birth, a file that cannot be read) is no answer yet: the same
 * is tried again until it is done, and runner_trouble says so meanwhile.
 *
 * Runs are untouched by whatever happens here: a runner that is closed, or killed, leaves them to the next
 * one, which finds them by RN_PROBE. */
#include "exec/launch.h"
#include "exec/launcher.h"

struct runner;

struct runner_config {
	struct launch_place place; /* copied */
	void *ctx;
	/* RN_START of an attempt the runner does not know, or RN_ASK of a check, whose attempt then has
	 * RUN_CHECK: answer with runner_give or runner_refuse, at once or later. */
	void (*want)(void *ctx, const struct rn_req *r);
	/* RN_ASK of other guards: answer with runner_say, at once or later. Its error is runner_submit's.
	 * NULL: submitting one is E_INPUT. */
	enum err (*ask)(void *ctx, const struct rn_req *r);
};

/* E_INPUT: the directory of runs is on a network, or of no use otherwise. */
must_check enum err runner_open(const struct runner_config *c, struct runner **ret, struct why *why);
void runner_close(struct runner *r);

/* Takes the launcher over, its descriptors included, in the place of the one before. What that one had not
 * carried out goes to the new one. */
void runner_launcher(struct runner *r, struct launcher l);
/* None could be started, and why; it is tried again. */
void runner_no_launcher(struct runner *r, const struct why *why);
/* False: there is none, or it has died: start another. */
bool runner_has_launcher(const struct runner *r);
/* Starts a launcher if the runner has none, at most one in RUNNER_LAUNCHER_MS; a failure shows in
 * runner_trouble. False: there is still none, call again later. */
bool runner_keep_launcher(struct runner *r, const char *program);

/* E_LIMIT, E_BUSY: too many at a time, ask again later. E_NOMEM likewise. Run numbers are below 2^48. */
must_check enum err runner_submit(struct runner *r, const struct rn_req *q);
/* What to execute. Copied. An attempt that is not wanted any more is passed over. Fails as launch_render
 * does, and the attempt is still wanted. */
must_check enum err runner_give(struct runner *r, uint64_t run, uint16_t attempt, const struct launch *l,
				struct why *why);
/* It cannot be rendered: said as RN_EXIT with this, of a check as a no with its reason. */
void runner_refuse(struct runner *r, uint64_t run, uint16_t attempt, uint8_t outcome, uint16_t reason);
/* Nobody waits for the check before this attempt any more: it is ended if it is under way. */
void runner_drop_check(struct runner *r, uint64_t run, uint16_t attempt);
/* Puts in what somebody else has to say (RN_ANSWER). */
must_check enum err runner_say(struct runner *r, const struct rn_report *s);

/* Does what there is to do, and takes up to `max` of what there is to say. About one attempt things are said
 * in the order they happened. */
unsigned runner_collect(struct runner *r, struct rn_report *ret, unsigned max);
/* Readable when runner_collect should be called. */
int runner_fd(const struct runner *r);

/* E_IO while something fails, with what and since when (`since` may be NULL); else OK. */
must_check enum err runner_trouble(const struct runner *r, struct wall *since, struct why *why);
/* Attempts it has to do with now. */
unsigned runner_busy(const struct runner *r);
