#pragma once
/* What a run says of itself, when all of it is gone: without the secrets. */
#include "shim/request.h"

/* Of what is longer than anybody reads, the end stays. */
void outbox_mask(int dir, const struct launch_request *rq);
