/* memory: adds, finds, lists and removes notes of agents. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

/* Within a run the default is the agent of the run. */
static void set_default_agent(struct cli_call *call)
{
	const char *inside = getenv("ROTA_AGENT");
	if (inside && inside[0] && !op_arg(&call->args, "agent")->given)
		op_set_arg(&call->args, "agent", str_of(inside));
}

static enum err add_note(struct cli_call *call)
{
	const struct arg *agent = op_arg(&call->args, "agent"), *tag = op_arg(&call->args, "tag");
	_cleanup_(buf_free) struct buf body = { 0 };
	struct cli_call sub = cli_call_as(call, OP_ADD_MEMORY);
	struct str text;
	struct val answer;
	buf_add(&body, STR("{\"text\":"));
	json_write_str(&body, op_arg(&call->args, "text")->text);
	if (agent->given)
		json_add_str(&body, "agent", agent->text);
	if (tag->given)
		json_add_words(&body, "tags", tag->text);
	buf_addc(&body, '}');
	enum err e = body.failed ? E_NOMEM : remote_ask(&sub, buf_str(&body), &text, &answer);
	if (!e)
		remote_show(&sub, text, &answer);
	return e;
}

static enum err search_notes(struct cli_call *call)
{
	return remote_run_as(call, OP_SEARCH_MEMORY, "words", op_arg(&call->args, "text")->text);
}

static enum err list_notes(struct cli_call *call)
{
	if (op_arg(&call->args, "text")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "memory ls takes no TEXT; use memory search");
	return remote_run_as(call, OP_LIST_MEMORY, NULL, (struct str){ 0 });
}

static enum err remove_notes(struct cli_call *call)
{
	const struct arg *note = op_arg(&call->args, "text"), *run = op_arg(&call->args, "run");
	if (note->given == run->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "memory rm needs the number of a note or --run RUN%s",
			       note->given ? ", not both" : "");
	return note->given ? remote_run_as(call, OP_REMOVE_MEMORY, "note", note->text)
			   : remote_run_as(call, OP_REMOVE_RUN_MEMORY, NULL, (struct str){ 0 });
}

enum err verb_memory(struct cli_call *call)
{
	static const struct {
		const char *word;
		enum err (*run)(struct cli_call *call);
		const char *needs; /* the text that must be given; NULL: none */
	} actions[] = { { "add", add_note,
			  "a text, for example: rota memory add \"no deliveries on Mondays\" --agent desk" },
			{ "search", search_notes,
			  "words, for example: rota memory search deliveries --agent desk" },
			{ "ls", list_notes, NULL },
			{ "rm", remove_notes, NULL } };
	struct str word = op_arg(&call->args, "action")->text;
	if (!op_arg(&call->args, "action")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "memory needs add, search, ls or rm, for example: %s", call->args.op->example);
	for (unsigned i = 0; i < ARRAY_LEN(actions); i++) {
		if (!str_eq(word, str_of(actions[i].word)))
			continue;
		if (actions[i].needs && !op_arg(&call->args, "text")->given)
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "memory %s needs %s", actions[i].word,
				       actions[i].needs);
		set_default_agent(call);
		return actions[i].run(call);
	}
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "'%.*s' is not an action of memory; allowed are add, search, ls and rm",
		       STR_SHORT(word));
}

static void print_memory(struct cli_call *call, const struct val *note)
{
	struct arena *a = call->arena;
	const struct val *tags = val_get(note, STR("tags"));
	const char *run = val_text(a, note, "run"), *schedule = val_text(a, note, "schedule");
	print(call->out, "  %-4s", val_text(a, note, "number"));
	print_text(call->out, str_of(val_line(a, note, "text")));
	print(call->out, "\n      ");
	print_text(call->out, str_of(val_text(a, note, "agent")));
	print(call->out, ", %s, by %s", cli_time(call, val_text(a, note, "at")), run ? run : "a person");
	if (schedule) {
		print(call->out, " of ");
		print_text(call->out, str_of(schedule));
	}
	for (unsigned i = 0; tags && i < tags->list.n; i++) {
		print(call->out, "%s", i ? ", " : "; tags: ");
		print_text(call->out, tags->list.item[i].str);
	}
	print(call->out, "\n");
}

void show_memory(struct cli_call *call, const struct val *answer)
{
	print_memory(call, answer);
}

void show_memories(struct cli_call *call, const struct val *answer)
{
	const struct val *notes = val_get(answer, STR("notes"));
	for (unsigned i = 0; notes && i < notes->list.n; i++)
		print_memory(call, &notes->list.item[i]);
	if (!notes || !notes->list.n)
		print(call->out, "No notes.\n");
	if (val_get(answer, STR("before")))
		print(call->out, "More: --before %s\n", val_text(call->arena, answer, "before"));
}

void show_removed_notes(struct cli_call *call, const struct val *answer)
{
	const char *n = val_text(call->arena, answer, "removed");
	print(call->out, "%s %s removed\n", n, strcmp(n, "1") ? "notes" : "note");
}
