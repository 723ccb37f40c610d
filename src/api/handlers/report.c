/* Receives the report of a run about itself. */
#include "api/handlers/handlers.h"

#include "runfile/outbox.h"
#include "sys/clock.h"

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

/* Reports are events, with the beginning of their text; the outbox has all of it. */
static enum err log_report(struct api_call *call, struct api *api, enum report_kind kind, struct str text)
{
	static const uint8_t types[REPORTS] = { [REPORT_FAIL] = EVENT_RUN_GAVE_UP,
						[REPORT_STEP] = EVENT_RUN_STEP,
						[REPORT_NOTE] = EVENT_RUN_NOTE };
	struct st_req r = { .op = ST_REPORT, .lane = LANE_FINISH, .at = clock_wall() };
	size_t n = text.n < REPORT_EVENT_BYTES ? text.n : REPORT_EVENT_BYTES;
	while (n < text.n && n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n--; /* do not cut a character in two */
	r.run.run = call->caller_run->run;
	r.run.attempt = call->caller_run->attempt;
	r.report = (struct report_request){ types[kind], { text.p, n } };
	enum err e = daemon_send(api_daemon(api), &r, NULL, NULL);
	return e == E_BUSY ? why_set(call->why, e, WHY_NOWHERE, "the daemon is busy; try again") : e;
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
	if (!e)
		e = log_report(call, api, kind, text);
	if (e)
		return e;
	buf_addf(&call->answer, "{\"report\":\"%s\"}", report_words[kind]);
	return OK;
}
