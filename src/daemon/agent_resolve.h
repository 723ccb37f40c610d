#pragma once
/* The agent that takes a schedule's turns, looked up in the store. For threads that may wait for a disk. */
#include "core/doc/agent/turn.h"
#include "daemon/intern.h"
#include "port/read.h"

#include <errno.h>

/* Resolves `d` with the agent it names, the configuration's default agent, or the only agent: see
 * turn_resolve. If there is no such agent, the result is OK, and d->turn says that the agent is missing. */
must_check enum err agent_resolve(struct reader *r, const struct doc_env *env, struct arena *a,
				  struct schedule_doc *d, struct why *why);
/* The same for an attempt. Reads the store again only if the agent is another one than that of `known`. */
must_check enum err agent_resolve_known(struct reader *r, const struct read_attempt *known,
					const struct doc_env *env, struct arena *a, struct schedule_doc *d,
					struct why *why);
/* Puts all agents of the store into the intern table. */
must_check enum err agent_load_all(struct reader *r, struct intern *n, struct why *why);

/* Whether an errno means that the machine failed: no descriptor, no memory, or a failing disk. In that case
 * the document that needs the file is not at fault. */
static inline bool is_machine_error(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}
