#pragma once
/* Bugs planted between the engine and its ports, one or more for each rule of the contract. The checker must
 * find every one of them, which shows that it can find bugs at all. */
#include "check/check.h"

struct planted {
	struct bug bug;
	const char *want; /* text that the checker's finding must contain */
	int profile;      /* profile of the history that shows it */
	unsigned days;    /* length of that history */
};
extern const struct planted planted[];
extern const unsigned planted_count;

/* Looks for the bug in a few histories; returns the number of the one that shows it, 0: none does. */
unsigned planted_find(const struct planted *p);
