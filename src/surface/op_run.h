#pragma once
/* Runs and what is going on: status, runs, run, stop, logs, why, events, ack. */
#include "surface/op.h"

must_check enum err op_logs(struct op_call *call);
must_check enum err op_events(struct op_call *call);

must_check enum err handle_status(struct op_call *call, struct api *api);
must_check enum err handle_runs(struct op_call *call, struct api *api);
must_check enum err handle_get_run(struct op_call *call, struct api *api);
must_check enum err handle_stop(struct op_call *call, struct api *api);
must_check enum err handle_logs(struct op_call *call, struct api *api);
must_check enum err handle_why(struct op_call *call, struct api *api);
must_check enum err handle_events(struct op_call *call, struct api *api);

void show_status(struct op_call *call, const struct val *answer);
void show_runs(struct op_call *call, const struct val *answer);
void show_run(struct op_call *call, const struct val *answer);
void show_why(struct op_call *call, const struct val *answer);
