/* The occurrences of a when expression, one by one, without those on excluded days. */
#include "core/when/civil.h"
#include "core/when/when.h"

struct when_walk when_walk(const struct when *w, struct wall after)
{
	struct when_walk walk = { .when = w, .after = after, .due_after = after };
	/* With jitter the last nominal time before `after` may be due after it. */
	struct wall last;
	if (w->rule.jitter && rule_prev(&w->rule, w->zone, after, &last) == OK)
		walk.after = (struct wall){ last.us - 1 };
	return walk;
}

/* The last instant of the local day of t. */
static struct wall end_of_day(const struct zone *z, struct wall t)
{
	int64_t s = wall_seconds(t);
	struct zone_span now = zone_span(z, s);
	int64_t midnight = (floor_div(s + now.offset, DAY) + 1) * DAY, end = zone_utc(z, midnight, NULL);
	if (end <= s) {
		/* The clock went back over midnight, so midnight comes again, unless another change of the
		 * clock comes first. */
		end = midnight - now.offset;
		end = end < now.to ? end : now.to;
	}
	return (struct wall){ end * USEC - 1 };
}

enum err when_walk_next(struct when_walk *walk, struct wall *nominal, struct wall *due)
{
	const struct when *w = walk->when;
	/* An excluded day occurs once, or twice if the clock goes back over its midnight. */
	for (unsigned i = 0; i < 2 * w->except.n + 2; i++) {
		struct wall t, d;
		enum err e = rule_next(&w->rule, w->zone, walk->after, &t);
		if (e)
			return e;
		if (days_have(&w->except, w->zone, t)) {
			walk->excluded++;
			walk->after = end_of_day(w->zone, t);
			continue;
		}
		walk->after = t;
		d = rule_due(&w->rule, w->zone, t);
		if (d.us > walk->due_after.us) {
			*nominal = t;
			*due = d;
			return OK;
		}
	}
	return E_NOTFOUND;
}
