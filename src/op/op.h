#pragma once
/* The one table of operations. Every surface comes out of it, so that they cannot drift apart: the command
 * line and HTTP now; MCP will read the same rows.
 *
 * An operation is done here (`run`), or asked of the daemon: then its row says how HTTP asks for it, `handle`
 * does it on the daemon's side and answers in JSON, and `show` tells people what came back. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/val.h"
#include "host/zoneinfo.h"

#include <stdio.h>

enum op_kind {
	OP_FLAG,
	OP_TEXT,
	OP_COUNT,
	OP_WORDS /* the rest of the line, after -- */,
	OP_MANY /* the last positional, and as often as one likes */
};

/* One argument. */
struct op_param {
	const char *name;
	const char *value; /* what stands for it in help: "ZONE"; NULL for a flag */
	enum op_kind kind;
	bool positional;
	unsigned most; /* of an OP_COUNT: 1 to this */
	const char *help;
	char letter;   /* -f for --follow; 0: none */
	bool required; /* for help: it does not go without */
};

enum { OP_PARAMS_MAX = 16 };

/* What somebody must be to ask for it; by the socket everybody is the admin. */
enum op_role {
	ROLE_NONE /* the daemon is not asked, or by other rows */,
	ROLE_VIEWER,
	ROLE_OPERATOR,
	ROLE_ADMIN
};

/* Whether a run may ask for it. Every row says so. */
enum op_within {
	WITHIN_UNDECIDED,
	WITHIN_NOT,
	WITHIN_OWN_RUN,   /* its argument `run` must be the run itself */
	WITHIN_OWN_AGENT, /* its argument `agent` must be the run's; it may be left out */
	WITHIN_GRANTED,   /* about schedules that its own lets it make; see surface/grant.h */
	WITHIN_FREE,      /* it asks nothing of the daemon, or by rows that say so themselves */
};

struct api;
struct run_row;

/* A call of an operation: its arguments by the order of the row, and where its answer goes. */
struct op_call {
	const struct op *op;
	struct arg {
		bool given;
		struct str text;
		unsigned count;
		struct str *word; /* OP_WORDS, OP_MANY: `count` of them */
	} arg[OP_PARAMS_MAX];
	bool json;
	struct arena *arena;
	struct zoneinfo *zones;
	FILE *out;
	struct why *why;
	struct str source;       /* the text that why->at points into */
	const char *source_name; /* the file it was read from; NULL: no file */
	/* On the daemon's side: */
	struct val body;              /* the whole of what was sent, for what is no argument */
	struct buf answer;            /* JSON */
	const struct run_row *within; /* the run that asks, with the attempt that does; NULL: a person */
	bool later;                   /* it will be answered by api_finish */
	int status;                   /* of HTTP, where it is not 200 */
	void *request, *ctx;
	const void *about; /* set before api_order, and again when that order is answered */
};

struct op {
	const char *name;
	uint8_t role, within; /* enum op_role, enum op_within */
	const char *summary, *example;
	struct op_param param[OP_PARAMS_MAX];  /* ends with a NULL name */
	enum err (*run)(struct op_call *call); /* the command line's; remote_run where the daemon is asked;
						  NULL: not a verb, but asked for by those that are */
	const char *notes;                     /* further help, or NULL */
	const char *method, *route;            /* "/api/v1/runs/{run}"; NULL: not by HTTP */
	enum err (*handle)(struct op_call *call, struct api *api);
	void (*show)(struct op_call *call, const struct val *answer);
};

extern const struct op ops[];              /* ends with a NULL name */
const struct op *op_find(struct str name); /* a verb */
const struct op *op_row(const char *name); /* any row; it must be there */
/* The argument called `name`; the row must have it. */
const struct arg *op_arg(const struct op_call *call, const char *name);
const struct arg *op_arg_if(const struct op_call *call, const char *name); /* NULL: it has none */
struct arg *op_arg_set(struct op_call *call, const char *name);            /* to be changed */
/* A time of an answer as people read it; NULL stays NULL. */
const char *op_time(struct op_call *call, const char *iso);
