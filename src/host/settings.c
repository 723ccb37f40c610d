/* Finds the configuration file, and reads the configuration from it, from flags and from the environment. */
#include "host/settings.h"
#include "host/docfile.h"

#include <stdlib.h>

/* The caller's function for flags. */
struct flags {
	const char *(*flag)(void *self, const char *name);
	void *self;
};

static const char *variable_value(void *self, const char *name)
{
	(void)self;
	return getenv(name);
}

static const char *flag_value(void *self, const char *name)
{
	const struct flags *flags = self;
	return flags->flag(flags->self, name);
}

/* The path of the file if none is named; NULL: neither XDG_CONFIG_HOME nor HOME is set. */
static enum err default_path(struct arena *a, const char **ret)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	if (config && config[0] == '/')
		*ret = arena_printf(a, "%s/rota/rota.yaml", config);
	else if (home && home[0] == '/')
		*ret = arena_printf(a, "%s/.config/rota/rota.yaml", home);
	else
		return OK;
	return *ret ? OK : E_NOMEM;
}

static enum err read_file(const struct flags *flags, struct arena *a, struct settings *s, struct why *why)
{
	const char *named = flags->flag(flags->self, "config"), *path = NULL;
	if (!named)
		named = getenv("ROTA_CONFIG");
	if (named && !named[0])
		named = NULL;
	enum err e = named ? OK : default_path(a, &path);
	if (e || (!named && !path))
		return e;
	path = named ? named : path;
	e = docfile_text(path, a, &s->text, why);
	if (e == E_NOTFOUND && !named) {
		if (why)
			*why = (struct why){ .at = WHY_NOWHERE };
		return OK;
	}
	s->path = e ? NULL : path;
	return e == E_NOTFOUND ? E_IO : e;
}

enum err settings_load(const char *(*flag)(void *self, const char *name), void *self,
		       const struct zone_source *zones, bool expressions_only, struct arena *a,
		       struct settings *ret, struct why *why)
{
	struct flags flags = { flag, self };
	struct val documents;
	*ret = (struct settings){ 0 };
	enum err e = read_file(&flags, a, ret, why);
	if (!e && ret->path)
		e = docfile_parse(str_of(ret->path), ret->text, a, &documents, why);
	if (e)
		return e;
	struct config_env env = {
		variable_value, flag_value,      &flags, ret->text, ret->path ? &documents : NULL,
		zones,          expressions_only
	};
	return config_read(&env, a, &ret->config, ret->source, why);
}
