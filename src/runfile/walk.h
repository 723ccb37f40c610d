#pragma once
/* All files of all runs: listed in the order of run numbers, and removed. */
#include "base/err.h"
#include "port/runfile.h"

/* The files of one run, of all its attempts. */
struct run_files {
	uint64_t run;
	uint64_t bytes;  /* on disk */
	int64_t touched; /* the last change of any of them: wall clock, microseconds */
	unsigned files;
	bool gone; /* set by runfile_remove when none is left */
	const struct run_file *file;
	int dir;
};

struct run_file {
	uint64_t run;
	unsigned attempt; /* with RUN_CHECK: the check before that attempt; or a hook (run_is_hook) */
	char kind[4];     /* run, log, out, err, ctx, box */
	uint64_t bytes;
	int64_t touched;
};

/* Calls `fn` for every run with a number of at least `from`, until `fn` returns false. Removes directories
 * whose files are all gone, except the last one. Ignores files with other names. */
typedef bool runfile_walk_fn(void *ctx, struct run_files *f);
must_check enum err runfile_walk(const char *runs, uint64_t from, runfile_walk_fn *fn, void *ctx,
				 struct why *why);
/* Removes the files of a run; with `keep_result` those of kind run and out stay. Returns the bytes freed. */
uint64_t runfile_remove(struct run_files *f, bool keep_result);

/* Whether an attempt of the run is alive. Also true if a run file cannot be read. */
bool runfile_any_alive(const char *runs, const struct run_files *f);

/* The largest run number that has a file; 0: there are none. */
must_check enum err runfile_last_run(const char *runs, uint64_t *ret, struct why *why);
