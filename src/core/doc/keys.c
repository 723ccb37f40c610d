#include "core/doc/keys.h"
#include "base/json.h"
#include "core/doc/text_position.h"
#include "core/model.h"
#include "core/when/dur.h"

#include <stdio.h>
#include <string.h>

#define at_field(type, base, k) ((type *)(void *)((char *)(base) + (k)->to))
#define of_field(type, base, k) ((const type *)(const void *)((const char *)(base) + (k)->to))

static const unsigned kinds_of[KEY_TYPES] = {
	[KEY_TEXT] = KEY_KIND(VAL_STR),
	[KEY_BOOL] = KEY_KIND(VAL_BOOL),
	[KEY_NUMBER] = KEY_KIND(VAL_INT),
	[KEY_WORD] = KEY_KIND(VAL_STR),
	[KEY_DURATION] = KEY_KIND(VAL_INT) | KEY_KIND(VAL_STR),
	[KEY_SIZE] = KEY_KIND(VAL_INT) | KEY_KIND(VAL_STR),
};

/* --- errors --- */

const struct key *keys_find(const struct key *keys, struct str name)
{
	for (; keys->name; keys++)
		if (strncmp(keys->name, name.p, name.n) == 0 && !keys->name[name.n])
			return keys;
	return NULL;
}

/* A name that may have been meant. */
struct nearest {
	struct str name;
	unsigned best;
	const char *found;
};

static struct nearest nearest_to(struct str name)
{
	return (struct nearest){ name, name.n < 5 ? 2 : 3, NULL };
}

static void nearest_try(struct nearest *n, const char *name)
{
	unsigned d = str_distance(n->name, str_of(name), n->best);
	if (d < n->best) {
		n->found = name;
		n->best = d;
	}
}

enum err keys_unknown(struct why *why, size_t at, const char *what, const struct key *keys, struct str name)
{
	struct nearest near = nearest_to(name);
	for (const struct key *k = keys; k->name; k++)
		nearest_try(&near, k->name);
	if (near.found)
		return why_set(why, E_INPUT, at, "%s has no key '%.*s' (near: %s)", what, STR_SHORT(name),
			       near.found);
	return why_set(why, E_INPUT, at, "%s has no key '%.*s'; rota.yaml(5) lists them", what,
		       STR_SHORT(name));
}

enum err keys_wrong(struct key_reader *r, const char *name, unsigned kinds, const struct val *v)
{
	static const char *const article[] = {
		[VAL_NULL] = "",  [VAL_BOOL] = "a ", [VAL_INT] = "an ", [VAL_FLOAT] = "a ",
		[VAL_STR] = "a ", [VAL_LIST] = "a ", [VAL_MAP] = "a ",
	};
	char list[96] = "";
	int n = 0;
	for (unsigned k = 0; k <= VAL_MAP; k++)
		if (kinds & KEY_KIND(k))
			n += snprintf(list + n, sizeof list - (size_t)n, "%s%s%s", n ? " or " : "",
				      article[k], val_kind_words[k]);
	bool quotes =
		kinds & KEY_KIND(VAL_STR) && v->kind != VAL_LIST && v->kind != VAL_MAP && v->kind != VAL_NULL;
	return why_set(r->why, E_INPUT, v->at, "%s must be %s, not %s%s%s", name, list, article[v->kind],
		       val_kind_words[v->kind], quotes ? "; put text in quotes" : "");
}

/* The small parsers count from the beginning of the string. */
static enum err within(struct key_reader *r, const struct val *v, enum err e)
{
	if (e && e != E_NOMEM && r->why)
		r->why->at = inside(r->source, v, r->why->at);
	return e;
}

/* --- reading --- */

static const struct {
	const char *name;
	unsigned shift;
} sizes[] = { { "GiB", 30 }, { "MiB", 20 }, { "KiB", 10 } };

static void show_size(int64_t n, struct buf *out)
{
	unsigned i = 0;
	while (i < ARRAY_LEN(sizes) && (n == 0 || n % (INT64_C(1) << sizes[i].shift)))
		i++;
	if (i < ARRAY_LEN(sizes))
		buf_addf(out, "%lld%s", (long long)(n >> sizes[i].shift), sizes[i].name);
	else
		buf_addf(out, "%lld", (long long)n);
}

static void show_number(const struct key *k, int64_t n, struct buf *out)
{
	if (k->type == KEY_DURATION)
		dur_format(n, out);
	else if (k->type == KEY_SIZE)
		show_size(n, out);
	else
		buf_addf(out, "%lld", (long long)n);
}

static enum err range(struct key_reader *r, const struct key *k, const struct val *v, int64_t n, int64_t *ret)
{
	if (n < k->least || n > k->most) {
		_cleanup_(buf_free) struct buf least = { 0 }, most = { 0 };
		show_number(k, k->least, &least);
		show_number(k, k->most, &most);
		if (least.failed || most.failed)
			return E_NOMEM;
		return why_set(r->why, E_INPUT, v->at, "%s is out of range %s to %s", k->name, least.p,
			       most.p);
	}
	*ret = n;
	return OK;
}

static enum err set_text(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!v->str.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	*at_field(struct str, into, k) = v->str;
	return OK;
}

static enum err set_bool(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	*at_field(bool, into, k) = v->boolean;
	return OK;
}

static enum err set_number(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return range(r, k, v, v->integer, at_field(int64_t, into, k));
}

static enum err set_word(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	unsigned n = 0;
	enum err e = word_find(k->words, v->str, k->name, &n, r->why);
	if (e)
		return within(r, v, e);
	*at_field(uint8_t, into, k) = (uint8_t)n;
	return OK;
}

static enum err set_duration(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	int64_t n = v->integer;
	enum err e = v->kind == VAL_STR ? within(r, v, dur_parse(v->str, &n, r->why)) : OK;
	return e ? e : range(r, k, v, n, at_field(int64_t, into, k));
}

static enum err set_size(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	int64_t n = v->integer;
	if (v->kind == VAL_STR) {
		unsigned i = 0;
		uint64_t count;
		struct str s = v->str;
		while (i < ARRAY_LEN(sizes) &&
		       !(s.n > 3 && str_eq(str_from(s, s.n - 3), str_of(sizes[i].name))))
			i++;
		if (i == ARRAY_LEN(sizes) || !str_number(str_sub(s, 0, s.n - 3), INT64_MAX >> 31, &count))
			return why_set(r->why, E_INPUT, v->at,
				       "'%.*s' is not a size; write 64KiB, 5MiB or 2GiB", STR_SHORT(s));
		n = (int64_t)(count << sizes[i].shift);
	}
	return range(r, k, v, n, at_field(int64_t, into, k));
}

static key_set *const setters[KEY_TYPES] = {
	[KEY_TEXT] = set_text, [KEY_BOOL] = set_bool,         [KEY_NUMBER] = set_number,
	[KEY_WORD] = set_word, [KEY_DURATION] = set_duration, [KEY_SIZE] = set_size,
	[KEY_OTHER] = NULL,
};

void keys_default(const struct key *k, void *into)
{
	if (k->type == KEY_BOOL)
		*at_field(bool, into, k) = k->usual;
	else if (k->type == KEY_WORD)
		*at_field(uint8_t, into, k) = (uint8_t)k->usual;
	else if (k->type == KEY_NUMBER || k->type == KEY_DURATION || k->type == KEY_SIZE)
		*at_field(int64_t, into, k) = k->usual;
}

enum err keys_set(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	unsigned kinds = k->type == KEY_OTHER ? k->kinds : kinds_of[k->type];
	if (!(kinds & KEY_KIND(v->kind)))
		return keys_wrong(r, k->name, kinds, v);
	return (k->type == KEY_OTHER ? k->set : setters[k->type])(r, into, k, v);
}

enum err keys_read(struct key_reader *r, const char *what, const struct key *keys, void *into,
		   const struct val *map, const struct val **given)
{
	if (map->kind != VAL_MAP)
		return keys_wrong(r, what, KEY_KIND(VAL_MAP), map);
	for (unsigned i = 0; i < map->map.n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		const struct key *k = keys_find(keys, p->key);
		if (!k)
			return keys_unknown(r->why, p->at, what, keys, p->key);
		if (k->later)
			return why_set(r->why, E_INPUT, p->at, "key '%s' of %s is not supported yet", k->name,
				       what);
		enum err e = keys_set(r, into, k, &p->value);
		if (e)
			return e;
		if (given)
			given[k - keys] = &p->value;
	}
	return OK;
}

/* --- writing --- */

static bool is_usual(const struct key *k, const void *from)
{
	switch (k->type) {
	case KEY_TEXT:
		return !of_field(struct str, from, k)->n;
	case KEY_BOOL:
		return *of_field(bool, from, k) == k->usual;
	case KEY_WORD:
		return *of_field(uint8_t, from, k) == k->usual;
	case KEY_NUMBER:
	case KEY_DURATION:
	case KEY_SIZE:
		return *of_field(int64_t, from, k) == k->usual;
	case KEY_OTHER:
	case KEY_TYPES:
		break;
	}
	return false;
}

void keys_show(const struct key *k, const void *from, struct buf *out)
{
	switch (k->type) {
	case KEY_TEXT:
		buf_add(out, *of_field(struct str, from, k));
		break;
	case KEY_BOOL:
		buf_add(out, *of_field(bool, from, k) ? STR("true") : STR("false"));
		break;
	case KEY_WORD:
		buf_add(out, str_of(k->words[*of_field(uint8_t, from, k)]));
		break;
	case KEY_NUMBER:
	case KEY_DURATION:
	case KEY_SIZE:
		show_number(k, *of_field(int64_t, from, k), out);
		break;
	case KEY_OTHER:
		k->write(from, out);
		break;
	case KEY_TYPES:
		assert(false);
	}
}

/* What JSON has no quotes around. */
static bool is_bare(const struct key *k)
{
	return k->type == KEY_BOOL || k->type == KEY_NUMBER || k->type == KEY_OTHER;
}

void keys_json(const struct key *k, const void *from, struct buf *out)
{
	_cleanup_(buf_free) struct buf value = { 0 };
	if (is_bare(k)) {
		keys_show(k, from, out);
		return;
	}
	keys_show(k, from, &value);
	json_write_str(out, buf_str(&value));
	out->failed |= value.failed;
}

void keys_write(const struct key *keys, const void *from, bool first, struct buf *out)
{
	for (const struct key *k = keys; k->name; k++) {
		_cleanup_(buf_free) struct buf value = { 0 };
		if (k->later || is_usual(k, from) || (k->type == KEY_OTHER && !k->write))
			continue;
		keys_json(k, from, &value);
		out->failed |= value.failed;
		if (!value.n)
			continue; /* the default, says its own writer */
		buf_addf(out, "%s\"%s\":", first ? "" : ",", k->name);
		buf_add(out, buf_str(&value));
		first = false;
	}
}

/* --- variants --- */

enum err keys_pass_over(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	(void)into;
	(void)k;
	(void)v;
	return OK; /* it chose the table */
}

static enum err unknown_type(struct key_reader *r, const char *what, const struct key_variant *table,
			     const struct val *type)
{
	char list[128] = "";
	int n = 0;
	struct nearest near = nearest_to(type->str);
	for (const struct key_variant *t = table; t->name; t++) {
		n += snprintf(list + n, sizeof list - (size_t)n, "%s%s", n ? ", " : "", t->name);
		nearest_try(&near, t->name);
	}
	return why_set(r->why, E_INPUT, type->at, "%s '%.*s' is not known%s%s%s; allowed are %s", what,
		       STR_SHORT(type->str), near.found ? " (near: " : "", near.found ? near.found : "",
		       near.found ? ")" : "", list);
}

static enum err type_of(struct key_reader *r, const char *what, const struct key_variant *table,
			const struct val *v, const struct key_variant **ret)
{
	const struct val *type = val_get(v, STR("type"));
	if (v->kind != VAL_MAP)
		return keys_wrong(r, what, KEY_KIND(VAL_MAP), v);
	if (!type)
		return why_set(r->why, E_INPUT, v->at, "%s needs a type, such as %s", what, table->name);
	if (type->kind != VAL_STR)
		return keys_wrong(r, "type", KEY_KIND(VAL_STR), type);
	const struct key_variant *t = table;
	while (t->name && !str_eq(type->str, str_of(t->name)))
		t++;
	if (!t->name)
		return unknown_type(r, what, table, type);
	if (!t->keys)
		return why_set(r->why, E_INPUT, type->at, "%s is not supported yet", t->what);
	*ret = t;
	return OK;
}

enum err keys_read_variant(struct key_reader *r, const char *what, const struct key_variant *table,
			   void *into, const struct val *v, uint8_t *kind)
{
	const struct key_variant *t = table;
	enum err e = type_of(r, what, table, v, &t);
	if (!e)
		e = keys_read(r, t->what, t->keys, into, v, NULL);
	if (e)
		return e;
	if (t->needs && !val_get(v, str_of(t->needs)))
		return why_set(r->why, E_INPUT, v->at, "%s needs %s", t->what, t->needs);
	*kind = (uint8_t)(t - table);
	return OK;
}

void keys_write_variant(const struct key_variant *of, const void *from, struct buf *out)
{
	buf_addf(out, "{\"type\":\"%s\"", of->name);
	keys_write(of->keys, from, false, out);
	buf_addc(out, '}');
}

enum err keys_read_list(struct key_reader *r, const char *what, const struct key_variant *table,
			const struct val *list, size_t size, void **items, unsigned *n)
{
	if (list->list.n > DOC_ITEMS_MAX)
		return why_set(r->why, E_LIMIT, list->at, "a list of this kind has at most %d items",
			       DOC_ITEMS_MAX);
	char *all = arena_alloc(r->arena, (list->list.n + 1) * size);
	if (!all)
		return E_NOMEM;
	for (unsigned i = 0; i < list->list.n; i++) {
		uint8_t kind = 0;
		enum err e = keys_read_variant(r, what, table, all + i * size, &list->list.item[i], &kind);
		if (e)
			return e;
		all[i * size] = (char)kind;
	}
	*items = all;
	*n = list->list.n;
	return OK;
}

void keys_write_list(const struct key_variant *table, const void *items, size_t size, unsigned n,
		     struct buf *out)
{
	for (unsigned i = 0; i < n; i++) {
		const char *item = (const char *)items + i * size;
		buf_addc(out, i ? ',' : '[');
		keys_write_variant(&table[(uint8_t)*item], item, out);
	}
	if (n)
		buf_addc(out, ']');
}

enum err keys_strings(struct key_reader *r, const char *what, const struct val *map)
{
	for (unsigned i = 0; i < map->map.n; i++)
		if (map->map.pair[i].value.kind != VAL_STR)
			return keys_wrong(r, what, KEY_KIND(VAL_STR), &map->map.pair[i].value);
	return OK;
}
