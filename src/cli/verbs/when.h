#pragma once
/* The operations on expressions: next, explain, zones. They need no daemon. */
#include "op/op.h"

must_check enum err op_next(struct op_call *call);
must_check enum err op_explain(struct op_call *call);
must_check enum err op_zones(struct op_call *call);
