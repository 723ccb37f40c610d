#pragma once
/* git, called as a program. Its configuration is the user's, but it asks no questions, runs no hooks of the
 * user and has a time limit. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct git {
	const char *dir;   /* where it is called */
	const char *index; /* another index file; NULL: that of the work tree */
	const char *agent; /* author of commits if git knows none; NULL: not needed */
	struct arena *arena;
	struct why *why;
};

struct git_answer {
	int code;        /* the exit code; 128 + N for signal N */
	struct str out;  /* in the arena */
	char error[160]; /* the first line of its standard error */
};

/* Runs git with these arguments, up to NULL. OK also if git fails: see the code. E_NOTFOUND: there is no git;
 * E_TIMEOUT: it took longer than GIT_SECONDS_MAX. */
must_check enum err git_run(const struct git *g, const char *const *argv, struct str input,
			    struct git_answer *ret);
/* The same, but E_IO with its message if git fails. *out may be NULL. */
must_check enum err git_do(const struct git *g, const char *const *argv, struct str input, struct str *out);
#define GIT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* The same, and *line is the first line of its output; empty if git fails. */
must_check enum err git_line(const struct git *g, const char *const *argv, const char **line);
