/* Reads and writes commands, and finds the argument that a shell would execute. */
#include "core/doc/command.h"
#include "base/json.h"
#include "core/doc/internal.h"

/* The index of the argument after a shell's -c, also if `env` or `nice` starts the shell; 0: none. */
static unsigned find_script(const struct val *words)
{
	static const char *const shells[] = { "sh",   "bash", "dash", "zsh", "ksh",
					      "mksh", "ash",  "fish", "csh", "tcsh" };
	bool shell = false;
	for (unsigned i = 0; i + 1 < words->list.n; i++) {
		struct str word = words->list.item[i].str;
		size_t name = word.n;
		if (words->list.item[i].kind != VAL_STR)
			return 0;
		while (name > 0 && word.p[name - 1] != '/')
			name--;
		for (unsigned k = 0; k < ARRAY_LEN(shells); k++)
			shell |= str_eq(str_from(word, name), str_of(shells[k]));
		if (shell && word.n > 1 && word.p[0] == '-' && word.p[1] != '-' && word.p[word.n - 1] == 'c')
			return i + 1;
	}
	return 0;
}

static enum err read_arguments(struct key_reader *r, const struct val *v, struct doc_command *c)
{
	if (v->list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a command can have at most %d words",
			       LAUNCH_ARGS_MAX);
	c->argv = arena_alloc(r->arena, v->list.n * sizeof *c->argv);
	if (!c->argv)
		return E_NOMEM;
	c->script = find_script(v);
	for (; c->argc < v->list.n; c->argc++) {
		const struct val *word = &v->list.item[c->argc];
		if (word->kind != VAL_STR)
			return keys_wrong_kind(r, "a word of the command", KEY_KIND(VAL_STR), word);
		enum err e = OK;
		if (c->script && c->argc == c->script)
			doc_warn_shell_template(r, word);
		else
			e = doc_check_templates(r, &run_scope_names, word);
		if (e)
			return e;
		c->argv[c->argc] = word->str;
	}
	if (!c->argv[0].n)
		return why_set(r->why, E_INPUT, v->list.item[0].at,
			       "the first word of a command, its program, is empty");
	return OK;
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
