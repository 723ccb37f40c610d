/* Turns the agent of an org file into a map of keys. */
#include "core/org/agent.h"
#include "base/utf8.h"
#include "core/org/definition.h"

/* --- finding the agent --- */

/* The agent is the first heading of level 1; its subtree is [at, to). */
struct agent_head {
	unsigned at, to; /* indices of headings */
	size_t end;      /* the end of its text */
};

static bool find_agent(const struct org *o, struct agent_head *ret)
{
	unsigned at = 0;
	while (at < o->heads && o->head[at].level != 1)
		at++;
	if (at == o->heads)
		return false;
	unsigned to = at + 1;
	while (to < o->heads && o->head[to].level != 1)
		to++;
	*ret = (struct agent_head){ at, to, to < o->heads ? o->head[to].at : o->text.n };
	return true;
}

/* Finds the next `** System prompt` from heading `from` on; h->to if there is none. */
static unsigned find_prompt(const struct org *o, const struct agent_head *h, unsigned from)
{
	while (from < h->to &&
	       (o->head[from].level != 2 || !str_ieq(org_text(o, o->head[from].title), STR("System prompt"))))
		from++;
	return from;
}

bool org_is_agent(struct str text)
{
	static const char *const signs[] = { "RUNNER", "MODEL", "COMMAND" };
	struct arena arena = { 0 };
	struct agent_head h;
	struct org o;
	bool is = false;
	if (org_read(text, &arena, &o, NULL) == OK && find_agent(&o, &h)) {
		for (unsigned i = 0; i < ARRAY_LEN(signs); i++)
			is |= definition_has(&o, &o.head[h.at], signs[i]);
		is |= find_prompt(&o, &h, h.at) < h.to;
	}
	arena_free(&arena);
	return is;
}

/* --- its keys --- */

static enum err check_bytes(struct str text, struct why *why)
{
	if (text.n > AGENT_ORG_BYTES_MAX)
		return why_set(why, E_LIMIT, 0, "the org file has more than %u bytes", AGENT_ORG_BYTES_MAX);
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
		if (definition_is_internal(p->key))
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

/* Finds the prompt, and adds it. `text` is where the agent's own text begins. */
static enum err read_prompt(const struct org *o, const struct agent_head *h, size_t text, struct arena *a,
			    struct val *map, struct why *why)
{
	unsigned at = find_prompt(o, h, h->at), second = find_prompt(o, h, at + 1);
	if (at == h->to)
		return add_prompt(o->text, text, h->end, o->head[h->at].at, a, map, why);
	const struct org_head *prompt = &o->head[at];
	if (second < h->to)
		return why_set(why, E_INPUT, o->head[second].at,
			       "System prompt is given twice; the first one is at line %u", prompt->line);
	unsigned next = at + 1;
	while (next < h->to && o->head[next].level > 2)
		next++;
	return add_prompt(o->text, prompt->body, next < h->to ? o->head[next].at : h->end, prompt->at, a, map,
			  why);
}

enum err org_agent(struct str text, struct arena *a, struct val *ret, struct why *why)
{
	struct org o;
	struct agent_head h;
	struct val drawer, map = { .kind = VAL_MAP };
	size_t after = 0;
	bool named = false;
	enum err e = check_bytes(text, why);
	if (!e)
		e = org_read(text, a, &o, why);
	if (e)
		return e;
	if (!find_agent(&o, &h))
		return why_set(why, E_INPUT, 0,
			       "there is no agent: a heading of level 1, which is a line such as '* Name'");
	const struct org_head *head = &o.head[h.at];
	map.at = head->at;
	e = definition_check_top(&o, "the properties of an agent are below its heading", why);
	if (!e)
		e = definition_drawer(&o, head, a, &drawer, &after, why);
	if (!e)
		e = add_properties(&drawer, a, &map, &named, why);
	if (!e && !named)
		e = add_string(&map, a, "name", head->title.end > head->title.at ? head->title.at : head->at,
			       org_text(&o, head->title));
	if (!e)
		e = read_prompt(&o, &h, after, a, &map, why);
	if (!e)
		*ret = map;
	return e;
}
