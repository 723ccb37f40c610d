#pragma once
/* The table of operations. The command line (cli/), the daemon's API (api/) and its HTTP routes are all made
 * from this one table, so they cannot differ. Two other tables name the function that carries out a row:
 * api_handlers (api/handlers/handlers.h) in the daemon, and cli_verbs (cli/verbs/verbs.h) in the caller's
 * process. */
#include "base/err.h"
#include "base/str.h"

enum op_id {
	/* Verbs: people type them. */
	OP_STATUS,
	OP_ADD,
	OP_APPLY,
	OP_LS,
	OP_SHOW,
	OP_EDIT,
	OP_RM,
	OP_RUN,
	OP_STOP,
	OP_PAUSE,
	OP_RESUME,
	OP_RUNS,
	OP_LOGS,
	OP_WHY,
	OP_ACK,
	OP_AGENT,
	OP_AGENDA,
	OP_CLAIM,
	OP_RELEASE,
	OP_ADVANCE,
	OP_STATE,
	OP_MEMORY,
	OP_NOTIFY,
	OP_BACKFILL,
	OP_EVENTS,
	OP_SERVE,
	OP_DOCTOR,
	OP_CLOCK,
	OP_BACKUP,
	OP_RESTORE,
	OP_CONFIG,
	OP_VERSION,
	OP_COMPLETION,
	OP_NEXT,
	OP_EXPLAIN,
	OP_ZONES,
	OP_REPORT,
	OP_STEP,
	OP_NOTE,
	OP_NEXT_CHECK,
	OP_ORG,
	OP_PLAN,
	OP_EVAL,
	OP_RENDER,

	/* Requested by verbs, by pages and by tools. */
	OP_SET_NEXT_CHECK,
	OP_ADD_REPORT,
	OP_LIST_SCHEDULES,
	OP_GET_SCHEDULE,
	OP_LIST_AGENTS,
	OP_GET_AGENT,
	OP_RM_AGENT,
	OP_GET_RUN,
	OP_LIST_PROBLEMS,
	OP_GET_PROBLEM,
	OP_PAUSE_MANY,
	OP_RESUME_MANY,
	OP_STOP_RUN,
	OP_STOP_SCHEDULE,
	OP_GET_STATE,
	OP_SET_STATE,
	OP_ADD_MEMORY,
	OP_LIST_MEMORY,
	OP_SEARCH_MEMORY,
	OP_REMOVE_MEMORY,
	OP_REMOVE_RUN_MEMORY,
	OP_GET_NOTIFY,
	OP_SET_NOTIFY,
	OP_TEST_NOTIFY,
	OP_GET_MESSAGES,
	OP_GET_MESSAGE,

	OPS
};

enum param_kind {
	PARAM_FLAG,
	PARAM_TEXT,
	PARAM_COUNT,
	PARAM_WORDS, /* the rest of the line, after -- */
	PARAM_LIST,  /* the last positional parameter, given any number of times */
};

/* One parameter of an operation. */
struct op_param {
	const char *name;
	const char *value; /* placeholder for the value in help: "ZONE"; NULL for a flag */
	enum param_kind kind;
	bool positional;
	unsigned least, most; /* PARAM_COUNT: the smallest and the largest value */
	const char *help;
	char letter;   /* -f for --follow; 0: none */
	bool required; /* used for the help text only */
};

enum { OP_PARAMS_MAX = 16 };

/* The least role that may request a row. Not checked yet: callers of the socket are the daemon's own user or
 * root and have every role. It will be checked when there are callers over the network. */
enum op_role {
	ROLE_NONE, /* the verb sends no request, or sends requests of other rows */
	ROLE_VIEWER,
	ROLE_OPERATOR,
	ROLE_ADMIN
};

/* Whether a run may request a row. Every row must have another value than WITHIN_UNDECIDED. */
enum op_within {
	WITHIN_UNDECIDED,
	WITHIN_NOT,
	WITHIN_OWN_RUN,   /* the argument `run` must be the run itself */
	WITHIN_OWN_AGENT, /* the argument `agent` must be the agent of the run, or be left out */
	WITHIN_GRANTED,   /* only as far as the grants of the run's schedule allow it; see api/grants.h */
	WITHIN_FREE, /* the verb sends no request, or sends requests of other rows, which have rules of their
			own */
};

/* One argument that a request has besides those in its path. */
enum member_kind {
	MEMBER_PARAM, /* the parameter of this name, with its kind */
	MEMBER_FLAG,  /* the others are members of the body that are no parameters */
	MEMBER_NUMBER,
	MEMBER_LIST,
	MEMBER_MAP,
};
struct op_member {
	const char *name;
	enum member_kind kind;
};
enum { OP_MEMBERS_MAX = 8 };

struct op {
	const char *name;
	uint8_t role, within;                 /* enum op_role, enum op_within */
	const char *summary;                  /* for help */
	const char *example;                  /* NULL: not a verb */
	struct op_param param[OP_PARAMS_MAX]; /* ends with a NULL name */
	const char *notes;                    /* further help, or NULL */
	const char *method, *route;           /* "/api/v1/runs/{run}"; NULL: not requested by HTTP */
	/* The arguments that are not in the path: those of GET and DELETE are in the query, those of other
	 * methods are members of the body. Ends with a NULL name. */
	struct op_member takes[OP_MEMBERS_MAX];
};

extern const struct op ops[OPS];
bool op_is_verb(const struct op *op);
const struct op *op_find_verb(struct str name); /* NULL: not a verb */

/* The segments of a row's route; and the name in a segment like "{run}", empty for any other segment. */
enum { OP_SEGMENTS_MAX = 16 };
unsigned op_split_route(const struct op *op, struct str ret[static OP_SEGMENTS_MAX]);
struct str op_placeholder(struct str segment);
/* Whether requests of the row have their arguments in the query; else in the body. */
bool op_uses_query(const struct op *op);
/* What the row takes by this name besides its path; NULL: nothing. */
const struct op_member *op_find_member(const struct op *op, struct str name);

/* One argument. */
struct arg {
	bool given;
	struct str text;
	unsigned count; /* PARAM_COUNT: its value; PARAM_WORDS, PARAM_LIST: number of words */
	struct str *word;
};

/* The arguments of a call, in the order of the row's parameters. */
struct op_args {
	const struct op *op;
	struct arg arg[OP_PARAMS_MAX];
};

/* The argument called `name`; the row must have it. */
const struct arg *op_arg(const struct op_args *args, const char *name);
const struct arg *op_arg_if(const struct op_args *args, const char *name); /* NULL: the row has none */
void op_set_arg(struct op_args *args, const char *name, struct str text);
/* The arguments for another row: arguments that both rows have are copied. */
struct op_args op_args_for(enum op_id id, const struct op_args *from);

/* Returns E_DENIED. The text names the verbs that are permitted within a run. */
enum err op_deny(const struct op *op, struct why *why);
