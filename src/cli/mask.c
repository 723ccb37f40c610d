/* Masks values of secrets in arguments. */
#include "cli/mask.h"

#include "base/buf.h"
#include "base/limits.h"

#include <stdio.h>
#include <stdlib.h>

/* Finds the first value of a secret in the text at or after *from; if several values are at the same place,
 * the longest. Sets *from to its place and returns its length; 0: there is none. */
static size_t next_value(struct str names, struct str text, size_t *from)
{
	size_t best = 0, at = text.n;
	while (names.n) {
		const char *comma = memchr(names.p, ',', names.n);
		size_t n = comma ? (size_t)(comma - names.p) : names.n;
		char name[FETCH_NAME_MAX + 1];
		snprintf(name, sizeof name, "%.*s", (int)n, names.p);
		names = str_from(names, comma ? n + 1 : n);
		const char *value = getenv(name);
		size_t k = value ? strlen(value) : 0;
		const char *hit = k >= SECRET_BYTES_MIN && *from < text.n
					  ? memmem(text.p + *from, text.n - *from, value, k)
					  : NULL;
		size_t where = hit ? (size_t)(hit - text.p) : text.n;
		if (hit && (where < at || (where == at && k > best))) {
			at = where;
			best = k;
		}
	}
	*from = at;
	return best;
}

enum err mask_secrets(struct arena *a, struct str text, struct str *ret)
{
	const char *names = getenv("ROTA_SECRETS");
	_cleanup_(buf_free) struct buf out = { 0 };
	size_t done = 0, at = 0, n;
	*ret = text;
	if (!names || !text.n)
		return OK;
	while ((n = next_value(str_of(names), text, &at))) {
		buf_add(&out, str_sub(text, done, at));
		buf_add(&out, STR("[redacted]"));
		done = at = at + n;
	}
	if (!done)
		return OK;
	buf_add(&out, str_from(text, done));
	const char *copy = out.failed ? NULL : arena_dup(a, buf_str(&out));
	if (copy)
		*ret = (struct str){ copy, out.n };
	return copy ? OK : E_NOMEM;
}
