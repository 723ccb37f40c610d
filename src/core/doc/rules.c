/* From a document to what the engine works with. */
#include "core/doc/agent/agent.h"
#include "port/runner.h"

/* Who is asked before a run. What blocks a schedule is asked for as a hook is: it may be gone when a time
 * comes, and the same rules hold then. */
static uint8_t guards_of(const struct schedule_doc *d)
{
	const struct doc_command *hook = &d->hook[DOC_BEFORE_TRIGGER].command;
	unsigned guards = 0;
	if (d->budget.run.n || d->budget.day.n)
		guards |= 1u << ASK_BUDGET;
	if (doc_condition(d).n)
		guards |= 1u << ASK_CONDITION;
	if (hook->shell.n || hook->argc || doc_blocked(d, false))
		guards |= 1u << ASK_HOOK;
	if (d->check.command.shell.n || d->check.command.argc || d->check.agenda.n)
		guards |= 1u << ASK_CHECK;
	return (uint8_t)guards;
}

static uint8_t tells_of(const struct schedule_doc *d)
{
	const struct doc_notification *n = &d->notification;
	const bool asked[] = { [NEWS_SUCCESS] = n->on_success,
			       [NEWS_FAILURE] = n->on_failure,
			       [NEWS_MISSED] = n->on_missed,
			       [NEWS_RECOVERED] = n->on_recovered,
			       [NEWS_PING] = d->ping.n > 0 };
	unsigned tells = 0;
	for (unsigned i = 0; i < ARRAY_LEN(asked); i++)
		tells |= (unsigned)asked[i] << i;
	return (uint8_t)tells;
}

/* So many failures of an agent in a row are no accident; commands are left to go on. */
static uint16_t max_failures_of(const struct schedule_doc *d)
{
	enum { OF_AGENTS = 10 };
	if (d->max_failures >= 0)
		return (uint16_t)d->max_failures;
	return d->action.kind == DOC_AGENT_TURN ? OF_AGENTS : 0;
}

/* What its agent says. How many runs that one has at a time goes for all who share it; the rest is for its
 * turns. */
static enum err take_agent(const struct schedule_doc *d, const struct doc_names *names, struct rules *r)
{
	const struct agent_doc *by = d->turn.by;
	struct policy *p = &r->policy;
	p->agent_choice = d->turn.chosen;
	r->agent_print = d->turn.print;
	enum err e = d->agent.n ? names->name(names->self, DOC_AGENT, d->agent, &p->agent) : OK;
	if (!by || e)
		return e;
	p->agent_slots = (uint16_t)by->concurrency;
	if (d->action.kind != DOC_AGENT_TURN)
		return OK;
	if (by->account.n)
		e = names->name(names->self, DOC_ACCOUNT, by->account, &p->account);
	if (!e && by->hours.from != by->hours.to) {
		r->active.from = (uint16_t)by->hours.from;
		r->active.to = (uint16_t)by->hours.to;
		e = names->zone(names->self, by->hours.zone, NULL, &r->active.zone);
	}
	return e;
}

enum err doc_rules(const struct schedule_doc *d, const struct doc_names *names, struct rules *ret)
{
	static const uint8_t actions[DOC_ACTIONS] = {
		[DOC_EVENT] = ACTION_EVENT, [DOC_AGENT_TURN] = ACTION_TURN
	};
	struct rules r;
	memset(&r, 0, sizeof r); /* they are stored as bytes */
	r.version = RULES_VERSION;
	r.zone_print = zone_print(d->when.zone);
	r.when = d->when.rule;
	struct policy *p = &r.policy;
	p->missed = d->missed;
	p->overlap = d->overlap;
	p->backoff = d->retry.backoff;
	p->action = actions[d->action.kind];
	p->after = d->after.outcome;
	p->priority = (int8_t)d->priority;
	p->retries = (uint16_t)d->retry.count;
	p->catch_up_limit = (uint16_t)d->catch_up_limit;
	p->max_failures = max_failures_of(d);
	p->preconditions = guards_of(d);
	p->news = tells_of(d);
	p->window = (uint32_t)d->window;
	p->retry_delay = (uint32_t)d->retry.delay;
	p->retry_most = (uint32_t)d->retry.most;
	enum err e = names->zone(names->self, d->when.zone_name, d->when.zone, &p->zone);
	if (!e && d->when.except.n)
		e = names->days(names->self, &d->when.except, &p->calendar);
	if (!e && d->concurrency_key.n)
		e = names->name(names->self, DOC_CONCURRENCY_KEY, d->concurrency_key, &p->key);
	if (!e)
		e = take_agent(d, names, &r);
	if (!e)
		*ret = r;
	return e;
}
