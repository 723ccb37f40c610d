#pragma once
/* What runs may do to schedules, where their own schedule says so (`grants`): make some, so many at a time
 * and none that comes due too often, and change or remove those that runs of the same schedule have made.
 * What they make has the end and the budget of what made it, and makes nothing itself. */
#include "api/schedule_change.h"

/* E_DENIED: the schedule of the run that asks grants nothing. */
must_check enum err grant_any(struct api_call *call, struct api *api);
/* Of a schedule on its way into the store, with p->old looked for: judges it, and gives it what it inherits
 * and where it comes from. */
must_check enum err grant_put(struct api_call *call, struct api *api, struct put *p);
/* Was it made by a run of the same schedule? */
must_check enum err grant_owns(struct api_call *call, struct api *api, const struct read_sched *s);
