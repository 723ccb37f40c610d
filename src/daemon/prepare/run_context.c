/* Reads states, the previous run and notes, and builds the scope from them. */
#include "daemon/prepare/run_context.h"

#include "base/json.h"
#include "daemon/prepare/relevant_notes.h"
#include "port/runfile.h"
#include "runfile/tail.h"
#include "sys/clock.h"

static enum err read_json(const struct state_row *row, struct arena *a, struct val *ret, struct why *why)
{
	*ret = (struct val){ .kind = VAL_NULL };
	return row->text.n ? json_read(row->text, a, ret, why) : OK;
}

/* The state of the document's agent, which may be another one than the rules have. */
static enum err read_agent_state(const struct context_source *source, struct arena *a, struct val *ret,
				 struct why *why)
{
	struct state_row row = source->read->state;
	struct str agent = source->doc->agent;
	enum err e = str_eq(row.key, agent) ? OK : read_state(source->reader, agent, a, &row, why);
	return e ? e : read_json(&row, a, ret, why);
}

/* The result of the latest run before this one that has finished. */
static enum err read_previous(const struct context_source *source, struct arena *a, struct run_scope *s,
			      struct why *why)
{
	if (!source->read->has_previous)
		return OK;
	const struct run_row *previous = s->previous = &source->read->previous;
	s->result = source->read->result;
	if (s->result.n)
		return OK;
	/* There is none, or the previous version of rota has recorded it, which kept results only in files.
	 */
	enum err e = runfile_tail(source->runs, previous->run, previous->attempt, "out", ANSWER_BYTES_MAX, a,
				  &s->result, why);
	return e == E_IO ? OK : e; /* the run does not fail because a result cannot be read */
}

/* Finds the last time before this run that was taken up, and the first missed one after it. */
static enum err scan_runs(const struct context_source *source, struct arena *a, struct wall *taken,
			  struct wall *missed, struct why *why)
{
	const struct run_row *run = &source->read->run;
	struct read_filter f = { .sid = run->sid, .until = { run->nominal.us - 1 }, .limit = READ_LIST_MAX };
	struct read_runs page = { .more = true };
	enum err e = OK;
	for (unsigned pages = 0; !e && page.more && pages * READ_LIST_MAX < OWED_MAX; pages++) {
		e = read_runs(source->reader, &f, a, &page, why);
		for (unsigned i = 0; !e && i < page.n; i++) {
			const struct run_row *r = &page.item[i];
			f.before.nominal = r->nominal;
			f.before.run = r->run;
			if (r->kind == KIND_MANUAL || r->kind == KIND_BACKFILL || r->state == RUN_SKIPPED)
				continue;
			if (r->state != RUN_MISSED) {
				*taken = r->nominal;
				return OK;
			}
			*missed = r->nominal;
		}
	}
	return e;
}

/* The first missed time in the context of the run. Missed times are records of their own, or ranges. */
static enum err find_missed_since(const struct context_source *source, struct arena *a, struct wall *ret,
				  struct why *why)
{
	const struct run_row *run = &source->read->run;
	struct wall taken = { 0 }, first = { 0 };
	struct read_ranges ranges;
	if (!run->missed)
		return OK;
	enum err e = scan_runs(source, a, &taken, &first, why);
	if (!e)
		e = read_ranges(source->reader, run->sid, taken, (struct wall){ run->nominal.us - 1 },
				READ_LIST_MAX, a, &ranges, why);
	for (unsigned i = 0; !e && i < ranges.n; i++) {
		const struct range_row *g = &ranges.item[i];
		if (g->state == RUN_MISSED && g->first.us > taken.us && (!first.us || g->first.us < first.us))
			first = g->first;
	}
	if (!e)
		*ret = first;
	return e;
}

/* The task that the check of this attempt has claimed, as it has printed it. */
static enum err read_task(const struct context_source *source, struct arena *a, struct val *ret,
			  struct why *why)
{
	struct str text;
	if (!source->doc->check.claim.n || source->before_check)
		return OK;
	enum err e = runfile_tail(source->runs, source->read->run.run, source->attempt | RUN_CHECK, "out",
				  ANSWER_BYTES_MAX, a, &text, why);
	if (e || !text.n)
		return e == E_IO ? OK : e; /* without a check nothing was claimed */
	struct why wrong;
	e = json_read(str_trim(text), a, ret, &wrong);
	return e && e != E_NOMEM
		       ? why_set(why, E_INPUT, WHY_NOWHERE, "the claimed task cannot be read: %s", wrong.text)
		       : e;
}

enum err run_context_build(const struct context_source *source, struct arena *a, struct run_context *ret,
			   struct why *why)
{
	struct run_scope s = { .doc = source->doc, .run = &source->read->run, .attempt = source->attempt };
	enum err e = read_json(&source->read->user, a, &s.user, why);
	if (!e && source->doc->agent.n)
		e = read_agent_state(source, a, &s.agent, why);
	if (!e)
		e = read_previous(source, a, &s, why);
	if (!e)
		e = find_missed_since(source, a, &s.missed_since, why);
	if (!e)
		e = read_task(source, a, &s.task, why);
	if (!e && !source->without_notes)
		e = relevant_notes_find(source->reader, source->read, source->pace, a, &s, why);
	if (e)
		return e;
	*ret = (struct run_context){ .view = { &ret->scope, source->read->run.nominal },
				     .budget = RENDER_BUDGET,
				     .env = { .find = run_scope_find,
					      .self = &ret->view,
					      .names = &run_scope_names,
					      .now = clock_wall(),
					      .zones = source->zones,
					      .budget = &ret->budget,
					      .zone = source->doc->when.zone } };
	return run_scope_value(&s, &ret->env, a, &ret->scope, why);
}
