/* Loads an engine from the model. */
#include "model/inner.h"

static bool has_open_run(const struct model *m, uint64_t sid)
{
	for (unsigned i = 0; i < m->opens; i++)
		if (m->run[m->open[i]].row.sid == sid)
			return true;
	return false;
}

static uint16_t open_range_reason(const struct model_sched *s)
{
	for (unsigned i = 0; i < s->ranges; i++)
		if (same_wall(s->range[i].last, WALL_NEVER))
			return s->range[i].reason;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct model_hold *x = a, *y = b;
	return (x->row.key > y->row.key) - (x->row.key < y->row.key);
}

static int by_sid(const void *a, const void *b)
{
	const struct model_sched *x = *(const struct model_sched *const *)a,
				 *y = *(const struct model_sched *const *)b;
	return (x->row.sid > y->row.sid) - (x->row.sid < y->row.sid);
}

static int by_run(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return (x->run > y->run) - (x->run < y->run);
}

static int by_part(const void *a, const void *b)
{
	const struct part_row *x = a, *y = b;
	return (x->part > y->part) - (x->part < y->part);
}

/* Whether the schedule is in a part that this node owns. */
static bool is_own(const struct model *m, uint64_t sid)
{
	const struct part_row *p = model_part(m, find_sched(m, sid)->row.part);
	return p && p->node == m->node;
}

static void load_parts(const struct model *m, load_fn *fn, void *ctx)
{
	struct part_row *part = must_realloc(NULL, m->parts * sizeof *part);
	memcpy(part, m->part, m->parts * sizeof *part);
	qsort(part, m->parts, sizeof *part, by_part);
	for (unsigned i = 0; i < m->parts; i++)
		if (part[i].node == m->node)
			fn(ctx, &(struct load_item){ .kind = LOAD_PART, .part = part[i] });
	free(part);
}

static void load_key(const struct model *m, load_fn *fn, void *ctx)
{
	struct load_item item = { .kind = LOAD_KEY };
	memcpy(item.key, m->key, sizeof item.key);
	if (m->has_key)
		fn(ctx, &item);
}

static int by_end(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return (x->end > y->end) - (x->end < y->end);
}

static void load_holds(const struct model *m, load_fn *fn, void *ctx)
{
	struct model_hold *holds = must_realloc(NULL, m->holds * sizeof *holds);
	for (unsigned i = 0; i < m->holds; i++)
		holds[i] = m->hold[i];
	qsort(holds, m->holds, sizeof *holds, by_key);
	for (unsigned i = 0; i < m->holds; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_HOLD, .hold = holds[i].row });
	free(holds);
}

static void load_open_runs(const struct model *m, load_fn *fn, void *ctx)
{
	const struct run_row **open = must_realloc(NULL, m->opens * sizeof *open);
	unsigned n = 0;
	for (unsigned i = 0; i < m->opens; i++)
		if (is_own(m, m->run[m->open[i]].row.sid))
			open[n++] = &m->run[m->open[i]].row;
	qsort(open, n, sizeof *open, by_run);
	for (unsigned i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_RUN, .run = *open[i] });
	free(open);
}

static void load_ends(const struct model *m, const struct sched_row *follower, load_fn *fn, void *ctx)
{
	const struct run_row **end = NULL;
	unsigned n = 0, room = 0;
	for (unsigned i = 0; i < m->runs; i++) {
		const struct model_run *x = &m->run[i];
		if (x->removed || x->row.sid != follower->after || x->row.end <= follower->seen)
			continue;
		ADD_ROOM(end, room, n);
		end[n++] = &x->row;
	}
	if (n)
		qsort(end, n, sizeof *end, by_end);
	for (unsigned i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_END, .follower = follower->sid, .run = *end[i] });
	free(end);
}

/* Schedules, then open runs, then the ends of followers. */
static void load_schedules(const struct model *m, load_fn *fn, void *ctx)
{
	const struct model_sched **s = must_realloc(NULL, m->scheds * sizeof *s);
	unsigned n = 0;
	for (unsigned i = 0; i < m->scheds; i++)
		if (is_own(m, m->sched[i].row.sid) &&
		    (!m->sched[i].dropped || has_open_run(m, m->sched[i].row.sid)))
			s[n++] = &m->sched[i];
	qsort(s, n, sizeof *s, by_sid);
	for (unsigned i = 0; i < n; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_SCHED,
					     .open = open_range_reason(s[i]),
					     .dropped = s[i]->dropped,
					     .sched = s[i]->row });
	load_open_runs(m, fn, ctx);
	for (unsigned i = 0; i < n; i++)
		if (s[i]->row.after && !s[i]->dropped)
			load_ends(m, &s[i]->row, fn, ctx);
	free(s);
}

void model_load(const struct model *m, load_fn *fn, void *ctx)
{
	load_key(m, fn, ctx);
	load_parts(m, fn, ctx);
	for (unsigned i = 0; i < m->names; i++)
		fn(ctx, &(struct load_item){ .kind = LOAD_NAME, .name = m->name[i] });
	load_holds(m, fn, ctx);
	load_schedules(m, fn, ctx);
	for (unsigned i = 0; i < m->problems; i++)
		if (m->problem[i].number && same_wall(m->problem[i].closed, WALL_NEVER))
			fn(ctx, &(struct load_item){ .kind = LOAD_PROBLEM, .problem = m->problem[i] });
	fn(ctx, &(struct load_item){ .kind = LOAD_DONE,
				     .done = { m->last_run, m->last_sid, m->restored, m->restored_run } });
}
