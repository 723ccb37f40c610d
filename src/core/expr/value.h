#pragma once
/* The values of expressions. Lists and maps from documents and JSON are not copied: `val` points to them.
 * Those that an expression builds live in the arena of its evaluation. */
#include "base/time.h"
#include "base/val.h"
#include "core/when/zone/zone.h"

enum expr_kind {
	EXPR_NULL,
	EXPR_BOOL,
	EXPR_INT,
	EXPR_UINT,
	EXPR_DOUBLE,
	EXPR_STRING,
	EXPR_BYTES,
	EXPR_LIST,
	EXPR_MAP,
	EXPR_TIMESTAMP,
	EXPR_DURATION,
	EXPR_ERROR, /* an operand without a value; only during an evaluation */
};

struct expr_pair;
struct expr_value {
	enum expr_kind kind;
	unsigned n; /* the length of a list or a map */
	union {
		bool boolean;
		int64_t integer;
		uint64_t whole; /* EXPR_UINT */
		double real;
		struct str str;
		struct {
			const struct val *val; /* NULL: one of the next two is set */
			union {
				const struct expr_value *item;
				const struct expr_pair *pair;
			};
		};
		struct {
			int64_t seconds; /* since 1970; years 0001 to 9999 */
			int32_t nanos;   /* 0 to 999999999 */
		} time;
		int64_t duration; /* nanoseconds */
		const struct why *error;
	};
};

/* Keys are strings, ints, uints and bools. */
struct expr_pair {
	struct expr_value key, value;
};

/* CEL's names of the kinds: "int", "string", … */
extern const char *const expr_kind_words[];

/* JSON integers become ints, other numbers doubles. */
struct expr_value expr_of(const struct val *v);
struct expr_value expr_of_wall(struct wall w);
struct expr_value expr_item(const struct expr_value *list, unsigned i);
struct expr_pair expr_pair(const struct expr_value *map, unsigned i);

/* Appends the value as JSON: maps sorted by key, timestamps as RFC 3339 in `zone` (NULL: UTC), durations as
 * text in seconds ("5400s"), bytes as base64, "NaN", "Infinity" and "-Infinity" as strings. E_VALUE: two keys
 * of a map are equal in JSON, or the value is too large (CEL_STEPS_MAX). */
must_check enum err expr_write(const struct expr_value *v, const struct zone *zone, struct arena *a,
			       struct buf *out, struct why *why);
