#pragma once
/* English phrases ("every tuesday at 9am in Berlin"). A phrase is translated into the text of one of the
 * other forms, which is then compiled as usual. The grammar is in rota-when(7). Pure. */
#include "base/err.h"
#include "base/time.h"
#include "core/when/zone/zones.h"

struct phrase_env {
	struct wall now; /* relative phrases count from here */
	const struct zone_source *zones;
	const struct zone *zone; /* the zone of "tomorrow", unless the phrase names a place */
};

struct phrase {
	char form[160];          /* cron, @every, an ISO time, or an org timestamp */
	char until[16];          /* a date, or empty */
	const struct zone *zone; /* of the place it names; NULL if it names none */
	struct str zone_name;
	size_t zone_at, until_at; /* their places in the text, for errors */
	bool relative;            /* its meaning depends on now */
	bool no_time;             /* no time of day was given; midnight is used */
};

/* The zone of the place that the phrase names; false if it names none. Does not use `now`. */
bool phrase_place(struct str text, const struct phrase_env *env, const struct zone **ret);
/* A phrase that could mean two things is refused; the message names both meanings. */
must_check enum err phrase_parse(struct str text, const struct phrase_env *env, struct phrase *ret,
				 struct why *why);
