#pragma once
/* The plan in a work tree: its file and its place in the index, changed together with a branch. */
#include "cli/git/publish.h"

/* The change applied to the file as it is in the work tree at `root`, with changes that are not committed. */
struct work_file {
	const char *root, *file;
	struct str before, after; /* after.p NULL: the file has the change already */
};
/* E_NOTFOUND: there is no such file. Errors of change->apply. */
must_check enum err work_file_prepare(struct cli_call *call, const struct repository *r, const char *root,
				      const struct plan_change *change, struct work_file *ret);
/* Writes the file, unless it was changed after work_file_prepare. *moved: it was written. */
must_check enum err work_file_write(struct cli_call *call, const struct work_file *w, bool *moved);
/* Puts the blob into the index in place of `old`, unless the index has another blob by now. */
must_check enum err work_file_stage(const struct repository *r, const char *root, const struct git_blob *old,
				    const char *blob);

/* Allows one publication at a time in a repository without an origin. After kill -9 the lock is free, and the
 * next process finishes the interrupted publication. */
must_check enum err main_tree_lock(struct cli_call *call, struct repository *r, int *lock);
/* Moves the branch and changes the file of the main work tree together. *moved: false if another process has
 * moved the branch. E_BUSY: the file cannot be changed; nothing happened. */
must_check enum err main_tree_publish(struct cli_call *call, struct repository *r,
				      const struct plan_change *change, const struct git_blob *old,
				      const char *commit, const char *blob, bool *moved);
