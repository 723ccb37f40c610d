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
/* Writes the file. *moved: it has not been changed since, and is written. */
must_check enum err work_file_write(struct cli_call *call, const struct work_file *w, bool *moved);
/* Puts the blob into the index in place of `old`, unless it has another one. */
must_check enum err work_file_stage(const struct repository *r, const char *root, const struct git_blob *old,
				    const char *blob);

/* One publication at a time in a repository without an origin, also across kill -9: the lock ends with its
 * process, and what it had begun is finished by the next one. */
must_check enum err main_tree_lock(struct cli_call *call, const struct repository *r, int *lock);
/* Moves the branch and the file of the main work tree together. *moved: false if the branch was moved by
 * another. E_BUSY: the file cannot follow; nothing happened. */
must_check enum err main_tree_publish(struct cli_call *call, const struct repository *r,
				      const struct plan_change *change, const struct git_blob *old,
				      const char *tip, const char *commit, const char *blob, bool *moved);
