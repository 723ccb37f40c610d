#pragma once
/* The configuration of this machine and this call: flags, the environment, the file rota.yaml. The file is
 * that of
 * --config, else of $ROTA_CONFIG, else $XDG_CONFIG_HOME/rota/rota.yaml or the same below ~/.config, which
 * need not be there. */
#include "core/doc/config/config.h"

struct settings {
	struct config config;
	struct config_source source[CONFIG_SETTINGS_MAX];
	const char *path; /* of the file that was read; NULL: there is none */
	struct str text;  /* of it */
};

/* `flag` answers with the value of a flag that was given, by the name of its setting or "config"; else NULL.
 * Everything lives in `a`. When the file is at fault, why->at counts in ret->text: path and text are there
 * then, too. */
must_check enum err settings_load(const char *(*flag)(void *self, const char *name), void *self,
				  const struct zone_source *zones, struct arena *a, struct settings *ret,
				  struct why *why);
