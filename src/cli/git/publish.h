#pragma once
/* Publishes a change of a plan: one commit on top of the shared branch in which nothing but the change is
 * new. If it cannot be published, nothing of it remains. Afterwards the plan in this work tree has the
 * change, too; every other byte of the work tree stays as it was. */
#include "cli/call.h"
#include "cli/git/repository.h"
#include "core/org/org.h"

struct plan_change {
	/* Chooses what to change, from the plan of the shared branch; NULL: nothing is to choose. */
	enum err (*choose)(void *self, const struct org *o, struct arena *a, struct why *why);
	/* Appends the plan with the change. *nothing: it has it already. */
	enum err (*apply)(void *self, const struct org *o, struct arena *a, struct buf *out, bool *nothing,
			  struct why *why);
	void *self;
	const char *const *message; /* of the commit; it is read after `choose` */
};

struct published {
	const char *commit; /* NULL: there was nothing to change */
	const char *ref;
	bool origin;
	const char *missing; /* why this work tree does not show the change; NULL: it does */
};

/* E_BUSY: others published all the time, or the main work tree's file cannot move with its branch; errors of
 * `apply`: nothing was published. */
must_check enum err publish_change(struct cli_call *call, const char *file, const char *agent,
				   const struct plan_change *change, struct published *ret);
