#pragma once
/* ISO 8601 / RFC 3339 dates and times. Pure.
 * Read: 2026-11-16, 2026-11-16T14:00, 2026-11-16 14:00:30.5Z, 20261116T140000+0100; not week or ordinal
 * dates. */
#include "base/err.h"
#include "base/time.h"
#include "core/when/zone/zone.h"

struct iso {
	int64_t local;  /* seconds, as written */
	int32_t micros; /* the fraction */
	int32_t offset; /* seconds east of UTC, if has_offset */
	bool has_time, has_offset;
};

/* Does this look like a date, right or wrong? Decides which form an expression is. */
bool iso_looks_like(struct str text);
must_check enum err iso_parse(struct str text, struct iso *ret, struct why *why);
/* The whole second it names (its fraction left out), a time without offset read in `z`. */
int64_t iso_utc(const struct iso *t, const struct zone *z, enum zone_fit *fit /* may be NULL */);

#define ISO_SIZE 32
/* "2026-11-16T14:00:00Z" */
const char *iso_format_utc(int64_t seconds, char ret[ISO_SIZE]);
/* "2026-11-16T14:00:00" */
const char *iso_format_local(int64_t seconds, char ret[ISO_SIZE]);
/* "+05:45" (with seconds where an offset has them) */
const char *iso_format_offset(int32_t offset, char ret[ISO_SIZE]);
