#pragma once
/* Bugs planted between the engine and its ports, one or more for each rule of the contract. The checker must
 * find each of these bugs. This shows that the checker works. */
#include "check/check.h"

struct planted {
	struct bug bug;
	const char *want; /* text that the checker's finding must contain */
	int profile;      /* profile of the history that shows the bug */
	unsigned days;    /* length of that history */
};
extern const struct planted planted[];
extern const unsigned planted_count;

/* Looks for the bug in a few histories, and returns the number of the history that shows it; 0: none does. */
unsigned planted_find(const struct planted *p);
