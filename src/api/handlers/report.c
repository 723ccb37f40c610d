#include "api/handlers/report.h"
#include "api/api.h"
#include "base/json.h"
#include "cli/remote.h"
#include "port/store.h"
#include "runfile/outbox.h"
#include "runfile/read.h"
#include "wire/client.h"

#include <stdlib.h>

static enum err read_kind(struct op_call *call, struct str word, unsigned *ret)
{
	if (!word.n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "report needs fail, step or note: %s",
			       op_row("report")->example);
	for (*ret = 0; *ret < REPORTS; ++*ret)
		if (str_eq(word, str_of(report_words[*ret])))
			return OK;
	return why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' is neither fail, step nor note: %s",
		       STR_SHORT(word), op_row("report")->example);
}

static enum err read_text(struct op_call *call, struct str *ret)
{
	*ret = op_arg(call, "text")->text;
	if (!str_trim(*ret).n)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs a text, for example: %s",
			       call->op->name,
			       call->op->example ? call->op->example : op_row("report")->example);
	return OK;
}

/* --- on the daemon's side --- */

/* Into the same file that the run itself would write to: there is one place where reports are. What is there
 * already (`written`) is only told to those who follow. */
enum err handle_report(struct op_call *call, struct api *api)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	unsigned which;
	struct str text;
	if (!call->within)
		return why_set(call->why, E_DENIED, WHY_NOWHERE, "only a run reports of itself");
	enum err e = read_kind(call, op_arg(call, "kind")->text, &which);
	if (!e)
		e = read_text(call, &text);
	if (e)
		return e;
	const struct val *written = val_get(&call->body, STR("written"));
	if (written && written->kind == VAL_BOOL && written->boolean) {
		api_reported(api, call->within, which, text);
		buf_addf(&call->answer, "{\"report\":\"%s\"}", report_words[which]);
		return OK;
	}
	runfile_path(&path, daemon_runs(api_daemon(api)), call->within->run, call->within->attempt, "box");
	e = path.failed ? E_NOMEM : outbox_add(path.p, (enum report_kind)which, text, call->why);
	if (!e) {
		api_reported(api, call->within, which, text);
		buf_addf(&call->answer, "{\"report\":\"%s\"}", report_words[which]);
	}
	return e;
}

/* --- from here --- */

/* Where its file cannot be written: a sandbox may have the socket and not the file. If it was `written`,
 * those who follow are told, and nothing depends on it. */
static enum err by_socket(struct op_call *call, enum report_kind kind, struct str text, bool written)
{
	const char *run = getenv("ROTA_RUN_ID");
	_cleanup_(buf_free) struct buf target = { 0 }, body = { 0 };
	struct client_answer answer = { 0 };
	struct client_request ask = { .method = "POST",
				      .token = remote_token(),
				      .timeout_ms = written ? REPORT_TELL_MS : 0 };
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

enum err op_report(struct op_call *call)
{
	const struct arg *kind = op_arg_if(call, "kind");
	const char *path = getenv("ROTA_OUTBOX");
	struct why by_file = { .at = WHY_NOWHERE };
	struct str text;
	unsigned which;
	enum err e = read_kind(call, kind ? kind->text : str_of(call->op->name), &which);
	if (!e)
		e = read_text(call, &text);
	if (e)
		return e;
	bool file = path && path[0];
	if (!file && !remote_token())
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s is for programs within a run: neither ROTA_OUTBOX nor ROTA_TOKEN is set",
			       call->op->name);
	e = file ? outbox_add(path, (enum report_kind)which, text, &by_file) : E_IO;
	enum err told = remote_token() && (!e || e == E_IO)
				? by_socket(call, (enum report_kind)which, text, !e)
				: E_NODAEMON;
	if (e == E_IO && !told)
		e = OK;
	else if (file)
		*call->why = by_file; /* the file is what counts, and where it should have gone */
	if (!e && call->json)
		fprintf(call->out, "{\"report\":\"%s\"}\n", report_words[which]);
	return e;
}
