/* Borrowed strings: comparing, splitting, numbers, edit distance. */
#include "base/str.h"

struct str str_trim(struct str s)
{
	while (s.n && is_space(s.p[0]))
		s = str_from(s, 1);
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str str_token(struct str *rest)
{
	size_t i = 0, end;
	while (i < rest->n && is_space(rest->p[i]))
		i++;
	for (end = i; end < rest->n && !is_space(rest->p[end]);)
		end++;
	struct str token = str_sub(*rest, i, end);
	*rest = str_from(*rest, end);
	return token;
}

bool str_line(struct str *rest, struct str *ret)
{
	if (rest->n == 0)
		return false;
	const char *nl = memchr(rest->p, '\n', rest->n);
	size_t n = nl ? (size_t)(nl - rest->p) : rest->n;
	*ret = str_sub(*rest, 0, n);
	*rest = str_from(*rest, nl ? n + 1 : n);
	if (ret->n && ret->p[ret->n - 1] == '\r')
		ret->n--;
	return true;
}

bool str_cut(struct str *rest, char c, struct str *ret)
{
	const char *end = rest->n ? memchr(rest->p, c, rest->n) : NULL;
	*ret = end ? str_sub(*rest, 0, (size_t)(end - rest->p)) : *rest;
	*rest = str_from(*rest, end ? ret->n + 1 : ret->n);
	return end != NULL;
}

bool str_number(struct str s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;
	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!is_digit(s.p[i]))
			return false;
		unsigned d = (unsigned)(s.p[i] - '0');
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, d, &v) || v > max)
			return false;
	}
	*ret = v;
	return true;
}

unsigned str_distance(struct str a, struct str b, unsigned limit)
{
	enum { N = 64 };
	unsigned row[N + 1];
	if (a.n > N || b.n > N)
		return limit + 1;
	for (size_t j = 0; j <= b.n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= a.n; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b.n; j++) {
			unsigned change = diagonal + (to_lower(a.p[i - 1]) != to_lower(b.p[j - 1]));
			unsigned insert = row[j - 1] + 1, drop = row[j] + 1;
			diagonal = row[j];
			row[j] = change < insert ? change : insert;
			if (drop < row[j])
				row[j] = drop;
		}
	}
	return row[b.n] <= limit ? row[b.n] : limit + 1;
}
