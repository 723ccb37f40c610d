#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "api/schedule_change.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"

/* Its definition, without what looks like a secret: whoever may look at agents may not see it. */
static void tell_definition(struct api_call *call, struct val *map)
{
	agent_redact(map);
	buf_add(&call->answer, STR(",\"definition\":"));
	json_write(&call->answer, map);
}

static enum err tell_agent(struct api_call *call, struct api *api, const struct read_agent *agent, bool whole)
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
	const char *blocked = e ? "its definition is not understood any more" : agent_blocked(&d);
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
	if (whole && map.kind == VAL_MAP)
		tell_definition(call, &map);
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
		e = tell_agent(call, api, &page.item[i], false);
	}
	buf_addc(&call->answer, ']');
	if (page.more && page.n)
		json_add_str(&call->answer, "after", page.item[page.n - 1].name);
	buf_addc(&call->answer, '}');
	return e;
}

static enum err find(struct api_call *call, struct api *api, struct read_agent *ret)
{
	struct str name = op_arg(&call->args, "agent")->text;
	enum err e = read_agent(api_reader(api), name, call->arena, ret, call->why);
	if (!e && !ret->text.p)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "there is no agent '%.*s'; `rota ls agents` shows them", STR_SHORT(name));
	return e;
}

enum err handle_agent(struct api_call *call, struct api *api)
{
	struct read_agent agent;
	enum err e = find(call, api, &agent);
	return e ? e : tell_agent(call, api, &agent, true);
}

/* --- rm --- */

struct removing {
	struct api *api;
	struct api_call *call;
	struct str name;
	uint8_t res;
};

static void removed(void *arg)
{
	const struct removing *r = arg;
	enum err e = OK;
	if (r->res == ST_OK) {
		buf_add(&r->call->answer, STR("{\"done\":\"rm\""));
		json_add_str(&r->call->answer, "agent", r->name);
		buf_addc(&r->call->answer, '}');
	} else {
		e = why_set(r->call->why, E_CONFLICT, WHY_NOWHERE,
			    "agent '%.*s' was changed by somebody else just now", STR_SHORT(r->name));
	}
	api_finish(r->call, e);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct removing *r = ctx;
	r->res = ack->res;
	api_answer(r->api, removed, r);
}

enum err handle_agent_rm(struct api_call *call, struct api *api)
{
	struct read_agent agent;
	enum err e = find(call, api, &agent);
	if (!e)
		e = put_check_source(call, "agent", agent.name, &agent.source, STR(""));
	if (!e && api_cannot_write(call, api))
		e = E_BUSY;
	if (e)
		return e;
	struct removing *r = arena_alloc(call->arena, sizeof *r);
	if (!r)
		return E_NOMEM;
	*r = (struct removing){ .api = api, .call = call, .name = agent.name };
	struct st_req q = { .op = ST_AGENT,
			    .lane = LANE_USER,
			    .at = api_now(),
			    .agent = { .name = agent.name, .rev = agent.rev, .act = AGENT_DROP } };
	e = daemon_send(api_daemon(api), &q, answered, r);
	call->later = !e;
	return e;
}

/* --- check --- */
