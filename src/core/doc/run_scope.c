/* Builds the values of the names that a run can use. */
#include "core/doc/run_scope.h"
#include "core/model.h"
#include "core/when/civil.h"
#include "core/when/explain/text.h"
#include "core/when/iso.h"

static const struct str names[] = { STR("schedule"), STR("agent"),       STR("user"),      STR("memory"),
				    STR("run"),      STR("previous"),    STR("timestamp"), STR("date"),
				    STR("time"),     STR("day_of_week"), STR("task"),      STR("variables") };
const struct expr_names run_scope_names = { names, ARRAY_LEN(names) },
			run_scope_variable_names = { names, ARRAY_LEN(names) - 1 };

struct builder {
	struct arena *arena;
	bool failed;
};

static void set_key(struct builder *b, struct val *map, const char *key, struct val value)
{
	map->kind = VAL_MAP;
	struct val_pair *p = val_map_room(map, b->arena);
	if (!p) {
		b->failed = true;
		return;
	}
	p->key = str_of(key);
	p->value = value;
	map->map.n++;
}

static void add_item(struct builder *b, struct val *list, struct val value)
{
	struct val *item = val_list_room(list, b->arena);
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

/* A text that was allocated in the arena; NULL: no memory. */
static struct val arena_text(struct builder *b, const char *s)
{
	b->failed |= !s;
	return text(s ? str_of(s) : STR(""));
}

static struct val number(int64_t n)
{
	return (struct val){ .kind = VAL_INT, .integer = n };
}

static struct val boolean(bool is)
{
	return (struct val){ .kind = VAL_BOOL, .boolean = is };
}

static struct val map_or_empty(const struct val *v)
{
	return v->kind == VAL_MAP ? *v : (struct val){ .kind = VAL_MAP };
}

/* "2026-11-16T08:30:00-05:00" */
static struct val local_time(struct builder *b, struct wall t, const struct zone *z)
{
	char local[ISO_SIZE], offset[ISO_SIZE];
	int64_t seconds = wall_seconds(t);
	int32_t east = zone_offset(z, seconds);
	return arena_text(b, arena_printf(b->arena, "%s%s", iso_format_local(seconds + east, local),
					  iso_format_offset(east, offset)));
}

static struct val schedule_value(struct builder *b, const struct schedule_doc *d)
{
	struct val map = { .kind = VAL_MAP }, tags = { .kind = VAL_LIST };
	for (unsigned i = 0; i < d->tags; i++)
		add_item(b, &tags, text(d->tag[i]));
	set_key(b, &map, "id", text(d->id));
	set_key(b, &map, "name", text(d->name.n ? d->name : d->id));
	set_key(b, &map, "description", text(d->description));
	set_key(b, &map, "tags", tags);
	set_key(b, &map, "timezone", text(d->when.zone_name));
	return map;
}

static struct val run_value(struct builder *b, const struct run_scope *s)
{
	const struct run_row *r = s->run;
	struct val map = { .kind = VAL_MAP };
	set_key(b, &map, "id", number((int64_t)r->run));
	set_key(b, &map, "attempt", number(s->attempt));
	set_key(b, &map, "nominal", local_time(b, r->nominal, s->doc->when.zone));
	set_key(b, &map, "catch_up", boolean(r->kind == KIND_CATCH_UP));
	set_key(b, &map, "missed", number(r->missed));
	set_key(b, &map, "missed_since",
		s->missed_since.us ? local_time(b, s->missed_since, s->doc->when.zone)
				   : (struct val){ .kind = VAL_NULL });
	set_key(b, &map, "fence", number((int64_t)r->fence));
	return map;
}

static struct val previous_value(struct builder *b, const struct run_scope *s)
{
	struct val map = { .kind = VAL_MAP };
	if (!s->previous)
		return map;
	set_key(b, &map, "outcome", text(str_of(outcome_words[s->previous->outcome])));
	set_key(b, &map, "result", text(s->result));
	return map;
}

/* A note is marked as data, with its origin, because the run that wrote it may have been misled. */
static struct val note_value(struct builder *b, const struct scope_note *n, const struct zone *z)
{
	struct val map = { .kind = VAL_MAP }, tags = { .kind = VAL_LIST };
	struct str rest = n->row.tags, tag;
	while (str_line(&rest, &tag))
		add_item(b, &tags, text(tag));
	set_key(b, &map, "text", text(n->row.text));
	set_key(b, &map, "tags", tags);
	set_key(b, &map, "at", local_time(b, n->row.at, z));
	set_key(b, &map, "run", number((int64_t)n->row.run));
	set_key(b, &map, "schedule", text(n->schedule));
	set_key(b, &map, "data", boolean(true));
	return map;
}

static struct val memory_value(struct builder *b, const struct run_scope *s)
{
	struct val list = { .kind = VAL_LIST };
	for (unsigned i = 0; i < s->notes; i++)
		add_item(b, &list, note_value(b, &s->note[i], s->doc->when.zone));
	return list;
}

static enum err add_variables(const struct run_scope *s, const struct expr_env *env, struct builder *b,
			      struct val *all, struct why *why)
{
	struct expr_env with = *env;
	struct val variables = { .kind = VAL_MAP };
	struct scope_view view = { all, s->run->nominal };
	with.find = run_scope_find;
	with.self = &view;
	with.names = &run_scope_variable_names;
	enum err e = OK;
	if (s->doc->variables.kind == VAL_MAP)
		e = template_variables(&s->doc->variables, &with, b->arena, &variables, why);
	set_key(b, all, "variables", variables);
	return e;
}

enum err run_scope_value(const struct run_scope *s, const struct expr_env *env, struct arena *a,
			 struct val *ret, struct why *why)
{
	struct builder b = { .arena = a };
	struct val all = { .kind = VAL_MAP }, agent = { .kind = VAL_MAP };
	struct val user = map_or_empty(&s->user);
	char local[ISO_SIZE];
	const struct zone *z = s->doc->when.zone;
	int64_t seconds = wall_seconds(s->run->nominal);
	int64_t wall = seconds + zone_offset(z, seconds);
	iso_format_local(wall, local);
	/* A key `user` of the agent's state is hidden: agent.user is the user's profile. */
	for (unsigned i = 0; s->agent.kind == VAL_MAP && i < s->agent.map.n; i++)
		if (!str_eq(s->agent.map.pair[i].key, STR("user"))) {
			struct val_pair *p = val_map_room(&agent, a);
			if (!p)
				return E_NOMEM;
			*p = s->agent.map.pair[i];
			agent.map.n++;
		}
	set_key(&b, &agent, "user", user);
	set_key(&b, &all, "schedule", schedule_value(&b, s->doc));
	set_key(&b, &all, "agent", agent);
	set_key(&b, &all, "user", user);
	set_key(&b, &all, "memory", memory_value(&b, s));
	set_key(&b, &all, "run", run_value(&b, s));
	set_key(&b, &all, "previous", previous_value(&b, s));
	set_key(&b, &all, "timestamp", local_time(&b, s->run->nominal, z));
	set_key(&b, &all, "date", arena_text(&b, arena_printf(a, "%.10s", local)));
	set_key(&b, &all, "time", arena_text(&b, arena_printf(a, "%.5s", local + 11)));
	set_key(&b, &all, "day_of_week", text(str_of(text_wdays[weekday_of(floor_div(wall, 86400))])));
	set_key(&b, &all, "task", s->task);
	enum err e = b.failed ? E_NOMEM : add_variables(s, env, &b, &all, why);
	*ret = all;
	return b.failed ? E_NOMEM : e;
}

bool run_scope_find(void *self, struct str name, struct expr_value *ret)
{
	const struct scope_view *v = self;
	if (str_eq(name, STR("timestamp"))) {
		*ret = expr_of_wall(v->nominal);
		return true;
	}
	return expr_find_in((void *)(uintptr_t)v->map, name, ret);
}
