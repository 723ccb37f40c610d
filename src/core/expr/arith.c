/* Arithmetic: numbers, texts, lists, times. */
#include "core/expr/code.h"

static const char *const marks[DO_COUNT] = {
	[DO_ADD] = "+", [DO_SUB] = "-", [DO_MUL] = "*", [DO_DIV] = "/", [DO_MOD] = "%",
};

/* True: the result does not fit. The caller makes sure that no divisor is 0. */
static bool int_overflows(enum expr_op op, int64_t a, int64_t b, int64_t *ret)
{
	bool edge = a == INT64_MIN && b == -1;
	switch (op) {
	case DO_ADD:
		return __builtin_add_overflow(a, b, ret);
	case DO_SUB:
		return __builtin_sub_overflow(a, b, ret);
	case DO_MUL:
		return __builtin_mul_overflow(a, b, ret);
	case DO_DIV:
		*ret = edge ? 0 : a / b;
		return edge;
	default:
		*ret = edge ? 0 : a % b;
		return edge;
	}
}

static bool uint_overflows(enum expr_op op, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (op) {
	case DO_ADD:
		return __builtin_add_overflow(a, b, ret);
	case DO_SUB:
		return __builtin_sub_overflow(a, b, ret);
	case DO_MUL:
		return __builtin_mul_overflow(a, b, ret);
	case DO_DIV:
		*ret = a / b;
		return false;
	default:
		*ret = a % b;
		return false;
	}
}

/* As in CEL, 1.0 / 0.0 is infinity, not an error. */
#if defined(__clang__)
__attribute__((no_sanitize("float-divide-by-zero")))
#endif
static double
real_result(enum expr_op op, double a, double b)
{
	return op == DO_ADD ? a + b : op == DO_SUB ? a - b : op == DO_MUL ? a * b : a / b;
}

static struct expr_value join_strings(struct expr_machine *m, const struct expr_value *a,
				      const struct expr_value *b)
{
	size_t n = a->str.n + b->str.n;
	char *p = expr_spend(m, n / 64) ? expr_alloc(m, n + 1) : NULL;
	if (!p)
		return *a;
	if (a->str.n)
		memcpy(p, a->str.p, a->str.n);
	if (b->str.n)
		memcpy(p + a->str.n, b->str.p, b->str.n);
	return (struct expr_value){ .kind = a->kind, .str = { p, n } };
}

static struct expr_value join_lists(struct expr_machine *m, const struct expr_value *a,
				    const struct expr_value *b)
{
	unsigned n = a->n + b->n;
	struct expr_value *item = expr_spend(m, n) ? expr_alloc(m, n * sizeof *item) : NULL;
	if (!item)
		return *a;
	for (unsigned i = 0; i < n; i++)
		item[i] = i < a->n ? expr_item(a, i) : expr_item(b, i - a->n);
	return (struct expr_value){ .kind = EXPR_LIST, .n = n, .item = item };
}

static struct expr_value no_overload(struct expr_machine *m, enum expr_op op, const struct expr_value *a,
				     const struct expr_value *b)
{
	bool mixed = a->kind >= EXPR_INT && a->kind <= EXPR_DOUBLE && b->kind >= EXPR_INT &&
		     b->kind <= EXPR_DOUBLE;
	bool text = op == DO_ADD && (a->kind == EXPR_STRING || b->kind == EXPR_STRING);
	return expr_error(m, "%s %s %s is not defined%s", expr_kind_words[a->kind], marks[op],
			  expr_kind_words[b->kind],
			  mixed && a->kind != b->kind
				  ? "; both must be of the same kind: 2.0 is a double, 2 an int, 2u a uint"
			  : text ? "; to join text, use a template: {{ a }} {{ b }}"
				 : "");
}

/* Sums and differences of timestamps and durations. */
static struct expr_value time_result(struct expr_machine *m, enum expr_op op, const struct expr_value *a,
				     const struct expr_value *b)
{
	bool minus = op == DO_SUB;
	if (a->kind == EXPR_TIMESTAMP && b->kind == EXPR_DURATION)
		return expr_shift_time(m, a, b->duration, minus);
	if (a->kind == EXPR_DURATION && b->kind == EXPR_TIMESTAMP && !minus)
		return expr_shift_time(m, b, a->duration, false);
	struct expr_value v = { .kind = EXPR_DURATION };
	bool over = false;
	if (a->kind == EXPR_DURATION && b->kind == EXPR_DURATION) {
		over = int_overflows(op, a->duration, b->duration, &v.duration);
	} else if (a->kind == EXPR_TIMESTAMP && b->kind == EXPR_TIMESTAMP && minus) {
		over = __builtin_mul_overflow(a->time.seconds - b->time.seconds, NANOS, &v.duration) ||
		       __builtin_add_overflow(v.duration, a->time.nanos - b->time.nanos, &v.duration);
	} else {
		return no_overload(m, op, a, b);
	}
	return over ? expr_error(m, "the duration is out of range: at most 292 years") : v;
}

struct expr_value expr_arithmetic(struct expr_machine *m, enum expr_op op, const struct expr_value *a,
				  const struct expr_value *b)
{
	bool over = false, divides = op == DO_DIV || op == DO_MOD, sum = op == DO_ADD || op == DO_SUB;
	struct expr_value v = { .kind = a->kind };
	if (sum && (a->kind == EXPR_TIMESTAMP || a->kind == EXPR_DURATION))
		return time_result(m, op, a, b);
	if (a->kind != b->kind)
		return no_overload(m, op, a, b);
	switch (a->kind) {
	case EXPR_INT:
	case EXPR_UINT:
		if (divides && a->kind == EXPR_INT ? !b->integer : divides && !b->whole)
			return expr_error(m, op == DO_DIV ? "division by zero"
							  : "remainder of a division by zero");
		over = a->kind == EXPR_INT ? int_overflows(op, a->integer, b->integer, &v.integer)
					   : uint_overflows(op, a->whole, b->whole, &v.whole);
		if (over)
			return expr_error(m, "the result does not fit a 64-bit %s", expr_kind_words[a->kind]);
		return v;
	case EXPR_DOUBLE:
		if (op == DO_MOD)
			break;
		v.real = real_result(op, a->real, b->real);
		return v;
	case EXPR_STRING:
	case EXPR_BYTES:
		if (op == DO_ADD)
			return join_strings(m, a, b);
		break;
	case EXPR_LIST:
		if (op == DO_ADD)
			return join_lists(m, a, b);
		break;
	default:
		break;
	}
	return no_overload(m, op, a, b);
}
