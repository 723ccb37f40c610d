#pragma once
/* What agents know: one JSON document each, and the user's profile; changed by merge patch. */
#include "op/op.h"

must_check enum err op_state(struct op_call *call);
must_check enum err handle_state(struct op_call *call, struct api *api);
must_check enum err handle_state_change(struct op_call *call, struct api *api);
void show_state(struct op_call *call, const struct val *answer);
