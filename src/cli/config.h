#pragma once
/* The configuration as operations see it: `rota config`, and how others load it. */
#include "host/settings.h"
#include "op/op.h"

must_check enum err op_config(struct op_call *call);

/* By the flags of this call that are settings, the environment and the file. Errors are ready to be shown. */
must_check enum err op_settings(struct op_call *call, struct settings *ret);
