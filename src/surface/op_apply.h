#pragma once
/* Many schedules at once, from files: apply. */
#include "surface/op.h"

must_check enum err op_apply(struct op_call *call);
must_check enum err handle_apply(struct op_call *call, struct api *api);
void show_applied(struct op_call *call, const struct val *answer);
