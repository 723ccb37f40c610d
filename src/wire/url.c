/* Splits the target of a request, and decodes its percent escapes. */
#include "wire/url.h"

/* Decodes percent escapes and, with `plus`, + as a space. */
static enum err decode(struct str s, bool plus, struct arena *a, struct str *ret, struct why *why)
{
	char *out = arena_alloc(a, s.n + 1);
	size_t n = 0;
	if (!out)
		return E_NOMEM;
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (c == '+' && plus)
			c = ' ';
		if (c == '%') {
			int high = i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
			int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;
			if (low < 0 || high * 16 + low == 0)
				return why_set(why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' has a %% that does not begin a valid escape",
					       STR_SHORT(s));
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (!c)
			return why_set(why, E_INPUT, WHY_NOWHERE, "the path or the query has a zero byte");
		out[n++] = c;
	}
	*ret = (struct str){ out, n };
	return OK;
}

static size_t count_char(struct str s, char c)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == c;
	return n;
}

/* Removes the part before the next `c`, and the `c`, from the front of *rest. Returns the part. */
static struct str split_off(struct str *rest, char c)
{
	const char *end = rest->n ? memchr(rest->p, c, rest->n) : NULL;
	struct str part = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	*rest = str_from(*rest, end ? part.n + 1 : part.n);
	return part;
}

static enum err parse_path(struct str path, struct arena *a, struct url *u, struct why *why)
{
	struct str rest = str_from(path, 1);
	size_t n = rest.n ? count_char(rest, '/') + 1 : 0;
	if (n > HTTP_SEGMENTS_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the path has more than %d parts",
			       HTTP_SEGMENTS_MAX);
	u->segment = arena_alloc(a, (n + 1) * sizeof *u->segment);
	if (!u->segment)
		return E_NOMEM;
	for (; u->segments < n; u->segments++) {
		enum err e = decode(split_off(&rest, '/'), false, a, &u->segment[u->segments], why);
		if (e)
			return e;
	}
	return OK;
}

static enum err parse_query(struct str rest, struct arena *a, struct url *u, struct why *why)
{
	size_t n = rest.n ? count_char(rest, '&') + 1 : 0;
	if (n > HTTP_QUERY_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the query has more than %d values",
			       HTTP_QUERY_MAX);
	u->query = arena_alloc(a, (n + 1) * sizeof *u->query);
	if (!u->query)
		return E_NOMEM;
	while (rest.n) {
		struct str value = split_off(&rest, '&'), name = split_off(&value, '=');
		struct url_pair *q = &u->query[u->queries];
		if (!name.n && !value.n)
			continue;
		enum err e = decode(name, true, a, &q->name, why);
		if (!e)
			e = decode(value, true, a, &q->value, why);
		if (e)
			return e;
		u->queries++;
	}
	return OK;
}

enum err url_parse(struct str target, struct arena *a, struct url *ret, struct why *why)
{
	struct url u = { 0 };
	struct str rest = target, path = split_off(&rest, '?');
	if (!path.n || path.p[0] != '/')
		return why_set(why, E_INPUT, WHY_NOWHERE, "'%.*s' is not a path; a path begins with a slash",
			       STR_SHORT(path));
	for (size_t i = 0; i < target.n; i++)
		if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 127)
			return why_set(
				why, E_INPUT, WHY_NOWHERE,
				"'%.*s' has a space or a control character; encode it (a space is %%20)",
				STR_SHORT(target));
	u.path = path;
	enum err e = parse_path(path, a, &u, why);
	if (!e)
		e = parse_query(rest, a, &u, why);
	if (!e)
		*ret = u;
	return e;
}
