#pragma once
/* The names that conditions and templates of a run can use, and their values. The same value, as JSON, is the
 * context file that the run's program reads. Times are in the schedule's zone, at the nominal time. Pure. */
#include "core/doc/doc.h"
#include "core/expr/template.h"
#include "port/store.h"

/* A note of the agent's memory. */
struct scope_note {
	struct memory_row row;
	struct str schedule; /* of the run that wrote it; p NULL: not known, or a person wrote it */
};

struct run_scope {
	const struct schedule_doc *doc;
	const struct run_row *run;
	uint16_t attempt;
	struct wall missed_since;       /* the first of run->missed times; 0: none, or not known */
	struct val agent;               /* the agent's state; null: none */
	struct val user;                /* the user's profile; null: none */
	const struct run_row *previous; /* the last run that ended before this one; NULL: none */
	struct str result;              /* of the previous run */
	const struct scope_note *note;  /* the most relevant first */
	unsigned notes;
	struct val task; /* the task that was claimed for this run; null: none */
};

/* Builds the map of all names. Templates in `variables` are rendered with `env`, except for its `find`.
 * E_VALUE: a variable has no value. */
must_check enum err run_scope_value(const struct run_scope *s, const struct expr_env *env, struct arena *a,
				    struct val *ret, struct why *why);
/* The `find` of an expr_env whose `self` is a struct scope_view. In expressions `timestamp` is a timestamp;
 * in the map it is text. */
struct scope_view {
	const struct val *map; /* built by run_scope_value */
	struct wall nominal;
};
bool run_scope_find(void *self, struct str name, struct expr_value *ret);
/* The names, for checks before there is a run. Variables can use all of them except `variables`. */
extern const struct expr_names run_scope_names, run_scope_variable_names;
