#include "api/handlers/handlers.h"

#include "api/grants.h"
#include "api/json_out.h"
#include "api/schedule_change.h"

/* --- looking --- */

enum err handle_schedules(struct api_call *call, struct api *api)
{
	const struct arg *limit = op_arg(&call->args, "limit"), *after = op_arg(&call->args, "after");
	struct read_scheds page;
	struct read_hold all;
	enum err e = read_scheds(api_reader(api), after->text, limit->given ? limit->count : 100, call->arena,
				 &page, call->why);
	if (!e)
		e = api_paused_all(call, api, &all);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"schedules\":["));
	for (unsigned i = 0; i < page.n; i++) {
		struct str blocked;
		e = put_blocked(call, api, &page.item[i], &blocked);
		if (e)
			return e;
		buf_add(&call->answer, i ? STR(",") : STR(""));
		json_write_schedule(&call->answer, &page.item[i], &all, blocked, NULL);
	}
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		json_add_str(&call->answer, "after", page.item[page.n - 1].id);
	buf_addc(&call->answer, '}');
	return OK;
}

/* Whoever names an agent does not mean a schedule that begins so. */
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
	enum err e = api_sched(call, api, name, &s);
	if (!e && !str_eq(s.id, name))
		e = check_no_agent(call, api, name);
	if (!e)
		e = api_paused_all(call, api, &all);
	struct str blocked = { 0 };
	if (!e)
		e = put_blocked(call, api, &s, &blocked);
	struct read_avoided avoided = { 0 };
	if (!e)
		e = read_avoided(api_reader(api), s.row.sid, WALL_NEVER, &avoided, call->why);
	if (e)
		return e;
	json_write_schedule(&call->answer, &s, &all, blocked, &avoided);
	return OK;
}

/* --- doing --- */

/* An order that is simply done or not: what is said if not, and the schedule it is for, if for one. */
struct simple {
	const char *what;
	struct str id;
	bool counts; /* how many there were is part of the answer */
};

static struct simple *simple(struct api_call *call, const char *what, struct str id)
{
	struct simple *s = arena_alloc(call->arena, sizeof *s);
	if (s)
		*s = (struct simple){ .what = what, .id = id };
	return s;
}

/* The answer to what was simply done. */
static void simply_done(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct simple *s = call->ctx;
	enum err e = OK;
	(void)api;
	if (r->code != REPLY_OK) {
		e = api_refusal(call, r, s->what);
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

static enum err order_for(struct api_call *call, struct api *api, struct command c, const char *what)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	struct simple *order = simple(call, what, s.id);
	if (!order)
		return E_NOMEM;
	c.sid = s.row.sid;
	order->counts = c.kind == CMD_BACKFILL;
	call->ctx = order;
	return api_order(call, api, &c, simply_done);
}

enum err handle_rm(struct api_call *call, struct api *api)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (!e && call->within)
		e = grant_owns(call, api, &s);
	if (!e)
		e = put_check_source(call, "schedule", s.id, &s.source, STR(""));
	return e ? e
		 : order_for(call, api,
			     (struct command){ .kind = CMD_DROP, .kill = op_arg(&call->args, "kill")->given },
			     "the schedule was not removed");
}

enum err handle_run(struct api_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_RUN }, "it was not run");
}

enum err handle_clock(struct api_call *call, struct api *api)
{
	call->ctx = simple(call, "the clock was not accepted", (struct str){ 0 });
	return call->ctx ? api_order(call, api, &(struct command){ .kind = CMD_CLOCK }, simply_done)
			 : E_NOMEM;
}

static enum err time_of(struct api_call *call, const char *name, struct wall *ret)
{
	const struct arg *arg = op_arg(&call->args, name);
	if (!arg->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs --%s", call->args.op->name, name);
	return api_time(call, name, arg->text, ret);
}

enum err handle_backfill(struct api_call *call, struct api *api)
{
	struct command c = { .kind = CMD_BACKFILL };
	enum err e = time_of(call, "from", &c.from);
	if (!e)
		e = time_of(call, "to", &c.to);
	if (!e && c.from.us > c.to.us)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "--from lies after --to");
	return e ? e
		 : order_for(call, api, c,
			     "nothing was run (what is paused, or follows another, cannot be backfilled)");
}
