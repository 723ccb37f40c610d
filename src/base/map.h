#pragma once
/* A hash map from numbers to numbers, for finding rows by their ids. Open addressing; keys are not 0. */
#include "base/attr.h"

#define MAP_NONE UINT32_MAX

struct map {
	uint64_t *key;
	uint32_t *value;
	uint32_t n, room; /* room is a power of two, or 0 */
};

/* False: out of memory, nothing changed. A key that is there gets the new value. */
must_check bool map_put(struct map *m, uint64_t key, uint32_t value);
uint32_t map_get(const struct map *m, uint64_t key); /* or MAP_NONE */
void map_remove(struct map *m, uint64_t key);
void map_free(struct map *m);
