#include "api/handlers/schedules.h"

#include "api/api.h"
#include "api/grants.h"
#include "api/json_out.h"
#include "api/schedule_put.h"
#include "cli/remote.h"
#include "cli/table.h"

/* --- looking --- */

enum err op_ls(struct op_call *call)
{
	static const struct {
		const char *kind, *row;
	} kinds[] = { { "schedules", "list-schedules" },
		      { "agents", "list-agents" },
		      { "runs", "runs" },
		      { "problems", "list-problems" } };
	const struct arg *kind = op_arg(call, "kind");
	unsigned k = 0;
	while (kind->given && k < ARRAY_LEN(kinds) && !str_eq(kind->text, str_of(kinds[k].kind)))
		k++;
	if (k == ARRAY_LEN(kinds))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' cannot be listed; allowed are schedules, agents, runs and problems",
			       STR_SHORT(kind->text));
	const struct op *row = op_row(kinds[k].row);
	struct op_call sub = { .op = row };
	for (const struct op_param *p = call->op->param; p->name; p++)
		if (strcmp(p->name, "kind") != 0 && op_arg(call, p->name)->given && !op_arg_if(&sub, p->name))
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "ls %s has no option --%s",
				       kinds[k].kind, p->name);
	return remote_row(call, row->name, NULL, (struct str){ 0 });
}

/* r7 is a run and 1 a problem, if there is such a one; everything else, and what is left, is a schedule, or
 * else an agent. */
enum err op_show(struct op_call *call)
{
	const struct arg *name = op_arg(call, "name");
	uint64_t number;
	enum err e = E_NOTFOUND;
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "show needs a schedule, an agent, a run or a problem");
	bool run = name->text.p[0] == 'r' && str_number(str_from(name->text, 1), INT64_MAX, &number);
	bool problem = str_number(name->text, INT64_MAX, &number);
	if (run)
		e = remote_row(call, "get-run", "run", name->text);
	else if (problem)
		e = remote_row(call, "get-problem", "problem", name->text);
	if (e != E_NOTFOUND)
		return e;
	struct why first = *call->why;
	e = remote_row(call, "get-schedule", "schedule", name->text);
	if (e != E_NOTFOUND)
		return e;
	if (!run && !problem)
		first = *call->why;
	e = remote_row(call, "get-agent", "agent", name->text);
	if (e == E_NOTFOUND)
		*call->why = first;
	return e;
}

enum err handle_schedules(struct op_call *call, struct api *api)
{
	const struct arg *limit = op_arg(call, "limit"), *after = op_arg(call, "after");
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

/* What somebody wrote about its pause, or what it lacks. */
static const char *remark(struct op_call *call, const struct val *s)
{
	const char *note = val_line(call->arena, s, "note");
	return note ? note : val_text(call->arena, s, "blocked");
}

void show_schedules(struct op_call *call, const struct val *v)
{
	static const char *const heading[] = { "SCHEDULE", "STATE", "NEXT", "NOTE" };
	const struct val *list = val_get(v, STR("schedules"));
	bool notes = false;
	for (unsigned i = 0; list && i < list->list.n; i++)
		notes |= remark(call, &list->list.item[i]) != NULL;
	struct table t = table_new(call->arena, notes ? 4 : 3, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		const char *note = remark(call, s);
		table_row(&t, (const char *[]){
				      val_text(call->arena, s, "id"), val_text(call->arena, s, "state"),
				      op_time(call, val_text(call->arena, s, "next")), note ? note : "" });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else if (op_arg(call, "after")->given)
		fprintf(call->out, "No schedules after '%.*s'.\n", STR_SHORT(op_arg(call, "after")->text));
	else
		fputs("No schedules. `rota add` makes one.\n", call->out);
	if (val_get(v, STR("after")))
		fprintf(call->out, "More: --after %s\n", val_text(call->arena, v, "after"));
}

/* Whoever names an agent does not mean a schedule that begins so. */
static enum err check_no_agent(struct op_call *call, struct api *api, struct str name)
{
	struct read_agent agent;
	enum err e = read_agent(api_reader(api), name, call->arena, &agent, call->why);
	if (!e && agent.text.p)
		return why_set(call->why, E_NOTFOUND, WHY_NOWHERE,
			       "'%.*s' is an agent; there is no schedule of that name", STR_SHORT(name));
	return e;
}

enum err handle_schedule(struct op_call *call, struct api *api)
{
	struct str name = op_arg(call, "schedule")->text;
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

void print_note(struct op_call *call, const struct val *v)
{
	const char *note = val_text(call->arena, v, "note");
	if (!note)
		return;
	fputs("  note: ", call->out);
	print_safe(call->out, str_of(note));
	fputc('\n', call->out);
}

void show_schedule(struct op_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("document"));
	const char *next = op_time(call, val_text(call->arena, v, "next"));
	const char *until = op_time(call, val_text(call->arena, v, "paused_until"));
	const struct val *all = val_get(v, STR("paused_all"));
	fprintf(call->out, "%s: %s%s%s%s\n", val_text(call->arena, v, "id"),
		val_text(call->arena, v, "state"), until ? " until " : "", until ? until : "",
		all && all->boolean ? "; everything is paused" : "");
	print_note(call, v);
	if (val_get(v, STR("blocked")))
		fprintf(call->out, "  blocked: %s\n", val_text(call->arena, v, "blocked"));
	fprintf(call->out, "  next: %s\n", next ? next : "-");
	const struct val *avoided = val_get(v, STR("model_calls_avoided"));
	if (avoided && avoided->integer)
		fprintf(call->out, "  model calls avoided: %lld\n", (long long)avoided->integer);
	if (val_get(v, STR("source"))) {
		fputs("  from: ", call->out);
		print_safe(call->out, val_get(v, STR("source"))->str);
		fprintf(call->out, ", line %s\n", val_text(call->arena, v, "line"));
	}
	for (unsigned i = 0; d && d->kind == VAL_MAP && i < d->map.n; i++) {
		struct buf text = { 0 };
		if (str_eq(d->map.pair[i].key, STR("id")))
			continue;
		json_write(&text, &d->map.pair[i].value);
		fprintf(call->out, "  %.*s: ", STR_ARG(d->map.pair[i].key));
		print_safe(call->out, buf_str(&text));
		fputc('\n', call->out);
		buf_free(&text);
	}
}

/* --- doing --- */

/* An order that is simply done or not: what is said if not, and the schedule it is for, if for one. */
struct simple {
	const char *what;
	struct str id;
	bool counts; /* how many there were is part of the answer */
};

static struct simple *simple(struct op_call *call, const char *what, struct str id)
{
	struct simple *s = arena_alloc(call->arena, sizeof *s);
	if (s)
		*s = (struct simple){ .what = what, .id = id };
	return s;
}

/* The answer to what was simply done. */
static void simply_done(struct op_call *call, struct api *api, const struct reply *r)
{
	const struct simple *s = call->ctx;
	enum err e = OK;
	(void)api;
	if (r->code != REPLY_OK) {
		e = api_refusal(call, r, s->what);
	} else {
		buf_addf(&call->answer, "{\"done\":\"%s\"", call->op->name);
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

void show_done(struct op_call *call, const struct val *v)
{
	static const struct {
		const char *done, *text;
	} words[] = {
		{ "rm", "removed" },
		{ "run", "started" },
		{ "clock", "the clock is believed" },
	};
	const char *done = val_text(call->arena, v, "done"), *run = val_text(call->arena, v, "run");
	const char *schedule = val_text(call->arena, v, "schedule");
	if (!schedule)
		schedule = val_text(call->arena, v, "agent");
	for (unsigned i = 0; done && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i].done, done)) {
			done = words[i].text;
			break;
		}
	if (run) /* for scripts: the run alone after the colon */
		fprintf(call->out, "%s: %s\n", done, run);
	else /* a beginning of its name may have been all that was given */
		fprintf(call->out, "%s%s%s\n", schedule ? schedule : "", schedule ? ": " : "", done);
}

static enum err order_for(struct op_call *call, struct api *api, struct command c, const char *what)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
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

enum err handle_rm(struct op_call *call, struct api *api)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	if (!e && call->within)
		e = grant_owns(call, api, &s);
	if (!e)
		e = put_check_source(call, "schedule", s.id, &s.source, STR(""));
	return e ? e
		 : order_for(call, api,
			     (struct command){ .kind = CMD_DROP, .kill = op_arg(call, "kill")->given },
			     "the schedule was not removed");
}

enum err handle_run(struct op_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_RUN }, "it was not run");
}

enum err handle_clock(struct op_call *call, struct api *api)
{
	call->ctx = simple(call, "the clock was not accepted", (struct str){ 0 });
	return call->ctx ? api_order(call, api, &(struct command){ .kind = CMD_CLOCK }, simply_done)
			 : E_NOMEM;
}

static enum err time_of(struct op_call *call, const char *name, struct wall *ret)
{
	const struct arg *arg = op_arg(call, name);
	if (!arg->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs --%s", call->op->name, name);
	return api_time(call, name, arg->text, ret);
}

enum err handle_backfill(struct op_call *call, struct api *api)
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

void show_filled(struct op_call *call, const struct val *v)
{
	const struct val *runs = val_get(v, STR("runs")), *had = val_get(v, STR("left_as_they_are")),
			 *more = val_get(v, STR("more"));
	const char *id = val_text(call->arena, v, "schedule");
	long long n = runs ? (long long)runs->integer : 0, old = had ? (long long)had->integer : 0;
	if (n)
		fprintf(call->out, "%s: %lld run%s made; `rota runs %s` shows %s\n", id, n, n == 1 ? "" : "s",
			id, n == 1 ? "it" : "them");
	else if (old)
		fprintf(call->out, "%s: nothing was left to run: what was due then has run, or runs\n", id);
	else
		fprintf(call->out, "%s: nothing was due\n", id);
	if (more && more->boolean)
		fputs("There is more than may be made at a time: ask again for the rest.\n", call->out);
}
