#pragma once
/* Templates: text with expressions between {{ and }}. Pure.
 *
 * Each expression's value is written as text: strings as they are, all else as JSON (expr_write), timestamps
 * in the environment's zone, without quotes. {{ user }} alone is user.name, if user is a map. A literal {{ is
 * written {{ "{{"
 * }}. There is no way to an empty string by mistake: an unknown name or a missing field is an error. */
#include "core/expr/expr.h"

struct template;

/* As expr_compile; places are those of `text`, which is needed no longer. */
must_check enum err template_compile(struct str text, const struct expr_names *names, struct arena *a,
				     const struct template **ret, struct why *why);
/* Appends; on failure what was appended is to be thrown away. E_VALUE: an expression has no value. All of a
 * template's expressions together may cost what one may cost alone; the whole is at most RENDER_BYTES_MAX. */
must_check enum err template_render(const struct template *t, const struct expr_env *env, struct arena *a,
				    struct buf *out, struct why *why);

/* The schedule's `variables`, each string of which, however deep, is a template. They may use every name but
 * `variables`. Errors say which one, with the place in it, and have
 * none themselves. */
must_check enum err template_variables(const struct val *variables, const struct expr_env *env,
				       struct arena *a, struct val *ret, struct why *why);
/* The same without values: is each of them right? */
must_check enum err template_check_variables(const struct val *variables, const struct expr_names *names,
					     struct arena *a, struct why *why);

/* In a text that is no template: the first {{ … }} that would mean something if it were one. False: none. */
bool template_looks_like(struct str text, const struct expr_names *names, struct str *ret);
