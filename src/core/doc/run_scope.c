#include "core/doc/run_scope.h"

#include "core/model.h"
#include "core/when/civil.h"
#include "core/when/explain/text.h"
#include "core/when/iso.h"

static const struct str names[] = { STR("schedule"), STR("agent"),       STR("user"),      STR("memory"),
				    STR("run"),      STR("previous"),    STR("timestamp"), STR("date"),
				    STR("time"),     STR("day_of_week"), STR("variables") };
const struct expr_names scope_names = { names, ARRAY_LEN(names) },
			scope_names_of_variables = { names, ARRAY_LEN(names) - 1 };

struct builder {
	struct arena *arena;
	bool failed;
};

static void put(struct builder *b, struct val *map, const char *key, struct val value)
{
	map->kind = VAL_MAP;
	struct val_pair *p = val_pair(map, b->arena);
	if (!p) {
		b->failed = true;
		return;
	}
	p->key = str_of(key);
	p->value = value;
	map->map.n++;
}

static void add(struct builder *b, struct val *list, struct val value)
{
	struct val *item = val_item(list, b->arena);
	if (!item) {
		b->failed = true;
		return;
	}
	*item = value;
	list->list.n++;
}

static struct val text(struct str s)
{
	return (struct val){ .kind = VAL_STR, .str = s.p ? s : STR("") };
}

static struct val kept(struct builder *b, const char *s)
{
	struct str whole = str_of(s);
	const char *copy = arena_dup(b->arena, whole);
	b->failed |= !copy;
	return text((struct str){ copy, copy ? whole.n : 0 });
}

static struct val number(int64_t n)
{
	return (struct val){ .kind = VAL_INT, .integer = n };
}

static struct val truth(bool is)
{
	return (struct val){ .kind = VAL_BOOL, .boolean = is };
}

static struct val map_or_empty(const struct val *v)
{
	return v->kind == VAL_MAP ? *v : (struct val){ .kind = VAL_MAP };
}

/* "2026-11-16T08:30:00-05:00" */
static struct val instant(struct builder *b, struct wall t, const struct zone *z)
{
	char local[ISO_SIZE], offset[ISO_SIZE];
	int64_t seconds = wall_seconds(t);
	int32_t east = zone_offset(z, seconds);
	const char *s = arena_printf(b->arena, "%s%s", iso_format_local(seconds + east, local),
				     iso_format_offset(east, offset));
	b->failed |= !s;
	return text(s ? str_of(s) : STR(""));
}

static struct val schedule_value(struct builder *b, const struct schedule_doc *d)
{
	struct val map = { .kind = VAL_MAP }, tags = { .kind = VAL_LIST };
	for (unsigned i = 0; i < d->tags; i++)
		add(b, &tags, text(d->tag[i]));
	put(b, &map, "id", text(d->id));
	put(b, &map, "name", text(d->name.n ? d->name : d->id));
	put(b, &map, "description", text(d->description));
	put(b, &map, "tags", tags);
	put(b, &map, "timezone", text(d->when.zone_name));
	return map;
}

static struct val run_value(struct builder *b, const struct scope *s)
{
	const struct run_row *r = s->run;
	struct val map = { .kind = VAL_MAP };
	put(b, &map, "id", number((int64_t)r->run));
	put(b, &map, "attempt", number(s->attempt));
	put(b, &map, "nominal", instant(b, r->nominal, s->doc->when.zone));
	put(b, &map, "catch_up", truth(r->kind == KIND_CATCH_UP));
	put(b, &map, "missed", number(r->missed));
	put(b, &map, "fence", number((int64_t)r->fence));
	return map;
}

static struct val previous_value(struct builder *b, const struct scope *s)
{
	struct val map = { .kind = VAL_MAP };
	if (!s->previous)
		return map;
	put(b, &map, "outcome", text(str_of(outcome_words[s->previous->outcome])));
	put(b, &map, "result", text(s->result));
	return map;
}

/* Others wrote it, perhaps misled: it says of itself that it is data, and where it came from. */
static struct val note_value(struct builder *b, const struct scope_note *n, const struct zone *z)
{
	struct val map = { .kind = VAL_MAP }, tags = { .kind = VAL_LIST };
	struct str rest = n->row.tags, tag;
	while (str_line(&rest, &tag))
		add(b, &tags, text(tag));
	put(b, &map, "text", text(n->row.text));
	put(b, &map, "tags", tags);
	put(b, &map, "at", instant(b, n->row.at, z));
	put(b, &map, "run", number((int64_t)n->row.run));
	put(b, &map, "schedule", text(n->schedule));
	put(b, &map, "data", truth(true));
	return map;
}

static struct val memory_value(struct builder *b, const struct scope *s)
{
	struct val list = { .kind = VAL_LIST };
	for (unsigned i = 0; i < s->notes; i++)
		add(b, &list, note_value(b, &s->note[i], s->doc->when.zone));
	return list;
}

static enum err add_variables(const struct scope *s, const struct expr_env *env, struct builder *b,
			      struct val *all, struct why *why)
{
	struct expr_env with = *env;
	struct val variables = { .kind = VAL_MAP };
	struct scope_view view = { all, s->run->nominal };
	with.find = scope_find;
	with.self = &view;
	with.names = &scope_names_of_variables;
	enum err e = OK;
	if (s->doc->variables.kind == VAL_MAP)
		e = template_variables(&s->doc->variables, &with, b->arena, &variables, why);
	put(b, all, "variables", variables);
	return e;
}

enum err scope_value(const struct scope *s, const struct expr_env *env, struct arena *a, struct val *ret,
		     struct why *why)
{
	struct builder b = { .arena = a };
	struct val all = { .kind = VAL_MAP }, agent = { .kind = VAL_MAP };
	struct val user = map_or_empty(&s->user);
	char local[ISO_SIZE];
	const struct zone *z = s->doc->when.zone;
	int64_t seconds = wall_seconds(s->run->nominal);
	int64_t wall = seconds + zone_offset(z, seconds);
	iso_format_local(wall, local);
	/* Its own `user`, if it has one, is not seen: the name is the profile's. */
	for (unsigned i = 0; s->agent.kind == VAL_MAP && i < s->agent.map.n; i++)
		if (!str_eq(s->agent.map.pair[i].key, STR("user"))) {
			struct val_pair *p = val_pair(&agent, a);
			if (!p)
				return E_NOMEM;
			*p = s->agent.map.pair[i];
			agent.map.n++;
		}
	put(&b, &agent, "user", user);
	put(&b, &all, "schedule", schedule_value(&b, s->doc));
	put(&b, &all, "agent", agent);
	put(&b, &all, "user", user);
	put(&b, &all, "memory", memory_value(&b, s));
	put(&b, &all, "run", run_value(&b, s));
	put(&b, &all, "previous", previous_value(&b, s));
	put(&b, &all, "timestamp", instant(&b, s->run->nominal, z));
	put(&b, &all, "date", kept(&b, arena_printf(a, "%.10s", local)));
	put(&b, &all, "time", kept(&b, arena_printf(a, "%.5s", local + 11)));
	put(&b, &all, "day_of_week", text(str_of(text_wdays[weekday_of(floor_div(wall, 86400))])));
	enum err e = b.failed ? E_NOMEM : add_variables(s, env, &b, &all, why);
	*ret = all;
	return b.failed ? E_NOMEM : e;
}

bool scope_find(void *self, struct str name, struct expr_value *ret)
{
	const struct scope_view *v = self;
	if (str_eq(name, STR("timestamp"))) {
		*ret = expr_of_wall(v->nominal);
		return true;
	}
	return expr_find_in((void *)(uintptr_t)v->map, name, ret);
}
