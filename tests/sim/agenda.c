/* A binary heap of agenda entries. */
#include "agenda.h"

#include "room.h"

#include <stdlib.h>

static bool before(const struct agenda_entry *x, const struct agenda_entry *y)
{
	return x->t != y->t ? x->t < y->t : x->order < y->order;
}

void agenda_add(struct agenda *g, int64_t t, int kind, uint64_t a, uint64_t b)
{
	ADD_ROOM(g->heap, g->room, g->n);
	struct agenda_entry e = { t, g->orders++, kind, a, b };
	size_t i = g->n++;
	for (; i && before(&e, &g->heap[(i - 1) / 2]); i = (i - 1) / 2)
		g->heap[i] = g->heap[(i - 1) / 2];
	g->heap[i] = e;
}

const struct agenda_entry *agenda_top(const struct agenda *g)
{
	return g->n ? &g->heap[0] : NULL;
}

struct agenda_entry agenda_pop(struct agenda *g)
{
	struct agenda_entry top = g->heap[0], e = g->heap[--g->n];
	size_t i = 0;
	for (;;) {
		size_t k = i * 2 + 1;
		if (k >= g->n)
			break;
		if (k + 1 < g->n && before(&g->heap[k + 1], &g->heap[k]))
			k++;
		if (!before(&g->heap[k], &e))
			break;
		g->heap[i] = g->heap[k];
		i = k;
	}
	if (g->n)
		g->heap[i] = e;
	return top;
}

void agenda_free(struct agenda *g)
{
	free(g->heap);
	*g = (struct agenda){ 0 };
}
