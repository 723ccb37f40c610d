#pragma once
/* Masks secrets in the arguments of verbs that a run calls: the values of the variables that $ROTA_SECRETS
 * names become [redacted] before the arguments are used. */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* Returns the text itself, or a masked copy in the arena. E_NOMEM. */
must_check enum err mask_secrets(struct arena *a, struct str text, struct str *ret);
