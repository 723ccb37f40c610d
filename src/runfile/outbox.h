#pragma once
/* The outbox: reports that a run makes while it runs, as lines of JSON in a file that ROTA_OUTBOX names. A
 * file needs no running daemon and no token, and can be written from a sandbox without sockets.
 *
 *	{"report":"step","text":"ran the tests","at":"2026-03-01T08:00:00Z"}
 *
 * `report` is fail, step or note. Lines that are not reports are ignored. When the attempt has ended, its
 * shim masks secrets in the file (shim/output/outbox.h). */
#include "base/buf.h"
#include "base/err.h"
#include "base/val.h"

enum report_kind { REPORT_FAIL, REPORT_STEP, REPORT_NOTE, REPORTS };
extern const char *const report_words[];                       /* ends with NULL */
bool report_kind_find(struct str word, enum report_kind *ret); /* false: there is no such kind */

struct report {
	uint8_t kind;
	struct str text, at; /* at: may be empty */
};

/* Appends one line by one write. E_IO: the line is missing or incomplete. E_LIMIT: the text is too long, or
 * the run has reported too much; the second limit does not apply to REPORT_FAIL. */
must_check enum err outbox_add(const char *path, enum report_kind kind, struct str text, struct why *why);
/* The same for the outbox of an attempt, which runs may have replaced, and the directories above it, too. */
must_check enum err outbox_add_run(const char *runs, uint64_t run, unsigned attempt, enum report_kind kind,
				   struct str text, struct why *why);

/* The reports in the last 2 * OUTBOX_BYTES_MAX bytes of an attempt's outbox, oldest first. None if there is
 * no file. */
must_check enum err outbox_read(const char *runs, uint64_t run, unsigned attempt, struct arena *a,
				struct report **ret, unsigned *n, struct why *why);
/* The last report of this kind; NULL: there is none. */
const struct report *outbox_last(const struct report *list, unsigned n, enum report_kind kind);
