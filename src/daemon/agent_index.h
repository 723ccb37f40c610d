#pragma once
/* The agents that are known, by name, with the prints of their definitions. Of one thread at a time. */
#include "base/err.h"

struct agent_index_agent {
	char *name;
	size_t length;
	uint64_t print;
};
struct agent_index {
	struct agent_index_agent *agent; /* sorted */
	unsigned n, room;
};
void agent_index_free(struct agent_index *r);
/* 0: it is known no more. E_NOMEM. */
must_check enum err agent_index_set(struct agent_index *r, struct str name, uint64_t print);
/* 0: it is not known. */
uint64_t agent_index_print(const struct agent_index *r, struct str name);
/* The print of who stands for those that name none: this one, or, if none is said, the only one; 0: nobody.
 */
uint64_t agent_index_default(const struct agent_index *r, struct str name);
