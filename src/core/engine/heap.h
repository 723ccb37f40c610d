#pragma once
/* A 4-ary heap of (key, item), smallest key first, ties in the order of insertion. Each item is in it at most
 * once and may be moved or taken out; where it stands is kept in an array of the caller's, so that this costs
 * O(log n). One heap beats a timing wheel here: no cascades, 20 bytes an entry. Pure but for realloc. */
#include "base/attr.h"

#define HEAP_NONE UINT32_MAX

struct heap_entry {
	int64_t key;
	uint32_t order; /* of insertion; wraps, which only blurs ties two thousand million apart */
	uint32_t item;
};

struct heap {
	struct heap_entry *entry;
	uint32_t n, room, order;
	uint32_t *at; /* by item: its place, or HEAP_NONE */
	uint32_t items;
};

/* Makes room for items 0 … items - 1. False: out of memory, nothing changed. */
must_check bool heap_reserve(struct heap *h, uint32_t items);
void heap_free(struct heap *h);
/* Puts `item` in, or moves it to its new key. Room for it must have been reserved. */
void heap_put(struct heap *h, uint32_t item, int64_t key);
void heap_remove(struct heap *h, uint32_t item); /* harmless if it is not in */

static inline bool heap_has(const struct heap *h, uint32_t item)
{
	return item < h->items && h->at[item] != HEAP_NONE;
}

static inline int64_t heap_key(const struct heap *h, uint32_t item)
{
	return h->entry[h->at[item]].key;
}
