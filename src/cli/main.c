/* Finds the verb, reads its arguments, runs it; prints help and errors. */
#include "cli/main.h"

#include "base/buf.h"
#include "cli/errors.h"
#include "cli/mask.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void print_help(FILE *to)
{
	print(to, "rota: the duty roster for agents\n\nusage: rota VERB [ARGUMENTS]\n\n");
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op))
			print(to, "  %-10s %s\n", op->name, op->summary);
	print(to, "\n`rota VERB --help` describes a verb and its options.\n");
}

static void print_verb_help(FILE *to, const struct op *op)
{
	print(to, "rota %s: %s\n\nusage: rota %s", op->name, op->summary, op->name);
	for (const struct op_param *p = op->param; p->name; p++) {
		bool bare = p->positional || p->kind == PARAM_WORDS;
		print(to, " %s%s%s%s%s%s", p->required ? "" : "[", bare ? "" : "--", bare ? "" : p->name,
		      p->value && !bare ? " " : "", p->value ? p->value : "", p->required ? "" : "]");
	}
	print(to, "\n\n");
	for (const struct op_param *p = op->param; p->name; p++) {
		char left[48], letter[8] = "";
		if (p->letter)
			snprintf(letter, sizeof letter, "-%c, ", p->letter);
		bool bare = p->positional || p->kind == PARAM_WORDS;
		snprintf(left, sizeof left, "%s%s%s%s%s", letter, bare ? "" : "--", bare ? "" : p->name,
			 p->value && !bare ? " " : "", p->value ? p->value : "");
		print(to, "  %-20s %s\n", left, p->help);
	}
	if (op->notes) {
		print(to, "\n");
		print_lines(to, str_of(op->notes));
		print(to, "\n");
	}
	print(to, "\nexample: %s\n", op->example);
}

/* Finds the option in the text NAME or NAME=VALUE, and sets *value to VALUE or NULL. */
static const struct op_param *find_option(const struct op *op, const char *text, const char **value)
{
	const char *equals = strchr(text, '=');
	struct str name = { text, equals ? (size_t)(equals - text) : strlen(text) };
	*value = equals ? equals + 1 : NULL;
	for (const struct op_param *p = op->param; p->name; p++)
		if (!p->positional && str_eq(name, str_of(p->name)))
			return p;
	return NULL;
}

/* Finds an option by its letter, such as f. */
static const struct op_param *find_letter(const struct op *op, const char *text, const char **value)
{
	*value = NULL;
	for (const struct op_param *p = op->param; p->name && text[1] == '\0'; p++)
		if (p->letter && p->letter == text[0])
			return p;
	return NULL;
}

/* Allocates room for this word and all words after it. */
static bool reserve_words(struct cli_call *call, struct arg *arg, char **argv)
{
	unsigned n = 0;
	while (argv[n])
		n++;
	arg->word = arena_alloc(call->arena, (n + 1) * sizeof *arg->word);
	return arg->word != NULL;
}

static enum err add_word(struct cli_call *call, struct arg *arg, char **argv)
{
	if (!arg->word && !reserve_words(call, arg, argv))
		return E_NOMEM;
	arg->word[arg->count++] = str_of(*argv);
	arg->given = true;
	return OK;
}

/* `argv` points to the word that contains the value. */
static enum err set_arg(struct cli_call *call, const struct op_param *p, const char *value, char **argv)
{
	struct arg *arg = &call->args.arg[p - call->args.op->param];
	if (p->kind == PARAM_LIST)
		return add_word(call, arg, argv);
	if (arg->given && p->positional)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s takes one %s, but '%.*s' is a second one; put text with spaces in quotes",
			       call->args.op->name, p->value, STR_SHORT(str_of(value)));
	if (arg->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--%s is given twice", p->name);
	arg->given = true;
	if (p->kind == PARAM_FLAG)
		return OK;
	enum err e = mask_secrets(call->arena, str_of(value), &arg->text);
	if (e)
		return e;
	if (!arg->text.n && !p->positional)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--%s needs a value (%s)", p->name, p->value);
	uint64_t n;
	if (p->kind == PARAM_COUNT && (!str_number(arg->text, p->most, &n) || n < p->least))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--%s %.*s is out of range %u-%u", p->name,
			       STR_SHORT(arg->text), p->least, p->most);
	if (p->kind == PARAM_COUNT)
		arg->count = (unsigned)n;
	return OK;
}

/* Reads the rest of the line as one argument, if the operation has such a parameter. */
static bool read_words(struct cli_call *call, char **argv)
{
	const struct op_param *p = call->args.op->param;
	while (p->name && p->kind != PARAM_WORDS)
		p++;
	if (!p->name)
		return false;
	struct arg *arg = &call->args.arg[p - call->args.op->param];
	for (enum err e = OK; *argv && !e; argv++)
		e = add_word(call, arg, argv);
	return true;
}

/* The first positional parameter without an argument, else the last one; NULL: none. */
static const struct op_param *next_positional(const struct cli_call *call)
{
	const struct op_param *p = call->args.op->param, *last = NULL;
	for (; p->name; p++) {
		if (!p->positional)
			continue;
		last = p;
		if (!call->args.arg[p - call->args.op->param].given)
			return p;
	}
	return last;
}

/* The error for an unknown option names the option that was probably meant. */
static enum err refuse_option(struct cli_call *call, const char *text)
{
	const struct op *op = call->args.op;
	const char *name = text + (text[1] == '-' ? 2 : 1), *near = NULL;
	struct str given = { name, strcspn(name, "=") };
	unsigned best = given.n > 3 ? 3 : 1;
	for (const struct op_param *p = op->param; p->name; p++) {
		unsigned distance = p->positional ? best : str_distance(given, str_of(p->name), 2);
		if (distance < best) {
			near = p->name;
			best = distance;
		}
	}
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "%s has no option %.*s%s%s%s; `rota %s --help` lists them", op->name,
		       STR_SHORT(str_of(text)), near ? " (near: --" : "", near ? near : "", near ? ")" : "",
		       op->name);
}

static enum err read_args(struct cli_call *call, char **argv)
{
	bool words_only = false;
	for (; *argv; argv++) {
		const struct op_param *p = NULL;
		const char *value = *argv;
		if (!words_only && strcmp(*argv, "--") == 0) {
			if (read_words(call, argv + 1))
				return OK;
			words_only = true;
			continue;
		}
		if (!words_only && argv[0][0] == '-' && (argv[0][1] == '-' || is_alpha(argv[0][1]))) {
			p = argv[0][1] == '-' ? find_option(call->args.op, *argv + 2, &value)
					      : find_letter(call->args.op, *argv + 1, &value);
			if (!p)
				return refuse_option(call, *argv);
			if (p->kind == PARAM_FLAG && value)
				return why_set(call->why, E_INPUT, WHY_NOWHERE, "--%s takes no value",
					       p->name);
			if (p->kind != PARAM_FLAG && !value && !(value = *++argv))
				return why_set(call->why, E_INPUT, WHY_NOWHERE, "--%s needs a value (%s)",
					       p->name, p->value);
		} else {
			p = next_positional(call);
			if (!p)
				return why_set(
					call->why, E_INPUT, WHY_NOWHERE,
					"%s takes no argument '%.*s'; `rota %s --help` lists its options",
					call->args.op->name, STR_SHORT(str_of(*argv)), call->args.op->name);
		}
		enum err e = set_arg(call, p, value, argv);
		if (e)
			return e;
	}
	return OK;
}

static bool wants_help(char **argv)
{
	for (; *argv && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	return false;
}

static cli_run *find_run(const struct op *op, const struct cli_verb_row *more)
{
	while (more->run && &ops[more->id] != op)
		more++;
	cli_run *run = more->run ? more->run : cli_verbs[op - ops].run;
	assert(run); /* every verb has a function */
	return run;
}

/* The daemon checks the rights of requests. This check is for verbs that send no request. */
static enum err check_within(const struct op *op, struct why *why)
{
	return remote_token() && op->within == WITHIN_NOT ? op_deny(op, why) : OK;
}

static int run_verb(const struct op *op, cli_run *run, char **argv)
{
	struct why why = { .at = WHY_NOWHERE };
	struct arena arena = { 0 };
	_cleanup_(zoneinfo_closep) struct zoneinfo *zones = NULL;
	struct cli_call call = { .args.op = op, .arena = &arena, .out = stdout, .why = &why };
	enum err e = zoneinfo_open(&zones);
	call.zones = zones;
	if (!e)
		e = read_args(&call, argv);
	if (!e) {
		call.json = op_arg(&call.args, "json")->given;
		e = check_within(op, &why);
		if (!e)
			e = run(&call);
	}
	if (e)
		print_error(stderr, e, &why, call.source, call.source_name);
	int code = err_table[e].exit_code;
	arena_free(&arena);
	return code;
}

/* Prints an error with the verb that was probably meant. Returns the exit code. */
static int print_unknown_verb(const char *name)
{
	const char *near = NULL;
	unsigned best = 3, distance = str_distance(str_of(name), STR("help"), 2);
	if (distance < best) {
		near = "help";
		best = distance;
	}
	for (const struct op *op = ops; op < ops + OPS && best; op++) {
		distance = op_is_verb(op) ? str_distance(str_of(name), str_of(op->name), 2) : best;
		if (distance < best) {
			near = op->name;
			best = distance;
		}
	}
	print(stderr, "rota: '");
	print_text(stderr, str_of(name));
	print(stderr, "' is not a verb%s%s%s; `rota --help` lists them\n", near ? " (near: " : "",
	      near ? near : "", near ? ")" : "");
	return err_table[E_INPUT].exit_code;
}

static bool is_status_option(const char *text)
{
	const char *value;
	return find_option(&ops[OP_STATUS], text + 2, &value) != NULL;
}

int cli_main(int argc, char **argv, const struct cli_verb_row *more)
{
	/* Without a verb, `rota` does the same as `rota status`. */
	bool bare = argc < 2 || (!strncmp(argv[1], "--", 2) && is_status_option(argv[1]));
	const char *verb = bare ? "status" : argv[1];
	char **rest = argv + (bare ? 1 : 2);
	int code = 0;
	if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) {
		const struct op *op = argc > 2 ? op_find_verb(str_of(argv[2])) : NULL;
		if (op)
			print_verb_help(stdout, op);
		else if (argc > 2)
			code = print_unknown_verb(argv[2]);
		else
			print_help(stdout);
	} else {
		const struct op *op = op_find_verb(str_of(strcmp(verb, "--version") == 0 ? "version" : verb));
		if (!op)
			code = print_unknown_verb(verb);
		else if (wants_help(rest))
			print_verb_help(stdout, op);
		else
			code = run_verb(op, find_run(op, more), rest);
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		print(stderr, "rota: cannot write the output: %s\n", strerror(errno));
		return err_table[E_IO].exit_code;
	}
	return code;
}
