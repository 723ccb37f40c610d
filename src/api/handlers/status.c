/* The overview of `rota`: problems, counts, open runs, pauses, what runs next. */
#include "api/handlers/handlers.h"

#include "api/documents.h"
#include "api/json_out.h"
#include "core/when/civil.h"
#include "core/when/iso.h"
#include "sys/clock.h"

enum {
	NOTED_MAX = 10, /* paused schedules with a note */
	NEXT_MAX = 10,  /* number of schedules shown that are due next */
	NEXT_HOURS = 24 /* schedules shown are due within this many hours */
};

/* Values that only the daemon's thread can read. */
struct engine_status {
	struct engine_counts counts;
	struct engine_due next[NEXT_MAX];
	unsigned nexts;
	bool trouble;   /* the store or the runner fails */
	struct why why; /* the reason, if `trouble` is true */
};

static void add_next(struct api_call *call, struct api *api, const struct engine_status *s)
{
	struct wall horizon = { clock_wall().us + NEXT_HOURS * 3600 * USEC };
	const char *comma = "";
	buf_add(&call->answer, STR(",\"next\":["));
	for (unsigned i = 0; i < s->nexts && s->next[i].due.us <= horizon.us; i++) {
		struct read_sched sched;
		struct str blocked;
		struct why why;
		if (read_sched(api_reader(api), s->next[i].sid, call->arena, &sched, &why) || !sched.id.n)
			continue;
		buf_addf(&call->answer, "%s{\"schedule\":", comma);
		json_write_str(&call->answer, sched.id);
		json_add_time(&call->answer, "due", s->next[i].due);
		json_add_zone(&call->answer, api, &sched.row);
		if (schedule_blocked(call, api, &sched, &blocked) == OK && blocked.n)
			json_add_str(&call->answer, "blocked", blocked);
		buf_addc(&call->answer, '}');
		comma = ",";
	}
	buf_addc(&call->answer, ']');
}

static enum err add_pause_all(struct api_call *call, struct api *api)
{
	struct read_hold all;
	enum err e = api_read_pause_all(call, api, &all);
	if (e)
		return e;
	if (all.row.reason) {
		json_add_time(&call->answer, "paused_until", all.row.until);
		json_add_str(&call->answer, "note", all.note);
	}
	buf_addf(&call->answer, ",\"paused\":%s", all.row.reason ? "true" : "false");
	return OK;
}

/* Adds the paused schedules that have a note. */
static enum err add_noted(struct api_call *call, struct api *api)
{
	struct read_scheds noted;
	enum err e = read_scheds_noted(api_reader(api), (struct str){ 0 }, NOTED_MAX, call->arena, &noted,
				       call->why);
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

/* Adds the counts since midnight in the configuration's zone, and in total. */
static enum err add_avoided(struct api_call *call, struct api *api)
{
	struct doc_env env = api_doc_env(call, api);
	int64_t now = wall_seconds(clock_wall()), local = now + zone_offset(env.when.zone, now);
	struct iso midnight = { .local = floor_div(local, DAY) * DAY };
	struct read_avoided n;
	enum err e = read_avoided(api_reader(api), 0, wall_of(iso_utc(&midnight, env.when.zone, NULL)), &n,
				  call->why);
	if (!e)
		buf_addf(&call->answer, ",\"model_calls_avoided\":{\"today\":%llu,\"ever\":%llu}",
			 (unsigned long long)n.lately, (unsigned long long)n.ever);
	return e;
}

static enum err write_status(struct api_call *call, struct api *api, const struct engine_status *s)
{
	struct buf *out = &call->answer;
	const struct engine_counts *n = &s->counts;
	struct read_problems problems;
	struct read_runs open;
	struct read_filter filter = { .states = 1u << RUN_PENDING | 1u << RUN_CLAIMED | 1u << RUN_RETRYING,
				      .limit = 20 };
	enum err e = read_problems(api_reader(api), false, 0, 20, call->arena, &problems, call->why);
	if (!e)
		e = read_runs(api_reader(api), &filter, call->arena, &open, call->why);
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
	json_add_str(out, "trouble", s->trouble ? str_of(s->why.text) : (struct str){ 0 });
	e = add_pause_all(call, api);
	if (!e)
		e = add_noted(call, api);
	if (!e)
		e = add_avoided(call, api);
	buf_add(out, STR(",\"open\":["));
	json_write_runs(out, api_reader(api), &open, call->arena);
	buf_addc(out, ']');
	add_next(call, api, s);
	buf_addc(out, '}');
	return e;
}

/* Runs on the daemon's thread. */
static void read_engine_status(struct daemon *d, void *ctx)
{
	struct engine_status *s = ctx;
	const char *which;
	s->counts = engine_counts(daemon_engine(d));
	s->nexts = engine_coming(daemon_engine(d), s->next, NEXT_MAX);
	s->trouble = daemon_trouble(d, &which, &s->why) != OK;
}

static void answer_status(struct api_call *call, struct api *api)
{
	api_finish(call, write_status(call, api, call->ctx));
}

enum err handle_status(struct api_call *call, struct api *api)
{
	call->ctx = arena_alloc(call->arena, sizeof(struct engine_status));
	return call->ctx ? api_ask_daemon(call, api, read_engine_status, answer_status) : E_NOMEM;
}
