/* Reads and writes one agent, and joins its command with its arguments. */
#include "core/doc/agent/agent.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"
#include "core/doc/interpreter.h"

/* Templates are not allowed in arguments that an interpreter may execute. */
static enum err check_args(struct key_reader *r, const struct val *v, const struct agent_doc *d)
{
	const struct val *args = val_get(v, STR("args"));
	struct doc_command whole;
	struct str name = { 0 };
	enum err e = args ? agent_command(d, r->arena, &whole) : OK;
	if (e || !args || !d->args.n || !doc_has_command(&d->command))
		return e;
	bool line = d->command.shell.n,
	     executes = line && interpreter_line_executes_next(d->command.shell, &name);
	struct program_text text = line ? (struct program_text){ executes ? 0 : whole.argc, name }
					: interpreter_arguments(whole.argv, whole.argc);
	for (unsigned i = whole.argc - d->args.n; i < whole.argc && !e; i++)
		if (i >= text.from)
			e = doc_refuse_template(
				r, text.name,
				&(struct val){ .kind = VAL_STR, .str = whole.argv[i], .at = args->at });
	return e;
}

/* Checks keys that depend on each other. */
static enum err check_combination(struct key_reader *r, const struct val *v, const struct agent_doc *d)
{
	const struct val *runner = val_get(v, STR("runner"));
	bool command = doc_has_command(&d->command);
	if (!d->name.n)
		return why_set(r->why, E_INPUT, v->at, "an agent needs a name");
	if (!d->prompt.n)
		return why_set(r->why, E_INPUT, v->at, "agent '%.*s' needs a prompt", STR_SHORT(d->name));
	if (runner && d->runner == AGENT_COMMAND && !command)
		return why_set(r->why, E_INPUT, runner->at,
			       "runner 'command' needs the key 'command', the program to run");
	if (d->claim == AGENT_CLAIM_AUTO && !d->plan.n)
		return why_set(r->why, E_INPUT, val_get(v, STR("claim"))->at,
			       "claim 'auto' needs the key 'plan', the org file with the tasks");
	if (d->runner != AGENT_COMMAND || !command)
		doc_note_unsupported(r, DOC_UNSUPPORTED_RUNNER, runner ? runner->at : v->at);
	return check_args(r, v, d);
}

enum err agent_read_into(struct str source, const struct val *map, const struct doc_env *env, struct arena *a,
			 struct doc_list *list, struct agent_doc *ret, struct why *why)
{
	struct agent_doc d = { .at = map->at, .concurrency = 1 };
	struct doc_reader r = {
		.keys = { source, a, why, &r }, .env = env, .unsupported = &d.unsupported, .list = list
	};
	keys_set_defaults(agent_keys, &d);
	enum err e = keys_read(&r.keys, "an agent", agent_keys, &d, map, NULL);
	if (!e)
		e = check_combination(&r.keys, map, &d);
	if (!e)
		*ret = d;
	return e;
}

enum err agent_read(struct str source, const struct val *map, const struct doc_env *env, struct arena *a,
		    struct agent_doc *ret, struct why *why)
{
	return agent_read_into(source, map, env, a, NULL, ret, why);
}

void agent_write(const struct agent_doc *d, struct buf *out)
{
	buf_addc(out, '{');
	keys_write(agent_keys, d, true, out);
	buf_addc(out, '}');
}

enum err agent_command(const struct agent_doc *d, struct arena *a, struct doc_command *ret)
{
	enum { SHELL_WORDS = 4 };
	struct doc_command c = d->command;
	unsigned before = c.shell.n ? SHELL_WORDS : c.argc;
	if (!d->args.n || !before) {
		*ret = c;
		return OK;
	}
	struct str *argv = arena_alloc(a, (before + d->args.n) * sizeof *argv);
	const char *line = c.shell.n ? arena_printf(a, "%.*s \"$@\"", STR_ARG(c.shell)) : "";
	if (!argv || !line)
		return E_NOMEM;
	const struct str shell[SHELL_WORDS] = { STR("/bin/sh"), STR("-c"), str_of(line), STR("sh") };
	memcpy(argv, c.shell.n ? shell : c.argv, before * sizeof *argv);
	memcpy(argv + before, d->args.word, d->args.n * sizeof *argv);
	*ret = (struct doc_command){ .argv = argv, .argc = before + d->args.n };
	command_mark_text(ret);
	if (c.shell.n) { /* the shell does not execute the arguments after its line */
		ret->text = 2;
		ret->text_end = SHELL_WORDS;
	}
	return OK;
}
