/* Runs, the records about a nominal time, and what an attempt needs. */
#include "model/read/inner.h"

enum err model_read_run(struct reader *r, uint64_t run, struct run_row *ret, struct why *why)
{
	const struct model_run *x = find_run(model_of(r), run);
	if (!x)
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no run r%llu",
			       (unsigned long long)run);
	*ret = x->row;
	return OK;
}

enum err model_read_run_text(struct reader *r, uint64_t run, enum run_text_kind kind, struct arena *a,
			     struct str *ret, struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = (struct str){ 0 };
	for (unsigned i = 0; i < m->run_texts; i++)
		if (m->run_text[i].run == run && m->run_text[i].kind == kind)
			*ret = copy_text(a, m->run_text[i].text);
	return OK;
}

/* --- lists --- */

static int newest_number(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return compare_numbers(y->run, x->run);
}

static int latest_nominal(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	if (x->nominal.us != y->nominal.us)
		return x->nominal.us < y->nominal.us ? 1 : -1;
	return newest_number(a, b);
}

static bool is_after_cursor(const struct read_filter *f, const struct run_row *x)
{
	if (!f->before.run)
		return true;
	if (!f->sid || x->nominal.us == f->before.nominal.us)
		return x->run < f->before.run;
	return x->nominal.us < f->before.nominal.us;
}

static bool matches(const struct read_filter *f, const struct run_row *x)
{
	bool failed = x->state == RUN_FINISHED && (x->outcome == 2 || x->outcome == 3);
	int64_t at = f->sid ? x->nominal.us : x->claimed.us;
	return (!f->sid || x->sid == f->sid) && (!f->states || f->states >> x->state & 1) &&
	       (!f->failed || failed) && (!f->since.us || at >= f->since.us) &&
	       (!f->until.us || at <= f->until.us) && is_after_cursor(f, x);
}

enum err model_read_runs(struct reader *r, const struct read_filter *f, struct arena *a,
			 struct read_runs *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->runs; i++)
		if (!m->run[i].removed && matches(f, &m->run[i].row))
			rows_add(&found, &m->run[i].row);
	ret->more = rows_page(&found, f->limit, f->sid ? latest_nominal : newest_number);
	ret->n = found.n;
	ret->item = arena_alloc(a, (found.n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found.n; i++)
		ret->item[i] = *(const struct run_row *)found.row[i];
	rows_free(&found);
	return OK;
}

static int latest_range(const void *a, const void *b)
{
	const struct range_row *x = *(const struct range_row *const *)a,
			       *y = *(const struct range_row *const *)b;
	if (x->last.us != y->last.us)
		return x->last.us < y->last.us ? 1 : -1;
	if (x->sid != y->sid)
		return compare_numbers(y->sid, x->sid);
	if (x->first.us != y->first.us)
		return x->first.us < y->first.us ? 1 : -1;
	return x->state != y->state ? y->state - x->state : y->reason - x->reason;
}

enum err model_read_ranges(struct reader *r, uint64_t sid, struct wall since, struct wall until,
			   unsigned limit, struct arena *a, struct read_ranges *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct row_set found = { 0 };
	(void)why;
	for (size_t i = 0; i < model_scheds(m); i++) {
		const struct model_sched *s = model_sched_at(m, i);
		for (unsigned k = 0; k < s->ranges; k++)
			if ((!sid || s->row.sid == sid) && s->range[k].last.us >= since.us &&
			    s->range[k].last.us <= until.us)
				rows_add(&found, &s->range[k]);
	}
	ret->more = rows_page(&found, limit, latest_range);
	ret->n = found.n;
	ret->item = arena_alloc(a, (found.n + 1) * sizeof *ret->item);
	for (unsigned i = 0; i < found.n; i++)
		ret->item[i] = *(const struct range_row *)found.row[i];
	rows_free(&found);
	return OK;
}

enum err model_read_avoided(struct reader *r, uint64_t sid, struct wall since, struct read_avoided *ret,
			    struct why *why)
{
	const struct model *m = model_of(r);
	(void)why;
	*ret = (struct read_avoided){ 0 };
	for (unsigned i = 0; i < m->avoided_n; i++) {
		const struct avoided_row *row = &m->avoided[i];
		if (row->sid == sid && row->since == AVOIDED_EVER)
			ret->ever = row->n;
		if (!row->sid && row->since != AVOIDED_EVER && row->since >= wall_seconds(since))
			ret->lately += row->n;
	}
	return OK;
}

/* --- one nominal time --- */

enum err model_read_why(struct reader *r, uint64_t sid, struct wall nominal, struct read_why *ret,
			struct why *why)
{
	const struct model *m = model_of(r);
	const struct model_sched *s = find_sched(m, sid);
	struct read_why w = { 0 };
	(void)why;
	for (unsigned i = 0; i < m->runs; i++) {
		const struct run_row *x = &m->run[i].row;
		if (m->run[i].removed || x->sid != sid || x->kind == KIND_MANUAL)
			continue;
		if (same_wall(x->nominal, nominal)) {
			w.has_run = true;
			w.run = *x;
		} else if (x->nominal.us < nominal.us &&
			   (!w.has_before || x->nominal.us > w.before.nominal.us)) {
			w.has_before = true;
			w.before = *x;
		} else if (x->nominal.us > nominal.us &&
			   (!w.has_after || x->nominal.us < w.after.nominal.us)) {
			w.has_after = true;
			w.after = *x;
		}
	}
	for (unsigned i = 0; s && i < s->ranges; i++) {
		const struct range_row *g = &s->range[i];
		if (g->first.us <= nominal.us && g->last.us >= nominal.us &&
		    (!w.has_range || g->first.us > w.range.first.us)) {
			w.has_range = true;
			w.range = *g;
		}
	}
	*ret = w;
	return OK;
}

/* --- an attempt --- */

enum err model_read_attempt(struct reader *r, const struct attempt_request *q, struct arena *a,
			    struct read_attempt *ret, struct why *why)
{
	const struct model *m = model_of(r);
	struct read_attempt found = { .agent.name = q->agent, .state.key = q->agent, .has_notes = q->notes };
	struct read_runs previous;
	struct why unused;
	bool document = !model_read_document_of(r, q->sid, q->rev, a, &found.document, &unused);
	if (!document || model_read_run(r, q->run, &found.run, &unused))
		return why_set(why, E_NOTFOUND, WHY_NOWHERE, "there is no %s of run r%llu",
			       document ? "record" : "document", (unsigned long long)q->run);
	struct read_filter f = { .sid = found.run.sid, .states = 1u << RUN_FINISHED, .limit = 1 };
	f.before.nominal = found.run.nominal;
	f.before.run = found.run.run;
	enum err e = model_read_runs(r, &f, a, &previous, why);
	found.has_previous = previous.n > 0;
	if (previous.n)
		found.previous = previous.item[0];
	if (!e && previous.n)
		e = model_read_run_text(r, found.previous.run, RUN_TEXT_RESULT, a, &found.result, why);
	for (unsigned i = 0; i < m->agents; i++)
		found.agents += m->agent[i].row.text.p && found.agents < 2;
	if (!e)
		e = model_read_state(r, STR(""), a, &found.user, why);
	if (!e && q->agent.n)
		e = model_read_agent(r, q->agent, a, &found.agent, why);
	if (!e && q->agent.n)
		e = model_read_state(r, q->agent, a, &found.state, why);
	if (!e && q->agent.n && q->notes)
		e = model_read_memories(r, q->agent, 0, 0, q->notes, a, &found.notes, why);
	if (!e)
		*ret = found;
	return e;
}
