/* The heap behind the engine's timers. */
#include "core/engine/heap.h"

#include <stdlib.h>
#include <string.h>

/* The four children of an entry are compared together. The array begins OFFSET entries into a cache line, so
 * that all four lie in one line. */
enum { ARITY = 4, LINE = 64, OFFSET = ARITY - 1 };
static_assert(ARITY * sizeof(struct heap_entry) == LINE, "four entries fill a cache line");

static struct heap_entry *move_entries(const struct heap *h, uint32_t room)
{
	size_t bytes = ((size_t)room + OFFSET) * sizeof(struct heap_entry);
	struct heap_entry *line = aligned_alloc(LINE, (bytes + LINE - 1) / LINE * LINE);
	if (!line)
		return NULL;
	if (h->entry) {
		memcpy(line + OFFSET, h->entry, h->n * sizeof *line);
		free(h->entry - OFFSET);
	}
	return line + OFFSET;
}

bool heap_reserve(struct heap *h, uint32_t items)
{
	if (items <= h->items)
		return true;
	uint32_t room = h->room ? h->room : 64;
	while (room < items)
		room = room > UINT32_MAX / 2 ? UINT32_MAX : room * 2;
	if (room > h->room) {
		uint32_t *at = realloc(h->at, (size_t)room * sizeof *at);
		if (!at)
			return false;
		h->at = at;
		struct heap_entry *entry = move_entries(h, room);
		if (!entry)
			return false;
		h->entry = entry;
		h->room = room;
	}
	while (h->items < items)
		h->at[h->items++] = HEAP_NONE;
	return true;
}

void heap_free(struct heap *h)
{
	if (h->entry)
		free(h->entry - OFFSET);
	free(h->at);
	*h = (struct heap){ 0 };
}

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
	return a->key != b->key ? a->key < b->key : (int32_t)(a->order - b->order) < 0;
}

static void place(struct heap *h, uint32_t at, struct heap_entry e)
{
	h->entry[at] = e;
	h->at[e.item] = at;
}

static void sift_up(struct heap *h, uint32_t at, struct heap_entry e)
{
	while (at > 0) {
		uint32_t parent = (at - 1) / ARITY;
		if (!before(&e, &h->entry[parent]))
			break;
		place(h, at, h->entry[parent]);
		at = parent;
	}
	place(h, at, e);
}

static void sift_down(struct heap *h, uint32_t at, struct heap_entry e)
{
	for (;;) {
		uint32_t first = at * ARITY + 1, best = first;
		if (first >= h->n)
			break;
		/* Fetch the grandchildren before it is known which of them are needed next. */
		for (uint32_t c = first; c < first + ARITY; c++)
			__builtin_prefetch(&h->entry[(size_t)c * ARITY + 1]);
		for (uint32_t c = first + 1; c < first + ARITY && c < h->n; c++)
			if (before(&h->entry[c], &h->entry[best]))
				best = c;
		if (!before(&h->entry[best], &e))
			break;
		place(h, at, h->entry[best]);
		at = best;
	}
	place(h, at, e);
}

void heap_put(struct heap *h, uint32_t item, int64_t key)
{
	assert(item < h->items);
	heap_remove(h, item);
	sift_up(h, h->n++, (struct heap_entry){ key, h->order++, item });
}

void heap_remove(struct heap *h, uint32_t item)
{
	if (!heap_has(h, item))
		return;
	uint32_t at = h->at[item];
	struct heap_entry last = h->entry[--h->n];
	h->at[item] = HEAP_NONE;
	if (at == h->n)
		return;
	if (at > 0 && before(&last, &h->entry[(at - 1) / ARITY]))
		sift_up(h, at, last);
	else
		sift_down(h, at, last);
}
