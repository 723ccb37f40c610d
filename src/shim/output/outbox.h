#pragma once
/* Masks secrets in the outbox of a run (runfile/outbox.h) after its end. */
#include "shim/request.h"

/* Keeps at most the last 2 * OUTBOX_BYTES_MAX bytes, because readers read no more. Removes the file if it
 * cannot be masked. */
void outbox_mask(int dir, const struct launch_request *rq);
