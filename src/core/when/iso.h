#pragma once
/* ISO 8601 / RFC 3339 dates and times. Pure.
 * Understood: 2026-11-16, 2026-11-16T14:00, 2026-11-16 14:00:30.5Z, 20261116T140000+0100; not week dates or
 * ordinal dates. */
#include "base/err.h"
#include "base/time.h"
#include "core/when/zone/zone.h"

struct iso {
	int64_t local;  /* seconds, as written; a fraction is cut off */
	int32_t micros; /* the fraction, in microseconds */
	int32_t offset; /* seconds east of UTC, if has_offset */
	bool has_time, has_offset;
};

/* Is the first word meant as a date, valid or not? Decides which form an expression has. */
bool iso_looks_like(struct str text);
must_check enum err iso_parse(struct str text, struct iso *ret, struct why *why);
/* The time in UTC, without its fraction; a time without an offset is a local time of `z`. */
int64_t iso_utc(const struct iso *t, const struct zone *z, enum zone_fit *fit /* may be NULL */);

#define ISO_SIZE 32
/* "2026-11-16T14:00:00Z" */
const char *iso_format_utc(int64_t seconds, char ret[ISO_SIZE]);
/* "2026-11-16T14:00:00" */
const char *iso_format_local(int64_t seconds, char ret[ISO_SIZE]);
/* "+05:45"; with seconds if the offset has any */
const char *iso_format_offset(int32_t offset, char ret[ISO_SIZE]);
