/* When expressions in words. No two sets of times get the same sentence: each kind names its values exactly,
 * and the sentences of different kinds differ. Parts that restrict nothing are left out. */
#include "core/when/explain/explain.h"
#include "core/when/dur.h"
#include "core/when/explain/cron.h"
#include "core/when/explain/text.h"

static const char *const unit_names[] = { [ORG_HOUR] = "hour",
					  [ORG_DAY] = "day",
					  [ORG_WEEK] = "week",
					  [ORG_MONTH] = "month",
					  [ORG_YEAR] = "year" };

/* --- each kind of rule --- */

static void add_cron(const struct when *w, struct buf *out)
{
	explain_cron(&w->rule.cron, out);
}

static void add_once(const struct zone *z, int64_t t, struct buf *out)
{
	struct local_moment s = local_moment(z, t);
	buf_add(out, STR("Once, at "));
	text_stamp(out, s.local);
	buf_addf(out, " (%s", text_wdays[weekday_of(floor_div(s.local, DAY))]);
	if (s.offset[0])
		buf_addf(out, ", UTC%s", s.offset);
	buf_addc(out, ')');
}

static void add_at(const struct when *w, struct buf *out)
{
	add_once(w->zone, w->rule.at, out);
}

/* Appends elapsed time. Days are "of 24 hours", since days of the calendar may be longer or shorter. */
static void add_interval(int64_t seconds, struct buf *out)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = { { "hour", 3600 }, { "minute", 60 }, { "second", 1 } };
	buf_add(out, STR("Every"));
	if (seconds % DAY == 0 && seconds > DAY) {
		buf_addf(out, " %lld days of 24 hours", (long long)(seconds / DAY));
		return;
	}
	for (unsigned i = 0; i < ARRAY_LEN(units); i++)
		if (seconds == units[i].seconds) {
			buf_addf(out, " %s", units[i].name);
			return;
		}
	for (unsigned i = 0; i < ARRAY_LEN(units); i++) {
		long long n = seconds / units[i].seconds;
		seconds %= units[i].seconds;
		if (n)
			buf_addf(out, " %lld %s%s", n, units[i].name, n == 1 ? "" : "s");
	}
}

/* Is the interval counted from its FROM? Then the sentence names FROM only once. */
static bool starts_at_anchor(const struct rule *r)
{
	return r->kind == RULE_EVERY && r->from != RULE_FROM_ALWAYS && r->from == r->every.anchor;
}

static void add_every(const struct when *w, struct buf *out)
{
	int64_t anchor = w->rule.every.anchor, interval = w->rule.every.interval;
	add_interval(interval, out);
	if (starts_at_anchor(&w->rule)) {
		buf_add(out, STR(" from "));
		text_moment(out, w->zone, anchor);
		buf_add(out, STR(" on"));
		return;
	}
	buf_add(out, STR(", counted from "));
	if (DAY % interval == 0 && anchor % DAY == 0)
		buf_add(out, STR("midnight"));
	else
		text_stamp(out, anchor);
	buf_add(out, STR(" UTC"));
}

/* Are there months (or years) without the day? */
static bool clamps(const struct org_rule *o)
{
	struct date d = date_of(floor_div(o->local, DAY));
	return (o->unit == ORG_MONTH && d.day > 28) || (o->unit == ORG_YEAR && d.month == 2 && d.day == 29);
}

static void add_org(const struct when *w, struct buf *out)
{
	const struct org_rule *o = &w->rule.org;
	int64_t first = zone_utc(w->zone, o->local, NULL);
	if (o->style == ORG_ONCE) {
		add_once(w->zone, first, out);
		return;
	}
	/* Hours are elapsed time from an instant; the other units keep the time of day, even if the first day
	 * does not have it. */
	bool hours = o->unit == ORG_HOUR;
	struct local_moment s =
		hours ? local_moment(w->zone, first) : (struct local_moment){ .local = o->local };
	text_every(out, o->count, unit_names[o->unit]);
	if (!hours) {
		buf_add(out, STR(" at "));
		text_time(out, s.local);
	}
	if (clamps(o) && o->style != ORG_RESTART)
		buf_add(out, STR(" (on the last day of shorter months)"));
	if (o->style == ORG_RESTART)
		buf_add(out, STR(", counted from the end of the run before"));
	buf_addf(out, ", first on %s ", text_wdays[weekday_of(floor_div(s.local, DAY))]);
	text_date(out, floor_div(s.local, DAY));
	if (hours) {
		buf_add(out, STR(" at "));
		text_time(out, s.local);
	}
	if (s.offset[0])
		buf_addf(out, " (UTC%s)", s.offset);
}

typedef void explain_kind(const struct when *w, struct buf *out);
static explain_kind *const kinds[] = {
	[RULE_CRON] = add_cron,
	[RULE_AT] = add_at,
	[RULE_EVERY] = add_every,
	[RULE_ORG] = add_org,
};
static_assert(ARRAY_LEN(kinds) == RULE_KINDS, "one row per kind");

/* --- all kinds --- */

/* Intervals are the same in all zones: a zone is named only for their bounds and excluded days. */
static bool needs_zone(const struct when *w)
{
	const struct rule *r = &w->rule;
	return r->kind != RULE_EVERY || r->from != RULE_FROM_ALWAYS || r->until != RULE_UNTIL_NEVER ||
	       w->except.n;
}

static void add_zone(const struct when *w, struct buf *out)
{
	if (!needs_zone(w))
		return;
	bool comma = out->n && out->p[out->n - 1] == ','; /* written by add_seconds */
	buf_add(out, comma ? STR(" in ") : STR(", in "));
	buf_add(out, w->zone_name);
}

static void add_bounds(const struct when *w, struct buf *out)
{
	const struct rule *r = &w->rule;
	if (r->from != RULE_FROM_ALWAYS && !starts_at_anchor(r)) {
		buf_add(out, STR(", from "));
		text_moment(out, w->zone, r->from);
	}
	if (r->until == RULE_UNTIL_NEVER)
		return;
	struct local_moment s = local_moment(w->zone, r->until);
	buf_add(out, STR(", until "));
	if (s.local % DAY == 0 && !s.offset[0]) {
		buf_add(out, STR("the end of "));
		text_date(out, floor_div(s.local, DAY) - 1);
	} else {
		text_moment(out, w->zone, r->until);
		buf_add(out, STR(" (not included)"));
	}
}

static void add_except(const struct days *d, struct buf *out)
{
	if (d->n)
		buf_add(out, STR(", except on "));
	for (unsigned i = 0; i < d->n; i++) {
		text_join(out, i, d->n, " and ");
		text_date(out, d->day[i]);
	}
}

/* Appends GAP and FOLD if a directive changed the defaults. */
static void add_gap_and_fold(const struct cron *c, struct buf *out)
{
	static const char *const gaps[] = {
		[GAP_SHIFT] = "; times that the clock skips run right after the gap",
		[GAP_SKIP] = "; times that the clock skips do not run",
	};
	static const char *const folds[] = {
		[FOLD_FIRST] = "; times that the clock repeats run the first time only",
		[FOLD_SECOND] = "; times that the clock repeats run the second time only",
		[FOLD_BOTH] = "; times that the clock repeats run both times",
	};
	bool all_day = c->hour == CRON_ALL_HOURS;
	if (c->gap != (all_day ? GAP_SKIP : GAP_SHIFT))
		buf_add(out, str_of(gaps[c->gap]));
	if (c->fold != (all_day ? FOLD_BOTH : FOLD_FIRST))
		buf_add(out, str_of(folds[c->fold]));
}

/* The percentage is for people; the exact share makes the sentences of different schedules differ. */
static void add_jitter(const struct rule *r, struct buf *out)
{
	if (!r->jitter)
		return;
	buf_add(out, STR("; each delayed by this schedule's own share of up to "));
	dur_format(r->jitter, out);
	buf_addf(out, " (%u%%, exactly 0x%llx/2^64)", (unsigned)((unsigned __int128)r->spread * 100 >> 64),
		 (unsigned long long)r->spread);
}

void explain_when(const struct when *w, struct buf *out)
{
	kinds[w->rule.kind](w, out);
	add_zone(w, out);
	add_bounds(w, out);
	add_except(&w->except, out);
	if (w->rule.kind == RULE_CRON)
		add_gap_and_fold(&w->rule.cron, out);
	if (w->rule.kind == RULE_ORG && w->rule.org.style == ORG_FUTURE)
		buf_add(out, STR("; missed ones are skipped"));
	add_jitter(&w->rule, out);
	buf_addc(out, '.');
}
