#pragma once
/* What a run may do to schedules, if its own schedule allows it (`grants`): add a limited number of schedules
 * that do not come due too often, and edit or remove schedules that runs of the same schedule have added.
 * Such a schedule inherits the end date and the budget, and cannot have grants of its own. */
#include "api/schedule_change.h"

/* E_DENIED: the schedule of the calling run grants nothing. */
must_check enum err grants_check_any(struct api_call *call, struct api *api);
/* Checks a schedule that a run adds or changes (schedule_change_find was called), and sets what it inherits
 * and its source. */
must_check enum err grants_check_change(struct api_call *call, struct api *api, struct schedule_change *c);
/* E_DENIED: the schedule was not added by a run of the same schedule. */
must_check enum err grants_check_owner(struct api_call *call, struct api *api, const struct read_sched *s);
