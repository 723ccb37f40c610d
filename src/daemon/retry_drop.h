#pragma once
/* Finds the run for which the pending retry of another run was dropped. */
#include "port/read.h"

/* The run that was claimed while the retry of `run` was pending, so that the retry was dropped; 0: none, or
 * the retry was dropped for another reason (a pause, a stop, the removal of the schedule). */
uint64_t retry_superseded_by(struct reader *reader, const struct run_row *run);
