#pragma once
/* How things stand: status, which is also plain `rota`. */
#include "op/op.h"

must_check enum err handle_status(struct op_call *call, struct api *api);
void show_status(struct op_call *call, const struct val *answer);
