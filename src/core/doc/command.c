#include "core/doc/command.h"
#include "base/json.h"
#include "core/doc/internal.h"

/* Which word is read by a shell: the one after -c, be there `env` or `nice` before the shell. */
static unsigned script_of(const struct val *words)
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

static enum err read_words(struct key_reader *r, const struct val *v, struct doc_command *c)
{
	if (v->list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a command has at most %d words", LAUNCH_ARGS_MAX);
	c->argv = arena_alloc(r->arena, v->list.n * sizeof *c->argv);
	if (!c->argv)
		return E_NOMEM;
	c->script = script_of(v);
	for (; c->argc < v->list.n; c->argc++) {
		const struct val *word = &v->list.item[c->argc];
		if (word->kind != VAL_STR)
			return keys_wrong(r, "a word of the command", KEY_KIND(VAL_STR), word);
		enum err e = OK;
		if (c->script && c->argc == c->script)
			doc_shell_line(r, word);
		else
			e = doc_template(r, &scope_names, word);
		if (e)
			return e;
		c->argv[c->argc] = word->str;
	}
	if (!c->argv[0].n)
		return why_set(r->why, E_INPUT, v->list.item[0].at, "the program's name is empty");
	return OK;
}

enum err command_read(struct key_reader *r, const char *what, const struct val *v, struct doc_command *ret)
{
	struct doc_command c = { 0 };
	if (v->kind == VAL_STR ? str_trim(v->str).n == 0 : v->list.n == 0)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", what);
	if (v->kind == VAL_LIST) {
		enum err e = read_words(r, v, &c);
		if (e)
			return e;
	} else {
		c.shell = v->str;
		doc_shell_line(r, v);
	}
	*ret = c;
	return OK;
}

enum err command_set(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return command_read(r, k->name, v, (struct doc_command *)(void *)((char *)into + k->to));
}

void command_write(const struct doc_command *c, struct buf *out)
{
	if (c->shell.n) {
		json_write_str(out, c->shell);
		return;
	}
	for (unsigned i = 0; i < c->argc; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, c->argv[i]);
	}
	if (c->argc)
		buf_addc(out, ']');
}
