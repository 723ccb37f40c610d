#pragma once
/* Publishes a change of a plan: one commit on top of the shared branch in which nothing but the change is
 * new. If it cannot be published, nothing of it remains. Afterwards the plan in this work tree has the
 * change, too; every other byte of the work tree stays as it was. */
#include "cli/call.h"
#include "cli/git/repository.h"
#include "core/org/org.h"

struct plan_change {
	/* Chooses what to change, from the plan of the shared branch; NULL: there is nothing to choose. */
	enum err (*choose)(void *self, const struct org *o, struct arena *a, struct why *why);
	/* Appends the plan with the change. *nothing: the plan has the change already. */
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

/* E_BUSY: another publisher was faster in each of CLAIM_TRIES_MAX tries, or the file in the main work tree
 * cannot be changed together with its branch; errors of `apply`: nothing was published. */
must_check enum err publish_change(struct cli_call *call, const char *file, const char *agent,
				   const struct plan_change *change, struct published *ret);
