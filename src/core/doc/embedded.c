#include "core/doc/embedded.h"

/* The next "{{" from `from` on. */
static bool find(struct str text, const char pair[2], size_t from, size_t *ret)
{
	for (size_t i = from; i + 1 < text.n; i++)
		if (text.p[i] == pair[0] && text.p[i + 1] == pair[1]) {
			*ret = i;
			return true;
		}
	return false;
}

/* One template; `inner` is what is between the braces. */
static bool next(struct str text, size_t from, size_t *at, struct str *inner)
{
	size_t end;
	if (!find(text, "{{", from, at))
		return false;
	bool closed = find(text, "}}", *at + 2, &end);
	*inner = closed ? str_sub(text, *at + 2, end) : (struct str){ 0 };
	return true;
}

enum err embedded_condition(struct str text, struct arena *a, struct why *why)
{
	(void)a;
	if (text.n > EXPR_BYTES_MAX)
		return why_set(why, E_LIMIT, EXPR_BYTES_MAX, "an expression has at most %d bytes",
			       EXPR_BYTES_MAX);
	return OK;
}

enum err embedded_template(struct str text, struct arena *a, bool *any, struct why *why)
{
	size_t at = 0;
	struct str inner;
	(void)a;
	*any = false;
	for (size_t from = 0; next(text, from, &at, &inner);
	     from = (size_t)(inner.p - text.p) + inner.n + 2) {
		*any = true;
		if (!inner.p)
			return why_set(why, E_INPUT, at, "'{{' has no '}}'");
		if (!str_trim(inner).n)
			return why_set(why, E_INPUT, at, "a template is empty: '{{ }}'");
	}
	return OK;
}

static bool is_in_scope(struct str name)
{
	static const char *const names[] = { "schedule", "agent",     "user", "memory", "variables",  "run",
					     "previous", "timestamp", "date", "time",   "day_of_week" };
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

struct str embedded_in_scope(struct str text)
{
	size_t at = 0;
	struct str inner;
	for (size_t from = 0; next(text, from, &at, &inner) && inner.p;
	     from = (size_t)(inner.p - text.p) + inner.n + 2) {
		struct str word = str_trim(inner);
		size_t n = 0;
		while (n < word.n && (is_alpha(word.p[n]) || is_digit(word.p[n]) || word.p[n] == '_'))
			n++;
		if (is_in_scope(str_sub(word, 0, n)))
			return str_sub(text, at, (size_t)(inner.p - text.p) + inner.n + 2);
	}
	return (struct str){ 0 };
}
