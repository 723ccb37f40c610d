/* Rules about other nodes: a fenced part is not asked for again, and runs held elsewhere are left alone. */
#include "check/internal.h"

void check_owner(struct check *c, const struct st_req *q)
{
	if (c->w->fenced && OWNER_OPS >> q->op & 1)
		check_fail(c, "fenced: the store is asked for sid %llu again (operation %u)",
			   (unsigned long long)q->sid, q->op);
}

void check_holder(struct check *c, const struct rn_req *q)
{
	if (c->w->fenced)
		check_fail(c, "fenced: the runner is asked for run %llu (operation %u)",
			   (unsigned long long)q->run, q->op);
	else if (world_is_elsewhere(c->w, q->run))
		check_fail(c, "run %llu is held elsewhere, and the runner is asked for it (operation %u)",
			   (unsigned long long)q->run, q->op);
}
