#pragma once
/* Finds the files and commands from which the shim of a run fetches the secrets that the run names. The
 * daemon never reads their values. */
#include "base/arena.h"
#include "core/doc/config/config.h"
#include "exec/launch.h"

/* Fills in ret->fetch, allocated in `a`. E_INPUT: the configuration has no secret of that name, or it is a
 * credential and the daemon was started without credentials; E_LIMIT: there are too many. */
must_check enum err secret_fill(const struct secret_list *all, const struct str *name, unsigned names,
				struct arena *a, struct launch *ret, struct why *why);
/* The path of a secret in a file or a credential; NULL in *ret: it comes from a command. E_INPUT: as above.
 */
must_check enum err secret_path(const struct config_secret *s, struct arena *a, const char **ret,
				struct why *why);
/* Whether a run could fetch the secret now: its file can be opened. Commands are not run. E_INPUT: it could
 * not; `why` says why. */
must_check enum err secret_check(const struct secret_list *all, struct str name, struct arena *a,
				 struct why *why);
