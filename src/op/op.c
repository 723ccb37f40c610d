/* The table of operations, and the lookup of verbs and arguments. */
#include "op/op.h"
#include "base/buf.h"
#include "base/limits.h"

#include <string.h>

/* Parameters; further members may follow the help text. */
#define POSITIONAL(n, v, h, ...)                                                                             \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_TEXT, .positional = true, .help = (h), __VA_ARGS__  \
	}
#define LIST(n, v, h, ...)                                                                                   \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_LIST, .positional = true, .help = (h), __VA_ARGS__  \
	}
#define OPTION(n, v, h, ...)                                                                                 \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_TEXT, .help = (h), __VA_ARGS__                      \
	}
#define COUNT_FROM(l, n, v, m, h)                                                                            \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_COUNT, .least = (l), .most = (m), .help = (h)       \
	}
#define COUNT(n, v, m, h) COUNT_FROM(1, n, v, m, h)
#define FLAG(n, h, ...)                                                                                      \
	{                                                                                                    \
		.name = (n), .kind = PARAM_FLAG, .help = (h), __VA_ARGS__                                    \
	}
#define REST(n, v, h)                                                                                        \
	{                                                                                                    \
		.name = (n), .value = (v), .kind = PARAM_WORDS, .help = (h)                                  \
	}

#define JSON_PARAM   FLAG("json", "print JSON")
#define SOCKET_PARAM OPTION("socket", "PATH", "socket on which the daemon serves clients")
#define SCHEDULE_PARAM                                                                                       \
	POSITIONAL("schedule", "SCHEDULE", "id of the schedule, or a unique prefix of it", .required = true)
#define AGENT_PARAM                                                                                          \
	OPTION("agent", "NAME",                                                                              \
	       "agent that gets the message; with a command, agent whose state the condition reads")
#define NOW_PARAM OPTION("now", "TIME", "the time, instead of the clock's: 2026-11-16T09:00")
#define PLAN_TZ_PARAM                                                                                        \
	OPTION("tz", "ZONE",                                                                                 \
	       "time zone of the plan (default: that of the configuration, else this machine's)")
#define TASK_PARAMS                                                                                          \
	POSITIONAL("file", "FILE", "the plan, an org file", .required = true),                               \
		POSITIONAL("task", "TASK", "the task: its :ID:, or its exact title", .required = true)
#define COMMAND_PARAM                                                                                        \
	REST("command", "-- COMMAND ...", "command to run; --command \"LINE\" for a shell command line")

/* Options that add and edit have in common. */
#define SCHEDULE_PARAMS                                                                                      \
	OPTION("tz", "ZONE", "time zone, unless the expression names one"),                                  \
		OPTION("timeout", "DURATION",                                                                \
		       "maximum duration of a run (default: 1h for commands, 15m for agents)"),              \
		OPTION("window", "DURATION", "how long after its due time a run may still start"),           \
		COUNT_FROM(0, "retry", "N", RETRY_MAX, "number of retries after a failed attempt"),          \
		OPTION("missed", "POLICY",                                                                   \
		       "missed runs: execute_immediately, skip, execute_next or catch_up"),                  \
		OPTION("overlap", "POLICY",                                                                  \
		       "due while a run is active: skip, queue_one, queue_all, cancel_running or allow"),    \
		OPTION("tag", "TAGS", "tags, separated by commas")

/* clang-format off */
const struct op ops[OPS] = {
#include "op/rows/schedules.inc"
#include "op/rows/runs.inc"
#include "op/rows/agents.inc"
#include "op/rows/plans.inc"
#include "op/rows/notify.inc"
#include "op/rows/expressions.inc"
#include "op/rows/daemon.inc"
};
/* clang-format on */

bool op_is_verb(const struct op *op)
{
	return op->example != NULL;
}

const struct op *op_find_verb(struct str name)
{
	for (const struct op *op = ops; op < ops + OPS; op++)
		if (op_is_verb(op) && str_eq(name, str_of(op->name)))
			return op;
	return NULL;
}

unsigned op_split_route(const struct op *op, struct str ret[static OP_SEGMENTS_MAX])
{
	struct str route = str_of(op->route);
	unsigned n = 0;
	for (size_t at = 1; at <= route.n && n < OP_SEGMENTS_MAX;) {
		size_t end = at;
		while (end < route.n && route.p[end] != '/')
			end++;
		ret[n++] = str_sub(route, at, end);
		at = end + 1;
	}
	return n;
}

struct str op_placeholder(struct str segment)
{
	bool is = segment.n > 2 && segment.p[0] == '{';
	return is ? str_sub(segment, 1, segment.n - 1) : (struct str){ 0 };
}

bool op_uses_query(const struct op *op)
{
	return !strcmp(op->method, "GET") || !strcmp(op->method, "DELETE");
}

const struct op_member *op_find_member(const struct op *op, struct str name)
{
	for (unsigned i = 0; i < OP_MEMBERS_MAX && op->takes[i].name; i++)
		if (str_eq(name, str_of(op->takes[i].name)))
			return &op->takes[i];
	return NULL;
}

const struct arg *op_arg_if(const struct op_args *args, const char *name)
{
	for (unsigned i = 0; i < OP_PARAMS_MAX && args->op->param[i].name; i++)
		if (strcmp(args->op->param[i].name, name) == 0)
			return &args->arg[i];
	return NULL;
}

const struct arg *op_arg(const struct op_args *args, const char *name)
{
	const struct arg *arg = op_arg_if(args, name);
	assert(arg);
	return arg;
}

void op_set_arg(struct op_args *args, const char *name, struct str text)
{
	*(struct arg *)op_arg(args, name) = (struct arg){ .given = true, .text = text };
}

struct op_args op_args_for(enum op_id id, const struct op_args *from)
{
	struct op_args args = { .op = &ops[id] };
	for (unsigned i = 0; i < OP_PARAMS_MAX && args.op->param[i].name; i++) {
		const struct arg *arg = op_arg_if(from, args.op->param[i].name);
		if (arg)
			args.arg[i] = *arg;
	}
	return args;
}

enum err op_deny(const struct op *op, struct why *why)
{
	_cleanup_(buf_free) struct buf list = { 0 };
	for (const struct op *own = ops; own < ops + OPS; own++)
		if (op_is_verb(own) && (own->within == WITHIN_OWN_RUN || own->within == WITHIN_OWN_AGENT))
			buf_addf(&list, "%s%s", list.n ? ", " : "", own->name);
	return why_set(why, E_DENIED, WHY_NOWHERE,
		       "%s is not permitted within a run; permitted for the run itself: %s", op->name,
		       list.failed ? "reports" : list.p);
}
