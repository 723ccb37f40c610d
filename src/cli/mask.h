#pragma once
/* Masks secrets in the arguments of verbs that a run calls. $ROTA_SECRETS lists names of variables; before
 * the arguments are used, the values of these variables are replaced by [redacted]. */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Returns the text itself, or a masked copy in the arena. E_NOMEM. */
must_check enum err mask_secrets(struct arena *a, struct str text, struct str *ret);
