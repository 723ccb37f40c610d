#include "core/doc/doc.h"
#include "base/hash.h"
#include "base/map.h"
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"
#include "core/doc/run_scope.h"
#include "core/doc/text_position.h"
#include "core/when/iso.h"

#include <stdarg.h>
#include <stdio.h>

void doc_warn(struct key_reader *r, size_t at, const char *fmt, ...)
{
	struct doc_list *list = r->self ? reader_of(r)->list : NULL; /* what is no document has none */
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

/* --- one when out of an expression and keys --- */

/* The key that means the same as a directive. */
static const struct key *key_of(enum ace_key directive)
{
	const struct key *k = doc_keys;
	while (k->name && k->ace != directive)
		k++;
	assert(k->name);
	return k;
}

/* Where byte `offset` of a directive's value, or of the form, stands in the source. */
static size_t part_at(const struct doc_reader *r, enum ace_key part, size_t offset)
{
	if (part < ACE_KEYS && r->key[part]) {
		const struct val *v = r->key[part];
		if (v->kind != VAL_STR)
			return v->at;
		/* What was said is the key's text without the blanks around it. */
		return inside(r->keys.source, v, (size_t)(r->by_key.value[part].p - v->str.p) + offset);
	}
	if (!r->expression)
		return r->d->at;
	struct str s = part == ACE_KEYS ? r->by_expression.form : r->by_expression.value[part];
	return inside(r->keys.source, r->expression, (size_t)(s.p - r->expression->str.p) + offset);
}

static struct place part_place(void *self, enum ace_key key)
{
	const struct doc_reader *r = self;
	return place_of(r->keys.source, part_at(r, key, 0));
}

static enum err compile(struct doc_reader *r, const struct ace *said, const struct when_env *env,
			struct when *ret)
{
	struct when_parts parts = { *said, part_place, r };
	enum ace_key part = ACE_KEYS;
	enum err e = when_compile(&parts, env, r->keys.arena, ret, &part, r->keys.why);
	if (e && e != E_NOMEM && r->keys.why)
		r->keys.why->at = part_at(r, part, r->keys.why->at);
	return e;
}

/* Directives and keys name the same things: each is said by one of them. */
static enum err check_said_once(struct doc_reader *r)
{
	for (unsigned k = 0; k < ACE_KEYS; k++) {
		struct str directive = r->by_expression.value[k];
		if (!r->by_key.value[k].p || !directive.p)
			continue;
		struct place p =
			place_of(r->keys.source, inside(r->keys.source, r->expression,
							(size_t)(directive.p - r->expression->str.p)));
		return why_set(
			r->keys.why, E_INPUT, r->key[k]->at,
			"%s is given twice: here and by '%.*s' in the expression, at line %u, column %u",
			key_of((enum ace_key)k)->name, STR_SHORT(directive), p.line, p.column);
	}
	return OK;
}

/* Its condition, where there is one. */
static enum err check_condition(struct doc_reader *r)
{
	struct str text = doc_condition(r->d);
	if (!text.p)
		return OK;
	const struct expr *condition;
	enum err e = expr_compile(text, &scope_names, r->keys.arena, &condition, r->keys.why);
	if (e && e != E_NOMEM && r->keys.why)
		r->keys.why->at = part_at(r, ACE_IF, r->keys.why->at);
	return e;
}

/* The words of a form with one blank between them. */
static char *spaced(struct arena *a, struct str form)
{
	char *copy = arena_alloc(a, form.n + 1);
	size_t n = 0;
	for (struct str t = str_token(&form); copy && t.n; t = str_token(&form)) {
		if (n)
			copy[n++] = ' ';
		memcpy(copy + n, t.p, t.n);
		n += t.n;
	}
	return copy;
}

/* A relative form: its normal form, with what the phrase said of zone and end as directives of their own. */
static enum err resolve(struct doc_reader *r, struct when *w, const struct when_env *env)
{
	struct ace said = w->said;
	char time[ISO_SIZE];
	said.form = w->normalized;
	if (w->zone_said)
		said.value[ACE_TZ] = w->zone_name;
	if (w->rule.until != RULE_UNTIL_NEVER && !said.value[ACE_UNTIL].p) {
		char *until = arena_dup(r->keys.arena, str_of(iso_format_utc(w->rule.until, time)));
		if (!until)
			return E_NOMEM;
		said.value[ACE_UNTIL] = str_of(until);
	}
	if (r->env->fresh)
		return compile(r, &said, env, w);
	return why_set(r->keys.why, E_INPUT, part_at(r, ACE_KEYS, 0),
		       "'%.*s' depends on when it is read; write %s%.*s%s%.*s%s%.*s", STR_SHORT(w->said.form),
		       w->zone_said ? "TZ=" : "", STR_ARG(w->zone_said ? w->zone_name : STR("")),
		       w->zone_said ? " " : "", STR_ARG(said.form), said.value[ACE_UNTIL].p ? " UNTIL " : "",
		       STR_ARG(said.value[ACE_UNTIL].p ? said.value[ACE_UNTIL] : STR("")));
}

/* Keys that speak of an expression's times. */
static enum err check_follower(struct doc_reader *r)
{
	static const enum ace_key of_times[] = { ACE_JITTER, ACE_GAP,   ACE_FOLD,
						 ACE_FROM,   ACE_UNTIL, ACE_EXCEPT };
	for (unsigned i = 0; i < ARRAY_LEN(of_times); i++)
		if (r->key[of_times[i]])
			return why_set(r->keys.why, E_INPUT, r->key[of_times[i]]->at,
				       "%s goes with an expression, not with after",
				       key_of(of_times[i])->name);
	if (str_eq(r->d->id, r->d->after.schedule))
		return why_set(r->keys.why, E_INPUT, r->d->at, "a schedule cannot follow itself");
	return OK;
}

static enum err read_when(struct doc_reader *r)
{
	struct schedule_doc *d = r->d;
	struct when_env env = r->env->when;
	struct ace said = r->by_key;
	enum err e = r->expression ? check_said_once(r) : check_follower(r);
	if (e)
		return e;
	env.id = d->id;
	said.form = r->by_expression.form;
	for (unsigned k = 0; k < ACE_KEYS; k++)
		if (!said.value[k].p)
			said.value[k] = r->by_expression.value[k];
	e = compile(r, &said, &env, &d->when);
	if (!e)
		e = check_condition(r);
	if (!e && d->when.relative)
		e = resolve(r, &d->when, &env);
	if (e || !r->expression)
		return e;
	struct wall nominal, due;
	struct when_walk walk = when_walk(&d->when, r->env->when.now);
	if (r->env->fresh && when_walk_next(&walk, &nominal, &due) == E_NOTFOUND)
		return why_set(r->keys.why, E_INPUT, part_at(r, ACE_KEYS, 0), "all its times have passed");
	char *form = spaced(r->keys.arena, d->when.said.form);
	if (!form)
		return E_NOMEM;
	d->expression = str_of(form);
	for (unsigned i = 0; i < d->when.warnings; i++)
		doc_warn(&r->keys, part_at(r, ACE_KEYS, 0), "%s", d->when.warning[i]);
	return OK;
}

/* --- one schedule --- */

static enum err check_whole(struct doc_reader *r, const struct val *v)
{
	struct why *why = r->keys.why;
	struct schedule_doc *d = r->d;
	const struct val *after = val_get(v, STR("after"));
	if (!d->id.n)
		return why_set(why, E_INPUT, v->at, "a schedule needs an id");
	if (!r->expression && !after)
		return why_set(why, E_INPUT, v->at, "schedule '%.*s' needs an expression, or after",
			       STR_SHORT(d->id));
	if (r->expression && after)
		return why_set(why, E_INPUT, after->at, "give an expression or after, not both");
	if (!val_get(v, STR("action")))
		return why_set(why, E_INPUT, v->at, "schedule '%.*s' needs an action", STR_SHORT(d->id));
	if (d->action.kind != DOC_AGENT_TURN && val_get(v, STR("budget")))
		return why_set(why, E_INPUT, val_get(v, STR("budget"))->at,
			       "budget goes with an action of type agent_turn");
	if (r->max_delay_only && !r->by_expression.value[ACE_RETRY].p)
		return why_set(why, E_INPUT, r->retry->at, "retry needs max_attempts");
	return OK;
}

/* Defaults that are not zero, and not known before the rest is. */
static void take_over(struct schedule_doc *d, const struct doc_env *env)
{
	const struct when *w = &d->when;
	d->window = w->window;
	d->missed = (uint8_t)w->missed;
	d->overlap = (uint8_t)w->overlap;
	d->timeout = w->timeout ? w->timeout : env->timeout[d->action.kind];
	if (w->said.value[ACE_RETRY].p) {
		d->retry.count = w->retry.max_attempts;
		d->retry.backoff = (uint8_t)w->retry.backoff;
		d->retry.delay = w->retry.initial_delay;
	}
}

static enum err read_schedule(struct str source, const struct val *v, const struct doc_env *env,
			      struct arena *a, struct doc_list *list, struct schedule_doc *d, struct why *why)
{
	struct doc_reader r = {
		.keys = { source, a, why, &r }, .env = env, .d = d, .needs = &d->needs, .list = list
	};
	*d = (struct schedule_doc){ .at = v->at };
	for (const struct key *k = doc_keys; k->name; k++)
		keys_default(k, d);
	d->retry = (struct doc_retry){ .delay = DOC_RETRY_DELAY, .most = DOC_RETRY_MOST };
	d->notification.on_failure = true;
	enum err e = keys_read(&r.keys, "a schedule", doc_keys, d, v, NULL);
	if (!e)
		e = check_whole(&r, v);
	if (!e)
		e = read_when(&r);
	if (!e)
		take_over(d, env);
	return e;
}

/* --- all of a value --- */

struct named {
	struct str name;
	uint32_t at;
};

static struct named schedule_named(const struct doc_list *list, unsigned i)
{
	return (struct named){ list->doc[i].id, list->doc[i].at };
}

static struct named agent_named(const struct doc_list *list, unsigned i)
{
	return (struct named){ list->agent[i].name, list->agent[i].at };
}

/* One name, one of them. A map of hashes: lists may be long. */
static enum err check_twice(struct str source, const char *what, const struct doc_list *list, unsigned n,
			    struct named (*nth)(const struct doc_list *list, unsigned i), struct why *why)
{
	struct map seen = { 0 };
	enum err e = OK;
	for (unsigned i = 0; i < n && !e; i++) {
		struct named one = nth(list, i);
		uint64_t hash = fnv1a(FNV_START, one.name) | 1;
		uint32_t first = map_get(&seen, hash);
		if (first != MAP_NONE && str_eq(nth(list, first).name, one.name)) {
			struct place p = place_of(source, nth(list, first).at);
			e = why_set(why, E_INPUT, one.at, "%s '%.*s' is there already, at line %u, column %u",
				    what, STR_SHORT(one.name), p.line, p.column);
		} else if (!map_put(&seen, hash, i)) {
			e = E_NOMEM;
		}
	}
	map_free(&seen);
	return e;
}

/* By their places: keys are looked at in an order of our own. */
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

/* What a document has of one kind: one, or a list. */
struct part {
	const char *key; /* NULL: nothing is said of this kind */
	const struct val *first;
	unsigned n;
};
struct parts {
	struct part schedules, agents;
};

static const struct wrapper {
	const char *name;
	size_t to;
	bool many;
} wrappers[] = {
	{ "schedule", offsetof(struct parts, schedules), false },
	{ "schedules", offsetof(struct parts, schedules), true },
	{ "agent", offsetof(struct parts, agents), false },
	{ "agents", offsetof(struct parts, agents), true },
};

/* A schedule has a key `agent`, too: the name of one. */
static const struct wrapper *wrapper_of(const struct val_pair *p)
{
	for (unsigned i = 0; i < ARRAY_LEN(wrappers); i++)
		if (str_eq(p->key, str_of(wrappers[i].name)) &&
		    !(p->value.kind == VAL_STR && str_eq(p->key, STR("agent"))))
			return &wrappers[i];
	return NULL;
}

static enum err take_part(const struct val_pair *p, const struct wrapper *w, struct parts *ret,
			  struct why *why)
{
	struct part *part = (struct part *)(void *)((char *)ret + w->to);
	if (part->key)
		return why_set(why, E_INPUT, p->at, "'%s' cannot stand beside %s", w->name, part->key);
	if (w->many && p->value.kind != VAL_LIST)
		return why_set(why, E_INPUT, p->value.at, "%s must be a list, not a %s", w->name,
			       val_kind_words[p->value.kind]);
	*part = (struct part){ w->name, &p->value, 1 };
	if (w->many) {
		part->first = p->value.list.item;
		part->n = p->value.list.n;
	}
	return OK;
}

/* What a document has. */
static enum err find(const struct val *v, struct parts *ret, struct why *why)
{
	const struct wrapper *any = NULL;
	*ret = (struct parts){ 0 };
	if (v->kind == VAL_NULL)
		return OK;
	if (v->kind != VAL_MAP)
		return why_set(
			why, E_INPUT, v->at,
			"a document is a map with schedule, schedules, agent, agents, or an id, not a %s",
			val_kind_words[v->kind]);
	for (unsigned i = 0; i < v->map.n && !any; i++)
		any = wrapper_of(&v->map.pair[i]);
	if (!any) {
		ret->schedules = (struct part){ "schedule", v, 1 };
		return OK;
	}
	enum err e = OK;
	for (unsigned i = 0; i < v->map.n && !e; i++) {
		const struct val_pair *p = &v->map.pair[i];
		const struct wrapper *w = wrapper_of(p);
		e = w ? take_part(p, w, ret, why)
		      : why_set(why, E_INPUT, p->at, "'%.*s' cannot stand beside %s", STR_SHORT(p->key),
				any->name);
	}
	return e;
}

enum err doc_read(struct str source, const struct val *documents, const struct doc_env *env, struct arena *a,
		  struct doc_list *ret, struct why *why)
{
	struct parts has;
	unsigned schedules = 0, agents = 0;
	enum err e = OK;
	assert(documents->kind == VAL_LIST);
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		e = find(&documents->list.item[i], &has, why);
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
		e = find(&documents->list.item[i], &has, why);
		for (unsigned k = 0; k < has.agents.n && !e; k++)
			e = agent_read_one(source, &has.agents.first[k], env, a, &all,
					   &all.agent[all.agents++], why);
		for (unsigned k = 0; k < has.schedules.n && !e; k++)
			e = read_schedule(source, &has.schedules.first[k], env, a, &all, &all.doc[all.n++],
					  why);
	}
	if (!e)
		e = check_twice(source, "schedule", &all, all.n, schedule_named, why);
	if (!e)
		e = check_twice(source, "agent", &all, all.agents, agent_named, why);
	sort_warnings(&all);
	if (!e)
		*ret = all;
	return e;
}
