/* Scenarios: what people do, and what clocks do. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"

/* --- pause --- */

SCENARIO(pause_and_resume)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:25");
	expect_true(s, order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER }).code ==
			       REPLY_OK);
	until(s, "08:42");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30.. skipped/paused");
	until(s, "08:45");
	expect_true(s, order(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_OK);
	until(s, "08:55");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

SCENARIO(pause_for_a_while)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:25");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	until(s, "08:55");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

SCENARIO(pause_all)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN }),
		 b = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:25");
	order(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	until(s, "08:45");
	order(s, (struct command){ .kind = CMD_RESUME });
	until(s, "08:55");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
	expect(s, b, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

/* Waiting ones are skipped, the running one finishes. */
SCENARIO(pause_skips_the_waiting)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	plays(s, a, lasting(MINUTES(15)));
	until(s, "08:22");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:45");
	expect(s, a, "08:10 done 08:10-08:25; 08:20.. skipped/paused");
}

SCENARIO(pause_all_skips_the_waiting)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	plays(s, a, lasting(MINUTES(15)));
	until(s, "08:22");
	order(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	until(s, "08:45");
	expect(s, a, "08:10 done 08:10-08:25; 08:20.. skipped/paused");
}

SCENARIO(pause_drops_the_retry)
{
	uint64_t a = add(
		s, (struct spec){ .cron = EVERY_TEN,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 480 } });
	plays(s, a, failing(SECONDS(1), REASON_EXIT));
	until(s, "08:15");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:45");
	expect(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20.. skipped/paused");
}

SCENARIO(pause_survives_a_restart)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:15");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:25");
	world_crash(stage_world(s), MINUTES(10));
	until(s, "08:45");
	order(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	until(s, "08:55");
	expect(s, a, RAN("08:10") "08:20..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

/* A person's word runs all the same. */
SCENARIO(manual_run)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .max_runs = 1 });
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:05");
	plays(s, a, lasting(MINUTES(1)));
	struct reply r = order(s, (struct command){ .kind = CMD_RUN, .sid = a });
	expect_true(s, r.code == REPLY_OK && r.run);
	until(s, "08:05:30");
	expect_true(s, order(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_BUSY);
	until(s, "08:10");
	order(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	until(s, "09:05");
	expect(s, a, "manual 08:05 done 08:05-08:06; 09:00 done 09:00-09:01; 03-06 09:00.. skipped/max_runs");
}

SCENARIO(manual_run_asks_the_budget_only)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE,
					   .policy.preconditions =
						   1 << ASK_BUDGET | 1 << ASK_CONDITION | 1 << ASK_HOOK });
	answers(s, a, ASK_CONDITION, false, REASON_CONDITION);
	answers(s, a, ASK_HOOK, false, REASON_HOOK);
	until(s, "08:05");
	order(s, (struct command){ .kind = CMD_RUN, .sid = a });
	until(s, "08:10");
	expect(s, a, "manual 08:05 done 08:05-08:05:01");
	answers(s, a, ASK_BUDGET, false, REASON_BUDGET);
	order(s, (struct command){ .kind = CMD_RUN, .sid = a });
	until(s, "08:15");
	expect(s, a, "manual 08:05 done 08:05-08:05:01; 08:10 skipped/budget");
}

/* --- stop --- */

static uint64_t open_run(struct stage *s, uint64_t sid)
{
	const struct rows *rows = stage_world(s)->rows;
	for (size_t i = 0; i < rows_open(rows); i++)
		if (rows_open_at(rows, i)->sid == sid)
			return rows_open_at(rows, i)->run;
	return 0;
}

SCENARIO(stop_a_running_one)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .policy.retries = 3 });
	plays(s, a, lasting(MINUTES(15)));
	until(s, "09:02");
	expect_true(s,
		    order(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code == REPLY_OK);
	until(s, "09:30");
	expect(s, a, "09:00 killed/cancelled 09:00-09:02");
}

SCENARIO(stop_a_queued_one)
{
	slots(s, 1);
	uint64_t other = add(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	plays(s, other, lasting(MINUTES(15)));
	until(s, "09:02");
	expect_true(s,
		    order(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code == REPLY_OK);
	until(s, "09:30");
	expect(s, a, "09:00 killed/cancelled");
}

SCENARIO(stop_a_waiting_one)
{
	uint64_t a =
		add(s, (struct spec){ .cron = AT_NINE,
				      .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	answers(s, a, ASK_CONDITION, false, REASON_CONDITION);
	until(s, "09:02");
	expect_true(s,
		    order(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code == REPLY_OK);
	answers(s, a, ASK_CONDITION, true, REASON_NONE);
	until(s, "09:30");
	expect(s, a, "09:00 killed/cancelled");
}

SCENARIO(stop_one_that_waits_for_its_retry)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .policy = { .retries = 3, .retry_delay = 600 } });
	plays(s, a, failing(SECONDS(1), REASON_EXIT));
	until(s, "09:02");
	expect_true(s,
		    order(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code == REPLY_OK);
	until(s, "09:30");
	expect(s, a, "09:00 failed/exit 09:00-09:00:01"); /* that is when the run ended for good */
}

/* The stop was answered; a crash right after must not undo it. */
SCENARIO(stop_survives_a_crash)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	plays(s, a,
	      (struct fate){ .lasts = MINUTES(15), .outcome = OUTCOME_DONE, .dies_slowly = SECONDS(20) });
	until(s, "09:02");
	order(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) });
	world_crash(stage_world(s), SECONDS(5));
	until(s, "09:30");
	expect(s, a, "09:00 killed/cancelled 09:00-09:02:20");
}

/* --- edit and removal --- */

SCENARIO(edit_of_when)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:25");
	change(s, a, (struct spec){ .cron = "5 * * * *" });
	until(s, "09:10");
	expect(s, a, RAN("08:10") RAN("08:20") "09:05 done 09:05-09:05:01");
}

/* The new when has a time that has passed already: it does not fire. */
SCENARIO(edit_does_not_fire_the_past)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	until(s, "08:25");
	change(s, a, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:35");
	expect(s, a, "08:30 done 08:30-08:30:01");
}

/* 09:10 waits for the end of a hold when it is changed. */
static uint64_t held_when_edited(struct stage *s, struct spec to)
{
	uint64_t limited = add(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	uint64_t a = add(s, (struct spec){ .cron = "10 * * * *", .policy = { .agent = 2, .account = 9 } });
	struct fate f = failing(SECONDS(1), REASON_RATE_LIMITED);
	f.reset = at(s, "09:20");
	plays(s, limited, f);
	plays(s, limited, lasting(SECONDS(1)));
	until(s, "08:15");
	expect(s, a, "08:10 done 08:10-08:10:01");
	until(s, "09:15");
	to.policy.agent = 2;
	to.policy.account = 9;
	change(s, a, to);
	until(s, "09:45");
	return a;
}

SCENARIO(edit_of_when_with_one_pending)
{
	expect(s, held_when_edited(s, (struct spec){ .cron = "40 * * * *" }),
	       RAN("08:10") "09:10 missed/edited; 09:40 done 09:40-09:40:01");
}

SCENARIO(edit_of_action_with_one_pending)
{
	uint64_t a = held_when_edited(s, (struct spec){ .cron = "10 * * * *", .policy.retries = 1 });
	expect(s, a, RAN("08:10") "09:10 done 09:20-09:20:01");
	expect_true(s, rows_at(stage_world(s)->rows, a, at(s, "09:10"))->rev == 2);
}

/* Down from 08:55 to 09:30; what was due at 09:00 is settled by the documents as they are at the start. */
static uint64_t edited_while_down(struct stage *s, struct spec to)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	until(s, "08:55");
	stage_world(s)->config.documents_first = true;
	world_crash(stage_world(s), MINUTES(35));
	until(s, "09:40");
	expect(s, a, "");
	change(s, a, to);
	until(s, "09:41");
	world_documents(stage_world(s));
	until(s, "09:45");
	return a;
}

SCENARIO(documents_first_when_changed)
{
	expect(s, edited_while_down(s, (struct spec){ .cron = "43 9 * * *" }),
	       "09:00 missed/edited; 09:43 done 09:43-09:43:01");
}

SCENARIO(documents_first_action_changed)
{
	uint64_t a = edited_while_down(s, (struct spec){ .cron = AT_NINE, .policy.retries = 1 });
	expect(s, a, "09:00 done 09:41-09:41:01");
	expect_true(s, rows_at(stage_world(s)->rows, a, at(s, "09:00"))->rev == 2);
}

/* The gate must not lose count of a run whose agent, key and priority change under it. */
SCENARIO(edit_of_agent_while_running)
{
	uint64_t a =
		add(s, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 1, .key = 5, .priority = 3 } });
	uint64_t b = add(s, (struct spec){ .cron = "22 8 * * *", .policy = { .agent = 1, .key = 5 } });
	plays(s, a, lasting(MINUTES(3)));
	until(s, "08:11");
	change(s, a, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 2, .key = 6, .priority = -3 } });
	until(s, "08:29");
	expect(s, a, "08:10 done 08:10-08:13; 08:20 done 08:20-08:23");
	expect(s, b, "08:22 done 08:22-08:22:01");
}

SCENARIO(edit_of_priority_while_queued)
{
	slots(s, 1);
	uint64_t other = add(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .policy.priority = 3 });
	uint64_t b = add(s, (struct spec){ .cron = AT_NINE });
	plays(s, other, lasting(MINUTES(15)));
	until(s, "09:02");
	change(s, a, (struct spec){ .cron = AT_NINE, .policy.priority = -3 });
	until(s, "09:30");
	expect(s, other, "08:55 done 08:55-09:10");
	expect_true(s, rows_open(stage_world(s)->rows) == 0);
	expect_true(s, rows_at(stage_world(s)->rows, a, at(s, "09:00"))->outcome == OUTCOME_DONE);
	expect_true(s, rows_at(stage_world(s)->rows, b, at(s, "09:00"))->outcome == OUTCOME_DONE);
}

SCENARIO(removal_lets_it_finish)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	plays(s, a, lasting(MINUTES(5)));
	until(s, "08:12");
	expect_true(s, order(s, (struct command){ .kind = CMD_DROP, .sid = a }).code == REPLY_OK);
	until(s, "08:45");
	expect(s, a, "08:10 done 08:10-08:15");
}

SCENARIO(removal_with_kill)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	plays(s, a, lasting(MINUTES(5)));
	until(s, "08:12");
	expect_true(s,
		    order(s, (struct command){ .kind = CMD_DROP, .sid = a, .kill = true }).code == REPLY_OK);
	until(s, "08:45");
	expect(s, a, "08:10 killed/cancelled 08:10-08:12");
}

/* --- backfill --- */

SCENARIO(backfill_over_missed)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	until(s, "08:15");
	world_crash(stage_world(s), MINUTES(40));
	until(s, "09:05");
	expect_true(s, order(s, (struct command){ .kind = CMD_BACKFILL,
						  .sid = a,
						  .from = at(s, "08:10"),
						  .to = at(s, "08:40") })
				       .code == REPLY_OK);
	until(s, "09:09");
	expect(s, a,
	       RAN("08:10") "08:20..08:50 missed/down; backfill 08:20 done 09:05-09:05:01; "
			    "backfill 08:30 done 09:05:01-09:05:02; backfill 08:40 done 09:05:02-09:05:03; "
			    "09:00 done 09:00-09:00:01");
}

SCENARIO(backfill_over_skipped)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	plays(s, a, lasting(MINUTES(15)));
	plays(s, a, lasting(SECONDS(1)));
	until(s, "08:26");
	expect(s, a, "08:10 done 08:10-08:25; 08:20 skipped/overlap");
	order(s, (struct command){
			 .kind = CMD_BACKFILL, .sid = a, .from = at(s, "08:00"), .to = at(s, "08:25") });
	until(s, "08:29");
	expect(s, a,
	       "backfill 08:00 done 08:26-08:26:01; 08:10 done 08:10-08:25; "
	       "backfill 08:20 done 08:26:01-08:26:02 was skipped");
}

SCENARIO(backfill_up_to_the_limit)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN,
					   .policy = { .missed = MISSED_SKIP, .catch_up_limit = 2 } });
	until(s, "08:15");
	world_crash(stage_world(s), MINUTES(40));
	until(s, "09:05");
	order(s, (struct command){
			 .kind = CMD_BACKFILL, .sid = a, .from = at(s, "08:10"), .to = at(s, "08:50") });
	until(s, "09:09");
	expect(s, a,
	       RAN("08:10") "08:20..08:50 missed/down; backfill 08:20 done 09:05-09:05:01; "
			    "backfill 08:30 done 09:05:01-09:05:02; 09:00 done 09:00-09:00:01");
}

/* --- clocks --- */

/* What ran does not run again. */
SCENARIO(clock_back_runs_nothing_twice)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:35");
	world_step_clock(stage_world(s), -MINUTES(30));
	until(s, "08:45");
	expect(s, a, RAN("08:10") RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

/* What was refused comes again. */
SCENARIO(clock_back_withdraws)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.preconditions = 1 << ASK_CONDITION });
	answers(s, a, ASK_CONDITION, false, REASON_CONDITION);
	until(s, "08:35");
	expect(s, a, "08:10..08:30 skipped/condition");
	answers(s, a, ASK_CONDITION, true, REASON_NONE);
	world_step_clock(stage_world(s), -MINUTES(20));
	until(s, "08:45");
	expect(s, a, "08:10 skipped/condition; " RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

/* A boot with a wrong clock must not cancel years. */
SCENARIO(clock_years_ahead_and_back)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	until(s, "08:15");
	world_step_clock(stage_world(s), DAYS(1000));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(3));
	world_step_clock(stage_world(s), -DAYS(1000));
	until(s, "08:35");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}

static bool clock_is_held(struct stage *s)
{
	return engine_counts(stage_world(s)->engine).clock_held;
}

/* A clock that jumps ahead by more than a day is not believed: nothing is recorded by it. */
SCENARIO(clock_far_ahead_is_held)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	until(s, "08:15");
	world_step_clock(stage_world(s), DAYS(2));
	until(s, "03-07 08:25");
	expect_true(s, clock_is_held(s));
	expect(s, a, "08:10 done 08:10-08:10:01");
	world_step_clock(stage_world(s), -DAYS(2));
	until(s, "08:35");
	expect_true(s, !clock_is_held(s));
	expect(s, a, RAN("08:10") "08:20 missed/clock; 08:30 done 08:30-08:30:01");
}

/* A person says it is right: then what lies between was missed. */
SCENARIO(clock_far_ahead_is_believed)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .policy.missed = MISSED_SKIP });
	until(s, "09:15");
	world_step_clock(stage_world(s), DAYS(2));
	until(s, "03-07 09:25");
	order(s, (struct command){ .kind = CMD_CLOCK });
	expect_true(s, !clock_is_held(s));
	until(s, "03-08 10:00");
	expect(s, a,
	       RAN("09:00") "03-06 09:00..03-07 09:00 missed/clock; "
			    "03-08 09:00 done 03-08 09:00-03-08 09:00:01");
}

/* A day ahead, not more: that may be so. */
SCENARIO(clock_ahead_within_a_day)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE, .policy.missed = MISSED_SKIP });
	until(s, "08:15");
	world_step_clock(stage_world(s), HOURS(23));
	until(s, "03-06 09:30");
	expect_true(s, !clock_is_held(s));
	expect(s, a, "09:00 missed/clock; 03-06 09:00 done 03-06 09:00-03-06 09:00:01");
}

/* A machine that comes up years after its last record has a wrong clock, or much to catch up with: it asks.
 */
SCENARIO(clock_years_ahead_at_boot)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	until(s, "09:15");
	world_machine(stage_world(s), MINUTES(5));
	world_step_clock(stage_world(s), DAYS(800));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(10));
	expect_true(s, clock_is_held(s));
	world_step_clock(stage_world(s), -DAYS(800));
	until(s, "03-06 09:15");
	expect_true(s, !clock_is_held(s));
	expect(s, a, RAN("09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01");
}

/* One without a battery comes up years before its last record, and is set right later: nobody is asked. The
 * years between are one record. */
SCENARIO(clock_years_behind_at_boot)
{
	uint64_t a = add(s, (struct spec){ .cron = AT_NINE });
	until(s, "09:15");
	world_machine(stage_world(s), MINUTES(5));
	world_step_clock(stage_world(s), -DAYS(3650));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(10));
	world_step_clock(stage_world(s), DAYS(3650));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(10));
	expect_true(s, !clock_is_held(s));
	until(s, "03-06 09:15");
	expect(s, a,
	       "03-08 09:00..03-04 09:00 missed/superseded; " RAN(
		       "09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01");
	/* Far beyond its last record it is not believed then, either. */
	world_step_clock(stage_world(s), -DAYS(3650));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(10));
	world_step_clock(stage_world(s), DAYS(3650 + 800));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(10));
	expect_true(s, clock_is_held(s));
	world_step_clock(stage_world(s), -DAYS(800));
	until(s, "03-07 09:15");
	expect_true(s, !clock_is_held(s));
	expect(s, a,
	       "03-08 09:00..09:00 missed/superseded; " RAN(
		       "09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01; "
				"03-07 09:00 done 03-07 09:00-03-07 09:00:01");
}

/* An hour, as when somebody mistakes the zone. */
SCENARIO(clock_an_hour_ahead_and_back)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	until(s, "08:15");
	world_step_clock(stage_world(s), HOURS(1));
	until(s, "09:25");
	expect(s, a, RAN("08:10") "08:20..09:10 missed/clock; 09:20 done 09:20-09:20:01");
	world_step_clock(stage_world(s), -HOURS(1));
	until(s, "09:35");
	expect_true(s, !clock_is_held(s));
	expect(s, a,
	       RAN("08:10") "08:20..08:25 missed/clock; " RAN("08:30") RAN("08:40") RAN("08:50") RAN("09:00")
		       RAN("09:10") RAN("09:20") "09:30 done 09:30-09:30:01");
}

/* Rules for other zone data decide nothing: not a claim, not even what was missed, until they are made anew.
 */
SCENARIO(recompile_rules_wait_for_their_recompilation)
{
	struct spec spec = { .cron = EVERY_TEN, .policy.missed = MISSED_SKIP };
	struct command old = spec_put(&spec, 0), now = { .kind = CMD_RECOMPILE, .rules = spec_rules(&spec) };
	uint32_t at_first = 0;
	old.rules.zone_print++;
	uint64_t a = order(s, old).sid;
	until(s, "08:35");
	expect(s, a, "");
	expect_true(s, engine_counts(stage_world(s)->engine).outdated == 1);
	expect_true(s, engine_outdated(stage_world(s)->engine, &at_first) == a);
	now.sid = a;
	expect_true(s, order(s, now).code == REPLY_OK);
	expect_true(s, engine_counts(stage_world(s)->engine).outdated == 0);
	until(s, "08:45");
	expect(s, a, "08:10..08:30 missed/down; 08:40 done 08:40-08:40:01");
	expect_true(s, order(s, now).code == REPLY_NOT_FOUND);
}

/* An agent's definition is another now. */
static void define(struct stage *s, uint32_t agent, uint64_t print)
{
	struct world *w = stage_world(s);
	*(agent ? &w->agents[agent] : &w->default_agent) = print;
	world_engine(w, &(struct event){ .kind = EV_AGENTS, .key = agent });
}

static struct command compiled(uint64_t sid, struct spec spec, uint64_t print)
{
	struct command c = { .kind = CMD_RECOMPILE, .sid = sid, .rules = spec_rules(&spec) };
	c.rules.agent_print = print;
	return c;
}

static unsigned outdated(struct stage *s)
{
	return engine_counts(stage_world(s)->engine).outdated;
}

/* Who was blocked for want of an agent goes on when there is one, and is blocked again when it goes; what
 * came meanwhile was skipped, and does not come again. Others are not touched. */
SCENARIO(agent_comes_and_goes)
{
	struct spec blocked = { .cron = EVERY_TEN,
				.policy = { .action = ACTION_TURN,
					    .agent = 3,
					    .agent_choice = AGENT_CHOICE_NAMED,
					    .preconditions = 1 << ASK_HOOK } },
		    good = blocked;
	good.policy.preconditions = 0;
	uint64_t a = add(s, blocked), other = add(s, (struct spec){ .cron = EVERY_TEN, .policy.agent = 2 });
	answers(s, a, ASK_HOOK, false, REASON_BLOCKED);
	until(s, "08:25");
	define(s, 2, 4711);
	expect_true(s, outdated(s) == 0);
	define(s, 3, 5);
	expect_true(s, outdated(s) == 1);
	expect_true(s, order(s, compiled(a, good, 5)).code == REPLY_OK);
	expect_true(s, outdated(s) == 0);
	until(s, "08:45");
	define(s, 3, 0);
	expect_true(s, order(s, compiled(a, blocked, 0)).code == REPLY_OK);
	until(s, "08:55");
	expect(s, a, "08:10..08:20 skipped/blocked; " RAN("08:30") RAN("08:40") "08:50 skipped/blocked");
	expect(s, other, RAN("08:10") RAN("08:20") RAN("08:30") RAN("08:40") "08:50 done 08:50-08:50:01");
}

/* Rules that were made with a definition which is another by now wait until they are made anew; a crash in
 * between changes nothing about it. */
SCENARIO(default_agent_changes_over_a_crash)
{
	struct spec spec = {
		.cron = EVERY_TEN,
		.policy = { .action = ACTION_TURN, .agent = 1, .agent_choice = AGENT_CHOICE_DEFAULT }
	};
	struct command put = spec_put(&spec, 0);
	stage_world(s)->default_agent = 7;
	put.rules.agent_print = 7;
	uint64_t a = order(s, put).sid;
	until(s, "08:15");
	define(s, 0, 8);
	expect_true(s, outdated(s) == 1);
	world_crash(stage_world(s), SECONDS(5));
	until(s, "08:16");
	expect_true(s, outdated(s) == 1);
	expect_true(s, order(s, compiled(a, spec, 8)).code == REPLY_OK);
	until(s, "08:35");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}

/* A paused one stays paused, and its times that come again are in the range. */
SCENARIO(clock_back_while_paused)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:15");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:45");
	world_step_clock(stage_world(s), -MINUTES(30));
	until(s, "08:35");
	order(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	until(s, "08:55");
	expect(s, a, RAN("08:10") "08:20..08:35 skipped/paused; " RAN("08:40") "08:50 done 08:50-08:50:01");
}

/* Paused when the clock goes back, resumed before the old time is reached again. */
SCENARIO(clock_back_and_resume)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:32");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:35");
	world_step_clock(stage_world(s), -MINUTES(30));
	until(s, "08:06");
	order(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	until(s, "08:45");
	expect(s, a, RAN("08:10") RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

SCENARIO(clock_back_and_edit)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:35");
	world_step_clock(stage_world(s), -MINUTES(30));
	until(s, "08:06");
	change(s, a, (struct spec){ .cron = "5,15,25,40 * * * *" });
	until(s, "08:45");
	expect(s, a,
	       RAN("08:10") RAN("08:15") RAN("08:20") RAN("08:25") RAN("08:30") "08:40 done 08:40-08:40:01");
}

/* Resumed while the clock was years ahead: the range that was closed there must not cancel them. */
SCENARIO(clock_ahead_resume_and_back)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	until(s, "08:15");
	order(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	until(s, "08:16");
	world_step_clock(stage_world(s), DAYS(1000));
	world_run(stage_world(s), stage_world(s)->t + MINUTES(1));
	/* Not by a clock that nobody believes. */
	expect_true(s, order(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_BUSY);
	order(s, (struct command){ .kind = CMD_CLOCK });
	world_run(stage_world(s), stage_world(s)->t + SECONDS(1));
	expect_true(s, order(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_OK);
	world_run(stage_world(s), stage_world(s)->t + MINUTES(1));
	world_step_clock(stage_world(s), -DAYS(1000));
	until(s, "08:35");
	expect(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}

/* A follower's ends come at times it has had already. */
SCENARIO(clock_back_for_a_follower)
{
	uint64_t a = add(s, (struct spec){ .cron = EVERY_TEN });
	uint64_t b = add(s, (struct spec){ .after = a, .policy.after = AFTER_ANY });
	until(s, "08:45");
	world_step_clock(stage_world(s), -MINUTES(2));
	order(s, (struct command){ .kind = CMD_RUN, .sid = a });
	until(s, "08:44:59");
	expect(s, b,
	       "after 08:10:01 done 08:10:01-08:10:02; after 08:20:01 done 08:20:01-08:20:02; "
	       "after 08:30:01 done 08:30:01-08:30:02; after 08:40:01 done 08:40:01-08:40:02; "
	       "after 08:43:01 done 08:43:01-08:43:02");
	world_step_clock(stage_world(s), -MINUTES(10));
	order(s, (struct command){ .kind = CMD_RUN, .sid = a });
	until(s, "08:39");
	expect(s, b,
	       "after 08:10:01 done 08:10:01-08:10:02; after 08:20:01 done 08:20:01-08:20:02; "
	       "after 08:30:01 done 08:30:01-08:30:02; after 08:35 done 08:35-08:35:01; "
	       "after 08:40:01 done 08:40:01-08:40:02; after 08:43:01 done 08:43:01-08:43:02");
}

SCENARIO(dst_gap_in_new_york)
{
	begin_at(s, "03-07 00:00");
	uint64_t a = add(s, (struct spec){ .cron = "30 2 * * *", .policy.zone = ZONE_NEW_YORK });
	until(s, "03-09 12:00");
	expect(s, a,
	       "07:30 done 07:30-07:30:01; 03-08 07:00 done 03-08 07:00-03-08 07:00:01; "
	       "03-09 06:30 done 03-09 06:30-03-09 06:30:01");
}

SCENARIO(dst_fold_in_sydney)
{
	begin_at(s, "04-03 12:00");
	uint64_t once = add(s, (struct spec){ .cron = "30 2 * * *", .policy.zone = ZONE_SYDNEY });
	uint64_t both =
		add(s, (struct spec){ .cron = "30 2 * * *", .fold = FOLD_BOTH, .policy.zone = ZONE_SYDNEY });
	until(s, "04-05 20:00");
	expect(s, once,
	       "15:30 done 15:30-15:30:01; 04-04 15:30 done 04-04 15:30-04-04 15:30:01; "
	       "04-05 16:30 done 04-05 16:30-04-05 16:30:01");
	expect(s, both,
	       "15:30 done 15:30-15:30:01; 04-04 15:30 done 04-04 15:30-04-04 15:30:01; "
	       "04-04 16:30 done 04-04 16:30-04-04 16:30:01; 04-05 16:30 done 04-05 16:30-04-05 16:30:01");
}
