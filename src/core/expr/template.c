/* Templates: compiling, rendering, and the `variables` of a schedule. */
#include "core/expr/template.h"
#include "base/buf.h"
#include "core/expr/code.h"

/* Text, followed by an expression; the last piece may have none. */
struct template_piece {
	struct str text;
	const struct expr *expr;
	bool user; /* it is {{ user }} */
	struct template_piece *next;
};

struct template
{
	struct template_piece *first;
};

/* The place of the next {{; the end of the text if there is none. */
static size_t next_opening(struct str text, size_t from)
{
	const char *p = from < text.n ? memmem(text.p + from, text.n - from, "{{", 2) : NULL;
	return p ? (size_t)(p - text.p) : text.n;
}

/* Compiles the expression after the {{ at `at`; *end is after its }}. */
static enum err compile_inside(struct str text, size_t at, const struct expr_names *names, struct arena *a,
			       const struct expr **ret, size_t *end, struct why *why)
{
	size_t from = at + 2, length;
	struct str rest = str_from(text, from);
	if (str_starts(str_trim(rest), STR("}}")))
		return why_set(why, E_INPUT, at, "an expression is missing between {{ and }}");
	enum err e = expr_compile_front(rest, from, names, a, ret, &length, why);
	if (e)
		return e;
	*end = from + length + 2;
	if (str_starts(str_from(rest, length), STR("}}")))
		return OK;
	if (length == rest.n)
		return why_set(why, E_INPUT, at,
			       "'{{' has no closing '}}'; a literal {{ is written {{ \"{{\" }}");
	return why_set(why, E_INPUT, from + length, "expected an operator or '}}', found '%.*s'",
		       STR_SHORT(str_from(rest, length)));
}

static bool is_user(const struct expr *e)
{
	return e->n == 1 && e->code[0].op == DO_NAME && str_eq(e->constant[e->code[0].arg].str, STR("user"));
}

enum err template_compile(struct str text, const struct expr_names *names, struct arena *a,
			  const struct template **ret, struct why *why)
{
	struct template *t = arena_alloc(a, sizeof *t);
	struct template_piece **last = t ? &t->first : NULL;
	if (text.n > TEMPLATE_BYTES_MAX)
		return why_set(why, E_LIMIT, TEMPLATE_BYTES_MAX, "a template has at most %d bytes",
			       TEMPLATE_BYTES_MAX);
	char *copy = arena_dup(a, text);
	if (!t || !copy)
		return E_NOMEM;
	text.p = copy;
	unsigned n = 0;
	for (size_t at = 0; at < text.n;) {
		struct template_piece *p = arena_alloc(a, sizeof *p);
		if (!p)
			return E_NOMEM;
		size_t open = next_opening(text, at), end = open;
		p->text = str_sub(text, at, open);
		if (open < text.n && n++ == TEMPLATE_EXPRS_MAX)
			return why_set(why, E_LIMIT, open, "a template has at most %d expressions",
				       TEMPLATE_EXPRS_MAX);
		if (open < text.n) {
			enum err e = compile_inside(text, open, names, a, &p->expr, &end, why);
			if (e)
				return e;
			p->user = is_user(p->expr);
		}
		at = end;
		*last = p;
		last = &p->next;
	}
	*ret = t;
	return OK;
}

/* --- rendering --- */

static enum err render_expr(const struct template_piece *p, const struct expr_env *env, struct arena *a,
			    struct expr_budget *left, struct buf *out, struct why *why)
{
	struct expr_value v, name;
	struct expr_machine m = { .env = env, .arena = a, .budget = left, .at = p->expr->code[0].at };
	enum err e = expr_run(p->expr, env, a, left, &v, why);
	if (e)
		return e;
	if (p->user && v.kind == EXPR_MAP) {
		struct expr_value key = { .kind = EXPR_STRING, .str = STR("name") };
		if (!expr_lookup(&m, &v, &key, &name))
			return why_set(why, E_VALUE, m.at,
				       "user has no name; {{ user }} alone renders user.name");
		v = name;
	}
	e = expr_write_on_budget(&v, true, env->zone, a, left, out, why);
	if (e == E_VALUE && why)
		why->at = m.at;
	return e;
}

static enum err render_pieces(const struct template *t, const struct expr_env *env, struct arena *a,
			      struct expr_budget *left, struct buf *out, struct why *why)
{
	for (const struct template_piece *p = t->first; p; p = p->next) {
		if (p->text.n > left->bytes)
			return why_set(why, E_VALUE, p->expr ? p->expr->code[0].at : 0,
				       "the text becomes longer than %d bytes", RENDER_BYTES_MAX);
		left->bytes -= p->text.n;
		buf_add(out, p->text);
		enum err e = p->expr ? render_expr(p, env, a, left, out, why) : OK;
		if (e)
			return e;
	}
	return out->failed ? E_NOMEM : OK;
}

enum err template_render(const struct template *t, const struct expr_env *env, struct arena *a,
			 struct buf *out, struct why *why)
{
	struct expr_budget own = RENDER_BUDGET;
	return render_pieces(t, env, a, env->budget ? env->budget : &own, out, why);
}

/* --- variables --- */

struct variables {
	const struct expr_env *env;
	struct arena *arena;
	struct expr_budget own; /* for all variables together, if the environment has no budget */
	struct why why;
};

static enum err render_string(struct variables *s, struct str text, struct str *ret)
{
	const struct template *t;
	struct why why = { .at = WHY_NOWHERE };
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = template_compile(text, NULL, s->arena, &t, &why);
	if (!e)
		e = render_pieces(t, s->env, s->arena, s->env->budget ? s->env->budget : &s->own, &out, &why);
	if (e && e != E_NOMEM) {
		/* The place is in the variable's own text, so it becomes part of the message. */
		out.n = 0;
		why_describe(&why, text, &out);
		return why_set(&s->why, e, WHY_NOWHERE, "%s", buf_str(&out).p);
	}
	const char *copy = e ? NULL : arena_dup(s->arena, buf_str(&out));
	if (!copy)
		return E_NOMEM;
	*ret = (struct str){ copy, out.n };
	return OK;
}

/* Recurses as deep as the document is. */
static enum err render_value(struct variables *s, struct val *v)
{
	enum err e = OK;
	unsigned n = v->kind == VAL_LIST ? v->list.n : v->kind == VAL_MAP ? v->map.n : 0;
	if (v->kind == VAL_STR)
		return render_string(s, v->str, &v->str);
	size_t size = n * (v->kind == VAL_LIST ? sizeof *v->list.item : sizeof *v->map.pair);
	void *copy = n ? arena_alloc(s->arena, size) : NULL;
	if (!n)
		return OK;
	if (!copy)
		return E_NOMEM;
	if (v->kind == VAL_LIST)
		v->list.item = memcpy(copy, v->list.item, size);
	else
		v->map.pair = memcpy(copy, v->map.pair, size);
	for (unsigned i = 0; !e && i < n; i++)
		e = render_value(s, v->kind == VAL_LIST ? &v->list.item[i] : &v->map.pair[i].value);
	return e;
}

/* Renders one variable after the other, so that an error can name it. */
static enum err render_each(struct variables *s, const struct val *variables, struct val *ret,
			    struct why *why)
{
	struct val all = *variables;
	if (all.kind != VAL_MAP)
		return why_set(why, E_INPUT, WHY_NOWHERE, "variables must be a map, not a %s",
			       val_kind_words[all.kind]);
	all.map.pair = arena_alloc(s->arena, (all.map.n + 1) * sizeof *all.map.pair);
	enum err e = all.map.pair ? OK : E_NOMEM;
	for (unsigned i = 0; !e && i < all.map.n; i++) {
		all.map.pair[i] = variables->map.pair[i];
		e = render_value(s, &all.map.pair[i].value);
		if (e && e != E_NOMEM)
			return why_set(why, e, WHY_NOWHERE, "variable %.*s: %s",
				       STR_SHORT(all.map.pair[i].key), s->why.text);
	}
	if (!e)
		*ret = all;
	return e;
}

/* An expr_env.find for all names except `variables`. */
static bool find_other(void *self, struct str name, struct expr_value *ret)
{
	const struct expr_env *env = self;
	return !str_eq(name, STR("variables")) && env->find && env->find(env->self, name, ret);
}

/* The names without `variables`. */
static enum err other_names(const struct expr_names *names, struct arena *a, struct expr_names *ret)
{
	struct str *name = arena_alloc(a, (names->n + 1) * sizeof *name);
	*ret = (struct expr_names){ name, 0 };
	for (unsigned i = 0; name && i < names->n; i++)
		if (!str_eq(names->name[i], STR("variables")))
			name[ret->n++] = names->name[i];
	return name ? OK : E_NOMEM;
}

enum err template_variables(const struct val *variables, const struct expr_env *env, struct arena *a,
			    struct val *ret, struct why *why)
{
	struct expr_env other = *env;
	struct expr_names names = { 0 };
	other.find = find_other;
	other.self = (void *)env;
	other.names = &names;
	struct variables s = { &other, a, RENDER_BUDGET, { 0 } };
	enum err e = env->names ? other_names(env->names, a, &names) : OK;
	return e ? e : render_each(&s, variables, ret, why);
}

bool template_looks_like(struct str text, const struct expr_names *names, struct str *ret)
{
	struct arena a = { 0 };
	bool found = false;
	unsigned looked_at = 0;
	for (size_t at = next_opening(text, 0), end;
	     !found && at < text.n && looked_at++ < TEMPLATE_EXPRS_MAX; at = next_opening(text, at + 2)) {
		const struct expr *e;
		found = !compile_inside(text, at, names, &a, &e, &end, NULL) && expr_has_names(e);
		if (found)
			*ret = str_sub(text, at, end);
		arena_reset(&a);
	}
	arena_free(&a);
	return found;
}
