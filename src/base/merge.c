/* JSON Merge Patch. */
#include "base/merge.h"

static enum err add_pair(struct val *map, struct str key, struct val value, struct arena *a)
{
	struct val_pair *p = val_map_room(map, a);
	if (!p)
		return E_NOMEM;
	*p = (struct val_pair){ .key = key, .value = value };
	map->map.n++;
	return OK;
}

enum err merge_patch(const struct val *target, const struct val *patch, struct arena *a, struct val *ret)
{
	struct val all = { .kind = VAL_MAP };
	const struct val nothing = { .kind = VAL_NULL };
	enum err e = OK;
	if (patch->kind != VAL_MAP) {
		*ret = *patch;
		return OK;
	}
	for (unsigned i = 0; target->kind == VAL_MAP && i < target->map.n && !e; i++) {
		const struct val_pair *old = &target->map.pair[i];
		if (!val_get(patch, old->key))
			e = add_pair(&all, old->key, old->value, a);
	}
	for (unsigned i = 0; i < patch->map.n && !e; i++) {
		const struct val_pair *new = &patch->map.pair[i];
		const struct val *old = target->kind == VAL_MAP ? val_get(target, new->key) : NULL;
		struct val value;
		if (new->value.kind == VAL_NULL)
			continue;
		e = merge_patch(old ? old : &nothing, &new->value, a, &value);
		if (!e)
			e = add_pair(&all, new->key, value, a);
	}
	*ret = all;
	return e;
}
