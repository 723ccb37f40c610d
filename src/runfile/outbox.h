#pragma once
/* What a run says of itself while it runs: lines of JSON in a file of its own, which ROTA_OUTBOX names. A
 * file needs no daemon that listens, no token, and can be written from within a sandbox that has no sockets.
 *
 *	{"report":"step","text":"ran the tests","at":"2026-03-01T08:00:00Z"}
 *
 * `report` is fail, step or note (the thought); lines that are nothing of the kind are passed over. */
#include "base/buf.h"
#include "base/err.h"
#include "base/val.h"

enum report_kind { REPORT_FAIL, REPORT_STEP, REPORT_NOTE, REPORTS };
extern const char *const report_words[]; /* ends with NULL */

struct report {
	uint8_t kind;
	struct str text, at; /* at: empty where it was not said */
};

/* Appends one line, whole or not at all. E_LIMIT: it is too long, or there are too many; failure can always
 * be told. */
must_check enum err outbox_add(const char *path, enum report_kind kind, struct str text, struct why *why);

/* All of an attempt's reports, in their order, of its last bytes, twice OUTBOX_BYTES_MAX. None if there is no
 * file. */
must_check enum err outbox_read(const char *runs, uint64_t run, unsigned attempt, struct arena *a,
				struct report **ret, unsigned *n, struct why *why);
/* The last of this kind; NULL: none. */
const struct report *outbox_last(const struct report *list, unsigned n, enum report_kind kind);
