#pragma once
/* The end of live runs: one by its number, or all of a schedule's. */
#include "op/op.h"

must_check enum err op_stop(struct op_call *call);

must_check enum err handle_stop(struct op_call *call, struct api *api);
must_check enum err handle_stop_schedule(struct op_call *call, struct api *api);

void show_stopped(struct op_call *call, const struct val *answer);
