#pragma once
/* Why a schedule ran, did not run, or will run: why. */
#include "op/op.h"

must_check enum err handle_why(struct op_call *call, struct api *api);
void show_why(struct op_call *call, const struct val *answer);
