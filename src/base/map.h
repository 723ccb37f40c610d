#pragma once
/* A hash map from 64-bit to 32-bit numbers, to find rows by their ids. Open addressing; a key is never 0. */
#include "base/attr.h"

#define MAP_NONE UINT32_MAX

struct map {
	uint64_t *key;
	uint32_t *value;
	uint32_t n, room; /* room is a power of two, or 0 */
};

/* Sets the value of a key. False: out of memory, nothing changed. */
must_check bool map_put(struct map *m, uint64_t key, uint32_t value);
/* Makes room for n keys in total. False: out of memory, nothing changed. */
must_check bool map_reserve(struct map *m, uint32_t n);
uint32_t map_get(const struct map *m, uint64_t key); /* or MAP_NONE */
void map_remove(struct map *m, uint64_t key);
void map_free(struct map *m);
