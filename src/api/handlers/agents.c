/* Lists, shows and removes agents. */
#include "api/handlers/handlers.h"

#include "api/documents.h"
#include "api/json_out.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "sys/clock.h"

static enum err write_agent(struct api_call *call, struct api *api, const struct read_agent *agent,
			    bool with_definition)
{
	struct doc_env env = api_doc_env(call, api);
	struct buf *out = &call->answer;
	struct agent_doc d;
	struct val map;
	struct why why;
	enum err e = json_read(agent->text, call->arena, &map, &why);
	if (!e)
		e = agent_read(agent->text, &map, &env, call->arena, &d, &why);
	if (e == E_NOMEM)
		return e;
	const char *blocked = e ? "this version of rota cannot read its definition" : agent_blocked(&d);
	buf_add(out, STR("{\"name\":"));
	json_write_str(out, agent->name);
	if (!e)
		json_add_str(out, "runner", str_of(agent_runner_words[d.runner]));
	if (blocked)
		json_add_str(out, "blocked", str_of(blocked));
	buf_addf(out, ",\"rev\":%u", agent->rev);
	json_add_time(out, "changed", agent->at);
	if (agent->source.from.n) {
		json_add_str(out, "source", agent->source.from);
		buf_addf(out, ",\"line\":%u", agent->source.line);
	}
	if (with_definition && map.kind == VAL_MAP) {
		agent_redact(&map); /* callers that may see agents may not see their secrets */
		buf_add(out, STR(",\"definition\":"));
		json_write(out, &map);
	}
	buf_addc(out, '}');
	return OK;
}

enum err handle_agents(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit");
	struct read_agents page;
	enum err e = read_agents(api_reader(api), op_arg(&call->args, "after")->text,
				 limit->given ? limit->count : 100, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"agents\":["));
	for (unsigned i = 0; i < page.n && !e; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		e = write_agent(call, api, &page.item[i], false);
	}
	buf_addc(&call->answer, ']');
	if (page.more && page.n)
		json_add_str(&call->answer, "after", page.item[page.n - 1].name);
	buf_addc(&call->answer, '}');
	return e;
}

static enum err find_agent(struct api_call *call, struct api *api, struct read_agent *ret)
{
	struct str name = op_arg(&call->args, "agent")->text;
	enum err e = read_agent(api_reader(api), name, call->arena, ret, call->why);
	if (!e && !ret->text.p)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "there is no agent '%.*s'; `rota ls agents` lists them", STR_SHORT(name));
	return e;
}

enum err handle_agent(struct api_call *call, struct api *api)
{
	struct read_agent agent;
	enum err e = find_agent(call, api, &agent);
	return e ? e : write_agent(call, api, &agent, true);
}

static void answer_removal(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	const struct read_agent *agent = call->ctx;
	enum err e = OK;
	(void)api;
	if (ack->res == ST_OK) {
		buf_add(&call->answer, STR("{\"done\":\"rm\""));
		json_add_str(&call->answer, "agent", agent->name);
		buf_addc(&call->answer, '}');
	} else {
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "agent '%.*s' was changed at the same time; try again", STR_SHORT(agent->name));
	}
	api_finish(call, e);
}

enum err handle_agent_rm(struct api_call *call, struct api *api)
{
	struct read_agent *agent = arena_alloc(call->arena, sizeof *agent);
	enum err e = agent ? find_agent(call, api, agent) : E_NOMEM;
	if (!e)
		e = source_check(call, "agent", agent->name, &agent->source, STR(""));
	if (e)
		return e;
	struct st_req request = { .op = ST_AGENT,
				  .lane = LANE_USER,
				  .at = clock_wall(),
				  .agent = { .name = agent->name, .rev = agent->rev, .act = AGENT_DROP } };
	call->ctx = agent;
	return api_store_request(call, api, &request, answer_removal);
}
