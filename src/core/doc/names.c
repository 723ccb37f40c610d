/* Which ids of schedules, names of agents and names of variables are allowed; ids derived from commands. */
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"

#include <stdio.h>

static bool is_id_char(char c)
{
	return is_alpha(c) || is_digit(c) || c == '_' || c == '.' || c == '-';
}

static bool is_reserved(struct str id)
{
	return str_starts(id, STR("sched-")) || str_starts(id, STR("keeper"));
}

enum err doc_check_id(struct str id, struct why *why)
{
	if (id.n == 0 || id.n > DOC_ID_MAX)
		return why_set(why, E_INPUT, 0, "an id must have 1 to %d characters", DOC_ID_MAX);
	for (size_t i = 0; i < id.n; i++)
		if (!is_id_char(id.p[i]))
			return why_set(why, E_INPUT, i,
				       "an id can contain only letters, digits, '_', '.' and '-'");
	if (is_reserved(id))
		return why_set(why, E_INPUT, 0,
			       "ids that begin with 'sched-' or 'keeper' are reserved for rota");
	return OK;
}

void doc_derive_id(const struct str *word, unsigned words, char ret[DOC_ID_MAX + 1])
{
	enum {
		ENOUGH = 32
	}; /* the most bytes taken from one word; no word is added to an id of this length */
	size_t n = 0;
	ret[0] = 0;
	for (unsigned i = 0; i < words && n < ENOUGH; i++) {
		/* Takes the last part of a path, and an option without its dashes. */
		struct str w = word[i];
		for (size_t k = w.n; k > 0; k--)
			if (w.p[k - 1] == '/' && k < w.n) {
				w = str_from(w, k);
				break;
			}
		size_t from = n, dash = n > 0; /* a dash goes before the next good character */
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
	if (n == 0 || is_reserved((struct str){ ret, n })) {
		char copy[DOC_ID_MAX + 1];
		memcpy(copy, ret, n + 1);
		snprintf(ret, DOC_ID_MAX + 1, "run%s%.100s", n ? "-" : "", copy);
	}
}

bool doc_is_variable_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && s.p[i] != '_' && !(i && is_digit(s.p[i])))
			return false;
	return s.n > 0;
}

enum err doc_check_variable_names(struct key_reader *r, const struct val *map)
{
	for (unsigned i = 0; i < map->map.n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		if (!doc_is_variable_name(p->key))
			return why_set(
				r->why, E_INPUT, p->at,
				"'%.*s' cannot be the name of a variable; use letters, digits and '_', not "
				"beginning with a digit",
				STR_SHORT(p->key));
	}
	return OK;
}

bool doc_is_agent_name(struct str name)
{
	bool good = name.n > 0 && name.n <= DOC_ID_MAX && str_trim(name).n == name.n;
	for (size_t i = 0; i < name.n; i++)
		good &= (unsigned char)name.p[i] >= 32 && name.p[i] != 127;
	return good;
}

enum err doc_check_agent_name(struct key_reader *r, const char *name, const struct val *v)
{
	if (doc_is_agent_name(v->str))
		return OK;
	return why_set(r->why, E_INPUT, v->at,
		       "%s must have 1 to %d characters, no control characters and no spaces at its ends",
		       name, DOC_ID_MAX);
}
