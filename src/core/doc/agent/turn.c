/* Combines a schedule with its agent, and builds the input of a turn. */
#include "core/doc/agent/turn.h"
#include "base/hash.h"
#include "core/doc/interpreter.h"

uint64_t turn_fingerprint(struct str name, struct str text)
{
	return fnv1a(fnv1a(fnv1a(FNV_START, name), STR("\n")), text) | 1;
}

/* Why no turn can run, and what to do about it. */
static const char *why_blocked(const struct turn_agent *found, bool by_default, struct arena *a)
{
	if (!found->name.n && found->several)
		return "there are several agents and no default agent; name one with the key 'agent', or set "
		       "default_agent";
	if (!found->name.n)
		return "there is no agent; define one and apply it with `rota apply`";
	if (!found->text.p)
		return arena_printf(a,
				    "%sagent '%.*s' does not exist; apply its definition with `rota apply`",
				    by_default ? "the default " : "", STR_SHORT(found->name));
	if (!found->agent)
		return arena_printf(a, "the definition of agent '%.*s' cannot be read: %s",
				    STR_SHORT(found->name), found->fault);
	return arena_printf(a, "agent '%.*s': %s", STR_SHORT(found->name), agent_blocked(found->agent));
}

static struct str absolute_directory(struct str workdir, struct str home, struct arena *a)
{
	if (!workdir.n || workdir.p[0] == '/')
		return workdir.n ? workdir : home;
	const char *whole = arena_printf(a, "%.*s/%.*s", STR_ARG(home), STR_ARG(workdir));
	return whole ? str_of(whole) : (struct str){ 0 };
}

/* The message is on standard input. An interpreter without a file would execute it, values of templates
 * included. */
static const char *why_unsafe(const struct turn_agent *found, const struct schedule_doc *d, struct arena *a)
{
	const struct doc_command *c = &d->action.command;
	struct str name, line = found->agent->command.shell;
	bool program = line.n ? interpreter_line_reads_input(line, &name)
			      : interpreter_reads_input(c->argv, c->argc, &name);
	if (!program || !memmem(d->action.message.p, d->action.message.n, "{{", 2))
		return NULL;
	return arena_printf(
		a,
		"agent '%.*s' executes its input as a program (%.*s), so the message cannot contain "
		"templates",
		STR_SHORT(found->name), STR_SHORT(name));
}

/* Takes the values that the schedule does not set from the agent. */
static enum err take_from_agent(const struct turn_agent *found, struct arena *a, struct schedule_doc *d)
{
	const struct agent_doc *agent = found->agent;
	d->turn.prompt = agent->prompt;
	d->turn.stall = agent->stall;
	d->action.cwd = absolute_directory(agent->workdir, found->home, a);
	if (!d->action.cwd.p)
		return E_NOMEM;
	d->action.env = agent->env;
	if (!d->when.timeout && agent->timeout)
		d->timeout = agent->timeout;
	if (!doc_has_check(&d->check))
		d->check = agent->check;
	if (agent->claim == AGENT_CLAIM_AUTO && agent->plan.n)
		d->check.claim = agent->plan;
	if (!d->next_check.most)
		d->next_check = agent->next_check;
	enum err e = agent_command(agent, a, &d->action.command);
	if (!e)
		d->turn.blocked = why_unsafe(found, d, a);
	return e;
}

enum err turn_resolve(const struct turn_agent *found, struct arena *a, struct schedule_doc *d)
{
	bool is_turn = d->action.kind == DOC_AGENT_TURN, named = d->agent.n;
	if (!is_turn && !named)
		return OK;
	d->turn.choice = named ? AGENT_CHOICE_NAMED : AGENT_CHOICE_DEFAULT;
	d->turn.fingerprint = found->text.p ? turn_fingerprint(found->name, found->text) : 0;
	d->agent = found->name;
	if (found->agent) {
		struct agent_doc *agent = arena_alloc(a, sizeof *agent);
		if (!agent)
			return E_NOMEM;
		*agent = *found->agent;
		if (!agent->hours.zone.n)
			agent->hours.zone = found->zone;
		d->turn.agent = agent;
	}
	if (!is_turn)
		return OK;
	if (!found->agent || agent_blocked(found->agent)) {
		d->turn.blocked = why_blocked(found, !named, a);
		return d->turn.blocked ? OK : E_NOMEM;
	}
	return take_from_agent(found, a, d);
}

#define BLANK_LINE "\n\n"

struct str turn_input(const struct schedule_doc *d, struct str message, struct arena *a)
{
	struct str prompt = d->turn.prompt, gap = STR(BLANK_LINE);
	char *all = arena_alloc(a, prompt.n + gap.n + message.n + 1);
	if (!all)
		return (struct str){ 0 };
	memcpy(all, prompt.p, prompt.n);
	memcpy(all + prompt.n, gap.p, gap.n);
	memcpy(all + prompt.n + gap.n, message.p, message.n);
	return (struct str){ all, prompt.n + gap.n + message.n };
}

struct str turn_message(const struct schedule_doc *d, struct str input)
{
	return str_from(input, d->turn.prompt.n + sizeof BLANK_LINE - 1);
}
