#pragma once
/* The directory of runs as a whole: what there is, in the order of numbers, and how it goes. */
#include "base/err.h"
#include "port/runfile.h"

/* All that one run has left, of all its attempts. */
struct run_files {
	uint64_t run;
	uint64_t bytes;  /* on the disk */
	int64_t touched; /* the last time anything of it was written: wall clock, microseconds */
	unsigned files;
	bool gone; /* set by whoever removed all of it */
	const struct run_file *file;
	int dir;
};

struct run_file {
	uint64_t run;
	unsigned attempt; /* with RUN_CHECK: the check before it */
	char kind[4];     /* run, log, out, ctx, box */
	uint64_t bytes;
	int64_t touched;
};

/* Calls `fn` for every run with a number of at least `from`, until it says false. A directory that was
 * emptied goes, unless it is the last. What has another name than ours is passed over. */
typedef bool runfile_walk_fn(void *ctx, struct run_files *f);
must_check enum err runfile_walk(const char *runs, uint64_t from, runfile_walk_fn *fn, void *ctx,
				 struct why *why);
/* Removes those of it, but for `run` and `out` if the result is to be kept; the bytes that are free now. */
uint64_t runfile_remove(struct run_files *f, bool keep_result);

/* The largest number that has a file; 0: none. */
must_check enum err runfile_last_run(const char *runs, uint64_t *ret, struct why *why);
