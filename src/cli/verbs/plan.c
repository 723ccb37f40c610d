/* plan: shows, checks, compares and runs the workflows of plans, without a daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/plan_file.h"
#include "cli/workflow/workflow.h"
#include "core/plan/findings.h"
#include "core/when/dur.h"
#include "sys/print.h"

enum { DEFAULT_JOBS = 4 };

static enum err read_worlds(struct cli_call *call, struct str path, struct worlds *ret)
{
	struct org *o = arena_alloc(call->arena, sizeof *o);
	enum err e = o ? plan_file_read(call, path, o) : E_NOMEM;
	return e ? e : worlds_compile(o, call->arena, ret, call->why);
}

static enum err print_out(struct cli_call *call, struct buf *out)
{
	buf_addc(out, '\n');
	if (out->failed)
		return E_NOMEM;
	print_json(call->out, buf_str(out));
	return OK;
}

/* Prints findings. E_INPUT: there are errors among them. */
static enum err print_findings(struct cli_call *call, const struct findings *f)
{
	_cleanup_(buf_free) struct buf out = { 0 };
	findings_write(f, &out);
	enum err e = print_out(call, &out);
	if (!e && f->errors)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "the plan has %u error%s", f->errors,
			    f->errors > 1 ? "s" : "");
	return e;
}

static enum err read_standard_input(struct cli_call *call, struct str *ret)
{
	_cleanup_(buf_free) struct buf all = { 0 };
	char chunk[8192];
	for (size_t n; all.n <= JSON_BYTES_MAX && (n = fread(chunk, 1, sizeof chunk, stdin)) > 0;)
		buf_add(&all, (struct str){ chunk, n });
	char *copy = all.failed ? NULL : arena_dup(call->arena, buf_str(&all));
	if (!copy)
		return E_NOMEM;
	*ret = (struct str){ copy, all.n };
	return OK;
}

/* The map of --input; NULL: none is given. */
static enum err read_input(struct cli_call *call, const struct val **ret)
{
	const struct arg *input = op_arg_if(&call->args, "input");
	struct val *v = arena_alloc(call->arena, sizeof *v);
	*ret = NULL;
	if (!input || !input->given)
		return v ? OK : E_NOMEM;
	if (!v)
		return E_NOMEM;
	struct str text = input->text;
	enum err e = str_eq(text, STR("-")) ? read_standard_input(call, &text) : OK;
	call->source = text;
	call->source_name = "--input";
	if (!e)
		e = json_read(text, call->arena, v, call->why);
	if (!e && v->kind != VAL_MAP)
		e = why_set(call->why, E_INPUT, v->at,
			    "--input must be a JSON object, such as {\"sales\": \"1 2 3\"}");
	if (!e)
		*ret = v;
	return e;
}

static enum err show_plan(struct cli_call *call, const struct str *file)
{
	struct worlds w;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = read_worlds(call, file[0], &w);
	if (!e)
		e = worlds_write(&w, call->arena, &out);
	return e ? e : print_out(call, &out);
}

static enum err check_plan(struct cli_call *call, const struct str *file)
{
	struct worlds w;
	struct findings f;
	const struct val *input;
	enum err e = read_input(call, &input);
	if (!e)
		e = read_worlds(call, file[0], &w);
	if (!e)
		e = worlds_check(&w, input, call->arena, &f);
	return e ? e : print_findings(call, &f);
}

static enum err diff_plans(struct cli_call *call, const struct str *file)
{
	struct worlds old, new;
	struct findings f;
	enum err e = read_worlds(call, file[0], &old);
	if (!e)
		e = read_worlds(call, file[1], &new);
	if (!e)
		e = worlds_compare(&old, &new, call->arena, &f);
	return e ? e : print_findings(call, &f);
}

/* --- run --- */

/* The directory of a file. */
static const char *directory_of(struct cli_call *call, struct str file)
{
	size_t n = file.n;
	while (n && file.p[n - 1] != '/')
		n--;
	return n ? arena_dup(call->arena, str_sub(file, 0, n)) : ".";
}

static enum err read_options(struct cli_call *call, struct str file, struct settings *settings,
			     struct workflow_options *ret)
{
	const struct arg *jobs = op_arg_if(&call->args, "jobs"), *timeout = op_arg_if(&call->args, "timeout"),
			 *dry = op_arg_if(&call->args, "dry-run");
	enum err e = cli_settings(call, settings);
	if (e)
		return e;
	*ret = (struct workflow_options){ .dir = directory_of(call, file),
					  .jobs = jobs && jobs->given ? jobs->count : DEFAULT_JOBS,
					  .seconds = settings->config.timeout_agent,
					  .plan_only = dry && dry->given,
					  .interpreters = &settings->config.interpreters };
	if (timeout && timeout->given)
		e = cli_option_error(call, "timeout", dur_parse(timeout->text, &ret->seconds, call->why));
	if (!e)
		e = read_input(call, &ret->input);
	return e ? e : ret->dir ? OK : E_NOMEM;
}

/* Only a plan without errors is run: with a cycle or two producers there is no right order. */
static enum err check_before_run(struct cli_call *call, const struct worlds *w, const struct val *input)
{
	struct findings f;
	enum err e = worlds_check(w, input, call->arena, &f);
	for (unsigned i = 0; !e && i < f.n; i++)
		if (f.item[i].error)
			return why_set(call->why, E_INPUT, WHY_NOWHERE,
				       "%.*s%s%.*s: %s; `rota plan check` shows all",
				       STR_SHORT(f.item[i].workflow), f.item[i].component.n ? "/" : "",
				       STR_SHORT(f.item[i].component), f.item[i].message);
	return e;
}

enum err plan_run(struct cli_call *call, struct str file)
{
	const struct arg *name = op_arg_if(&call->args, "name");
	struct worlds w;
	struct workflow_options options;
	struct settings settings;
	bool failed = false;
	_cleanup_(buf_free) struct buf out = { 0 };
	enum err e = read_options(call, file, &settings, &options);
	if (!e)
		e = read_worlds(call, file, &w);
	if (!e)
		e = check_before_run(call, &w, options.input);
	if (!e)
		e = workflows_run(call, &w, name && name->given ? name->text : STR(""), &options, &out,
				  &failed);
	if (!e)
		e = print_out(call, &out);
	if (!e && failed)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "not all components are done");
	return e;
}

static enum err run_plan(struct cli_call *call, const struct str *file)
{
	return plan_run(call, file[0]);
}

enum err verb_plan(struct cli_call *call)
{
	static const struct {
		const char *action;
		unsigned files;
		enum err (*carry_out)(struct cli_call *call, const struct str *file);
	} actions[] = { { "show", 1, show_plan },
			{ "check", 1, check_plan },
			{ "diff", 2, diff_plans },
			{ "run", 1, run_plan } };
	const struct arg *action = op_arg(&call->args, "action"), *files = op_arg(&call->args, "file");
	for (unsigned i = 0; i < ARRAY_LEN(actions); i++) {
		if (!str_eq(action->text, str_of(actions[i].action)))
			continue;
		if (files->count != actions[i].files)
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "plan %s needs %s", actions[i].action,
				       actions[i].files == 1 ? "one file"
							     : "two files, the old and the new plan");
		return actions[i].carry_out(call, files->word);
	}
	if (!action->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "plan needs show, check, diff or run, for example: %s",
			       call->args.op->example);
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "'%.*s' is not an action of plan; allowed are show, check, diff and run",
		       STR_SHORT(action->text));
}
