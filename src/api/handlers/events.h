#pragma once
/* What happens: events. */
#include "op/op.h"

must_check enum err op_events(struct op_call *call);
must_check enum err handle_events(struct op_call *call, struct api *api);
