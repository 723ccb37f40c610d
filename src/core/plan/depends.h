#pragma once
/* :DEPENDS: of tasks: ids or exact titles of other tasks in the same plans, separated by commas; ids may also
 * be separated by blanks. Pure. */
#include "base/map.h"
#include "core/plan/agenda.h"

struct depends {
	const struct agenda_plan *plan;
	unsigned plans;
	bool built, failed; /* the tables are built when the first task with :DEPENDS: is met */
	struct map state;   /* by the hash of an id or title: enum in depends.c */
};

void depends_init(struct depends *d, const struct agenda_plan *plan, unsigned plans);
void depends_free(struct depends *d);
/* Are all tasks done that this one depends on? A task that does not exist is not done. */
bool depends_done(struct depends *d, unsigned plan, unsigned head);
/* Is there a task with this id or title? */
bool depends_known(struct depends *d, struct str name);
/* The names of a value: begin with { .rest = value }. */
struct depends_names {
	struct str piece, rest; /* what is left up to the next comma, and after it */
};
/* The next name. False: there are no more. */
bool depends_next(struct depends *d, struct depends_names *names, struct str *ret);
