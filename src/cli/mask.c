/* Masks values of secrets in arguments. */
#include "cli/mask.h"

#include "base/buf.h"
#include "base/limits.h"
#include "runfile/mask_forms.h"
#include "runfile/redact.h"

#include <stdio.h>
#include <stdlib.h>

/* Adds the forms of the values of all variables that are listed. */
static bool add_values(struct mask_forms *m, struct str names)
{
	bool good = true;
	while (names.n && good) {
		const char *comma = memchr(names.p, ',', names.n);
		size_t n = comma ? (size_t)(comma - names.p) : names.n;
		char name[FETCH_NAME_MAX + 1];
		snprintf(name, sizeof name, "%.*s", (int)n, names.p);
		names = str_from(names, comma ? n + 1 : n);
		const char *value = getenv(name);
		good = !value || mask_forms_add(m, value, strlen(value));
	}
	return good;
}

static void append(void *ctx, const char *p, size_t n)
{
	buf_add(ctx, (struct str){ p, n });
}

enum err mask_secrets(struct arena *a, struct str text, struct str *ret)
{
	const char *names = getenv("ROTA_SECRETS");
	_cleanup_(buf_free) struct buf out = { 0 };
	struct mask_forms forms = { 0 };
	struct redact r = { 0 };
	*ret = text;
	if (!names || !text.n)
		return OK;
	bool good = add_values(&forms, str_of(names)) && redact_init(&r, forms.item, forms.n) == 0;
	for (size_t at = 0; good && at < text.n; at += REDACT_PIECE) {
		size_t n = text.n - at < REDACT_PIECE ? text.n - at : REDACT_PIECE;
		redact(&r, text.p + at, n, append, &out);
	}
	if (good)
		redact_end(&r, append, &out);
	redact_free(&r);
	mask_forms_free(&forms);
	const char *copy = !good || out.failed ? NULL : arena_dup(a, buf_str(&out));
	if (copy)
		*ret = (struct str){ copy, out.n };
	return copy ? OK : E_NOMEM;
}
