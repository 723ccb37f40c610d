#pragma once
/* Compiles when expressions, and lists their times. There are six forms: cron, interval, one-shot, org
 * timestamp, English phrase, and ACE (any of these with directives); see rota-when(7). Pure: the current
 * time, zones and calendars are arguments. */
#include "base/arena.h"
#include "core/model.h"
#include "core/when/ace.h"
#include "core/when/rule.h"
#include "core/when/zone/zones.h"

/* Named lists of dates from the configuration. `find` returns false if there is no such calendar. */
struct calendars {
	bool (*find)(void *self, struct str name, struct days *ret);
	void *self;
};

struct when_env {
	struct wall now; /* relative forms count from here */
	const struct zone_source *zones;
	const struct zone *zone; /* for expressions that name no zone */
	struct str zone_name;
	struct str id;                     /* the schedule's id, for H and JITTER; may be empty */
	const struct calendars *calendars; /* may be NULL */
};

struct when {
	struct rule rule;
	const struct zone *zone;
	struct str zone_name;
	struct str normalized; /* the form in its simplest notation; compiles to the same rule */
	struct ace written;    /* the parts as they were written */
	/* Directives; written.value[…].p is NULL for those that were not given. */
	int64_t window, timeout; /* seconds */
	struct {
		unsigned max_attempts;
		enum backoff backoff;
		int64_t initial_delay;
	} retry;
	enum missed missed;
	enum overlap overlap;
	struct days except;
	bool zone_given; /* the text names the zone: by TZ=, or in its phrase */
	bool relative;   /* the meaning of the text depends on `now`; that of `normalized` does not */
	bool phrase;     /* the form is an English phrase */
	const char *warning[WARNINGS_MAX];
	unsigned warnings;
};

/* The zone that the text names, else that of `env`. Does not use `env->now`. Errors are left to when_parse.
 */
const struct zone *when_zone(struct str text, const struct when_env *env);

/* `ret` points into `a`, `text`, the zone source and the calendars. */
must_check enum err when_parse(struct str text, const struct when_env *env, struct arena *a, struct when *ret,
			       struct why *why);

/* The parts of a when expression, from one text or from keys of a document. */
struct when_parts {
	struct ace written;
	/* The place of a directive's value, for errors that name a second place. */
	struct place (*place)(void *self, enum ace_key key);
	void *self;
};

/* Compiles parts that were split already. Without a form only the directives are compiled, and the rule and
 * the normalized form of `ret` are undefined. On an error *part is the wrong part (ACE_KEYS: the form), and
 * why->at counts from its beginning. */
must_check enum err when_compile(const struct when_parts *parts, const struct when_env *env, struct arena *a,
				 struct when *ret, enum ace_key *part, struct why *why);

/* Adds a warning, unless it is NULL or there are WARNINGS_MAX already. */
void when_warn(struct when *w, const char *text);

/* Lists the occurrences that are due strictly after an instant, without those on excluded days. */
struct when_walk {
	const struct when *when;
	struct wall after; /* nominal times up to this one were handled */
	struct wall due_after;
	unsigned excluded; /* days with an occurrence that was left out */
};
struct when_walk when_walk(const struct when *w, struct wall after);
must_check enum err when_walk_next(struct when_walk *walk, struct wall *nominal, struct wall *due);
