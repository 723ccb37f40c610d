/* eval and render: evaluate an expression or render a template in this process, without a daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "core/expr/template.h"
#include "host/docfile.h"
#include "sys/clock.h"

#include <errno.h>
#include <string.h>

/* Reads a file or, for -, standard input. The file may be a pipe. */
static enum err read_text(struct cli_call *call, struct str path, struct str *ret)
{
	_cleanup_(buf_free) struct buf all = { 0 };
	bool std = str_eq(path, STR("-"));
	errno = 0;
	/* The path ends with a zero byte, because it comes from argv. */
	FILE *in = std ? stdin : fopen(path.p, "re");
	char chunk[8192];
	for (size_t n; in && all.n <= YAML_BYTES_MAX && (n = fread(chunk, 1, sizeof chunk, in)) > 0;)
		buf_add(&all, (struct str){ chunk, n });
	int error = !in || ferror(in) ? errno : 0;
	if (in && !std)
		fclose(in);
	if (error)
		return why_set(call->why, error == ENOENT ? E_NOTFOUND : E_IO, WHY_NOWHERE,
			       "cannot read %.150s: %s", std ? "standard input" : path.p, strerror(error));
	if (all.n > YAML_BYTES_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE, "%.150s has more than %u bytes",
			       std ? "standard input" : path.p, YAML_BYTES_MAX);
	char *copy = all.failed ? NULL : arena_dup(call->arena, buf_str(&all));
	if (!copy)
		return E_NOMEM;
	*ret = (struct str){ copy, all.n };
	call->source = *ret;
	call->source_name = std ? "standard input" : path.p;
	return OK;
}

/* The variables of an expression. */
struct eval_context {
	struct val map;
	struct expr_names names;
	struct expr_env env;
};

static enum err read_context(struct cli_call *call, struct eval_context *ret)
{
	const struct arg *file = op_arg(&call->args, "context");
	struct val all = { .kind = VAL_LIST }, *map = &ret->map;
	struct str text;
	*map = (struct val){ .kind = VAL_MAP };
	enum err e = file->given ? read_text(call, file->text, &text) : OK;
	if (!e && file->given)
		e = docfile_parse(file->text, text, call->arena, &all, call->why);
	if (!e && file->given && (all.list.n != 1 || all.list.item->kind != VAL_MAP))
		e = why_set(call->why, E_INPUT, 0,
			    "a context must be one map, such as {\"user\": {\"name\": \"Ann\"}}");
	if (e)
		return e;
	if (file->given)
		*map = *all.list.item;
	struct str *name = arena_alloc(call->arena, (map->map.n + 1) * sizeof *name);
	if (!name)
		return E_NOMEM;
	struct val_pair *variables = NULL;
	for (unsigned i = 0; i < map->map.n; i++) {
		name[i] = map->map.pair[i].key;
		if (str_eq(name[i], STR("variables")))
			variables = &map->map.pair[i];
	}
	ret->names = (struct expr_names){ name, map->map.n };
	ret->env = (struct expr_env){ .find = expr_find_in,
				      .self = map,
				      .names = &ret->names,
				      .now = clock_wall(),
				      .zones = zoneinfo_source(call->zones) };
	/* Variables may be templates, like the variables of a schedule. */
	if (variables)
		e = template_variables(&variables->value, &ret->env, call->arena, &variables->value,
				       call->why);
	return e;
}

static enum err need_argument(struct cli_call *call, const char *what)
{
	return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs %s, for example: %s", call->args.op->name,
		       what, call->args.op->example);
}

static enum err print_output(struct cli_call *call, enum err e, struct buf *out,
			     void (*printer)(FILE *to, struct str s))
{
	if (!e && out->failed)
		e = E_NOMEM;
	if (!e && out->n)
		printer(call->out, buf_str(out));
	return e;
}

enum err verb_eval(struct cli_call *call)
{
	const struct arg *text = op_arg(&call->args, "expression");
	const struct expr *expr;
	struct eval_context context;
	struct expr_value v;
	_cleanup_(buf_free) struct buf out = { 0 };
	if (!text->given)
		return need_argument(call, "an expression");
	/* Errors of the expression are reported before errors of the context. */
	call->source = text->text;
	enum err e = expr_compile(text->text, NULL, call->arena, &expr, call->why);
	if (!e)
		e = read_context(call, &context);
	if (e)
		return e;
	call->source = text->text;
	call->source_name = NULL;
	e = expr_eval(expr, &context.env, call->arena, &v, call->why);
	if (!e)
		e = expr_write(&v, NULL, call->arena, &out, call->why);
	buf_addc(&out, '\n');
	return print_output(call, e, &out, print_json);
}

enum err verb_render(struct cli_call *call)
{
	const struct arg *file = op_arg(&call->args, "file");
	const struct template *template;
	struct eval_context context;
	struct str text;
	_cleanup_(buf_free) struct buf out = { 0 };
	if (!file->given)
		return need_argument(call, "a file, or - for standard input");
	if (str_eq(file->text, STR("-")) && str_eq(op_arg(&call->args, "context")->text, STR("-")))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "standard input can be the template or the context, not both");
	enum err e = read_text(call, file->text, &text);
	if (!e)
		e = template_compile(text, NULL, call->arena, &template, call->why);
	const char *name = call->source_name;
	if (!e)
		e = read_context(call, &context);
	if (e)
		return e;
	call->source = text;
	call->source_name = name;
	e = template_render(template, &context.env, call->arena, &out, call->why);
	if (e || !call->json)
		return print_output(call, e, &out, print_for_program);
	_cleanup_(buf_free) struct buf json = { 0 };
	buf_add(&json, STR("{\"text\":"));
	json_write_str(&json, buf_str(&out));
	buf_add(&json, STR("}\n"));
	return print_output(call, out.failed ? E_NOMEM : OK, &json, print_json);
}
