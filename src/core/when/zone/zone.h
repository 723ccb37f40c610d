#pragma once
/* Time zones, read from TZif data (RFC 8536). Pure: no files, no TZ variable; many zones at once. Only
 * offsets are kept: abbreviations and flags are dropped, and changes that keep the offset are merged. */
#include "base/err.h"
#include "base/time.h"

struct zone;

/* Reads a TZif file, version 1 to 4, with its footer rule. Refuses files that count leap seconds. */
must_check enum err zone_parse(struct str tzif, struct zone **ret, struct why *why);
/* A zone with a fixed offset, such as UTC. */
must_check enum err zone_fixed(int32_t offset, struct zone **ret);
void zone_free(struct zone *z);
DEFINE_CLEANUP(struct zone *, zone_free)

/* The bytes that a zone occupies (a figure of `./dev bench when`); a hash of the data it was read from. */
size_t zone_size(const struct zone *z);
uint64_t zone_fingerprint(const struct zone *z);

/* A span of constant offset, [from, to) in seconds UTC, with the offsets before and after it. The first span
 * starts at -ZONE_FOREVER with `before` equal to `offset`; the last one ends at ZONE_FOREVER with `after`
 * equal to `offset`. */
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

/* How often a local time occurs: in a gap, not at all. */
enum zone_fit { ZONE_ONCE, ZONE_TWICE, ZONE_GAP };
/* A local time in UTC: the first one if it occurs twice; read with the offset before the gap if it does not
 * occur. */
int64_t zone_utc(const struct zone *z, int64_t local, enum zone_fit *fit /* may be NULL */);
