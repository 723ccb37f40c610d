#pragma once
/* The preview of an expression: its next due times, its meaning and its warnings, as JSON and as text. For
 * `rota next`, `rota explain` and the lines of a batch. */
#include "base/buf.h"
#include "core/when/when.h"

/* An expression, and the parameters of its preview. */
struct preview_query {
	struct str expr, tz, after, id;
	const char *after_name, *tz_name; /* the names of after and tz in messages: --after, or after */
	unsigned count;
	struct str default_zone;
	const char *default_why;           /* why default_zone is used: "the zone of this machine" */
	const struct calendars *calendars; /* of the configuration */
};

struct preview {
	struct when when;
	struct wall after;
	bool from_now; /* no --after was given */
	const char *zone_why;
	struct wall *due;
	unsigned n;
	struct wall first, last; /* nominal times of due[0] and due[n - 1] */
};

/* The result lives in `a`. */
must_check enum err preview_compute(const struct preview_query *q, const struct zone_source *zones,
				    struct arena *a, struct preview *ret, struct why *why);
/* Adds warnings for people: if there is no due time left, and if clock changes affect the times shown. */
void preview_warn(struct preview *r, struct arena *a);
/* ["2026-11-16T14:00:00Z",…] */
void preview_write_times(const struct preview *r, struct buf *out);
void preview_write_json(const struct preview *r, struct buf *out);
/* `all`: also writes the normalized form and the directives. */
void preview_write_text(const struct preview *r, bool all, struct buf *out);
