/* Reads and writes commands. */
#include "core/doc/command.h"
#include "base/json.h"
#include "core/doc/internal.h"
#include "core/doc/interpreter.h"

static enum err read_arguments(struct key_reader *r, const struct val *v, struct doc_command *c)
{
	if (v->list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a command can have at most %d words",
			       LAUNCH_ARGS_MAX);
	c->argv = arena_alloc(r->arena, v->list.n * sizeof *c->argv);
	if (!c->argv)
		return E_NOMEM;
	for (; c->argc < v->list.n; c->argc++) {
		const struct val *word = &v->list.item[c->argc];
		if (word->kind != VAL_STR)
			return keys_wrong_kind(r, "a word of the command", KEY_KIND(VAL_STR), word);
		c->argv[c->argc] = word->str;
	}
	if (!c->argv[0].n)
		return why_set(r->why, E_INPUT, v->list.item[0].at,
			       "the first word of a command, its program, is empty");
	struct program_text text = interpreter_arguments(c->argv, c->argc);
	enum err e = OK;
	for (unsigned i = 0; i < c->argc && !e; i++)
		e = i < text.from ? doc_check_templates(r, &run_scope_names, &v->list.item[i])
				  : doc_refuse_template(r, text.name, &v->list.item[i]);
	command_mark_text(c);
	return e;
}

void command_mark_text(struct doc_command *c)
{
	c->text = interpreter_arguments(c->argv, c->argc).from;
	c->text_end = c->argc;
}

enum err command_read(struct key_reader *r, const char *what, const struct val *v, struct doc_command *ret)
{
	struct doc_command c = { 0 };
	if (v->kind == VAL_STR ? str_trim(v->str).n == 0 : v->list.n == 0)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", what);
	if (v->kind == VAL_LIST) {
		enum err e = read_arguments(r, v, &c);
		if (e)
			return e;
	} else {
		c.shell = v->str;
		doc_warn_shell_template(r, v);
	}
	*ret = c;
	return OK;
}

enum err command_set_field(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return command_read(r, k->name, v, KEY_FIELD(struct doc_command, into, k));
}

void command_write(const struct doc_command *c, struct buf *out)
{
	if (c->shell.n)
		json_write_str(out, c->shell);
	else
		keys_write_strs(c->argv, c->argc, out);
}

void command_write_field(const void *from, const struct key *k, struct buf *out)
{
	command_write(KEY_CONST_FIELD(struct doc_command, from, k), out);
}
