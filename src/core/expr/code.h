#pragma once
/* The compiled form: instructions for a machine with a stack. Inner header of expr. */
#include "core/expr/expr.h"

enum expr_do {
	DO_CONST,  /* push constant `arg` */
	DO_NAME,   /* push what the name, constant `arg`, stands for */
	DO_SELECT, /* field, constant `arg`, of the top */
	DO_HAS,    /* is there such a field? */
	DO_INDEX,
	DO_LIST, /* of the `arg` topmost */
	DO_MAP,  /* of the `arg` topmost pairs */
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
	DO_IF_FALSE, /* the left side of && is on top: if it is false, go to `arg` */
	DO_IF_TRUE,  /* the same of || */
	DO_AND,
	DO_OR,
	DO_BRANCH, /* take the top: true goes on, false to `arg`, an error stays and goes to the jump before
		      `arg` */
	DO_JUMP,
	DO_CALL,    /* row `arg` of the functions, `argc` arguments */
	DO_UNKNOWN, /* the function, constant `arg`, with `argc` arguments */
	DO_COUNT
};

struct instruction {
	uint8_t op, argc;
	uint32_t arg;
	uint32_t at; /* in the text */
};

struct expr {
	const struct instruction *code;
	const struct expr_value *constant;
	unsigned n, stack; /* instructions; the deepest stack they need */
	bool names;
};

/* Compiles the expression that `text` begins with, places counted from `base`; *end is where it ends. The
 * text must live as long as the expression. */
must_check enum err expr_compile_front(struct str text, size_t base, const struct expr_names *names,
				       struct arena *a, const struct expr **ret, size_t *end,
				       struct why *why);
/* Of several names the one that was probably meant: " (near: user)", else "". */
const char *expr_near(struct str name, const struct expr_names *names, struct arena *a);

/* What is said of a function that is not there. */
const char *expr_no_function(struct str name, struct arena *a);

/* What may still be spent. One budget may serve several evaluations. */
struct expr_budget {
	size_t steps, bytes;
};
must_check enum err expr_run(const struct expr *e, const struct expr_env *env, struct arena *a,
			     struct expr_budget *budget, struct expr_value *ret, struct why *why);

/* expr_write, on that budget; as text, it is without quotes where it is a string. */
must_check enum err expr_write_within(const struct expr_value *v, bool as_text, const struct zone *zone,
				      struct arena *a, struct expr_budget *budget, struct buf *out,
				      struct why *why);

/* --- shared by the machine and what it calls --- */
struct machine {
	const struct expr_env *env;
	struct arena *arena;
	struct expr_budget *budget;
	size_t at;     /* of the instruction under way */
	enum err stop; /* evaluation ends: out of memory, or of its budget */
};

/* False: the budget is used up, or the memory; the evaluation ends. */
must_check bool expr_spend(struct machine *m, size_t steps);
void *expr_alloc(struct machine *m, size_t size);
/* An operand without a value. */
struct expr_value expr_error(struct machine *m, const char *fmt, ...) printf_like(2, 3);

enum expr_order { ORDER_LESS, ORDER_EQUAL, ORDER_GREATER, ORDER_NONE };
/* Of two numbers, strings, …; ORDER_NONE with *fits where one of them is NaN, without where they do not go
 * together. */
enum expr_order expr_compare(const struct expr_value *a, const struct expr_value *b, bool *fits);
bool expr_equal(struct machine *m, const struct expr_value *a, const struct expr_value *b);
bool expr_lookup(struct machine *m, const struct expr_value *map, const struct expr_value *key,
		 struct expr_value *ret);
struct expr_value expr_arithmetic(struct machine *m, enum expr_do op, const struct expr_value *a,
				  const struct expr_value *b);

struct function {
	const char *name;
	bool global, method;  /* f(x), x.f() */
	unsigned least, most; /* arguments, that before the dot included */
	struct expr_value (*call)(struct machine *m, const struct function *f, const struct expr_value *arg,
				  unsigned n);
	unsigned part; /* of a time */
};
extern const struct function expr_functions[]; /* ends with a NULL name */

/* --- times --- */
#define NANOS INT64_C(1000000000)
struct expr_value expr_timestamp(struct machine *m, const struct function *f, const struct expr_value *arg,
				 unsigned n);
struct expr_value expr_duration(struct machine *m, const struct function *f, const struct expr_value *arg,
				unsigned n);
struct expr_value expr_part(struct machine *m, const struct function *f, const struct expr_value *arg,
			    unsigned n);
enum {
	PART_YEAR,
	PART_MONTH,
	PART_DATE,
	PART_DAY,
	PART_WEEKDAY,
	PART_YEARDAY,
	PART_HOURS,
	PART_MINUTES,
	PART_SECONDS,
	PART_MILLIS
};
/* A timestamp moved by some nanoseconds; an error where it would leave 0001 to 9999. */
struct expr_value expr_moved(struct machine *m, const struct expr_value *t, int64_t nanos, bool back);
void expr_time_text(const struct expr_value *v, const struct zone *zone, struct buf *out);
