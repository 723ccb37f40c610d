#pragma once
/* The one table of operations. Every surface comes out of it, so that they cannot drift apart: the command
 * line now; HTTP and MCP will read the same rows. */
#include "base/arena.h"
#include "base/err.h"
#include "host/zoneinfo.h"

#include <stdio.h>

enum op_kind { OP_FLAG, OP_TEXT, OP_COUNT };

/* One argument. */
struct op_param {
	const char *name;
	const char *value; /* what stands for it in help: "ZONE"; NULL for a flag */
	enum op_kind kind;
	bool positional;
	unsigned most; /* of an OP_COUNT: 1 to this */
	const char *help;
};

enum { OP_PARAMS_MAX = 10 };

/* A call of an operation: its arguments by the order of the row, and where its answer goes. */
struct op_call {
	const struct op *op;
	struct arg {
		bool given;
		struct str text;
		unsigned count;
	} arg[OP_PARAMS_MAX];
	bool json;
	struct arena *arena;
	struct zoneinfo *zones;
	FILE *out;
	struct why *why;
	struct str source;       /* the text that why->at points into */
	const char *source_name; /* the file it was read from; NULL: no file */
};

struct op {
	const char *name, *summary, *example;
	struct op_param param[OP_PARAMS_MAX]; /* ends with a NULL name */
	enum err (*run)(struct op_call *call);
	const char *notes; /* further help, or NULL */
};

extern const struct op ops[]; /* ends with a NULL name */
const struct op *op_find(struct str name);
/* The argument called `name`; the row must have it. */
const struct arg *op_arg(const struct op_call *call, const char *name);
