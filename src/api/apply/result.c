/* What came of it. */
#include "api/apply/apply.h"
#include "api/json_out.h"
#include "base/json.h"
#include "core/doc/agent/turn.h"
#include "sys/clock.h"

static bool goes(const struct applying *a, struct str agent)
{
	for (unsigned i = 0; i < a->removals; i++)
		if (a->removal[i].agent && str_eq(a->removal[i].id, agent))
			return true;
	return false;
}

/* How many agents there will be that are not among these; enough of them to tell one from several. */
static enum err count_others(struct api_call *call, const struct applying *a, unsigned *ret)
{
	struct read_agents some;
	enum err e = read_agents(api_reader(a->api), STR(""), READ_LIST_MAX, call->arena, &some, call->why);
	*ret = 0;
	for (unsigned i = 0; !e && i < some.n; i++)
		*ret += applying_find(a, true, some.item[i].name) < 0 && !goes(a, some.item[i].name);
	return e;
}

/* In a dry run, by the agents as they would be. Those among these were looked at when they were read. */
static enum err settle_dry(struct api_call *call, const struct applying *a, struct schedule_doc *turn)
{
	struct turn_agent f = { .name = turn->agent.n ? turn->agent
						      : api_doc_env(call, a->api).default_agent };
	unsigned others;
	if (f.name.n && applying_find(a, true, f.name) >= 0)
		return OK;
	if (f.name.n && !goes(a, f.name))
		return put_settle(call, a->api, turn, turn);
	enum err e = f.name.n ? OK : count_others(call, a, &others);
	if (!e && !f.name.n && others + a->agents == 1)
		return a->agents ? OK : put_settle(call, a->api, turn, turn);
	f.several = !e && !f.name.n && others + a->agents > 1;
	return e ? e : turn_resolve(&f, call->arena, turn);
}

/* By the agents as they are now that all is applied. */
static void tell_blocked(struct api_call *call, const struct applying *a, const struct item *i)
{
	struct schedule_doc turn = { .action.kind = DOC_AGENT_TURN, .agent = i->of };
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	scratch.arena = &arena;
	enum err e = OK;
	if (i->turn && a->dry_run)
		e = settle_dry(&scratch, a, &turn);
	else if (i->turn && (i->applied || !i->changes.p))
		e = put_settle(&scratch, a->api, &turn, &turn);
	if (!e && turn.turn.blocked)
		json_add_str(&call->answer, "blocked", str_of(turn.turn.blocked));
	arena_free(&arena);
}

static void tell_one(struct api_call *call, const struct applying *a, const struct item *i)
{
	bool there = i->agent ? i->there : i->sid != 0;
	const char *result = !i->changes.p                ? "unchanged"
			     : !a->dry_run && !i->applied ? "not_applied"
			     : there                      ? "changed"
							  : "added";
	buf_addf(&call->answer, "{\"%s\":", i->agent ? "name" : "id");
	json_write_str(&call->answer, i->id);
	buf_addf(&call->answer, ",\"result\":\"%s\",\"changes\":", result);
	buf_add(&call->answer, i->changes.p ? i->changes : STR("[]"));
	tell_blocked(call, a, i);
	buf_addc(&call->answer, '}');
}

static void separate(struct api_call *call)
{
	if (call->answer.n && call->answer.p[call->answer.n - 1] != '[')
		buf_addc(&call->answer, ',');
}

/* Behind what was applied; then the other list begins. */
static void tell_removed(struct api_call *call, const struct applying *a, bool agents)
{
	for (unsigned i = 0; i < a->removals; i++) {
		const struct removal *m = &a->removal[i];
		if (m->agent != agents)
			continue;
		separate(call);
		buf_addf(&call->answer, "{\"%s\":", agents ? "name" : "id");
		json_write_str(&call->answer, m->id);
		buf_addf(&call->answer, ",\"result\":\"%s\"}",
			 a->dry_run || m->done ? "removed" : "not_removed");
	}
	if (!agents)
		buf_add(&call->answer, STR("],\"agents\":["));
}

/* Of schedules first, then of agents; with a comma unless it is the first of its list. */
static void tell_next(struct api_call *call, struct applying *a)
{
	bool agents = a->told >= a->n;
	const struct item *i = &a->item[a->told - (agents ? a->n : 0)];
	if (a->told == a->n)
		tell_removed(call, a, false);
	a->told++;
	if (i->agent != agents)
		return;
	separate(call);
	tell_one(call, a, i);
}

void applying_tell(void *arg)
{
	struct api_call *call = arg;
	struct applying *a = call->ctx;
	int64_t until = clock_boot().us + APPLY_TURN_US;
	if (!a->told)
		buf_addf(&call->answer, "{\"dry_run\":%s,\"complete\":%s,\"schedules\":[",
			 a->dry_run ? "true" : "false", a->failed ? "false" : "true");
	while (a->told < 2 * a->n) {
		tell_next(call, a);
		/* No room for another turn: then all of it now, for what was done must be told. */
		if (a->told < 2 * a->n && clock_boot().us > until &&
		    api_post(a->api, applying_tell, call) == OK)
			return;
	}
	if (!a->n)
		tell_removed(call, a, false);
	tell_removed(call, a, true);
	buf_addc(&call->answer, ']');
	if (a->failed) {
		_cleanup_(buf_free) struct buf text = { 0 };
		err_describe(a->failed, &a->why, STR(""), &text);
		buf_addf(&call->answer, ",\"error\":{\"code\":\"%s\"", err_table[a->failed].name);
		json_add_str(&call->answer, "detail", buf_str(&text));
		buf_addc(&call->answer, '}');
		call->status = 207; /* some of it is done */
	}
	buf_addc(&call->answer, '}');
	api_finish(call, OK);
}
