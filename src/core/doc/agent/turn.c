#include "core/doc/agent/turn.h"
#include "base/hash.h"

uint64_t turn_print(struct str name, struct str text)
{
	return fnv1a(fnv1a(fnv1a(FNV_START, name), STR("\n")), text) | 1;
}

/* Why nobody takes it, and what to do about it. */
static const char *lack(const struct turn_found *f, bool by_default, struct arena *a)
{
	if (!f->name.n && f->several)
		return "there are several agents, and no default: name one with agent, or set default_agent";
	if (!f->name.n)
		return "no agent is known; `rota apply` a definition";
	if (!f->text.p)
		return arena_printf(a, "agent '%.*s'%s is not known; `rota apply` its definition",
				    STR_SHORT(f->name), by_default ? ", the default," : "");
	if (!f->agent)
		return arena_printf(a, "the definition of agent '%.*s' cannot be read: %s",
				    STR_SHORT(f->name), f->fault);
	return arena_printf(a, "agent '%.*s': %s", STR_SHORT(f->name), agent_blocked(f->agent));
}

static struct str directory(struct str workdir, struct str home, struct arena *a)
{
	if (!workdir.n || workdir.p[0] == '/')
		return workdir.n ? workdir : home;
	const char *whole = arena_printf(a, "%.*s/%.*s", STR_ARG(home), STR_ARG(workdir));
	return whole ? str_of(whole) : (struct str){ 0 };
}

/* What a turn is made of, beyond its message. */
static enum err take_turn(const struct turn_found *f, struct arena *a, struct schedule_doc *d)
{
	const struct agent_doc *by = f->agent;
	d->turn.prompt = by->prompt;
	d->turn.stall = by->stall;
	d->action.cwd = directory(by->workdir, f->home, a);
	if (!d->action.cwd.p)
		return E_NOMEM;
	d->action.env = by->env;
	if (!d->when.timeout && by->timeout)
		d->timeout = by->timeout;
	if (!d->check.command.shell.n && !d->check.command.argc && !d->check.agenda.n)
		d->check = by->check;
	if (!d->next_check.most)
		d->next_check = by->next_check;
	return agent_command(by, a, &d->action.command);
}

enum err turn_settle(const struct turn_found *f, struct arena *a, struct schedule_doc *d)
{
	bool turn = d->action.kind == DOC_AGENT_TURN, named = d->agent.n;
	if (!turn && !named)
		return OK;
	d->turn.chosen = named ? AGENT_CHOICE_NAMED : AGENT_CHOICE_DEFAULT;
	d->turn.print = f->text.p ? turn_print(f->name, f->text) : 0;
	d->agent = f->name;
	if (f->agent) {
		struct agent_doc *by = arena_alloc(a, sizeof *by);
		if (!by)
			return E_NOMEM;
		*by = *f->agent;
		if (!by->hours.zone.n)
			by->hours.zone = f->zone;
		d->turn.by = by;
	}
	if (!turn)
		return OK;
	if (!f->agent || agent_blocked(f->agent)) {
		d->turn.lacks = lack(f, !named, a);
		return d->turn.lacks ? OK : E_NOMEM;
	}
	return take_turn(f, a, d);
}

#define BETWEEN "\n\n"

struct str turn_input(const struct schedule_doc *d, struct str message, struct arena *a)
{
	struct str prompt = d->turn.prompt, gap = STR(BETWEEN);
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
	return str_from(input, d->turn.prompt.n + sizeof BETWEEN - 1);
}
