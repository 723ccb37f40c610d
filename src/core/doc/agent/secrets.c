/* Values in an agent's definition that look like secrets. */
#include "base/keyshape.h"
#include "core/doc/agent/agent.h"

/* Whether the text begins with a word that has the shape of a known key. */
static bool begins_with_key(struct str s)
{
	for (unsigned i = 0; i < ARRAY_LEN(key_shapes); i++) {
		size_t n = 0;
		while (n < s.n && key_in_word(s.p[n]))
			n++;
		if (n >= key_shapes[i].min && str_starts(s, str_of(key_shapes[i].prefix)))
			return true;
	}
	return false;
}

bool agent_looks_secret(struct str name, struct str value)
{
	static const char *const ends[] = { "API_KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD" };
	if (!value.n || memmem(value.p, value.n, "{{", 2))
		return false;
	for (unsigned i = 0; i < ARRAY_LEN(ends); i++) {
		struct str end = str_of(ends[i]);
		if (name.n >= end.n && str_ieq(str_from(name, name.n - end.n), end) &&
		    (name.n == end.n || name.p[name.n - end.n - 1] == '_'))
			return true;
	}
	for (size_t i = 0; i < value.n; i++)
		if ((i == 0 || !key_in_word(value.p[i - 1])) && begins_with_key(str_from(value, i)))
			return true;
	return false;
}

void agent_redact(struct val *definition)
{
	struct val *env = (struct val *)val_get(definition, STR("env"));
	for (unsigned i = 0; env && env->kind == VAL_MAP && i < env->map.n; i++) {
		struct val_pair *p = &env->map.pair[i];
		if (p->value.kind == VAL_STR && agent_looks_secret(p->key, p->value.str))
			p->value.str = STR("[redacted]");
	}
}
