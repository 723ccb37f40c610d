#pragma once
/* base/map.h for tests: every number may be a key, and the program aborts if there is no memory. */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

static inline void *must_realloc(void *p, size_t bytes)
{
	void *q = realloc(p, bytes ? bytes : 1);
	if (!q)
		abort();
	return q;
}

/* base/map.h does not allow the key 0, so 1 is added to all keys. */
static inline void number_map_put(struct map *m, uint64_t key, uint32_t value)
{
	if (!map_put(m, key + 1, value))
		abort();
}

/* Whether the key is in the map; *ret is its value. */
static inline bool number_map_get(const struct map *m, uint64_t key, uint32_t *ret)
{
	uint32_t value = map_get(m, key + 1);
	if (value != MAP_NONE)
		*ret = value;
	return value != MAP_NONE;
}

static inline void number_map_remove(struct map *m, uint64_t key)
{
	map_remove(m, key + 1);
}

static inline struct map number_map_clone(const struct map *m)
{
	struct map c = *m;
	size_t keys = m->room * sizeof *m->key, values = m->room * sizeof *m->value;
	if (m->room) {
		c.key = memcpy(must_realloc(NULL, keys), m->key, keys);
		c.value = memcpy(must_realloc(NULL, values), m->value, values);
	}
	return c;
}

/* hash_number hashes one number, hash_pair two. */
static inline uint64_t hash_number(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_number(hash_number(a + UINT64_C(0x9e3779b97f4a7c15)) ^ b);
}
