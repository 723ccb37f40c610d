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

/* The one before it that ended. */
static enum err read_previous(const struct context_source *g, struct arena *a, struct run_scope *s,
			      struct why *why)
{
	struct read_runs list;
	struct read_filter f = { .sid = g->run->sid, .states = 1u << RUN_FINISHED, .limit = 1 };
	f.before.nominal = g->run->nominal;
	f.before.run = g->run->run;
	enum err e = read_runs(g->reader, &f, a, &list, why);
	if (e || !list.n)
		return e;
	s->previous = list.item;
	e = runfile_tail(g->runs, list.item[0].run, list.item[0].attempt, "out", ANSWER_BYTES_MAX, a,
			 &s->result, why);
	return e == E_IO ? OK : e; /* what cannot be read is no reason not to run */
}

enum err run_context(const struct context_source *g, struct arena *a, struct run_context *ret,
		     struct why *why)
{
	struct run_scope s = { .doc = g->doc, .run = g->run, .attempt = g->attempt };
	enum err e = read_json(g->reader, STR(""), a, &s.user, why);
	if (!e && g->doc->agent.n)
		e = read_json(g->reader, g->doc->agent, a, &s.agent, why);
	if (!e)
		e = read_previous(g, a, &s, why);
	if (!e && !g->without_memory)
		e = relevant_notes(g->reader, g->pace, a, &s, why);
	if (e)
		return e;
	*ret = (struct run_context){ .view = { &ret->scope, g->run->nominal },
				     .env = { .find = run_scope_find,
					      .self = &ret->view,
					      .names = &run_scope_names,
					      .now = clock_wall(),
					      .zones = g->zones,
					      .zone = g->doc->when.zone } };
	return run_scope_value(&s, &ret->env, a, &ret->scope, why);
}
