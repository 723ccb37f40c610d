/* JSON: a value that was read can be written and read again. */
#include "base/json.h"
#include "fuzz.h"

static void check_value(const struct val *v, struct arena *a, size_t size)
{
	assert(v->at <= size);
	if (v->kind == VAL_STR) {
		struct buf out = { 0 };
		struct val again;
		json_write_str(&out, v->str);
		assert(json_read(buf_str(&out), a, &again, NULL) == OK);
		assert(again.kind == VAL_STR && str_eq(again.str, v->str));
		buf_free(&out);
	}
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n; i++)
		check_value(&v->list.item[i], a, size);
	for (unsigned i = 0; v->kind == VAL_MAP && i < v->map.n; i++) {
		assert(val_get(v, v->map.pair[i].key) == &v->map.pair[i].value);
		check_value(&v->map.pair[i].value, a, size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	struct val v;
	struct why why = { 0 };
	if (json_read((struct str){ (const char *)data, size }, &a, &v, &why))
		assert(why.text[0] && why.at <= size);
	else
		check_value(&v, &a, size);
	arena_free(&a);
	return 0;
}
