#pragma once
/* What the conditions and templates of a schedule see. Pure. */
#include "core/expr/expr.h"

/* All their names, to compile against. */
extern const struct expr_names scope_names;

/* What they stand for, for one occurrence. What is NULL has no value here: an error when it is asked for. */
struct scope {
	struct wall nominal;     /* timestamp, date, time and day_of_week are those of this instant … */
	const struct zone *zone; /* … in this zone; NULL: UTC */
	const struct val *schedule, *agent, *user, *memory, *variables, *run, *previous;
	char date[16], time[16]; /* filled in when asked for */
};

/* The `find` of an expr_env; `self` is a struct scope. */
bool scope_find(void *self, struct str name, struct expr_value *ret);
