/* Describes in words what clock changes do to the runs of a when expression. */
#include "core/when/explain/explain.h"
#include "core/when/explain/text.h"
#include "core/when/iso.h"

/* The rule and the range that are examined. In `flat`, a zone without changes, the rule `local` gives local
 * times as if they were instants. */
struct clock_query {
	const struct when *when;
	struct rule local;
	const struct zone *flat;
	int64_t after, until; /* seconds */
};

/* A clock change, and the local times [from, to) that it skips or repeats. */
struct clock_change {
	int64_t at; /* seconds UTC */
	int32_t before, after;
	bool gap;
	int64_t from, to;
};

/* The times of the rule that a clock change skips or repeats: the first few, and the last. */
enum { TIMES_MAX = 3 };
struct affected {
	int64_t first[TIMES_MAX], last;
	unsigned n; /* TIMES_MAX + 1: more than TIMES_MAX */
};

/* False for rules that clock changes do not affect: intervals, and one-shots, which are instants already
 * (when_parse warns about their local times). */
static bool local_rule(const struct when *w, struct rule *ret)
{
	if (w->rule.kind != RULE_CRON && w->rule.kind != RULE_ORG)
		return false;
	*ret = w->rule;
	ret->from = RULE_FROM_ALWAYS;
	ret->until = RULE_UNTIL_NEVER;
	if (ret->kind == RULE_ORG && ret->org.unit == ORG_HOUR)
		ret->org.style = ORG_ONCE; /* only the first time is a local time */
	return true;
}

/* The first time of the rule in local [from, to). */
static bool first_between(const struct clock_query *q, int64_t from, int64_t to, int64_t *ret)
{
	struct wall t;
	if (from >= to || rule_next(&q->local, q->flat, wall_of(from - 1), &t) != OK || wall_seconds(t) >= to)
		return false;
	*ret = wall_seconds(t);
	return true;
}

static bool runs_between(const struct clock_query *q, int64_t from, int64_t to)
{
	int64_t ignored;
	return first_between(q, from, to, &ignored);
}

static struct affected affected_times(const struct clock_query *q, const struct clock_change *c)
{
	struct affected t = { .last = c->from - 1 };
	int64_t found;
	while (t.n <= TIMES_MAX && first_between(q, t.last + 1, c->to, &found)) {
		if (t.n < TIMES_MAX)
			t.first[t.n] = found;
		t.last = found;
		t.n++;
	}
	struct wall last;
	if (t.n > TIMES_MAX && rule_prev(&q->local, q->flat, wall_of(c->to - 1), &last) == OK)
		t.last = wall_seconds(last);
	return t;
}

/* Is the day of this local time excluded? */
static bool is_excluded(const struct when *w, int64_t local)
{
	int64_t day = floor_div(local, DAY);
	for (unsigned i = 0; i < w->except.n; i++)
		if (w->except.day[i] == day)
			return true;
	return false;
}

static int64_t max_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Local times are repeated in two passes with different offsets. Is there a run in the pass with this offset,
 * within the range? */
static bool runs_in_pass(const struct clock_query *q, const struct clock_change *c, int32_t offset)
{
	return runs_between(q, max_of(c->from, q->after + 1 + offset), min_of(c->to, q->until + 1 + offset));
}

/* "02:00 and 02:30 do not exist on 2027-03-14 in America/New_York (the clock goes from 02:00 to 03:00): " */
static void add_affected(const struct clock_query *q, const struct clock_change *c, const struct affected *t,
			 struct buf *out)
{
	int64_t day = floor_div(t->first[0], DAY), from = c->at + c->before, to = c->at + c->after;
	bool one_day = floor_div(t->last, DAY) == day;
	bool clock_too = one_day && floor_div(from, DAY) == day && floor_div(to, DAY) == day;
	void (*add)(struct buf *, int64_t) = one_day ? text_time : text_stamp;
	if (t->n > TIMES_MAX) {
		buf_add(out, STR("The times from "));
		add(out, t->first[0]);
		buf_add(out, STR(" to "));
		add(out, t->last);
	}
	for (unsigned i = 0; i < t->n && t->n <= TIMES_MAX; i++) {
		text_join(out, i, t->n, " and ");
		add(out, t->first[i]);
	}
	static const char *const verbs[2][2] = { { " comes twice", " come twice" },
						 { " does not exist", " do not exist" } };
	buf_add(out, str_of(verbs[c->gap][t->n > 1]));
	if (one_day) {
		buf_add(out, STR(" on "));
		text_date(out, day);
	}
	buf_add(out, STR(" in "));
	buf_add(out, q->when->zone_name);
	add = clock_too ? text_time : text_stamp;
	buf_addf(out, " (the clock goes %sfrom ", c->gap ? "" : "back ");
	add(out, from);
	buf_add(out, STR(" to "));
	add(out, to);
	buf_add(out, STR("): "));
}

/* Cron times in a gap all run at its end; an org time keeps its distance to the times before the gap. */
static bool add_shifted(const struct clock_query *q, const struct clock_change *c, const struct affected *t,
			struct buf *out)
{
	int64_t run = q->local.kind == RULE_CRON ? c->at : t->first[0] - c->before;
	int64_t to = run + c->after;
	if (run <= q->after || run > q->until || is_excluded(q->when, to))
		return false;
	add_affected(q, c, t, out);
	bool joins = runs_between(q, to, to + 1),
	     same_day = floor_div(to, DAY) == floor_div(t->first[0], DAY);
	if (joins)
		buf_add(out, t->n > 1 ? STR("they fall together with the run at ")
				      : STR("it falls together with the run at "));
	else
		buf_add(out, q->when->rule.jitter ? STR("the delay counts from ")
			     : t->n > 1           ? STR("they run once at ")
						  : STR("it runs at "));
	(same_day ? text_time : text_stamp)(out, to);
	buf_add(out, joins ? STR(".") : STR(" instead."));
	return true;
}

static bool add_skipped(const struct clock_query *q, const struct clock_change *c, const struct affected *t,
			struct buf *out)
{
	if (c->at <= q->after || c->at > q->until ||
	    (is_excluded(q->when, t->first[0]) && is_excluded(q->when, t->last)))
		return false;
	add_affected(q, c, t, out);
	buf_add(out, t->n > 1 ? STR("they do not run.") : STR("it does not run."));
	return true;
}

static bool add_repeated(const struct clock_query *q, const struct clock_change *c, const struct affected *t,
			 struct buf *out)
{
	if ((!runs_in_pass(q, c, c->before) && !runs_in_pass(q, c, c->after)) ||
	    (is_excluded(q->when, t->first[0]) && is_excluded(q->when, t->last)))
		return false;
	unsigned fold = q->local.kind == RULE_CRON ? q->local.cron.fold : FOLD_FIRST;
	char offset[ISO_SIZE];
	add_affected(q, c, t, out);
	buf_add(out, t->n > 1 ? STR("they run ") : STR("it runs "));
	if (fold == FOLD_BOTH)
		buf_add(out, STR("both times."));
	else
		buf_addf(out, "the %s time only (UTC%s).", fold == FOLD_FIRST ? "first" : "second",
			 iso_format_offset(fold == FOLD_FIRST ? c->before : c->after, offset));
	return true;
}

static bool add_change(const struct clock_query *q, const struct clock_change *c, struct buf *out)
{
	struct affected t = affected_times(q, c);
	if (t.n == 0)
		return false;
	if (!c->gap)
		return add_repeated(q, c, &t, out);
	bool skip = q->local.kind == RULE_CRON && q->local.cron.gap == GAP_SKIP;
	return skip ? add_skipped(q, c, &t, out) : add_shifted(q, c, &t, out);
}

static struct clock_change change_at(const struct zone_span *s)
{
	struct clock_change c = { s->to, s->offset, s->after, s->after > s->offset, 0, 0 };
	c.from = c.at + min_of(c.before, c.after);
	c.to = c.at + max_of(c.before, c.after);
	return c;
}

unsigned explain_clock_changes(const struct when *w, struct wall after, struct wall until, struct arena *a,
			       const char **ret, unsigned max)
{
	enum { REACH = 2 * 86400 }; /* more than a clock change can move a time */
	struct clock_query q = { .when = w,
				 .after = max_of(wall_seconds(after), max_of(w->rule.from, SECONDS_MIN) - 1),
				 .until = min_of(wall_seconds(until),
						 min_of(w->rule.until - 1, SECONDS_MAX)) };
	_cleanup_(zone_freep) struct zone *flat = NULL;
	unsigned n = 0;
	if (!local_rule(w, &q.local) || zone_fixed(0, &flat))
		return 0;
	q.flat = flat;
	int64_t t = q.after - REACH;
	for (unsigned i = 0; i < CLOCK_CHANGES_MAX && n < max; i++) {
		struct zone_span s = zone_span(w->zone, t);
		if (s.to >= ZONE_FOREVER || s.to > q.until + REACH)
			break;
		t = s.to;
		_cleanup_(buf_free) struct buf line = { 0 };
		struct clock_change c = change_at(&s);
		if (!add_change(&q, &c, &line))
			continue;
		ret[n] = line.failed ? NULL : arena_dup(a, buf_str(&line));
		if (!ret[n])
			break;
		n++;
	}
	return n;
}
