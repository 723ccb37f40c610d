#pragma once
/* The changes of schedules that a run may make if its own schedule allows it (`grants`): it may add a limited
 * number of schedules that do not come due too often, and it may edit or remove schedules that runs of its
 * own schedule have added. An added schedule inherits the end date and the budget of the run's schedule, and
 * cannot have grants of its own. */
#include "api/schedule_change.h"

/* E_DENIED: the schedule of the calling run grants nothing. */
must_check enum err grants_check_any(struct api_call *call, struct api *api);
/* Checks a schedule that a run adds or changes, and sets its source and the values that it inherits.
 * schedule_change_find must have been called. */
must_check enum err grants_check_change(struct api_call *call, struct api *api, struct schedule_change *c);
/* E_DENIED: the schedule was not added by a run of the same schedule. */
must_check enum err grants_check_owner(struct api_call *call, struct api *api, const struct read_sched *s);
