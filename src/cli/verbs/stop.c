/* stop: stops a run, or all runs of a schedule. */
#include "cli/verbs/verbs.h"

#include "cli/remote.h"

/* Stops the run r7, if such a run is active. Any other name is looked up as a schedule, and so is the name of
 * a run that has ended. */
enum err verb_stop(struct cli_call *call)
{
	const struct arg *name = op_arg(&call->args, "name");
	uint64_t number;
	enum err e = E_NOTFOUND;
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "stop needs a run or a schedule, for example: %s", call->args.op->example);
	bool run = name->text.p[0] == 'r' && str_number(str_from(name->text, 1), INT64_MAX, &number);
	if (run)
		e = remote_run_as(call, OP_STOP_RUN, "run", name->text);
	if (e != E_NOTFOUND && e != E_CONFLICT)
		return e;
	struct why first_why = *call->why;
	enum err first = e;
	e = remote_run_as(call, OP_STOP_SCHEDULE, "schedule", name->text);
	if (e != E_NOTFOUND || !run)
		return e;
	*call->why = first_why;
	return first;
}

void show_stopped(struct cli_call *call, const struct val *v)
{
	const struct val *runs = val_get(v, STR("runs"));
	for (unsigned i = 0; runs && i < runs->list.n; i++)
		print(call->out, "stopped: %.*s\n", STR_ARG(runs->list.item[i].str));
}
