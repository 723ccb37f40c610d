/* ls and show; prints schedules and the results of changes to them. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <string.h>

enum err verb_ls(struct cli_call *call)
{
	static const struct {
		const char *kind;
		enum op_id id;
	} kinds[] = { { "schedules", OP_LIST_SCHEDULES },
		      { "agents", OP_LIST_AGENTS },
		      { "runs", OP_RUNS },
		      { "problems", OP_LIST_PROBLEMS } };
	const struct arg *kind = op_arg(&call->args, "kind");
	unsigned k = 0;
	while (kind->given && k < ARRAY_LEN(kinds) && !str_eq(kind->text, str_of(kinds[k].kind)))
		k++;
	if (k == ARRAY_LEN(kinds))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' cannot be listed; allowed are schedules, agents, runs and problems",
			       STR_SHORT(kind->text));
	const struct op_args listed = { .op = &ops[kinds[k].id] };
	for (const struct op_param *p = call->args.op->param; p->name; p++)
		if (strcmp(p->name, "kind") != 0 && op_arg(&call->args, p->name)->given &&
		    !op_arg_if(&listed, p->name))
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "ls %s has no option --%s",
				       kinds[k].kind, p->name);
	return remote_run_as(call, kinds[k].id, NULL, (struct str){ 0 });
}

/* Shows the run r7 or the problem 1, if it exists. Any other name is looked up as a schedule, then as an
 * agent. */
enum err verb_show(struct cli_call *call)
{
	const struct arg *name = op_arg(&call->args, "name");
	uint64_t number;
	enum err e = E_NOTFOUND;
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "show needs a schedule, an agent, a run or a problem, for example: %s",
			       call->args.op->example);
	bool run = name->text.p[0] == 'r' && str_number(str_from(name->text, 1), INT64_MAX, &number);
	bool problem = str_number(name->text, INT64_MAX, &number);
	if (run)
		e = remote_run_as(call, OP_GET_RUN, "run", name->text);
	else if (problem)
		e = remote_run_as(call, OP_GET_PROBLEM, "problem", name->text);
	if (e != E_NOTFOUND)
		return e;
	struct why first = *call->why;
	e = remote_run_as(call, OP_GET_SCHEDULE, "schedule", name->text);
	if (e != E_NOTFOUND)
		return e;
	e = remote_run_as(call, OP_GET_AGENT, "agent", name->text);
	if (e == E_NOTFOUND && (run || problem))
		*call->why = first;
	else if (e == E_NOTFOUND)
		return why_set(
			call->why, e, WHY_NOWHERE,
			"no schedule or agent is called '%.*s'; `rota ls` and `rota ls agents` list them",
			STR_SHORT(name->text));
	return e;
}

/* The note of the pause, or why the schedule is blocked. */
static const char *schedule_note(struct cli_call *call, const struct val *s)
{
	const char *note = val_line(call->arena, s, "note");
	return note ? note : val_text(call->arena, s, "blocked");
}

void show_schedules(struct cli_call *call, const struct val *v)
{
	static const char *const heading[] = { "SCHEDULE", "STATE", "NEXT", "ZONE", "NOTE" };
	const struct val *list = val_get(v, STR("schedules"));
	bool notes = false;
	for (unsigned i = 0; list && i < list->list.n; i++)
		notes |= schedule_note(call, &list->list.item[i]) != NULL;
	_cleanup_(table_free) struct table t = table_new(notes ? 5 : 4, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		const char *note = schedule_note(call, s);
		table_row(&t,
			  (const char *[]){ val_text(call->arena, s, "id"), val_text(call->arena, s, "state"),
					    cli_time(call, val_text(call->arena, s, "next")),
					    val_text(call->arena, s, "timezone"), note ? note : "" });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else if (op_arg(&call->args, "after")->given)
		print(call->out, "No schedules after '%.*s'.\n",
		      STR_SHORT(op_arg(&call->args, "after")->text));
	else
		print(call->out, "No schedules. `rota add` adds one.\n");
	if (val_get(v, STR("after")))
		print(call->out, "More: --after %s\n", val_text(call->arena, v, "after"));
}

void print_note(struct cli_call *call, const struct val *v)
{
	const char *note = val_text(call->arena, v, "note");
	if (!note)
		return;
	print(call->out, "  note: ");
	print_indented(call->out, str_of(note), 8);
	print(call->out, "\n");
}

void show_schedule(struct cli_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("document"));
	const char *next = cli_time(call, val_text(call->arena, v, "next"));
	const char *until = cli_time(call, val_text(call->arena, v, "paused_until"));
	print(call->out, "%s: %s%s%s%s\n", val_text(call->arena, v, "id"), val_text(call->arena, v, "state"),
	      until ? " until " : "", until ? until : "",
	      val_is_true(v, "paused_all") ? "; all schedules are paused" : "");
	print_note(call, v);
	if (val_get(v, STR("blocked")))
		print(call->out, "  blocked: %s\n", val_text(call->arena, v, "blocked"));
	print(call->out, "  next: %s\n", next ? next : "-");
	const char *from = val_text(call->arena, v, "timezone_from");
	print(call->out, "  zone: %s%s\n", val_text(call->arena, v, "timezone"),
	      from && !strcmp(from, "configuration") ? ", the setting `timezone` of the daemon" : "");
	const struct val *avoided = val_get(v, STR("model_calls_avoided"));
	if (avoided && avoided->integer)
		print(call->out, "  model calls avoided: %lld\n", (long long)avoided->integer);
	if (val_get(v, STR("source"))) {
		print(call->out, "  from: ");
		print_text(call->out, val_get(v, STR("source"))->str);
		print(call->out, ", line %s\n", val_text(call->arena, v, "line"));
	}
	for (unsigned i = 0; d && d->kind == VAL_MAP && i < d->map.n; i++) {
		struct buf text = { 0 };
		if (str_eq(d->map.pair[i].key, STR("id")))
			continue;
		json_write(&text, &d->map.pair[i].value);
		print(call->out, "  %.*s: ", STR_ARG(d->map.pair[i].key));
		print_text(call->out, buf_str(&text));
		print(call->out, "\n");
		buf_free(&text);
	}
}

void show_done(struct cli_call *call, const struct val *v)
{
	static const struct {
		const char *done, *text;
	} words[] = {
		{ "rm", "removed" },
		{ "run", "started" },
		{ "clock", "the clock is accepted" },
	};
	const char *done = val_text(call->arena, v, "done"), *run = val_text(call->arena, v, "run");
	const char *schedule = val_text(call->arena, v, "schedule");
	if (!schedule)
		schedule = val_text(call->arena, v, "agent");
	for (unsigned i = 0; done && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i].done, done)) {
			done = words[i].text;
			break;
		}
	if (run) /* scripts read the run after the colon */
		print(call->out, "%s: %s\n", done, run);
	else /* prints the whole id, because the argument may have been a prefix */
		print(call->out, "%s%s%s\n", schedule ? schedule : "", schedule ? ": " : "", done);
}

void show_backfilled(struct cli_call *call, const struct val *v)
{
	const struct val *runs = val_get(v, STR("runs")), *kept = val_get(v, STR("left_as_they_are"));
	const char *id = val_text(call->arena, v, "schedule");
	long long n = runs ? (long long)runs->integer : 0, old = kept ? (long long)kept->integer : 0;
	if (n)
		print(call->out, "%s: %lld run%s added; `rota runs %s` shows %s\n", id, n, n == 1 ? "" : "s",
		      id, n == 1 ? "it" : "them");
	else if (old)
		print(call->out, "%s: nothing to run: all due times in the period have run or are running\n",
		      id);
	else
		print(call->out, "%s: nothing was due in the period\n", id);
	if (val_is_true(v, "more"))
		print(call->out,
		      "The period has more due times than one request may add; repeat the command for the "
		      "rest.\n");
}
