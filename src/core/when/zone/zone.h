#pragma once
/* Time zones: TZif bytes in (RFC 8536), offsets out. Pure: no files, no TZ variable; many zones at once.
 * Only what moves the clock is kept: abbreviations and flags are dropped, changes of equal offset merged. */
#include "base/err.h"
#include "base/time.h"

struct zone;

/* Reads a TZif file, version 1 to 4, with its footer rule. Refuses files that count leap seconds. */
must_check enum err zone_parse(struct str tzif, struct zone **ret, struct why *why);
/* UTC, or any other fixed offset. */
must_check enum err zone_fixed(int32_t offset, struct zone **ret);
void zone_free(struct zone *z);
DEFINE_CLEANUP(struct zone *, zone_free)

/* Bytes held by a zone, and a hash of the data it was read from (equal data, equal print). */
size_t zone_size(const struct zone *z);
uint64_t zone_print(const struct zone *z);

/* A stretch of constant offset, [from, to) in seconds UTC, with the offsets on either side of it.
 * The first and last stretch reach to ZONE_FOREVER, where before and after equal the offset itself. */
#define ZONE_FOREVER (INT64_C(1) << 60)
struct zone_span {
	int64_t from, to;
	int32_t offset, before, after;
};
struct zone_span zone_span(const struct zone *z, int64_t t);

/* Seconds east of UTC at t. */
static inline int32_t zone_offset(const struct zone *z, int64_t t)
{
	return zone_span(z, t).offset;
}

/* What a local time is in UTC: in a gap read with the offset before it, repeated its first pass. */
enum zone_fit { ZONE_ONCE, ZONE_TWICE, ZONE_GAP };
int64_t zone_utc(const struct zone *z, int64_t local, enum zone_fit *fit /* may be NULL */);
