/* claim, release and advance: the state of tasks in plans, without a daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/git/publish.h"
#include "cli/plan_file.h"
#include "core/org/complete.h"
#include "core/org/row.h"
#include "core/plan/claim.h"
#include "sys/print.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

struct task_call {
	struct str file, task, agent;
	const char *time; /* the timestamp of a claim */
	struct plan_clock clock;
	bool first;     /* the first ready task is claimed */
	struct buf row; /* with `first`: the task as JSON */
	bool no_work;   /* with `first`: there is none */
	const char *message;
};

/* Reads the arguments that the three verbs share. */
static enum err read_task_call(struct cli_call *call, struct task_call *ret)
{
	struct task_call t = { .file = op_arg(&call->args, "file")->text,
			       .task = op_arg(&call->args, "task")->text };
	const struct arg *agent = op_arg_if(&call->args, "agent");
	const char *inside = getenv("ROTA_AGENT");
	t.agent = agent && agent->given ? agent->text : str_of(inside ? inside : "");
	const struct arg *first = op_arg_if(&call->args, "first");
	t.first = first && first->given;
	if (t.first && t.task.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "give either a task or --first, not both");
	if (!t.file.n && t.first)
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"claim --first needs a file, for example: rota claim --first plan.org --agent wren");
	if (!t.file.n || (!t.task.n && !t.first))
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

/* The message of the commit. */
static const char *claim_message(struct arena *a, const struct task_call *t, const char *word)
{
	return arena_printf(a, "plan: %s %.*s%s%.*s\n", word, STR_LINE(t->task), t->agent.n ? " for " : "",
			    STR_ARG(t->agent));
}

static enum err apply_claim(void *self, const struct org *o, struct arena *a, struct buf *out, bool *nothing,
			    struct why *why)
{
	const struct task_call *t = self;
	return claim_take(o, t->task, t->agent, str_of(t->time), a, out, nothing, why);
}

/* Chooses the first ready task that can be named: one that the agent has claimed already comes first. */
static enum err choose_first(void *self, const struct org *o, struct arena *a, struct why *why)
{
	struct task_call *t = self;
	const struct agenda_plan plan = { .org = *o };
	const struct agenda_query q = { .plan = &plan,
					.plans = 1,
					.zone = t->clock.zone,
					.now = t->clock.now,
					.stale_after = INT64_MAX,
					.agent = t->agent };
	struct agenda agenda;
	unsigned at;
	enum err e = agenda_read(&q, a, &agenda);
	if (e)
		return e;
	for (unsigned i = 0; i < agenda.n[AGENDA_READY]; i++) {
		const struct org_head *h = &o->head[agenda.item[AGENDA_READY][i].head];
		struct str id = org_text(o, h->id), name = id.n ? id : org_text(o, h->title);
		if (org_find(o, name, &at, NULL) || &o->head[at] != h)
			continue;
		char *copy = arena_dup(a, name); /* the plan may be read again */
		t->task = (struct str){ copy, name.n };
		t->message = claim_message(a, t, "claim");
		return copy && t->message ? OK : E_NOMEM;
	}
	t->no_work = true;
	return why_set(why, E_NOTFOUND, WHY_NOWHERE, "nothing is ready");
}

/* Applies the claim, and keeps the row of the task as it is afterwards. */
static enum err apply_first(void *self, const struct org *o, struct arena *a, struct buf *out, bool *nothing,
			    struct why *why)
{
	struct task_call *t = self;
	struct org after = *o;
	unsigned at;
	enum err e = apply_claim(self, o, a, out, nothing, why);
	if (!e && !*nothing)
		e = org_read(buf_str(out), a, &after, why);
	if (!e)
		e = org_find(&after, t->task, &at, why);
	if (e)
		return e;
	t->row.n = 0;
	org_write_row(&after, &after.head[at], t->file, &t->row);
	return OK;
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
	print(call->out, "%s%s '", p->commit ? "" : "already ", word);
	print_text(call->out, t->task);
	if (p->commit)
		print(call->out, "' in commit %.12s on %s%s\n", p->commit, p->origin ? "origin " : "",
		      p->ref);
	else
		print(call->out, "'\n");
	if (p->missing)
		print(stderr, "rota: warning: %s\n", p->missing);
}

/* Runs the command before a claim. Its exit codes: 0 go on, 1 there is no work; others are failures. */
static enum err run_before(struct cli_call *call, struct task_call *t)
{
	const struct arg *command = op_arg_if(&call->args, "command");
	if (!command || !command->count)
		return OK;
	char **argv = arena_alloc(call->arena, (command->count + 1) * sizeof *argv);
	for (unsigned i = 0; argv && i < command->count; i++)
		argv[i] = arena_dup(call->arena, command->word[i]);
	int status = 0;
	fflush(call->out);
	pid_t pid = argv ? fork() : -1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(2, 1); /* standard output is for the task */
		execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "cannot start the command: %s",
			       strerror(errno));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return OK;
	t->no_work = WIFEXITED(status) && WEXITSTATUS(status) == 1;
	return why_set(call->why, t->no_work ? E_NOTFOUND : E_INPUT, WHY_NOWHERE,
		       t->no_work ? "the command says that there is no work"
				  : "the command before the claim failed");
}

static enum err claim_first(struct cli_call *call, struct task_call *t)
{
	struct published p;
	const char *agent = arena_dup(call->arena, t->agent), *file = arena_dup(call->arena, t->file);
	const struct plan_change change = { choose_first, apply_first, t, &t->message };
	enum err e = agent && file ? run_before(call, t) : E_NOMEM;
	if (!e)
		e = publish_change(call, file, agent, &change, &p);
	if (e)
		return t->no_work ? e : plan_check_failure(e);
	buf_addc(&t->row, '\n');
	if (t->row.failed)
		return E_NOMEM;
	print_json(call->out, buf_str(&t->row));
	return OK;
}

static enum err change_claim(struct cli_call *call, bool take)
{
	struct task_call t;
	struct published p;
	enum err e = read_task_call(call, &t);
	if (e)
		return e;
	if (t.first && t.agent.n) {
		e = claim_first(call, &t);
		buf_free(&t.row);
		return e;
	}
	if (take && !t.agent.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "claim needs --agent NAME, for example: %s",
			       call->args.op->example);
	t.message = claim_message(call->arena, &t, take ? "claim" : "release");
	const char *agent = arena_dup(call->arena, t.agent.n ? t.agent : STR("rota"));
	const char *file = arena_dup(call->arena, t.file);
	if (!t.message || !agent || !file)
		return E_NOMEM;
	const struct plan_change change = { NULL, take ? apply_claim : apply_release, &t, &t.message };
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
	if (!e) {
		e = org_find(&o, t.task, &at, call->why);
		e = e ? plan_failure(call, e, call->source_name) : OK;
	}
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
