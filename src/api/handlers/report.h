#pragma once
/* What a run says of itself: report. It is for programs within a run. It goes into the run's own file, and
 * needs no daemon; by the socket where that file cannot be written. */
#include "op/op.h"

must_check enum err handle_report(struct op_call *call, struct api *api);
must_check enum err op_report(struct op_call *call); /* also step and note, which are short for two of it */
