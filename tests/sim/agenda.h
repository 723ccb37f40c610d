#pragma once
/* The agenda of the simulation: all events that will happen, sorted by true time; events at the same time are
 * in the order of insertion. */
#include "base/attr.h"

struct agenda_entry {
	int64_t t; /* microseconds of true time */
	uint64_t order;
	int kind;      /* enum world_kind */
	uint64_t a, b; /* arguments; their meaning depends on the kind */
};

struct agenda {
	struct agenda_entry *heap;
	unsigned n, room;
	uint64_t orders;
};

void agenda_add(struct agenda *g, int64_t t, int kind, uint64_t a, uint64_t b);
/* The first entry; NULL if the agenda is empty. */
const struct agenda_entry *agenda_top(const struct agenda *g);
struct agenda_entry agenda_pop(struct agenda *g);
void agenda_free(struct agenda *g);
