#pragma once
/* A when in words. Two whens that differ in any run never get the same sentence. Pure. */
#include "core/when/when.h"

/* One sentence with a full stop: what fires, on which days (saying whether both day fields must match or
 * either may), in which zone, between which dates. */
void explain_when(const struct when *w, struct buf *out);

/* What changes of the clock do to the runs in (after, until], one line each: at most `max`, in `a`. */
unsigned explain_clock_changes(const struct when *w, struct wall after, struct wall until, struct arena *a,
			       const char **ret, unsigned max);
