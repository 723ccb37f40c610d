#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "api/schedule_change.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

enum { NOTED = 10, COMING = 10, COMING_HOURS = 24 };

/* What only the daemon's thread knows. */
struct asked {
	struct api *api;
	struct api_call *call;
	struct engine_counts counts;
	struct engine_due coming[COMING];
	unsigned n;
	const char *trouble; /* with what; NULL: none */
	struct why why;
};

static void tell_coming(struct api_call *call, struct api *api, const struct asked *a)
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

static enum err tell_pause(struct api_call *call, struct api *api)
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
static enum err tell_noted(struct api_call *call, struct api *api)
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
static enum err tell_avoided(struct api_call *call, struct api *api)
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
	struct api_call *call = a->call;
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
		json_write_problem(out, &problems.item[i]);
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
	json_write_runs(out, api_reader(a->api), &open, call->arena);
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

enum err handle_status(struct api_call *call, struct api *api)
{
	struct asked *a = arena_alloc(call->arena, sizeof *a);
	if (!a)
		return E_NOMEM;
	*a = (struct asked){ .api = api, .call = call };
	enum err e = daemon_call(api_daemon(api), count, a);
	call->later = !e;
	return e;
}
