#pragma once
/* Where a plan is in git, and where its claims are shared: the branch of the origin, or without an origin the
 * branch that the main work tree has checked out. */
#include "cli/git/git.h"

struct repository {
	struct git git;     /* in the work tree of the plan */
	const char *root;   /* of that work tree */
	const char *common; /* the directory of git that all work trees have in common */
	const char *path;   /* of the plan, from the root */
	const char *file;   /* of the plan in this work tree */
	const char *ref;    /* the shared branch: refs/heads/main */
	bool origin;        /* `ref` is a branch of the origin */
	const char *main; /* root of the main work tree if there is no origin; NULL: the repository is bare */
};

/* E_INPUT: the file is not in a work tree of git. E_CONFLICT: there is no shared branch. */
must_check enum err repository_find(const char *file, const char *agent, struct arena *a,
				    struct repository *ret, struct why *why);
/* The commit at the shared branch now, which is fetched if it is not here yet. */
must_check enum err repository_tip(const struct repository *r, const char **commit);

/* A file in a commit or in an index. */
struct git_blob {
	const char *mode, *id; /* id NULL: it is not there */
	struct str text;
};
must_check enum err repository_blob(const struct repository *r, const char *commit, struct git_blob *ret);
/* The blob of the plan in the index of the work tree at `root`, without its text. */
must_check enum err repository_staged(const struct repository *r, const char *root, struct git_blob *ret);
/* A commit on top of `parent` in which only the plan differs. Nothing refers to it yet. */
must_check enum err repository_commit(const struct repository *r, const char *parent,
				      const struct git_blob *old, struct str text, const char *message,
				      const char **commit, const char **blob);
/* Moves the shared branch from `old` to `new` if it is still at `old`. *moved: the branch was moved. */
must_check enum err repository_publish(const struct repository *r, const char *old, const char *new,
				       bool *moved);
