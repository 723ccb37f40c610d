#include "base/utf8.h"
#include "core/expr/code.h"

static struct expr_value size(struct machine *m, const struct function *f, const struct expr_value *arg,
			      unsigned n)
{
	struct expr_value v = { .kind = EXPR_INT };
	assert(n == 1);
	switch (arg->kind) {
	case EXPR_STRING: /* in code points */
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
		return expr_error(m, "%s() is of a string, bytes, a list or a map, not of %s", f->name,
				  expr_kind_words[arg->kind]);
	}
}

static bool starts(struct str s, struct str part)
{
	return str_starts(s, part);
}

static bool ends(struct str s, struct str part)
{
	return part.n <= s.n && str_eq(str_from(s, s.n - part.n), part);
}

static bool contains(struct str s, struct str part)
{
	return part.n == 0 || (part.n <= s.n && memmem(s.p, s.n, part.p, part.n));
}

enum { TEXT_STARTS, TEXT_ENDS, TEXT_CONTAINS };

static struct expr_value text(struct machine *m, const struct function *f, const struct expr_value *arg,
			      unsigned n)
{
	static bool (*const test[])(struct str s, struct str part) = { starts, ends, contains };
	assert(n == 2);
	for (unsigned i = 0; i < n; i++)
		if (arg[i].kind != EXPR_STRING)
			return expr_error(m, "%s() is of strings, not of %s", f->name,
					  expr_kind_words[arg[i].kind]);
	if (!expr_spend(m, arg[0].str.n / 64 + arg[1].str.n / 64))
		return *arg;
	return (struct expr_value){ .kind = EXPR_BOOL, .boolean = test[f->part](arg[0].str, arg[1].str) };
}

const struct function expr_functions[] = {
	{ "size", true, true, 1, 1, size, 0 },
	{ "startsWith", false, true, 2, 2, text, TEXT_STARTS },
	{ "endsWith", false, true, 2, 2, text, TEXT_ENDS },
	{ "contains", false, true, 2, 2, text, TEXT_CONTAINS },
	{ "duration", true, false, 1, 1, expr_duration, 0 },
	{ "timestamp", true, false, 1, 1, expr_timestamp, 0 },
	{ "getFullYear", false, true, 1, 2, expr_part, PART_YEAR },
	{ "getMonth", false, true, 1, 2, expr_part, PART_MONTH },
	{ "getDate", false, true, 1, 2, expr_part, PART_DATE },
	{ "getDayOfMonth", false, true, 1, 2, expr_part, PART_DAY },
	{ "getDayOfWeek", false, true, 1, 2, expr_part, PART_WEEKDAY },
	{ "getDayOfYear", false, true, 1, 2, expr_part, PART_YEARDAY },
	{ "getHours", false, true, 1, 2, expr_part, PART_HOURS },
	{ "getMinutes", false, true, 1, 2, expr_part, PART_MINUTES },
	{ "getSeconds", false, true, 1, 2, expr_part, PART_SECONDS },
	{ "getMilliseconds", false, true, 1, 2, expr_part, PART_MILLIS },
	{ 0 },
};
