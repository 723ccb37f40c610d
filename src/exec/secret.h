#pragma once
/* Secrets of the configuration for a run: which, and where its shim finds them. Their values are not known
 * here, nor ever to the daemon. */
#include "base/arena.h"
#include "core/doc/config/config.h"
#include "exec/launch.h"

/* Fills in ret->fetch. E_INPUT: the configuration has none of that name, or there are no credentials on this
 * machine; E_LIMIT: too many. What it points to lives in `a`. */
must_check enum err secret_fill(const struct secret_list *all, const struct str *name, unsigned names,
				struct arena *a, struct launch *ret, struct why *why);
/* The file of one that is in a file or a credential; NULL in *ret: it is neither. E_INPUT: as above. */
must_check enum err secret_path(const struct config_secret *s, struct arena *a, const char **ret,
				struct why *why);
