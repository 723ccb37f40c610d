#pragma once
/* Zones by name: how the parser asks for them, and what it does with a name that is wrong. Pure: the answers
 * come from whoever fills in the zone_source (the machine's files, or a test). */
#include "base/err.h"
#include "core/when/zone/zone.h"

struct zone_source {
	/* NULL if there is no such zone. What it returns stays valid as long as the source. */
	const struct zone *(*find)(void *self, struct str name);
	/* The i-th known name, in order; empty after the last. Valid as long as the source. */
	struct str (*name)(void *self, unsigned i);
	void *self;
};

/* The zone called `name`; E_INPUT with near matches otherwise. */
must_check enum err zones_find(const struct zone_source *s, struct str name, const struct zone **ret,
			       struct why *why);
/* A full name, or a city as people write it ("Berlin", "new york"). Several different zones with a city of
 * that name are an error that lists them. */
must_check enum err zones_place(const struct zone_source *s, struct str place, const struct zone **ret,
				struct str *name, struct why *why);
