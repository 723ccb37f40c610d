#include "api/handlers/handlers.h"

#include "base/json.h"

static void stopped(struct api_call *call, struct api *api, const struct reply *r)
{
	enum err e = OK;
	(void)api;
	if (r->code == REPLY_NOT_FOUND)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "%.*s is not alive, or there is no such run",
			    STR_SHORT(op_arg(&call->args, "run")->text));
	else if (r->code != REPLY_OK)
		e = api_refusal(call, r, "it was not stopped");
	else
		buf_addf(&call->answer, "{\"done\":\"stop\",\"runs\":[\"r%llu\"]}",
			 (unsigned long long)r->run);
	api_finish(call, e);
}

enum err handle_stop(struct api_call *call, struct api *api)
{
	struct command c = { .kind = CMD_STOP };
	enum err e = api_run_number(call, op_arg(&call->args, "run")->text, &c.run);
	return e ? e : api_order(call, api, &c, stopped);
}

/* --- all of a schedule's --- */

struct stopping {
	struct api *api;
	struct str id;
	struct read_runs runs; /* the newest first: what waits is gone before what it waits for has ended */
	unsigned asked, answered, done;
	struct reply refused; /* the first; code 0: none was */
};

/* Under way at a time. */
enum { TOGETHER = 64 };

static void one_stopped(struct api_call *call, struct api *api, const struct reply *r);

static void finish(struct api_call *call, const struct stopping *s)
{
	enum err e = OK;
	if (s->refused.code)
		e = api_refusal(call, &s->refused, "not all were stopped");
	else if (!s->done)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "nothing of '%.*s' is alive",
			    STR_SHORT(s->id));
	buf_addc(&call->answer, ']');
	json_add_str(&call->answer, "schedule", s->id);
	buf_addc(&call->answer, '}');
	api_finish(call, e);
}

static void go_on(void *arg)
{
	struct api_call *call = arg;
	struct stopping *s = call->ctx;
	while (!s->refused.code && s->asked < s->runs.n && s->asked - s->answered < TOGETHER) {
		struct command c = { .kind = CMD_STOP, .run = s->runs.item[s->asked].run };
		if (api_order(call, s->api, &c, one_stopped))
			s->refused.code = REPLY_BUSY;
		else
			s->asked++;
	}
	if (s->answered == s->asked)
		finish(call, s);
}

/* One that is not there any more has ended by itself; one that is busy is being stopped by another. */
static void one_stopped(struct api_call *call, struct api *api, const struct reply *r)
{
	struct stopping *s = call->ctx;
	(void)api;
	s->answered++;
	if (r->code == REPLY_OK || r->code == REPLY_BUSY)
		buf_addf(&call->answer, "%s\"r%llu\"", s->done++ ? "," : "", (unsigned long long)r->run);
	else if (r->code != REPLY_NOT_FOUND && !s->refused.code)
		s->refused = *r;
	go_on(call);
}

enum err handle_stop_schedule(struct api_call *call, struct api *api)
{
	struct read_sched sched;
	struct stopping *s = arena_alloc(call->arena, sizeof *s);
	enum err e = s ? api_sched_ever(call, api, op_arg(&call->args, "schedule")->text, &sched) : E_NOMEM;
	if (e)
		return e;
	*s = (struct stopping){ .api = api, .id = sched.id };
	static_assert(RUNS_OPEN_MAX <= READ_LIST_MAX, "all that are open are read at once");
	e = read_runs(
		api_reader(api),
		&(struct read_filter){ .sid = sched.row.sid,
				       .states = 1u << RUN_PENDING | 1u << RUN_CLAIMED | 1u << RUN_RETRYING,
				       .limit = READ_LIST_MAX },
		call->arena, &s->runs, call->why);
	if (e)
		return e;
	call->ctx = s;
	buf_add(&call->answer, STR("{\"done\":\"stop\",\"runs\":["));
	e = api_post(api, go_on, call);
	call->later = !e;
	return e;
}
