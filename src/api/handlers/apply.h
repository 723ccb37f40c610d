#pragma once
/* Many schedules at once, from files: apply. */
#include "cli/documents.h"

/* What is asked of the daemon: these documents, and that what came from these `prune` places, a file or a
 * directory each, and is in none of them any more goes; so does what came from files below `gone` (may be
 * NULL) that are there no more. `whole`: all of these names are whole, and those of files to be pruned, be
 * there something else by now. */
must_check enum err apply_body(struct op_call *call, const struct docs *docs, bool dry_run, bool whole,
			       const char *const *prune, unsigned n, const char *gone, struct buf *out);
/* What it answered: OK, or that not all was done, and why. */
must_check enum err apply_error(struct op_call *call, const struct val *answer);

must_check enum err op_apply(struct op_call *call);
must_check enum err handle_apply(struct op_call *call, struct api *api);
void show_applied(struct op_call *call, const struct val *answer);
