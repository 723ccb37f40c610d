/* Zone files: every accepted file must behave like a zone. */
#include "core/when/civil.h"
#include "core/when/zone/zone.h"
#include "fuzz.h"

static void check_around(const struct zone *z, int64_t t)
{
	struct zone_span s = zone_span(z, t);
	assert(s.from <= t && t < s.to);
	assert(s.offset >= -26 * 3600 && s.offset <= 27 * 3600);
	if (s.to < SECONDS_MAX) {
		struct zone_span next = zone_span(z, s.to);
		assert(next.from == s.to && next.before == s.offset && next.offset == s.after);
	}
	enum zone_fit fit;
	int64_t local = t + s.offset, utc = zone_utc(z, local, &fit);
	/* The local time of an instant exists. Converted back, it is that instant, or the other instant with
	 * the same local time. */
	assert(fit != ZONE_GAP);
	assert(utc + zone_offset(z, utc) == local && utc <= t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct zone *z;
	struct why why = { 0 };
	if (zone_parse((struct str){ (const char *)data, size }, &z, &why)) {
		assert(why.text[0]);
		return 0;
	}
	static const int64_t instants[] = { SECONDS_MIN, -5000000000, -1,         0,          1,
					    946684800,   1794751200,  1805007600, 2145916800, 2200000000,
					    4102444800,  32503680000, SECONDS_MAX };
	for (unsigned i = 0; i < ARRAY_LEN(instants); i++)
		check_around(z, instants[i]);
	int64_t t = 0;
	for (unsigned i = 0; i < 200 && t < SECONDS_MAX; i++) {
		check_around(z, t);
		t = zone_span(z, t).to;
	}
	zone_free(z);
	return 0;
}
