/* The answers of `rota why`, and the days, hours and dates at which a schedule does not run. */
#include "core/schedule/why.h"
#include "test.h"
#include "zoneinfo.h"

#include <string.h>

#define T(h, m) wall_of(seconds_of(2026, 3, 5, (h), (m), 0))

/* A schedule every ten minutes, created at 08:00. It is 09:05, and everything up to 09:00 is recorded. */
struct fixture {
	struct rules rules;
	struct sched_row row;
	struct run_row record;
	struct range_row range;
	struct days none;
	struct zone *utc;
	struct why_facts facts;
};

static void set_up(struct fixture *f)
{
	*f = (struct fixture){ .rules = { .version = RULES_VERSION } };
	CHECK(zone_fixed(0, &f->utc) == OK);
	f->rules.when = (struct rule){
		.kind = RULE_EVERY, .from = RULE_FROM_ALWAYS, .until = RULE_UNTIL_NEVER, .every = { 0, 600 }
	};
	f->row = (struct sched_row){ .left = UINT32_MAX,
				     .changed = T(8, 0),
				     .high = T(9, 0),
				     .next = T(9, 10),
				     .paused_until = WALL_NEVER };
	f->facts = (struct why_facts){ .rules = &f->rules,
				       .context = { f->utc, f->utc, &f->none },
				       .row = &f->row,
				       .enabled = true,
				       .now = T(9, 5) };
}

static void tear_down(struct fixture *f)
{
	zone_free(f->utc);
}

TEST(record_decides)
{
	struct fixture f;
	set_up(&f);
	f.record = (struct run_row){ .nominal = T(8, 10), .due = T(8, 10), .state = RUN_FINISHED };
	f.facts.record = &f.record;
	CHECK(why_at(&f.facts, T(8, 10)).kind == WHY_RUN);
	f.record.state = RUN_MISSED;
	f.record.reason = REASON_WINDOW_CLOSED;
	struct why_answer a = why_at(&f.facts, T(8, 10));
	CHECK(a.kind == WHY_REFUSED && a.state == RUN_MISSED && a.reason == REASON_WINDOW_CLOSED);
	tear_down(&f);
}

TEST(blocked_schedule_will_not_run)
{
	struct fixture f;
	set_up(&f);
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_WILL_RUN);
	f.facts.blocked = true;
	struct why_answer a = why_at(&f.facts, T(9, 10));
	CHECK(a.kind == WHY_WILL_NOT && a.state == RUN_SKIPPED && a.reason == REASON_BLOCKED);
	tear_down(&f);
}

TEST(present_state_of_a_future_run)
{
	struct fixture f;
	set_up(&f);
	f.facts.would_fail = true;
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_WILL_FAIL);
	f.facts.condition_false = true;
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_IF);
	/* A refusal that needs no evaluation comes first. */
	f.facts.paused = true;
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_WILL_NOT);
	tear_down(&f);
}

TEST(range_decides)
{
	struct fixture f;
	set_up(&f);
	f.range = (struct range_row){ 1, T(8, 10), T(8, 50), RUN_MISSED, REASON_DOWN };
	f.facts.range = &f.range;
	struct why_answer a = why_at(&f.facts, T(8, 30));
	CHECK(a.kind == WHY_REFUSED && a.state == RUN_MISSED && a.reason == REASON_DOWN);
	CHECK(a.before.us == T(8, 20).us && a.after.us == T(8, 40).us);
	/* A time within the range that is no nominal time. */
	CHECK(why_at(&f.facts, T(8, 33)).kind == WHY_NO_TIME);
	/* A nominal time of an older version. */
	struct range_row edited = {
		.first = T(8, 33), .last = T(8, 33), .state = RUN_MISSED, .reason = REASON_EDITED
	};
	const struct range_row *before = f.facts.range;
	f.facts.range = &edited;
	struct why_answer old = why_at(&f.facts, T(8, 33));
	CHECK(old.kind == WHY_REFUSED && old.state == RUN_MISSED && old.reason == REASON_EDITED);
	f.facts.range = before;
	tear_down(&f);
}

TEST(open_range_decides_for_past_times)
{
	struct fixture f;
	set_up(&f);
	f.range = (struct range_row){ 1, T(8, 30), WALL_NEVER, RUN_SKIPPED, REASON_PAUSED };
	f.facts.range = &f.range;
	f.facts.paused = true;
	CHECK(why_at(&f.facts, T(8, 40)).kind == WHY_REFUSED);
	CHECK(why_at(&f.facts, T(8, 40)).reason == REASON_PAUSED);
	/* For future times the answer depends on the end of the pause. */
	CHECK(why_at(&f.facts, T(12, 0)).kind == WHY_WILL_NOT);
	f.row.paused_until = T(11, 0);
	CHECK(why_at(&f.facts, T(10, 50)).kind == WHY_WILL_NOT);
	CHECK(why_at(&f.facts, T(11, 0)).kind == WHY_WILL_RUN);
	tear_down(&f);
}

TEST(next_check_gates_times_before_it)
{
	struct fixture f;
	set_up(&f);
	f.row.next_set_at = T(9, 2);
	f.row.next = T(9, 25);
	f.range = (struct range_row){ 1, T(9, 10), WALL_NEVER, RUN_SKIPPED, REASON_GATED };
	f.facts.range = &f.range;
	f.facts.now = T(9, 12);
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_REFUSED &&
	      why_at(&f.facts, T(9, 10)).reason == REASON_GATED);
	CHECK(why_at(&f.facts, T(9, 20)).kind == WHY_WILL_NOT &&
	      why_at(&f.facts, T(9, 20)).reason == REASON_GATED);
	CHECK(why_at(&f.facts, T(9, 25)).kind == WHY_WILL_RUN &&
	      why_at(&f.facts, T(9, 30)).kind == WHY_WILL_RUN);
	CHECK(why_at(&f.facts, T(9, 24)).kind == WHY_NO_TIME);
	/* The time of the next check has come, and the range is not closed yet. */
	f.facts.now = T(9, 31);
	CHECK(why_at(&f.facts, T(9, 25)).kind == WHY_WAITS && why_at(&f.facts, T(9, 30)).kind == WHY_WAITS);
	/* The next check is sooner than any regular time. */
	f.row.next = T(9, 7);
	f.facts.range = NULL;
	f.facts.now = T(9, 5);
	CHECK(why_at(&f.facts, T(9, 7)).kind == WHY_WILL_RUN &&
	      why_at(&f.facts, T(9, 10)).kind == WHY_WILL_RUN);
	tear_down(&f);
}

TEST(answer_names_the_nearest_times)
{
	struct fixture f;
	set_up(&f);
	struct why_answer a = why_at(&f.facts, T(9, 17));
	CHECK(a.kind == WHY_NO_TIME && a.before.us == T(9, 10).us && a.after.us == T(9, 20).us);
	tear_down(&f);
}

TEST(future_time_runs_unless_something_bars_it)
{
	static const int32_t day[] = { 20518 }; /* 2026-03-06 */
	struct fixture f;
	set_up(&f);
	CHECK(why_at(&f.facts, T(9, 10)).kind == WHY_WILL_RUN);
	const struct days excluded = { day, 1 };
	f.facts.context.excluded = &excluded;
	struct why_answer a = why_at(&f.facts, wall_of(seconds_of(2026, 3, 6, 9, 0, 0)));
	CHECK(a.kind == WHY_WILL_NOT && a.reason == REASON_EXCLUDED);
	f.rules.active = (struct hours){ 8 * 60, 20 * 60, 0 };
	CHECK(why_at(&f.facts, T(20, 0)).reason == REASON_ACTIVE_HOURS);
	CHECK(why_at(&f.facts, T(19, 50)).kind == WHY_WILL_RUN);
	f.facts.held = REASON_AUTH;
	f.facts.held_until = WALL_NEVER;
	CHECK(why_at(&f.facts, T(9, 10)).reason == REASON_BLOCKED);
	f.facts.held = REASON_RATE_LIMITED;
	f.facts.held_until = T(10, 0);
	a = why_at(&f.facts, T(9, 50));
	CHECK(a.kind == WHY_WILL_NOT && a.reason == REASON_RATE_LIMITED && a.state == RUN_MISSED);
	CHECK(why_at(&f.facts, T(10, 0)).kind == WHY_WILL_RUN);
	f.row.left = 0;
	CHECK(why_at(&f.facts, T(10, 0)).reason == REASON_MAX_RUNS);
	f.facts.enabled = false;
	CHECK(why_at(&f.facts, T(12, 0)).kind == WHY_WILL_NOT);
	tear_down(&f);
}

TEST(dates_bar_times)
{
	struct fixture f;
	set_up(&f);
	f.rules.when.from = T(10, 0).us / USEC;
	f.rules.when.until = T(11, 0).us / USEC;
	struct why_answer a = why_at(&f.facts, T(9, 0));
	CHECK(a.kind == WHY_REFUSED && a.reason == REASON_NOT_STARTED && a.after.us == T(10, 0).us);
	CHECK(why_at(&f.facts, T(9, 50)).kind == WHY_WILL_NOT);
	CHECK(why_at(&f.facts, T(10, 0)).kind == WHY_WILL_RUN);
	CHECK(why_at(&f.facts, T(11, 0)).reason == REASON_EXPIRED);
	tear_down(&f);
}

TEST(times_without_a_record)
{
	struct fixture f;
	set_up(&f);
	CHECK(why_at(&f.facts, T(8, 0)).kind == WHY_BEFORE);
	f.row.pruned_to = T(7, 0);
	CHECK(why_at(&f.facts, T(6, 50)).kind == WHY_PRUNED);
	CHECK(why_at(&f.facts, T(9, 0)).kind == WHY_WAITS); /* due, and nothing recorded yet */
	f.row.after = 7;
	CHECK(why_at(&f.facts, T(9, 0)).kind == WHY_FOLLOWS);
	tear_down(&f);
}

TEST(due_time_means_its_nominal_time)
{
	struct fixture f;
	set_up(&f);
	f.rules.when.jitter = 300;
	f.rules.when.spread = UINT64_C(1) << 63; /* half of the jitter */
	struct wall due = rule_due(&f.rules.when, f.utc, T(9, 10)), n;
	CHECK(due.us > T(9, 10).us);
	CHECK(why_nominal(&f.rules, f.utc, due, &n) && n.us == T(9, 10).us);
	CHECK(why_nominal(&f.rules, f.utc, wall_of(wall_seconds(due)), &n) && n.us == T(9, 10).us);
	CHECK(!why_nominal(&f.rules, f.utc, T(9, 11), &n));
	struct why_answer a = why_at(&f.facts, due);
	CHECK(a.kind == WHY_WILL_RUN && a.nominal.us == T(9, 10).us && a.due.us == due.us);
	tear_down(&f);
}

TEST(active_hours_over_midnight)
{
	struct fixture f;
	set_up(&f);
	f.rules.active = (struct hours){ 22 * 60, 6 * 60, 0 };
	CHECK(rules_can_bar(&f.rules, &f.facts.context));
	CHECK(!rules_bar(&f.rules, &f.facts.context, T(22, 0)) &&
	      !rules_bar(&f.rules, &f.facts.context, T(5, 59)));
	CHECK(rules_bar(&f.rules, &f.facts.context, T(6, 0)) &&
	      rules_bar(&f.rules, &f.facts.context, T(21, 59)));
	f.rules.active.from = f.rules.active.to;
	CHECK(!rules_can_bar(&f.rules, &f.facts.context) && !rules_bar(&f.rules, &f.facts.context, T(12, 0)));
	tear_down(&f);
}
