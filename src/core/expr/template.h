#pragma once
/* Templates: text with expressions between {{ and }}. Pure.
 *
 * The value of each expression is written as text: strings as they are, other values as JSON (expr_write),
 * timestamps in the environment's zone, without quotes. {{ user }} alone is user.name, if user is a map.
 * A literal {{ is written {{ "{{" }}. An unknown name or a missing field is an error, never an empty string.
 */
#include "core/expr/expr.h"

struct template;

/* Like expr_compile; places of errors are in `text`. */
must_check enum err template_compile(struct str text, const struct expr_names *names, struct arena *a,
				     const struct template **ret, struct why *why);
/* Appends the rendered text; after an error `out` holds a part of it, to be discarded. E_VALUE: an expression
 * has no value, or the budget is used up. Rendering spends env->budget while it renders. */
must_check enum err template_render(const struct template *t, const struct expr_env *env, struct arena *a,
				    struct buf *out, struct why *why);

/* Renders a schedule's `variables`: each string in them, at any depth, is a template, which may use all names
 * except `variables`. The text of an error says which variable and where in it; why->at is WHY_NOWHERE. */
must_check enum err template_variables(const struct val *variables, const struct expr_env *env,
				       struct arena *a, struct val *ret, struct why *why);

/* Finds the first {{ … }} that would be a valid expression with names, in a text that is not a template.
 * False: there is none. */
bool template_looks_like(struct str text, const struct expr_names *names, struct str *ret);
