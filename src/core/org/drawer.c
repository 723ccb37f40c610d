/* Property drawers. */
#include "core/org/headline.h"
#include "core/org/line.h"
#include "core/org/unicode.h"

/* After the colon of the key comes a space, or nothing but blanks: "KEY:<tab>value" is not a property. */
bool org_property_split(struct str line, struct str *key, struct str *value)
{
	size_t at = skip_blanks(line, 0), n = word_length(line, at);
	struct str word = str_sub(line, at, at + n), rest = str_from(line, at + n);
	if (n < 3 || word.p[0] != ':' || word.p[n - 1] != ':')
		return false;
	if (rest.n && rest.p[0] != ' ' && trim_blanks(rest).n)
		return false;
	*key = str_sub(word, 1, n - 1);
	*value = trim_blanks(rest);
	return true;
}

/* The bit of a key in org_head.keys. Other keys may have the same one. */
static uint32_t bit_of(struct str key)
{
	unsigned h = (unsigned)key.n;
	for (size_t i = 0; i < key.n; i++)
		h = h * 5 + (unsigned char)to_upper(key.p[i]);
	return UINT32_C(1) << (h & 31);
}

/* A drawer stands directly below its headline or planning line, and has nothing but properties. */
enum err drawer_read(const struct org *o, struct org_head *h, struct why *why)
{
	size_t from = h->planning.end ? h->planning.end : h->body;
	if (from == o->text.n || (o->text.p[from] != ':' && !is_blank(o->text.p[from])))
		return OK;
	size_t at = line_next(o, from);
	struct str key, value;
	uint32_t keys = 0;
	struct org_span id = { 0 };
	if (!line_is(line_until(o, from, at), STR(":PROPERTIES:")))
		return OK;
	for (unsigned n = 0; at < o->text.n; n++) {
		size_t next = line_next(o, at);
		struct str line = line_until(o, at, next);
		if (line_is(line, STR(":END:"))) {
			h->drawer = (struct org_span){ (uint32_t)from, (uint32_t)next };
			h->keys = keys;
			h->id = id;
			return OK;
		}
		if (!org_property_split(line, &key, &value))
			return OK;
		if (n == ORG_PROPERTIES_MAX)
			return why_set(why, E_LIMIT, at, "a drawer has at most %d properties",
				       ORG_PROPERTIES_MAX);
		keys |= bit_of(key);
		if (str_ieq(key, STR("ID")))
			id = span_of(o, value);
		at = next;
	}
	return OK;
}

/* Walks the lines of a drawer between :PROPERTIES: and :END:. */
static bool next_line(const struct org *o, const struct org_head *h, uint32_t *at, struct org_span *ret)
{
	if (h->drawer.end == h->drawer.at)
		return false;
	size_t from = *at ? *at : line_next(o, h->drawer.at), next = line_next(o, from);
	if (next == h->drawer.end)
		return false;
	*ret = (struct org_span){ (uint32_t)from, (uint32_t)next };
	*at = (uint32_t)next;
	return true;
}

static void split_line(const struct org *o, struct org_span line, struct org_property *ret)
{
	ret->line = line;
	bool split = org_property_split(line_until(o, line.at, line.end), &ret->key, &ret->value);
	assert(split); /* drawer_read has checked it */
}

bool org_property_next(const struct org *o, const struct org_head *h, uint32_t *at, struct org_property *ret)
{
	struct org_span line;
	bool found = next_line(o, h, at, &line);
	if (found)
		split_line(o, line, ret);
	return found;
}

bool org_property_find(const struct org *o, const struct org_head *h, struct str key,
		       struct org_property *ret)
{
	struct org_property p;
	struct org_span line;
	bool found = false;
	if (!h->keys || !(h->keys & bit_of(key)))
		return false;
	for (uint32_t at = 0; next_line(o, h, &at, &line);) {
		struct str text = org_text(o, line);
		size_t colon = skip_blanks(text, 0); /* before the key */
		if (!starts_with_any_case(str_from(text, colon + 1), key))
			continue;
		split_line(o, line, &p);
		if (p.key.n != key.n)
			continue;
		*ret = p;
		found = true;
	}
	return found;
}

struct str org_property_value(const struct org *o, const struct org_head *h, const char *key)
{
	struct org_property p;
	return org_property_find(o, h, str_of(key), &p) ? p.value : STR("");
}
