#pragma once
/* What will happen in the simulated world, by true time and then by order of arrival. */
#include "base/attr.h"

struct agenda_entry {
	int64_t t; /* microseconds of true time */
	uint64_t order;
	int kind;
	uint64_t a, b;
};

struct agenda {
	struct agenda_entry *heap;
	size_t n, room;
	uint64_t orders;
};

void agenda_add(struct agenda *g, int64_t t, int kind, uint64_t a, uint64_t b);
/* The first one; NULL if there is none. */
const struct agenda_entry *agenda_top(const struct agenda *g);
struct agenda_entry agenda_pop(struct agenda *g);
void agenda_free(struct agenda *g);
