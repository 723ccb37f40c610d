/* Agents among the documents. The engine does not know agents: changes are sent to the store, which refuses
 * them if the agent's revision has changed since it was read. */
#include "api/apply/apply.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "sys/clock.h"

bool apply_is_agent(const struct val *document)
{
	const struct val *agent =
		document->kind == VAL_MAP && document->map.n == 1 ? val_get(document, STR("agent")) : NULL;
	return agent && agent->kind == VAL_MAP;
}

/* Writes the canonical text of a definition. The command line sends canonical text: a text that equals the
 * stored one need not be read. */
static enum err write_canonical(struct api_call *call, struct api_call *scratch, const struct apply_job *job,
				const struct val *map, struct str old, struct str *ret)
{
	struct doc_env env = api_doc_env(call, job->api);
	_cleanup_(buf_free) struct buf text = { 0 };
	struct agent_doc d;
	if (old.p && str_eq(json_source(call->source, map), old)) {
		*ret = old;
		return OK;
	}
	enum err e = agent_read(call->source, map, &env, scratch->arena, &d, call->why);
	if (e)
		return e;
	agent_write(&d, &text);
	*ret = (struct str){ text.failed ? NULL : arena_dup(scratch->arena, buf_str(&text)), text.n };
	return ret->p ? OK : E_NOMEM;
}

enum err apply_read_agent(struct api_call *call, struct apply_job *job, unsigned i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	const struct val *map = val_get(&job->documents->list.item[i], STR("agent"));
	const struct val *name = val_get(map, STR("name"));
	struct apply_item *item = &job->item[i];
	struct read_agent old = { 0 };
	struct str text = { 0 };
	enum err e = OK;
	scratch.arena = &arena;
	item->agent = true;
	if (name && name->kind == VAL_STR) { /* otherwise agent_read reports it */
		item->id = name->str;
		e = read_agent(api_reader(job->api), name->str, &arena, &old, call->why);
	}
	item->exists = old.text.p != NULL;
	item->rev = old.rev;
	if (!e)
		e = write_canonical(call, &scratch, job, map, old.text, &text);
	if (!e && item->exists)
		e = apply_check_source(call, job, item, &old.source);
	if (!e && !(item->exists && str_eq(text, old.text))) {
		e = apply_describe_changes(call, &scratch, item->exists ? old.text : STR(""), text,
					   &item->changes);
		item->text = text;
	}
	item->moved = !str_eq(old.source.from, item->source.from) || old.source.line != item->source.line;
	if (!e && (!apply_keep(call, &item->id) || !apply_keep(call, &item->text)))
		e = E_NOMEM;
	arena_free(&arena);
	return e;
}

/* --- sending --- */

/* Counts an answer, and keeps the error if the store has refused the change. True: the change is stored. */
static bool note_answer(struct api_call *call, struct apply_job *job, struct str name,
			const struct st_ack *ack)
{
	job->answered++;
	if (ack->res == ST_STALE)
		apply_fail(call, job,
			   why_set(call->why, E_BUSY, WHY_NOWHERE,
				   "agent '%.*s' was changed at the same time; apply again",
				   STR_SHORT(name)));
	else if (ack->res != ST_OK)
		apply_fail(call, job,
			   why_set(call->why, E_INPUT, WHY_NOWHERE, "the store refused agent '%.*s'",
				   STR_SHORT(name)));
	return ack->res == ST_OK;
}

static void agent_stored(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	struct apply_job *job = call->ctx;
	struct apply_item *item = &job->item[(const struct apply_item *)call->item - job->item];
	(void)api;
	item->applied = note_answer(call, job, item->id, ack);
	apply_send(call);
}

static void agent_removed(struct api_call *call, struct api *api, const struct st_ack *ack)
{
	struct apply_job *job = call->ctx;
	struct apply_removal *m = &job->removal[(const struct apply_removal *)call->item - job->removal];
	(void)api;
	m->done = note_answer(call, job, m->id, ack);
	apply_send_removals(call);
}

enum err apply_send_agent(struct api_call *call, struct apply_job *job, struct apply_item *item)
{
	struct st_req r = { .op = ST_AGENT,
			    .lane = LANE_USER,
			    .at = clock_wall(),
			    .source = item->source,
			    .agent = { item->id, item->text, item->rev,
				       item->changes.p ? AGENT_PUT : AGENT_MOVE } };
	call->item = item;
	return api_store_request(call, job->api, &r, agent_stored);
}

enum err apply_remove_agent(struct api_call *call, struct apply_job *job, struct apply_removal *m)
{
	struct st_req r = { .op = ST_AGENT,
			    .lane = LANE_USER,
			    .at = clock_wall(),
			    .agent = { .name = m->id, .rev = m->rev, .act = AGENT_DROP } };
	call->item = m;
	return api_store_request(call, job->api, &r, agent_removed);
}

/* --- removals --- */

static bool is_to_be_removed(const struct apply_job *job, const struct read_agent *agent)
{
	for (unsigned i = 0; job->prune && i < job->prune->list.n; i++)
		if (apply_came_from(agent->source.from, apply_file(job->prune, i)))
			return true;
	for (unsigned i = 0; job->gone && i < job->gone->list.n; i++)
		if (apply_came_from(agent->source.from, apply_file(job->gone, i)) &&
		    !source_file_exists(agent->source.from))
			return true;
	return false;
}

enum err apply_find_removed_agents(struct api_call *call, struct apply_job *job, bool *more)
{
	struct arena arena = { 0 };
	struct read_agents page = { 0 };
	enum err e = read_agents(api_reader(job->api), job->last_agent, 0, &arena, &page, call->why);
	for (unsigned i = 0; !e && i < page.n; i++) {
		const struct read_agent *agent = &page.item[i];
		if (agent->source.from.n && apply_find(job, true, agent->name) < 0 &&
		    is_to_be_removed(job, agent))
			e = apply_add_removal(call, job,
					      (struct apply_removal){
						      .id = agent->name, .agent = true, .rev = agent->rev });
	}
	*more = !e && page.more;
	if (*more) {
		job->last_agent = page.item[page.n - 1].name;
		e = apply_keep(call, &job->last_agent) ? OK : E_NOMEM;
	}
	arena_free(&arena);
	return e;
}
