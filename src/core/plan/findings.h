#pragma once
/* Findings about the workflows of a plan: what is wrong with them, and what differs from an older plan. Pure.
 * They do not depend on the time: overdue tasks are in the agenda. */
#include "base/val.h"
#include "core/plan/world.h"

struct finding {
	bool error;                     /* else a warning */
	struct str workflow, component; /* where; empty: not in one */
	const char *message;
};

struct findings {
	struct finding *item;
	unsigned n, errors;
};

/* Components without source or language, inputs without producer, cycles, two producers of an output, names
 * that occur twice, unknown :deps and :DEPENDS:. `inputs` is a map with inputs that are given, or NULL. */
must_check enum err worlds_check(const struct worlds *w, const struct val *inputs, struct arena *a,
				 struct findings *ret);
/* Errors: a workflow or an export was removed, or the output of a component changed. Warnings: a new import.
 */
must_check enum err worlds_compare(const struct worlds *old, const struct worlds *new, struct arena *a,
				   struct findings *ret);
/* Appends [{"level","scope","message"},...]. */
void findings_write(const struct findings *f, struct buf *out);
