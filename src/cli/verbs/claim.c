/* claim, release and advance: the state of tasks in plans, without a daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/git/publish.h"
#include "cli/plan_file.h"
#include "core/org/complete.h"
#include "core/plan/claim.h"
#include "sys/print.h"

#include <stdlib.h>

struct task_call {
	struct str file, task, agent;
	const char *time; /* the timestamp of a claim */
	struct plan_clock clock;
};

/* Reads the arguments that the three verbs share. */
static enum err read_task_call(struct cli_call *call, struct task_call *ret)
{
	struct task_call t = { .file = op_arg(&call->args, "file")->text,
			       .task = op_arg(&call->args, "task")->text };
	const struct arg *agent = op_arg_if(&call->args, "agent");
	const char *inside = getenv("ROTA_AGENT");
	t.agent = agent && agent->given ? agent->text : str_of(inside ? inside : "");
	if (!t.file.n || !t.task.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs a file and a task, for example: %s",
			       call->args.op->name, call->args.op->example);
	if (t.agent.n && !doc_is_agent_name(t.agent))
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"the name of an agent must have 1 to %d characters, no control characters and no "
			"spaces at its ends",
			DOC_ID_MAX);
	enum err e = plan_clock(call, &t.clock);
	if (e)
		return e;
	t.time = plan_stamp(call, &t.clock);
	*ret = t;
	return t.time ? OK : E_NOMEM;
}

static enum err apply_claim(void *self, const struct org *o, struct arena *a, struct buf *out, bool *nothing,
			    struct why *why)
{
	const struct task_call *t = self;
	return claim_take(o, t->task, t->agent, str_of(t->time), a, out, nothing, why);
}

static enum err apply_release(void *self, const struct org *o, struct arena *a, struct buf *out,
			      bool *nothing, struct why *why)
{
	const struct task_call *t = self;
	return claim_release(o, t->task, t->agent, a, out, nothing, why);
}

static void print_published(struct cli_call *call, const struct task_call *t, const char *word,
			    const struct published *p)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	if (call->json) {
		buf_add(&out, STR("{\"task\":"));
		json_write_str(&out, t->task);
		json_add_str(&out, "file", t->file);
		json_add_str(&out, "agent", t->agent.n ? t->agent : (struct str){ 0 });
		json_add_str(&out, "result", str_of(p->commit ? word : "unchanged"));
		json_add_str(&out, "commit", p->commit ? str_of(p->commit) : (struct str){ 0 });
		json_add_str(&out, "branch", str_of(p->ref));
		buf_addf(&out, ",\"origin\":%s", p->origin ? "true" : "false");
		json_add_str(&out, "missing", p->missing ? str_of(p->missing) : (struct str){ 0 });
		buf_add(&out, STR("}\n"));
		if (!out.failed)
			print_json(call->out, buf_str(&out));
		return;
	}
	print(call->out, "%s '", p->commit ? word : "already so:");
	print_text(call->out, t->task);
	if (p->commit)
		print(call->out, "' in commit %.12s on %s%s\n", p->commit, p->origin ? "origin " : "",
		      p->ref);
	else
		print(call->out, "'\n");
	if (p->missing)
		print(stderr, "rota: warning: %s\n", p->missing);
}

static enum err change_claim(struct cli_call *call, bool take)
{
	struct task_call t;
	struct published p;
	enum err e = read_task_call(call, &t);
	if (e)
		return e;
	if (take && !t.agent.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "claim needs --agent NAME, for example: %s",
			       call->args.op->example);
	const char *message = arena_printf(call->arena, "plan: %s %.*s%s%.*s\n", take ? "claim" : "release",
					   STR_LINE(t.task), t.agent.n ? " for " : "", STR_ARG(t.agent));
	const char *agent = arena_dup(call->arena, t.agent.n ? t.agent : STR("rota"));
	const char *file = arena_dup(call->arena, t.file);
	if (!message || !agent || !file)
		return E_NOMEM;
	const struct plan_change change = { take ? apply_claim : apply_release, &t, message };
	e = publish_change(call, file, agent, &change, &p);
	if (!e)
		print_published(call, &t, take ? "claimed" : "released", &p);
	return e;
}

enum err verb_claim(struct cli_call *call)
{
	return change_claim(call, true);
}

enum err verb_release(struct cli_call *call)
{
	return change_claim(call, false);
}

/* --- advance --- */

static enum err find_state(struct cli_call *call, const struct org *o, struct str state, uint32_t *ret)
{
	_cleanup_(buf_free) struct buf known = { 0 };
	*ret = org_find_keyword(o, state);
	if (*ret != ORG_NONE)
		return OK;
	for (unsigned i = 0; i < o->keywords; i++)
		buf_addf(&known, "%s%.*s", i ? ", " : "", STR_ARG(o->keyword[i].name));
	return why_set(call->why, E_INPUT, WHY_NOWHERE, "the plan has no state '%.*s'; its states are %s",
		       STR_SHORT(state), known.failed || !known.n ? "none" : known.p);
}

enum err verb_advance(struct cli_call *call)
{
	const struct arg *state = op_arg(&call->args, "state");
	struct task_call t;
	struct org o;
	unsigned at = 0;
	uint32_t keyword = ORG_NONE;
	bool repeated = false;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = read_task_call(call, &t);
	if (!e && !state->given)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "advance needs a state, for example: %s",
			    call->args.op->example);
	if (!e)
		e = plan_file_read(call, t.file, &o);
	if (!e)
		e = org_find(&o, t.task, &at, call->why);
	if (!e)
		e = find_state(call, &o, state->text, &keyword);
	if (!e)
		e = org_advance(&o, &o.head[at], keyword, t.clock.zone, t.clock.now, call->arena, &out,
				&repeated, call->why);
	if (!e && !str_eq(buf_str(&out), o.text))
		e = plan_file_write(call, call->source_name, buf_str(&out));
	if (e)
		return e;
	if (call->json) {
		out.n = 0;
		buf_add(&out, STR("{\"state\":"));
		json_write_str(&out, state->text);
		buf_addf(&out, ",\"repeated\":%s}\n", repeated ? "true" : "false");
		print_json(call->out, buf_str(&out));
		return OK;
	}
	print_text(call->out, t.task);
	print(call->out, ": ");
	print_text(call->out, state->text);
	print(call->out, "%s\n", repeated ? "; it repeats" : "");
	return OK;
}
