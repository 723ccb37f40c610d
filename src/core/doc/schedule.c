/* Reads one schedule: its keys, and the directives of its expression, which set the same fields. */
#include "core/doc/internal.h"
#include "core/doc/text_position.h"
#include "core/when/iso.h"

/* --- the expression and the keys that are directives --- */

/* The offset in the source of byte `offset` of a directive's value; ACE_KEYS: of the expression without its
 * directives. */
static size_t part_at(const struct doc_reader *r, enum ace_key part, size_t offset)
{
	if (part < ACE_KEYS && r->key[part]) {
		const struct val *v = r->key[part];
		if (v->kind != VAL_STR)
			return v->at;
		/* The directive is the text of the key without the spaces around it. */
		return text_position(r->keys.source, v,
				     (size_t)(r->by_key.value[part].p - v->str.p) + offset);
	}
	if (!r->expression)
		return r->schedule->at;
	struct str s = part == ACE_KEYS ? r->by_expression.form : r->by_expression.value[part];
	return text_position(r->keys.source, r->expression, (size_t)(s.p - r->expression->str.p) + offset);
}

/* Moves the position of an error in a part to the source. Returns `e`. */
static enum err error_in_part(struct doc_reader *r, enum ace_key part, enum err e)
{
	if (e && e != E_NOMEM && r->keys.why)
		r->keys.why->at = part_at(r, part, r->keys.why->at);
	return e;
}

static struct place part_place(void *self, enum ace_key key)
{
	const struct doc_reader *r = self;
	return place_of(r->keys.source, part_at(r, key, 0));
}

static enum err compile_when(struct doc_reader *r, const struct ace *parts, const struct when_env *env,
			     struct when *ret)
{
	struct when_parts with_places = { *parts, part_place, r };
	enum ace_key part = ACE_KEYS;
	enum err e = when_compile(&with_places, env, r->keys.arena, ret, &part, r->keys.why);
	return error_in_part(r, part, e);
}

/* A directive must not be given both in the expression and as a key. */
static enum err check_given_once(struct doc_reader *r)
{
	for (unsigned k = 0; k < ACE_KEYS; k++) {
		struct str directive = r->by_expression.value[k];
		if (!r->by_key.value[k].p || !directive.p)
			continue;
		size_t at = text_position(r->keys.source, r->expression,
					  (size_t)(directive.p - r->expression->str.p));
		struct place p = place_of(r->keys.source, at);
		return why_set(
			r->keys.why, E_INPUT, r->key[k]->at,
			"%s is given twice: here, and as '%.*s' in the expression at line %u, column %u",
			doc_key_of((enum ace_key)k), STR_SHORT(directive), p.line, p.column);
	}
	return OK;
}

static enum err check_condition(struct doc_reader *r)
{
	struct str text = doc_condition(r->schedule);
	if (!text.p)
		return OK;
	const struct expr *condition;
	return error_in_part(r, ACE_IF,
			     expr_compile(text, &run_scope_names, r->keys.arena, &condition, r->keys.why));
}

enum err doc_read_expression(struct str text, const struct when_env *env, struct arena *a, struct when *ret,
			     struct why *why)
{
	struct when when;
	const struct expr *condition;
	enum err e = when_parse(text, env, a, &when, why);
	if (e)
		return e;
	struct str written = when.written.value[ACE_IF];
	if (written.p)
		e = expr_compile(written, &run_scope_names, a, &condition, why);
	if (e && e != E_NOMEM && why)
		why->at += (size_t)(written.p - text.p);
	if (!e)
		*ret = when;
	return e;
}

/* The words of an expression with one space between them. */
static char *join_words(struct arena *a, struct str form)
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

/* Replaces a relative form, such as "in 20 minutes", by its absolute form; its zone, and an end that is part
 * of the phrase, become directives. The zone does, too, if it is the default: a time that was resolved must
 * not move with a setting. In a document the form is refused; the message has the form to write instead. */
static enum err resolve_relative(struct doc_reader *r, struct when *w, const struct when_env *env)
{
	struct ace parts = w->written;
	char time[ISO_SIZE];
	parts.form = w->normalized;
	if (w->zone_given || r->env->fresh)
		parts.value[ACE_TZ] = w->zone_name;
	if (w->rule.until != RULE_UNTIL_NEVER && !parts.value[ACE_UNTIL].p) {
		char *until = arena_dup(r->keys.arena, str_of(iso_format_utc(w->rule.until, time)));
		if (!until)
			return E_NOMEM;
		parts.value[ACE_UNTIL] = str_of(until);
	}
	if (r->env->fresh)
		return compile_when(r, &parts, env, w);
	return why_set(r->keys.why, E_INPUT, part_at(r, ACE_KEYS, 0),
		       "'%.*s' depends on when it is read; write %s%.*s%s%.*s%s%.*s",
		       STR_SHORT(w->written.form), w->zone_given ? "TZ=" : "",
		       STR_ARG(w->zone_given ? w->zone_name : STR("")), w->zone_given ? " " : "",
		       STR_ARG(parts.form), parts.value[ACE_UNTIL].p ? " UNTIL " : "",
		       STR_ARG(parts.value[ACE_UNTIL].p ? parts.value[ACE_UNTIL] : STR("")));
}

/* A schedule with `after` has no times of its own, so keys about times are refused. */
static enum err check_after(struct doc_reader *r)
{
	static const enum ace_key of_times[] = { ACE_JITTER, ACE_GAP,   ACE_FOLD,
						 ACE_FROM,   ACE_UNTIL, ACE_EXCEPT };
	for (unsigned i = 0; i < ARRAY_LEN(of_times); i++)
		if (r->key[of_times[i]])
			return why_set(r->keys.why, E_INPUT, r->key[of_times[i]]->at,
				       "%s cannot be used with after; it needs an expression",
				       doc_key_of(of_times[i]));
	if (str_eq(r->schedule->id, r->schedule->after.schedule))
		return why_set(r->keys.why, E_INPUT, r->schedule->at,
			       "after: a schedule cannot follow itself");
	return OK;
}

static enum err read_when(struct doc_reader *r)
{
	struct schedule_doc *d = r->schedule;
	struct when_env env = r->env->when;
	struct ace parts = r->by_key;
	enum err e = r->expression ? check_given_once(r) : check_after(r);
	if (e)
		return e;
	env.id = d->id;
	parts.form = r->by_expression.form;
	for (unsigned k = 0; k < ACE_KEYS; k++)
		if (!parts.value[k].p)
			parts.value[k] = r->by_expression.value[k];
	e = compile_when(r, &parts, &env, &d->when);
	if (!e)
		e = check_condition(r);
	if (!e && d->when.relative)
		e = resolve_relative(r, &d->when, &env);
	if (e || !r->expression)
		return e;
	struct wall nominal, due;
	struct when_walk walk = when_walk(&d->when, r->env->when.now);
	if (r->env->fresh && when_walk_next(&walk, &nominal, &due) == E_NOTFOUND)
		return why_set(r->keys.why, E_INPUT, part_at(r, ACE_KEYS, 0),
			       "all times of the expression are in the past");
	char *form = join_words(r->keys.arena, d->when.written.form);
	if (!form)
		return E_NOMEM;
	d->expression = str_of(form);
	for (unsigned i = 0; i < d->when.warnings; i++)
		doc_warn(&r->keys, part_at(r, ACE_KEYS, 0), "%s", d->when.warning[i]);
	return OK;
}

/* --- one schedule --- */

/* Checks keys that depend on each other. */
static enum err check_combination(struct doc_reader *r, const struct val *v)
{
	struct why *why = r->keys.why;
	struct schedule_doc *d = r->schedule;
	const struct val *after = val_get(v, STR("after"));
	if (!d->id.n)
		return why_set(why, E_INPUT, v->at, "a schedule needs an id");
	if (!r->expression && !after)
		return why_set(why, E_INPUT, v->at, "schedule '%.*s' needs an expression or after",
			       STR_SHORT(d->id));
	if (r->expression && after)
		return why_set(why, E_INPUT, after->at, "give an expression or after, not both");
	if (!val_get(v, STR("action")))
		return why_set(why, E_INPUT, v->at, "schedule '%.*s' needs an action", STR_SHORT(d->id));
	if (d->action.kind != DOC_AGENT_TURN && val_get(v, STR("budget")))
		return why_set(why, E_INPUT, val_get(v, STR("budget"))->at,
			       "budget can be used only with an action of type agent_turn");
	if (r->max_delay_only && !r->by_expression.value[ACE_RETRY].p)
		return why_set(why, E_INPUT, r->retry->at, "retry needs the key 'max_attempts'");
	return OK;
}

/* Copies the values that the expression and its directives have set, with defaults that depend on the
 * action. */
static void copy_directives(struct schedule_doc *d, const struct doc_env *env)
{
	const struct when *w = &d->when;
	d->window = w->window;
	d->missed = (uint8_t)w->missed;
	d->overlap = (uint8_t)w->overlap;
	d->timeout = w->timeout ? w->timeout : env->timeout[d->action.kind];
	if (w->written.value[ACE_RETRY].p) {
		d->retry.count = w->retry.max_attempts;
		d->retry.backoff = (uint8_t)w->retry.backoff;
		d->retry.delay = w->retry.initial_delay;
	}
}

enum err schedule_read(struct str source, const struct val *map, const struct doc_env *env, struct arena *a,
		       struct doc_list *list, struct schedule_doc *ret, struct why *why)
{
	struct doc_reader r = { .keys = { source, a, why, &r },
				.env = env,
				.schedule = ret,
				.unsupported = &ret->unsupported,
				.list = list };
	*ret = (struct schedule_doc){ .at = map->at };
	keys_set_defaults(schedule_keys, ret);
	ret->retry = (struct doc_retry){ .delay = DOC_RETRY_DELAY, .max_delay = DOC_RETRY_MAX_DELAY };
	ret->notification.on_failure = true;
	enum err e = keys_read(&r.keys, "a schedule", schedule_keys, ret, map, NULL);
	if (!e)
		e = check_combination(&r, map);
	if (!e)
		e = read_when(&r);
	if (!e)
		copy_directives(ret, env);
	return e;
}
