/* Drawers of definitions, and drawers that org would ignore. */
#include "core/org/definition.h"
#include "core/org/element.h"
#include "core/org/line.h"

static size_t text_start(const struct org_head *h)
{
	return h->drawer.end ? h->drawer.end : h->planning.end ? h->planning.end : h->body;
}

/* --- drawers that are not read --- */

struct stray {
	const struct org *org;
	size_t at; /* the first line :PROPERTIES:, or WHY_NOWHERE */
	bool carriage_return;
};

static void find_drawer(void *self, struct org_span line)
{
	struct stray *s = self;
	if (s->at == WHY_NOWHERE && line_is(line_until(s->org, line.at, line.end), STR(":PROPERTIES:")))
		s->at = line.at;
}

/* A carriage return that is part of the line hides the drawer from org. */
static void find_carriage_return(void *self, struct org_span line)
{
	struct stray *s = self;
	if (s->at == WHY_NOWHERE &&
	    str_ieq(str_trim(line_until(s->org, line.at, line.end)), STR(":PROPERTIES:"))) {
		s->at = line.at;
		s->carriage_return = true;
	}
}

static enum err find_stray(const struct org *o, size_t from, size_t to, struct stray *ret, struct why *why)
{
	struct stray s = { .org = o, .at = WHY_NOWHERE };
	const struct org_elements each = { .drawer = find_drawer, .text = find_carriage_return, .self = &s };
	enum err e = org_elements(o, from, to, &each, why);
	if (!e)
		*ret = s;
	return e;
}

/* Says why org does not accept the drawer at `at`, which is in the right place. */
static enum err explain_broken(const struct org *o, size_t at, size_t end, struct why *why)
{
	struct str key, value;
	for (size_t line = line_next(o, at); line < end; line = line_next(o, line)) {
		struct str text = line_at(o, line);
		if (!trim_blanks(text).n)
			return why_set(why, E_INPUT, line, "a drawer cannot have an empty line");
		if (!org_property_split(text, &key, &value))
			return why_set(
				why, E_INPUT, line,
				"'%.*s' is not a property; a drawer has lines such as :MODEL: name, up to "
				":END:",
				STR_SHORT(str_trim(text)));
	}
	return why_set(why, E_INPUT, at, "this drawer has no :END:");
}

static enum err check_strays(const struct org *o, const struct org_head *h, struct why *why)
{
	struct stray s = { 0 };
	size_t from = text_start(h);
	enum err e = find_stray(o, from, h->end, &s, why);
	if (e || s.at == WHY_NOWHERE)
		return e;
	if (s.carriage_return)
		return why_set(why, E_INPUT, s.at,
			       "this drawer is not read: its lines end with a carriage return, which not all "
			       "lines of the file do");
	if (h->drawer.end)
		return why_set(why, E_INPUT, s.at, "the heading has a second drawer; only the first is read");
	if (s.at == from)
		return explain_broken(o, s.at, h->end, why);
	return why_set(why, E_INPUT, s.at,
		       "a drawer must be directly below its heading, or below the line with SCHEDULED:, "
		       "DEADLINE: and CLOSED:");
}

/* --- the drawer --- */

static enum err add_property(const struct org *o, const struct org_property *p, struct arena *a,
			     struct val *map, struct why *why)
{
	size_t at = (size_t)(p->key.p - 1 - o->text.p);
	for (unsigned i = 0; i < map->map.n; i++)
		if (str_ieq(map->map.pair[i].key, p->key)) {
			struct place first = place_of(o->text, map->map.pair[i].at);
			return why_set(
				why, E_INPUT, at,
				"property '%.*s' is given twice; the first one is at line %u, column %u",
				STR_SHORT(p->key), first.line, first.column);
		}
	struct val_pair *pair = val_map_room(map, a);
	if (!pair)
		return E_NOMEM;
	size_t value = p->value.n ? (size_t)(p->value.p - o->text.p) : at;
	*pair = (struct val_pair){ p->key,
				   (uint32_t)at,
				   { .kind = VAL_STR, .at = (uint32_t)value, .str = p->value } };
	map->map.n++;
	return OK;
}

enum err definition_drawer(const struct org *o, const struct org_head *h, struct arena *a, struct val *ret,
			   size_t *end, struct why *why)
{
	struct val map = { .kind = VAL_MAP, .at = h->at };
	struct org_property p;
	enum err e = check_strays(o, h, why);
	for (uint32_t at = 0; !e && org_property_next(o, h, &at, &p);)
		e = add_property(o, &p, a, &map, why);
	if (e)
		return e;
	*ret = map;
	*end = text_start(h);
	return OK;
}

bool definition_has(const struct org *o, const struct org_head *h, const char *wanted)
{
	struct str key, value;
	bool inside = false;
	for (size_t at = h->body; at < h->end; at = line_next(o, at)) {
		struct str line = str_trim(line_at(o, at));
		if (str_ieq(line, STR(":PROPERTIES:")) || str_ieq(line, STR(":END:")))
			inside = line.n > strlen(":END:");
		else if (inside && org_property_split(line, &key, &value) && str_ieq(key, str_of(wanted)))
			return true;
	}
	return false;
}

bool definition_is_internal(struct str key)
{
	static const char *const own[] = { "CATEGORY", "CREATED", "CUSTOM_ID", "EFFORT", "VISIBILITY" };
	for (unsigned i = 0; i < ARRAY_LEN(own); i++)
		if (str_ieq(key, str_of(own[i])))
			return true;
	return false;
}

enum err definition_check_top(const struct org *o, const char *where, struct why *why)
{
	struct stray s = { 0 };
	struct str key, value;
	size_t end = o->heads ? o->head[0].at : o->text.n;
	enum err e = find_stray(o, 0, end, &s, why);
	if (e || s.at == WHY_NOWHERE)
		return e;
	for (size_t at = line_next(o, s.at); at < end; at = line_next(o, at)) {
		struct str line = str_trim(line_at(o, at));
		if (str_ieq(line, STR(":END:")))
			break;
		if (org_property_split(line, &key, &value) && !str_ieq(key, STR("ID")) &&
		    !definition_is_internal(key))
			return why_set(why, E_INPUT, at, "this property is not read: %s", where);
	}
	return OK;
}
