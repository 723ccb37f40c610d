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
	const char *tip; /* the commit at the shared branch when it was last read; it is in this repository */
};

/* E_INPUT: the file is not in a work tree of git. E_CONFLICT: there is no shared branch. */
must_check enum err repository_find(const char *file, const char *agent, struct arena *a,
				    struct repository *ret, struct why *why);
/* Reads the tip of the shared branch again, and fetches it if it is not here yet. */
must_check enum err repository_refresh(struct repository *r);

/* A file in a commit or in an index. */
struct git_blob {
	const char *mode, *id; /* id NULL: it is not there */
	struct str text;
};
/* The plan at the tip, with its text. */
must_check enum err repository_blob(const struct repository *r, struct git_blob *ret);
/* The blob of the plan in the index of the work tree at `root`, without its text. */
must_check enum err repository_staged(const struct repository *r, const char *root, struct git_blob *ret);
/* A commit on top of the tip in which only the plan differs. Nothing refers to it yet. */
must_check enum err repository_commit(const struct repository *r, const struct git_blob *old, struct str text,
				      const char *message, const char **commit, const char **blob);
/* Moves the shared branch from the tip to `commit` if it is still at the tip. *moved: the branch was
 * moved, and `tip` is unchanged; otherwise `tip` is read again. */
must_check enum err repository_publish(struct repository *r, const char *commit, bool *moved);
