/* Scenarios: why a time was missed, where several things happened. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"

static uint64_t add_strict(struct scenario_rig *s)
{
	return add_schedule(
		s, (struct spec){ .cron = EVERY_TEN, .policy = { .missed = MISSED_SKIP, .agent = 1 } });
}

/* The suspension explains the times up to its end only. */
SCENARIO(suspension_during_an_outage_is_two_causes)
{
	uint64_t a = add_strict(s);
	run_until(s, "08:09");
	world_outage(rig_world(s), HOURS(1));
	run_until(s, "08:21");
	world_suspend(rig_world(s), MINUTES(4));
	run_until(s, "09:15");
	expect_rows(s, a,
		    "08:10 done 09:09-09:09:01; 08:20 missed/suspended; 08:30..09:00 missed/store; "
		    "09:10 done 09:10-09:10:01 missed 5");
}

/* The hold explains the times up to its end; those after it were missed because the machine was suspended. */
SCENARIO(hold_and_then_a_suspension_are_two_causes)
{
	uint64_t a = add_strict(s);
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "08:35");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:25");
	world_suspend(rig_world(s), MINUTES(50));
	run_until(s, "09:25");
	expect_rows(s, a,
		    "08:10 failed/rate_limited 08:10-08:10:01; 08:20..08:30 missed/rate_limited; "
		    "08:40..09:10 missed/suspended; 09:20 done 09:20-09:20:01 missed 6");
}

/* A time that becomes late just after a hold was released is late because of the hold. */
SCENARIO(hold_that_was_released_is_the_cause_of_what_becomes_late_after_it)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = "* * * * *", .policy = { .missed = MISSED_SKIP, .agent = 1 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "08:35");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:03:59.975");
	send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 1 });
	run_until(s, "08:04:30");
	expect_rows(s, a,
		    "08:01 failed/rate_limited 08:01-08:01:01; 08:02..08:03 missed/rate_limited; "
		    "08:04 done 08:04-08:04:01 missed 2");
}

/* The daemon was started with a clock that was years ahead: later times are not missed because it was down.
 */
SCENARIO(start_with_a_clock_far_ahead_is_no_cause_after_it_was_set_right)
{
	uint64_t a = add_strict(s);
	run_until(s, "08:15");
	world_step_clock(rig_world(s), DAYS(1000));
	world_crash_machine(rig_world(s), MINUTES(1));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(2));
	world_step_clock(rig_world(s), -DAYS(1000));
	run_until(s, "08:25");
	world_suspend(rig_world(s), MINUTES(30));
	run_until(s, "09:05");
	expect_rows(s, a,
		    RAN("08:10")
			    RAN("08:20") "08:30..08:50 missed/suspended; 09:00 done 09:00-09:00:01 missed 3");
}

/* Nothing was paused, so nothing is skipped: a time whose jitter is not over still runs. */
SCENARIO(resume_all_without_a_pause_skips_nothing)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "0 * * * *", .jitter = 1800 });
	run_until(s, "09:00:10");
	send_command(s, (struct command){ .kind = CMD_RESUME });
	run_until(s, "09:45");
	const struct run_row *r = model_occurrence(rig_world(s)->rows, a, at(s, "09:00"));
	expect_true(s, r && r->state == RUN_FINISHED);
	expect_true(s, r && r->due.us > at(s, "09:00:10").us);
}
