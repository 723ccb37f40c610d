/* Explains what happened, or will happen, at a time of a schedule. */
#include "api/handlers/handlers.h"

#include "api/documents.h"
#include "api/forecast.h"
#include "api/json_out.h"
#include "core/schedule/reason_text.h"
#include "core/schedule/why.h"
#include "core/when/civil.h"
#include "core/when/iso.h"
#include "sys/clock.h"

/* --- which time --- */

/* A schedule as it was at the time in question: its rules and its zone, and the machine's zone, in which
 * tables show times. */
struct schedule_times {
	struct sched_row *row; /* a copy; `after` is that of the version in force then */
	uint64_t after;        /* that of the present version */
	struct rules rules;
	const struct zone *zone, *machine_zone;
};

/* Finds the zone by its name among the call's zone files. The zones in the engine's tables are not used,
 * because the engine may free them meanwhile. */
static const struct zone *find_zone(struct api_call *call, struct api *api, unsigned number)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	const struct zone *z = zones->find(zones->self, intern_zone(daemon_intern(api_daemon(api)), number));
	return z ? z : zones->find(zones->self, STR("UTC"));
}

static void use_present_version(struct api_call *call, struct api *api, struct schedule_times *t)
{
	rules_read(t->row, &t->rules);
	t->zone = find_zone(call, api, t->rules.policy.zone);
	t->row->after = t->after;
}

/* Uses the times of the version that was in force at `at`: records of that time are about them, not about the
 * present ones. A document that cannot be read any more leaves the present times in use. */
static enum err use_version_at(struct api_call *call, struct api *api, struct schedule_times *t,
			       struct wall at)
{
	struct str text;
	struct schedule_doc doc;
	struct why why;
	use_present_version(call, api, t);
	if (at.us > t->row->changed.us)
		return OK;
	struct api_call quiet = *call;
	quiet.why = &why;
	enum err e = read_document_at(api_reader(api), t->row->sid, at, call->arena, &text, &why);
	if (!e)
		e = document_read_stored(&quiet, api, text, &doc);
	if (e)
		return e == E_NOMEM ? e : OK;
	t->row->after =
		doc.after.schedule.n ? t->row->sid : 0; /* only used as a flag: whether there is a leader */
	if (!doc.after.schedule.n) {
		t->rules.when = doc.when.rule;
		t->zone = doc.when.zone;
	}
	return OK;
}

static bool is_nominal(const struct schedule_times *t, struct wall at)
{
	struct wall nominal;
	return !t->row->after && why_nominal(&t->rules, t->zone, at, &nominal);
}

/* The schedule's first time on a day; the beginning of the day if it has none. */
static struct wall first_of_day(const struct schedule_times *t, int64_t local, const struct zone *zone)
{
	struct iso begin = { .local = local }, end = { .local = local + DAY };
	struct wall from = wall_of(iso_utc(&begin, zone, NULL)), to = wall_of(iso_utc(&end, zone, NULL)), at;
	struct rule rule = t->rules.when;
	rule.from = RULE_FROM_ALWAYS;
	rule.until = RULE_UNTIL_NEVER;
	if (!t->row->after && rule_next(&rule, t->zone, (struct wall){ from.us - 1 }, &at) == OK &&
	    at.us < to.us)
		return at;
	return from;
}

/* Tables show times in the machine's zone, documents have them in the schedule's zone, and a person may have
 * read the time in either. Uses the schedule's zone if the time is a due time of the schedule only there,
 * else the machine's zone. */
static struct wall resolve_local_time(const struct schedule_times *t, const struct iso *i)
{
	struct wall here = i->has_time ? wall_of(iso_utc(i, t->machine_zone, NULL))
				       : first_of_day(t, i->local, t->machine_zone);
	struct wall there =
		i->has_time ? wall_of(iso_utc(i, t->zone, NULL)) : first_of_day(t, i->local, t->zone);
	return !is_nominal(t, here) && is_nominal(t, there) ? there : here;
}

/* Puts today's date, in the machine's zone, before a time of day: "14:00". */
static struct str add_date(struct api_call *call, const struct schedule_times *t, struct str text)
{
	char today[ISO_SIZE];
	bool clock = text.n >= 4 && text.n <= 8 && memchr(text.p, ':', text.n < 3 ? text.n : 3);
	if (!clock || iso_looks_like(text))
		return text;
	int64_t now = wall_seconds(clock_wall());
	iso_format_local(now + zone_offset(t->machine_zone, now), today);
	const char *whole =
		arena_printf(call->arena, "%.10sT%s%.*s", today, text.p[1] == ':' ? "0" : "", STR_ARG(text));
	return whole ? str_of(whole) : text;
}

/* Also sets `t` to the version that was in force then. */
static enum err read_time(struct api_call *call, struct api *api, struct schedule_times *t, struct wall *ret)
{
	const struct arg *arg = op_arg(&call->args, "time");
	struct iso i;
	if (!arg->given) {
		/* The next time, or else the last one. */
		*ret = t->row->next.us != INT64_MAX ? t->row->next : t->row->high;
		return OK;
	}
	if (str_eq(arg->text, STR("now"))) {
		struct wall last;
		*ret = clock_wall();
		if (!t->row->after && rule_prev(&t->rules.when, t->zone, *ret, &last) == OK)
			*ret = last;
		return OK;
	}
	enum err e = iso_parse(add_date(call, t, arg->text), &i, call->why);
	if (e)
		return why_set(
			call->why, e, WHY_NOWHERE,
			"'%.*s' is not a time; allowed are 2026-11-16T08:30, 2026-11-16, 08:30 and now",
			STR_SHORT(arg->text));
	e = use_version_at(call, api, t, wall_of(iso_utc(&i, t->machine_zone, NULL)));
	if (e)
		return e;
	*ret = i.has_offset ? wall_of(iso_utc(&i, t->zone, NULL)) : resolve_local_time(t, &i);
	return use_version_at(call, api, t, *ret);
}

/* --- the answer --- */

/* Reads the holds that keep the schedule from running now: that of `pause --all`, and those of its agent and
 * account. */
static enum err read_holds_of(struct api_call *call, struct api *api, const struct policy *policy,
			      struct read_sched *s, struct why_facts *f)
{
	struct sched_row *row = &s->row;
	struct read_holds holds;
	enum err e = read_holds(api_reader(api), call->arena, &holds, call->why);
	for (unsigned i = 0; !e && i < holds.n; i++) {
		const struct hold_row *h = &holds.item[i].row;
		if (!h->reason)
			continue;
		if (!h->key) {
			if (!f->paused || h->until.us > row->paused_until.us) {
				row->paused_until = h->until;
				s->note = holds.item[i].note.p ? holds.item[i].note : s->note;
			}
			f->paused = true;
		} else if ((h->key == policy->agent || h->key == policy->account) &&
			   (!f->held || h->until.us > f->held_until.us)) {
			f->held = (enum reason)h->reason;
			f->held_until = h->until;
		}
	}
	return e;
}

static void write_condition(struct buf *out, const struct forecast *f)
{
	if (!f->has_condition)
		return;
	buf_addf(out, ",\"condition\":{\"holds\":%s", f->holds ? "true" : "false");
	json_add_str(out, "text", f->condition);
	if (f->error.n)
		json_add_str(out, "error", f->error);
	buf_addc(out, '}');
}

static void write_why(struct api_call *call, const struct why_facts *f, const struct why_answer *a,
		      const struct forecast *forecast, const struct read_sched *s, struct str detail)
{
	static const char *const kinds[WHY_KINDS] = { [WHY_RUN] = "run",
						      [WHY_REFUSED] = "refused",
						      [WHY_WILL_RUN] = "will_run",
						      [WHY_IF] = "will_run_if",
						      [WHY_WILL_FAIL] = "will_fail",
						      [WHY_WILL_NOT] = "will_not_run",
						      [WHY_WAITS] = "about_to_run",
						      [WHY_BEFORE] = "before",
						      [WHY_PRUNED] = "pruned",
						      [WHY_NO_TIME] = "no_time",
						      [WHY_FOLLOWS] = "follows",
						      [WHY_REMOVED] = "removed" };
	struct buf *out = &call->answer;
	bool has_reason = a->kind == WHY_REFUSED || (a->kind == WHY_WILL_NOT && a->reason);
	buf_addf(out, "{\"answer\":\"%s\"", kinds[a->kind]);
	json_add_str(out, "schedule", s->id);
	json_add_time(out, "nominal", a->nominal);
	json_add_time(out, "due", a->due);
	if (has_reason)
		buf_addf(out, ",\"disposition\":\"%s\",\"reason\":\"%s\"",
			 a->state == RUN_MISSED ? "missed" : "skipped", reason_words[a->reason]);
	else if (a->kind == WHY_WILL_NOT)
		buf_add(out, STR(",\"disposition\":null,\"reason\":\"disabled\""));
	if (has_reason && a->reason == REASON_PAUSED && a->kind == WHY_WILL_NOT)
		json_add_time(out, "until", f->row->paused_until);
	/* Only the present pause has a note: notes of earlier pauses are not kept. */
	bool now_paused = a->kind == WHY_WILL_NOT || (f->range && f->range->last.us == INT64_MAX);
	if (has_reason && a->reason == REASON_PAUSED && f->paused && now_paused)
		json_add_str(out, "note", s->note);
	if (detail.n)
		json_add_str(out, "detail", detail);
	write_condition(out, forecast);
	if (f->removed)
		json_add_time(out, "removed", s->dropped);
	if (has_reason && (a->reason == REASON_RATE_LIMITED || a->reason == REASON_BLOCKED) &&
	    a->kind == WHY_WILL_NOT && !f->blocked)
		json_add_time(out, "until", f->held_until);
	if (f->range) {
		buf_add(out, STR(",\"range\":{\"first\":"));
		json_write_time(out, f->range->first);
		json_add_time(out, "last", f->range->last);
		buf_addc(out, '}');
	}
	if (f->record) {
		buf_add(out, STR(",\"run\":"));
		json_write_run(out, f->record, s->id);
	}
	json_add_time(out, "changed", f->row->changed);
	json_add_time(out, "before", a->before);
	json_add_time(out, "after", a->after);
	buf_addc(out, '}');
}

/* Reads the records of the time `t`, which is a nominal time, or the due time of one. */
static enum err read_records(struct api_call *call, struct api *api, const struct schedule_times *times,
			     struct wall t, struct read_why *ret)
{
	struct wall nominal = t;
	enum err e = read_why(api_reader(api), times->row->sid, t, ret, call->why);
	if (e || ret->has_run || times->row->after)
		return e;
	bool other = why_nominal(&times->rules, times->zone, t, &nominal) && nominal.us != t.us;
	return other ? read_why(api_reader(api), times->row->sid, nominal, ret, call->why) : OK;
}

/* Answers about `t`. If it is a future time that would run, its condition and secrets are checked as of now.
 */
static enum err answer_why(struct api_call *call, struct api *api, struct why_facts *facts,
			   const struct read_sched *s, struct wall t, struct forecast *forecast,
			   struct why_answer *ret)
{
	struct why_answer a = why_at(facts, t);
	*forecast = (struct forecast){ 0 };
	enum err e = a.kind == WHY_WILL_RUN ? forecast_run(call, api, s, a.nominal, forecast) : OK;
	if (e)
		return e;
	facts->condition_false = forecast->has_condition && !forecast->holds;
	facts->would_fail = forecast->missing.n;
	*ret = why_at(facts, t);
	return OK;
}

/* After the last change the times are those of the present version. */
static void set_nearest_after(struct api_call *call, struct api *api, struct schedule_times *times,
			      struct why_answer *a)
{
	struct wall changed = times->row->changed;
	if (a->after.us <= changed.us || a->nominal.us > changed.us)
		return;
	use_present_version(call, api, times);
	if (times->after || rule_next(&times->rules.when, times->zone, changed, &a->after) != OK)
		a->after = WALL_NEVER;
}

enum err handle_why(struct api_call *call, struct api *api)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	struct read_sched s;
	struct read_why records;
	struct engine_config tables;
	struct forecast forecast;
	struct why_answer a = { 0 };
	struct wall t;
	struct str blocked = { 0 };
	enum err e = api_find_schedule_or_removed(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	intern_tables(daemon_intern(api_daemon(api)), &tables);
	struct schedule_times times = { .row = &s.row,
					.after = s.row.after,
					.machine_zone =
						zones->find(zones->self, zoneinfo_local(call->zones)) };
	use_present_version(call, api, &times);
	times.machine_zone = times.machine_zone ? times.machine_zone : times.zone;
	e = read_time(call, api, &times, &t);
	if (!e)
		e = read_records(call, api, &times, t, &records);
	if (e)
		return e;
	const struct rules *rules = &times.rules;
	struct why_facts facts = {
		.rules = rules,
		.context = { times.zone, find_zone(call, api, rules->active.zone),
			     &tables.calendars[rules->policy.calendar < tables.calendar_count
						       ? rules->policy.calendar
						       : 0] },
		.row = &s.row,
		.record = records.has_run ? &records.run : NULL,
		.range = records.has_range ? &records.range : NULL,
		.enabled = s.row.flags & SCHED_ENABLED,
		.paused = s.row.flags & SCHED_PAUSED,
		.removed = s.dropped.us != INT64_MAX,
		.now = clock_wall()
	};
	e = read_holds_of(call, api, &rules->policy, &s, &facts);
	if (!e)
		e = schedule_blocked(call, api, &s, &blocked);
	if (e)
		return e;
	facts.blocked = blocked.n && !facts.removed;
	e = answer_why(call, api, &facts, &s, t, &forecast, &a);
	struct str detail = a.kind == WHY_WILL_NOT && a.reason == REASON_BLOCKED ? blocked : forecast.missing;
	if (!e && facts.record)
		e = api_run_detail(call, api, facts.record, &detail);
	if (e)
		return e;
	set_nearest_after(call, api, &times, &a);
	write_why(call, &facts, &a, &forecast, &s, detail);
	return OK;
}
