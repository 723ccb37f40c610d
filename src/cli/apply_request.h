#pragma once
/* The request to apply documents, and the error in its answer: for `rota apply`, and for the directory that
 * `rota serve` keeps in force. */
#include "base/val.h"
#include "cli/documents.h"

/* What is asked of the daemon: these documents, and that what came from these `prune` places, a file or a
 * directory each, and is in none of them any more goes; so does what came from files below `gone` (may be
 * NULL) that are there no more. `whole`: all of these names are whole, and those of files to be pruned, be
 * there something else by now. */
must_check enum err apply_body(struct cli_call *call, const struct docs *docs, bool dry_run, bool whole,
			       const char *const *prune, unsigned n, const char *gone, struct buf *out);
/* OK, or that not all was applied, and why. */
must_check enum err apply_error(struct cli_call *call, const struct val *answer);
