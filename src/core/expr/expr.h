#pragma once
/* Conditions, and expressions between {{ }}: a subset of CEL (docs/expressions.md). Pure.
 *
 * An expression is compiled once and may be evaluated often, also by several threads at the same time.
 * Evaluation always ends: jumps only go forward, so each instruction runs at most once, and the cost of each
 * (comparing lists, joining strings) is counted against CEL_STEPS_MAX and CEL_MEMORY_MAX. Recursion is at
 * most as deep as CEL_DEPTH_MAX, or as the nesting of the given values. */
#include "core/expr/value.h"
#include "core/when/zone/zones.h"

struct expr;

struct expr_names {
	const struct str *name;
	unsigned n;
};

/* Compiles `text`; *ret lives in `a` and does not point into `text`. E_INPUT, E_LIMIT: why->at is in `text`.
 * If `names` is given, unknown names (`now` is always known) and functions are refused; if it is NULL, they
 * are errors when they are evaluated. */
must_check enum err expr_compile(struct str text, const struct expr_names *names, struct arena *a,
				 const struct expr **ret, struct why *why);
/* Does the expression use names? Without any it is constant. */
bool expr_has_names(const struct expr *e);

/* The steps and bytes that evaluations and rendering may still use. Several may share one budget. */
struct expr_budget {
	size_t steps, bytes; /* bytes: allocated, and written as text */
};
/* The budget of a template, or of all templates of an attempt. */
#define RENDER_BUDGET ((struct expr_budget){ CEL_STEPS_MAX, RENDER_BYTES_MAX })

/* The environment of an evaluation: names, time and zones. */
struct expr_env {
	/* Finds the value of a name; called only when the value is needed. False: there is no such name. */
	bool (*find)(void *self, struct str name, struct expr_value *ret);
	void *self;
	const struct expr_names *names;  /* for suggestions in errors; may be NULL */
	struct wall now;                 /* the value of `now`, unless `find` has one */
	const struct zone_source *zones; /* for functions with a zone; NULL: only UTC and offsets */
	const struct zone *zone;         /* for timestamps that templates write; NULL: UTC */
	struct expr_budget *budget;      /* shared by all templates; NULL: each has RENDER_BUDGET */
};
/* An expr_env.find whose `self` is a struct val, a map. */
bool expr_find_in(void *map, struct str name, struct expr_value *ret);

/* The value points into `a` and into the values of `find`. E_VALUE: the expression has no value; `why` says
 * why and where. */
must_check enum err expr_eval(const struct expr *e, const struct expr_env *env, struct arena *a,
			      struct expr_value *ret, struct why *why);

/* Is the value true? If not, why->text is empty if the value is false, and says what is wrong otherwise. */
bool expr_holds(const struct expr *e, const struct expr_env *env, struct arena *a, struct why *why);
