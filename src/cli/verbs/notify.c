/* notify: shows, sets and tests the targets of notifications, and lists sent messages. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <string.h>
#include <time.h>

static void begin_target(struct buf *out, const char *type, unsigned *n)
{
	buf_addf(out, "%s{\"type\":\"%s\"", (*n)++ ? "," : "", type);
}

static enum err set_targets(struct cli_call *call)
{
	const struct arg *webhook = op_arg(&call->args, "webhook"), *secret = op_arg(&call->args, "secret"),
			 *command = op_arg(&call->args, "command"), *events = op_arg(&call->args, "events");
	bool desktop = op_arg(&call->args, "desktop")->given, none = op_arg(&call->args, "none")->given;
	bool any = webhook->given || command->given || desktop;
	struct cli_call sub = cli_call_as(call, OP_SET_NOTIFY);
	unsigned n = 0;
	_cleanup_(buf_free) struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (any && none)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "--none removes all targets; it cannot be combined with a target");
	if (!any && !none)
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"notify set needs --webhook URL, --desktop, -- COMMAND or --none, for example: %s",
			call->args.op->example);
	if (secret->given && (!webhook->given || !str_starts(secret->text, STR("/"))))
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"--secret must be the absolute path of a file with the key of --webhook (a key "
			"on the command line would be visible to other users)");
	buf_addf(&body, "{\"add\":%s,\"notify\":{\"to\":[",
		 op_arg(&call->args, "add")->given ? "true" : "false");
	if (webhook->given) {
		begin_target(&body, "webhook", &n);
		json_add_str(&body, "url", webhook->text);
		if (secret->given)
			json_add_str(&body, "secret", secret->text);
		buf_addc(&body, '}');
	}
	if (desktop) {
		begin_target(&body, "desktop", &n);
		buf_addc(&body, '}');
	}
	if (command->given) {
		begin_target(&body, "command", &n);
		buf_add(&body, STR(",\"command\":["));
		for (unsigned i = 0; i < command->count; i++) {
			buf_add(&body, i ? STR(",") : STR(""));
			json_write_str(&body, command->word[i]);
		}
		buf_add(&body, STR("]}"));
	}
	buf_addc(&body, ']');
	if (events->given)
		json_add_words(&body, "events", events->text);
	buf_add(&body, STR("}}"));
	enum err e = body.failed ? E_NOMEM : remote_ask(&sub, buf_str(&body), &text, &answer);
	if (!e)
		remote_show(&sub, text, &answer);
	return e;
}

static bool is_ended(struct cli_call *call, const struct val *message)
{
	const char *state = val_text(call->arena, message, "state");
	return state && strcmp(state, "waiting") != 0;
}

/* Waits until a message has been delivered or has failed. An attempt takes a limited time. */
static enum err wait_for_message(struct cli_call *call, long long number, struct str *text, struct val *ret)
{
	enum { POLL_MS = 100, POLLS = (NOTIFY_SECONDS + 2 * RUN_GRACE_SECONDS + 30) * 1000 / POLL_MS };
	const char *target = arena_printf(call->arena, "/api/v1/messages/%lld", number);
	for (unsigned i = 0; target && i < POLLS; i++) {
		enum err e = remote_call(call, "GET", target, (struct str){ 0 }, text, ret);
		if (e || is_ended(call, ret))
			return e;
		nanosleep(&(struct timespec){ 0, POLL_MS * 1000000L }, NULL);
	}
	return target ? why_set(call->why, E_BUSY, WHY_NOWHERE, "message %lld has not been sent yet", number)
		      : E_NOMEM;
}

static enum err test_targets(struct cli_call *call)
{
	struct cli_call sub = cli_call_as(call, OP_TEST_NOTIFY);
	_cleanup_(buf_free) struct buf all = { 0 };
	struct str text;
	struct val answer, message;
	unsigned bad = 0, n = 0;
	enum err e = remote_ask(&sub, (struct str){ 0 }, &text, &answer);
	const struct val *list = e ? NULL : val_get(&answer, STR("messages"));
	for (unsigned i = 0; list && i < list->list.n && !e; i++, n++) {
		e = wait_for_message(call, (long long)list->list.item[i].integer, &text, &message);
		if (e)
			break;
		const char *state = val_text(call->arena, &message, "state"),
			   *said = val_text(call->arena, &message, "said");
		bad += strcmp(state, "delivered") != 0;
		buf_add(&all, n ? STR(",") : STR(""));
		buf_add(&all, text);
		if (call->json)
			continue;
		print(call->out, "%s: %s%s", val_text(call->arena, &message, "to"), state,
		      said && *said ? ", " : "");
		print_text(call->out, str_of(said ? said : ""));
		print(call->out, "\n");
	}
	if (!e && call->json)
		print(call->out, "{\"messages\":[%s]}\n", buf_str(&all).p);
	return e     ? e
	       : bad ? why_set(call->why, E_CONFLICT, WHY_NOWHERE, "%u of %u messages did not arrive", bad, n)
		     : OK;
}

enum err verb_notify(struct cli_call *call)
{
	const struct arg *action = op_arg(&call->args, "action");
	if (!action->given || str_eq(action->text, STR("ls")))
		return remote_run_as(call, action->given ? OP_GET_MESSAGES : OP_GET_NOTIFY, NULL,
				     (struct str){ 0 });
	if (str_eq(action->text, STR("set")))
		return set_targets(call);
	if (str_eq(action->text, STR("test")))
		return test_targets(call);
	return why_set(call->why, E_INPUT, WHY_NOWHERE,
		       "'%.*s' is not an action of notify; allowed are ls, set and test",
		       STR_SHORT(action->text));
}

void print_messages(struct cli_call *call, const struct val *list, const char *heading)
{
	unsigned n = list && list->kind == VAL_LIST ? list->list.n : 0;
	for (unsigned i = 0; i < n; i++) {
		const struct val *v = &list->list.item[i];
		const char *said = val_text(call->arena, v, "said"),
			   *tries = val_text(call->arena, v, "attempts"),
			   *joined = val_text(call->arena, v, "joined"),
			   *next = cli_time(call, val_text(call->arena, v, "next"));
		print(call->out, "  %-11s %s to %s: %s%s%s%s%s", heading, val_text(call->arena, v, "type"),
		      val_text(call->arena, v, "to"), val_text(call->arena, v, "state"),
		      tries && strcmp(tries, "0") != 0 ? " after " : "",
		      tries && strcmp(tries, "0") != 0 ? tries : "",
		      tries && !strcmp(tries, "1")       ? " attempt"
		      : tries && strcmp(tries, "0") != 0 ? " attempts"
							 : "",
		      joined ? ", with others" : "");
		if (next)
			print(call->out, ", next %s", next);
		if (said && *said) {
			print(call->out, "; ");
			print_text(call->out, str_of(said));
		}
		print(call->out, "\n");
	}
}

static void print_message_table(struct cli_call *call, const struct val *list)
{
	static const char *const heading[] = {
		"TIME", "EVENT", "SCHEDULE", "TO", "STATE", "TRIES", "RESULT"
	};
	struct arena *a = call->arena;
	_cleanup_(table_free) struct table t = table_new(ARRAY_LEN(heading), heading);
	if (!list->list.n) {
		print(call->out, "No messages.\n");
		return;
	}
	for (unsigned i = 0; i < list->list.n; i++) {
		const struct val *v = &list->list.item[i];
		const char *id = val_text(a, v, "schedule"), *run = val_text(a, v, "run");
		table_row(&t, (const char *[]){ cli_time(call, val_text(a, v, "at")), val_text(a, v, "type"),
						id && run ? arena_printf(a, "%s %s", id, run) : id,
						val_text(a, v, "to"), val_text(a, v, "state"),
						val_text(a, v, "attempts"), val_line(a, v, "said") });
	}
	table_print(&t, call->out);
}

void show_notify(struct cli_call *call, const struct val *v)
{
	const struct val *messages = val_get(v, STR("messages")), *notify = val_get(v, STR("notify"));
	const struct val *to = notify ? val_get(notify, STR("to")) : NULL,
			 *events = notify ? val_get(notify, STR("events")) : NULL;
	const char *from = val_text(call->arena, v, "from"), *missing = val_text(call->arena, v, "missing");
	if (messages) {
		print_message_table(call, messages);
		return;
	}
	if (!to || !to->list.n) {
		print(call->out, "No targets. `rota notify set` adds one.\n");
		return;
	}
	for (unsigned i = 0; i < to->list.n; i++) {
		print(call->out, "%s", i ? "        " : "targets ");
		print_text(call->out, to->list.item[i].str);
		print(call->out, "\n");
	}
	print(call->out, "events  ");
	for (unsigned i = 0; events && i < events->list.n; i++)
		print(call->out, "%s%.*s", i ? ", " : "", STR_ARG(events->list.item[i].str));
	print(call->out, "\nset by  %s\n",
	      from && !strcmp(from, "file") ? "notify in the configuration file" : "`rota notify set`");
	if (missing)
		print(call->out, "warning %s is not installed\n", missing);
}
