#pragma once
/* What an agent's turn is made of, for the record: fingerprint of the agent's definition, runner, model,
 * program and rendered message, as JSON. Too long a message is cut, so that it fits into the store. */
#include "core/doc/doc.h"
#include "exec/launch.h"

/* ret->p NULL: the action is not a turn. E_NOMEM. */
must_check enum err provenance_write(const struct schedule_doc *d, const struct launch *l, struct arena *a,
				     struct str *ret);
