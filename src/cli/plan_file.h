#pragma once
/* Org files that verbs read. */
#include "cli/call.h"
#include "core/org/org.h"

/* Reads a file into the call's arena. Errors of its text get their place by call->source. E_IO or E_NOTFOUND:
 * it cannot be read. */
must_check enum err plan_file_read(struct cli_call *call, struct str path, struct org *ret);
