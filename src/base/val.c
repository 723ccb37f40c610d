/* JSON-like values: finding, adding and sorting the members of lists and maps. */
#include "base/val.h"

const char *const val_kind_words[] = {
	[VAL_NULL] = "null",  [VAL_BOOL] = "boolean", [VAL_INT] = "integer", [VAL_FLOAT] = "number",
	[VAL_STR] = "string", [VAL_LIST] = "list",    [VAL_MAP] = "map",
};

const struct val *val_get(const struct val *map, struct str key)
{
	if (map->kind == VAL_MAP)
		for (unsigned i = 0; i < map->map.n; i++)
			if (str_eq(map->map.pair[i].key, key))
				return &map->map.pair[i].value;
	return NULL;
}

bool val_is_true(const struct val *map, const char *name)
{
	const struct val *v = val_get(map, str_of(name));
	return v && v->kind == VAL_BOOL && v->boolean;
}

bool val_path_next(struct str *path, struct str *key)
{
	if (!path->n || str_eq(*path, STR(".")))
		return false;
	str_cut(path, '.', key);
	return true;
}

struct val *val_list_room(struct val *list, struct arena *a)
{
	void *items = arena_grow(a, list->list.item, list->list.n, sizeof(struct val));
	if (!items)
		return NULL;
	list->list.item = items;
	return &list->list.item[list->list.n];
}

struct val_pair *val_map_room(struct val *map, struct arena *a)
{
	void *pairs = arena_grow(a, map->map.pair, map->map.n, sizeof(struct val_pair));
	if (!pairs)
		return NULL;
	map->map.pair = pairs;
	return &map->map.pair[map->map.n];
}

/* --- the order of keys --- */

static bool comes_before(const struct val *map, uint32_t x, uint32_t y)
{
	int c = str_cmp(map->map.pair[x].key, map->map.pair[y].key);
	return c ? c < 0 : x < y;
}

/* Heap sort, the last key on top: needs no memory, and no input makes it slow. */
static void sift_down(const struct val *map, uint32_t *heap, unsigned at, unsigned n)
{
	for (unsigned child; (child = 2 * at + 1) < n; at = child) {
		child += child + 1 < n && comes_before(map, heap[child], heap[child + 1]);
		if (!comes_before(map, heap[at], heap[child]))
			return;
		uint32_t down = heap[at];
		heap[at] = heap[child];
		heap[child] = down;
	}
}

void val_sort(const struct val *map, uint32_t *ret)
{
	unsigned n = map->map.n;
	for (unsigned i = 0; i < n; i++)
		ret[i] = i;
	for (unsigned i = n / 2; i-- > 0;)
		sift_down(map, ret, i, n);
	for (unsigned i = n; i-- > 1;) {
		uint32_t last = ret[0];
		ret[0] = ret[i];
		ret[i] = last;
		sift_down(map, ret, 0, i);
	}
}

enum err val_find_duplicate(const struct val *map, struct arena *a, const struct val_pair **ret)
{
	const struct val_pair *pair = map->map.pair;
	*ret = NULL;
	if (map->map.n <= VAL_FEW)
		return OK; /* the parser has called val_get for each new key */
	uint32_t *order = arena_alloc(a, map->map.n * sizeof *order);
	if (!order)
		return E_NOMEM;
	val_sort(map, order);
	for (unsigned i = 1; i < map->map.n; i++)
		if (str_eq(pair[order[i - 1]].key, pair[order[i]].key))
			*ret = &pair[order[i]];
	return OK;
}
