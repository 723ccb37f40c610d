/* ST_PRUNE. */
#include "model/inner.h"

static void raise_pruned_to(struct model_sched *s, struct wall t)
{
	if (s->row.pruned_to.us < t.us)
		s->row.pruned_to = t;
}

static uint64_t largest_end(const struct model *m, uint64_t sid)
{
	uint64_t last = 0;
	for (unsigned i = 0; i < m->runs; i++)
		if (!m->run[i].removed && m->run[i].row.sid == sid && m->run[i].row.end > last)
			last = m->run[i].row.end;
	return last;
}

bool may_end_again(const struct model *m, const struct model_sched *s)
{
	for (unsigned i = 0; i < m->opens; i++)
		if (m->run[m->open[i]].row.sid == s->row.sid)
			return true;
	return !s->dropped;
}

static bool is_prunable(const struct model *m, const struct st_req *q, const struct run_row *run)
{
	const struct model_sched *s = find_sched(m, run->sid);
	if (run->run < q->prune.first || run->run > q->prune.last || run_is_open(run) ||
	    run->nominal.us > q->at.us || run->claimed.us > q->at.us || run->ended.us > q->at.us ||
	    run->retry_at.us > q->at.us)
		return false;
	return run->state != RUN_FINISHED || run->end < s->last_end || !may_end_again(m, s);
}

static void prune_run_text(struct model *m, const struct st_req *q)
{
	for (unsigned i = 0; i < m->run_texts;) {
		struct run_text_row *w = &m->run_text[i];
		if (w->run < q->prune.first || w->run > q->prune.last || find_run(m, w->run)) {
			i++;
			continue;
		}
		text_free(&w->text);
		*w = m->run_text[--m->run_texts];
	}
}

static void prune_messages(struct model *m, const struct st_req *q)
{
	for (unsigned i = 0; i < m->messages; i++) {
		struct message_row *row = &m->message[i];
		bool of_pruned_run = row->run && row->run >= q->prune.first && row->run <= q->prune.last &&
				     !find_run(m, row->run);
		bool finished_without_run = !row->run && row->state != MESSAGE_WAITING &&
					    row->at.us <= q->at.us && row->tried_at.us <= q->at.us;
		if (row->number && (of_pruned_run || finished_without_run))
			free_message(row);
	}
}

static void prune_runs(struct model *m, const struct st_req *q)
{
	for (unsigned i = 0; i < m->runs; i++) {
		struct model_run *x = &m->run[i];
		if (x->removed || !is_prunable(m, q, &x->row))
			continue;
		struct model_sched *s = find_sched(m, x->row.sid);
		if (x->row.kind != KIND_MANUAL)
			raise_pruned_to(s, x->row.nominal);
		remove_run(m, x);
		if (x->row.end == s->last_end)
			s->last_end = largest_end(m, x->row.sid);
	}
	remove_avoided(m, 0, wall_seconds(q->at));
	prune_run_text(m, q);
	prune_messages(m, q);
}

static void prune_ranges(struct model *m, const struct st_req *q)
{
	struct model_sched *s = find_sched(m, q->sid);
	for (unsigned i = 0; s && i < s->ranges;) {
		if (same_wall(s->range[i].last, WALL_NEVER) || s->range[i].last.us > q->at.us) {
			i++;
			continue;
		}
		raise_pruned_to(s, s->range[i].last);
		s->range[i] = s->range[--s->ranges];
	}
}

/* Whether a run is left that was claimed under a rev above `from` and up to `to`. */
static bool has_run_of(const struct model *m, uint64_t sid, uint32_t from, uint32_t to)
{
	for (unsigned i = 0; i < m->runs; i++) {
		const struct run_row *x = &m->run[i].row;
		if (!m->run[i].removed && x->sid == sid && x->rev > from && x->rev <= to)
			return true;
	}
	return false;
}

static void prune_version(struct model *m, const struct st_req *q)
{
	struct model_sched *s = find_sched(m, q->sid);
	struct model_version *found = NULL;
	uint32_t before = 0;
	for (unsigned i = 0; s && i < s->versions; i++) {
		if (s->version[i].rev == q->rev)
			found = &s->version[i];
		else if (s->version[i].rev < q->rev && s->version[i].rev > before)
			before = s->version[i].rev;
	}
	if (!found || found->at.us > q->at.us || has_run_of(m, q->sid, before, q->rev))
		return;
	text_free(&found->text);
	*found = s->version[--s->versions];
}

static void prune_sched(struct model *m, const struct st_req *q)
{
	struct model_sched *s = find_sched(m, q->sid);
	if (!s || !s->dropped || s->dropped_at.us > q->at.us)
		return;
	for (unsigned i = 0; i < m->runs; i++)
		if (!m->run[i].removed && m->run[i].row.sid == q->sid)
			return;
	remove_avoided(m, q->sid, INT64_MAX);
	free_sched(s);
	number_map_remove(&m->by_sid, q->sid);
	if (q->sid > m->pruned_sid)
		m->pruned_sid = q->sid;
	struct model_sched *last = &m->sched[--m->scheds];
	if (s != last) {
		*s = *last;
		number_map_put(&m->by_sid, s->row.sid, (uint32_t)(s - m->sched));
	}
}

static void prune_problem(struct model *m, const struct st_req *q)
{
	uint64_t number = q->prune.first;
	if (!number || number > m->problems || !m->problem[number - 1].number)
		return;
	struct problem_row *p = &m->problem[number - 1];
	if (!same_wall(p->closed, WALL_NEVER) && p->closed.us <= q->at.us)
		free_problem(p);
}

uint8_t apply_prune(struct model *m, const struct st_req *q, struct st_ack *ret)
{
	(void)ret;
	switch ((enum prune_what)q->prune.what) {
	case PRUNE_RUNS:
		prune_runs(m, q);
		return ST_OK;
	case PRUNE_RANGES:
		prune_ranges(m, q);
		return ST_OK;
	case PRUNE_VERSION:
		prune_version(m, q);
		return ST_OK;
	case PRUNE_SCHED:
		prune_sched(m, q);
		return ST_OK;
	case PRUNE_PROBLEM:
		prune_problem(m, q);
		return ST_OK;
	case PRUNE_EVENTS:
		prune_events(m, q);
		return ST_OK;
	case PRUNES:
		break;
	}
	return ST_REFUSED;
}
