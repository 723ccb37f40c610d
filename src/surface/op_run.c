#include "surface/op_run.h"

#include "core/rule/why.h"
#include "core/when/iso.h"
#include "host/runfile.h"
#include "surface/api.h"
#include "surface/client.h"
#include "surface/events.h"
#include "surface/remote.h"
#include "surface/table.h"
#include "surface/tell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- status
 * ------------------------------------------------------------------------------------------------------ */

struct asked {
	struct api *api;
	struct op_call *call;
	struct engine_counts counts;
};

static void write_runs(struct op_call *call, struct api *api, const struct read_runs *page)
{
	for (unsigned i = 0; i < page->n; i++) {
		struct read_sched s = { 0 };
		struct why why;
		if (read_sched(api_reader(api), page->item[i].sid, call->arena, &s, &why))
			s.id = (struct str){ 0 };
		buf_add(&call->answer, i ? STR(",") : STR(""));
		tell_run(&call->answer, &page->item[i], s.id);
	}
}

static enum err write_status(struct op_call *call, struct api *api, const struct engine_counts *n)
{
	struct read_problems problems;
	struct read_runs open;
	struct read_filter filter = { .states = 1u << RUN_PENDING | 1u << RUN_CLAIMED | 1u << RUN_RETRYING,
				      .limit = 20 };
	enum err e = read_problems(api_reader(api), false, 0, 20, call->arena, &problems, call->why);
	if (!e)
		e = read_runs(api_reader(api), &filter, call->arena, &open, call->why);
	if (e)
		return e;
	buf_addf(&call->answer,
		 "{\"schedules\":%u,\"runs\":%u,\"waiting\":%u,\"queued\":%u,\"running\":%u,\"retrying\":%u,"
		 "\"slots_used\":%u"
		 ",\"clock_held\":%s,\"outdated\":%u,\"problems\":[",
		 n->schedules, n->runs, n->waiting, n->queued, n->running, n->retrying, n->slots_used,
		 n->clock_held ? "true" : "false", n->outdated);
	for (unsigned i = 0; i < problems.n; i++) {
		const struct problem_row *p = &problems.item[i];
		buf_addf(&call->answer, "%s{\"number\":%llu", i ? "," : "", (unsigned long long)p->number);
		tell_str(&call->answer, "text", p->text);
		buf_add(&call->answer, STR(",\"opened\":"));
		tell_time(&call->answer, p->opened);
		buf_addc(&call->answer, '}');
	}
	buf_add(&call->answer, STR("],\"open\":["));
	write_runs(call, api, &open);
	buf_add(&call->answer, STR("]}"));
	return OK;
}

static void counted(void *arg)
{
	struct asked a = *(struct asked *)arg;
	free(arg);
	api_finish(a.call, write_status(a.call, a.api, &a.counts));
}

/* On the daemon's thread: the engine tells how things stand. */
static void count(void *arg)
{
	struct asked *a = arg;
	a->counts = engine_counts(daemon_engine(api_daemon(a->api)));
	if (api_post(a->api, counted, a))
		free(a);
}

enum err handle_status(struct op_call *call, struct api *api)
{
	struct asked *a = malloc(sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct asked){ api, call, { 0 } };
	call->later = true;
	enum err e = daemon_call(api_daemon(api), count, a);
	if (e) {
		call->later = false;
		free(a);
	}
	return e;
}

static const char *shown_time(struct op_call *call, const char *iso)
{
	return time_text(call->arena, iso, zoneinfo_source(call->zones), zoneinfo_local(call->zones));
}

static void print_runs(struct op_call *call, const struct val *list)
{
	static const char *const heading[] = { "RUN", "SCHEDULE", "NOMINAL", "STATE", "OUTCOME", "ATTEMPT" };
	struct table t = table_new(call->arena, 6, heading);
	for (unsigned i = 0; list && list->kind == VAL_LIST && i < list->list.n; i++) {
		const struct val *r = &list->list.item[i];
		const char *outcome = val_text(call->arena, r, "outcome"),
			   *reason = val_text(call->arena, r, "reason");
		if (outcome && reason)
			outcome = arena_printf(call->arena, "%s/%s", outcome, reason);
		table_row(&t, (const char *[]){ val_text(call->arena, r, "id"),
						val_text(call->arena, r, "schedule"),
						shown_time(call, val_text(call->arena, r, "nominal")),
						val_text(call->arena, r, "state"), outcome ? outcome : reason,
						val_text(call->arena, r, "attempt") });
	}
	table_print(&t, call->out);
}

void show_status(struct op_call *call, const struct val *v)
{
	const struct val *problems = val_get(v, STR("problems")), *open = val_get(v, STR("open"));
	const struct val *held = val_get(v, STR("clock_held"));
	if (held && held->boolean)
		fputs("The clock ran far ahead and is not believed: nothing comes due. `rota clock` accepts "
		      "it.\n\n",
		      call->out);
	for (unsigned i = 0; problems && i < problems->list.n; i++)
		fprintf(call->out, "problem %s: %s\n",
			val_text(call->arena, &problems->list.item[i], "number"),
			val_text(call->arena, &problems->list.item[i], "text"));
	fprintf(call->out, "%s schedules, %s running, %s queued, %s waiting, %s to be retried\n",
		val_text(call->arena, v, "schedules"), val_text(call->arena, v, "running"),
		val_text(call->arena, v, "queued"), val_text(call->arena, v, "waiting"),
		val_text(call->arena, v, "retrying"));
	if (open && open->list.n)
		print_runs(call, open);
}

/* --- runs
 * -------------------------------------------------------------------------------------------------------- */

enum err handle_runs(struct op_call *call, struct api *api)
{
	const struct arg *schedule = op_arg(call, "schedule"), *limit = op_arg(call, "limit"),
			 *before = op_arg(call, "before");
	struct read_filter f = { .failed = op_arg(call, "failed")->given,
				 .limit = limit->given ? limit->count : 20 };
	struct read_sched s = { 0 };
	struct read_runs page;
	enum err e = schedule->given ? api_sched(call, api, schedule->text, &s) : OK;
	f.sid = s.row.sid;
	if (!e && before->given) {
		struct run_row last = { 0 };
		e = api_run_number(call, before->text, &f.before.run);
		if (!e)
			e = read_run(api_reader(api), f.before.run, &last, call->why);
		if (!e)
			f.before.nominal = last.nominal;
	}
	if (!e)
		e = read_runs(api_reader(api), &f, call->arena, &page, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR("{\"runs\":["));
	write_runs(call, api, &page);
	buf_add(&call->answer, STR("]"));
	if (page.more && page.n)
		buf_addf(&call->answer, ",\"before\":\"r%llu\"",
			 (unsigned long long)page.item[page.n - 1].run);
	buf_addc(&call->answer, '}');
	return OK;
}

void show_runs(struct op_call *call, const struct val *v)
{
	const struct val *list = val_get(v, STR("runs"));
	if (list && list->list.n)
		print_runs(call, list);
	else
		fputs("No runs.\n", call->out);
	if (val_get(v, STR("before")))
		fprintf(call->out, "More: --before %s\n", val_text(call->arena, v, "before"));
}

enum err handle_get_run(struct op_call *call, struct api *api)
{
	uint64_t number;
	struct run_row run = { 0 };
	struct read_sched s = { 0 };
	enum err e = api_run_number(call, op_arg(call, "run")->text, &number);
	if (!e)
		e = read_run(api_reader(api), number, &run, call->why);
	if (!e)
		e = read_sched(api_reader(api), run.sid, call->arena, &s, call->why);
	if (!e)
		tell_run(&call->answer, &run, s.id);
	return e;
}

void show_run(struct op_call *call, const struct val *v)
{
	struct val list = { .kind = VAL_LIST, .list = { (struct val *)v, 1 } };
	print_runs(call, &list);
}

static void stopped(struct op_call *call, struct api *api, const struct reply *r)
{
	enum err e = OK;
	(void)api;
	if (r->code != REPLY_OK)
		e = r->code == REPLY_NOT_FOUND
			    ? why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "it is not alive")
			    : api_refusal(call, r, "it was not stopped");
	else
		buf_addf(&call->answer, "{\"done\":\"stopped\",\"run\":\"r%llu\"}",
			 (unsigned long long)r->run);
	api_finish(call, e);
}

enum err handle_stop(struct op_call *call, struct api *api)
{
	struct command c = { .kind = CMD_STOP };
	enum err e = api_run_number(call, op_arg(call, "run")->text, &c.run);
	return e ? e : api_order(call, api, &c, stopped);
}

/* --- logs
 * -------------------------------------------------------------------------------------------------------- */

/* The run a name means: a run, or the latest of a schedule. */
static enum err find_run(struct op_call *call, struct api *api, struct run_row *ret)
{
	struct str name = op_arg(call, "name")->text;
	struct read_sched s;
	struct read_runs page;
	uint64_t number;
	struct why why;
	if (name.n > 1 && name.p[0] == 'r' && str_number(str_from(name, 1), UINT64_C(1) << 48, &number) &&
	    read_run(api_reader(api), number, ret, &why) == OK)
		return OK;
	enum err e = api_sched(call, api, name, &s);
	if (!e)
		e = read_runs(api_reader(api), &(struct read_filter){ .sid = s.row.sid, .limit = 1 },
			      call->arena, &page, call->why);
	if (!e && !page.n)
		e = why_set(call->why, E_NOTFOUND, WHY_NOWHERE, "'%.*s' has not run yet", STR_SHORT(name));
	if (!e)
		*ret = page.item[0];
	return e;
}

enum { LOG_PIECE = 256 << 10 };

/* A piece of the log from an offset on; where the next begins, and whether more may come. */
enum err handle_logs(struct op_call *call, struct api *api)
{
	const struct arg *from = op_arg(call, "from");
	struct run_row run;
	struct buf path = { 0 };
	uint64_t at = 0;
	enum err e = find_run(call, api, &run);
	if (e)
		return e;
	if (from->given && !str_number(from->text, UINT64_C(1) << 40, &at))
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "--from is a number of bytes");
	unsigned attempt = run.attempt ? run.attempt : 1;
	runfile_path(&path, daemon_runs(api_daemon(api)), run.run, attempt, "log");
	int fd = path.failed ? -1 : open(path.p, O_RDONLY | O_CLOEXEC);
	buf_free(&path);
	char *bytes = arena_alloc(call->arena, LOG_PIECE);
	ssize_t n = fd >= 0 && bytes ? pread(fd, bytes, LOG_PIECE, (off_t)at) : 0;
	if (fd >= 0)
		close(fd);
	buf_addf(&call->answer, "{\"run\":\"r%llu\",\"attempt\":%u,\"next\":%llu,\"over\":%s,\"text\":",
		 (unsigned long long)run.run, attempt, (unsigned long long)at + (n > 0 ? (uint64_t)n : 0),
		 run.state == RUN_FINISHED && n < LOG_PIECE ? "true" : "false");
	json_write_str(&call->answer, (struct str){ bytes, n > 0 ? (size_t)n : 0 });
	buf_addc(&call->answer, '}');
	return OK;
}

enum err op_logs(struct op_call *call)
{
	bool follow = op_arg(call, "follow")->given;
	uint64_t at = 0;
	for (;;) {
		struct str text;
		struct val v;
		struct arg *from = &call->arg[1];
		from->given = true;
		from->text = str_of(arena_printf(call->arena, "%llu", (unsigned long long)at));
		enum err e = remote_ask(call, (struct str){ 0 }, &text, &v);
		if (e)
			return e;
		const struct val *piece = val_get(&v, STR("text")), *next = val_get(&v, STR("next"));
		const struct val *over = val_get(&v, STR("over"));
		bool more = next && (uint64_t)next->integer > at;
		if (piece && op_arg(call, "raw")->given)
			fwrite(piece->str.p, 1, piece->str.n, call->out);
		else if (piece)
			print_safe(call->out, piece->str);
		fflush(call->out);
		at = next ? (uint64_t)next->integer : at;
		if (!more && (!follow || (over && over->boolean)))
			return OK;
		if (!more)
			nanosleep(&(struct timespec){ 0, 200000000 }, NULL);
	}
}

/* --- why
 * ---------------------------------------------------------------------------------------------------------
 */

static enum err time_asked(struct op_call *call, const struct zone *zone, const struct sched_row *row,
			   struct wall *ret)
{
	const struct arg *arg = op_arg(call, "time");
	struct iso t;
	if (!arg->given) {
		*ret = row->next; /* what comes next, or the last that was */
		if (ret->us == INT64_MAX)
			*ret = row->high;
		return OK;
	}
	enum err e = iso_parse(arg->text, &t, call->why);
	if (!e)
		*ret = wall_of(iso_utc(&t, zone, NULL));
	return e;
}

static void write_why(struct op_call *call, const struct why_answer *a, const struct read_why *records,
		      struct str id)
{
	static const char *const kinds[WHY_KINDS] = { "run",          "refused",      "will_run",
						      "will_not_run", "about_to_run", "before",
						      "pruned",       "no_time",      "follows" };
	struct buf *out = &call->answer;
	buf_addf(out, "{\"answer\":\"%s\"", kinds[a->kind]);
	tell_str(out, "schedule", id);
	buf_add(out, STR(",\"nominal\":"));
	tell_time(out, a->nominal);
	buf_add(out, STR(",\"due\":"));
	tell_time(out, a->due);
	if (a->kind == WHY_REFUSED || (a->kind == WHY_WILL_NOT && a->reason))
		buf_addf(out, ",\"disposition\":\"%s\",\"reason\":\"%s\"",
			 a->state == RUN_MISSED ? "missed" : "skipped", reason_words[a->reason]);
	if (records->has_run) {
		buf_add(out, STR(",\"run\":"));
		tell_run(out, &records->run, id);
	}
	buf_add(out, STR(",\"before\":"));
	tell_time(out, a->before);
	buf_add(out, STR(",\"after\":"));
	tell_time(out, a->after);
	buf_addc(out, '}');
}

enum err handle_why(struct op_call *call, struct api *api)
{
	struct read_sched s;
	struct read_why records;
	struct wall t, nominal;
	struct rules rules;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &s);
	if (e)
		return e;
	memcpy(&rules, s.row.rules, sizeof rules);
	struct engine_config tables;
	names_tables(daemon_names(api_daemon(api)), &tables);
	const struct zone *zone = tables.zones[rules.policy.zone];
	e = time_asked(call, zone, &s.row, &t);
	if (!e) {
		nominal = t;
		if (!s.row.after && !why_nominal(&rules, zone, t, &nominal))
			nominal = t;
		e = read_why(api_reader(api), s.row.sid, nominal, &records, call->why);
	}
	if (e)
		return e;
	struct why_facts facts = { .rules = &rules,
				   .with = { zone, tables.zones[rules.active.zone],
					     &tables.calendars[rules.policy.calendar] },
				   .row = &s.row,
				   .record = records.has_run ? &records.run : NULL,
				   .range = records.has_range ? &records.range : NULL,
				   .enabled = s.row.flags & SCHED_ENABLED,
				   .paused = s.row.flags & SCHED_PAUSED,
				   .now = api_now() };
	struct why_answer a = why_at(&facts, t);
	write_why(call, &a, &records, s.id);
	return OK;
}

void show_why(struct op_call *call, const struct val *v)
{
	const char *answer = val_text(call->arena, v, "answer"), *reason = val_text(call->arena, v, "reason");
	const char *nominal = shown_time(call, val_text(call->arena, v, "nominal"));
	const struct val *run = val_get(v, STR("run"));
	static const struct {
		const char *answer, *text;
	} words[] = {
		{ "run", "it ran" },
		{ "refused", "it did not run" },
		{ "will_run", "it will run" },
		{ "will_not_run", "as things are it will not run" },
		{ "about_to_run", "it is due and about to be taken up" },
		{ "before", "that lies at or before the schedule's last change: nothing fires there" },
		{ "pruned", "that is so long ago that its record is gone" },
		{ "no_time", "the schedule has no such time" },
		{ "follows", "it has no times of its own: it follows another schedule" },
	};
	const char *text = answer;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (answer && !strcmp(words[i].answer, answer))
			text = words[i].text;
	fprintf(call->out, "%s, %s: %s", val_text(call->arena, v, "schedule"), nominal ? nominal : "-", text);
	if (reason)
		fprintf(call->out, " (%s/%s)", val_text(call->arena, v, "disposition"), reason);
	fputc('\n', call->out);
	if (run)
		show_run(call, run);
	if (answer && !strcmp(answer, "no_time")) {
		const char *before = shown_time(call, val_text(call->arena, v, "before"));
		const char *after = shown_time(call, val_text(call->arena, v, "after"));
		fprintf(call->out, "  nearest: %s; %s\n", before ? before : "none before",
			after ? after : "none after");
	}
}

/* --- events
 * ------------------------------------------------------------------------------------------------------- */

enum err handle_events(struct op_call *call, struct api *api)
{
	struct http_request *r = call->request;
	if (op_arg(call, "follow")->given) {
		call->later = true;
		events_follow(api_events(api), r, 0);
		return OK;
	}
	buf_add(&call->answer, STR("{\"events\":"));
	events_list(api_events(api), 100, &call->answer);
	buf_addc(&call->answer, '}');
	return OK;
}

static bool print_event(void *ctx, const struct sse_event *e)
{
	struct op_call *call = ctx;
	print_safe(call->out, e->data);
	fputc('\n', call->out);
	return fflush(call->out) == 0;
}

enum err op_events(struct op_call *call)
{
	if (op_arg(call, "follow")->given) {
		struct client_ask ask = { .method = "GET", .target = "/api/v1/events?follow=true" };
		struct client_answer answer = { 0 };
		enum err e = remote_socket(call, &ask.socket);
		if (!e)
			e = client_events(&ask, print_event, call, &answer, call->why);
		client_answer_free(&answer);
		return e;
	}
	struct str text;
	struct val v;
	enum err e = remote_ask(call, (struct str){ 0 }, &text, &v);
	const struct val *list = e ? NULL : val_get(&v, STR("events"));
	for (unsigned i = 0; list && i < list->list.n; i++) {
		struct buf line = { 0 };
		json_write(&line, &list->list.item[i]);
		print_safe(call->out, buf_str(&line));
		fputc('\n', call->out);
		buf_free(&line);
	}
	return e;
}
