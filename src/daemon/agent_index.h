#pragma once
/* The names of all agents, with the fingerprints of their definitions. Not thread-safe. */
#include "base/err.h"

struct indexed_agent {
	char *name;
	size_t length;
	uint64_t fingerprint; /* never 0 */
};
struct agent_index {
	struct indexed_agent *agent; /* sorted by name */
	unsigned n, room;
};
void agent_index_free(struct agent_index *x);
/* Adds or changes an agent; fingerprint 0 removes it. E_NOMEM. */
must_check enum err agent_index_set(struct agent_index *x, struct str name, uint64_t fingerprint);
/* 0: there is no such agent. */
uint64_t agent_index_get(const struct agent_index *x, struct str name);
/* The fingerprint of the default agent. `name` is its name; if `name` is empty, the only agent is the
 * default. 0: there is no default agent. */
uint64_t agent_index_default(const struct agent_index *x, struct str name);
