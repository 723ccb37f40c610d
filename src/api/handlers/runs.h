#pragma once
/* Runs: runs, run, logs. */
#include "op/op.h"
#include "store/sqlite/read/reader.h"

must_check enum err op_run_now(struct op_call *call);
must_check enum err op_logs(struct op_call *call);

must_check enum err handle_runs(struct op_call *call, struct api *api);
must_check enum err handle_get_run(struct op_call *call, struct api *api);
must_check enum err handle_logs(struct op_call *call, struct api *api);

/* Items of a JSON list, with the names of their schedules. */
void tell_runs(struct op_call *call, struct api *api, const struct read_runs *page);
void print_runs(struct op_call *call, const struct val *list);
void show_runs(struct op_call *call, const struct val *answer);
void show_run(struct op_call *call, const struct val *answer);
