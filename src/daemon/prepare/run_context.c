/* Reads states, the previous run and notes, and builds the scope from them. */
#include "daemon/prepare/run_context.h"

#include "base/json.h"
#include "daemon/prepare/relevant_notes.h"
#include "runfile/tail.h"
#include "sys/clock.h"

static enum err read_json(struct reader *r, struct str key, struct arena *a, struct val *ret, struct why *why)
{
	struct state_row row;
	enum err e = read_state(r, key, a, &row, why);
	*ret = (struct val){ .kind = VAL_NULL };
	return e || !row.text.n ? e : json_read(row.text, a, ret, why);
}

/* The latest run before this one that has finished, and its result. */
static enum err read_previous(const struct context_source *source, struct arena *a, struct run_scope *s,
			      struct why *why)
{
	struct read_runs list;
	struct read_filter f = { .sid = source->run->sid, .states = 1u << RUN_FINISHED, .limit = 1 };
	f.before.nominal = source->run->nominal;
	f.before.run = source->run->run;
	enum err e = read_runs(source->reader, &f, a, &list, why);
	if (e || !list.n)
		return e;
	s->previous = list.item;
	e = runfile_tail(source->runs, list.item[0].run, list.item[0].attempt, "out", ANSWER_BYTES_MAX, a,
			 &s->result, why);
	return e == E_IO ? OK : e; /* the run does not fail because a result cannot be read */
}

enum err run_context_build(const struct context_source *source, struct arena *a, struct run_context *ret,
			   struct why *why)
{
	struct run_scope s = { .doc = source->doc, .run = source->run, .attempt = source->attempt };
	enum err e = read_json(source->reader, STR(""), a, &s.user, why);
	if (!e && source->doc->agent.n)
		e = read_json(source->reader, source->doc->agent, a, &s.agent, why);
	if (!e)
		e = read_previous(source, a, &s, why);
	if (!e && !source->without_notes)
		e = relevant_notes_find(source->reader, source->pace, a, &s, why);
	if (e)
		return e;
	*ret = (struct run_context){ .view = { &ret->scope, source->run->nominal },
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
