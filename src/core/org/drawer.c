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

/* A drawer stands directly below its headline or planning line, and has nothing but properties. */
enum err drawer_read(const struct org *o, struct org_head *h, struct why *why)
{
	size_t from = h->planning.end ? h->planning.end : h->body;
	size_t at = line_next(o, from);
	struct str key, value;
	if (!line_is(line_until(o, from, at), STR(":PROPERTIES:")))
		return OK;
	for (unsigned n = 0; at < o->text.n; n++) {
		size_t next = line_next(o, at);
		struct str line = line_until(o, at, next);
		if (line_is(line, STR(":END:"))) {
			h->drawer = (struct org_span){ (uint32_t)from, (uint32_t)next };
			return OK;
		}
		if (!org_property_split(line, &key, &value))
			return OK;
		if (n == ORG_PROPERTIES_MAX)
			return why_set(why, E_LIMIT, at, "a drawer has at most %d properties",
				       ORG_PROPERTIES_MAX);
		at = next;
	}
	return OK;
}

bool org_property_next(const struct org *o, const struct org_head *h, uint32_t *at, struct org_property *ret)
{
	if (h->drawer.end == h->drawer.at)
		return false;
	size_t from = *at ? *at : line_next(o, h->drawer.at), next = line_next(o, from);
	if (next == h->drawer.end) /* the line :END: */
		return false;
	ret->line = (struct org_span){ (uint32_t)from, (uint32_t)next };
	bool split = org_property_split(line_until(o, from, next), &ret->key, &ret->value);
	assert(split); /* drawer_read has checked it */
	*at = (uint32_t)next;
	return true;
}

bool org_property_find(const struct org *o, const struct org_head *h, struct str key,
		       struct org_property *ret)
{
	struct org_property p;
	bool found = false;
	for (uint32_t at = 0; org_property_next(o, h, &at, &p);)
		if (str_ieq(p.key, key)) {
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
