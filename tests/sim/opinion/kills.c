/* Judges kills: a run that a person stops, or that a later run replaces, must be dead soon after. */
#include "opinion/facts.h"

void judge_kills(struct opinion *o)
{
	for (unsigned i = 0; i < o->opens; i++) {
		struct opinion_run *r = &o->run[o->open[i]];
		if (r->killed == INT64_MAX || !r->started || r->orphan ||
		    world_is_elsewhere(o->w, r->row.run))
			continue;
		/* It can be killed when the daemon knows that it lives. */
		int64_t since = r->killed > r->started ? r->killed : r->started;
		if (r->reported > since)
			since = r->reported;
		int64_t most = r->kill_takes + o->w->timing.report.hi + o->w->timing.launch.hi + SECONDS(2);
		if (o->w->t - since <= most || spans_touch(&o->suspended, since, INT64_MAX))
			continue;
		FIND(o, "run %llu must be killed since %.3f s, and is alive", (unsigned long long)r->row.run,
		     (double)(o->w->t - r->killed) / 1e6);
		r->killed = INT64_MAX;
	}
}
