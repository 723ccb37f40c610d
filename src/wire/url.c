#include "wire/url.h"

static int hex(char c)
{
	if (is_digit(c))
		return c - '0';
	c = to_lower(c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

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
			int high = i + 2 < s.n ? hex(s.p[i + 1]) : -1;
			int low = high >= 0 ? hex(s.p[i + 2]) : -1;
			if (low < 0 || high * 16 + low == 0)
				return why_set(why, E_INPUT, WHY_NOWHERE,
					       "'%.*s' has a %% that begins no escape of a character",
					       STR_SHORT(s));
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (!c)
			return why_set(why, E_INPUT, WHY_NOWHERE, "there is a zero byte in the address");
		out[n++] = c;
	}
	*ret = (struct str){ out, n };
	return OK;
}

static size_t count(struct str s, char c)
{
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++)
		n += s.p[i] == c;
	return n;
}

/* Takes what is before the next `c` off the front of *rest. */
static struct str cut(struct str *rest, char c)
{
	const char *end = rest->n ? memchr(rest->p, c, rest->n) : NULL;
	struct str part = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	*rest = str_from(*rest, end ? part.n + 1 : part.n);
	return part;
}

static enum err segments(struct str path, struct arena *a, struct url *u, struct why *why)
{
	struct str rest = str_from(path, 1);
	size_t n = rest.n ? count(rest, '/') + 1 : 0;
	if (n > HTTP_SEGMENTS_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the path has more than %d parts",
			       HTTP_SEGMENTS_MAX);
	u->segment = arena_alloc(a, (n + 1) * sizeof *u->segment);
	if (!u->segment)
		return E_NOMEM;
	for (; u->segments < n; u->segments++) {
		enum err e = decode(cut(&rest, '/'), false, a, &u->segment[u->segments], why);
		if (e)
			return e;
	}
	return OK;
}

static enum err queries(struct str rest, struct arena *a, struct url *u, struct why *why)
{
	size_t n = rest.n ? count(rest, '&') + 1 : 0;
	if (n > HTTP_QUERY_MAX)
		return why_set(why, E_LIMIT, WHY_NOWHERE, "the query has more than %d values",
			       HTTP_QUERY_MAX);
	u->query = arena_alloc(a, (n + 1) * sizeof *u->query);
	if (!u->query)
		return E_NOMEM;
	while (rest.n) {
		struct str value = cut(&rest, '&'), name = cut(&value, '=');
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
	struct str rest = target, path = cut(&rest, '?');
	if (!path.n || path.p[0] != '/')
		return why_set(why, E_INPUT, WHY_NOWHERE, "'%.*s' is not a path; it begins with a slash",
			       STR_SHORT(path));
	for (size_t i = 0; i < target.n; i++)
		if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 127)
			return why_set(why, E_INPUT, WHY_NOWHERE,
				       "'%.*s' has a space or a control character; write it as %%20",
				       STR_SHORT(target));
	u.path = path;
	enum err e = segments(path, a, &u, why);
	if (!e)
		e = queries(rest, a, &u, why);
	if (!e)
		*ret = u;
	return e;
}

struct str url_query(const struct url *u, struct str name)
{
	for (unsigned i = 0; i < u->queries; i++)
		if (str_eq(u->query[i].name, name))
			return u->query[i].value;
	return (struct str){ 0 };
}
