/* Evaluates the condition of a run that does not exist yet, and looks for its secrets. */
#include "api/forecast.h"

#include "core/doc/agent/agent.h"
#include "daemon/prepare/preconditions.h"
#include "daemon/prepare/relevant_notes.h"
#include "exec/secret.h"

/* The latest finished run, which the condition may refer to as `previous`. */
static enum err read_previous_run(struct api_call *call, struct api *api, uint64_t sid,
				  struct read_attempt *ret)
{
	struct read_runs runs;
	enum err e = read_runs(api_reader(api),
			       &(struct read_filter){ .sid = sid, .states = 1u << RUN_FINISHED, .limit = 1 },
			       call->arena, &runs, call->why);
	ret->has_previous = !e && runs.n;
	if (ret->has_previous)
		ret->previous = runs.item[0];
	return e;
}

static enum err evaluate_condition(struct api_call *call, struct api *api, const struct read_sched *s,
				   const struct schedule_doc *doc, struct wall nominal, struct forecast *ret)
{
	struct notes_pace pace = { 0 };
	struct precondition_answer answer;
	struct read_attempt read = { .run = { .sid = s->row.sid,
					      .rev = s->row.rev,
					      .nominal = nominal,
					      .due = nominal,
					      .attempt = 1 } };
	struct context_source source = { .reader = api_reader(api),
					 .read = &read,
					 .zones = zoneinfo_source(call->zones),
					 .doc = doc,
					 .attempt = 1,
					 .runs = daemon_runs_dir(api_daemon(api)),
					 .pace = &pace };
	enum err e = read_previous_run(call, api, s->row.sid, &read);
	if (!e)
		e = read_state(api_reader(api), STR(""), call->arena, &read.user, call->why);
	if (!e)
		e = read_state(api_reader(api), doc->agent, call->arena, &read.state, call->why);
	if (!e)
		e = precondition_answer(&source, ASK_CONDITION, call->arena, &answer, call->why);
	if (e)
		return e;
	ret->has_condition = true;
	ret->holds = answer.yes;
	ret->condition = doc_condition(doc);
	ret->error = answer.detail;
	return OK;
}

static enum err find_missing_secret(struct api_call *call, struct api *api, const struct schedule_doc *doc,
				    struct forecast *ret)
{
	const struct agent_doc *agent = doc->turn.agent;
	const struct secret_list all = { api_config(api)->secret, api_config(api)->secrets };
	struct why why;
	if (doc->action.kind != DOC_AGENT_TURN || !agent)
		return OK;
	for (unsigned i = 0; i < agent->secrets.n && !ret->missing.n; i++) {
		enum err e = secret_check(&all, agent->secrets.word[i], call->arena, &why);
		if (e && e != E_INPUT)
			return e;
		const char *text = e ? arena_printf(call->arena, "%s", why.text) : "";
		if (!text)
			return E_NOMEM;
		ret->missing = str_of(text);
	}
	return OK;
}

enum err forecast_run(struct api_call *call, struct api *api, const struct read_sched *s, struct wall nominal,
		      struct forecast *ret)
{
	struct schedule_doc doc;
	*ret = (struct forecast){ 0 };
	if (!s->document.n)
		return OK;
	enum err e = document_read_stored(call, api, s->document, &doc);
	if (e)
		return e == E_INPUT ? OK : e;
	if (doc_condition(&doc).n)
		e = evaluate_condition(call, api, s, &doc, nominal, ret);
	return e ? e : find_missing_secret(call, api, &doc, ret);
}
