/* Computes and prints the preview of an expression. */
#include "cli/when_preview.h"

#include "base/json.h"
#include "core/doc/doc.h"
#include "core/when/civil.h"
#include "core/when/dur.h"
#include "core/when/explain/explain.h"
#include "core/when/iso.h"
#include "sys/clock.h"

static enum err read_after(const struct preview_query *q, const struct zone *z, struct wall *ret,
			   struct why *why)
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

enum err preview_compute(const struct preview_query *q, const struct zone_source *zones, struct arena *a,
			 struct preview *ret, struct why *why)
{
	struct str zone_name = q->tz.p ? q->tz : q->default_zone;
	struct when_env env = {
		.zones = zones, .zone_name = zone_name, .id = q->id, .calendars = q->calendars
	};
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
		e = doc_read_expression(q->expr, &env, a, &ret->when, why);
	if (e)
		return e;
	ret->when.zone_given |= q->tz.p != NULL;
	ret->zone_why = q->default_why;
	ret->due = arena_alloc(a, q->count * sizeof *ret->due);
	if (!ret->due)
		return E_NOMEM;
	struct when_walk walk = when_walk(&ret->when, ret->after);
	for (struct wall nominal, due; ret->n < q->count && !when_walk_next(&walk, &nominal, &due);
	     ret->n++) {
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

/* Due times are shown in whole seconds. They are rounded up, so that no time is shown too early. */
static int64_t shown_seconds(struct wall due)
{
	return floor_div(due.us + USEC - 1, USEC);
}

void preview_warn(struct preview *r, struct arena *a)
{
	struct when *w = &r->when;
	char time[ISO_SIZE];
	if (r->n == 0)
		when_warn(w, arena_printf(a, "expired: no run after %s",
					  iso_format_utc(wall_seconds(r->after), time)));
	if (r->n == 0)
		return;
	/* Nominal times are checked, because jitter may move a due time far from the clock change. */
	struct wall from = { r->first.us - 1 };
	w->warnings += explain_clock_changes(w, r->after.us < from.us ? r->after : from, r->last, a,
					     w->warning + w->warnings, WARNINGS_MAX - w->warnings);
	if (w->warnings == WARNINGS_MAX)
		w->warning[WARNINGS_MAX - 1] = "there are more warnings, which are not shown";
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

/* Writes directives under the names of their keys in documents, and durations in seconds. */
static void json_directives(struct buf *out, const struct when *w)
{
	const struct str *written = w->written.value;
	buf_addc(out, '{');
	if (written[ACE_TZ].p)
		json_text(out, "timezone", written[ACE_TZ]);
	if (written[ACE_IF].p)
		json_text(out, "condition", written[ACE_IF]);
	if (written[ACE_WINDOW].p)
		json_number(out, "window", w->window);
	if (written[ACE_RETRY].p) {
		json_key(out, "retry");
		buf_addf(out, "{\"max_attempts\":%u,\"backoff\":\"%s\",\"initial_delay\":%lld}",
			 w->retry.max_attempts, backoff_words[w->retry.backoff],
			 (long long)w->retry.initial_delay);
	}
	char time[ISO_SIZE];
	if (written[ACE_FROM].p)
		json_text(out, "start_date", str_of(iso_format_utc(w->rule.from, time)));
	if (w->rule.until != RULE_UNTIL_NEVER)
		json_text(out, "end_date", str_of(iso_format_utc(w->rule.until, time)));
	if (written[ACE_JITTER].p)
		json_number(out, "jitter", w->rule.jitter);
	if (written[ACE_TIMEOUT].p)
		json_number(out, "timeout", w->timeout);
	if (written[ACE_MISSED].p || w->missed)
		json_text(out, "missed_schedule_policy", str_of(missed_words[w->missed]));
	if (written[ACE_OVERLAP].p)
		json_text(out, "overlap", str_of(overlap_words[w->overlap]));
	if (written[ACE_EXCEPT].p)
		json_text(out, "except", written[ACE_EXCEPT]);
	if (written[ACE_GAP].p)
		json_text(out, "gap", written[ACE_GAP]);
	if (written[ACE_FOLD].p)
		json_text(out, "fold", written[ACE_FOLD]);
	buf_addc(out, '}');
}

void preview_write_times(const struct preview *r, struct buf *out)
{
	char time[ISO_SIZE];
	buf_addc(out, '[');
	for (unsigned i = 0; i < r->n; i++)
		buf_addf(out, "%s\"%s\"", i ? "," : "", iso_format_utc(shown_seconds(r->due[i]), time));
	buf_addc(out, ']');
}

void preview_write_json(const struct preview *r, struct buf *out)
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
	preview_write_times(r, out);
	json_key(out, "warnings");
	buf_addc(out, '[');
	for (unsigned i = 0; i < w->warnings; i++) {
		if (i)
			buf_addc(out, ',');
		json_write_str(out, str_of(w->warning[i]));
	}
	buf_add(out, STR("]}\n"));
}

/* --- text --- */

static void write_run(struct buf *out, const struct preview *r, struct wall due)
{
	static const char days[7][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	int64_t t = shown_seconds(due);
	int32_t offset = zone_offset(r->when.zone, t);
	char local[ISO_SIZE], utc[ISO_SIZE], east[ISO_SIZE];
	iso_format_local(t + offset, local);
	local[10] = ' ';
	buf_addf(out, "  %s %s %s   %s", days[weekday_of(floor_div(t + offset, DAY))], local,
		 iso_format_offset(offset, east), iso_format_utc(t, utc));
	if (r->from_now) {
		/* Two units are precise enough. */
		int64_t left = t - wall_seconds(r->after), unit = left >= 60 * DAY ? DAY
								  : left >= DAY    ? 3600
								  : left >= 3600   ? 60
										   : 1;
		buf_add(out, STR("   in "));
		dur_format(left / unit * unit, out);
	}
	buf_addc(out, '\n');
}

/* Prints the normalized form of the expression, with the directives that a phrase implied. A document can
 * contain this form. */
static void write_normalized(struct buf *out, const struct when *w)
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

static void write_directives(struct buf *out, const struct when *w)
{
	const struct str *written = w->written.value;
	if (written[ACE_IF].p)
		buf_addf(out, "only if       %.*s\n", STR_ARG(written[ACE_IF]));
	if (written[ACE_WINDOW].p) {
		buf_add(out, STR("window        starts within "));
		dur_format(w->window, out);
		buf_add(out, STR(" of its due time, or is skipped\n"));
	}
	if (written[ACE_RETRY].p) {
		buf_addf(out, "retry         1 try + %u %s, %s from ", w->retry.max_attempts,
			 w->retry.max_attempts == 1 ? "retry" : "retries", backoff_words[w->retry.backoff]);
		dur_format(w->retry.initial_delay, out);
		buf_addc(out, '\n');
	}
	if (written[ACE_TIMEOUT].p) {
		buf_add(out, STR("timeout       "));
		dur_format(w->timeout, out);
		buf_addc(out, '\n');
	}
	if (written[ACE_MISSED].p || w->missed)
		buf_addf(out, "missed runs   %s\n", missed_words[w->missed]);
	if (written[ACE_OVERLAP].p)
		buf_addf(out, "overlap       %s\n", overlap_words[w->overlap]);
}

void preview_write_text(const struct preview *r, bool all, struct buf *out)
{
	const struct when *w = &r->when;
	explain_when(w, out);
	buf_addc(out, '\n');
	if (all || w->phrase)
		write_normalized(out, w);
	if (all)
		write_directives(out, w);
	if (!w->zone_given)
		buf_addf(out, "zone          %.*s, %s\n", STR_ARG(w->zone_name), r->zone_why);
	else if (w->rule.kind == RULE_EVERY)
		buf_addf(out, "zone          %.*s\n",
			 STR_ARG(w->zone_name)); /* the explanation above does not name the zone */
	for (unsigned i = 0; i < r->n; i++)
		write_run(out, r, r->due[i]);
	for (unsigned i = 0; i < w->warnings; i++)
		buf_addf(out, "warning: %s\n", w->warning[i]);
}
