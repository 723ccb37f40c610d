#pragma once
/* Run files as the daemon reads them: every version since 1, torn ones included. The format is in
 * port/runfile.h. */
#include "base/buf.h"
#include "base/err.h"
#include "port/runfile.h"
#include "port/runner.h"

enum { RUNFILE_CGROUP_MAX = 1200, RUNFILE_NOTE_MAX = 256 };

struct runfile {
	uint64_t version; /* 0: the birth section is not to be read, and nothing below is known */
	uint64_t run, attempt;
	int64_t pid, session, agent;
	uint64_t start, agent_start;
	int64_t born; /* wall clock, microseconds */
	char boot[40], mark[RUN_MARK_BYTES + 7], cgroup[RUNFILE_CGROUP_MAX];
	/* From here on 0 until the exit section is there and whole. */
	uint64_t exit_version;
	uint64_t cause, log; /* enum run_cause, enum run_log */
	int64_t reason, status, signal;
	int64_t ended, lasted;
	uint64_t output, left_out, no_work;
	char note[RUNFILE_NOTE_MAX];
};

/* E_INPUT: there is no whole birth section, or it is of a version this program does not know; `ret` is then
 * what could be read. A torn exit section counts as none. */
must_check enum err runfile_parse(struct str block, struct runfile *ret, struct why *why);

/* What the end it records means. Only for one that has an exit section. */
void runfile_outcome(const struct runfile *f, struct rn_report *ret);

enum run_life {
	LIFE_ABSENT,
	LIFE_ALIVE, /* somebody holds the lock, and there is no exit section yet */
	LIFE_ENDED, /* the exit section is there */
	LIFE_DEAD,  /* neither */
};
/* E_IO: cannot be told now. Disturbs nobody. */
must_check enum err runfile_read(const char *runs, uint64_t run, unsigned attempt, enum run_life *life,
				 struct runfile *ret, struct why *why);

/* Puts a file in the way of every later birth, with this end. `taken`: there was one already, and it stays.
 */
must_check enum err runfile_burn(const char *runs, uint64_t run, unsigned attempt, enum run_cause cause,
				 unsigned reason, bool flush, bool *taken, struct why *why);

/* RUNS/BUCKET/RUN.ATTEMPT.kind; kinds are run, log, out, ctx, box (host/outbox.h). */
void runfile_path(struct buf *out, const char *runs, uint64_t run, unsigned attempt, const char *kind);
