/* why: prints why a schedule ran or did not run at a time. */
#include "cli/verbs/verbs.h"

#include "cli/table.h"
#include "core/schedule/reason_text.h"

#include <string.h>

static const struct {
	const char *word, *text;
} answers[] = {
	{ "run", "it ran" },
	{ "refused", "it did not run" },
	{ "will_run", "it will run" },
	{ "will_run_if", "it will run only if its condition holds then; now it does not" },
	{ "will_fail", "it will run and fail unless something changes" },
	{ "will_not_run", "it will not run unless something changes" },
	{ "about_to_run", "it is due and about to run" },
	{ "before", "the schedule was changed at or after that time, so it has no run then" },
	{ "pruned", "its record has been removed because of its age" },
	{ "no_time", "the schedule is not due at that time" },
	{ "follows", "it has no due times: it runs after another schedule" },
	{ "removed", "the schedule was removed, and there is no record for that time" },
};

/* The condition of a time that has not come: whether it holds now. */
static void print_condition(struct cli_call *call, const struct val *v)
{
	const struct val *condition = val_get(v, STR("condition"));
	if (!condition)
		return;
	print(call->out, "  condition, now %s: ", val_is_true(condition, "holds") ? "true" : "false");
	print_text(call->out, val_get(condition, STR("text"))->str);
	print(call->out, "\n");
	const struct val *error = val_get(condition, STR("error"));
	if (error) {
		print(call->out, "  ");
		print_text(call->out, error->str);
		print(call->out, "\n");
	}
}

static const char *answer_text(const char *word)
{
	for (size_t i = 0; word && i < ARRAY_LEN(answers); i++)
		if (!strcmp(answers[i].word, word))
			return answers[i].text;
	return NULL;
}

void show_why(struct cli_call *call, const struct val *v)
{
	const char *answer = val_text(call->arena, v, "answer"), *reason = val_text(call->arena, v, "reason");
	const char *nominal = cli_time(call, val_text(call->arena, v, "nominal"));
	const char *disposition = val_text(call->arena, v, "disposition");
	const char *until = cli_time(call, val_text(call->arena, v, "until"));
	const struct val *run = val_get(v, STR("run"));
	const char *text = answer_text(answer);
	const char *state = run ? val_text(call->arena, run, "state") : NULL;
	if (state && strcmp(state, "finished") != 0 && !reason)
		text = "its run has not ended";
	const char *removed = cli_time(call, val_text(call->arena, v, "removed"));
	const char *meaning =
		reason && !strcmp(reason, "disabled") ? "the schedule is disabled" : reason_text(reason);
	print(call->out, "%s, %s: %s", val_text(call->arena, v, "schedule"), nominal ? nominal : "-",
	      text ? text : "?");
	if (meaning)
		print(call->out, ": %s", meaning);
	if (reason && disposition)
		print(call->out, " (%s/%s)", disposition, reason);
	if (until)
		print(call->out, " until %s", until);
	print(call->out, "\n");
	if (val_text(call->arena, v, "detail")) {
		print(call->out, "  ");
		print_indented(call->out, val_get(v, STR("detail"))->str, 4);
		print(call->out, "\n");
	}
	print_condition(call, v);
	print_note(call, v);
	if (removed)
		print(call->out, "  removed: %s\n", removed);
	if (run) {
		struct val list = { .kind = VAL_LIST, .list = { (struct val *)run, 1 } };
		print_runs(call, &list);
	}
	if (answer && (!strcmp(answer, "no_time") || !strcmp(answer, "before"))) {
		const char *before = cli_time(call, val_text(call->arena, v, "before"));
		const char *after = cli_time(call, val_text(call->arena, v, "after"));
		print(call->out, "  nearest: %s; %s\n", before ? before : "none before",
		      after ? after : "none after");
	}
}
