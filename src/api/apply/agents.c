/* Agents among what is applied. The engine does not know them: the store is asked, by the rev that was read.
 */
#include "api/apply/apply.h"
#include "base/json.h"
#include "core/doc/agent/agent.h"

bool applying_is_agent(const struct val *document)
{
	const struct val *agent =
		document->kind == VAL_MAP && document->map.n == 1 ? val_get(document, STR("agent")) : NULL;
	return agent && agent->kind == VAL_MAP;
}

/* The canonical text of what was sent. What our command line sends is that already: if it is what there is,
 * no more is to be read. */
static enum err canonical(struct api_call *call, struct api_call *scratch, const struct applying *a,
			  const struct val *map, struct str old, struct str *ret)
{
	struct doc_env env = api_doc_env(call, a->api);
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

enum err applying_read_agent(struct api_call *call, struct applying *a, unsigned i)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	const struct val *map = val_get(&a->documents->list.item[i], STR("agent"));
	const struct val *name = val_get(map, STR("name"));
	struct item *item = &a->item[i];
	struct read_agent old = { 0 };
	struct str text = { 0 };
	enum err e = OK;
	scratch.arena = &arena;
	item->agent = true;
	if (name && name->kind == VAL_STR) { /* or it will not be read */
		item->id = name->str;
		e = read_agent(api_reader(a->api), name->str, &arena, &old, call->why);
	}
	item->there = old.text.p != NULL;
	item->rev = old.rev;
	if (!e)
		e = canonical(call, &scratch, a, map, old.text, &text);
	if (!e && item->there)
		e = applying_check_source(call, a, item, &old.source);
	if (!e && !(item->there && str_eq(text, old.text))) {
		e = applying_changes(call, &scratch, item->there ? old.text : STR(""), text, &item->changes);
		item->text = text;
	}
	item->moved = !str_eq(old.source.from, item->source.from) || old.source.line != item->source.line;
	if (!e && (!applying_keep(call, &item->id) || !applying_keep(call, &item->text)))
		e = E_NOMEM;
	arena_free(&arena);
	return e;
}

/* --- asking the store --- */

/* A request under way. */
struct asking {
	struct api_call *call;
	struct str name;
	bool *done;
	uint8_t res;
	applying_then *then;
};

static void told(void *arg)
{
	const struct asking *q = arg;
	struct applying *a = q->call->ctx;
	*q->done = q->res == ST_OK;
	if (q->res == ST_STALE)
		applying_fail(q->call, a,
			      why_set(q->call->why, E_BUSY, WHY_NOWHERE,
				      "agent '%.*s' was changed by somebody else just now",
				      STR_SHORT(q->name)));
	else if (!*q->done)
		applying_fail(q->call, a,
			      why_set(q->call->why, E_INPUT, WHY_NOWHERE, "agent '%.*s' was refused",
				      STR_SHORT(q->name)));
	q->then(q->call, a);
}

/* On the daemon's thread. */
static void answered(void *ctx, const struct st_ack *ack)
{
	struct asking *q = ctx;
	q->res = ack->res;
	api_answer(((struct applying *)q->call->ctx)->api, told, q);
}

static enum err ask(struct api_call *call, struct applying *a, const struct agent_row *agent,
		    struct source_row source, bool *done, applying_then *then)
{
	struct st_req r = {
		.op = ST_AGENT, .lane = LANE_USER, .at = api_now(), .source = source, .agent = *agent
	};
	if (api_cannot_write(call, a->api))
		return E_BUSY;
	struct asking *q = arena_alloc(call->arena, sizeof *q);
	if (!q)
		return E_NOMEM;
	*q = (struct asking){ .call = call, .name = agent->name, .done = done, .then = then };
	return daemon_send(api_daemon(a->api), &r, answered, q);
}

enum err applying_order_agent(struct api_call *call, struct applying *a, struct item *i, applying_then *then)
{
	struct agent_row row = { i->id, i->text, i->rev, i->changes.p ? AGENT_PUT : AGENT_MOVE };
	return ask(call, a, &row, i->source, &i->applied, then);
}

enum err applying_drop_agent(struct api_call *call, struct applying *a, struct removal *m,
			     applying_then *then)
{
	struct agent_row row = { .name = m->id, .rev = m->rev, .act = AGENT_DROP };
	return ask(call, a, &row, (struct source_row){ 0 }, &m->done, then);
}

/* --- what is there no more --- */

static bool is_gone(const struct applying *a, const struct read_agent *agent)
{
	for (unsigned i = 0; a->prune && i < a->prune->list.n; i++)
		if (applying_came_from(agent->source.from, applying_file(a->prune, i)))
			return true;
	for (unsigned i = 0; a->gone && i < a->gone->list.n; i++)
		if (applying_came_from(agent->source.from, applying_file(a->gone, i)) &&
		    !put_file_is_there(agent->source.from))
			return true;
	return false;
}

enum err applying_look_for_agents(struct api_call *call, struct applying *a, bool *more)
{
	struct arena arena = { 0 };
	struct read_agents page = { 0 };
	enum err e = read_agents(api_reader(a->api), a->last_agent, 0, &arena, &page, call->why);
	for (unsigned i = 0; !e && i < page.n; i++) {
		const struct read_agent *agent = &page.item[i];
		if (agent->source.from.n && applying_find(a, true, agent->name) < 0 && is_gone(a, agent))
			e = applying_add_removal(
				call, a,
				(struct removal){ .id = agent->name, .agent = true, .rev = agent->rev });
	}
	*more = !e && page.more;
	if (*more) {
		a->last_agent = page.item[page.n - 1].name;
		e = applying_keep(call, &a->last_agent) ? OK : E_NOMEM;
	}
	arena_free(&arena);
	return e;
}
