/* Sets the state of tasks, and moves the timestamps of repeating tasks. */
#include "core/org/complete.h"
#include "core/org/element.h"
#include "core/org/line.h"

struct completion {
	const struct org *org;
	const struct org_head *head;
	const struct zone *zone;
	int64_t now;
	struct arena *arena;
	struct org_patch *patch;
	unsigned patches;
	size_t hourly; /* a timestamp that repeats in hours and has no time of day, or WHY_NOWHERE */
	bool ended;    /* the planning line is the last line of the file, and got the missing line end */
	bool repeats;
	enum err failed;
};

static void add_patch(struct completion *c, struct org_span span, struct buf *text)
{
	struct org_patch *all = arena_grow(c->arena, c->patch, c->patches, sizeof *all);
	char *copy = arena_dup(c->arena, buf_str(text));
	if (!all || !copy || text->failed) {
		c->failed = E_NOMEM;
		return;
	}
	c->patch = all;
	c->patch[c->patches++] = (struct org_patch){ span, { copy, text->n } };
}

/* --- timestamps --- */

/* The next timestamp with a repeater at or after `at`; its span, or an empty one. */
static struct org_span find_repeater(struct completion *c, size_t at, size_t end, struct task_time *t)
{
	const char *p = c->org->text.p;
	for (const char *open; at < end && (open = memchr(p + at, '<', end - at));
	     at = (size_t)(open - p) + 1) {
		size_t from = (size_t)(open - p), length;
		if (!stamp_repeats(str_sub(c->org->text, from, end), &length, t))
			continue;
		c->repeats |= t->count > 0;
		if (t->unit == ORG_HOUR && !t->timed && c->hourly == WHY_NOWHERE)
			c->hourly = from;
		return (struct org_span){ (uint32_t)from, (uint32_t)(from + length) };
	}
	return (struct org_span){ 0 };
}

static void move_stamps(void *self, struct org_span part)
{
	struct completion *c = self;
	struct task_time t;
	struct org_span s;
	for (size_t at = part.at; (s = find_repeater(c, at, part.end, &t)).end; at = s.end) {
		_cleanup_(buf_free) struct buf text = { 0 };
		stamp_write_next(org_text(c->org, s), c->zone, c->now, &text);
		add_patch(c, s, &text);
	}
}

/* --- the planning line --- */

/* Copies the line [at, end) with its timestamps moved. */
static void write_moved(struct completion *c, struct str line, struct buf *out)
{
	size_t base = (size_t)(line.p - c->org->text.p), at = base, end = base + line.n;
	struct task_time t;
	struct org_span s;
	while ((s = find_repeater(c, at, end, &t)).end) {
		buf_add(out, str_sub(c->org->text, at, s.at));
		stamp_write_next(org_text(c->org, s), c->zone, c->now, out);
		at = s.end;
	}
	buf_add(out, str_sub(c->org->text, at, end));
}

/* Where the keyword of a timestamp begins; the timestamp is part of `line`. */
static size_t keyword_start(struct str line, size_t stamp)
{
	while (stamp && is_blank(line.p[stamp - 1]))
		stamp--;
	while (stamp && !is_blank(line.p[stamp - 1]) && line.p[stamp - 1] != '>' && line.p[stamp - 1] != ']')
		stamp--;
	return stamp;
}

/* A part of the planning line that is left out, with the blanks after it. */
struct cut {
	size_t at, end;
};

static struct cut cut_of(const struct completion *c, struct str line, struct org_span stamp)
{
	size_t base = c->head->planning.at;
	if (stamp.end == stamp.at)
		return (struct cut){ line.n, line.n };
	size_t at = keyword_start(line, stamp.at - base), end = skip_blanks(line, stamp.end - base);
	return (struct cut){ at, end };
}

/* Leaves out CLOSED, and SCHEDULED if it has no repeater: it has passed. */
static void change_planning(struct completion *c)
{
	const struct org_head *h = c->head;
	struct str line = line_until(c->org, h->planning.at, h->planning.end);
	struct task_time t;
	if (h->planning.end == h->planning.at)
		return;
	bool once = h->scheduled.end > h->scheduled.at && c->org->text.p[h->scheduled.at] == '<' &&
		    !find_repeater(c, h->scheduled.at, h->scheduled.end, &t).end;
	struct cut cuts[2] = { cut_of(c, line, h->closed),
			       cut_of(c, line, once ? h->scheduled : (struct org_span){ 0 }) };
	if (cuts[0].at > cuts[1].at) {
		struct cut first = cuts[1];
		cuts[1] = cuts[0];
		cuts[0] = first;
	}
	/* Without blanks between them, as in SCHEDULED:CLOSED:[...], the two parts overlap. */
	if (cuts[1].at < cuts[0].end)
		cuts[1].at = cuts[0].end;
	if (cuts[1].end < cuts[1].at)
		cuts[1].end = cuts[1].at;
	_cleanup_(buf_free) struct buf out = { 0 };
	write_moved(c, str_sub(line, 0, cuts[0].at), &out);
	write_moved(c, str_sub(line, cuts[0].end, cuts[1].at), &out);
	write_moved(c, str_from(line, cuts[1].end), &out);
	while (out.n && is_blank(out.p[out.n - 1]))
		out.n--;
	bool empty = !out.n, has_end = h->planning.at + line.n < h->planning.end;
	if (!empty)
		buf_add(&out, str_of(c->org->eol));
	c->ended = !has_end;
	add_patch(c, h->planning, &out);
}

/* --- properties and text --- */

static const char *const claim_keys[] = { "AGENT", "CLAIMED" };

static void move_in_properties(struct completion *c)
{
	struct org_property p;
	for (uint32_t at = 0; org_property_next(c->org, c->head, &at, &p);) {
		bool changed = str_ieq(p.key, STR("LAST_REPEAT"));
		for (unsigned i = 0; i < ARRAY_LEN(claim_keys); i++)
			changed |= str_ieq(p.key, str_of(claim_keys[i]));
		if (!changed)
			move_stamps(c, span_of(c->org, p.value));
	}
}

/* Collects the changes of all timestamps of the entry. */
static enum err move_all(struct completion *c, struct why *why)
{
	const struct org_head *h = c->head;
	const struct org_elements each = { .text = move_stamps, .self = c };
	size_t text = h->drawer.end ? h->drawer.end : h->planning.end ? h->planning.end : h->body;
	move_stamps(c, h->title);
	change_planning(c);
	move_in_properties(c);
	enum err e = org_elements(c->org, text, h->end, &each, why);
	if (!e && c->repeats && c->hourly != WHY_NOWHERE)
		e = why_set(why, E_INPUT, c->hourly, "a timestamp that repeats in hours needs a time of day");
	return e ? e : c->failed;
}

/* The state to which a task returns. */
static struct str repeat_state(const struct org *o, const struct org_head *h)
{
	struct str wanted = org_property_value(o, h, "REPEAT_TO_STATE");
	if (org_find_keyword(o, wanted) != ORG_NONE)
		return wanted;
	if (h->keyword == ORG_NONE || o->keyword[h->keyword].type)
		return STR("");
	return o->keyword[o->keyword[h->keyword].first].name;
}

static const char *log_text(struct completion *c, struct str state, const char *time)
{
	_cleanup_(buf_free) struct buf new = { 0 }, old = { 0 };
	buf_addf(&new, "\"%.*s\"", STR_ARG(state));
	buf_addf(&old, "\"%.*s\"", STR_ARG(org_text(c->org, c->head->state)));
	return new.failed || old.failed
		       ? NULL
		       : arena_printf(c->arena, "- State %-12s from %-12s %s", new.p, old.p, time);
}

enum err org_advance(const struct org *o, const struct org_head *h, uint32_t keyword, const struct zone *z,
		     int64_t now, struct arena *a, struct buf *out, bool *repeated, struct why *why)
{
	struct completion c = {
		.org = o, .head = h, .zone = z, .now = now, .arena = a, .hourly = WHY_NOWHERE
	};
	struct str name = o->keyword[keyword].name;
	struct org_set set[] = { { "AGENT", { 0 }, true }, { "CLAIMED", { 0 }, true }, { "LAST_REPEAT" } };
	struct org_change change = { .state = name, .set = set, .sets = 2 };
	bool done = o->keyword[keyword].done && !org_is_done(o, h);
	enum err e = done ? move_all(&c, why) : OK;
	if (e)
		return e;
	if (c.repeats) {
		_cleanup_(buf_free) struct buf time = { 0 };
		buf_addc(&time, '[');
		stamp_write_date(now + zone_offset(z, now), true, &time);
		buf_addc(&time, ']');
		const char *copy = time.failed ? NULL : arena_dup(a, buf_str(&time));
		const char *log = copy ? log_text(&c, name, copy) : NULL;
		if (!log)
			return E_NOMEM;
		set[2].value = str_of(copy);
		change = (struct org_change){ .state = repeat_state(o, h),
					      .set = set,
					      .sets = 3,
					      .patch = c.patch,
					      .patches = c.patches,
					      .ended = c.ended,
					      .log = str_of(log) };
	}
	e = org_change(o, h, &change, a, out, why);
	if (!e)
		*repeated = c.repeats;
	return e;
}
