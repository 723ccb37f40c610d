#pragma once
/* Text to a compiled when, and what comes next. Six forms (cron, interval, one-shot, org timestamp, English
 * phrase, and ACE: any of them with directives); see rota-when(7). Pure: clock, zones and calendars come in
 * as arguments. */
#include "base/arena.h"
#include "core/model.h"
#include "core/when/ace.h"
#include "core/when/rule.h"
#include "core/when/zone/zones.h"

/* Named lists of dates out of the configuration. False: no such calendar. */
struct calendars {
	bool (*find)(void *self, struct str name, struct days *ret);
	void *self;
};

struct when_env {
	struct wall now; /* relative forms count from here */
	const struct zone_source *zones;
	const struct zone *zone; /* where nothing else is said, and its name */
	struct str zone_name;
	struct str id;                     /* of the schedule, for H and JITTER; may be empty */
	const struct calendars *calendars; /* may be NULL */
};

struct when {
	struct rule rule;
	const struct zone *zone;
	struct str zone_name;
	struct str normalized; /* the form in its plainest writing; compiles to the same rule */
	struct ace said;       /* the parts as they were written */
	/* Directives, where said.value[…].p tells whether they were given. */
	int64_t window, timeout; /* seconds */
	struct {
		unsigned max_attempts;
		enum backoff backoff;
		int64_t initial_delay;
	} retry;
	enum missed missed;
	enum overlap overlap;
	struct days except;
	bool zone_said; /* by TZ= or by the phrase, not by the environment */
	bool relative;  /* the text means another time tomorrow; `normalized` does not */
	bool phrase;    /* it was written in English */
	const char *warning[WARNINGS_MAX];
	unsigned warnings;
};

/* The zone its times are read in, as far as the text says; `env->now` is not looked at. Errors are
 * when_parse's. */
const struct zone *when_zone(struct str text, const struct when_env *env);

/* What `ret` points to lives in `a` and `text`, in the zone source and the calendars. */
must_check enum err when_parse(struct str text, const struct when_env *env, struct arena *a, struct when *ret,
			       struct why *why);

/* The parts of a when, wherever they were written: in one expression, or as keys of a document. */
struct when_parts {
	struct ace said;
	/* Where a directive's value was written, for errors that name a second place. */
	struct place (*place)(void *self, enum ace_key key);
	void *self;
};

/* The same for parts that have been taken apart already. Without a form only the directives are read: nothing
 * of `ret` that speaks of times means anything then. On an error why->at counts from the beginning of *part,
 * where ACE_KEYS is the form. */
must_check enum err when_compile(const struct when_parts *parts, const struct when_env *env, struct arena *a,
				 struct when *ret, enum ace_key *part, struct why *why);

/* One more warning, if there is room for it and it is not NULL. */
void when_warn(struct when *w, const char *text);

/* Occurrences that are due strictly after an instant, one by one, excluded dates left out. */
struct when_walk {
	const struct when *when;
	struct wall after; /* the nominal time up to which all is done */
	struct wall due_after;
	unsigned excluded; /* days on which something was left out */
};
struct when_walk when_walk(const struct when *w, struct wall after);
must_check enum err when_walk_next(struct when_walk *walk, struct wall *nominal, struct wall *due);
