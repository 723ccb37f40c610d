/* Templates in documents: they are checked when a document is read, before any value is known. */
#include "core/doc/internal.h"
#include "core/doc/text_position.h"
#include "core/expr/template.h"

enum err doc_check_templates(struct key_reader *r, const struct expr_names *names, const struct val *v)
{
	const struct template *t;
	enum err e = OK;
	if (v->kind == VAL_STR)
		e = keys_error_in(r, v, template_compile(v->str, names, r->arena, &t, r->why));
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n && !e; i++)
		e = doc_check_templates(r, names, &v->list.item[i]);
	for (unsigned i = 0; v->kind == VAL_MAP && i < v->map.n && !e; i++)
		e = doc_check_templates(r, names, &v->map.pair[i].value);
	return e;
}

void doc_warn_shell_template(struct key_reader *r, const struct val *v)
{
	struct str found;
	if (template_looks_like(v->str, &run_scope_names, &found))
		doc_warn(r, text_position(r->source, v, (size_t)(found.p - v->str.p)),
			 "'%.*s' is not expanded in a command line for the shell; pass the value in env, and "
			 "use the variable in the command",
			 STR_SHORT(found));
}

enum err doc_refuse_template(struct key_reader *r, struct str program, const struct val *v)
{
	struct str found;
	if (!template_looks_like(v->str, &run_scope_names, &found))
		return OK;
	return why_set(
		r->why, E_INPUT, text_position(r->source, v, (size_t)(found.p - v->str.p)),
		"'%.*s' is not allowed here: %.*s could execute its value as a program; pass the value "
		"in env, and use the variable",
		STR_SHORT(found), STR_SHORT(program));
}

enum err doc_refuse_variable_template(struct key_reader *r, struct str variable, const struct val *v)
{
	struct str found;
	if (!template_looks_like(v->str, &run_scope_names, &found))
		return OK;
	return why_set(
		r->why, E_INPUT, text_position(r->source, v, (size_t)(found.p - v->str.p)),
		"'%.*s' is not allowed here: programs execute the value of %.*s, or load code from it; "
		"pass the value in a variable of another name",
		STR_SHORT(found), STR_SHORT(variable));
}
