/* Stops one run, or all runs of a schedule. */
#include "api/handlers/handlers.h"

#include "base/json.h"

/* The error for a run that was not stopped, because it had ended by itself; OK: it was stopped, or is still
 * active. E_NOTFOUND: there is no such run. */
static enum err ended_before(struct api_call *call, struct api *api, uint64_t number)
{
	struct run_row run;
	enum err e = read_run(api_reader(api), number, &run, call->why);
	if (e == E_NOTFOUND)
		return why_set(call->why, e, WHY_NOWHERE, "there is no run r%llu; `rota runs` lists runs",
			       (unsigned long long)number);
	bool refused = run.state == RUN_SKIPPED || run.state == RUN_MISSED;
	if (e || (run.state != RUN_FINISHED && !refused) || run.reason == REASON_CANCELLED)
		return e;
	const char *how =
		refused ? run.state == RUN_MISSED ? "missed" : "skipped" : outcome_words[run.outcome];
	return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
		       "r%llu was not stopped: it has ended already, %s%s%s", (unsigned long long)number, how,
		       run.reason ? "/" : "", run.reason ? reason_words[run.reason] : "");
}

static void answer_stop(struct api_call *call, struct api *api, const struct reply *r)
{
	enum err e = OK;
	if (r->code == REPLY_NOT_FOUND || r->code == REPLY_OK)
		e = ended_before(call, api, r->run);
	if (!e && r->code == REPLY_NOT_FOUND) /* an earlier request has stopped it */
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE, "r%llu has ended already: it was stopped",
			    (unsigned long long)r->run);
	else if (!e && r->code != REPLY_OK)
		e = api_refusal(call, r, "the run was not stopped");
	else if (!e)
		buf_addf(&call->answer, "{\"done\":\"stop\",\"runs\":[\"r%llu\"]}",
			 (unsigned long long)r->run);
	api_finish(call, e);
}

enum err handle_stop(struct api_call *call, struct api *api)
{
	struct command c = { .kind = CMD_STOP };
	enum err e = api_read_run_number(call, op_arg(&call->args, "run")->text, &c.run);
	return e ? e : api_command(call, api, &c, answer_stop);
}

/* --- all runs of a schedule --- */

enum { STOPS_TOGETHER = 64 }; /* commands under way at a time */

struct stop_request {
	struct api *api;
	struct str id;         /* the id of the schedule */
	struct read_runs runs; /* newest first, so that a run that waits for another is stopped before it
				  could start */
	unsigned sent, replied, stopped;
	uint64_t ended;       /* a run that ended by itself; 0: none did */
	struct reply refused; /* the first refusal; code 0: none */
};

static void note_stopped(struct api_call *call, struct api *api, const struct reply *r);

static void finish_stops(struct api_call *call, const struct stop_request *s)
{
	enum err e = OK;
	if (s->refused.code)
		e = api_refusal(call, &s->refused, "not all runs were stopped");
	else if (!s->stopped && s->ended)
		e = ended_before(call, s->api, s->ended);
	if (!e && !s->refused.code && !s->stopped)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "'%.*s' has no run to stop",
			    STR_SHORT(s->id));
	buf_addc(&call->answer, ']');
	json_add_str(&call->answer, "schedule", s->id);
	buf_addc(&call->answer, '}');
	api_finish(call, e);
}

static void send_stops(void *arg)
{
	struct api_call *call = arg;
	struct stop_request *s = call->ctx;
	while (!s->refused.code && s->sent < s->runs.n && s->sent - s->replied < STOPS_TOGETHER) {
		struct command c = { .kind = CMD_STOP, .run = s->runs.item[s->sent].run };
		if (api_command(call, s->api, &c, note_stopped))
			s->refused.code = REPLY_BUSY;
		else
			s->sent++;
	}
	if (s->replied == s->sent)
		finish_stops(call, s);
}

/* REPLY_NOT_FOUND: the run has ended by itself. REPLY_BUSY: another request is stopping it. */
static void note_stopped(struct api_call *call, struct api *api, const struct reply *r)
{
	struct stop_request *s = call->ctx;
	s->replied++;
	bool ended = r->code == REPLY_NOT_FOUND || (r->code == REPLY_OK && ended_before(call, api, r->run));
	if (ended)
		s->ended = r->run;
	else if (r->code == REPLY_OK || r->code == REPLY_BUSY)
		buf_addf(&call->answer, "%s\"r%llu\"", s->stopped++ ? "," : "", (unsigned long long)r->run);
	else if (!s->refused.code)
		s->refused = *r;
	send_stops(call);
}

enum err handle_stop_schedule(struct api_call *call, struct api *api)
{
	struct read_sched sched;
	struct stop_request *s = arena_alloc(call->arena, sizeof *s);
	enum err e =
		s ? api_find_schedule_or_removed(call, api, op_arg(&call->args, "schedule")->text, &sched)
		  : E_NOMEM;
	if (e)
		return e;
	*s = (struct stop_request){ .api = api, .id = sched.id };
	static_assert(RUNS_OPEN_MAX <= READ_LIST_MAX, "all open runs are read at once");
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
	return api_add_task(call, api, send_stops);
}
