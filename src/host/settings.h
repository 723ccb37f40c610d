#pragma once
/* Loads the configuration from flags, the environment and the file rota.yaml. The file is that of --config,
 * else of $ROTA_CONFIG, else $XDG_CONFIG_HOME/rota/rota.yaml or ~/.config/rota/rota.yaml, which need not
 * exist. */
#include "core/doc/config/config.h"

struct settings {
	struct config config;
	struct config_source source[CONFIG_SETTINGS_MAX];
	const char *path; /* of the file that was read; NULL: there is none */
	struct str text;  /* of that file */
};

/* `flag` returns the value of a flag, by the name of its setting or "config"; NULL: not given.
 * `expressions_only`: see struct config_env. Everything lives in `a`. If the file is wrong, why->at is an
 * offset in ret->text; path and text are set then, too. */
must_check enum err settings_load(const char *(*flag)(void *self, const char *name), void *self,
				  const struct zone_source *zones, bool expressions_only, struct arena *a,
				  struct settings *ret, struct why *why);
