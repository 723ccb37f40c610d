#include "core/doc/doc.h"
#include "base/map.h"
#include "core/doc/doc_inner.h"
#include "core/doc/inside.h"
#include "core/when/hash.h"
#include "core/when/iso.h"

#include <stdio.h>

/* --- one when out of an expression and keys ---------------------------------------------------------------
 */

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
	if (part < ACE_KEYS && r->key[part])
		return part == ACE_RETRY || r->key[part]->kind != VAL_STR
			       ? r->key[part]->at
			       : inside(r->keys.source, r->key[part], offset);
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

/* Do two whens agree in what a directive sets? */
static bool agree(const struct when *a, const struct when *b, enum ace_key key)
{
	switch (key) {
	case ACE_TZ:
		return str_eq(a->zone_name, b->zone_name);
	case ACE_WINDOW:
		return a->window == b->window;
	case ACE_RETRY:
		return a->retry.max_attempts == b->retry.max_attempts &&
		       a->retry.backoff == b->retry.backoff &&
		       a->retry.initial_delay == b->retry.initial_delay;
	case ACE_FROM:
		return a->rule.from == b->rule.from;
	case ACE_UNTIL:
		return a->rule.until == b->rule.until;
	case ACE_JITTER:
		return a->rule.jitter == b->rule.jitter;
	case ACE_TIMEOUT:
		return a->timeout == b->timeout;
	case ACE_MISSED:
		return a->missed == b->missed;
	case ACE_OVERLAP:
		return a->overlap == b->overlap;
	case ACE_EXCEPT:
		return a->except.n == b->except.n &&
		       (!a->except.n ||
			memcmp(a->except.day, b->except.day, a->except.n * sizeof *a->except.day) == 0);
	case ACE_GAP:
		return a->rule.kind != RULE_CRON || a->rule.cron.gap == b->rule.cron.gap;
	case ACE_FOLD:
		return a->rule.kind != RULE_CRON || a->rule.cron.fold == b->rule.cron.fold;
	case ACE_IF:
		return str_eq(a->said.value[key], b->said.value[key]);
	case ACE_KEYS:
		break;
	}
	return true;
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

/* What both the keys and the expression say must be the same. `w` was compiled by the keys' word. */
static enum err check_agreement(struct doc_reader *r, const struct when *w, const struct when_env *env)
{
	struct when other;
	bool both = false;
	for (unsigned k = 0; k < ACE_KEYS; k++)
		both |= r->by_key.value[k].p && r->by_expression.value[k].p;
	if (!both)
		return OK;
	/* The expression alone, its times read in the same zone unless it names another. */
	struct when_env alone = *env;
	alone.zone = w->zone;
	alone.zone_name = w->zone_name;
	enum err e = compile(r, &r->by_expression, &alone, &other);
	if (e)
		return e;
	for (unsigned k = 0; k < ACE_KEYS; k++) {
		struct str key = r->by_key.value[k], directive = r->by_expression.value[k];
		if (!key.p || !directive.p || agree(w, &other, (enum ace_key)k))
			continue;
		size_t offset = (size_t)(directive.p - r->expression->str.p);
		struct place p = place_of(r->keys.source, inside(r->keys.source, r->expression, offset));
		return why_set(
			r->keys.why, E_INPUT, r->key[k]->at,
			"%s is '%.*s' here and '%.*s' in the expression, at line %u, column %u: say it once",
			key_of((enum ace_key)k)->name, STR_SHORT(key), STR_SHORT(directive), p.line,
			p.column);
	}
	return OK;
}

/* A directive whose key is not supported is not supported either. */
static enum err check_supported(struct doc_reader *r)
{
	for (unsigned k = 0; k < ACE_KEYS; k++)
		if (r->by_expression.value[k].p && key_of((enum ace_key)k)->later)
			return why_set(r->keys.why, E_INPUT, part_at(r, (enum ace_key)k, 0),
				       "%s is not supported yet", key_of((enum ace_key)k)->name);
	return OK;
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
	enum err e = r->expression ? check_supported(r) : check_follower(r);
	if (e)
		return e;
	env.id = d->id;
	said.form = r->by_expression.form;
	for (unsigned k = 0; k < ACE_KEYS; k++)
		if (!said.value[k].p)
			said.value[k] = r->by_expression.value[k];
	e = compile(r, &said, &env, &d->when);
	if (!e)
		e = check_agreement(r, &d->when, &env);
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
	return OK;
}

/* --- one schedule ----------------------------------------------------------------------------------------
 */

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
			      struct arena *a, struct schedule_doc *d, struct why *why)
{
	struct doc_reader r = { .keys = { source, a, why, &r }, .env = env, .d = d };
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

/* --- all of a value --------------------------------------------------------------------------------------
 */

/* One id, one schedule. A map of hashes: lists may be long. */
static enum err check_twice(struct str source, const struct doc_list *list, struct why *why)
{
	struct map seen = { 0 };
	enum err e = OK;
	for (unsigned i = 0; i < list->n && !e; i++) {
		uint64_t hash = fnv1a(FNV_START, list->doc[i].id) | 1;
		uint32_t first = map_get(&seen, hash);
		if (first != MAP_NONE && str_eq(list->doc[first].id, list->doc[i].id)) {
			struct place p = place_of(source, list->doc[first].at);
			e = why_set(why, E_INPUT, list->doc[i].at,
				    "schedule '%.*s' is there already, at line %u, column %u",
				    STR_SHORT(list->doc[i].id), p.line, p.column);
		} else if (!map_put(&seen, hash, i)) {
			e = E_NOMEM;
		}
	}
	map_free(&seen);
	return e;
}

/* The schedules of a value, one or several. */
static enum err find(const struct val *v, const struct val **first, unsigned *n, struct why *why)
{
	const struct val *one = val_get(v, STR("schedule")), *many = val_get(v, STR("schedules"));
	*first = one ? one : v;
	*n = 1;
	if (v->kind == VAL_NULL)
		*n = 0;
	else if (v->kind != VAL_MAP)
		return why_set(why, E_INPUT, v->at,
			       "a document is a map with schedule, schedules, or an id, not a %s",
			       val_kind_words[v->kind]);
	if (!one && !many)
		return OK;
	for (unsigned i = 0; i < v->map.n; i++)
		if (&v->map.pair[i].value != (one ? one : many))
			return why_set(why, E_INPUT, v->map.pair[i].at, "'%.*s' cannot stand beside %s",
				       STR_SHORT(v->map.pair[i].key), one ? "schedule" : "schedules");
	if (!many)
		return OK;
	if (many->kind != VAL_LIST)
		return why_set(why, E_INPUT, many->at, "schedules must be a list, not a %s",
			       val_kind_words[many->kind]);
	*first = many->list.item;
	*n = many->list.n;
	return OK;
}

enum err doc_read(struct str source, const struct val *documents, const struct doc_env *env, struct arena *a,
		  struct doc_list *ret, struct why *why)
{
	const struct val *first;
	unsigned n, total = 0;
	enum err e = OK;
	assert(documents->kind == VAL_LIST);
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		e = find(&documents->list.item[i], &first, &n, why);
		total += n;
	}
	if (e)
		return e;
	struct doc_list all = { arena_alloc(a, (total + 1) * sizeof *all.doc), 0 };
	if (!all.doc)
		return E_NOMEM;
	for (unsigned i = 0; i < documents->list.n && !e; i++) {
		e = find(&documents->list.item[i], &first, &n, why);
		for (unsigned k = 0; k < n && !e; k++)
			e = read_schedule(source, &first[k], env, a, &all.doc[all.n++], why);
	}
	if (!e)
		e = check_twice(source, &all, why);
	if (!e)
		*ret = all;
	return e;
}
