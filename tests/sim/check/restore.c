/* The checker after a restore: it forgets what the restored store does not know. */
#include "check/internal.h"

#include <stdlib.h>

/* Versions after the backup are gone, with the stretches of time for which they were responsible. */
static void forget_versions(struct check_sched *sched, const struct model_sched *s, int64_t backup)
{
	unsigned versions = 0, stretches = 0;
	while (versions < sched->versions && sched->version[versions].rev <= s->row.rev &&
	       sched->version[versions].t <= backup)
		versions++;
	while (stretches < sched->stretches && sched->stretch[stretches].version < versions)
		stretches++;
	sched->versions = versions;
	sched->stretches = stretches;
	struct stretch *last = stretches ? &sched->stretch[stretches - 1] : NULL;
	if (last && !s->dropped)
		last->to = WALL_NEVER;
	/* A step back of the clock may have moved the last change since. */
	sched->version[versions - 1].changed = s->row.changed;
	if (last && last->from.us < s->row.changed.us)
		last->from = s->row.changed;
	unsigned ends = 0;
	for (unsigned i = 0; i < sched->ends; i++)
		if (sched->end[i].t <= backup && sched->end[i].version < versions)
			sched->end[ends++] = sched->end[i];
	sched->ends = ends;
	sched->last_end = s->row.seen;
	sched->dropped = s->dropped;
	sched->killed = false;
}

/* It did not exist at the time of the backup; its sid may be used again. */
static void remove_sched(struct check *c, struct check_sched *sched)
{
	number_map_remove(&c->sched_of, sched->sid);
	free(sched->version);
	free(sched->stretch);
	free(sched->end);
	free(sched->lost);
	const struct check_sched *last = &c->sched[--c->scheds];
	if (sched == last)
		return;
	*sched = *last;
	number_map_put(&c->sched_of, sched->sid, (uint32_t)(sched - c->sched));
}

void check_restored(struct check *c, int64_t backup)
{
	c->restored = c->w->rows->restored;
	c->restored_sid = 0;
	c->restores++;
	for (size_t i = 0; i < model_scheds(c->w->rows); i++)
		if (model_sched_at(c->w->rows, i)->row.sid > c->restored_sid)
			c->restored_sid = model_sched_at(c->w->rows, i)->row.sid;
	for (unsigned i = 0; i < c->scheds;) {
		struct check_sched *sched = &c->sched[i];
		const struct model_sched *s = model_sched(c->w->rows, sched->sid);
		if (s && sched->version[0].t <= backup) {
			forget_versions(sched, s, backup);
			i++;
		} else {
			remove_sched(c, sched);
		}
	}
	for (unsigned i = 0; i < c->holds; i++)
		if (c->hold[i].to == INT64_MAX)
			c->hold[i].to = c->w->t;
	for (size_t i = 0; i < model_holds(c->w->rows); i++) {
		const struct hold_row *h = model_hold_at(c->w->rows, i);
		ADD_ROOM(c->hold, c->hold_room, c->holds);
		c->hold[c->holds++] = (struct check_hold){ h->key, h->reason, c->w->t, INT64_MAX, h->until };
	}
}
