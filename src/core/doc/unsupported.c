/* What a schedule needs that this version does not do yet: told when it is read, and most of it keeps the
 * schedule from running. A run that left out its check, or an agent that was never asked, would look as if
 * all were well. */
#include "core/doc/agent/agent.h"
#include "core/doc/internal.h"
#include "core/doc/run_scope.h"
#include "core/doc/text_position.h"
#include "core/expr/template.h"

enum effect { TOLD, BLOCKS /* what is due */, BLOCKS_ALL /* and what is run by hand */ };

static const struct {
	const char *text;
	enum effect effect;
} needs[DOC_NEEDS] = {
	[DOC_NEEDS_AGENDA] = { "plans are not looked into yet", BLOCKS_ALL },
	[DOC_NEEDS_BUDGET] = { "budgets are not kept yet", BLOCKS_ALL },
	[DOC_NEEDS_HOOK] = { "hooks are not run yet", BLOCKS },
	[DOC_NEEDS_NEXT_CHECK] = { "runs cannot set their next check yet", TOLD },
	[DOC_NEEDS_RUNNER] = { "only agents with a command can be run yet", BLOCKS_ALL },
	[DOC_NEEDS_GRANT] = { "runs cannot create schedules yet", TOLD },
};

void doc_need(struct key_reader *r, enum doc_need need, size_t at)
{
	unsigned *all = reader_of(r)->needs;
	bool again = *all & DOC_NEED(need);
	*all |= DOC_NEED(need);
	if (again || DOC_ABLE & DOC_NEED(need))
		return;
	if (needs[need].effect == TOLD)
		doc_warn(r, at, "%s", needs[need].text);
	else
		doc_warn(r, at, "%s: the %s is accepted, and blocked", needs[need].text,
			 reader_of(r)->d ? "schedule" : "agent");
}

static const char *blocked(unsigned needed, enum effect by)
{
	for (unsigned i = 0; i < DOC_NEEDS; i++)
		if (needed & ~DOC_ABLE & DOC_NEED(i) && needs[i].effect >= by)
			return needs[i].text;
	return NULL;
}

const char *doc_blocked(const struct schedule_doc *d, bool by_hand)
{
	return d->turn.lacks ? d->turn.lacks : blocked(d->needs, by_hand ? BLOCKS_ALL : BLOCKS);
}

const char *agent_blocked(const struct agent_doc *d)
{
	return blocked(d->needs, BLOCKS_ALL);
}

enum err doc_template(struct key_reader *r, const struct expr_names *names, const struct val *v)
{
	const struct template *t;
	enum err e = template_compile(v->str, names, r->arena, &t, r->why);
	if (e && e != E_NOMEM && r->why)
		r->why->at = inside(r->source, v, r->why->at);
	return e;
}

void doc_shell_line(struct key_reader *r, const struct val *v)
{
	struct str name;
	if (template_looks_like(v->str, &scope_names, &name))
		doc_warn(r, inside(r->source, v, (size_t)(name.p - v->str.p)),
			 "'%.*s' stays as it is in a line for the shell; pass it by env, or write the "
			 "command as a list",
			 STR_SHORT(name));
}
