/* Which of them is which, and which goes before which. */
#include "api/apply/apply.h"

#include <stdlib.h>

static int compare(const struct item *a, bool agent, struct str id)
{
	return a->agent != agent ? a->agent - agent : str_cmp(a->id, id);
}

static int by_id(const void *x, const void *y)
{
	const struct item *a = *(const struct item *const *)x, *b = *(const struct item *const *)y;
	int c = compare(a, b->agent, b->id);
	return c ? c : (a > b) - (a < b);
}

int applying_find(const struct applying *a, bool agent, struct str id)
{
	unsigned low = 0, high = a->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		int c = compare(a->by_id[mid], agent, id);
		if (c == 0)
			return (int)(a->by_id[mid] - a->item);
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

enum err applying_sort(struct api_call *call, struct applying *a)
{
	a->by_id = arena_alloc(call->arena, (a->n + 1) * sizeof(struct item *));
	if (!a->by_id)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++)
		a->by_id[i] = &a->item[i];
	qsort((void *)a->by_id, a->n, sizeof(struct item *), by_id);
	for (unsigned i = 1; i < a->n; i++) {
		const struct item *x = a->by_id[i];
		if (!compare(x, a->by_id[i - 1]->agent, a->by_id[i - 1]->id))
			return why_set(call->why, E_INPUT, a->documents->list.item[x - a->item].at,
				       "%s '%.*s' is there twice", x->agent ? "agent" : "schedule",
				       STR_SHORT(x->id));
	}
	return OK;
}

/* A schedule needs its agent's definition, so agents go first. A follower needs its leader's number, so a
 * leader goes before it: from each, up to the first that is placed, and back. */
enum err applying_order(struct api_call *call, struct applying *a)
{
	bool *placed = arena_alloc(call->arena, a->n + 1);
	unsigned *seen = arena_alloc(call->arena, (a->n + 1) * sizeof *seen); /* from which, and one */
	unsigned *line = arena_alloc(call->arena, (a->n + 1) * sizeof *line), n = 0;
	a->order = arena_alloc(call->arena, (a->n + 1) * sizeof *a->order);
	if (!placed || !seen || !line || !a->order)
		return E_NOMEM;
	for (unsigned i = 0; i < a->n; i++)
		if (a->item[i].agent) {
			placed[i] = true;
			a->order[n++] = i;
		}
	for (unsigned i = 0; i < a->n; i++) {
		unsigned length = 0;
		for (int at = (int)i; at >= 0 && !placed[at];) {
			struct str after = a->item[at].after;
			if (seen[at] == i + 1)
				return why_set(call->why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' follows itself, by way of '%.*s'",
					       STR_SHORT(a->item[at].id), STR_SHORT(after));
			seen[at] = i + 1;
			line[length++] = (unsigned)at;
			at = a->item[at].leader;
		}
		while (length) {
			placed[line[--length]] = true;
			a->order[n++] = line[length];
		}
	}
	return OK;
}
