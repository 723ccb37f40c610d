/* Receives the report of a run about itself. */
#include "api/handlers/handlers.h"

#include "api/events.h"
#include "runfile/outbox.h"

static enum err read_report(const struct op_args *args, enum report_kind *kind, struct str *text,
			    struct why *why)
{
	*text = op_arg(args, "text")->text;
	if (!report_kind_find(op_arg(args, "kind")->text, kind))
		return why_set(why, E_INPUT, WHY_NOWHERE, "kind must be fail, step or note");
	if (!str_trim(*text).n)
		return why_set(why, E_INPUT, WHY_NOWHERE, "text must not be empty");
	return OK;
}

/* A report that the run has already written to its outbox (`written`) is only passed on as an event. Others
 * are written to the same file. */
enum err handle_report(struct api_call *call, struct api *api)
{
	enum report_kind kind;
	struct str text;
	if (!call->caller_run)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "only a run can send a report, and only about itself");
	enum err e = read_report(&call->args, &kind, &text, call->why);
	if (!e && !val_is_true(&call->body, "written"))
		e = outbox_add_run(daemon_runs_dir(api_daemon(api)), call->caller_run->run,
				   call->caller_run->attempt, kind, text, call->why);
	if (e)
		return e;
	events_add_report(api_events(api), call->caller_run, kind, text);
	buf_addf(&call->answer, "{\"report\":\"%s\"}", report_words[kind]);
	return OK;
}
