/* notify: who gets messages, a test of it, and what was sent. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/remote.h"
#include "cli/table.h"

#include <string.h>
#include <time.h>

static void put_target(struct buf *out, const char *type, unsigned *n)
{
	buf_addf(out, "%s{\"type\":\"%s\"", (*n)++ ? "," : "", type);
}

static enum err set(struct cli_call *call)
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
	if (any == none)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "say who is told: --webhook URL, --desktop, -- COMMAND, or --none: %s",
			       call->args.op->example);
	if (secret->given && (!webhook->given || !str_starts(secret->text, STR("/"))))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "--secret is the absolute path of a file with the key of --webhook: what is "
			       "typed here others can see");
	buf_addf(&body, "{\"add\":%s,\"notify\":{\"to\":[",
		 op_arg(&call->args, "add")->given ? "true" : "false");
	if (webhook->given) {
		put_target(&body, "webhook", &n);
		json_add_str(&body, "url", webhook->text);
		if (secret->given)
			json_add_str(&body, "secret", secret->text);
		buf_addc(&body, '}');
	}
	if (desktop) {
		put_target(&body, "desktop", &n);
		buf_addc(&body, '}');
	}
	if (command->given) {
		put_target(&body, "command", &n);
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

static bool is_over(struct cli_call *call, const struct val *message)
{
	const char *state = val_text(call->arena, message, "state");
	return state && strcmp(state, "waiting") != 0;
}

/* Each of them, when it is over; an attempt is bounded, so it will be. */
static enum err wait_for(struct cli_call *call, long long number, struct str *text, struct val *ret)
{
	enum { LOOK_MS = 100, LOOKS = (NOTIFY_SECONDS + 2 * RUN_GRACE_SECONDS + 30) * 1000 / LOOK_MS };
	const char *target = arena_printf(call->arena, "/api/v1/messages/%lld", number);
	for (unsigned i = 0; target && i < LOOKS; i++) {
		enum err e = remote_call(call, "GET", target, (struct str){ 0 }, text, ret);
		if (e || is_over(call, ret))
			return e;
		nanosleep(&(struct timespec){ 0, LOOK_MS * 1000000L }, NULL);
	}
	return target ? why_set(call->why, E_BUSY, WHY_NOWHERE, "message %lld is still waiting", number)
		      : E_NOMEM;
}

static enum err test(struct cli_call *call)
{
	struct cli_call sub = cli_call_as(call, OP_TEST_NOTIFY);
	_cleanup_(buf_free) struct buf all = { 0 };
	struct str text;
	struct val answer, one;
	unsigned bad = 0, n = 0;
	enum err e = remote_ask(&sub, (struct str){ 0 }, &text, &answer);
	const struct val *list = e ? NULL : val_get(&answer, STR("messages"));
	for (unsigned i = 0; list && i < list->list.n && !e; i++, n++) {
		e = wait_for(call, (long long)list->list.item[i].integer, &text, &one);
		if (e)
			break;
		const char *state = val_text(call->arena, &one, "state"),
			   *said = val_text(call->arena, &one, "said");
		bad += strcmp(state, "delivered") != 0;
		buf_add(&all, n ? STR(",") : STR(""));
		buf_add(&all, text);
		if (call->json)
			continue;
		fprintf(call->out, "%s: %s%s", val_text(call->arena, &one, "to"), state,
			said && *said ? ", " : "");
		print_safe(call->out, str_of(said ? said : ""));
		fputc('\n', call->out);
	}
	if (!e && call->json)
		fprintf(call->out, "{\"messages\":[%s]}\n", buf_str(&all).p);
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
		return set(call);
	if (str_eq(action->text, STR("test")))
		return test(call);
	return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is neither ls, set nor test: %s",
		       STR_SHORT(action->text), call->args.op->example);
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
		fprintf(call->out, "  %-11s %s to %s: %s%s%s%s%s", heading, val_text(call->arena, v, "type"),
			val_text(call->arena, v, "to"), val_text(call->arena, v, "state"),
			tries && strcmp(tries, "0") != 0 ? " after " : "",
			tries && strcmp(tries, "0") != 0 ? tries : "",
			tries && !strcmp(tries, "1")       ? " attempt"
			: tries && strcmp(tries, "0") != 0 ? " attempts"
							   : "",
			joined ? ", with others" : "");
		if (next)
			fprintf(call->out, ", next %s", next);
		if (said && *said) {
			fputs("; ", call->out);
			print_safe(call->out, str_of(said));
		}
		fputc('\n', call->out);
	}
}

static void show_list(struct cli_call *call, const struct val *list)
{
	static const char *const heading[] = { "TOLD", "OF", "SCHEDULE", "TO", "STATE", "TRIES", "SAID" };
	struct arena *a = call->arena;
	struct table t = table_new(a, ARRAY_LEN(heading), heading);
	if (!list->list.n) {
		fprintf(call->out, "nobody has been told of anything\n");
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
		show_list(call, messages);
		return;
	}
	if (!to || !to->list.n) {
		fprintf(call->out, "nobody is told; `rota notify set` says who is\n");
		return;
	}
	for (unsigned i = 0; i < to->list.n; i++) {
		fputs(i ? "      " : "told: ", call->out);
		print_safe(call->out, to->list.item[i].str);
		fputc('\n', call->out);
	}
	fputs("of:   ", call->out);
	for (unsigned i = 0; events && i < events->list.n; i++)
		fprintf(call->out, "%s%.*s", i ? ", " : "", STR_ARG(events->list.item[i].str));
	fprintf(call->out, "\nby:   %s\n",
		from && !strcmp(from, "file") ? "notify in the configuration's file" : "`rota notify set`");
	if (missing)
		fprintf(call->out, "but:  %s is not installed\n", missing);
}
