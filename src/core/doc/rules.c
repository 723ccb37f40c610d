/* Compiles a schedule to the rules that the engine decides by. */
#include "core/doc/agent/agent.h"
#include "port/runner.h"

/* The preconditions of a run. The daemon answers ASK_BLOCKED from the document, so the rules stay right if
 * the schedule is no longer blocked when it is due. */
static uint8_t preconditions_of(const struct schedule_doc *d)
{
	unsigned asks = 0;
	if (d->budget.run.n || d->budget.day.n)
		asks |= 1u << ASK_BUDGET;
	if (doc_condition(d).n)
		asks |= 1u << ASK_CONDITION;
	if (doc_blocked(d))
		asks |= 1u << ASK_BLOCKED;
	if (doc_has_command(&d->hook.command))
		asks |= 1u << ASK_HOOK;
	if (doc_has_check(&d->check))
		asks |= 1u << ASK_CHECK;
	return (uint8_t)asks;
}

/* The news that the schedule wants to be reported. */
static uint8_t news_of(const struct schedule_doc *d)
{
	const struct doc_notification *n = &d->notification;
	const bool wanted[] = { [NEWS_SUCCESS] = n->on_success,
				[NEWS_FAILURE] = n->on_failure,
				[NEWS_MISSED] = n->on_missed,
				[NEWS_RECOVERED] = n->on_recovered,
				[NEWS_PING] = d->ping.n > 0 };
	unsigned news = 0;
	for (unsigned i = 0; i < ARRAY_LEN(wanted); i++)
		news |= (unsigned)wanted[i] << i;
	return (uint8_t)news;
}

/* By default, several failures in a row pause a schedule of agent turns, but not one of commands. */
static uint16_t max_failures_of(const struct schedule_doc *d)
{
	enum { AGENT_MAX_FAILURES = 10 };
	if (d->max_failures >= 0)
		return (uint16_t)d->max_failures;
	return d->action.kind == DOC_AGENT_TURN ? AGENT_MAX_FAILURES : 0;
}

/* Adds the values of the agent's definition. Its concurrency applies to every schedule that names it; account
 * and active hours apply only to turns. */
static enum err add_agent(const struct schedule_doc *d, const struct doc_names *names, struct rules *r)
{
	const struct agent_doc *agent = d->turn.agent;
	struct policy *p = &r->policy;
	p->agent_choice = d->turn.choice;
	r->agent_print = d->turn.fingerprint;
	enum err e = d->agent.n ? names->name(names->self, DOC_AGENT, d->agent, &p->agent) : OK;
	if (!agent || e)
		return e;
	p->agent_slots = (uint16_t)agent->concurrency;
	if (d->action.kind != DOC_AGENT_TURN)
		return OK;
	if (agent->account.n)
		e = names->name(names->self, DOC_ACCOUNT, agent->account, &p->account);
	if (!e && agent->hours.from != agent->hours.to) {
		r->active.from = (uint16_t)agent->hours.from;
		r->active.to = (uint16_t)agent->hours.to;
		e = names->zone(names->self, agent->hours.zone, NULL, &r->active.zone);
	}
	return e;
}

enum err doc_rules(const struct schedule_doc *d, const struct doc_names *names, struct rules *ret)
{
	static const uint8_t actions[DOC_ACTIONS] = {
		[DOC_EVENT] = ACTION_EVENT, [DOC_AGENT_TURN] = ACTION_TURN
	};
	struct rules r;
	memset(&r, 0, sizeof r); /* also the padding: rules are stored as bytes */
	r.version = RULES_VERSION;
	r.zone_print = zone_fingerprint(d->when.zone);
	r.when = d->when.rule;
	struct policy *p = &r.policy;
	p->missed = d->missed;
	p->overlap = d->overlap;
	p->backoff = d->retry.backoff;
	p->action = actions[d->action.kind];
	p->after = d->after.outcome;
	p->default_zone = !d->when.zone_given;
	p->priority = (int8_t)d->priority;
	p->retries = (uint16_t)d->retry.count;
	p->catch_up_limit = (uint16_t)d->catch_up_limit;
	p->max_failures = max_failures_of(d);
	p->preconditions = preconditions_of(d);
	p->news = news_of(d);
	p->window = (uint32_t)d->window;
	p->retry_delay = (uint32_t)d->retry.delay;
	p->retry_most = (uint32_t)d->retry.max_delay;
	enum err e = names->zone(names->self, d->when.zone_name, d->when.zone, &p->zone);
	if (!e && d->when.except.n)
		e = names->days(names->self, &d->when.except, &p->calendar);
	if (!e && d->concurrency_key.n)
		e = names->name(names->self, DOC_CONCURRENCY_KEY, d->concurrency_key, &p->key);
	if (!e)
		e = add_agent(d, names, &r);
	if (!e)
		*ret = r;
	return e;
}
