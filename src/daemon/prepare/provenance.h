#pragma once
/* The provenance of an agent's turn, which is recorded with the run: fingerprint of the agent's definition,
 * runner, model, program and rendered message, as JSON. A message that is too long for the store is cut. */
#include "core/doc/doc.h"
#include "exec/launch.h"

/* ret->p NULL: the action is not a turn. E_NOMEM. */
must_check enum err provenance_write(const struct schedule_doc *d, const struct launch *l, struct arena *a,
				     struct str *ret);
