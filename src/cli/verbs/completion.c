/* completion: prints completion scripts for shells, made from the table of operations. */
#include "cli/verbs/verbs.h"

#include "base/json.h"

#include <stdlib.h>

/* Writes a text in single quotes. */
static void write_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++)
		fputs(*text == '\'' ? "'\\''" : (char[]){ *text, '\0' }, out);
	fputc('\'', out);
}

static void write_options(FILE *out, const struct op *op)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && op->param[i].name; i++)
		if (!op->param[i].positional && op->param[i].kind != PARAM_WORDS)
			fprintf(out, " --%s", op->param[i].name);
}

/* Completes the verb, then its options; for other words bash completes file names. */
static void write_bash(FILE *out)
{
	fputs("# bash completion for rota: `rota completion bash`\n_rota() {\n"
	      "\tlocal word=${COMP_WORDS[COMP_CWORD]}\n\tlocal words=\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='",
	      out);
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op))
			fprintf(out, "%s ", op->name);
	fputs("help'\n\telif [ \"${word#-}\" != \"$word\" ]; then\n\t\tcase ${COMP_WORDS[1]} in\n", out);
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op)) {
			fprintf(out, "\t\t%s) words='", op->name);
			write_options(out, op);
			fputs("' ;;\n", out);
		}
	fputs("\t\tesac\n\tfi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n"
	      "complete -o default -F _rota rota\n",
	      out);
}

static void write_zsh(FILE *out)
{
	fputs("#compdef rota\n# zsh completion for rota: `rota completion zsh`\nlocal -a words\n"
	      "if (( CURRENT == 2 )); then\n\twords=(\n",
	      out);
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op)) {
			fprintf(out, "\t\t%s:", op->name);
			write_quoted(out, op->summary);
			fputc('\n', out);
		}
	fputs("\t)\n\t_describe verb words\nelif [[ $PREFIX == -* ]]; then\n\tcase $words[2] in\n", out);
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op)) {
			fprintf(out, "\t%s) compadd --", op->name);
			write_options(out, op);
			fputs(" ;;\n", out);
		}
	fputs("\tesac\nelse\n\t_files\nfi\n", out);
}

static void write_fish(FILE *out)
{
	fputs("# fish completion for rota: `rota completion fish`\n", out);
	for (const struct op *op = ops; op < ops + OPS; op++) {
		if (!op_is_verb(op))
			continue;
		fprintf(out, "complete -c rota -n __fish_use_subcommand -a %s -d ", op->name);
		write_quoted(out, op->summary);
		fputc('\n', out);
		for (unsigned i = 0; i < OP_PARAMS_MAX && op->param[i].name; i++) {
			const struct op_param *p = &op->param[i];
			if (p->positional || p->kind == PARAM_WORDS)
				continue;
			fprintf(out, "complete -c rota -n '__fish_seen_subcommand_from %s' -l %s%s -d ",
				op->name, p->name, p->value ? " -r" : "");
			write_quoted(out, p->help);
			fputc('\n', out);
		}
	}
}

static enum err print_script_json(struct cli_call *call, void (*write)(FILE *out))
{
	_cleanup_(buf_free) struct buf text = { 0 };
	char *script = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&script, &n);
	if (!out)
		return E_NOMEM;
	write(out);
	bool whole = fclose(out) == 0;
	json_write_str(&text, (struct str){ script, n });
	if (whole && !text.failed)
		fprintf(call->out, "{\"script\":%s}\n", text.p);
	free(script);
	return whole && !text.failed ? OK : E_NOMEM;
}

enum err verb_completion(struct cli_call *call)
{
	static const struct {
		const char *shell;
		void (*write)(FILE *out);
	} shells[] = { { "bash", write_bash }, { "zsh", write_zsh }, { "fish", write_fish } };
	struct str word = op_arg(&call->args, "shell")->text;
	for (unsigned i = 0; i < ARRAY_LEN(shells); i++)
		if (str_eq(word, str_of(shells[i].shell))) {
			if (call->json)
				return print_script_json(call, shells[i].write);
			shells[i].write(call->out);
			return OK;
		}
	if (!word.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "completion needs a shell: bash, zsh or fish");
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "there is no completion for '%.*s'; allowed are bash, zsh and fish", STR_SHORT(word));
}
