#pragma once
#include "op/op.h"

/* `rota serve`: the daemon, in the foreground, until it is told to stop. */
must_check enum err op_serve(struct op_call *call);
/* Where rota-launcher is; NULL: nowhere. */
const char *op_launcher(struct op_call *call);
