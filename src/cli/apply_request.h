#pragma once
/* The body of the request to apply documents, and the error in its answer: for `rota apply`, and for the
 * directory that `rota serve` watches. */
#include "base/val.h"
#include "cli/documents.h"

/* Writes the request: apply the documents; remove schedules and agents that came from the files or
 * directories `prune` and are not in the documents; remove those that came from files below `gone` (may be
 * NULL) that no longer exist. `absolute`: the names in docs and prune are absolute paths of files, and are
 * sent unchanged even if there is no file at a path any more. */
must_check enum err apply_body(struct cli_call *call, const struct documents *docs, bool dry_run,
			       bool absolute, const char *const *prune, unsigned n, const char *gone,
			       struct buf *out);
/* OK, or the error in the answer if not everything was applied. */
must_check enum err apply_error(struct cli_call *call, const struct val *answer);
