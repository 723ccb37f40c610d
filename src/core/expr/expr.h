#pragma once
/* Conditions, and what stands between {{ }}: a subset of CEL (docs/expressions.md). Pure.
 *
 * An expression is compiled once and may be evaluated often, by several threads at a time. It is total: jumps
 * only go forward, so that each of its instructions is carried out at most once, and what one of them may
 * cost (comparing lists, joining strings) is counted against CEL_STEPS_MAX and CEL_MEMORY_MAX. Nothing
 * recurses deeper than CEL_DEPTH_MAX and the depth of the values given. */
#include "core/expr/value.h"
#include "core/when/zone/zones.h"

struct expr;

struct expr_names {
	const struct str *name;
	unsigned n;
};

/* Compiles; `*ret` lives in `a` and needs `text` no longer. E_INPUT and E_LIMIT say where in `text`.
 * With `names` (beside which `now` is always known) an unknown name or function is refused; without, it is an
 * error when it is evaluated, if it is. */
must_check enum err expr_compile(struct str text, const struct expr_names *names, struct arena *a,
				 const struct expr **ret, struct why *why);
/* Is there a name in it? What is not constant can only be known when it is evaluated. */
bool expr_has_names(const struct expr *e);

/* What an evaluation may ask for. */
struct expr_env {
	/* What a name stands for; asked only when it is needed. False: it is not known. */
	bool (*find)(void *self, struct str name, struct expr_value *ret);
	void *self;
	const struct expr_names *names;  /* for "near: …"; may be NULL */
	struct wall now;                 /* the name `now`, if `find` does not know one */
	const struct zone_source *zones; /* for accessors with a zone; NULL: only UTC and offsets */
	const struct zone *zone;         /* in which templates write timestamps; NULL: UTC */
};
/* A `find` for a struct val that is a map. */
bool expr_find_in(void *map, struct str name, struct expr_value *ret);

/* The value, as long as `a` and what `find` gave live. E_VALUE: it has none, and why, and where in the text.
 */
must_check enum err expr_eval(const struct expr *e, const struct expr_env *env, struct arena *a,
			      struct expr_value *ret, struct why *why);

/* A condition holds if its value is true. If it does not, why->text is empty when the value is false, else it
 * says what went wrong. */
bool expr_holds(const struct expr *e, const struct expr_env *env, struct arena *a, struct why *why);
