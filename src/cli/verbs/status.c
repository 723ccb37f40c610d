/* Prints the status: for `rota status` and plain `rota`. */
#include "cli/verbs/verbs.h"

#include "cli/table.h"

#include <string.h>

static void print_paused_notes(struct cli_call *call, const struct val *list)
{
	static const char *const heading[] = { "PAUSED", "UNTIL", "NOTE" };
	_cleanup_(table_free) struct table t = table_new(3, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		table_row(&t, (const char *[]){ val_text(call->arena, s, "schedule"),
						cli_time(call, val_text(call->arena, s, "paused_until")),
						val_line(call->arena, s, "note") });
	}
	if (t.n > 1) {
		print(call->out, "\n");
		table_print(&t, call->out);
	}
}

static void print_next(struct cli_call *call, const struct val *list)
{
	static const char *const heading[] = { "NEXT", "SCHEDULE", "ZONE", "BLOCKED" };
	bool blocked = false;
	for (unsigned i = 0; list && i < list->list.n; i++)
		blocked |= val_get(&list->list.item[i], STR("blocked")) != NULL;
	_cleanup_(table_free) struct table t = table_new(blocked ? 4 : 3, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		const char *reason = val_text(call->arena, s, "blocked");
		table_row(&t, (const char *[]){ cli_time(call, val_text(call->arena, s, "due")),
						val_text(call->arena, s, "schedule"),
						val_text(call->arena, s, "timezone"), reason ? reason : "" });
	}
	if (t.n > 1) {
		print(call->out, "\n");
		table_print(&t, call->out);
	}
}

void show_status(struct cli_call *call, const struct val *v)
{
	const struct val *problems = val_get(v, STR("problems")), *open = val_get(v, STR("open"));
	const char *trouble = val_text(call->arena, v, "trouble");
	if (val_is_true(v, "clock_held"))
		print(call->out,
		      "The clock jumped far ahead and is not trusted: nothing comes due until it is set "
		      "back, or "
		      "`rota clock` accepts it.\n\n");
	if (trouble) {
		print(call->out, "Error: ");
		print_text(call->out, str_of(trouble));
		print(call->out, "\n\n");
	}
	if (problems && problems->list.n) {
		print(call->out, "PROBLEMS\n");
		print_problems(call, problems);
		print(call->out, "`rota ack N` acknowledges a problem.\n\n");
	}
	if (val_is_true(v, "paused")) {
		const char *until = cli_time(call, val_text(call->arena, v, "paused_until"));
		const char *note = val_text(call->arena, v, "note");
		print(call->out, "All schedules are paused%s%s", until ? " until " : "", until ? until : "");
		if (note) {
			print(call->out, ": ");
			print_text(call->out, str_of(note));
		}
		print(call->out, "; `rota resume --all` resumes them.\n\n");
	}
	const char *schedules = val_text(call->arena, v, "schedules");
	print(call->out, "%s schedule%s, %s running, %s queued, %s waiting, %s to be retried\n", schedules,
	      strcmp(schedules, "1") ? "s" : "", val_text(call->arena, v, "running"),
	      val_text(call->arena, v, "queued"), val_text(call->arena, v, "waiting"),
	      val_text(call->arena, v, "retrying"));
	const struct val *avoided = val_get(v, STR("model_calls_avoided"));
	if (avoided && val_get(avoided, STR("ever"))->integer)
		print(call->out, "model calls avoided: %s today, %s in all\n",
		      val_text(call->arena, avoided, "today"), val_text(call->arena, avoided, "ever"));
	if (open && open->list.n) {
		print(call->out, "\n");
		print_runs(call, open);
	}
	print_paused_notes(call, val_get(v, STR("paused_with_note")));
	print_next(call, val_get(v, STR("next")));
}
