#pragma once
/* When expressions in words. Two expressions with different times never get the same sentence. Pure. */
#include "core/when/when.h"

/* Appends one sentence: the times, the days (and whether both day fields must match), the zone, the bounds.
 */
void explain_when(const struct when *w, struct buf *out);

/* What clock changes do to the runs in (after, until]: one line for each change, at most `max`, in `a`. */
unsigned explain_clock_changes(const struct when *w, struct wall after, struct wall until, struct arena *a,
			       const char **ret, unsigned max);
