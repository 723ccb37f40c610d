#pragma once
/* The operations on conditions and templates: eval, render. They need no daemon. */
#include "op/op.h"

must_check enum err op_eval(struct op_call *call);
must_check enum err op_render(struct op_call *call);
