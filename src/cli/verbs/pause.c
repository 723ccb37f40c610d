/* pause and resume: one schedule, all schedules with a tag, or all schedules. */
#include "cli/verbs/verbs.h"

#include "cli/remote.h"
#include "cli/table.h"

#include <string.h>

/* A request about one schedule and a request about several schedules have different routes. */
enum err verb_pause(struct cli_call *call)
{
	unsigned given = op_arg(&call->args, "schedule")->given + op_arg(&call->args, "tag")->given +
			 op_arg(&call->args, "all")->given;
	bool pauses = call->args.op == &ops[OP_PAUSE];
	if (given != 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s needs exactly one of SCHEDULE, --tag TAG and --all", call->args.op->name);
	if (op_arg(&call->args, "schedule")->given)
		return remote_run(call);
	return remote_run_as(call, pauses ? OP_PAUSE_MANY : OP_RESUME_MANY, NULL, (struct str){ 0 });
}

static void print_paused(struct cli_call *call, const struct val *v, struct str name)
{
	const char *until = cli_time(call, val_text(call->arena, v, "paused_until"));
	const char *note = val_line(call->arena, v, "note");
	print_text(call->out, name);
	print(call->out, ": paused%s%s", until ? " until " : "", until ? until : "");
	if (note) {
		print(call->out, ": ");
		print_text(call->out, str_of(note));
	}
	print(call->out, "\n");
}

static void print_list(struct cli_call *call, const struct val *v, const char *name, const char *text)
{
	const struct val *list = val_get(v, str_of(name));
	for (unsigned i = 0; list && i < list->list.n; i++) {
		if (!text) {
			print_paused(call, v, list->list.item[i].str);
			continue;
		}
		print_text(call->out, list->list.item[i].str);
		print(call->out, ": %s\n", text);
	}
}

void show_paused(struct cli_call *call, const struct val *v)
{
	const char *schedule = val_text(call->arena, v, "schedule"), *kind = val_text(call->arena, v, "done");
	struct str name = schedule ? str_of(schedule) : STR("all schedules");
	bool paused = kind && !strcmp(kind, "pause");
	if (val_get(v, STR("schedules"))) {
		print_list(call, v, "schedules", paused ? NULL : "resumed");
		print_list(call, v, "not_paused", "was not paused");
	} else if (paused) {
		print_paused(call, v, name);
	} else {
		print_text(call->out, name);
		print(call->out, ": %s%s\n",
		      val_is_true(v, "was_paused") ? "resumed"
		      : schedule                   ? "was not paused"
						   : "were not paused",
		      val_is_true(v, "paused_all")
			      ? ", but all schedules are paused; `rota resume --all` resumes them"
			      : "");
	}
}
