/* Whole expressions: all forms, with directives. */
#include "base/buf.h"
#include "core/when/explain/explain.h"
#include "core/when/when.h"
#include "fuzz.h"
#include "zoneinfo.h"

static void check_walk(const struct when *w, struct wall after)
{
	struct when_walk walk = when_walk(w, after);
	struct wall nominal, due, last = { INT64_MIN };
	for (unsigned i = 0; i < 4 && when_walk_next(&walk, &nominal, &due) == OK; i++) {
		assert(due.us > after.us);      /* due times are after `after` */
		assert(nominal.us > last.us);   /* nominal times are in order */
		assert(due.us >= nominal.us);   /* no run is due before its nominal time */
		assert(nominal.us % USEC == 0); /* nominal times are whole seconds */
		assert(!days_have(&w->except, w->zone, nominal));
		struct wall prev;
		assert(rule_prev(&w->rule, w->zone, nominal, &prev) == OK && prev.us == nominal.us);
		last = nominal;
	}
}

/* The normalized form has the same times, and does not change when it is normalized again. */
static void check_normalized(const struct when *w, const struct when_env *env, struct arena *a)
{
	struct when again;
	struct why why;
	enum err e = when_parse(w->normalized, env, a, &again, &why);
	assert(e == OK);
	assert(str_eq(again.normalized, w->normalized));
	assert(again.rule.kind == w->rule.kind && !again.relative);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct arena a = { 0 };
	struct why why = { 0 };
	struct when w;
	struct when_env env = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
				.zones = test_zones(),
				.zone = test_zone("America/New_York"),
				.zone_name = STR("America/New_York"),
				.id = size % 2 ? STR("daily_summary") : STR("") };
	enum err e = when_parse(text, &env, &a, &w, &why);
	if (e) {
		assert(why.text[0] && why.at <= size);
		place_of(text, why.at);
	} else {
		struct buf words = { 0 };
		const char *lines[4];
		explain_when(&w, &words);
		assert(words.n > 1 && words.p[words.n - 1] == '.');
		buf_free(&words);
		explain_clock_changes(&w, env.now, wall_of(1794751200 + 400 * 86400), &a, lines, 4);
		check_walk(&w, env.now);
		check_walk(&w, wall_of(1805007600 - 1)); /* the gap of March 2027 */
		check_normalized(&w, &env, &a);
	}
	arena_free(&a);
	return 0;
}
