#pragma once
/* English phrases ("every tuesday at 9am in Berlin"). A phrase is only another way to write one of the other
 * forms: it is turned into that form's text and read again as such. The grammar is in rota-when(7). Pure. */
#include "base/err.h"
#include "base/time.h"
#include "core/when/zone/zones.h"

struct phrase_env {
	struct wall now; /* relative phrases count from here */
	const struct zone_source *zones;
	const struct zone *zone; /* where "tomorrow" is, unless the phrase names a place */
};

struct phrase {
	char form[160];          /* cron, @every, a time with zone-local fields, or an org timestamp */
	char until[16];          /* a date, or empty */
	const struct zone *zone; /* of the place it names; NULL if it names none */
	struct str zone_name;
	size_t zone_at, until_at; /* where in the text, for errors about them */
	bool relative;            /* its meaning depends on now */
	bool no_time;             /* no time of day was given: midnight was taken */
};

/* The place it names, if it names one: `ret` is then set. Needs no `now`. */
bool phrase_place(struct str text, const struct phrase_env *env, const struct zone **ret);
/* Anything that could mean two things is refused with the readings it could have. */
must_check enum err phrase_parse(struct str text, const struct phrase_env *env, struct phrase *ret,
				 struct why *why);
