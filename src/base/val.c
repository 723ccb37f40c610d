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

static void *grow(struct arena *a, void *items, unsigned n, size_t size)
{
	if (n & (n - 1) || (n && n < 4))
		return items; /* only at 0, 4, 8, 16, … */
	void *more = arena_alloc(a, (n ? n * 2u : 4u) * size);
	if (more && n)
		memcpy(more, items, n * size);
	return more;
}

struct val *val_item(struct val *list, struct arena *a)
{
	void *items = grow(a, list->list.item, list->list.n, sizeof(struct val));
	if (!items)
		return NULL;
	list->list.item = items;
	return &list->list.item[list->list.n];
}

struct val_pair *val_pair(struct val *map, struct arena *a)
{
	void *pairs = grow(a, map->map.pair, map->map.n, sizeof(struct val_pair));
	if (!pairs)
		return NULL;
	map->map.pair = pairs;
	return &map->map.pair[map->map.n];
}
