#pragma once
/* The forms of the secrets of a run, read from its shim, which alone knows them (port/runfile.h): what the
 * run sends to the daemon is masked before anything else sees it. They are kept only as long as the caller
 * needs them. */
#include "base/arena.h"
#include "base/err.h"
#include "base/val.h"
#include "runfile/mask_forms.h"
#include "runfile/redact.h"

struct masks {
	struct mask_forms forms;
	struct redact redact;
};

/* Reads the forms of an attempt and of the check before it. E_GONE: neither has a shim that is alive. E_BUSY:
 * they cannot be read now. Close *ret after success. */
must_check enum err masks_open(const char *runs, uint64_t run, unsigned attempt, struct masks *ret);
void masks_close(struct masks *m);

/* Masks a text: *text becomes a copy in the arena if something was masked. E_NOMEM. */
must_check enum err masks_apply(struct masks *m, struct arena *a, struct str *text);
/* Masks all strings, keys and numbers of a value; an integer that is a secret becomes a string. */
must_check enum err masks_apply_val(struct masks *m, struct arena *a, struct val *v);
