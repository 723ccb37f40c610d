/* Writes the answer of apply: the result for each document, and the removed schedules and agents. */
#include "api/apply/apply.h"
#include "api/json_out.h"
#include "base/json.h"
#include "core/doc/agent/turn.h"
#include "sys/clock.h"

static bool is_removed(const struct apply_job *job, struct str agent)
{
	for (unsigned i = 0; i < job->removals; i++)
		if (job->removal[i].agent && str_eq(job->removal[i].id, agent))
			return true;
	return false;
}

/* Counts agents that are not among the documents and will stay. Reads at most one page: the caller only needs
 * to know whether there are none, one or several. */
static enum err count_other_agents(struct api_call *call, const struct apply_job *job, unsigned *ret)
{
	struct read_agents page;
	enum err e = read_agents(api_reader(job->api), STR(""), READ_LIST_MAX, call->arena, &page, call->why);
	*ret = 0;
	for (unsigned i = 0; !e && i < page.n; i++)
		*ret += apply_find(job, true, page.item[i].name) < 0 && !is_removed(job, page.item[i].name);
	return e;
}

/* For a dry run: resolves the agent of a turn with the agents that would exist after the documents were
 * applied. Agents among the documents were checked when they were read. */
static enum err resolve_dry_run(struct api_call *call, const struct apply_job *job, struct schedule_doc *turn)
{
	struct turn_agent f = { .name = turn->agent.n ? turn->agent
						      : api_doc_env(call, job->api).default_agent };
	unsigned others;
	if (f.name.n && apply_find(job, true, f.name) >= 0)
		return OK;
	if (f.name.n && !is_removed(job, f.name))
		return document_resolve_agent(call, job->api, turn, turn);
	enum err e = f.name.n ? OK : count_other_agents(call, job, &others);
	if (!e && !f.name.n && others + job->agents == 1)
		return job->agents ? OK : document_resolve_agent(call, job->api, turn, turn);
	f.several = !e && !f.name.n && others + job->agents > 1;
	return e ? e : turn_resolve(&f, call->arena, turn);
}

/* If the agent turns of a schedule cannot run, adds the reason. The agents are taken as they are after
 * everything was applied. */
static void add_blocked(struct api_call *call, const struct apply_job *job, const struct apply_item *item)
{
	struct schedule_doc turn = { .action.kind = DOC_AGENT_TURN, .agent = item->by };
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	scratch.arena = &arena;
	enum err e = OK;
	if (item->turn && job->dry_run)
		e = resolve_dry_run(&scratch, job, &turn);
	else if (item->turn && (item->applied || !item->changes.p))
		e = document_resolve_agent(&scratch, job->api, &turn, &turn);
	if (!e && turn.turn.blocked)
		json_add_str(&call->answer, "blocked", str_of(turn.turn.blocked));
	arena_free(&arena);
}

static void write_item(struct api_call *call, const struct apply_job *job, const struct apply_item *item)
{
	bool existed = item->agent ? item->exists : item->sid != 0;
	const char *result = !item->changes.p                  ? "unchanged"
			     : !job->dry_run && !item->applied ? "not_applied"
			     : existed                         ? "changed"
							       : "added";
	buf_addf(&call->answer, "{\"%s\":", item->agent ? "name" : "id");
	json_write_str(&call->answer, item->id);
	buf_addf(&call->answer, ",\"result\":\"%s\",\"changes\":", result);
	buf_add(&call->answer, item->changes.p ? item->changes : STR("[]"));
	add_blocked(call, job, item);
	buf_addc(&call->answer, '}');
}

/* Adds a comma unless the list is empty. */
static void add_comma(struct api_call *call)
{
	if (call->answer.n && call->answer.p[call->answer.n - 1] != '[')
		buf_addc(&call->answer, ',');
}

/* Writes the removed schedules at the end of their list and begins the list of agents, or writes the removed
 * agents. */
static void write_removed(struct api_call *call, const struct apply_job *job, bool agents)
{
	for (unsigned i = 0; i < job->removals; i++) {
		const struct apply_removal *m = &job->removal[i];
		if (m->agent != agents)
			continue;
		add_comma(call);
		buf_addf(&call->answer, "{\"%s\":", agents ? "name" : "id");
		json_write_str(&call->answer, m->id);
		buf_addf(&call->answer, ",\"result\":\"%s\"}",
			 job->dry_run || m->done ? "removed" : "not_removed");
	}
	if (!agents)
		buf_add(&call->answer, STR("],\"agents\":["));
}

/* Writes the next item. All items are visited twice: for the schedules, then for the agents. */
static void write_next(struct api_call *call, struct apply_job *job)
{
	bool agents = job->written >= job->n;
	const struct apply_item *item = &job->item[job->written - (agents ? job->n : 0)];
	if (job->written == job->n)
		write_removed(call, job, false);
	job->written++;
	if (item->agent != agents)
		return;
	add_comma(call);
	write_item(call, job, item);
}

void apply_answer(void *arg)
{
	struct api_call *call = arg;
	struct apply_job *job = call->ctx;
	int64_t until = clock_boot().us + APPLY_TURN_US;
	if (!job->written)
		buf_addf(&call->answer, "{\"dry_run\":%s,\"complete\":%s,\"schedules\":[",
			 job->dry_run ? "true" : "false", job->failed ? "false" : "true");
	while (job->written < 2 * job->n) {
		write_next(call, job);
		/* If no task can be added, the rest is written now: the caller must learn what was done. */
		if (job->written < 2 * job->n && clock_boot().us > until &&
		    api_add_task(call, job->api, apply_answer) == OK)
			return;
	}
	if (!job->n)
		write_removed(call, job, false);
	write_removed(call, job, true);
	buf_addc(&call->answer, ']');
	if (job->failed) {
		_cleanup_(buf_free) struct buf text = { 0 };
		err_describe(job->failed, &job->why, STR(""), &text);
		buf_addf(&call->answer, ",\"error\":{\"code\":\"%s\"", err_table[job->failed].name);
		json_add_str(&call->answer, "detail", buf_str(&text));
		buf_addc(&call->answer, '}');
		call->status = 207; /* a part was applied */
	}
	buf_addc(&call->answer, '}');
	api_finish(call, OK);
}
