#pragma once
/* The daemon's view of run files: where they are, what they say, whether the attempt is alive; and how an
 * attempt is prevented. Reads every version since 1, and files that were torn by a crash. The format is in
 * port/runfile.h. */
#include "base/buf.h"
#include "base/err.h"
#include "port/runfile.h"
#include "port/runner.h"

enum { RUNFILE_CGROUP_MAX = 1200, RUNFILE_NOTE_MAX = 256 };

struct runfile {
	uint64_t version; /* 0: the start section is unreadable, and all below is 0 */
	uint64_t run, attempt;
	int64_t pid, session, agent;
	uint64_t start, agent_start;
	int64_t started;  /* wall clock, microseconds */
	uint64_t secrets; /* how many it has: if its shim dies, its outbox is not masked */
	char boot[40], mark[RUN_MARK_BYTES + 7], cgroup[RUNFILE_CGROUP_MAX];
	/* All below is 0 until there is a valid exit section. */
	uint64_t exit_version;
	uint64_t cause, log; /* enum run_cause, enum run_log */
	int64_t reason, status, signal;
	int64_t ended, lasted;
	uint64_t output, left_out, no_work;
	char note[RUNFILE_NOTE_MAX];
};

/* E_INPUT: the start section is damaged, or its version is newer than this program; then `ret` is all 0. A
 * damaged exit section counts as none. */
must_check enum err runfile_parse(struct str block, struct runfile *ret, struct why *why);

/* The RN_EXIT for a file with an exit section. */
void runfile_outcome(const struct runfile *f, struct rn_report *ret);

enum run_life {
	LIFE_ABSENT, /* there is no run file */
	LIFE_ALIVE,  /* the lock is held, and there is no exit section yet */
	LIFE_ENDED,  /* there is an exit section */
	LIFE_DEAD,   /* the lock is free, and there is no exit section: the shim died */
};
/* Reads the file of an attempt without taking its lock. E_IO: it cannot be read now. E_INPUT:
 * it was replaced by a link, a pipe or a file of another user. */
must_check enum err runfile_read(const char *runs, uint64_t run, unsigned attempt, enum run_life *life,
				 struct runfile *ret, struct why *why);

/* Creates the run file with an exit section of this cause, so that the attempt can never start. `taken`:
 * there is a run file already, and it is unchanged. */
must_check enum err runfile_prevent(const char *runs, uint64_t run, unsigned attempt, enum run_cause cause,
				    unsigned reason, bool flush, bool *taken, struct why *why);

/* RUNS/BUCKET/RUN.ATTEMPT.kind; kinds are run, log, out (standard output), ctx (context), box
 * (runfile/outbox.h). */
void runfile_path(struct buf *out, const char *runs, uint64_t run, unsigned attempt, const char *kind);
/* Opens such a file as data_file_open_below does: a descriptor, or minus an errno. */
must_check int runfile_open(const char *runs, uint64_t run, unsigned attempt, const char *kind, int flags);
