#pragma once
/* The whole installation looked over, from here and from inside the daemon: doctor. */
#include "op/op.h"

must_check enum err op_doctor(struct op_call *call);
must_check enum err handle_doctor(struct op_call *call, struct api *api);
