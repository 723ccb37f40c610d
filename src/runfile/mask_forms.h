#pragma once
/* The forms in which the value of a secret may appear in text. Used by the shim, by the daemon for what runs
 * send to it, and by `rota` within a run. Needs libc only: it is linked into the static launcher.
 *
 * The value without white space at its ends, each of its lines of SECRET_LINE_MIN bytes or more, and its
 * lines joined in several ways; each of these as it is, as JSON writes it (with \/, \u00e4 and the like, and
 * JSON within JSON), in URL encoding, in base64 and base32 at any offset, and in hexadecimal digits. */
#include "base/str.h"

struct mask_forms {
	struct str *item;
	unsigned n, room;
	size_t bytes; /* of all items */
};

/* Adds the forms of a value. Values of less than SECRET_BYTES_MIN are left out. False: out of memory, or too
 * many forms. */
bool mask_forms_add(struct mask_forms *m, const char *p, size_t n);
/* Adds one form, as it is. */
bool mask_forms_add_one(struct mask_forms *m, const char *p, size_t n);
void mask_forms_free(struct mask_forms *m); /* overwrites the forms */
