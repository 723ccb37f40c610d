/* report, step and note: what a run says of itself. They write to the run's own file and need no daemon; they
 * ask the daemon where that file cannot be written. */
#include "admin/verbs.h"

#include "api/handlers/report.h"
#include "base/json.h"
#include "cli/remote.h"
#include "wire/client.h"

#include <stdlib.h>

/* Where its file cannot be written: a sandbox may have the socket and not the file. If it was `written`,
 * those who follow are told, and nothing depends on it. */
static enum err send_report(struct cli_call *call, enum report_kind kind, struct str text, bool written)
{
	const char *run = getenv("ROTA_RUN_ID");
	_cleanup_(buf_free) struct buf target = { 0 }, body = { 0 };
	struct client_answer answer = { 0 };
	struct client_request ask = { .method = "POST",
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
	ask.target = target.p;
	ask.body = buf_str(&body);
	enum err e = remote_socket(call, &ask.socket);
	if (!e)
		e = client_call(&ask, &answer, call->why);
	if (!e && answer.status != 200)
		e = E_DENIED;
	client_answer_free(&answer);
	return e;
}

enum err verb_report(struct cli_call *call)
{
	const char *path = getenv("ROTA_OUTBOX");
	struct why by_file = { .at = WHY_NOWHERE };
	struct str text;
	enum report_kind kind;
	enum err e = report_read(&call->args, &kind, &text, call->why);
	if (e)
		return e;
	bool file = path && path[0];
	if (!file && !remote_token())
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s is for programs within a run: neither ROTA_OUTBOX nor ROTA_TOKEN is set",
			       call->args.op->name);
	e = file ? outbox_add(path, kind, text, &by_file) : E_IO;
	enum err sent = remote_token() && (!e || e == E_IO) ? send_report(call, kind, text, !e) : E_NODAEMON;
	if (e == E_IO && !sent)
		e = OK;
	else if (file)
		*call->why = by_file; /* the file is what counts, and where it should have gone */
	if (!e && call->json)
		fprintf(call->out, "{\"report\":\"%s\"}\n", report_words[kind]);
	return e;
}
