/* Finds items by their id, and puts them into the order in which they are sent. */
#include "api/apply/apply.h"

#include <stdlib.h>

static int compare_item(const struct apply_item *item, bool agent, struct str id)
{
	return item->agent != agent ? item->agent - agent : str_cmp(item->id, id);
}

/* For qsort. */
static int compare_items(const void *x, const void *y)
{
	const struct apply_item *a = *(const struct apply_item *const *)x,
				*b = *(const struct apply_item *const *)y;
	int c = compare_item(a, b->agent, b->id);
	return c ? c : (a > b) - (a < b);
}

int apply_find(const struct apply_job *job, bool agent, struct str id)
{
	unsigned low = 0, high = job->n;
	while (low < high) {
		unsigned mid = low + (high - low) / 2;
		int c = compare_item(job->by_id[mid], agent, id);
		if (c == 0)
			return (int)(job->by_id[mid] - job->item);
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

enum err apply_sort(struct api_call *call, struct apply_job *job)
{
	job->by_id = arena_alloc(call->arena, (job->n + 1) * sizeof(struct apply_item *));
	if (!job->by_id)
		return E_NOMEM;
	for (unsigned i = 0; i < job->n; i++)
		job->by_id[i] = &job->item[i];
	qsort((void *)job->by_id, job->n, sizeof(struct apply_item *), compare_items);
	for (unsigned i = 1; i < job->n; i++) {
		const struct apply_item *x = job->by_id[i];
		if (!compare_item(x, job->by_id[i - 1]->agent, job->by_id[i - 1]->id))
			return why_set(call->why, E_INPUT, job->documents->list.item[x - job->item].at,
				       "%s '%.*s' is defined twice", x->agent ? "agent" : "schedule",
				       STR_SHORT(x->id));
	}
	return OK;
}

/* A schedule needs the definition of its agent, so agents go first. A follower needs the number of its
 * leader, so the leader goes first: for each item, walks from leader to leader until one is placed already or
 * has no leader, then places the visited items, the last visited first. */
enum err apply_order(struct api_call *call, struct apply_job *job)
{
	bool *placed = arena_alloc(call->arena, job->n + 1);
	unsigned *seen = arena_alloc(
		call->arena,
		(job->n + 1) * sizeof *seen); /* 1 + the index of the item whose walk visited this item */
	unsigned *way = arena_alloc(call->arena, (job->n + 1) * sizeof *way), n = 0;
	job->order = arena_alloc(call->arena, (job->n + 1) * sizeof *job->order);
	if (!placed || !seen || !way || !job->order)
		return E_NOMEM;
	for (unsigned i = 0; i < job->n; i++)
		if (job->item[i].agent) {
			placed[i] = true;
			job->order[n++] = i;
		}
	for (unsigned i = 0; i < job->n; i++) {
		unsigned length = 0;
		for (int at = (int)i; at >= 0 && !placed[at];) {
			struct str after = job->item[at].after;
			if (seen[at] == i + 1)
				return why_set(call->why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' follows itself, by way of '%.*s'",
					       STR_SHORT(job->item[at].id), STR_SHORT(after));
			seen[at] = i + 1;
			way[length++] = (unsigned)at;
			at = job->item[at].leader;
		}
		while (length) {
			placed[way[--length]] = true;
			job->order[n++] = way[length];
		}
	}
	return OK;
}
