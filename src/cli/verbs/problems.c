/* Prints problems. */
#include "cli/verbs/verbs.h"

#include "cli/table.h"

#include <string.h>

static const char *state_of(struct cli_call *call, const struct val *p)
{
	const char *by = val_text(call->arena, p, "by");
	if (val_text(call->arena, p, "closed"))
		return "closed";
	if (!val_text(call->arena, p, "acknowledged"))
		return "open";
	return arena_printf(call->arena, "acknowledged by %s", by ? by : "an unknown user");
}

void print_problems(struct cli_call *call, const struct val *list)
{
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *p = &list->list.item[i];
		const char *count = val_text(call->arena, p, "count"),
			   *text = val_text(call->arena, p, "text");
		print(call->out, "  %-4s", val_text(call->arena, p, "number"));
		print_indented(call->out, str_of(text ? text : "(no text)"), 10);
		print(call->out, "\n      %s, since %s", state_of(call, p),
		      cli_time(call, val_text(call->arena, p, "opened")));
		if (count && strcmp(count, "1") != 0)
			print(call->out, ", reported %s times", count);
		print(call->out, "\n");
	}
}

void show_problems(struct cli_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("problems"));
	if (list && list->list.n)
		print_problems(call, list);
	else
		print(call->out, "No problems.\n");
	if (val_get(v, STR("before")))
		print(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

void show_problem(struct cli_call *call, const struct val *v)
{
	struct val list = { .kind = VAL_LIST, .list = { (struct val *)v, 1 } };
	const char *note = val_text(call->arena, v, "note"), *closed = val_text(call->arena, v, "closed");
	print(call->out, "problem %s\n", val_text(call->arena, v, "number"));
	print_problems(call, &list);
	if (note) {
		print(call->out, "      note: ");
		print_indented(call->out, str_of(note), 12);
		print(call->out, "\n");
	}
	if (closed)
		print(call->out, "      closed %s\n", cli_time(call, closed));
}

void show_acked(struct cli_call *call, const struct val *v)
{
	print(call->out, "problem %s is acknowledged; it closes by itself when its cause is gone\n",
	      val_text(call->arena, v, "number"));
}
