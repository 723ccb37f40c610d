#pragma once
/* Schedules: add, ls, show, rm, pause, resume, run, backfill. */
#include "surface/op.h"

must_check enum err op_add(struct op_call *call);
must_check enum err op_run_now(struct op_call *call);

must_check enum err handle_add(struct op_call *call, struct api *api);
must_check enum err handle_ls(struct op_call *call, struct api *api);
must_check enum err handle_show(struct op_call *call, struct api *api);
must_check enum err handle_rm(struct op_call *call, struct api *api);
must_check enum err handle_pause(struct op_call *call, struct api *api);
must_check enum err handle_resume(struct op_call *call, struct api *api);
must_check enum err handle_run(struct op_call *call, struct api *api);
must_check enum err handle_backfill(struct op_call *call, struct api *api);

void show_added(struct op_call *call, const struct val *answer);
void show_schedules(struct op_call *call, const struct val *answer);
void show_schedule(struct op_call *call, const struct val *answer);
void show_done(struct op_call *call, const struct val *answer);
