#pragma once
/* What a run says to rota has no secrets in it: values of the variables that $ROTA_SECRETS names are masked
 * in arguments, before they go anywhere. */
#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The text, or one in the arena without them. E_NOMEM. */
must_check enum err mask_secrets(struct arena *a, struct str text, struct str *ret);
