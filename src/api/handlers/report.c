/* Receives the report of a run about itself. */
#include "api/handlers/report.h"

#include "api/events.h"
#include "api/handlers/handlers.h"
#include "runfile/read.h"

static enum err read_kind(struct str word, enum report_kind *ret, struct why *why)
{
	const char *example = ops[OP_REPORT].example;
	if (!word.n)
		return why_set(why, E_INPUT, WHY_NOWHERE, "report needs fail, step or note, for example: %s",
			       example);
	for (unsigned i = 0; i < REPORTS; i++)
		if (str_eq(word, str_of(report_words[i]))) {
			*ret = (enum report_kind)i;
			return OK;
		}
	return why_set(why, E_INPUT, WHY_NOWHERE, "'%.*s' is not fail, step or note; for example: %s",
		       STR_SHORT(word), example);
}

enum err report_read(const struct op_args *args, enum report_kind *kind, struct str *text, struct why *why)
{
	const struct arg *word = op_arg_if(args, "kind");
	/* The operations step and note have the name of their kind. */
	enum err e = read_kind(word ? word->text : str_of(args->op->name), kind, why);
	*text = op_arg(args, "text")->text;
	if (!e && !str_trim(*text).n)
		e = why_set(why, E_INPUT, WHY_NOWHERE, "%s needs a text, for example: %s", args->op->name,
			    args->op->example ? args->op->example : ops[OP_REPORT].example);
	return e;
}

/* A report that the run has already written to its outbox (`written`) is only passed on as an event. Others
 * are written to the same file. */
enum err handle_report(struct api_call *call, struct api *api)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	enum report_kind kind;
	struct str text;
	if (!call->caller_run)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "only a run can send a report, and only about itself");
	enum err e = report_read(&call->args, &kind, &text, call->why);
	if (!e && !val_is_true(&call->body, "written")) {
		runfile_path(&path, daemon_runs_dir(api_daemon(api)), call->caller_run->run,
			     call->caller_run->attempt, "box");
		e = path.failed ? E_NOMEM : outbox_add(path.p, kind, text, call->why);
	}
	if (e)
		return e;
	events_add_report(api_events(api), api_http(api), call->caller_run, kind, text);
	buf_addf(&call->answer, "{\"report\":\"%s\"}", report_words[kind]);
	return OK;
}
