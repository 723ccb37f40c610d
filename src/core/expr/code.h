#pragma once
/* Compiled expressions: instructions for a stack machine. Only files of core/expr include this. */
#include "core/expr/expr.h"

enum expr_op {
	DO_CONST,  /* push constant `arg` */
	DO_NAME,   /* push the value of the name in constant `arg` */
	DO_SELECT, /* replace the top by its field, named in constant `arg` */
	DO_HAS,    /* replace the top by whether it has the field named in constant `arg` */
	DO_INDEX,
	DO_LIST, /* make a list of the `arg` topmost values */
	DO_MAP,  /* make a map of the `arg` topmost pairs */
	DO_NOT,
	DO_NEGATE,
	DO_EQ,
	DO_NE,
	DO_LT,
	DO_LE,
	DO_GT,
	DO_GE,
	DO_IN,
	DO_ADD,
	DO_SUB,
	DO_MUL,
	DO_DIV,
	DO_MOD,
	DO_IF_FALSE, /* go to `arg` if the top, the left side of &&, is false */
	DO_IF_TRUE,  /* go to `arg` if the top, the left side of ||, is true */
	DO_AND,
	DO_OR,
	DO_BRANCH, /* pop the top: true continues, false goes to `arg`; an error stays and goes to the jump
		      before `arg` */
	DO_JUMP,
	DO_CALL,    /* call row `arg` of expr_functions with `argc` arguments */
	DO_UNKNOWN, /* an unknown function, named in constant `arg`, with `argc` arguments */
	DO_COUNT
};

struct instruction {
	uint8_t op, argc;
	uint32_t arg;
	uint32_t at; /* byte offset in the text */
};

struct expr {
	const struct instruction *code;
	const struct expr_value *constant;
	unsigned n, stack; /* the number of instructions; the greatest height of the stack */
	bool names;        /* the expression uses names */
};

/* Compiles the expression at the beginning of `text`; *end is where it ends. Places of errors count from
 * `base`. The text must live as long as the expression. */
must_check enum err expr_compile_front(struct str text, size_t base, const struct expr_names *names,
				       struct arena *a, const struct expr **ret, size_t *end,
				       struct why *why);
/* The most similar of the names, for a message: " (near: user)", or "" if there is none. */
const char *expr_near(struct str name, const struct expr_names *names, struct arena *a);

/* The message about a function that does not exist. */
const char *expr_unknown_function(struct str name, struct arena *a);

must_check enum err expr_run(const struct expr *e, const struct expr_env *env, struct arena *a,
			     struct expr_budget *budget, struct expr_value *ret, struct why *why);

/* expr_write with a budget, which pays for the bytes before they are written. `as_text`: values that are
 * strings in JSON are written without quotes. */
must_check enum err expr_write_on_budget(const struct expr_value *v, bool as_text, const struct zone *zone,
					 struct arena *a, struct expr_budget *budget, struct buf *out,
					 struct why *why);

/* --- the machine and its operations --- */
struct expr_machine {
	const struct expr_env *env;
	struct arena *arena;
	struct expr_budget *budget;
	size_t at;     /* the place of the current instruction */
	enum err stop; /* not OK: the evaluation ends, E_NOMEM or E_LIMIT */
};

/* False: the budget is used up, or the evaluation has ended already. */
must_check bool expr_spend(struct expr_machine *m, size_t steps);
void *expr_alloc(struct expr_machine *m, size_t size);
/* An EXPR_ERROR with this message. */
struct expr_value expr_error(struct expr_machine *m, const char *fmt, ...) printf_like(2, 3);

enum expr_order { ORDER_LESS, ORDER_EQUAL, ORDER_GREATER, ORDER_NONE };
/* Compares two values of the same kind, or two numbers. ORDER_NONE: one of them is NaN; or, if *fits is
 * false, their kinds cannot be compared. */
enum expr_order expr_compare(const struct expr_value *a, const struct expr_value *b, bool *fits);
bool expr_equal(struct expr_machine *m, const struct expr_value *a, const struct expr_value *b);
bool expr_lookup(struct expr_machine *m, const struct expr_value *map, const struct expr_value *key,
		 struct expr_value *ret);
struct expr_value expr_arithmetic(struct expr_machine *m, enum expr_op op, const struct expr_value *a,
				  const struct expr_value *b);

struct expr_function {
	const char *name;
	bool global, method;  /* may be called as f(x), as x.f() */
	unsigned least, most; /* arguments, including the value before the dot */
	struct expr_value (*call)(struct expr_machine *m, const struct expr_function *f,
				  const struct expr_value *arg, unsigned n);
	unsigned part; /* which TIME_ or TEXT_ function it is */
};
extern const struct expr_function expr_functions[]; /* ends with a NULL name */

/* --- times --- */
#define NANOS INT64_C(1000000000)
struct expr_value expr_timestamp(struct expr_machine *m, const struct expr_function *f,
				 const struct expr_value *arg, unsigned n);
struct expr_value expr_duration(struct expr_machine *m, const struct expr_function *f,
				const struct expr_value *arg, unsigned n);
struct expr_value expr_time_part(struct expr_machine *m, const struct expr_function *f,
				 const struct expr_value *arg, unsigned n);
enum {
	TIME_YEAR,
	TIME_MONTH,
	TIME_DATE,
	TIME_DAY,
	TIME_WEEKDAY,
	TIME_YEARDAY,
	TIME_HOURS,
	TIME_MINUTES,
	TIME_SECONDS,
	TIME_MILLIS
};
/* A timestamp plus (or `back`: minus) nanoseconds; an error if the year is not 0001 to 9999. */
struct expr_value expr_shift_time(struct expr_machine *m, const struct expr_value *t, int64_t nanos,
				  bool back);
void expr_time_text(const struct expr_value *v, const struct zone *zone, struct buf *out);
