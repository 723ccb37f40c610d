#pragma once
/* What a shell needs to complete a line: made of the table of operations. */
#include "op/op.h"

must_check enum err op_completion(struct op_call *call);
