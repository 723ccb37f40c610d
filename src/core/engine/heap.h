#pragma once
/* A 4-ary min-heap of (key, item): the smallest key first, equal keys in the order of insertion. An item is a
 * small number; it is in the heap at most once, and can be moved or removed in O(log n), since the heap keeps
 * the position of every item. One heap is simpler than a timing wheel: no cascades, 20 bytes per entry. Pure
 * apart from memory allocation. */
#include "base/attr.h"

#define HEAP_NONE UINT32_MAX

struct heap_entry {
	int64_t key;
	uint32_t order; /* number of the insertion; wraps, so equal keys 2^31 insertions apart may be swapped
			 */
	uint32_t item;
};

struct heap {
	struct heap_entry *entry;
	uint32_t n, room, order;
	uint32_t *at; /* the position of each item, or HEAP_NONE */
	uint32_t items;
};

/* Makes room for items 0 to items - 1. False: out of memory, nothing changed. */
must_check bool heap_reserve(struct heap *h, uint32_t items);
void heap_free(struct heap *h);
/* Inserts `item`, or moves it to its new key. Room for it must have been reserved. */
void heap_put(struct heap *h, uint32_t item, int64_t key);
void heap_remove(struct heap *h, uint32_t item); /* does nothing if the item is not in the heap */

static inline bool heap_has(const struct heap *h, uint32_t item)
{
	return item < h->items && h->at[item] != HEAP_NONE;
}

static inline int64_t heap_key(const struct heap *h, uint32_t item)
{
	return h->entry[h->at[item]].key;
}
