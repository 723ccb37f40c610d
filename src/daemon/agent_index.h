#pragma once
/* The agents that are known, by name, with the prints of their definitions. Of one thread at a time. */
#include "base/err.h"

struct roster_agent {
	char *name;
	size_t length;
	uint64_t print;
};
struct roster {
	struct roster_agent *agent; /* sorted */
	unsigned n, room;
};
void roster_free(struct roster *r);
/* 0: it is known no more. E_NOMEM. */
must_check enum err roster_set(struct roster *r, struct str name, uint64_t print);
/* 0: it is not known. */
uint64_t roster_print(const struct roster *r, struct str name);
/* The print of who stands for those that name none: this one, or, if none is said, the only one; 0: nobody.
 */
uint64_t roster_default(const struct roster *r, struct str name);
