#pragma once
/* A run says when its schedule runs next: next-check. */
#include "op/op.h"

must_check enum err op_next_check(struct op_call *call);
must_check enum err handle_next_check(struct op_call *call, struct api *api);
void show_next_check(struct op_call *call, const struct val *answer);
