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
