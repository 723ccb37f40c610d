#include "surface/op_schedule.h"

#include "core/when/dur.h"
#include "surface/api.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

/* --- looking
 * ---------------------------------------------------------------------------------------------------- */

enum err op_ls(struct op_call *call)
{
	static const struct {
		const char *kind, *row;
	} kinds[] = { { "schedules", "list-schedules" },
		      { "runs", "runs" },
		      { "problems", "list-problems" } };
	const struct arg *kind = op_arg(call, "kind");
	unsigned k = 0;
	while (kind->given && k < ARRAY_LEN(kinds) && !str_eq(kind->text, str_of(kinds[k].kind)))
		k++;
	if (k == ARRAY_LEN(kinds))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' cannot be listed; allowed are schedules, runs and problems",
			       STR_SHORT(kind->text));
	const struct op *row = op_row(kinds[k].row);
	struct op_call sub = { .op = row };
	for (const struct op_param *p = call->op->param; p->name; p++)
		if (strcmp(p->name, "kind") && op_arg(call, p->name)->given && !op_arg_if(&sub, p->name))
			return why_set(call->why, E_INPUT, WHY_NOWHERE, "ls %s has no option --%s",
				       kinds[k].kind, p->name);
	return remote_row(call, row->name, NULL, (struct str){ 0 });
}

/* r7 is a run and 1 a problem, if there is such a one; everything else, and what is left, is a schedule. */
enum err op_show(struct op_call *call)
{
	const struct arg *name = op_arg(call, "name");
	uint64_t number;
	enum err e = E_NOTFOUND;
	if (!name->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "show needs a schedule, a run or a problem");
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
	if (e == E_NOTFOUND && (run || problem))
		*call->why = first;
	return e;
}

enum err handle_schedules(struct op_call *call, struct api *api)
{
	const struct arg *limit = op_arg(call, "limit"), *after = op_arg(call, "after");
	struct read_scheds page;
	enum err e = read_scheds(api_reader(api), after->text, limit->given ? limit->count : 100, call->arena,
				 &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"schedules\":["));
	for (unsigned i = 0; i < page.n; i++) {
		buf_add(&call->answer, i ? STR(",") : STR(""));
		tell_sched(&call->answer, &page.item[i], false);
	}
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		tell_str(&call->answer, "after", page.item[page.n - 1].id);
	buf_addc(&call->answer, '}');
	return OK;
}

void show_schedules(struct op_call *call, const struct val *v)
{
	static const char *const heading[] = { "SCHEDULE", "STATE", "NEXT" };
	const struct val *list = val_get(v, STR("schedules"));
	struct table t = table_new(call->arena, 3, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		table_row(&t,
			  (const char *[]){ val_text(call->arena, s, "id"), val_text(call->arena, s, "state"),
					    op_time(call, val_text(call->arena, s, "next")) });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else
		fputs("No schedules. `rota add` makes one.\n", call->out);
	if (val_get(v, STR("after")))
		fprintf(call->out, "More: --after %s\n", val_text(call->arena, v, "after"));
}

enum err handle_schedule(struct op_call *call, struct api *api)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	if (!e)
		tell_sched(&call->answer, &s, true);
	return e;
}

void show_schedule(struct op_call *call, const struct val *v)
{
	const struct val *d = val_get(v, STR("document"));
	const char *next = op_time(call, val_text(call->arena, v, "next"));
	const char *until = op_time(call, val_text(call->arena, v, "paused_until"));
	fprintf(call->out, "%s: %s%s%s\n  next: %s\n", val_text(call->arena, v, "id"),
		val_text(call->arena, v, "state"), until ? " until " : "", until ? until : "",
		next ? next : "-");
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

/* --- doing
 * ------------------------------------------------------------------------------------------------------- */

/* An order that is simply done or not: what is said if not, and the schedule it is for, if for one. */
struct simple {
	const char *what;
	struct str id;
};

static struct simple *simple(struct op_call *call, const char *what, struct str id)
{
	struct simple *s = arena_alloc(call->arena, sizeof *s);
	if (s)
		*s = (struct simple){ what, id };
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
			tell_str(&call->answer, "schedule", s->id);
		if (r->run)
			buf_addf(&call->answer, ",\"run\":\"r%llu\"", (unsigned long long)r->run);
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
		{ "pause", "paused" },
		{ "resume", "resumed" },
		{ "pause-many", "paused" },
		{ "resume-many", "resumed" },
		{ "run", "started" },
		{ "backfill", "recorded; `rota runs` shows them" },
		{ "stop", "stopped" },
		{ "clock", "the clock is believed" },
	};
	const char *done = val_text(call->arena, v, "done"), *run = val_text(call->arena, v, "run");
	const char *schedule = val_text(call->arena, v, "schedule");
	const struct val *list = val_get(v, STR("schedules"));
	for (unsigned i = 0; done && i < ARRAY_LEN(words); i++)
		if (!strcmp(words[i].done, done)) {
			done = words[i].text;
			break;
		}
	for (unsigned i = 0; list && i < list->list.n; i++)
		fprintf(call->out, "%s: %.*s\n", done, STR_ARG(list->list.item[i].str));
	if (list && !list->list.n)
		fputs("No schedule has that tag.\n", call->out);
	if (list)
		return;
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
	c.sid = s.row.sid;
	call->ctx = simple(call, what, s.id);
	return call->ctx ? api_order(call, api, &c, simply_done) : E_NOMEM;
}

enum err handle_rm(struct op_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_DROP, .kill = op_arg(call, "kill")->given },
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

/* --- pause and resume
 * ------------------------------------------------------------------------------------------- */

/* One by its own route; all, or those of a tag, by another. */
enum err op_pause(struct op_call *call)
{
	unsigned said =
		op_arg(call, "schedule")->given + op_arg(call, "tag")->given + op_arg(call, "all")->given;
	bool pauses = !strcmp(call->op->name, "pause");
	if (said != 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "%s needs one of SCHEDULE, --tag TAG and --all", call->op->name);
	if (op_arg(call, "schedule")->given)
		return remote_run(call);
	return remote_row(call, pauses ? "pause-many" : "resume-many", NULL, (struct str){ 0 });
}

/* "2h" from now; not given: for ever. */
static enum err until_of(struct op_call *call, struct wall *ret)
{
	const struct arg *how_long = op_arg_if(call, "for");
	int64_t seconds;
	*ret = WALL_NEVER;
	if (!how_long || !how_long->given)
		return OK;
	if (dur_parse(how_long->text, &seconds, NULL))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "--for '%.*s' is not a duration; write 90s, 10m, 2h, 3d or 1w",
			       STR_SHORT(how_long->text));
	ret->us = api_now().us + seconds * USEC;
	return OK;
}

enum err handle_pause(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_PAUSE };
	struct read_sched s;
	enum err e = until_of(call, &c.to);
	if (!e)
		e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	/* The engine takes a second pause for the first: whoever wants another length must know. */
	if (!e && s.row.flags & SCHED_PAUSED && s.row.paused_until.us != c.to.us)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "'%.*s' is paused already; resume it first to pause it for another time",
			    STR_SHORT(s.id));
	return e ? e : order_for(call, api, c, "it was not paused");
}

enum err handle_resume(struct op_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_RESUME }, "it was not resumed");
}

/* All schedules with a tag, page by page: tags stand in documents only. */
struct tagged {
	struct api *api;
	struct command command;
	struct str tag, last;
	struct read_scheds page;
	unsigned at;
	bool some;
};

static bool has_tag(struct op_call *call, const struct read_sched *s, struct str tag)
{
	struct val doc;
	const struct val *tags = NULL;
	if (s->document.n && json_read(s->document, call->arena, &doc, NULL) == OK)
		tags = val_get(&doc, STR("tags"));
	for (unsigned i = 0; tags && tags->kind == VAL_LIST && i < tags->list.n; i++)
		if (str_eq(tags->list.item[i].str, tag))
			return true;
	return false;
}

static void tagged_done(struct op_call *call, enum err e)
{
	buf_add(&call->answer, STR("]}"));
	api_finish(call, e);
}

static void next_tagged(void *arg);

static void one_tagged(struct op_call *call, struct api *api, const struct reply *r)
{
	struct tagged *t = call->ctx;
	(void)api;
	if (r->code != REPLY_OK && r->code != REPLY_NOT_FOUND) {
		tagged_done(call, api_refusal(call, r, "not all were reached"));
		return;
	}
	if (r->code == REPLY_OK) {
		buf_add(&call->answer, t->some ? STR(",") : STR(""));
		json_write_str(&call->answer, t->page.item[t->at].id);
		t->some = true;
	}
	t->at++;
	next_tagged(call);
}

/* A page at a time, so that others are answered in between. */
static void next_tagged(void *arg)
{
	struct op_call *call = arg;
	struct tagged *t = call->ctx;
	while (t->at < t->page.n && !has_tag(call, &t->page.item[t->at], t->tag))
		t->at++;
	enum err e = OK;
	if (t->at < t->page.n) {
		t->command.sid = t->page.item[t->at].row.sid;
		e = api_order(call, t->api, &t->command, one_tagged);
	} else if (t->last.p && !t->page.more) {
		tagged_done(call, OK);
		return;
	} else {
		t->last = t->page.n ? t->page.item[t->page.n - 1].id : STR("");
		t->at = 0;
		e = read_scheds(api_reader(t->api), t->last, 200, call->arena, &t->page, call->why);
		if (!e)
			e = api_post(t->api, next_tagged, call);
	}
	if (e)
		tagged_done(call, e);
}

static enum err order_many(struct op_call *call, struct api *api, struct command c, const char *what)
{
	const struct arg *tag = op_arg(call, "tag");
	if (!tag->given && !op_arg(call, "all")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "say which: a tag, or all");
	if (!tag->given) {
		call->ctx = simple(call, what, (struct str){ 0 });
		return call->ctx ? api_order(call, api, &c, simply_done) : E_NOMEM;
	}
	struct tagged *t = arena_alloc(call->arena, sizeof *t);
	if (!t)
		return E_NOMEM;
	*t = (struct tagged){ .api = api, .command = c, .tag = tag->text };
	call->ctx = t;
	buf_addf(&call->answer, "{\"done\":\"%s\",\"schedules\":[", call->op->name);
	enum err e = api_post(api, next_tagged, call);
	call->later = !e;
	return e;
}

enum err handle_pause_many(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_PAUSE };
	enum err e = until_of(call, &c.to);
	return e ? e : order_many(call, api, c, "nothing was paused");
}

enum err handle_resume_many(struct op_call *call, struct api *api)
{
	return order_many(call, api, (struct command){ .kind = CMD_RESUME }, "nothing was resumed");
}
