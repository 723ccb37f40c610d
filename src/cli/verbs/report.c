/* report, step and note: a run reports about itself. The report is written to the run's outbox, which needs
 * no daemon. If the outbox cannot be written, the report is sent to the daemon. */
#include "cli/verbs/verbs.h"

#include "base/json.h"
#include "base/limits.h"
#include "cli/remote.h"
#include "runfile/outbox.h"
#include "wire/client.h"

#include <stdlib.h>

static enum err read_args(const struct op_args *args, enum report_kind *kind, struct str *text,
			  struct why *why)
{
	const struct arg *given = op_arg_if(args, "kind");
	/* The verbs step and note have the same names as the kinds of report. */
	struct str word = given ? given->text : str_of(args->op->name);
	if (!word.n)
		return why_set(why, E_INPUT, WHY_NOWHERE, "report needs fail, step or note, for example: %s",
			       args->op->example);
	if (!report_kind_find(word, kind))
		return why_set(why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' is not a kind of report; allowed are fail, step and note",
			       STR_SHORT(word));
	*text = op_arg(args, "text")->text;
	if (!str_trim(*text).n)
		return why_set(why, E_INPUT, WHY_NOWHERE, "%s needs a text, for example: %s", args->op->name,
			       args->op->example);
	return OK;
}

/* Sends a report to the daemon. If it was `written` to the outbox, the daemon only passes it on to clients
 * that follow events; the caller ignores errors then. Otherwise the daemon writes it: a sandbox may give
 * access to the socket and not to the file. */
static enum err send_report(struct cli_call *call, enum report_kind kind, struct str text, bool written)
{
	const char *run = getenv("ROTA_RUN_ID");
	_cleanup_(buf_free) struct buf target = { 0 }, body = { 0 };
	struct client_answer answer = { 0 };
	struct client_request request = { .method = "POST",
					  .token = remote_token(),
					  .timeout_ms = written ? REPORT_WAIT_MS : 0 };
	buf_add(&target, STR("/api/v1/runs/"));
	remote_encode(&target, str_of(run ? run : ""));
	buf_add(&target, STR("/reports"));
	buf_addf(&body, "{\"kind\":\"%s\",\"text\":", report_words[kind]);
	json_write_str(&body, text);
	buf_addf(&body, ",\"written\":%s}", written ? "true" : "false");
	if (target.failed || body.failed)
		return E_NOMEM;
	request.target = target.p;
	request.body = buf_str(&body);
	enum err e = remote_socket(call, &request.socket);
	if (!e)
		e = client_call(&request, &answer, call->why);
	if (!e && answer.status != 200)
		e = E_DENIED;
	client_answer_free(&answer);
	return e;
}

enum err verb_report(struct cli_call *call)
{
	const char *path = getenv("ROTA_OUTBOX");
	struct why file_why = { .at = WHY_NOWHERE };
	struct str text;
	enum report_kind kind;
	enum err e = read_args(&call->args, &kind, &text, call->why);
	if (e)
		return e;
	bool file = path && path[0];
	if (!file && !remote_token())
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s is for programs within a run: neither ROTA_OUTBOX nor ROTA_TOKEN is set",
			       call->args.op->name);
	e = file ? outbox_add(path, kind, text, &file_why) : E_IO;
	enum err sent = remote_token() && (!e || e == E_IO) ? send_report(call, kind, text, !e) : E_NODAEMON;
	if (e == E_IO && !sent)
		e = OK;
	else if (file)
		*call->why = file_why; /* report the error of the file, not that of the fallback */
	if (!e && call->json)
		print(call->out, "{\"report\":\"%s\"}\n", report_words[kind]);
	return e;
}
