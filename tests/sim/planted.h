#pragma once
/* Bugs planted on purpose between the engine and its ports, one or more for each rule of the contract. The
 * simulator is worth something only if it finds every one of them. */
#include "check/check.h"

struct planted {
	struct bug bug;
	const char *want; /* what the judge's finding must say */
	int profile;      /* of the history that shows it … */
	unsigned days;    /* … and how long that is */
};
extern const struct planted planted[];
extern const unsigned planted_count;

/* Looks for it in a few histories; how many it took, 0: not found. */
unsigned planted_find(const struct planted *p);
