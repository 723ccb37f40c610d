#pragma once
/* The names that conditions and templates see of a run; the same value, as JSON, is what its program reads.
 * Times are in the schedule's zone, at the nominal time. Pure. */
#include "core/doc/doc.h"
#include "core/expr/template.h"
#include "port/store.h"

/* What its agent remembers. */
struct scope_note {
	struct memory_row row;
	struct str schedule; /* of the run that wrote it; p NULL: not known, or a person did */
};

struct scope {
	const struct schedule_doc *doc;
	const struct run_row *run;
	uint16_t attempt;
	struct val agent;               /* its state; null: none */
	struct val user;                /* the profile; null: none */
	const struct run_row *previous; /* the one before it that ended; NULL: none */
	struct str result;              /* what that one answered */
	const struct scope_note *note;  /* the most relevant first */
	unsigned notes;
};

/* A map of these names. `env` is what templates in the variables are rendered with, but for its `find`.
 * E_VALUE: one of them has no value. */
must_check enum err scope_value(const struct scope *s, const struct expr_env *env, struct arena *a,
				struct val *ret, struct why *why);
/* The `find` of an expr_env; `self` is one of these. A timestamp is one in expressions, and text in JSON. */
struct scope_view {
	const struct val *map; /* by scope_value */
	struct wall nominal;
};
bool scope_find(void *self, struct str name, struct expr_value *ret);
/* For those who check names before there is a run. Variables see all of them but each other. */
extern const struct expr_names scope_names, scope_names_of_variables;
