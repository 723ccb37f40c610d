/* Values: made from JSON and times, ordered, compared for equality. */
#include "core/expr/code.h"

const char *const expr_kind_words[] = {
	[EXPR_NULL] = "null",           [EXPR_BOOL] = "bool",         [EXPR_INT] = "int",
	[EXPR_UINT] = "uint",           [EXPR_DOUBLE] = "double",     [EXPR_STRING] = "string",
	[EXPR_BYTES] = "bytes",         [EXPR_LIST] = "list",         [EXPR_MAP] = "map",
	[EXPR_TIMESTAMP] = "timestamp", [EXPR_DURATION] = "duration", [EXPR_ERROR] = "error",
};

struct expr_value expr_of(const struct val *v)
{
	switch (v->kind) {
	case VAL_BOOL:
		return (struct expr_value){ .kind = EXPR_BOOL, .boolean = v->boolean };
	case VAL_INT:
		return (struct expr_value){ .kind = EXPR_INT, .integer = v->integer };
	case VAL_FLOAT:
		return (struct expr_value){ .kind = EXPR_DOUBLE, .real = v->real };
	case VAL_STR:
		return (struct expr_value){ .kind = EXPR_STRING, .str = v->str };
	case VAL_LIST:
		return (struct expr_value){ .kind = EXPR_LIST, .n = v->list.n, .val = v };
	case VAL_MAP:
		return (struct expr_value){ .kind = EXPR_MAP, .n = v->map.n, .val = v };
	default:
		return (struct expr_value){ .kind = EXPR_NULL };
	}
}

struct expr_value expr_of_wall(struct wall w)
{
	int64_t s = wall_seconds(w);
	return (struct expr_value){ .kind = EXPR_TIMESTAMP,
				    .time = { s, (int32_t)(w.us - s * USEC) * 1000 } };
}

struct expr_value expr_item(const struct expr_value *list, unsigned i)
{
	assert(list->kind == EXPR_LIST && i < list->n);
	return list->val ? expr_of(&list->val->list.item[i]) : list->item[i];
}

struct expr_pair expr_pair(const struct expr_value *map, unsigned i)
{
	assert(map->kind == EXPR_MAP && i < map->n);
	if (!map->val)
		return map->pair[i];
	const struct val_pair *p = &map->val->map.pair[i];
	return (struct expr_pair){ { .kind = EXPR_STRING, .str = p->key }, expr_of(&p->value) };
}

/* --- order --- */

static enum expr_order order(bool less, bool greater)
{
	return less ? ORDER_LESS : greater ? ORDER_GREATER : ORDER_EQUAL;
}

static bool is_number(const struct expr_value *v)
{
	return v->kind == EXPR_INT || v->kind == EXPR_UINT || v->kind == EXPR_DOUBLE;
}

static double as_double(const struct expr_value *v)
{
	return v->kind == EXPR_INT ? (double)v->integer : v->kind == EXPR_UINT ? (double)v->whole : v->real;
}

/* If one is a double, both are compared as doubles, as CEL's conformance tests require: ints beyond 2^53 are
 * rounded. */
static enum expr_order number_order(const struct expr_value *a, const struct expr_value *b)
{
	if (a->kind == EXPR_DOUBLE || b->kind == EXPR_DOUBLE) {
		double x = as_double(a), y = as_double(b);
		return x != x || y != y ? ORDER_NONE : order(x<y, x> y);
	}
	bool a_minus = a->kind == EXPR_INT && a->integer < 0, b_minus = b->kind == EXPR_INT && b->integer < 0;
	if (a_minus != b_minus)
		return order(a_minus, b_minus);
	/* With the same sign the order is that of the bits. */
	uint64_t x = a->kind == EXPR_INT ? (uint64_t)a->integer : a->whole;
	uint64_t y = b->kind == EXPR_INT ? (uint64_t)b->integer : b->whole;
	return order(x<y, x> y);
}

/* The order of bytes, which in UTF-8 is that of code points. */
static enum expr_order string_order(struct str a, struct str b)
{
	int c = str_cmp(a, b);
	return order(c<0, c> 0);
}

enum expr_order expr_compare(const struct expr_value *a, const struct expr_value *b, bool *fits)
{
	*fits = true;
	if (is_number(a) && is_number(b))
		return number_order(a, b);
	if (a->kind == b->kind)
		switch (a->kind) {
		case EXPR_BOOL:
			return order(a->boolean<b->boolean, a->boolean> b->boolean);
		case EXPR_STRING:
		case EXPR_BYTES:
			return string_order(a->str, b->str);
		case EXPR_DURATION:
			return order(a->duration<b->duration, a->duration> b->duration);
		case EXPR_TIMESTAMP:
			if (a->time.seconds != b->time.seconds)
				return order(a->time.seconds < b->time.seconds, true);
			return order(a->time.nanos<b->time.nanos, a->time.nanos> b->time.nanos);
		default:
			break;
		}
	*fits = false;
	return ORDER_NONE;
}

/* --- equality --- */

static bool lists_equal(struct expr_machine *m, const struct expr_value *a, const struct expr_value *b)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct expr_value x = expr_item(a, i), y = expr_item(b, i);
		if (!expr_equal(m, &x, &y))
			return false;
	}
	return true;
}

static bool maps_equal(struct expr_machine *m, const struct expr_value *a, const struct expr_value *b)
{
	for (unsigned i = 0; i < a->n; i++) {
		struct expr_pair p = expr_pair(a, i);
		struct expr_value y;
		if (!expr_lookup(m, b, &p.key, &y) || !expr_equal(m, &p.value, &y))
			return false;
	}
	return true;
}

/* Values of different kinds are never equal, except numbers. */
bool expr_equal(struct expr_machine *m, const struct expr_value *a, const struct expr_value *b)
{
	bool text = a->kind == b->kind && (a->kind == EXPR_STRING || a->kind == EXPR_BYTES);
	if (text && a->str.n != b->str.n)
		return false;
	if (!expr_spend(m, text ? 1 + a->str.n / 64 : 1))
		return false;
	if (a->kind == b->kind && a->kind == EXPR_NULL)
		return true;
	if (a->kind == b->kind && (a->kind == EXPR_LIST || a->kind == EXPR_MAP))
		return a->n == b->n && (a->kind == EXPR_LIST ? lists_equal : maps_equal)(m, a, b);
	bool fits;
	return expr_compare(a, b, &fits) == ORDER_EQUAL;
}

bool expr_lookup(struct expr_machine *m, const struct expr_value *map, const struct expr_value *key,
		 struct expr_value *ret)
{
	if (map->val) {
		const struct val *v = NULL;
		if (key->kind == EXPR_STRING && expr_spend(m, 1 + map->n))
			v = val_get(map->val, key->str);
		if (v)
			*ret = expr_of(v);
		return v;
	}
	for (unsigned i = 0; i < map->n; i++)
		if (expr_equal(m, &map->pair[i].key, key)) {
			*ret = map->pair[i].value;
			return true;
		}
	return false;
}
