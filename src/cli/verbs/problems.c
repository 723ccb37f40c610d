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
		fprintf(call->out, "  %-4s", val_text(call->arena, p, "number"));
		print_safe(call->out, str_of(text ? text : "(no text)"));
		fprintf(call->out, "\n      %s, since %s", state_of(call, p),
			cli_time(call, val_text(call->arena, p, "opened")));
		if (count && strcmp(count, "1") != 0)
			fprintf(call->out, ", reported %s times", count);
		fputc('\n', call->out);
	}
}

void show_problems(struct cli_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("problems"));
	if (list && list->list.n)
		print_problems(call, list);
	else
		fputs("No problems.\n", call->out);
	if (val_get(v, STR("before")))
		fprintf(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

void show_problem(struct cli_call *call, const struct val *v)
{
	struct val list = { .kind = VAL_LIST, .list = { (struct val *)v, 1 } };
	const char *note = val_text(call->arena, v, "note"), *closed = val_text(call->arena, v, "closed");
	fprintf(call->out, "problem %s\n", val_text(call->arena, v, "number"));
	print_problems(call, &list);
	if (note) {
		fputs("      note: ", call->out);
		print_safe(call->out, str_of(note));
		fputc('\n', call->out);
	}
	if (closed)
		fprintf(call->out, "      closed %s\n", cli_time(call, closed));
}

void show_acked(struct cli_call *call, const struct val *v)
{
	fprintf(call->out, "problem %s is acknowledged; it closes by itself when its cause is gone\n",
		val_text(call->arena, v, "number"));
}
