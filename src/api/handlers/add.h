#pragma once
/* A schedule made or changed in one line: add, edit. */
#include "op/op.h"

must_check enum err op_add(struct op_call *call);
must_check enum err op_edit(struct op_call *call);
must_check enum err handle_add(struct op_call *call, struct api *api);
must_check enum err handle_edit(struct op_call *call, struct api *api);
