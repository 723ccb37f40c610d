/* Changes documents of schedules key by key, reads them from the store, resolves them with their agent, and
 * compares them. */
#include "api/documents.h"

#include "api/schedule_change.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "daemon/agent_resolve.h"

#include <sys/stat.h>

void document_set_key(struct api_call *call, struct val *map, const struct val_pair *pair)
{
	unsigned i = 0;
	while (i < map->map.n && !str_eq(map->map.pair[i].key, pair->key))
		i++;
	if (pair->value.kind == VAL_NULL) {
		if (i < map->map.n)
			map->map.pair[i] = map->map.pair[--map->map.n];
		return;
	}
	struct val_pair *to = i < map->map.n ? &map->map.pair[i] : val_map_room(map, call->arena);
	if (to) {
		*to = *pair;
		map->map.n += i == map->map.n;
	}
}

enum err document_resolve_agent(struct api_call *call, struct api *api, const struct schedule_doc *d,
				struct schedule_doc *ret)
{
	struct doc_env env = api_doc_env(call, api);
	*ret = *d;
	return agent_resolve(api_reader(api), &env, call->arena, ret, call->why);
}

enum err document_read_stored(struct api_call *call, struct api *api, struct str document,
			      struct schedule_doc *ret)
{
	struct str source = call->source;
	struct val value;
	struct schedule_change c;
	enum err e = json_read(document, call->arena, &value, call->why);
	call->source = document;
	if (!e)
		e = schedule_change_read(call, api, &value, false, &c);
	call->source = source;
	return e ? e : document_resolve_agent(call, api, &c.doc, ret);
}

enum err schedule_blocked(struct api_call *call, struct api *api, const struct read_sched *s, struct str *ret)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct schedule_doc doc;
	struct rules rules;
	struct why why;
	*ret = (struct str){ 0 };
	rules_read(&s->row, &rules);
	/* Only schedules with this precondition can be blocked, and they are few: the others need not be
	 * read. */
	if (!s->document.n || !(rules.policy.preconditions & 1u << ASK_BLOCKED))
		return OK;
	scratch.arena = &arena;
	scratch.why = &why;
	enum err e = document_read_stored(&scratch, api, s->document, &doc);
	const char *text = e ? NULL : doc_blocked(&doc);
	if (text) {
		text = arena_printf(call->arena, "%s", text);
		*ret = str_of(text ? text : "");
		e = text ? OK : E_NOMEM;
	}
	arena_free(&arena);
	return e == E_NOMEM ? e : OK; /* a document that cannot be read any more is reported elsewhere */
}

/* --- differences --- */

static struct str json_text(struct api_call *call, const struct val *v)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!v)
		return (struct str){ 0 };
	json_write(&text, v);
	return (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
}

enum err document_diff(struct api_call *call, struct str was, struct str is, struct key_change **ret,
		       unsigned *n)
{
	struct val before = { .kind = VAL_MAP }, after;
	enum err e = json_read(is, call->arena, &after, call->why);
	if (!e && was.n)
		e = json_read(was, call->arena, &before, call->why);
	if (e)
		return e;
	struct key_change *c = arena_alloc(call->arena, (before.map.n + after.map.n + 1) * sizeof *c);
	if (!c)
		return E_NOMEM;
	*ret = c;
	*n = 0;
	for (unsigned i = 0; i < after.map.n; i++) {
		struct str key = after.map.pair[i].key;
		struct key_change change = { key, json_text(call, val_get(&before, key)),
					     json_text(call, &after.map.pair[i].value) };
		if (!str_eq(change.from, change.to))
			c[(*n)++] = change;
	}
	for (unsigned i = 0; i < before.map.n; i++)
		if (!val_get(&after, before.map.pair[i].key))
			c[(*n)++] = (struct key_change){ before.map.pair[i].key,
							 json_text(call, &before.map.pair[i].value),
							 { 0 } };
	/* The difference shows that a secret has changed, but not its values. */
	agent_redact(&before);
	agent_redact(&after);
	for (unsigned i = 0; i < *n; i++)
		if (str_eq(c[i].key, STR("env")))
			c[i] = (struct key_change){ c[i].key, json_text(call, val_get(&before, c[i].key)),
						    json_text(call, val_get(&after, c[i].key)) };
	return OK;
}

/* --- sources --- */

bool source_file_exists(struct str path)
{
	struct stat st;
	return lstat(path.p, &st) == 0 && !S_ISDIR(st.st_mode);
}

enum err source_check(struct api_call *call, const char *what, struct str id, const struct source_row *old,
		      struct str from)
{
	struct str file = old->from;
	if (!file.n || file.p[0] != '/' || str_eq(file, from) || !source_file_exists(file))
		return OK;
	if (!from.n)
		return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			       "%s '%.*s' is defined in %.*s, line %u: change or remove it there", what,
			       STR_SHORT(id), STR_ARG(file), old->line);
	return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
		       "%s '%.*s' in %.*s is already defined in %.*s, line %u; remove one of the two", what,
		       STR_SHORT(id), STR_ARG(from), STR_ARG(file), old->line);
}
