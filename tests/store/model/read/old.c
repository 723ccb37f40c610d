/* Old records. */
#include "model/read/inner.h"

static int64_t latest(const int64_t *t, unsigned n)
{
	int64_t max = t[0];
	for (unsigned i = 1; i < n; i++)
		max = t[i] > max ? t[i] : max;
	return max;
}

/* Whether the run has the last end of a schedule that may have a further end. */
static bool is_last_end(const struct model *m, const struct run_row *run)
{
	const struct model_sched *s = find_sched(m, run->sid);
	return run->state == RUN_FINISHED && s && run->end == s->last_end && may_end_again(m, s);
}

static struct old_item run_item(const struct model *m, const struct run_row *x, struct wall by)
{
	const int64_t times[] = { x->nominal.us, x->claimed.us, x->ended.us, x->retry_at.us };
	bool over = x->state >= RUN_FINISHED && latest(times, ARRAY_LEN(times)) <= by.us;
	return (struct old_item){
		.at = x->run, .sid = x->sid, .old = over && !is_last_end(m, x), .young = x->claimed.us > by.us
	};
}

/* All items of a kind, in any order. The places of ranges are numbers of this answer only. */
static unsigned list_items(const struct model *m, enum prune_what what, struct wall by, struct old_item *ret)
{
	unsigned n = 0;
	for (unsigned i = 0; i < m->runs && what == PRUNE_RUNS; i++)
		if (!m->run[i].removed)
			ret[n++] = run_item(m, &m->run[i].row, by);
	for (unsigned i = 0; i < m->scheds; i++) {
		const struct model_sched *s = &m->sched[i];
		for (unsigned k = 0; k < s->ranges && what == PRUNE_RANGES; k++, n++)
			ret[n] = (struct old_item){ n + 1, s->row.sid, 0, s->range[k].last.us <= by.us,
						    s->range[k].first.us > by.us };
		for (unsigned k = 0; k < s->versions && what == PRUNE_VERSION; k++)
			ret[n++] = (struct old_item){ s->version[k].number, s->row.sid, s->version[k].rev,
						      s->version[k].at.us <= by.us,
						      s->version[k].at.us > by.us };
		if (what == PRUNE_SCHED && s->dropped)
			ret[n++] = (struct old_item){ s->row.sid, s->row.sid, 0, s->dropped_at.us <= by.us,
						      false };
	}
	for (unsigned i = 0; i < m->problems && what == PRUNE_PROBLEM; i++)
		if (m->problem[i].number)
			ret[n++] = (struct old_item){ m->problem[i].number, 0, 0,
						      m->problem[i].closed.us <= by.us,
						      m->problem[i].opened.us > by.us };
	for (unsigned i = 0; i < m->events && what == PRUNE_EVENTS; i++) {
		const struct event_row *e = &m->event[i].row;
		if (e->number == m->event[i].request_first) /* those of one request are one item */
			ret[n++] = (struct old_item){ e->number, 0, 0, e->at.us <= by.us, e->at.us > by.us };
	}
	return n;
}

static int by_place(const void *a, const void *b)
{
	return compare_numbers(((const struct old_item *)a)->at, ((const struct old_item *)b)->at);
}

enum err model_read_old(struct reader *r, enum prune_what what, uint64_t after, struct wall by,
			struct old_item *ret, unsigned max, unsigned *n, struct why *why)
{
	const struct model *m = model_of(r);
	size_t room = m->runs + m->problems + m->scheds + m->events + 1;
	(void)why;
	for (unsigned i = 0; i < m->scheds; i++)
		room += m->sched[i].ranges + m->sched[i].versions;
	struct old_item *all = must_realloc(NULL, room * sizeof *all);
	unsigned found = list_items(m, what, by, all);
	qsort(all, found, sizeof *all, by_place);
	*n = 0;
	for (unsigned i = 0; i < found && *n < max; i++)
		if (all[i].at > after)
			ret[(*n)++] = all[i];
	free(all);
	return OK;
}

enum err model_read_old_run(struct reader *r, uint64_t run, struct old_run *ret, struct why *why)
{
	const struct model *m = model_of(r);
	const struct model_run *x = find_run(m, run);
	(void)why;
	*ret = (struct old_run){ 0 };
	if (x) {
		const int64_t times[] = { x->row.claimed.us, x->row.ended.us, x->row.retry_at.us };
		*ret = (struct old_run){ true,
					 x->row.state >= RUN_FINISHED,
					 is_last_end(m, &x->row),
					 { latest(times, ARRAY_LEN(times)) } };
	}
	return OK;
}
