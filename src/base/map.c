/* The hash map of numbers: open addressing with linear probing. */
#include "base/map.h"

#include <stdlib.h>

static uint32_t slot_of(const struct map *m, uint64_t key)
{
	uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(h >> 32) & (m->room - 1);
}

/* The slot of the key, or the free slot that it would get. */
static uint32_t probe(const struct map *m, uint64_t key)
{
	uint32_t i = slot_of(m, key);
	while (m->key[i] && m->key[i] != key)
		i = (i + 1) & (m->room - 1);
	return i;
}

/* A third of the room stays free, so that probes are short. */
static bool is_full(uint32_t n, uint32_t room)
{
	return n + n / 2 >= room;
}

bool map_reserve(struct map *m, uint32_t n)
{
	struct map bigger = { .n = m->n, .room = m->room ? m->room : 64 };
	while (is_full(n, bigger.room))
		bigger.room *= 2;
	if (bigger.room == m->room)
		return true;
	bigger.key = calloc(bigger.room, sizeof *bigger.key);
	bigger.value = malloc(bigger.room * sizeof *bigger.value);
	if (!bigger.key || !bigger.value) {
		map_free(&bigger);
		return false;
	}
	for (uint32_t i = 0; i < m->room; i++)
		if (m->key[i]) {
			uint32_t at = probe(&bigger, m->key[i]);
			bigger.key[at] = m->key[i];
			bigger.value[at] = m->value[i];
		}
	struct map old = *m;
	*m = bigger;
	map_free(&old);
	return true;
}

bool map_put(struct map *m, uint64_t key, uint32_t value)
{
	assert(key);
	if (!map_reserve(m, m->n))
		return false;
	uint32_t i = probe(m, key);
	m->n += !m->key[i];
	m->key[i] = key;
	m->value[i] = value;
	return true;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	if (!m->room || !key)
		return MAP_NONE;
	uint32_t i = probe(m, key);
	return m->key[i] ? m->value[i] : MAP_NONE;
}

void map_remove(struct map *m, uint64_t key)
{
	if (map_get(m, key) == MAP_NONE)
		return;
	uint32_t hole = probe(m, key), i = hole;
	m->n--;
	/* Close the gap: move back the keys that collisions had moved past it. */
	for (;;) {
		m->key[hole] = 0;
		uint32_t home;
		do {
			i = (i + 1) & (m->room - 1);
			if (!m->key[i])
				return;
			home = slot_of(m, m->key[i]);
		} while (hole <= i ? hole < home && home <= i : hole < home || home <= i);
		m->key[hole] = m->key[i];
		m->value[hole] = m->value[i];
		hole = i;
	}
}

void map_free(struct map *m)
{
	free(m->key);
	free(m->value);
	*m = (struct map){ 0 };
}
