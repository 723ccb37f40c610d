#pragma once
/* Who takes a schedule's turns: looked up among the agents in the store. For whoever may wait for a disk. */
#include "core/doc/agent/turn.h"
#include "daemon/intern.h"
#include "store/sqlite/read/reader.h"

#include <errno.h>

/* A file could not be read because the machine has no descriptor or memory, or its disk fails: nothing is
 * wrong with the document that needs it. */
static inline bool is_machine_error(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/* Settles `d` with the agent it names, the configuration's default, or the only one there is: see
 * turn_resolve. That there is none is no error, and stands in d->turn. */
must_check enum err agent_resolve(struct reader *r, const struct doc_env *env, struct arena *a,
				  struct schedule_doc *d, struct why *why);
/* All agents there are, for the engine's tables. */
must_check enum err agent_index_load(struct reader *r, struct intern *n, struct why *why);
