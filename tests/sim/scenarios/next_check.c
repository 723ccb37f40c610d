/* Scenarios: a run sets the next check of its schedule. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"

static enum reply_code set_next_check(struct scenario_rig *s, uint64_t sid, const char *to)
{
	return (enum reply_code)send_command(
		       s, (struct command){ .kind = CMD_NEXT_CHECK, .sid = sid, .to = at(s, to) })
		.code;
}

SCENARIO(next_check_later_gates_regular_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	expect_true(s, set_next_check(s, a, "08:45") == REPLY_OK);
	run_until(s, "08:42");
	expect_rows(s, a, RAN("08:10") "08:20.. skipped/gated");
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; " RAN("08:45") "08:50 done 08:50-08:50:01");
}

SCENARIO(next_check_sooner_runs_before_regular_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "08:05");
	expect_true(s, set_next_check(s, a, "08:30") == REPLY_OK);
	run_until(s, "09:05");
	expect_rows(s, a, RAN("08:30") "09:00 done 09:00-09:00:01");
}

SCENARIO(next_check_at_a_regular_time_runs_once)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	expect_true(s, set_next_check(s, a, "08:40") == REPLY_OK);
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:39:59 skipped/gated; " RAN("08:40") "08:50 done 08:50-08:50:01");
}

SCENARIO(next_check_of_a_schedule_without_further_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .at = seconds_of(2026, 3, 5, 8, 10, 0) });
	run_until(s, "08:12");
	expect_true(s, set_next_check(s, a, "08:45") == REPLY_OK);
	run_until(s, "10:00");
	expect_rows(s, a, RAN("08:10") "08:45 done 08:45-08:45:01");
}

/* The next check that was set last counts, whether it is sooner or later than the one before. */
SCENARIO(next_check_can_be_set_again)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:22");
	expect_true(s, set_next_check(s, a, "08:24") == REPLY_OK);
	run_until(s, "08:25");
	expect_true(s, set_next_check(s, a, "09:05") == REPLY_OK);
	run_until(s, "08:55");
	expect_true(s, set_next_check(s, a, "09:15") == REPLY_OK);
	run_until(s, "09:25");
	expect_rows(
		s, a,
		RAN("08:10") "08:20..08:22 skipped/gated; " RAN(
			"08:24") "08:30..09:14:59 skipped/gated; " RAN("09:15") "09:20 done 09:20-09:20:01");
}

SCENARIO(next_check_survives_crashes)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	/* The crash happens before the range is requested, or before it is answered. */
	world_crash(rig_world(s), SECONDS(10));
	run_until(s, "08:32");
	world_crash_machine(rig_world(s), MINUTES(2));
	run_until(s, "08:44:59.995");
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; 08:45 done 08:45:05-08:45:06; 08:50 done "
				 "08:50-08:50:01");
}

/* The daemon was down when the time of the next check came. */
SCENARIO(next_check_that_is_missed_follows_the_policy)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	uint64_t b = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_CATCH_UP });
	uint64_t c = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	uint64_t d = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN,
				  .policy = { .missed = MISSED_CATCH_UP, .catch_up_limit = 2 } });
	run_until(s, "08:12");
	for (uint64_t i = a; i <= d; i++)
		set_next_check(s, i, "08:25");
	run_until(s, "08:13");
	world_crash(rig_world(s), MINUTES(40));
	run_until(s, "08:58");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:24:59 skipped/gated; 08:25..08:40 missed/superseded; 08:50 done "
				 "08:53-08:53:01 missed 3");
	expect_rows(
		s, b,
		RAN("08:10") "08:20..08:24:59 skipped/gated; catch_up 08:25 done 08:53-08:53:01; catch_up "
			     "08:30 done 08:53:01-08:53:02; catch_up 08:40 done 08:53:02-08:53:03; catch_up "
			     "08:50 done 08:53:03-08:53:04");
	expect_rows(s, c, RAN("08:10") "08:20..08:24:59 skipped/gated; 08:25..08:50 missed/down");
	expect_rows(
		s, d,
		RAN("08:10") "08:20..08:24:59 skipped/gated; 08:25..08:30 missed/limit; catch_up 08:40 done "
			     "08:53-08:53:01 missed 2; catch_up 08:50 done 08:53:01-08:53:02");
}

SCENARIO(next_check_is_cancelled_by_an_edit_of_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	change_schedule(s, a, (struct spec){ .cron = "*/5 * * * *" });
	run_until(s, "08:47");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:32 skipped/gated; " RAN("08:35")
			    RAN("08:40") "08:45 done 08:45-08:45:01");
}

SCENARIO(next_check_survives_an_edit_of_action)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	change_schedule(s, a, (struct spec){ .cron = EVERY_TEN, .policy.retries = 2, .max_runs = 5 });
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; " RAN("08:45") "08:50 done 08:50-08:50:01");
}

SCENARIO(next_check_is_cancelled_by_a_pause)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:55");
	run_until(s, "08:32");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	run_until(s, "09:05");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:32 skipped/gated; 08:40..08:45 skipped/paused; " RAN(
			    "08:50") "09:00 done 09:00-09:00:01");
}

SCENARIO(next_check_during_a_pause_of_all)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN }),
		 b = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	set_next_check(s, b, "08:25");
	run_until(s, "08:22");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	run_until(s, "08:35");
	send_command(s, (struct command){ .kind = CMD_RESUME });
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; " RAN("08:45") "08:50 done 08:50-08:50:01");
	expect_rows(s, b,
		    RAN("08:10") "08:20..08:24:59 skipped/gated; 08:25..08:35 skipped/paused; " RAN(
			    "08:40") "08:50 done 08:50-08:50:01");
}

SCENARIO(next_check_overlaps_a_running_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_run(s, a, lasting(MINUTES(8)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:12");
	set_next_check(s, a, "08:15");
	run_until(s, "08:25");
	expect_rows(s, a, "08:10 done 08:10-08:18; 08:15 skipped/overlap; 08:20 done 08:20-08:20:01");
}

/* If the clock goes back to before the instant at which the next check was set, the next check would be too
 * far away, so it is cancelled. */
SCENARIO(next_check_when_the_clock_goes_back)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	uint64_t b = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	set_next_check(s, b, "08:45");
	run_until(s, "08:34");
	world_step_clock(rig_world(s), -MINUTES(15));
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; " RAN("08:45") "08:50 done 08:50-08:50:01");
	expect_rows(s, b,
		    RAN("08:10") RAN("08:20")
			    RAN("08:30") "08:40 done 08:40-08:40:01; 08:50 done 08:50-08:50:01");
}

SCENARIO(next_check_when_the_clock_goes_ahead)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	world_step_clock(rig_world(s), MINUTES(30));
	run_until(s, "09:15");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:44:59 skipped/gated; 08:45..09:00 missed/clock; 09:10 done "
				 "09:10-09:10:01 missed 3");
}

SCENARIO(next_check_with_jitter)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .jitter = 60 });
	run_until(s, "08:05");
	expect_true(s, set_next_check(s, a, "08:30") == REPLY_OK);
	run_until(s, "08:32");
	expect_true(s, set_next_check(s, a, "09:30") == REPLY_OK);
	run_until(s, "09:29");
	expect_true(s, model_sched(rig_world(s)->rows, a)->ranges == 1);
	run_until(s, "09:35");
	expect_true(s, model_runs(rig_world(s)->rows) == 2);
}

SCENARIO(next_check_that_is_refused)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .until = seconds_of(2026, 3, 5, 9, 0, 0) });
	uint64_t b = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .disabled = true });
	uint64_t c = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .after = a });
	uint64_t d = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .max_runs = 1 });
	run_until(s, "08:12");
	/* At the end date of the schedule, and in the past. */
	expect_true(s, set_next_check(s, a, "09:00") == REPLY_REFUSED);
	expect_true(s, set_next_check(s, a, "08:11") == REPLY_REFUSED);
	expect_true(s, set_next_check(s, b, "08:45") == REPLY_REFUSED);
	expect_true(s, set_next_check(s, c, "08:45") == REPLY_REFUSED);
	expect_true(s, set_next_check(s, d, "08:45") == REPLY_REFUSED);
	expect_true(s, set_next_check(s, 99, "08:45") == REPLY_NOT_FOUND);
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:12:30");
	expect_true(s, set_next_check(s, a, "08:45") == REPLY_REFUSED);
	send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	run_until(s, "08:13");
	expect_true(s, set_next_check(s, a, "08:45") == REPLY_REFUSED);
	send_command(s, (struct command){ .kind = CMD_RESUME });
	run_until(s, "08:14");
	expect_true(s, set_next_check(s, a, "08:59:59") == REPLY_OK);
}

SCENARIO(next_check_of_a_removed_schedule)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") "08:20..08:32 skipped/gated");
}

/* According to the clock, which is held, the time of the next check has come. */
SCENARIO(next_check_of_a_schedule_removed_while_the_clock_is_held)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	world_step_clock(rig_world(s), DAYS(2));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(1));
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a });
	world_run(rig_world(s), rig_world(s)->t + MINUTES(1));
	expect_rows(s, a, RAN("08:10") "08:20..08:44:59 skipped/gated");
}

/* The next check is cancelled because the clock goes back; the only time of the rule has run, and does not
 * run again. */
SCENARIO(next_check_of_a_single_time_when_the_clock_goes_back)
{
	uint64_t a = add_schedule(s, (struct spec){ .at = seconds_of(2026, 3, 5, 8, 10, 0),
						    .until = seconds_of(2026, 3, 5, 8, 28, 0) });
	run_until(s, "08:22");
	expect_true(s, set_next_check(s, a, "08:27") == REPLY_OK);
	run_until(s, "08:23");
	world_step_clock(rig_world(s), -MINUTES(2));
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 done 08:10-08:10:01");
}

/* --- another reason takes the place of the next check --- */

static void pause_schedule(struct scenario_rig *s, uint64_t sid)
{
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = sid, .to = WALL_NEVER });
}

/* Found by seed 100141: all schedules are paused, and a step back of the clock cancels the next check. */
SCENARIO(next_check_cancelled_by_the_clock_during_a_pause_of_all)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "12:05");
	run_until(s, "08:32");
	pause_schedule(s, 0);
	world_step_clock(rig_world(s), -MINUTES(61));
	run_until(s, "07:35");
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "08:05");
	expect_rows(s, a, "07:40.. skipped/paused; 08:10 done 08:10-08:10:01");
}

/* Found by seed 203607: the agent is blocked, and a step back of the clock cancels the next check. */
SCENARIO(next_check_cancelled_by_the_clock_during_a_block)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.agent = 3 });
	script_run(s, a, failing(MINUTES(3), REASON_AUTH));
	run_until(s, "08:12");
	set_next_check(s, a, "12:05");
	run_until(s, "08:14");
	world_step_clock(rig_world(s), -HOURS(1));
	run_until(s, "07:35");
	expect_rows(s, a, "07:20.. skipped/blocked; 08:10 failed/auth 08:10-08:13");
}

/* Found by seed 7322169: the schedule is paused while the clock is held, and the clock is set right again. */
SCENARIO(next_check_and_a_pause_while_the_clock_is_held)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	world_step_clock(rig_world(s), HOURS(30));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(2));
	pause_schedule(s, a);
	world_run(rig_world(s), rig_world(s)->t + MINUTES(20));
	world_step_clock(rig_world(s), -HOURS(30));
	run_until(s, "03-05 09:05");
	expect_rows(s, a, RAN("08:10") "08:20..08:44:59 skipped/gated; 08:50.. skipped/paused");
}

/* Found by seed 7328395: the same, but the daemon is started again and trusts the clock. */
SCENARIO(next_check_and_a_pause_while_the_clock_is_held_and_a_crash)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:12");
	set_next_check(s, a, "08:45");
	run_until(s, "08:32");
	world_step_clock(rig_world(s), HOURS(30));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(2));
	pause_schedule(s, a);
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "03-06 15:05");
	expect_rows(s, a, RAN("08:10") "08:20..08:44:59 skipped/gated; 08:50.. skipped/paused");
}

/* A block ends during a pause: from then on times are skipped because of the pause. */
SCENARIO(a_range_changes_its_reason_with_its_cause)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.agent = 3 });
	script_run(s, a, failing(SECONDS(1), REASON_AUTH));
	run_until(s, "08:25");
	expect_rows(s, a, "08:10 failed/auth 08:10-08:10:01; 08:20.. skipped/blocked");
	pause_schedule(s, a);
	run_until(s, "08:45");
	send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 3 });
	run_until(s, "09:05");
	expect_rows(s, a,
		    "08:10 failed/auth 08:10-08:10:01; 08:20..08:45 skipped/blocked; 08:50.. skipped/paused");
}
