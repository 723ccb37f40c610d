/* add and edit: make a document of the arguments, check it, send it to the daemon, and print the answer. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "cli/documents.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "core/doc/doc.h"
#include "core/when/dur.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The current directory and PATH are stored with the command, so that a command that works in this shell also
 * works in a run. */
static void write_command(const struct arg *arg, struct buf *out)
{
	char *cwd = getcwd(NULL, 0);
	const char *path = getenv("PATH");
	buf_add(out, STR(",\"action\":{\"type\":\"command\",\"command\":"));
	/* A single word with spaces is a shell command line in quotes, not the name of a program. */
	bool line = !arg->word || (arg->count == 1 && memchr(arg->word[0].p, ' ', arg->word[0].n));
	if (line)
		json_write_str(out, arg->word ? arg->word[0] : arg->text);
	for (unsigned i = 0; !line && i < arg->count; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, arg->word[i]);
	}
	buf_add(out, line ? STR("") : STR("]"));
	if (cwd)
		json_add_str(out, "cwd", str_of(cwd));
	if (path) {
		buf_add(out, STR(",\"env\":{\"PATH\":"));
		json_write_str(out, str_of(path));
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
	free(cwd);
}

static void write_tags(const struct arg *arg, struct buf *out)
{
	json_add_words(out, "tags", arg->text);
}

static void write_message(const struct arg *arg, struct buf *out)
{
	buf_add(out, STR(",\"action\":{\"type\":\"agent_turn\""));
	json_add_str(out, "message", arg->text);
	buf_addc(out, '}');
}

static void write_retry(const struct arg *arg, struct buf *out)
{
	buf_addf(out, ",\"retry\":{\"max_attempts\":%u}", arg->count);
}

/* How an argument of add or edit is written to the document: as text under this key, or by `write`. */
static const struct {
	const char *argument, *key;
	void (*write)(const struct arg *arg, struct buf *out);
} arguments[] = {
	{ "expression", "expression", NULL }, { "when", "expression", NULL },
	{ "tz", "timezone", NULL },           { "timeout", "timeout", NULL },
	{ "window", "window", NULL },         { "missed", "missed_schedule_policy", NULL },
	{ "overlap", "overlap", NULL },       { "retry", NULL, write_retry },
	{ "tag", NULL, write_tags },          { "agent", "agent", NULL },
	{ "message", NULL, write_message },   { "command", NULL, write_command },
};

static unsigned write_keys(struct cli_call *call, struct buf *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(arguments); i++) {
		const struct arg *arg = op_arg_if(&call->args, arguments[i].argument);
		if (!arg || !arg->given)
			continue;
		n++;
		if (arguments[i].write)
			arguments[i].write(arg, out);
		else
			json_add_str(out, arguments[i].key, arg->text);
	}
	return n;
}

static enum err send_document(struct cli_call *call, struct buf *body)
{
	struct str text;
	struct val answer;
	enum err e = body->failed ? E_NOMEM : remote_ask(call, buf_str(body), &text, &answer);
	buf_free(body);
	if (!e)
		remote_show(call, text, &answer);
	if (!e)
		warn_if_blocked(call, &answer, STR(""), 0);
	return e;
}

/* There must be an expression and either a command or a message to an agent. */
static enum err check_action(struct cli_call *call)
{
	const struct arg *words = op_arg(&call->args, "command"), *message = op_arg(&call->args, "message");
	if (message->given && words->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "give either a message for an agent or a command, not both");
	if (message->given && !op_arg(&call->args, "agent")->given)
		return why_set(
			call->why, E_INPUT, WHY_NOWHERE,
			"'%.*s' is a message, but --agent is missing; write a command after --, and an "
			"expression with spaces in quotes",
			STR_SHORT(message->text));
	if (!op_arg(&call->args, "expression")->given || (!words->given && !message->given))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "add needs an expression and a command, or --agent NAME and a message, for "
			       "example: %s",
			       call->args.op->example);
	return OK;
}

/* Checks the durations here, where an error can name the option. */
static enum err check_durations(struct cli_call *call)
{
	static const char *const options[] = { "timeout", "window" };
	int64_t seconds;
	enum err e = OK;
	for (unsigned i = 0; i < ARRAY_LEN(options) && !e; i++) {
		const struct arg *arg = op_arg(&call->args, options[i]);
		if (arg->given)
			e = cli_option_error(call, options[i], dur_parse(arg->text, &seconds, call->why));
	}
	return e;
}

static void derive_id(struct cli_call *call, char ret[DOC_ID_MAX + 1])
{
	enum { WORDS = 4 }; /* the id is made of the first words of a message */
	const struct arg *words = op_arg(&call->args, "command"), *message = op_arg(&call->args, "message");
	struct str word[WORDS], rest = message->text;
	unsigned n = 0;
	if (words->given) {
		doc_derive_id(words->word ? words->word : &words->text, words->word ? words->count : 1, ret);
		return;
	}
	while (n < WORDS && (word[n] = str_token(&rest)).n)
		n++;
	doc_derive_id(word, n, ret);
}

enum err verb_add(struct cli_call *call)
{
	const struct arg *expression = op_arg(&call->args, "expression"), *id = op_arg(&call->args, "id");
	char derived[DOC_ID_MAX + 1];
	struct buf document = { 0 }, body = { 0 };
	struct default_zone zone;
	struct when when;
	enum err e = check_action(call);
	if (!e)
		e = check_durations(call);
	if (!e)
		e = documents_check_expression(call, expression->text, &zone, &when);
	if (e)
		return e;
	derive_id(call, derived);
	buf_add(&document, STR("{\"id\":"));
	json_write_str(&document, id->given ? id->text : str_of(derived));
	write_keys(call, &document);
	/* The zone is written into the schedule, so that no later change of a setting moves it. */
	if (!when.zone_given && !op_arg(&call->args, "tz")->given) {
		json_add_str(&document, "timezone", zone.name);
		call->zone_why = zone.why;
	}
	buf_addc(&document, '}');
	e = document.failed ? E_NOMEM : documents_check_text(call, buf_str(&document));
	buf_addf(&body, "{\"update\":%s,\"derived\":%s,\"document\":",
		 op_arg(&call->args, "update")->given ? "true" : "false", id->given ? "false" : "true");
	buf_add(&body, buf_str(&document));
	buf_addc(&body, '}');
	buf_free(&document);
	if (!e)
		return send_document(call, &body);
	buf_free(&body);
	return e;
}

enum err verb_edit(struct cli_call *call)
{
	const struct arg *file = op_arg(&call->args, "file"), *when = op_arg(&call->args, "when");
	struct buf body = { 0 };
	_cleanup_(documents_free) struct documents docs = { 0 };
	struct default_zone zone;
	struct when parsed;
	enum err e = OK;
	if (!op_arg(&call->args, "schedule")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "edit needs a SCHEDULE, for example: %s",
			       call->args.op->example);
	e = check_durations(call);
	if (!e && when->given)
		e = documents_check_expression(call, when->text, &zone, &parsed);
	if (!e && file->given)
		e = documents_read_file(call, file->text.p, false, &docs);
	if (e)
		return e;
	if (file->given && docs.schedules.n != 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%.150s has %u schedules; edit takes one",
			       file->text.p, docs.schedules.n);
	buf_addf(&body, "{\"whole\":%s,\"document\":", file->given ? "true" : "false");
	if (file->given)
		buf_add(&body, docs.schedules.item[0].text);
	else
		buf_add(&body, STR("{\"id\":"));
	if (!file->given)
		json_write_str(&body, op_arg(&call->args, "schedule")->text);
	if (op_arg(&call->args, "message")->given && op_arg(&call->args, "command")->given)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "give either a message for an agent or a command, not both");
	unsigned keys = write_keys(call, &body);
	buf_add(&body, file->given ? STR("}") : STR("}}"));
	if (!e && (file->given ? keys : !keys))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    file->given ? "--file replaces the whole schedule; it cannot be combined with "
					  "other options"
					: "edit needs an option, such as --when or --timeout, or -- COMMAND; "
					  "`rota edit --help` lists them");
	if (!e)
		return send_document(call, &body);
	buf_free(&body);
	return e;
}

bool warn_if_blocked(struct cli_call *call, const struct val *answer, struct str file, unsigned line)
{
	const char *blocked = val_text(call->arena, answer, "blocked");
	if (!blocked)
		return false;
	print(stderr, "rota: ");
	print_text(stderr, file);
	print(stderr, "%s", file.n ? ": warning: " : "warning: ");
	print_text(stderr, str_of(blocked));
	print(stderr, ": schedule '%s' is accepted, but blocked", val_text(call->arena, answer, "id"));
	if (file.n)
		print(stderr, ", at line %u", line);
	print(stderr, "\n");
	return true;
}

static void print_turn(struct cli_call *call, const struct val *v)
{
	const char *agent = val_text(call->arena, v, "agent"), *message = val_line(call->arena, v, "message");
	if (!message)
		return;
	print(call->out, "  agent       %s\n  message     ", agent ? agent : "none");
	print_text(call->out, str_of(message));
	const struct val *budget = val_get(v, STR("budget"));
	_cleanup_(buf_free) struct buf text = { 0 };
	if (budget && budget->kind != VAL_NULL)
		json_write(&text, budget);
	print(call->out, "\n  budget      %s\n", text.n ? buf_str(&text).p : "none");
}

static void print_command(struct cli_call *call, const struct val *v)
{
	const struct val *c = val_get(v, STR("command"));
	if (!c)
		return;
	print(call->out, "  command     ");
	if (c->kind == VAL_STR)
		print_text(call->out, c->str);
	for (unsigned i = 0; c->kind == VAL_LIST && i < c->list.n; i++) {
		print(call->out, "%s", i ? " " : "");
		print_text(call->out, c->list.item[i].str);
	}
	if (val_get(v, STR("directory"))) {
		print(call->out, "\n  directory   ");
		print_text(call->out, str_of(val_text(call->arena, v, "directory")));
	}
	print(call->out, "\n");
}

/* A time in this machine's zone, and in the schedule's zone if they differ. */
static const char *local_and_zone_time(struct cli_call *call, struct str iso, struct str zone)
{
	enum { TIME = sizeof "2026-11-16 08:30:00" - 1 };
	const struct zone_source *zones = zoneinfo_source(call->zones);
	const char *text = arena_dup(call->arena, iso), *here = cli_time(call, text);
	const char *there = zones->find(zones->self, zone) ? time_text(call->arena, text, zones, zone) : NULL;
	if (!here || !there || !strncmp(here, there, TIME))
		return here;
	return arena_printf(call->arena, "%s, in its zone %.*s", here, TIME, there);
}

static void print_targets(struct cli_call *call, const struct val *list)
{
	unsigned n = list && list->kind == VAL_LIST ? list->list.n : 0;
	print(call->out, "%s",
	      n ? "  on failure  notify " : "  on failure  no notification; `rota` shows it");
	for (unsigned i = 0; i < n; i++) {
		print(call->out, "%s", i ? ", " : "");
		print_text(call->out, list->list.item[i].str);
	}
	print(call->out, "\n");
}

void show_added(struct cli_call *call, const struct val *v)
{
	const char *zone = val_text(call->arena, v, "timezone");
	const struct val *next = val_get(v, STR("next"));
	print(call->out, "%s: %s\n", val_text(call->arena, v, "id"), val_text(call->arena, v, "result"));
	print_turn(call, v);
	print_command(call, v);
	print(call->out, "  zone        %s%s%s\n", zone, call->zone_why ? ", " : "",
	      call->zone_why ? call->zone_why : "");
	print(call->out, "  timeout     %s s; missed: %s; overlap: %s; 1 try + %s retries\n",
	      val_text(call->arena, v, "timeout"), val_text(call->arena, v, "missed_schedule_policy"),
	      val_text(call->arena, v, "overlap"), val_text(call->arena, v, "retries"));
	const struct val *fit = val_get(v, STR("retries_fit"));
	if (fit && !fit->boolean)
		print(call->out,
		      "              the retries do not fit before the next occurrence, which drops "
		      "those that are left\n");
	print_targets(call, val_get(v, STR("notified")));
	for (unsigned i = 0; next && next->kind == VAL_LIST && i < next->list.n; i++)
		print(call->out, "  %s %s\n", i ? "           " : "next       ",
		      local_and_zone_time(call, next->list.item[i].str, str_of(zone)));
}
