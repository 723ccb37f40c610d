#pragma once
/* Zones by name, with suggestions for names that do not exist. Pure: the zones come from a zone_source, which
 * the machine's zone files or a test implement. */
#include "base/err.h"
#include "core/when/zone/zone.h"

struct zone_source {
	/* NULL if there is no such zone. The zone is valid as long as the source. */
	const struct zone *(*find)(void *self, struct str name);
	/* The i-th name in sorted order; empty after the last. Valid as long as the source. */
	struct str (*name)(void *self, unsigned i);
	void *self;
};

/* Finds a zone by its full name; E_INPUT with similar names if there is none. */
must_check enum err zones_find(const struct zone_source *s, struct str name, const struct zone **ret,
			       struct why *why);
/* Finds a zone by its full name, or by a city as people write it ("Berlin", "new york"). If different zones
 * have a city of that name, the error names two of them. */
must_check enum err zones_place(const struct zone_source *s, struct str place, const struct zone **ret,
				struct str *name, struct why *why);
