/* Ids: what may be one, and one out of a command's words. */
#include "core/doc/internal.h"

#include <stdio.h>

static bool is_id_char(char c)
{
	return is_alpha(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool is_ours(struct str id)
{
	return str_starts(id, STR("sched-")) || str_starts(id, STR("keeper"));
}

enum err doc_check_id(struct str id, struct why *why)
{
	if (id.n == 0 || id.n > DOC_ID_MAX)
		return why_set(why, E_INPUT, 0, "an id has 1 to %d characters", DOC_ID_MAX);
	for (size_t i = 0; i < id.n; i++)
		if (!is_id_char(id.p[i]))
			return why_set(why, E_INPUT, i,
				       "an id is made of letters, digits, '_', '.' and '-' only");
	if (is_ours(id))
		return why_set(why, E_INPUT, 0, "ids that begin with 'sched-' or 'keeper' are rota's own");
	return OK;
}

void doc_derive_id(const struct str *word, unsigned words, char ret[DOC_ID_MAX + 1])
{
	enum { ENOUGH = 32 }; /* of one word, and when no further word is taken */
	size_t n = 0;
	ret[0] = 0;
	for (unsigned i = 0; i < words && n < ENOUGH; i++) {
		/* Of a path its last part; of an option no dashes. */
		struct str w = word[i];
		for (size_t k = w.n; k > 0; k--)
			if (w.p[k - 1] == '/' && k < w.n) {
				w = str_from(w, k);
				break;
			}
		size_t from = n, dash = n > 0; /* one is owed before the next good character */
		for (size_t k = 0; k < w.n && n - from < ENOUGH; k++) {
			bool good = is_id_char(w.p[k]) && (n > from || (w.p[k] != '-' && w.p[k] != '.'));
			if (good && dash)
				ret[n++] = '-';
			if (good)
				ret[n++] = w.p[k];
			dash = !good && n > 0;
		}
	}
	while (n > 0 && (ret[n - 1] == '-' || ret[n - 1] == '.'))
		n--;
	ret[n] = 0;
	if (n == 0 || is_ours((struct str){ ret, n })) {
		char copy[DOC_ID_MAX + 1];
		memcpy(copy, ret, n + 1);
		snprintf(ret, DOC_ID_MAX + 1, "run%s%.100s", n ? "-" : "", copy);
	}
}

bool doc_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && s.p[i] != '_' && !(i && is_digit(s.p[i])))
			return false;
	return s.n > 0;
}
