#include "api/handlers/status.h"

#include "api/api.h"
#include "api/handlers/problems.h"
#include "api/handlers/runs.h"
#include "api/json_out.h"
#include "api/schedule_put.h"
#include "cli/table.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

#include <stdlib.h>

enum { NOTED = 10, COMING = 10, COMING_HOURS = 24 };

/* What only the daemon's thread knows. */
struct asked {
	struct api *api;
	struct op_call *call;
	struct engine_counts counts;
	struct engine_due coming[COMING];
	unsigned n;
	const char *trouble; /* with what; NULL: none */
	struct why why;
};

static void tell_coming(struct op_call *call, struct api *api, const struct asked *a)
{
	struct wall horizon = { api_now().us + COMING_HOURS * 3600 * USEC };
	const char *comma = "";
	buf_add(&call->answer, STR(",\"next\":["));
	for (unsigned i = 0; i < a->n && a->coming[i].due.us <= horizon.us; i++) {
		struct read_sched s;
		struct str blocked;
		struct why why;
		if (read_sched(api_reader(api), a->coming[i].sid, call->arena, &s, &why) || !s.id.n)
			continue;
		buf_addf(&call->answer, "%s{\"schedule\":", comma);
		json_write_str(&call->answer, s.id);
		json_add_time(&call->answer, "due", a->coming[i].due);
		if (put_blocked(call, api, &s, &blocked) == OK && blocked.n)
			json_add_str(&call->answer, "blocked", blocked);
		buf_addc(&call->answer, '}');
		comma = ",";
	}
	buf_addc(&call->answer, ']');
}

static enum err tell_pause(struct op_call *call, struct api *api)
{
	struct read_hold all;
	enum err e = api_paused_all(call, api, &all);
	if (e)
		return e;
	if (all.row.reason) {
		json_add_time(&call->answer, "paused_until", all.row.until);
		json_add_str(&call->answer, "note", all.note);
	}
	buf_addf(&call->answer, ",\"paused\":%s", all.row.reason ? "true" : "false");
	return OK;
}

/* Somebody wrote down why: others should see it. */
static enum err tell_noted(struct op_call *call, struct api *api)
{
	struct read_scheds noted;
	enum err e =
		read_scheds_noted(api_reader(api), (struct str){ 0 }, NOTED, call->arena, &noted, call->why);
	if (e)
		return e;
	buf_add(&call->answer, STR(",\"paused_with_note\":["));
	for (unsigned i = 0; i < noted.n; i++) {
		buf_addf(&call->answer, "%s{\"schedule\":", i ? "," : "");
		json_write_str(&call->answer, noted.item[i].id);
		json_add_time(&call->answer, "paused_until", noted.item[i].row.paused_until);
		json_add_str(&call->answer, "note", noted.item[i].note);
		buf_addc(&call->answer, '}');
	}
	buf_addc(&call->answer, ']');
	return OK;
}

/* Since midnight in the configuration's zone, and ever. */
static enum err tell_avoided(struct op_call *call, struct api *api)
{
	struct doc_env env = api_doc_env(call, api);
	int64_t now = wall_seconds(api_now()), local = now + zone_offset(env.when.zone, now);
	struct iso midnight = { .local = floor_div(local, DAY) * DAY };
	struct read_avoided n;
	enum err e = read_avoided(api_reader(api), 0, wall_of(iso_utc(&midnight, env.when.zone, NULL)), &n,
				  call->why);
	if (!e)
		buf_addf(&call->answer, ",\"model_calls_avoided\":{\"today\":%llu,\"ever\":%llu}",
			 (unsigned long long)n.lately, (unsigned long long)n.ever);
	return e;
}

static enum err write_status(const struct asked *a)
{
	struct op_call *call = a->call;
	struct buf *out = &call->answer;
	const struct engine_counts *n = &a->counts;
	struct read_problems problems;
	struct read_runs open;
	struct read_filter filter = { .states = 1u << RUN_PENDING | 1u << RUN_CLAIMED | 1u << RUN_RETRYING,
				      .limit = 20 };
	enum err e = read_problems(api_reader(a->api), false, 0, 20, call->arena, &problems, call->why);
	if (!e)
		e = read_runs(api_reader(a->api), &filter, call->arena, &open, call->why);
	if (e)
		return e;
	buf_add(out, STR("{\"problems\":["));
	for (unsigned i = 0; i < problems.n; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		tell_problem(out, &problems.item[i]);
	}
	buf_addf(out,
		 "],\"schedules\":%u,\"runs\":%u,\"waiting\":%u,\"queued\":%u,\"running\":%u,\"retrying\":%u,"
		 "\"slots_used\":%u,\"clock_held\":%s,\"outdated\":%u",
		 n->schedules, n->runs, n->waiting, n->queued, n->running, n->retrying, n->slots_used,
		 n->clock_held ? "true" : "false", n->outdated);
	json_add_str(out, "trouble", a->trouble ? str_of(a->why.text) : (struct str){ 0 });
	e = tell_pause(call, a->api);
	if (!e)
		e = tell_noted(call, a->api);
	if (!e)
		e = tell_avoided(call, a->api);
	buf_add(out, STR(",\"open\":["));
	tell_runs(call, a->api, &open);
	buf_addc(out, ']');
	tell_coming(call, a->api, a);
	buf_addc(out, '}');
	return e;
}

static void counted(void *arg)
{
	struct asked *a = arg;
	api_finish(a->call, write_status(a));
}

/* On the daemon's thread: the engine tells how things stand. */
static void count(void *arg)
{
	struct asked *a = arg;
	struct daemon *d = api_daemon(a->api);
	const char *which;
	a->counts = engine_counts(daemon_engine(d));
	a->n = engine_coming(daemon_engine(d), a->coming, COMING);
	if (daemon_trouble(d, &which, &a->why))
		a->trouble = which;
	api_answer(a->api, counted, a);
}

enum err handle_status(struct op_call *call, struct api *api)
{
	struct asked *a = arena_alloc(call->arena, sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct asked){ .api = api, .call = call };
	enum err e = daemon_call(api_daemon(api), count, a);
	call->later = !e;
	return e;
}

/* --- for people --- */

static bool is_set(const struct val *v, const char *name)
{
	const struct val *flag = val_get(v, str_of(name));
	return flag && flag->kind == VAL_BOOL && flag->boolean;
}

static void show_noted(struct op_call *call, const struct val *list)
{
	static const char *const heading[] = { "PAUSED", "UNTIL", "NOTE" };
	struct table t = table_new(call->arena, 3, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		table_row(&t, (const char *[]){ val_text(call->arena, s, "schedule"),
						op_time(call, val_text(call->arena, s, "paused_until")),
						val_line(call->arena, s, "note") });
	}
	if (t.n > 1) {
		fputc('\n', call->out);
		table_print(&t, call->out);
	}
}

static void show_coming(struct op_call *call, const struct val *list)
{
	static const char *const heading[] = { "NEXT", "SCHEDULE", "BLOCKED" };
	bool blocked = false;
	for (unsigned i = 0; list && i < list->list.n; i++)
		blocked |= val_get(&list->list.item[i], STR("blocked")) != NULL;
	struct table t = table_new(call->arena, blocked ? 3 : 2, heading);
	for (unsigned i = 0; list && i < list->list.n; i++) {
		const struct val *s = &list->list.item[i];
		const char *lacks = val_text(call->arena, s, "blocked");
		table_row(&t, (const char *[]){ op_time(call, val_text(call->arena, s, "due")),
						val_text(call->arena, s, "schedule"), lacks ? lacks : "" });
	}
	if (t.n > 1) {
		fputc('\n', call->out);
		table_print(&t, call->out);
	}
}

void show_status(struct op_call *call, const struct val *v)
{
	const struct val *problems = val_get(v, STR("problems")), *open = val_get(v, STR("open"));
	const char *trouble = val_text(call->arena, v, "trouble");
	if (is_set(v, "clock_held"))
		fputs("The clock ran far ahead and is not believed: nothing comes due until it is back, or "
		      "`rota clock` accepts it.\n\n",
		      call->out);
	if (trouble) {
		fputs("Trouble: ", call->out);
		print_safe(call->out, str_of(trouble));
		fputs("\n\n", call->out);
	}
	if (problems && problems->list.n) {
		fputs("PROBLEMS\n", call->out);
		print_problems(call, problems);
		fputs("`rota ack N` takes one.\n\n", call->out);
	}
	if (is_set(v, "paused")) {
		const char *until = op_time(call, val_text(call->arena, v, "paused_until"));
		const char *note = val_text(call->arena, v, "note");
		fprintf(call->out, "Everything is paused%s%s", until ? " until " : "", until ? until : "");
		if (note) {
			fputs(": ", call->out);
			print_safe(call->out, str_of(note));
		}
		fputs("; `rota resume --all` lets it go on.\n\n", call->out);
	}
	const char *schedules = val_text(call->arena, v, "schedules");
	fprintf(call->out, "%s schedule%s, %s running, %s queued, %s waiting, %s to be retried\n", schedules,
		strcmp(schedules, "1") ? "s" : "", val_text(call->arena, v, "running"),
		val_text(call->arena, v, "queued"), val_text(call->arena, v, "waiting"),
		val_text(call->arena, v, "retrying"));
	const struct val *avoided = val_get(v, STR("model_calls_avoided"));
	if (avoided && val_get(avoided, STR("ever"))->integer)
		fprintf(call->out, "model calls avoided: %s today, %s in all\n",
			val_text(call->arena, avoided, "today"), val_text(call->arena, avoided, "ever"));
	if (open && open->list.n) {
		fputc('\n', call->out);
		print_runs(call, open);
	}
	show_noted(call, val_get(v, STR("paused_with_note")));
	show_coming(call, val_get(v, STR("next")));
}
