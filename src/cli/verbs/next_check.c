/* next-check: sets when the schedule of the current run runs next. */
#include "cli/verbs/verbs.h"

#include "cli/remote.h"
#include "cli/table.h"

#include <stdlib.h>

enum err verb_next_check(struct cli_call *call)
{
	const char *run = getenv("ROTA_RUN_ID");
	if (!op_arg(&call->args, "in")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "next-check needs a DURATION, for example: %s", call->args.op->example);
	if (!run || !run[0])
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "next-check is for programs within a run: ROTA_RUN_ID is not set");
	return remote_run_as(call, OP_SET_NEXT_CHECK, "run", str_of(run));
}

void show_next_check(struct cli_call *call, const struct val *v)
{
	const char *next = cli_time(call, val_text(call->arena, v, "next"));
	print(call->out, "%s: next at %s\n", val_text(call->arena, v, "schedule"), next ? next : "-");
}
