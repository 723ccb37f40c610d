#include "api/handlers/handlers.h"

#include "api/json_out.h"
#include "api/schedule_change.h"
#include "core/schedule/reason_text.h"
#include "core/schedule/why.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

/* --- which time is meant --- */

/* A schedule's times, with the zone people see on their screens beside its own. */
struct times {
	const struct sched_row *row;
	struct rules rules;
	const struct zone *zone, *here;
};

static bool is_nominal(const struct times *t, struct wall at)
{
	struct wall nominal;
	return !t->row->after && why_nominal(&t->rules, t->zone, at, &nominal);
}

/* A whole day means its first time, if it has one. */
static struct wall first_of_day(const struct times *t, int64_t local, const struct zone *zone)
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

/* Tables show times in the machine's zone, documents mean the schedule's: the one in which the schedule has
 * such a time is meant; the machine's, if neither has. */
static struct wall read_local(const struct times *t, const struct iso *i)
{
	struct wall here =
		i->has_time ? wall_of(iso_utc(i, t->here, NULL)) : first_of_day(t, i->local, t->here);
	struct wall there =
		i->has_time ? wall_of(iso_utc(i, t->zone, NULL)) : first_of_day(t, i->local, t->zone);
	return !is_nominal(t, here) && is_nominal(t, there) ? there : here;
}

/* "14:00" today, in the machine's zone. */
static struct str with_date(struct api_call *call, const struct times *t, struct str text)
{
	char today[ISO_SIZE];
	bool clock = text.n >= 4 && text.n <= 8 && memchr(text.p, ':', text.n < 3 ? text.n : 3);
	if (!clock || iso_looks_like(text))
		return text;
	int64_t now = wall_seconds(api_now());
	iso_format_local(now + zone_offset(t->here, now), today);
	const char *whole =
		arena_printf(call->arena, "%.10sT%s%.*s", today, text.p[1] == ':' ? "0" : "", STR_ARG(text));
	return whole ? str_of(whole) : text;
}

static enum err time_asked(struct api_call *call, const struct times *t, struct wall *ret)
{
	const struct arg *arg = op_arg(&call->args, "time");
	struct iso i;
	if (!arg->given) {
		/* What comes next, or the last that was. */
		*ret = t->row->next.us != INT64_MAX ? t->row->next : t->row->high;
		return OK;
	}
	if (str_eq(arg->text, STR("now"))) {
		struct wall last;
		*ret = api_now();
		if (!t->row->after && rule_prev(&t->rules.when, t->zone, *ret, &last) == OK)
			*ret = last;
		return OK;
	}
	enum err e = iso_parse(with_date(call, t, arg->text), &i, call->why);
	if (e)
		return why_set(
			call->why, e, WHY_NOWHERE,
			"'%.*s' is not a time; allowed are 2026-11-16T08:30, 2026-11-16, 08:30 and now",
			STR_SHORT(arg->text));
	*ret = i.has_offset ? wall_of(iso_utc(&i, t->zone, NULL)) : read_local(t, &i);
	return OK;
}

/* --- the answer --- */

/* Whoever holds it up now: everything is paused, or its agent or account is held. */
static enum err read_obstacles(struct api_call *call, struct api *api, const struct policy *policy,
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

static void write_why(struct api_call *call, const struct why_facts *f, const struct why_answer *a,
		      const struct read_sched *s, struct str words)
{
	static const char *const kinds[WHY_KINDS] = { "run",          "refused", "will_run", "will_not_run",
						      "about_to_run", "before",  "pruned",   "no_time",
						      "follows",      "removed" };
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
	/* Of the pause that lasts; those before it left none. */
	bool lasts = a->kind == WHY_WILL_NOT || (f->range && f->range->last.us == INT64_MAX);
	if (has_reason && a->reason == REASON_PAUSED && f->paused && lasts)
		json_add_str(out, "note", s->note);
	if (words.n)
		json_add_str(out, "detail", words);
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

/* By its name among the call's own: those of the engine's tables may go while we look. */
static const struct zone *zone_of(struct api_call *call, struct api *api, unsigned number)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	const struct zone *z = zones->find(zones->self, intern_zone(daemon_intern(api_daemon(api)), number));
	return z ? z : zones->find(zones->self, STR("UTC"));
}

enum err handle_why(struct api_call *call, struct api *api)
{
	const struct zone_source *zones = zoneinfo_source(call->zones);
	struct read_sched s;
	struct read_why records;
	struct engine_config tables;
	struct wall t, nominal;
	enum err e = api_sched_ever(call, api, op_arg(&call->args, "schedule")->text, &s);
	if (e)
		return e;
	intern_tables(daemon_intern(api_daemon(api)), &tables);
	struct times times = { .row = &s.row, .here = zones->find(zones->self, zoneinfo_local(call->zones)) };
	memcpy(&times.rules, s.row.rules, sizeof times.rules);
	times.zone = zone_of(call, api, times.rules.policy.zone);
	times.here = times.here ? times.here : times.zone;
	e = time_asked(call, &times, &t);
	if (!e) {
		nominal = t;
		if (!s.row.after && !why_nominal(&times.rules, times.zone, t, &nominal))
			nominal = t;
		e = read_why(api_reader(api), s.row.sid, nominal, &records, call->why);
	}
	if (e)
		return e;
	const struct rules *rules = &times.rules;
	struct why_facts facts = { .rules = rules,
				   .context = { times.zone, zone_of(call, api, rules->active.zone),
						&tables.calendars[rules->policy.calendar] },
				   .row = &s.row,
				   .record = records.has_run ? &records.run : NULL,
				   .range = records.has_range ? &records.range : NULL,
				   .enabled = s.row.flags & SCHED_ENABLED,
				   .paused = s.row.flags & SCHED_PAUSED,
				   .removed = s.dropped.us != INT64_MAX,
				   .now = api_now() };
	e = read_obstacles(call, api, &rules->policy, &s, &facts);
	if (e)
		return e;
	struct str words = { 0 }, blocked;
	e = put_blocked(call, api, &s, &blocked);
	if (e)
		return e;
	facts.blocked = blocked.n && !facts.removed;
	struct why_answer a = why_at(&facts, t);
	if (facts.record)
		e = api_words(call, api, facts.record, &words);
	else if (a.kind == WHY_WILL_NOT && a.reason == REASON_BLOCKED)
		words = blocked;
	if (!e)
		write_why(call, &facts, &a, &s, words);
	return e;
}
