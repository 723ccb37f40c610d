#pragma once
/* Pause and resume: one schedule, those with a tag, or everything; with a note for others to read. */
#include "op/op.h"

must_check enum err op_pause(struct op_call *call); /* and resume */

must_check enum err handle_pause(struct op_call *call, struct api *api);
must_check enum err handle_resume(struct op_call *call, struct api *api);
must_check enum err handle_pause_many(struct op_call *call, struct api *api);
must_check enum err handle_resume_many(struct op_call *call, struct api *api);

void show_paused(struct op_call *call, const struct val *answer);
