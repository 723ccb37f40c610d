/* The table of functions, and the functions that do not work on times. */
#include "core/expr/code.h"

static struct expr_value call_size(struct expr_machine *m, const struct expr_function *f,
				   const struct expr_value *arg, unsigned n)
{
	struct expr_value v = { .kind = EXPR_INT };
	assert(n == 1);
	switch (arg->kind) {
	case EXPR_STRING: /* counts code points */
		if (!expr_spend(m, arg->str.n / 64))
			return *arg;
		for (size_t i = 0; i < arg->str.n; i++)
			v.integer += ((unsigned char)arg->str.p[i] & 0xC0) != 0x80;
		return v;
	case EXPR_BYTES:
		v.integer = (int64_t)arg->str.n;
		return v;
	case EXPR_LIST:
	case EXPR_MAP:
		v.integer = arg->n;
		return v;
	default:
		return expr_error(m, "%s() takes a string, bytes, a list or a map, not %s", f->name,
				  expr_kind_words[arg->kind]);
	}
}

static bool text_ends(struct str s, struct str part)
{
	return part.n <= s.n && str_eq(str_from(s, s.n - part.n), part);
}

static bool text_contains(struct str s, struct str part)
{
	return part.n == 0 || (part.n <= s.n && memmem(s.p, s.n, part.p, part.n));
}

enum { TEXT_STARTS, TEXT_ENDS, TEXT_CONTAINS };

static struct expr_value call_text(struct expr_machine *m, const struct expr_function *f,
				   const struct expr_value *arg, unsigned n)
{
	static bool (*const test[])(struct str s, struct str part) = { str_starts, text_ends, text_contains };
	assert(n == 2);
	for (unsigned i = 0; i < n; i++)
		if (arg[i].kind != EXPR_STRING)
			return expr_error(m, "%s() takes strings, not %s", f->name,
					  expr_kind_words[arg[i].kind]);
	if (!expr_spend(m, arg[0].str.n / 64 + arg[1].str.n / 64))
		return *arg;
	return (struct expr_value){ .kind = EXPR_BOOL, .boolean = test[f->part](arg[0].str, arg[1].str) };
}

const struct expr_function expr_functions[] = {
	{ "size", true, true, 1, 1, call_size, 0 },
	{ "startsWith", false, true, 2, 2, call_text, TEXT_STARTS },
	{ "endsWith", false, true, 2, 2, call_text, TEXT_ENDS },
	{ "contains", false, true, 2, 2, call_text, TEXT_CONTAINS },
	{ "duration", true, false, 1, 1, expr_duration, 0 },
	{ "timestamp", true, false, 1, 1, expr_timestamp, 0 },
	{ "getFullYear", false, true, 1, 2, expr_time_part, TIME_YEAR },
	{ "getMonth", false, true, 1, 2, expr_time_part, TIME_MONTH },
	{ "getDate", false, true, 1, 2, expr_time_part, TIME_DATE },
	{ "getDayOfMonth", false, true, 1, 2, expr_time_part, TIME_DAY },
	{ "getDayOfWeek", false, true, 1, 2, expr_time_part, TIME_WEEKDAY },
	{ "getDayOfYear", false, true, 1, 2, expr_time_part, TIME_YEARDAY },
	{ "getHours", false, true, 1, 2, expr_time_part, TIME_HOURS },
	{ "getMinutes", false, true, 1, 2, expr_time_part, TIME_MINUTES },
	{ "getSeconds", false, true, 1, 2, expr_time_part, TIME_SECONDS },
	{ "getMilliseconds", false, true, 1, 2, expr_time_part, TIME_MILLIS },
	{ 0 },
};
