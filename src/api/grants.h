#pragma once
/* The changes of schedules that a run may make if its own schedule allows it (`grants`): it may add a limited
 * number of schedules that do not come due too often, and it may edit or remove schedules that runs of its
 * own schedule have added. An added schedule has only the keys of a list, has no higher priority, no longer
 * timeout and no later end than the run's schedule, and the same budget; it ends with that schedule
 * (daemon/makers.c).
 *
 * `interval` is the least time between two attempts: retries count, and so do schedules that were changed or
 * removed after they had run. */
#include "api/schedule_change.h"

/* E_DENIED: the schedule of the calling run grants nothing. */
must_check enum err grants_check_any(struct api_call *call, struct api *api);
/* Checks a schedule that a run adds or changes, and sets its source and the values that it inherits.
 * schedule_change_find must have been called. */
must_check enum err grants_check_change(struct api_call *call, struct api *api, struct schedule_change *c);
/* Checks a schedule that a run removes. If it has run within the interval, it counts until the interval is
 * over. E_DENIED: the schedule was not added by a run of the same schedule. */
must_check enum err grants_check_removal(struct api_call *call, struct api *api, const struct read_sched *s);
