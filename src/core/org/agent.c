/* Turns the agent of an org file into a map of keys. */
#include "core/org/agent.h"
#include "base/utf8.h"
#include "core/org/org.h"

/* --- finding the agent --- */

/* Finds the first heading of level 1, and the end of its text. */
static bool find_agent(struct str text, struct org_heading *ret, size_t *end)
{
	struct org_heading next;
	size_t from = 0;
	bool there;
	while ((there = org_heading_next(text, from, ret)) && ret->level != 1)
		from = ret->text;
	if (!there)
		return false;
	*end = text.n;
	for (from = ret->text; org_heading_next(text, from, &next); from = next.text)
		if (next.level == 1) {
			*end = next.at;
			break;
		}
	return true;
}

/* Finds the next `** System prompt` from `from` on. */
static bool find_prompt(struct str text, size_t from, size_t end, struct org_heading *ret)
{
	for (; org_heading_next(text, from, ret) && ret->at < end; from = ret->text)
		if (ret->level == 2 && str_ieq(ret->title, STR("System prompt")))
			return true;
	return false;
}

/* Where a drawer must end: at the next heading. */
static size_t drawer_limit(struct str text, const struct org_heading *h, size_t end)
{
	struct org_heading next;
	return org_heading_next(text, h->text, &next) && next.at < end ? next.at : end;
}

bool org_is_agent(struct str text)
{
	static const char *const signs[] = { "RUNNER", "MODEL", "COMMAND" };
	struct org_heading h, prompt;
	size_t end;
	if (!find_agent(text, &h, &end))
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(signs); i++)
		if (org_has(text, h.text, drawer_limit(text, &h, end), signs[i]))
			return true;
	return find_prompt(text, h.text, end, &prompt);
}

/* --- its keys --- */

static enum err check_bytes(struct str text, struct why *why)
{
	if (text.n > ORG_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "the org file has more than %u bytes", ORG_BYTES_MAX);
	for (size_t at = 0; at < text.n;) {
		unsigned n = text.p[at] ? utf8_length(str_from(text, at)) : 0;
		if (!n)
			return why_set(why, E_INPUT, at, "this byte is NUL or not valid UTF-8");
		at += n;
	}
	return OK;
}

static enum err add_string(struct val *map, struct arena *a, const char *key, size_t at, struct str value)
{
	struct val_pair *pair = val_map_room(map, a);
	if (!pair)
		return E_NOMEM;
	*pair = (struct val_pair){ str_of(key),
				   (uint32_t)at,
				   { .kind = VAL_STR, .at = (uint32_t)at, .str = value } };
	map->map.n++;
	return OK;
}

/* The key of a property: active_hours for ACTIVE-HOURS. */
static char *key_of(struct str property, struct arena *a)
{
	char *key = arena_dup(a, property);
	for (size_t i = 0; key && i < property.n; i++)
		key[i] = key[i] == '-' ? '_' : to_lower(key[i]);
	return key;
}

/* Is it a property that org and its tools write for themselves? */
static bool is_org_internal(const char *key)
{
	static const char *const own[] = { "category", "created", "custom_id", "effort", "visibility" };
	for (unsigned i = 0; i < ARRAY_LEN(own); i++)
		if (!strcmp(own[i], key))
			return true;
	return false;
}

/* Adds the properties to the map. Name and prompt have places of their own in an org file, so properties of
 * these names are refused. */
static enum err add_properties(const struct val *drawer, struct arena *a, struct val *map, bool *named,
			       struct why *why)
{
	for (unsigned i = 0; i < drawer->map.n; i++) {
		const struct val_pair *p = &drawer->map.pair[i];
		char *key = key_of(p->key, a);
		struct val_pair *to = key ? val_map_room(map, a) : NULL;
		if (!to)
			return E_NOMEM;
		if (is_org_internal(key))
			continue;
		if (!strcmp(key, "name"))
			return why_set(why, E_INPUT, p->at,
				       "the name of an agent is given by :ID:, or by its heading");
		if (!strcmp(key, "prompt"))
			return why_set(why, E_INPUT, p->at,
				       "the prompt is the text below ** System prompt, or after the drawer");
		if (val_get(map, str_of(key))) /* NEXT-CHECK and NEXT_CHECK */
			return why_set(why, E_INPUT, p->at,
				       "property '%.*s' is given twice, once with - and once with _",
				       STR_SHORT(p->key));
		*to = *p;
		to->key = str_of(strcmp(key, "id") ? key : "name");
		*named |= !strcmp(key, "id");
		map->map.n++;
	}
	return OK;
}

/* Adds the prompt, with CRLF turned into LF, as in YAML. */
static enum err add_prompt(struct str text, size_t from, size_t to, size_t heading, struct arena *a,
			   struct val *map, struct why *why)
{
	struct str s = str_trim(str_sub(text, from, to));
	if (!s.n)
		return why_set(why, E_INPUT, heading, "the prompt is empty");
	size_t at = (size_t)(s.p - text.p), n = 0;
	char *copy = memchr(s.p, '\r', s.n) ? arena_alloc(a, s.n + 1) : NULL;
	if (!copy && memchr(s.p, '\r', s.n))
		return E_NOMEM;
	for (size_t i = 0; copy && i < s.n; i++)
		if (s.p[i] != '\r' || i + 1 == s.n || s.p[i + 1] != '\n')
			copy[n++] = s.p[i];
	return add_string(map, a, "prompt", at, copy ? (struct str){ copy, n } : s);
}

enum err org_agent(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct org_heading h, prompt, other;
	struct val drawer, map = { .kind = VAL_MAP };
	size_t end = 0, after = 0;
	bool named = false;
	enum err e = check_bytes(text, why);
	if (e)
		return e;
	if (!find_agent(text, &h, &end))
		return why_set(why, E_INPUT, 0,
			       "there is no agent: a heading of level 1, which is a line such as '* Name'");
	map.at = (uint32_t)h.at;
	e = org_drawer(text, h.text, drawer_limit(text, &h, end), a, &drawer, &after, why);
	if (!e)
		e = add_properties(&drawer, a, &map, &named, why);
	if (!e && !named)
		e = add_string(&map, a, "name", h.title.n ? (size_t)(h.title.p - text.p) : h.at, h.title);
	if (e)
		return e;
	if (!find_prompt(text, h.text, end, &prompt)) {
		e = add_prompt(text, after, end, h.at, a, &map, why);
	} else {
		size_t to = end;
		for (size_t from = prompt.text; org_heading_next(text, from, &other) && other.at < end;
		     from = other.text)
			if (other.level <= 2) {
				to = other.at;
				break;
			}
		if (find_prompt(text, prompt.text, end, &other))
			return why_set(why, E_INPUT, other.at,
				       "System prompt is given twice; the first one is at line %u",
				       place_of(text, prompt.at).line);
		e = add_prompt(text, prompt.text, to, prompt.at, a, &map, why);
	}
	if (!e)
		*ret = map;
	return e;
}
