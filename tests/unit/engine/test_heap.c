/* The engine's heap and the map of numbers are compared with simple models. */
#include "base/map.h"
#include "core/engine/heap.h"
#include "test.h"

/* The model is an array that is searched completely. */
TEST(heap_gives_the_smallest_first)
{
	enum { ITEMS = 500 };
	struct heap h = { 0 };
	int64_t key[ITEMS];
	unsigned order[ITEMS], inserted = 0;
	bool in[ITEMS] = { false };
	uint64_t seed = 7;
	CHECK(heap_reserve(&h, ITEMS));
	for (unsigned step = 0; step < 20000; step++) {
		uint32_t item = (uint32_t)(test_random(&seed) % ITEMS);
		switch (test_random(&seed) % 4) {
		case 0:
		case 1:
			key[item] = (int64_t)(test_random(&seed) % 100) - 50;
			order[item] = inserted++;
			in[item] = true;
			heap_put(&h, item, key[item]);
			break;
		case 2:
			heap_remove(&h, item);
			in[item] = false;
			break;
		default: {
			unsigned best = ITEMS;
			for (unsigned i = 0; i < ITEMS; i++)
				if (in[i] && (best == ITEMS || key[i] < key[best] ||
					      (key[i] == key[best] && order[i] < order[best])))
					best = i;
			if (!CHECK_INT(h.n ? h.entry[0].item : ITEMS, best))
				return;
			if (h.n) {
				in[best] = false;
				heap_remove(&h, best);
			}
		}
		}
		if (heap_has(&h, item) != in[item] || (in[item] && heap_key(&h, item) != key[item]))
			CHECK(false);
	}
	heap_free(&h);
}

TEST(map_finds_every_key)
{
	enum { KEYS = 3000 };
	struct map m = { 0 };
	uint32_t want[KEYS];
	uint64_t seed = 3;
	memset(want, 0xFF, sizeof want);
	CHECK_INT(map_get(&m, 5), MAP_NONE);
	for (unsigned step = 0; step < 100000; step++) {
		/* Keys that collide: small numbers, and multiples of a power of two. */
		uint32_t k = (uint32_t)(test_random(&seed) % KEYS);
		uint64_t key = k % 2 ? k : (uint64_t)k << 33;
		if (!k)
			continue;
		if (test_random(&seed) % 3) {
			want[k] = step;
			CHECK(map_put(&m, key, step));
		} else {
			want[k] = MAP_NONE;
			map_remove(&m, key);
		}
		uint32_t probe = (uint32_t)(test_random(&seed) % KEYS);
		if (probe && map_get(&m, probe % 2 ? probe : (uint64_t)probe << 33) != want[probe]) {
			CHECK_INT(probe, 0);
			break;
		}
	}
	unsigned n = 0;
	for (unsigned k = 1; k < KEYS; k++)
		n += want[k] != MAP_NONE;
	CHECK_INT(m.n, n);
	map_free(&m);
}
