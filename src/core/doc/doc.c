/* Finds the schedules and agents of documents, and reads them. */
#include "core/doc/doc.h"
#include "base/hash.h"
#include "base/map.h"
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"

#include <stdarg.h>
#include <stdio.h>

void doc_warn(struct key_reader *r, size_t at, const char *fmt, ...)
{
	struct doc_list *list = r->self ? reader_of(r)->list : NULL; /* the configuration has no doc_reader */
	char text[WHY_TEXT_MAX];
	va_list ap;
	if (!list || list->warnings == DOC_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	const char *copy = arena_dup(r->arena, str_of(text));
	if (copy)
		list->warning[list->warnings++] = (struct doc_warning){ (uint32_t)at, copy };
}

/* --- names that are defined twice --- */

struct name_at {
	struct str name;
	uint32_t at;
};
typedef struct name_at name_of(const struct doc_list *list, unsigned i);

static struct name_at schedule_name(const struct doc_list *list, unsigned i)
{
	return (struct name_at){ list->doc[i].id, list->doc[i].at };
}

static struct name_at agent_name(const struct doc_list *list, unsigned i)
{
	return (struct name_at){ list->agent[i].name, list->agent[i].at };
}

/* Uses a hash map, since a list may have very many names. */
static enum err check_unique(struct str source, const char *what, const struct doc_list *list, unsigned n,
			     name_of *nth, struct why *why)
{
	struct map seen = { 0 };
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++) {
		struct name_at this = nth(list, i);
		uint64_t hash = fnv1a(FNV_START, this.name) | 1;
		uint32_t first = map_get(&seen, hash);
		if (first != MAP_NONE && str_eq(nth(list, first).name, this.name)) {
			struct place p = place_of(source, nth(list, first).at);
			e = why_set(why, E_INPUT, this.at,
				    "%s '%.*s' is defined twice: here, and at line %u, column %u", what,
				    STR_SHORT(this.name), p.line, p.column);
		} else if (!map_put(&seen, hash, i)) {
			e = E_NOMEM;
		}
	}
	map_free(&seen);
	return e;
}

/* Sorts by position: warnings are found in another order than that of the source. */
static void sort_warnings(struct doc_list *list)
{
	for (unsigned i = 1; i < list->warnings; i++) {
		struct doc_warning w = list->warning[i];
		unsigned k = i;
		for (; k && list->warning[k - 1].at > w.at; k--)
			list->warning[k] = list->warning[k - 1];
		list->warning[k] = w;
	}
}

/* --- schedules and agents of a document --- */

/* The schedules or the agents of a document. */
struct definitions {
	const char *key; /* the key of the document that has them; NULL: there are none */
	const struct val *first;
	unsigned n;
};
struct contents {
	struct definitions schedules, agents;
};

static const struct wrapper {
	const char *name;
	size_t offset; /* in struct contents */
	bool list;
} wrappers[] = {
	{ "schedule", offsetof(struct contents, schedules), false },
	{ "schedules", offsetof(struct contents, schedules), true },
	{ "agent", offsetof(struct contents, agents), false },
	{ "agents", offsetof(struct contents, agents), true },
};

/* The key `agent` with a string is not a wrapper: it is a key of a schedule. */
static const struct wrapper *wrapper_of(const struct val_pair *p)
{
	for (unsigned i = 0; i < ARRAY_LEN(wrappers); i++)
		if (str_eq(p->key, str_of(wrappers[i].name)) &&
		    !(p->value.kind == VAL_STR && str_eq(p->key, STR("agent"))))
			return &wrappers[i];
	return NULL;
}

static enum err not_together(struct why *why, size_t at, struct str key, const char *other)
{
	return why_set(why, E_INPUT, at, "'%.*s' and '%s' cannot be used in the same document",
		       STR_SHORT(key), other);
}

static enum err add_definitions(const struct val_pair *p, const struct wrapper *w, struct contents *ret,
				struct why *why)
{
	struct definitions *d = (struct definitions *)(void *)((char *)ret + w->offset);
	if (d->key)
		return not_together(why, p->at, p->key, d->key);
	if (w->list && p->value.kind != VAL_LIST)
		return why_set(why, E_INPUT, p->value.at, "%s must be a list, not %s", w->name,
			       keys_kind_name(p->value.kind));
	*d = (struct definitions){ w->name, &p->value, 1 };
	if (w->list) {
		d->first = p->value.list.item;
		d->n = p->value.list.n;
	}
	return OK;
}

static enum err find_contents(const struct val *v, struct contents *ret, struct why *why)
{
	const struct wrapper *any = NULL;
	*ret = (struct contents){ 0 };
	if (v->kind == VAL_NULL)
		return OK;
	if (v->kind != VAL_MAP)
		return why_set(why, E_INPUT, v->at,
			       "a document must be a map with schedule, schedules, agent or agents, or the "
			       "map of one schedule, not %s",
			       keys_kind_name(v->kind));
	for (unsigned i = 0; i < v->map.n && !any; i++)
		any = wrapper_of(&v->map.pair[i]);
	if (!any) {
		ret->schedules = (struct definitions){ "schedule", v, 1 };
		return OK;
	}
	enum err e = OK;
	for (unsigned i = 0; i < v->map.n && !e; i++) {
		const struct val_pair *p = &v->map.pair[i];
		const struct wrapper *w = wrapper_of(p);
		e = w ? add_definitions(p, w, ret, why) : not_together(why, p->at, p->key, any->name);
	}
	return e;
}

enum err doc_read(struct str source, const struct val *documents, const struct doc_env *env, struct arena *a,
		  struct doc_list *ret, struct why *why)
{
	struct contents has;
	unsigned schedules = 0, agents = 0;
	enum err e = OK;
	assert(documents->kind == VAL_LIST);
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		e = find_contents(&documents->list.item[i], &has, why);
		schedules += has.schedules.n;
		agents += has.agents.n;
	}
	if (e)
		return e;
	struct doc_list all = { .doc = arena_alloc(a, (schedules + 1) * sizeof *all.doc),
				.agent = arena_alloc(a, (agents + 1) * sizeof *all.agent),
				.warning = arena_alloc(a, DOC_WARNINGS_MAX * sizeof *all.warning) };
	if (!all.doc || !all.agent || !all.warning)
		return E_NOMEM;
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		e = find_contents(&documents->list.item[i], &has, why);
		for (unsigned k = 0; k < has.agents.n && !e; k++)
			e = agent_read_into(source, &has.agents.first[k], env, a, &all,
					    &all.agent[all.agents++], why);
		for (unsigned k = 0; k < has.schedules.n && !e; k++)
			e = schedule_read(source, &has.schedules.first[k], env, a, &all, &all.doc[all.n++],
					  why);
	}
	if (!e)
		e = check_unique(source, "schedule", &all, all.n, schedule_name, why);
	if (!e)
		e = check_unique(source, "agent", &all, all.agents, agent_name, why);
	sort_warnings(&all);
	if (!e)
		*ret = all;
	return e;
}
