#pragma once
/* What an agent's turn is made of, for the record: the definition's print, the message as it was rendered,
 * the program. JSON, small enough for the store; a message that is not is cut. */
#include "core/doc/doc.h"
#include "exec/launch.h"

/* `ret->p` NULL: it is no turn. E_NOMEM. */
must_check enum err provenance_of(const struct schedule_doc *d, const struct launch *l, struct arena *a,
				  struct str *ret);
