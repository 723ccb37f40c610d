#include "cli/when_preview.h"
#include "base/json.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/explain/explain.h"
#include "core/when/iso.h"
#include "sys/clock.h"

static enum err read_after(const struct question *q, const struct zone *z, struct wall *ret, struct why *why)
{
	struct iso t;
	enum err e = iso_parse(q->after, &t, why);
	if (e) {
		char reason[WHY_TEXT_MAX];
		if (why) {
			memcpy(reason, why->text, sizeof reason);
			return why_set(why, e, WHY_NOWHERE, "%s '%.*s': %s", q->after_name,
				       STR_SHORT(q->after), reason);
		}
		return e;
	}
	*ret = (struct wall){ iso_utc(&t, z, NULL) * USEC + t.micros };
	return OK;
}

enum err answer_find(const struct question *q, const struct zone_source *zones, struct arena *a,
		     struct answer *ret, struct why *why)
{
	struct str zone_name = q->tz.p ? q->tz : q->default_zone;
	struct when_env env = { .zones = zones, .zone_name = zone_name, .id = q->id };
	enum err e = zones_find(zones, zone_name, &env.zone, why);
	if (e) {
		struct why inner = why ? *why : (struct why){ 0 };
		why_write(why, WHY_NOWHERE, "%s: %s", q->tz_name, inner.text);
		return e;
	}
	ret->from_now = !q->after.p;
	ret->after = clock_wall();
	if (q->after.p)
		e = read_after(q, when_zone(q->expr, &env), &ret->after, why);
	env.now = ret->after;
	if (!e)
		e = when_parse(q->expr, &env, a, &ret->when, why);
	if (e)
		return e;
	ret->when.zone_given |= q->tz.p != NULL;
	ret->zone_why = q->default_why;
	unsigned room = 0;
	struct when_walk walk = when_walk(&ret->when, ret->after);
	for (struct wall nominal, due; ret->n < q->count && !when_walk_next(&walk, &nominal, &due);
	     ret->n++) {
		if (ret->n == room) {
			room = room ? room * 2 : 8;
			struct wall *more = arena_alloc(a, room * sizeof *more);
			if (!more)
				return E_NOMEM;
			if (ret->n)
				memcpy(more, ret->due, ret->n * sizeof *more);
			ret->due = more;
		}
		ret->due[ret->n] = due;
		if (!ret->n)
			ret->first = nominal;
		ret->last = nominal;
	}
	struct when *w = &ret->when;
	if (walk.excluded)
		when_warn(w, arena_printf(a, "EXCEPT leaves out %u day%s among these runs", walk.excluded,
					  walk.excluded == 1 ? "" : "s"));
	return OK;
}

/* Due times are shown in whole seconds, rounded up: never early. */
static int64_t shown(struct wall due)
{
	return floor_div(due.us + USEC - 1, USEC);
}

void answer_warn(struct answer *r, struct arena *a)
{
	struct when *w = &r->when;
	char time[ISO_SIZE];
	if (r->n == 0)
		when_warn(w, arena_printf(a, "expired: it has no run after %s",
					  iso_format_utc(wall_seconds(r->after), time)));
	if (r->n == 0)
		return;
	/* In nominal times: jitter moves a run away from the change that bent it. */
	struct wall from = { r->first.us - 1 };
	w->warnings += explain_clock_changes(w, r->after.us < from.us ? r->after : from, r->last, a,
					     w->warning + w->warnings, WARNINGS_MAX - w->warnings);
	if (w->warnings == WARNINGS_MAX)
		w->warning[WARNINGS_MAX - 1] = "and more, which are left out here";
}

/* --- JSON --- */

static void json_key(struct buf *out, const char *key)
{
	buf_addf(out, "%s\"%s\":", out->n && out->p[out->n - 1] == '{' ? "" : ",", key);
}

static void json_text(struct buf *out, const char *key, struct str value)
{
	json_key(out, key);
	json_write_str(out, value);
}

static void json_number(struct buf *out, const char *key, int64_t value)
{
	json_key(out, key);
	buf_addf(out, "%lld", (long long)value);
}

/* Directives under the names they have in documents; durations in seconds, as documents read them. */
static void json_directives(struct buf *out, const struct when *w)
{
	const struct str *said = w->written.value;
	buf_addc(out, '{');
	if (said[ACE_TZ].p)
		json_text(out, "timezone", said[ACE_TZ]);
	if (said[ACE_IF].p)
		json_text(out, "condition", said[ACE_IF]);
	if (said[ACE_WINDOW].p)
		json_number(out, "window", w->window);
	if (said[ACE_RETRY].p) {
		json_key(out, "retry");
		buf_addf(out, "{\"max_attempts\":%u,\"backoff\":\"%s\",\"initial_delay\":%lld}",
			 w->retry.max_attempts, backoff_words[w->retry.backoff],
			 (long long)w->retry.initial_delay);
	}
	char time[ISO_SIZE];
	if (said[ACE_FROM].p)
		json_text(out, "start_date", str_of(iso_format_utc(w->rule.from, time)));
	if (w->rule.until != RULE_UNTIL_NEVER)
		json_text(out, "end_date", str_of(iso_format_utc(w->rule.until, time)));
	if (said[ACE_JITTER].p)
		json_number(out, "jitter", w->rule.jitter);
	if (said[ACE_TIMEOUT].p)
		json_number(out, "timeout", w->timeout);
	if (said[ACE_MISSED].p || w->missed)
		json_text(out, "missed_schedule_policy", str_of(missed_words[w->missed]));
	if (said[ACE_OVERLAP].p)
		json_text(out, "overlap", str_of(overlap_words[w->overlap]));
	if (said[ACE_EXCEPT].p)
		json_text(out, "except", said[ACE_EXCEPT]);
	if (said[ACE_GAP].p)
		json_text(out, "gap", said[ACE_GAP]);
	if (said[ACE_FOLD].p)
		json_text(out, "fold", said[ACE_FOLD]);
	buf_addc(out, '}');
}

void answer_json_next(const struct answer *r, struct buf *out)
{
	char time[ISO_SIZE];
	buf_addc(out, '[');
	for (unsigned i = 0; i < r->n; i++)
		buf_addf(out, "%s\"%s\"", i ? "," : "", iso_format_utc(shown(r->due[i]), time));
	buf_addc(out, ']');
}

void answer_json(const struct answer *r, struct buf *out)
{
	const struct when *w = &r->when;
	_cleanup_(buf_free) struct buf words = { 0 };
	explain_when(w, &words);
	out->failed |= words.failed;
	buf_addc(out, '{');
	json_text(out, "kind", str_of(rule_kind_words[w->rule.kind]));
	json_text(out, "normalized", w->normalized);
	json_text(out, "timezone", w->zone_name);
	json_text(out, "explain", buf_str(&words));
	json_key(out, "directives");
	json_directives(out, w);
	json_key(out, "next");
	answer_json_next(r, out);
	json_key(out, "warnings");
	buf_addc(out, '[');
	for (unsigned i = 0; i < w->warnings; i++) {
		if (i)
			buf_addc(out, ',');
		json_write_str(out, str_of(w->warning[i]));
	}
	buf_add(out, STR("]}\n"));
}

/* --- for people --- */

static void human_run(struct buf *out, const struct answer *r, struct wall due)
{
	static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	int64_t t = shown(due);
	int32_t offset = zone_offset(r->when.zone, t);
	char local[ISO_SIZE], utc[ISO_SIZE], east[ISO_SIZE];
	iso_format_local(t + offset, local);
	local[10] = ' ';
	buf_addf(out, "  %s %s %s   %s", days[weekday_of(floor_div(t + offset, DAY))], local,
		 iso_format_offset(offset, east), iso_format_utc(t, utc));
	if (r->from_now) {
		/* Two units are enough to grasp a distance. */
		int64_t left = t - wall_seconds(r->after), unit = left >= 60 * DAY ? DAY
								  : left >= DAY    ? 3600
								  : left >= 3600   ? 60
										   : 1;
		buf_add(out, STR("   in "));
		dur_format(left / unit * unit, out);
	}
	buf_addc(out, '\n');
}

/* What to write into a document: the form, and what a phrase said beside it. */
static void human_normalized(struct buf *out, const struct when *w)
{
	char time[ISO_SIZE];
	buf_add(out, STR("normalized    "));
	if (w->phrase && w->zone_given && !w->written.value[ACE_TZ].p)
		buf_addf(out, "TZ=%.*s ", STR_ARG(w->zone_name));
	buf_add(out, w->normalized);
	if (w->phrase && w->rule.until != RULE_UNTIL_NEVER && !w->written.value[ACE_UNTIL].p)
		buf_addf(out, " UNTIL %s", iso_format_utc(w->rule.until, time));
	buf_addc(out, '\n');
}

static void human_directives(struct buf *out, const struct when *w)
{
	const struct str *said = w->written.value;
	if (said[ACE_IF].p)
		buf_addf(out, "only if       %.*s\n", STR_ARG(said[ACE_IF]));
	if (said[ACE_WINDOW].p) {
		buf_add(out, STR("window        starts within "));
		dur_format(w->window, out);
		buf_add(out, STR(" of its time, or not at all\n"));
	}
	if (said[ACE_RETRY].p) {
		buf_addf(out, "retry         1 try + %u %s, %s from ", w->retry.max_attempts,
			 w->retry.max_attempts == 1 ? "retry" : "retries", backoff_words[w->retry.backoff]);
		dur_format(w->retry.initial_delay, out);
		buf_addc(out, '\n');
	}
	if (said[ACE_TIMEOUT].p) {
		buf_add(out, STR("timeout       "));
		dur_format(w->timeout, out);
		buf_addc(out, '\n');
	}
	if (said[ACE_MISSED].p || w->missed)
		buf_addf(out, "missed runs   %s\n", missed_words[w->missed]);
	if (said[ACE_OVERLAP].p)
		buf_addf(out, "overlap       %s\n", overlap_words[w->overlap]);
}

void answer_text(const struct answer *r, bool all, struct buf *out)
{
	const struct when *w = &r->when;
	explain_when(w, out);
	buf_addc(out, '\n');
	if (all || w->phrase)
		human_normalized(out, w);
	if (all)
		human_directives(out, w);
	if (!w->zone_given)
		buf_addf(out, "zone          %.*s, %s\n", STR_ARG(w->zone_name), r->zone_why);
	else if (w->rule.kind == RULE_EVERY)
		buf_addf(out, "zone          %.*s\n",
			 STR_ARG(w->zone_name)); /* the sentence does without it */
	for (unsigned i = 0; i < r->n; i++)
		human_run(out, r, r->due[i]);
	for (unsigned i = 0; i < w->warnings; i++)
		buf_addf(out, "warning: %s\n", w->warning[i]);
}
