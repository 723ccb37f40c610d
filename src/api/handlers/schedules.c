/* Lists, shows, removes, runs and backfills schedules, and accepts the clock. */
#include "api/handlers/handlers.h"

#include "api/grants.h"
#include "api/json_out.h"

/* --- list and show --- */

enum err handle_schedules(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *after = op_arg(&call->args, "after");
	struct read_scheds page;
	struct read_hold all;
	enum err e = read_scheds(api_reader(api), after->text, limit->given ? limit->count : 100, call->arena,
				 &page, call->why);
	if (!e)
		e = api_read_pause_all(call, api, &all);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"schedules\":["));
	for (unsigned i = 0; i < page.n; i++) {
		struct str blocked;
		e = schedule_blocked(call, api, &page.item[i], &blocked);
		if (e)
			return e;
		buf_add(&call->answer, i ? STR(",") : STR(""));
		json_write_schedule(&call->answer, api, &page.item[i], &all, blocked, NULL);
	}
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		json_add_str(&call->answer, "after", page.item[page.n - 1].id);
	buf_addc(&call->answer, '}');
	return OK;
}

/* Returns E_NOTFOUND if `name` is the name of an agent. To be called when `name` is not the whole id of a
 * schedule, but only its beginning. */
static enum err check_no_agent(struct api_call *call, struct api *api, struct str name)
{
	struct read_agent agent;
	enum err e = read_agent(api_reader(api), name, call->arena, &agent, call->why);
	if (!e && agent.text.p)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "'%.*s' is an agent; there is no schedule of that name", STR_SHORT(name));
	return e;
}

enum err handle_schedule(struct api_call *call, struct api *api)
{
	struct str name = op_arg(&call->args, "schedule")->text;
	struct read_sched s;
	struct read_hold all;
	enum err e = api_find_schedule(call, api, name, &s);
	if (!e && !str_eq(s.id, name))
		e = check_no_agent(call, api, name);
	if (!e)
		e = api_read_pause_all(call, api, &all);
	struct str blocked = { 0 };
	if (!e)
		e = schedule_blocked(call, api, &s, &blocked);
	struct read_avoided avoided = { 0 };
	if (!e)
		e = read_avoided(api_reader(api), s.row.sid, WALL_NEVER, &avoided, call->why);
	if (e)
		return e;
	json_write_schedule(&call->answer, api, &s, &all, blocked, &avoided);
	return OK;
}

/* --- commands without a handler of their own --- */

struct simple_command {
	const char *failure; /* the message if it is refused */
	struct str id;       /* the id of the schedule; empty: the command is not about a schedule */
	bool counts;         /* the answer has numbers of runs */
};

static void answer_simple(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct simple_command *s = call->ctx;
	enum err e = OK;
	(void)api;
	if (r->code != REPLY_OK) {
		e = api_refusal(call, r, s->failure);
	} else {
		buf_addf(&call->answer, "{\"done\":\"%s\"", call->args.op->name);
		if (s->id.n)
			json_add_str(&call->answer, "schedule", s->id);
		if (r->run)
			buf_addf(&call->answer, ",\"run\":\"r%llu\"", (unsigned long long)r->run);
		if (s->counts)
			buf_addf(&call->answer, ",\"runs\":%u,\"left_as_they_are\":%u,\"more\":%s", r->count,
				 r->already_run, r->more ? "true" : "false");
		buf_addc(&call->answer, '}');
	}
	api_finish(call, e);
}

static enum err send_simple(struct api_call *call, struct api *api, const struct command *c,
			    struct simple_command s)
{
	struct simple_command *copy = arena_alloc(call->arena, sizeof *copy);
	if (!copy)
		return E_NOMEM;
	*copy = s;
	call->ctx = copy;
	return api_command(call, api, c, answer_simple);
}

/* Sends a command about the schedule that the argument `schedule` names. */
static enum err send_for_schedule(struct api_call *call, struct api *api, struct command c,
				  const char *failure)
{
	struct read_sched s;
	enum err e = api_find_schedule(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	c.sid = s.row.sid;
	return send_simple(call, api, &c,
			   (struct simple_command){ failure, s.id, .counts = c.kind == CMD_BACKFILL });
}

enum err handle_rm(struct api_call *call, struct api *api)
{
	struct read_sched s;
	enum err e = api_find_schedule(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (!e && call->caller_run)
		e = grants_check_removal(call, api, &s);
	if (!e)
		e = source_check(call, "schedule", s.id, &s.source, STR(""));
	return e ? e
		 : send_for_schedule(
			   call, api,
			   (struct command){ .kind = CMD_DROP, .kill = op_arg(&call->args, "kill")->given },
			   "the schedule was not removed");
}

enum err handle_run(struct api_call *call, struct api *api)
{
	return send_for_schedule(call, api, (struct command){ .kind = CMD_RUN }, "the schedule was not run");
}

enum err handle_clock(struct api_call *call, struct api *api)
{
	return send_simple(call, api, &(struct command){ .kind = CMD_CLOCK },
			   (struct simple_command){ .failure = "the clock was not accepted" });
}

static enum err read_required_time(struct api_call *call, const char *name, struct wall *ret)
{
	const struct arg *arg = op_arg(&call->args, name);
	if (!arg->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs --%s", call->args.op->name, name);
	return api_read_time(call, name, arg->text, ret);
}

enum err handle_backfill(struct api_call *call, struct api *api)
{
	struct command c = { .kind = CMD_BACKFILL };
	enum err e = read_required_time(call, "from", &c.from);
	if (!e)
		e = read_required_time(call, "to", &c.to);
	if (!e && c.from.us > c.to.us)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "--from is after --to");
	return e ? e
		 : send_for_schedule(call, api, c,
				     "nothing was run (a schedule that is paused or follows another cannot "
				     "be backfilled)");
}
