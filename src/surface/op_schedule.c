#include "surface/op_schedule.h"

#include "core/when/dur.h"
#include "core/when/iso.h"
#include "surface/api.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- add
 * -------------------------------------------------------------------------------------------------------- */

/* A command keeps the directory and the PATH it was given in: what works here works then. */
static enum err write_command(struct op_call *call, struct buf *out)
{
	const struct arg *words = op_arg(call, "command");
	char *cwd = getcwd(NULL, 0);
	const char *path = getenv("PATH");
	buf_add(out, STR("{\"type\":\"command\",\"command\":["));
	for (unsigned i = 0; i < words->count; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, words->word[i]);
	}
	buf_add(out, STR("]"));
	if (cwd)
		tell_str(out, "cwd", str_of(cwd));
	if (path) {
		buf_add(out, STR(",\"env\":{\"PATH\":"));
		json_write_str(out, str_of(path));
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
	free(cwd);
	return OK;
}

enum err op_add(struct op_call *call)
{
	const struct arg *expression = op_arg(call, "expression"), *words = op_arg(call, "command");
	const struct arg *id = op_arg(call, "id");
	char derived[DOC_ID_MAX + 1];
	struct buf body = { 0 };
	struct str text;
	struct val answer;
	if (!expression->given || !words->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "add needs an expression and a command: %s",
			       call->op->example);
	doc_derive_id(words->word, words->count, derived);
	buf_add(&body, STR("{\"update\":"));
	buf_add(&body, op_arg(call, "update")->given ? STR("true") : STR("false"));
	buf_addf(&body, ",\"derived\":%s,\"document\":{\"id\":", id->given ? "false" : "true");
	json_write_str(&body, id->given ? id->text : str_of(derived));
	tell_str(&body, "expression", expression->text);
	if (op_arg(call, "tz")->given)
		tell_str(&body, "timezone", op_arg(call, "tz")->text);
	if (op_arg(call, "timeout")->given)
		tell_str(&body, "timeout", op_arg(call, "timeout")->text);
	buf_add(&body, STR(",\"action\":"));
	enum err e = write_command(call, &body);
	buf_add(&body, STR("}}"));
	if (!e)
		e = body.failed ? E_NOMEM : remote_ask(call, buf_str(&body), &text, &answer);
	buf_free(&body);
	if (!e)
		remote_show(call, text, &answer);
	return e;
}

/* What must be kept until the engine has answered. */
struct adding {
	struct schedule_doc doc;
	struct buf text;
	struct read_sched old;
	bool update;
};

static void write_added(struct op_call *call, struct api *api, const struct adding *a, const char *what)
{
	struct buf *out = &call->answer;
	struct when_walk walk = when_walk(&a->doc.when, api_now());
	struct wall nominal, due;
	(void)api;
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, a->doc.id);
	buf_addf(out, ",\"result\":\"%s\"", what);
	tell_str(out, "timezone", a->doc.when.zone_name);
	tell_str(out, "directory", a->doc.action.cwd.n ? a->doc.action.cwd : STR("/"));
	buf_addf(out,
		 ",\"timeout\":%lld,\"missed_schedule_policy\":\"%s\",\"overlap\":\"%s\",\"retries\":%lld",
		 (long long)a->doc.timeout, missed_words[a->doc.missed], overlap_words[a->doc.overlap],
		 (long long)a->doc.retry.count);
	buf_add(out, STR(",\"notified\":[],\"next\":["));
	for (unsigned i = 0; i < 3 && !a->doc.after.schedule.n && when_walk_next(&walk, &nominal, &due) == OK;
	     i++) {
		buf_add(out, i ? STR(",") : STR(""));
		tell_time(out, due);
	}
	buf_add(out, STR("]}"));
	call->status = a->old.id.n ? 200 : 201;
}

static void added(struct op_call *call, struct api *api, const struct reply *r)
{
	struct adding *a = call->ctx;
	enum err e = OK;
	if (r->code != REPLY_OK)
		e = api_refusal(call, r,
				a->old.id.n ? "the schedule was not changed" : "the schedule was not added");
	else
		write_added(call, api, a, a->old.id.n ? "changed" : "added");
	buf_free(&a->text);
	api_finish(call, e);
}

static enum err find_leader(struct op_call *call, struct api *api, const struct schedule_doc *doc,
			    uint64_t *ret)
{
	struct read_sched leader;
	*ret = 0;
	if (!doc->after.schedule.n)
		return OK;
	enum err e = api_sched(call, api, doc->after.schedule, &leader);
	if (!e)
		*ret = leader.row.sid;
	return e;
}

static enum err put(struct op_call *call, struct api *api, struct adding *a)
{
	struct doc_names names = names_for_documents(daemon_names(api_daemon(api)));
	struct command c = { .kind = CMD_PUT,
			     .sid = a->old.id.n ? a->old.row.sid : 0,
			     .enabled = a->doc.enabled,
			     .max_runs = (uint32_t)a->doc.max_runs,
			     .id = a->doc.id,
			     .document = buf_str(&a->text) };
	enum err e = find_leader(call, api, &a->doc, &c.after);
	if (!e)
		e = doc_rules(&a->doc, &names, &c.rules);
	call->ctx = a;
	return e ? e : api_order(call, api, &c, added);
}

/* An id that was made up here and is taken by something else gets a number. */
static enum err settle_id(struct op_call *call, struct api *api, struct adding *a, bool derived)
{
	struct str base = a->doc.id;
	struct read_match match;
	for (unsigned n = 2;; n++) {
		enum err e = read_sched_named(api_reader(api), a->doc.id, call->arena, &match, call->why);
		bool there = e == OK && match.n == 1 && str_eq(match.sched.id, a->doc.id);
		if (e && e != E_NOTFOUND)
			return e;
		if (!there)
			return OK;
		a->old = match.sched;
		if (str_eq(a->old.document, buf_str(&a->text)) || a->update || !derived)
			return OK;
		const char *next =
			arena_printf(call->arena, "%.*s-%u", (int)(base.n > 120 ? 120 : base.n), base.p, n);
		if (!next)
			return E_NOMEM;
		a->old = (struct read_sched){ 0 };
		a->doc.id = str_of(next);
		a->text.n = 0;
		doc_write(&a->doc, &a->text);
	}
}

enum err handle_add(struct op_call *call, struct api *api)
{
	const struct val *document = val_get(&call->body, STR("document")),
			 *update = val_get(&call->body, STR("update"));
	const struct val *derived = val_get(&call->body, STR("derived"));
	struct adding *a = arena_alloc(call->arena, sizeof *a);
	struct doc_env env = api_doc_env(api);
	struct doc_list list;
	if (!a)
		return E_NOMEM;
	if (!document)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "add needs a document");
	*a = (struct adding){ .update = update && update->kind == VAL_BOOL && update->boolean };
	struct val documents = { .kind = VAL_LIST, .list = { (struct val *)document, 1 } };
	env.fresh = true;
	enum err e = doc_read(call->source, &documents, &env, call->arena, &list, call->why);
	if (e)
		return e;
	if (list.n != 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "one schedule at a time is added; use apply for more");
	a->doc = list.doc[0];
	doc_write(&a->doc, &a->text);
	e = settle_id(call, api, a, derived && derived->kind == VAL_BOOL && derived->boolean);
	if (!e && a->old.id.n && str_eq(a->old.document, buf_str(&a->text))) {
		write_added(call, api, a, "unchanged");
		buf_free(&a->text);
		return OK;
	}
	if (!e && a->old.id.n && !a->update)
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "there is a schedule '%.*s' already, and it is another; --update changes it",
			    STR_SHORT(a->doc.id));
	if (!e)
		e = put(call, api, a);
	if (e)
		buf_free(&a->text);
	return e;
}

static const char *shown_time(struct op_call *call, const char *iso)
{
	return time_text(call->arena, iso, zoneinfo_source(call->zones), zoneinfo_local(call->zones));
}

void show_added(struct op_call *call, const struct val *v)
{
	const struct val *next = val_get(v, STR("next"));
	fprintf(call->out, "%s: ", val_text(call->arena, v, "id"));
	fprintf(call->out, "%s\n", val_text(call->arena, v, "result"));
	fprintf(call->out, "  zone        %s\n", val_text(call->arena, v, "timezone"));
	fputs("  directory   ", call->out);
	print_safe(call->out, str_of(val_text(call->arena, v, "directory")));
	fprintf(call->out, "\n  timeout     %s s; missed: %s; overlap: %s; 1 try + %s retries\n",
		val_text(call->arena, v, "timeout"), val_text(call->arena, v, "missed_schedule_policy"),
		val_text(call->arena, v, "overlap"), val_text(call->arena, v, "retries"));
	fputs("  on failure  nobody is told; `rota` shows it\n", call->out);
	for (unsigned i = 0; next && next->kind == VAL_LIST && i < next->list.n; i++)
		fprintf(call->out, "  %s %s\n", i ? "           " : "next       ",
			shown_time(call, arena_dup(call->arena, next->list.item[i].str)));
}

/* --- looking
 * ---------------------------------------------------------------------------------------------------- */

enum err handle_ls(struct op_call *call, struct api *api)
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
					    shown_time(call, val_text(call->arena, s, "next")) });
	}
	if (t.n > 1)
		table_print(&t, call->out);
	else
		fputs("No schedules. `rota add` makes one.\n", call->out);
	if (val_get(v, STR("after")))
		fprintf(call->out, "More: --after %s\n", val_text(call->arena, v, "after"));
}

enum err handle_show(struct op_call *call, struct api *api)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	if (!e)
		tell_sched(&call->answer, &s, true);
	return e;
}

void show_schedule(struct op_call *call, const struct val *v)
{
	struct buf document = { 0 };
	const struct val *d = val_get(v, STR("document"));
	fprintf(call->out, "%s: %s\n", val_text(call->arena, v, "id"), val_text(call->arena, v, "state"));
	const char *next = shown_time(call, val_text(call->arena, v, "next"));
	fprintf(call->out, "  next      %s\n", next ? next : "-");
	if (d) {
		json_write(&document, d);
		fputs("  document  ", call->out);
		print_safe(call->out, buf_str(&document));
		fputc('\n', call->out);
	}
	buf_free(&document);
}

/* --- doing
 * ------------------------------------------------------------------------------------------------------- */

/* The answer to what was simply done. */
static void simply_done(struct op_call *call, struct api *api, const struct reply *r)
{
	enum err e = OK;
	(void)api;
	if (r->code != REPLY_OK) {
		e = api_refusal(call, r, (const char *)call->ctx);
	} else {
		buf_addf(&call->answer, "{\"done\":\"%s\"", call->op->name);
		if (r->run)
			buf_addf(&call->answer, ",\"run\":\"r%llu\"", (unsigned long long)r->run);
		buf_addc(&call->answer, '}');
	}
	api_finish(call, e);
}

void show_done(struct op_call *call, const struct val *v)
{
	const char *run = val_text(call->arena, v, "run");
	fprintf(call->out, "%s%s%s\n", val_text(call->arena, v, "done"), run ? ": " : "", run ? run : "");
}

static enum err order_for(struct op_call *call, struct api *api, struct command c, const char *what)
{
	struct read_sched s;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	if (e)
		return e;
	c.sid = s.row.sid;
	call->ctx = (void *)what;
	return api_order(call, api, &c, simply_done);
}

enum err handle_rm(struct op_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_DROP, .kill = op_arg(call, "kill")->given },
			 "the schedule was not removed");
}

/* "2h" from now; not given: for ever. */
static enum err until_of(struct op_call *call, struct wall *ret)
{
	const struct arg *how_long = op_arg(call, "for");
	int64_t seconds;
	*ret = WALL_NEVER;
	if (!how_long->given)
		return OK;
	enum err e = dur_parse(how_long->text, &seconds, call->why);
	if (!e)
		ret->us = api_now().us + seconds * USEC;
	return e;
}

enum err handle_pause(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_PAUSE };
	enum err e = until_of(call, &c.to);
	if (e)
		return e;
	if (op_arg(call, "schedule")->given)
		return order_for(call, api, c, "it was not paused");
	call->ctx = (void *)"nothing was paused";
	return api_order(call, api, &c, simply_done);
}

enum err handle_resume(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_RESUME };
	if (op_arg(call, "schedule")->given)
		return order_for(call, api, c, "it was not resumed");
	call->ctx = (void *)"nothing was resumed";
	return api_order(call, api, &c, simply_done);
}

enum err handle_run(struct op_call *call, struct api *api)
{
	return order_for(call, api, (struct command){ .kind = CMD_RUN }, "it was not run");
}

static enum err time_of(struct op_call *call, const char *name, struct wall *ret)
{
	const struct arg *arg = op_arg(call, name);
	struct iso t;
	struct str zone = zoneinfo_local(call->zones);
	const struct zone_source *zones = zoneinfo_source(call->zones);
	enum err e =
		arg->given ? iso_parse(arg->text, &t, call->why)
			   : why_set(call->why, E_INPUT, WHY_NOWHERE, "%s needs --%s", call->op->name, name);
	if (!e)
		*ret = wall_of(iso_utc(&t, zones->find(zones->self, zone), NULL));
	return e;
}

enum err handle_backfill(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_BACKFILL };
	enum err e = time_of(call, "from", &c.from);
	if (!e)
		e = time_of(call, "to", &c.to);
	return e ? e : order_for(call, api, c, "nothing was run");
}

/* --- run, and wait
 * ------------------------------------------------------------------------------------------------ */

static bool is_over(const struct val *run)
{
	const struct val *state = val_get(run, STR("state"));
	return state && (str_eq(state->str, STR("finished")) || str_eq(state->str, STR("skipped")) ||
			 str_eq(state->str, STR("missed")));
}

static enum err wait_for(struct op_call *call, const char *run, struct str *text, struct val *ret)
{
	const char *target = arena_printf(call->arena, "/api/v1/runs/%s", run);
	for (unsigned ms = 20;; ms = ms < 1000 ? ms * 2 : 1000) {
		enum err e =
			target ? remote_call(call, "GET", target, (struct str){ 0 }, text, ret) : E_NOMEM;
		if (e || is_over(ret))
			return e;
		nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
	}
}

enum err op_run_now(struct op_call *call)
{
	struct str text;
	struct val answer, run;
	enum err e = remote_ask(call, STR("{}"), &text, &answer);
	bool waits = op_arg(call, "wait")->given || op_arg(call, "watch")->given;
	if (e || !waits) {
		if (!e)
			remote_show(call, text, &answer);
		return e;
	}
	e = wait_for(call, val_text(call->arena, &answer, "run"), &text, &run);
	if (e)
		return e;
	const char *outcome = val_text(call->arena, &run, "outcome"),
		   *reason = val_text(call->arena, &run, "reason");
	if (call->json)
		fwrite(text.p, 1, text.n, call->out);
	else
		fprintf(call->out, "%s: %s%s%s\n", val_text(call->arena, &run, "id"),
			outcome ? outcome : "not run", reason ? "/" : "", reason ? reason : "");
	bool good = outcome && (!strcmp(outcome, "done") || !strcmp(outcome, "no_work"));
	return good ? OK : why_set(call->why, E_CONFLICT, WHY_NOWHERE, "the run did not succeed");
}
