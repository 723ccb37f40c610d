#pragma once
/* The environment of a program that rota starts: the variables of the daemon that are passed on, and those
 * that rota adds. */
#include "base/arena.h"
#include "base/str.h"

struct config_pass_env;

struct environment {
	const char **item; /* NAME=value; ends with NULL after environment_end */
	unsigned n, room;
	struct arena *arena;
	bool failed; /* out of memory */
};

/* Begins with the variables of the daemon that every program gets (HOME, USER, LOGNAME, SHELL, PATH, LANG,
 * LC_*, TMPDIR, XDG_*) and those that `pass` names; NULL: no others. There is room for `more`. Variables that
 * the service manager set for the daemon alone are never passed on. */
void environment_begin(struct environment *e, struct arena *a, const struct config_pass_env *pass,
		       unsigned more);
/* Adds NAME=value, or replaces the item with this name. */
void environment_set(struct environment *e, const char *name, struct str value);
const char **environment_end(struct environment *e); /* NULL: out of memory */
