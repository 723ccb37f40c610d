/* Reading and writing of maps by their table of keys. */
#include "core/doc/keys.h"
#include "base/json.h"
#include "core/doc/text_position.h"
#include "core/model.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/iso.h"

#include <stdio.h>
#include <string.h>

static const unsigned kinds_of_type[KEY_TYPES] = {
	[KEY_TEXT] = KEY_KIND(VAL_STR),
	[KEY_BOOL] = KEY_KIND(VAL_BOOL),
	[KEY_NUMBER] = KEY_KIND(VAL_INT),
	[KEY_WORD] = KEY_KIND(VAL_STR),
	[KEY_DURATION] = KEY_KIND(VAL_INT) | KEY_KIND(VAL_STR),
	[KEY_SIZE] = KEY_KIND(VAL_INT) | KEY_KIND(VAL_STR),
};

/* The row with this name, or NULL. */
static const struct key *find_key(const struct key *keys, struct str name)
{
	for (; keys->name; keys++)
		if (strncmp(keys->name, name.p, name.n) == 0 && !keys->name[name.n])
			return keys;
	return NULL;
}

/* --- errors --- */

/* The known name that is most similar to a misspelt one. */
struct suggestion {
	struct str misspelt;
	unsigned distance; /* the distance of `found`; while there is none, the limit */
	const char *found; /* NULL: none is similar */
};

static struct suggestion suggestion_for(struct str misspelt)
{
	return (struct suggestion){ misspelt, misspelt.n < 5 ? 2 : 3, NULL };
}

static void suggest(struct suggestion *s, const char *name)
{
	unsigned d = str_distance(s->misspelt, str_of(name), s->distance);
	if (d < s->distance) {
		s->found = name;
		s->distance = d;
	}
}

/* Appends a name to a list such as "a, b"; false if the list has no room for it. */
static bool list_name(char *list, size_t size, const char *name)
{
	size_t n = strlen(list), room = size - n;
	return (size_t)snprintf(list + n, room, "%s%s", n ? ", " : "", name) < room;
}

static enum err unknown_key(struct why *why, size_t at, const char *what, const struct key *keys,
			    struct str name)
{
	struct suggestion s = suggestion_for(name);
	char list[96] = "";
	bool fits = true;
	for (const struct key *k = keys; k->name; k++) {
		suggest(&s, k->name);
		fits = fits && list_name(list, sizeof list, k->name);
	}
	if (s.found)
		return why_set(why, E_INPUT, at, "%s has no key '%.*s' (near: %s)", what, STR_SHORT(name),
			       s.found);
	if (fits)
		return why_set(why, E_INPUT, at, "%s has no key '%.*s'; allowed keys: %s", what,
			       STR_SHORT(name), list);
	return why_set(why, E_INPUT, at, "%s has no key '%.*s'; rota.yaml(5) lists the keys", what,
		       STR_SHORT(name));
}

const char *keys_kind_name(enum val_kind kind)
{
	static const char *const names[] = {
		[VAL_NULL] = "null",      [VAL_BOOL] = "a boolean", [VAL_INT] = "an integer",
		[VAL_FLOAT] = "a number", [VAL_STR] = "a string",   [VAL_LIST] = "a list",
		[VAL_MAP] = "a map",
	};
	return names[kind];
}

enum err keys_wrong_kind(struct key_reader *r, const char *name, unsigned kinds, const struct val *v)
{
	char list[96] = "";
	int n = 0;
	for (unsigned k = 0; k <= VAL_MAP; k++)
		if (kinds & KEY_KIND(k)) {
			const char *between = !n ? "" : kinds >> (k + 1) ? ", " : " or ";
			n += snprintf(list + n, sizeof list - (size_t)n, "%s%s", between,
				      keys_kind_name((enum val_kind)k));
		}
	bool quotes =
		kinds & KEY_KIND(VAL_STR) && v->kind != VAL_LIST && v->kind != VAL_MAP && v->kind != VAL_NULL;
	return why_set(r->why, E_INPUT, v->at, "%s must be %s, not %s%s", name, list, keys_kind_name(v->kind),
		       quotes ? "; put text in quotes" : "");
}

enum err keys_error_in(struct key_reader *r, const struct val *v, enum err e)
{
	if (e && e != E_NOMEM && r->why)
		r->why->at = text_position(r->source, v, r->why->at);
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

static enum err set_in_range(struct key_reader *r, const struct key *k, const struct val *v, int64_t n,
			     int64_t *ret)
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
	*KEY_FIELD(struct str, into, k) = v->str;
	return OK;
}

static enum err set_bool(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	*KEY_FIELD(bool, into, k) = v->boolean;
	return OK;
}

static enum err set_number(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return set_in_range(r, k, v, v->integer, KEY_FIELD(int64_t, into, k));
}

static enum err set_word(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	unsigned n = 0;
	enum err e = word_find(k->words, v->str, k->name, &n, r->why);
	if (e)
		return keys_error_in(r, v, e);
	*KEY_FIELD(uint8_t, into, k) = (uint8_t)n;
	return OK;
}

static enum err set_duration(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	int64_t n = v->integer;
	enum err e = v->kind == VAL_STR ? keys_error_in(r, v, dur_parse(v->str, &n, r->why)) : OK;
	return e ? e : set_in_range(r, k, v, n, KEY_FIELD(int64_t, into, k));
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
	return set_in_range(r, k, v, n, KEY_FIELD(int64_t, into, k));
}

static key_set *const setters[KEY_TYPES] = {
	[KEY_TEXT] = set_text, [KEY_BOOL] = set_bool,         [KEY_NUMBER] = set_number,
	[KEY_WORD] = set_word, [KEY_DURATION] = set_duration, [KEY_SIZE] = set_size,
	[KEY_OTHER] = NULL,
};

void keys_set_defaults(const struct key *keys, void *into)
{
	for (const struct key *k = keys; k->name; k++)
		if (k->type == KEY_BOOL)
			*KEY_FIELD(bool, into, k) = k->default_value;
		else if (k->type == KEY_WORD)
			*KEY_FIELD(uint8_t, into, k) = (uint8_t)k->default_value;
		else if (k->type == KEY_NUMBER || k->type == KEY_DURATION || k->type == KEY_SIZE)
			*KEY_FIELD(int64_t, into, k) = k->default_value;
}

enum err keys_set(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	unsigned kinds = k->type == KEY_OTHER ? k->kinds : kinds_of_type[k->type];
	if (!(kinds & KEY_KIND(v->kind)))
		return keys_wrong_kind(r, k->name, kinds, v);
	return (k->type == KEY_OTHER ? k->set : setters[k->type])(r, into, k, v);
}

enum err keys_read(struct key_reader *r, const char *what, const struct key *keys, void *into,
		   const struct val *map, const struct val **given)
{
	if (map->kind != VAL_MAP)
		return keys_wrong_kind(r, what, KEY_KIND(VAL_MAP), map);
	for (unsigned i = 0; i < map->map.n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		const struct key *k = find_key(keys, p->key);
		if (!k)
			return unknown_key(r->why, p->at, what, keys, p->key);
		if (k->unsupported)
			return why_set(r->why, E_INPUT, p->at, "the key '%s' of %s is not supported yet",
				       k->name, what);
		enum err e = keys_set(r, into, k, &p->value);
		if (e)
			return e;
		if (given)
			given[k - keys] = &p->value;
	}
	return OK;
}

/* --- writing --- */

static bool is_default(const struct key *k, const void *from)
{
	switch (k->type) {
	case KEY_TEXT:
		return !KEY_CONST_FIELD(struct str, from, k)->n;
	case KEY_BOOL:
		return *KEY_CONST_FIELD(bool, from, k) == k->default_value;
	case KEY_WORD:
		return *KEY_CONST_FIELD(uint8_t, from, k) == k->default_value;
	case KEY_NUMBER:
	case KEY_DURATION:
	case KEY_SIZE:
		return *KEY_CONST_FIELD(int64_t, from, k) == k->default_value;
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
		buf_add(out, *KEY_CONST_FIELD(struct str, from, k));
		break;
	case KEY_BOOL:
		buf_add(out, *KEY_CONST_FIELD(bool, from, k) ? STR("true") : STR("false"));
		break;
	case KEY_WORD:
		buf_add(out, str_of(k->words[*KEY_CONST_FIELD(uint8_t, from, k)]));
		break;
	case KEY_NUMBER:
	case KEY_DURATION:
	case KEY_SIZE:
		show_number(k, *KEY_CONST_FIELD(int64_t, from, k), out);
		break;
	case KEY_OTHER:
		k->write(from, k, out);
		break;
	case KEY_TYPES:
		assert(false);
	}
}

/* Whether keys_show writes a value of this row as JSON. */
static bool shows_json(const struct key *k)
{
	return k->type == KEY_BOOL || k->type == KEY_NUMBER || k->type == KEY_OTHER;
}

void keys_json(const struct key *k, const void *from, struct buf *out)
{
	_cleanup_(buf_free) struct buf value = { 0 };
	if (shows_json(k)) {
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
		if (k->unsupported || is_default(k, from) || (k->type == KEY_OTHER && !k->write))
			continue;
		keys_json(k, from, &value);
		out->failed |= value.failed;
		if (!value.n)
			continue; /* `write` found the default */
		buf_addf(out, "%s\"%s\":", first ? "" : ",", k->name);
		buf_add(out, buf_str(&value));
		first = false;
	}
}

void keys_write_map(const struct key *keys, const void *from, struct buf *out)
{
	_cleanup_(buf_free) struct buf pairs = { 0 };
	keys_write(keys, from, true, &pairs);
	if (pairs.n)
		buf_addf(out, "{%s}", pairs.p);
	out->failed |= pairs.failed;
}

/* --- setters and writers of rows --- */

enum err keys_ignore(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	(void)into;
	(void)k;
	(void)v;
	return OK;
}

enum err keys_set_path(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!str_starts(v->str, STR("/")) || memchr(v->str.p, 0, v->str.n))
		return why_set(r->why, E_INPUT, v->at, "%s must be an absolute path, not '%.*s'", k->name,
			       STR_SHORT(v->str));
	*KEY_FIELD(struct str, into, k) = v->str;
	return OK;
}

void keys_write_str(const void *from, const struct key *k, struct buf *out)
{
	struct str text = *KEY_CONST_FIELD(struct str, from, k);
	if (text.n)
		json_write_str(out, text);
}

void keys_write_val(const void *from, const struct key *k, struct buf *out)
{
	const struct val *v = KEY_CONST_FIELD(struct val, from, k);
	if (v->kind != VAL_NULL && (v->kind != VAL_MAP || v->map.n))
		json_write(out, v);
}

enum err keys_read_day(struct key_reader *r, const char *what, const struct val *v, int32_t *ret)
{
	struct iso t;
	if (v->kind != VAL_STR)
		return keys_wrong_kind(r, what, KEY_KIND(VAL_STR), v);
	enum err e = keys_error_in(r, v, iso_parse(v->str, &t, r->why));
	if (!e && t.has_time)
		e = keys_error_in(r, v,
				  why_set(r->why, E_INPUT, 0,
					  "%s must be a day without a time, such as 2026-12-25", what));
	if (!e)
		*ret = (int32_t)floor_div(t.local, DAY);
	return e;
}

void keys_write_strs(const struct str *item, unsigned n, struct buf *out)
{
	for (unsigned i = 0; i < n; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, item[i]);
	}
	if (n)
		buf_addc(out, ']');
}

/* --- variants --- */

struct type_list {
	char text[128];
};

/* The types of the table that are supported, as "command, event". */
static struct type_list supported_types(const struct key_variant *table)
{
	struct type_list list = { "" };
	for (const struct key_variant *t = table; t->name; t++)
		if (t->keys)
			(void)list_name(list.text, sizeof list.text, t->name);
	return list;
}

static enum err unknown_type(struct key_reader *r, const char *what, const struct key_variant *table,
			     const struct val *type)
{
	struct suggestion s = suggestion_for(type->str);
	for (const struct key_variant *t = table; t->name; t++)
		suggest(&s, t->name);
	return why_set(r->why, E_INPUT, type->at, "type '%.*s' of %s is not known%s%s%s; allowed are %s",
		       STR_SHORT(type->str), what, s.found ? " (near: " : "", s.found ? s.found : "",
		       s.found ? ")" : "", supported_types(table).text);
}

static enum err find_variant(struct key_reader *r, const char *what, const struct key_variant *table,
			     const struct val *v, const struct key_variant **ret)
{
	const struct val *type = val_get(v, STR("type"));
	const struct key_variant *t = table;
	if (v->kind != VAL_MAP)
		return keys_wrong_kind(r, what, KEY_KIND(VAL_MAP), v);
	if (!type)
		return why_set(r->why, E_INPUT, v->at, "%s needs the key 'type'; allowed are %s", what,
			       supported_types(table).text);
	if (type->kind != VAL_STR)
		return keys_wrong_kind(r, "type", KEY_KIND(VAL_STR), type);
	while (t->name && !str_eq(type->str, str_of(t->name)))
		t++;
	if (!t->name)
		return unknown_type(r, what, table, type);
	if (!t->keys)
		return why_set(r->why, E_INPUT, type->at, "%s is not supported yet; allowed are %s", t->what,
			       supported_types(table).text);
	*ret = t;
	return OK;
}

enum err keys_read_variant(struct key_reader *r, const char *what, const struct key_variant *table,
			   void *into, const struct val *v, uint8_t *kind)
{
	const struct key_variant *t = table;
	enum err e = find_variant(r, what, table, v, &t);
	if (!e)
		e = keys_read(r, t->what, t->keys, into, v, NULL);
	if (e)
		return e;
	if (t->required && !val_get(v, str_of(t->required)))
		return why_set(r->why, E_INPUT, v->at, "%s needs the key '%s'", t->what, t->required);
	*kind = (uint8_t)(t - table);
	return OK;
}

void keys_write_variant(const struct key_variant *variant, const void *from, struct buf *out)
{
	buf_addf(out, "{\"type\":\"%s\"", variant->name);
	keys_write(variant->keys, from, false, out);
	buf_addc(out, '}');
}

enum err keys_read_list(struct key_reader *r, const char *name, const char *what,
			const struct key_variant *table, const struct val *list, size_t size, void **items,
			unsigned *n)
{
	if (list->list.n > DOC_ITEMS_MAX)
		return why_set(r->why, E_LIMIT, list->at, "%s can have at most %d items", name,
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

enum err keys_check_strings(struct key_reader *r, const char *what, const struct val *map)
{
	for (unsigned i = 0; i < map->map.n; i++)
		if (map->map.pair[i].value.kind != VAL_STR)
			return keys_wrong_kind(r, what, KEY_KIND(VAL_STR), &map->map.pair[i].value);
	return OK;
}
