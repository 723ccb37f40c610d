/* The stack machine: it runs compiled expressions within their budget. An operand without a value is an
 * EXPR_ERROR, which becomes the error of the expression only if the result depends on it. */
#include "core/expr/code.h"

#include <stdarg.h>
#include <stdio.h>

/* --- the budget --- */

bool expr_spend(struct expr_machine *m, size_t steps)
{
	if (m->stop)
		return false;
	if (steps <= m->budget->steps) {
		m->budget->steps -= steps;
		return true;
	}
	m->budget->steps = 0;
	m->stop = E_LIMIT;
	return false;
}

void *expr_alloc(struct expr_machine *m, size_t size)
{
	if (m->stop)
		return NULL;
	void *p = NULL;
	if (size > m->budget->bytes) {
		m->stop = E_LIMIT;
	} else {
		m->budget->bytes -= size;
		p = arena_alloc(m->arena, size);
		m->stop = p ? OK : E_NOMEM;
	}
	return p;
}

struct expr_value expr_error(struct expr_machine *m, const char *fmt, ...)
{
	struct why *w = expr_alloc(m, sizeof *w);
	char text[WHY_TEXT_MAX];
	if (w) {
		va_list ap;
		va_start(ap, fmt);
		vsnprintf(text, sizeof text, fmt, ap);
		va_end(ap);
		why_write(w, m->at, "%s", text);
	}
	return (struct expr_value){ .kind = EXPR_ERROR, .error = w };
}

/* --- operations --- */

static struct expr_value boolean(bool b)
{
	return (struct expr_value){ .kind = EXPR_BOOL, .boolean = b };
}

/* Calls expr_near; its cost counts against the budget. */
static const char *near_name(struct expr_machine *m, struct str s, const struct expr_names *names)
{
	return expr_spend(m, NEAR_NAMES_MAX * NEAR_NAMES_MAX / 4) ? expr_near(s, names, m->arena) : "";
}

static struct expr_value name_value(struct expr_machine *m, struct str s)
{
	struct expr_value v;
	if (m->env->find && m->env->find(m->env->self, s, &v))
		return v;
	if (str_eq(s, STR("now")))
		return expr_of_wall(m->env->now);
	for (unsigned i = 0; m->env->names && i < m->env->names->n; i++)
		if (str_eq(s, m->env->names->name[i]))
			return expr_error(m, "'%.*s' has no value here", STR_SHORT(s));
	return expr_error(m, "'%.*s' is not a name in scope%s", STR_SHORT(s), near_name(m, s, m->env->names));
}

/* The error about a missing field, with the nearest one. */
static struct expr_value missing_field(struct expr_machine *m, const struct expr_value *map, struct str s)
{
	struct str key[NEAR_NAMES_MAX];
	struct expr_names names = { key, 0 };
	for (unsigned i = 0; i < map->n && i < NEAR_NAMES_MAX; i++) {
		struct expr_value k = expr_pair(map, i).key;
		if (k.kind == EXPR_STRING)
			key[names.n++] = k.str;
	}
	return expr_error(m, "there is no field '%.*s'%s", STR_SHORT(s), near_name(m, s, &names));
}

static struct expr_value field_value(struct expr_machine *m, const struct expr_value *v,
				     const struct expr_value *key, bool ask)
{
	struct expr_value found;
	if (v->kind != EXPR_MAP)
		return expr_error(m, "%s has no field '%.*s'; only maps have fields",
				  expr_kind_words[v->kind], STR_SHORT(key->str));
	bool there = expr_lookup(m, v, key, &found);
	if (ask)
		return boolean(there);
	return there ? found : missing_field(m, v, key->str);
}

static struct expr_value list_item(struct expr_machine *m, const struct expr_value *list,
				   const struct expr_value *key)
{
	bool fits;
	struct expr_value end = { .kind = EXPR_UINT, .whole = list->n }, zero = { .kind = EXPR_INT };
	if (key->kind != EXPR_INT && key->kind != EXPR_UINT && key->kind != EXPR_DOUBLE)
		return expr_error(m, "a list's index must be a number, not %s", expr_kind_words[key->kind]);
	if (expr_compare(key, &end, &fits) != ORDER_LESS || expr_compare(&zero, key, &fits) == ORDER_GREATER)
		return expr_error(m, "the index is outside the list, which has %u items", list->n);
	unsigned i = key->kind == EXPR_INT    ? (unsigned)key->integer
		     : key->kind == EXPR_UINT ? (unsigned)key->whole
					      : (unsigned)key->real;
	if (key->kind == EXPR_DOUBLE && key->real != (double)i)
		return expr_error(m, "a list's index must be a whole number");
	return expr_item(list, i);
}

static struct expr_value index_value(struct expr_machine *m, const struct expr_value *v,
				     const struct expr_value *key)
{
	struct expr_value found;
	if (v->kind == EXPR_LIST)
		return list_item(m, v, key);
	if (v->kind != EXPR_MAP)
		return expr_error(m, "%s has no items; only lists and maps have items",
				  expr_kind_words[v->kind]);
	if (expr_lookup(m, v, key, &found))
		return found;
	return key->kind == EXPR_STRING ? missing_field(m, v, key->str)
					: expr_error(m, "the map has no such key");
}

static struct expr_value is_in(struct expr_machine *m, const struct expr_value *v,
			       const struct expr_value *all)
{
	struct expr_value found;
	if (all->kind == EXPR_MAP)
		return boolean(expr_lookup(m, all, v, &found));
	if (all->kind != EXPR_LIST)
		return expr_error(m, "the right side of 'in' must be a list or a map, not %s",
				  expr_kind_words[all->kind]);
	for (unsigned i = 0; i < all->n; i++) {
		found = expr_item(all, i);
		if (expr_equal(m, v, &found))
			return boolean(true);
	}
	return boolean(false);
}

static struct expr_value compare_values(struct expr_machine *m, enum expr_op op, const struct expr_value *a,
					const struct expr_value *b)
{
	bool fits;
	if (a->kind == EXPR_STRING && !expr_spend(m, a->str.n / 64))
		return *a;
	enum expr_order o = expr_compare(a, b, &fits);
	if (!fits)
		return expr_error(m, "%s and %s have no order", expr_kind_words[a->kind],
				  expr_kind_words[b->kind]);
	return boolean(op == DO_LT   ? o == ORDER_LESS
		       : op == DO_LE ? o == ORDER_LESS || o == ORDER_EQUAL
		       : op == DO_GT ? o == ORDER_GREATER
				     : o == ORDER_GREATER || o == ORDER_EQUAL);
}

static struct expr_value negate(struct expr_machine *m, const struct expr_value *v)
{
	if (v->kind == EXPR_DOUBLE)
		return (struct expr_value){ .kind = EXPR_DOUBLE, .real = -v->real };
	if (v->kind != EXPR_INT)
		return expr_error(m, "'-' needs an int or a double, not %s", expr_kind_words[v->kind]);
	if (v->integer == INT64_MIN)
		return expr_error(m, "the result does not fit a 64-bit int");
	return (struct expr_value){ .kind = EXPR_INT, .integer = -v->integer };
}

static struct expr_value make_list(struct expr_machine *m, const struct expr_value *item, unsigned n)
{
	struct expr_value *copy = expr_spend(m, n) ? expr_alloc(m, n * sizeof *copy) : NULL;
	if (copy && n)
		memcpy(copy, item, n * sizeof *copy);
	return (struct expr_value){ .kind = EXPR_LIST, .n = n, .item = copy };
}

static struct expr_value make_map(struct expr_machine *m, const struct expr_value *item, unsigned n)
{
	struct expr_pair *pair = expr_spend(m, n) ? expr_alloc(m, n * sizeof *pair) : NULL;
	struct expr_value v = { .kind = EXPR_MAP, .pair = pair }, found;
	for (; pair && v.n < n; v.n++) {
		const struct expr_value *key = &item[v.n * 2];
		if (key->kind != EXPR_STRING && key->kind != EXPR_INT && key->kind != EXPR_UINT &&
		    key->kind != EXPR_BOOL)
			return expr_error(m, "a key must be a string, int, uint or bool, not %s",
					  expr_kind_words[key->kind]);
		if (expr_lookup(m, &v, key, &found))
			return expr_error(m, "a key of the map is given twice");
		pair[v.n] = (struct expr_pair){ *key, key[1] };
	}
	return v;
}

/* && and ||: the deciding value (false for &&, true for ||) on either side gives the result, even if the
 * other side is an error. */
static struct expr_value logical(struct expr_machine *m, bool decides, const struct expr_value *a,
				 const struct expr_value *b)
{
	const struct expr_value *side[] = { a, b };
	for (unsigned i = 0; i < 2; i++)
		if (side[i]->kind == EXPR_BOOL && side[i]->boolean == decides)
			return boolean(decides);
	for (unsigned i = 0; i < 2; i++)
		if (side[i]->kind == EXPR_ERROR)
			return *side[i];
	for (unsigned i = 0; i < 2; i++)
		if (side[i]->kind != EXPR_BOOL)
			return expr_error(m, "'%s' needs bools, not %s", decides ? "||" : "&&",
					  expr_kind_words[side[i]->kind]);
	return boolean(!decides);
}

/* --- the machine --- */

/* How many operands an instruction pops; it pushes one value. */
static unsigned operands(const struct instruction *i)
{
	static const uint8_t fixed[DO_COUNT] = {
		[DO_SELECT] = 1, [DO_HAS] = 1, [DO_INDEX] = 2, [DO_NOT] = 1, [DO_NEGATE] = 1,
		[DO_EQ] = 2,     [DO_NE] = 2,  [DO_LT] = 2,    [DO_LE] = 2,  [DO_GT] = 2,
		[DO_GE] = 2,     [DO_IN] = 2,  [DO_ADD] = 2,   [DO_SUB] = 2, [DO_MUL] = 2,
		[DO_DIV] = 2,    [DO_MOD] = 2, [DO_AND] = 2,   [DO_OR] = 2,
	};
	return i->op == DO_LIST                          ? i->arg
	       : i->op == DO_MAP                         ? i->arg * 2
	       : i->op == DO_CALL || i->op == DO_UNKNOWN ? i->argc
							 : fixed[i->op];
}

static struct expr_value run_operation(struct expr_machine *m, const struct expr *e,
				       const struct instruction *i, const struct expr_value *v, unsigned n)
{
	bool has_constant = i->op <= DO_HAS || i->op == DO_UNKNOWN;
	const struct expr_value *constant = has_constant ? &e->constant[i->arg] : NULL;
	const struct expr_function *f = i->op == DO_CALL ? &expr_functions[i->arg] : NULL;
	if (i->op == DO_AND || i->op == DO_OR)
		return logical(m, i->op == DO_OR, &v[0], &v[1]);
	for (unsigned k = 0; k < n; k++)
		if (v[k].kind == EXPR_ERROR)
			return v[k];
	switch (i->op) {
	case DO_CONST:
		return *constant;
	case DO_NAME:
		return name_value(m, constant->str);
	case DO_SELECT:
	case DO_HAS:
		return field_value(m, v, constant, i->op == DO_HAS);
	case DO_INDEX:
		return index_value(m, &v[0], &v[1]);
	case DO_LIST:
		return make_list(m, v, n);
	case DO_MAP:
		return make_map(m, v, i->arg);
	case DO_NOT:
		return v->kind == EXPR_BOOL
			       ? boolean(!v->boolean)
			       : expr_error(m, "'!' needs a bool, not %s", expr_kind_words[v->kind]);
	case DO_NEGATE:
		return negate(m, v);
	case DO_EQ:
	case DO_NE:
		return boolean(expr_equal(m, &v[0], &v[1]) == (i->op == DO_EQ));
	case DO_IN:
		return is_in(m, &v[0], &v[1]);
	case DO_CALL:
		return f->call(m, f, v, n);
	case DO_UNKNOWN:
		return expr_error(m, "%s", expr_unknown_function(constant->str, m->arena));
	default:
		return i->op < DO_ADD ? compare_values(m, (enum expr_op)i->op, &v[0], &v[1])
				      : expr_arithmetic(m, (enum expr_op)i->op, &v[0], &v[1]);
	}
}

/* The instruction that a jump leads to; DO_BRANCH may pop the top. */
static unsigned jump_target(struct expr_machine *m, const struct instruction *i, unsigned here,
			    struct expr_value *stack, unsigned *height)
{
	struct expr_value *top = *height ? &stack[*height - 1] : NULL;
	bool known = top && top->kind == EXPR_BOOL;
	switch (i->op) {
	case DO_JUMP:
		return i->arg;
	case DO_IF_FALSE:
		return known && !top->boolean ? i->arg : here + 1;
	case DO_IF_TRUE:
		return known && top->boolean ? i->arg : here + 1;
	default: /* DO_BRANCH */
		assert(top);
		if (known) {
			--*height;
			return top->boolean ? here + 1 : i->arg;
		}
		if (top->kind != EXPR_ERROR)
			*top = expr_error(m, "the condition before '?' must be a bool, not %s",
					  expr_kind_words[top->kind]);
		return i->arg - 1;
	}
}

enum err expr_run(const struct expr *e, const struct expr_env *env, struct arena *a,
		  struct expr_budget *budget, struct expr_value *ret, struct why *why)
{
	struct expr_machine m = { .env = env, .arena = a, .budget = budget };
	struct expr_value *stack = expr_alloc(&m, e->stack * sizeof *stack);
	unsigned height = 0, at = 0;
	while (at < e->n && expr_spend(&m, 1)) {
		const struct instruction *i = &e->code[at];
		m.at = i->at;
		if (i->op == DO_JUMP || i->op == DO_IF_FALSE || i->op == DO_IF_TRUE || i->op == DO_BRANCH) {
			at = jump_target(&m, i, at, stack, &height);
			continue;
		}
		unsigned n = operands(i);
		assert(n <= height && height - n < e->stack);
		height -= n;
		stack[height] = run_operation(&m, e, i, &stack[height], n);
		height++;
		at++;
	}
	if (m.stop == E_LIMIT)
		return why_set(why, E_VALUE, m.at,
			       "the expression needs too much work: at most %d steps and %d MiB",
			       CEL_STEPS_MAX, CEL_MEMORY_MAX >> 20);
	if (m.stop)
		return m.stop;
	assert(height == 1);
	if (stack[0].kind == EXPR_ERROR)
		return why_set(why, E_VALUE, stack[0].error->at, "%s", stack[0].error->text);
	*ret = stack[0];
	return OK;
}

/* --- the API --- */

bool expr_find_in(void *map, struct str name, struct expr_value *ret)
{
	const struct val *v = val_get(map, name);
	if (v)
		*ret = expr_of(v);
	return v;
}

enum err expr_eval(const struct expr *e, const struct expr_env *env, struct arena *a, struct expr_value *ret,
		   struct why *why)
{
	struct expr_budget budget = { CEL_STEPS_MAX, CEL_MEMORY_MAX };
	return expr_run(e, env, a, &budget, ret, why);
}

bool expr_holds(const struct expr *e, const struct expr_env *env, struct arena *a, struct why *why)
{
	struct expr_value v;
	*why = (struct why){ .at = WHY_NOWHERE };
	enum err err = expr_eval(e, env, a, &v, why);
	if (!err && v.kind != EXPR_BOOL)
		why_write(why, 0, "a condition must be true or false, not %s", expr_kind_words[v.kind]);
	else if (err && !why->text[0])
		why_write(why, WHY_NOWHERE, "%s", err_table[err].title);
	return !err && v.kind == EXPR_BOOL && v.boolean;
}
