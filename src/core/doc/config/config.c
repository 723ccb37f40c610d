/* Combines flags, environment, file and defaults into the configuration. */
#include "core/doc/config/config.h"

#include <stdio.h>

#define IN_CONFIG(field) offsetof(struct config, field)

/* Copies the keys of all settings to a table that keys_read takes. */
static void copy_keys(struct key ret[CONFIG_SETTINGS_MAX])
{
	unsigned i = 0;
	do
		ret[i] = config_settings[i].key;
	while (config_settings[i++].key.name);
}

static enum err read_file(const struct config_env *env, struct key_reader *r, const struct key *keys,
			  struct config *c, struct config_source *source)
{
	const struct val *given[CONFIG_SETTINGS_MAX] = { 0 };
	if (!env->file || env->file->list.n == 0 || env->file->list.item[0].kind == VAL_NULL)
		return OK;
	if (env->file->list.n > 1)
		return why_set(r->why, E_INPUT, env->file->list.item[1].at,
			       "the configuration must be one document; a second one begins here");
	enum err e = keys_read(r, "the configuration", keys, c, &env->file->list.item[0], given);
	for (unsigned i = 0; i < CONFIG_SETTINGS_MAX && !e; i++)
		if (given[i])
			source[i] = (struct config_source){ CONFIG_FILE, given[i]->at };
	return e;
}

/* The value of a flag or a variable, which is always text, in the kind that the key takes. */
static struct val value_of(const struct key *k, const char *text)
{
	struct val v = { .kind = VAL_STR, .str = str_of(text) };
	uint64_t n;
	bool numeric = k->type == KEY_NUMBER || k->type == KEY_SIZE;
	if (numeric && str_number(v.str, INT64_MAX, &n)) {
		v.kind = VAL_INT;
		v.integer = (int64_t)n;
	} else if (k->type == KEY_BOOL && (str_eq(v.str, STR("true")) || str_eq(v.str, STR("false")))) {
		v.kind = VAL_BOOL;
		v.boolean = text[0] == 't';
	}
	return v;
}

static enum err set_from_text(struct key_reader *r, struct config *c, const struct setting *s,
			      const char *text, const char *name)
{
	struct val v = value_of(&s->key, text);
	struct why inner = { 0 };
	struct key_reader text_reader = { str_of(text), r->arena, &inner, NULL };
	enum err e = keys_set(&text_reader, c, &s->key, &v);
	if (e && e != E_NOMEM)
		return why_set(r->why, e, WHY_NOWHERE, "%s: %s", name, inner.text);
	return e;
}

static const char *flag_name(const char *name, char ret[64])
{
	snprintf(ret, 64, "--%s", name);
	for (char *p = ret; (p = strchr(p, '_'));)
		*p = '-';
	return ret;
}

/* A directory that a variable names; the XDG specification says to ignore relative paths. */
static const char *directory_in(const struct config_env *env, const char *name)
{
	const char *path = env->variable(env->self, name);
	return path && path[0] == '/' ? path : NULL;
}

/* data: $XDG_DATA_HOME/rota, else a directory below $HOME; socket: in $XDG_RUNTIME_DIR/rota, else in the data
 * directory. */
static enum err set_default_texts(const struct config_env *env, struct arena *a, struct config *c,
				  struct why *why)
{
	const char *home = directory_in(env, "HOME"), *share = directory_in(env, "XDG_DATA_HOME"),
		   *runtime = directory_in(env, "XDG_RUNTIME_DIR");
	char *path = NULL;
	c->has_timezone = c->timezone.n > 0;
	if (!c->has_timezone)
		c->timezone = STR("UTC");
	if (env->expressions_only)
		return OK;
	if (!c->data.n) {
		if (!share && !home)
			return why_set(
				why, E_INPUT, WHY_NOWHERE,
				"there is no data directory: set --data, ROTA_DATA, XDG_DATA_HOME or HOME");
		path = share ? arena_printf(a, "%s/rota", share)
			     : arena_printf(a, "%s/.local/share/rota", home);
		if (!path)
			return E_NOMEM;
		c->data = str_of(path);
	}
	if (!c->socket.n) {
		path = runtime ? arena_printf(a, "%s/rota/rota.sock", runtime)
			       : arena_printf(a, "%.*s/rota.sock", STR_ARG(c->data));
		if (!path)
			return E_NOMEM;
		c->socket = str_of(path);
	}
	return OK;
}

/* Checks a setting of type KEY_TEXT, wherever its value came from. */
static enum err check_text(const struct config_env *env, const struct config *c,
			   const struct config_source *source, unsigned i, struct why *why)
{
	const struct setting *s = &config_settings[i];
	size_t at = source[i].origin == CONFIG_FILE ? source[i].at : WHY_NOWHERE;
	struct why inner = { 0 };
	const struct zone *zone;
	bool path = s->key.offset == IN_CONFIG(data) || s->key.offset == IN_CONFIG(socket);
	if (s->key.unsupported || s->key.type != KEY_TEXT)
		return OK;
	struct str v = *KEY_CONST_FIELD(struct str, c, &s->key);
	for (size_t k = 0; k < v.n; k++)
		if ((unsigned char)v.p[k] < 32 || v.p[k] == 127)
			return why_set(why, E_INPUT, at, "%s must not contain control characters",
				       s->key.name);
	if (path && v.n && !str_starts(v, STR("/")))
		return why_set(why, E_INPUT, at, "%s must be an absolute path, not '%.*s'", s->key.name,
			       STR_SHORT(v));
	if (s->key.offset == IN_CONFIG(timezone) && zones_find(env->zones, v, &zone, &inner) != OK)
		return why_set(why, E_INPUT, at, "%s: %s", s->key.name, inner.text);
	return OK;
}

/* Takes the value of a flag, else that of the environment. */
static enum err read_override(const struct config_env *env, struct key_reader *r, const struct setting *s,
			      struct config *c, struct config_source *source)
{
	char flag[64];
	const char *text = s->variable ? env->flag(env->self, s->key.name) : NULL;
	if (text) {
		source->origin = CONFIG_FLAG;
		return set_from_text(r, c, s, text, flag_name(s->key.name, flag));
	}
	text = s->variable ? env->variable(env->self, s->variable) : NULL;
	if (!text || !text[0])
		return OK;
	source->origin = CONFIG_ENVIRONMENT;
	return set_from_text(r, c, s, text, s->variable);
}

enum err config_read(const struct config_env *env, struct arena *a, struct config *ret,
		     struct config_source source[CONFIG_SETTINGS_MAX], struct why *why)
{
	struct config c = { 0 };
	struct key_reader r = { env->text, a, why, NULL };
	struct key keys[CONFIG_SETTINGS_MAX];
	memset(source, 0, CONFIG_SETTINGS_MAX * sizeof *source);
	copy_keys(keys);
	keys_set_defaults(keys, &c);
	enum err e = read_file(env, &r, keys, &c, source);
	for (unsigned i = 0; config_settings[i].key.name && !e; i++)
		e = read_override(env, &r, &config_settings[i], &c, &source[i]);
	if (!e)
		e = set_default_texts(env, a, &c, why);
	for (unsigned i = 0; config_settings[i].key.name && !e; i++)
		e = check_text(env, &c, source, i, why);
	if (!e)
		*ret = c;
	return e;
}

void config_defaults(const struct config *c, struct doc_env *ret)
{
	ret->timeout[DOC_COMMAND] = c->timeout_command;
	ret->timeout[DOC_WORKFLOW] = c->timeout_command;
	ret->timeout[DOC_AGENT_TURN] = c->timeout_agent;
	ret->timeout[DOC_WEBHOOK] = c->timeout_request;
	ret->timeout[DOC_EVENT] = 0;
	ret->default_agent = c->default_agent;
	ret->when.zone_name = c->timezone;
	if (ret->when.zones)
		ret->when.zone = ret->when.zones->find(ret->when.zones->self, c->timezone);
}
