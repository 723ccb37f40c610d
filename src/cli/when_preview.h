#pragma once
/* A question about an expression ("when does this fire, after that time, in this zone?") and its answer, in
 * JSON and in words. What `rota next`, `rota explain` and each line of a batch have in common. */
#include "base/buf.h"
#include "core/when/when.h"

/* One question: an expression and what it is to be read with. */
struct question {
	struct str expr, tz, after, id;
	const char *after_name, *tz_name; /* what the caller calls them: --after, or after */
	unsigned count;
	struct str default_zone;
	const char *default_why; /* "this machine's" */
};

/* What was found out about it. */
struct answer {
	struct when when;
	struct wall after;
	bool from_now; /* no --after was given */
	const char *zone_why;
	struct wall *due;
	unsigned n;
	struct wall first, last; /* nominal */
};

/* Everything in the answer lives in `a`. */
must_check enum err answer_find(const struct question *q, const struct zone_source *zones, struct arena *a,
				struct answer *ret, struct why *why);
/* Adds the warnings that are for people: that nothing is left, and what clock changes do to the runs shown.
 */
void answer_warn(struct answer *r, struct arena *a);
/* ["2026-11-16T14:00:00Z",…] */
void answer_json_next(const struct answer *r, struct buf *out);
void answer_json(const struct answer *r, struct buf *out);
/* `all`: with the normalized form and the directives. */
void answer_text(const struct answer *r, bool all, struct buf *out);
