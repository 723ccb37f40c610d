#include "host/settings.h"
#include "host/docfile.h"

#include <stdlib.h>

struct asked {
	const char *(*flag)(void *self, const char *name);
	void *self;
};

static const char *variable(void *self, const char *name)
{
	(void)self;
	return getenv(name);
}

static const char *flag_of(void *self, const char *name)
{
	const struct asked *asked = self;
	return asked->flag(asked->self, name);
}

/* Where the file would be if nobody says otherwise; NULL: nowhere. */
static enum err usual_path(struct arena *a, const char **ret)
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

static enum err read_file(const struct asked *asked, struct arena *a, struct settings *s, struct why *why)
{
	const char *named = asked->flag(asked->self, "config"), *path = NULL;
	if (!named)
		named = getenv("ROTA_CONFIG");
	if (named && !named[0])
		named = NULL;
	enum err e = named ? OK : usual_path(a, &path);
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
		       const struct zone_source *zones, struct arena *a, struct settings *ret,
		       struct why *why)
{
	struct asked asked = { flag, self };
	struct val documents;
	*ret = (struct settings){ 0 };
	enum err e = read_file(&asked, a, ret, why);
	if (!e && ret->path)
		e = docfile_parse(str_of(ret->path), ret->text, a, &documents, why);
	if (e)
		return e;
	struct config_env env = {
		variable, flag_of, &asked, ret->text, ret->path ? &documents : NULL, zones
	};
	return config_read(&env, a, &ret->config, ret->source, why);
}
