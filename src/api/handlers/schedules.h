#pragma once
/* Schedules as they stand, and what is done to them: ls, show, rm, run, backfill, clock. */
#include "op/op.h"

must_check enum err op_ls(struct op_call *call);
must_check enum err op_show(struct op_call *call);

must_check enum err handle_schedules(struct op_call *call, struct api *api);
must_check enum err handle_schedule(struct op_call *call, struct api *api);
must_check enum err handle_rm(struct op_call *call, struct api *api);
must_check enum err handle_run(struct op_call *call, struct api *api);
must_check enum err handle_backfill(struct op_call *call, struct api *api);
must_check enum err handle_clock(struct op_call *call, struct api *api);

void show_schedules(struct op_call *call, const struct val *answer);
void show_schedule(struct op_call *call, const struct val *answer);
void show_done(struct op_call *call, const struct val *answer);
void show_filled(struct op_call *call, const struct val *answer);
void print_note(struct op_call *call, const struct val *v); /* a line, if it has one */
