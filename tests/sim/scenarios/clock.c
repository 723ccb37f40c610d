/* Scenarios: steps of the clock, and clock changes of zones. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"

SCENARIO(clock_back_runs_nothing_twice)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:35");
	world_step_clock(rig_world(s), -MINUTES(30));
	run_until(s, "08:45");
	expect_rows(s, a, RAN("08:10") RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

/* Times that were refused come again. */
SCENARIO(clock_back_withdraws_refusals)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN, .policy.preconditions = 1 << ASK_CONDITION });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "08:35");
	expect_rows(s, a, "08:10..08:30 skipped/condition");
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	world_step_clock(rig_world(s), -MINUTES(20));
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 skipped/condition; " RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

SCENARIO(clock_years_ahead_and_back_changes_nothing)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_step_clock(rig_world(s), DAYS(1000));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(3));
	world_step_clock(rig_world(s), -DAYS(1000));
	run_until(s, "08:35");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}

static bool clock_is_held(struct scenario_rig *s)
{
	return engine_counts(rig_world(s)->engine).clock_held;
}

/* While the clock is more than a day ahead nothing is recorded. */
SCENARIO(clock_far_ahead_is_held)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_step_clock(rig_world(s), DAYS(2));
	run_until(s, "03-07 08:25");
	expect_true(s, clock_is_held(s));
	expect_rows(s, a, "08:10 done 08:10-08:10:01");
	world_step_clock(rig_world(s), -DAYS(2));
	run_until(s, "08:35");
	expect_true(s, !clock_is_held(s));
	expect_rows(s, a, RAN("08:10") "08:20 missed/clock; 08:30 done 08:30-08:30:01 missed 1");
}

/* The times between the last record and the accepted clock are then missed. */
SCENARIO(clock_far_ahead_is_accepted_by_a_person)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.missed = MISSED_SKIP });
	run_until(s, "09:15");
	world_step_clock(rig_world(s), DAYS(2));
	run_until(s, "03-07 09:25");
	send_command(s, (struct command){ .kind = CMD_CLOCK });
	expect_true(s, !clock_is_held(s));
	run_until(s, "03-08 10:00");
	expect_rows(s, a,
		    RAN("09:00") "03-06 09:00..03-07 09:00 missed/clock; "
				 "03-08 09:00 done 03-08 09:00-03-08 09:00:01 missed 2");
}

SCENARIO(clock_ahead_within_a_day_is_accepted)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_step_clock(rig_world(s), HOURS(23));
	run_until(s, "03-06 09:30");
	expect_true(s, !clock_is_held(s));
	expect_rows(s, a, "09:00 missed/clock; 03-06 09:00 done 03-06 09:00-03-06 09:00:01 missed 1");
}

/* A clock that is more than a year after the last record may be wrong, so it is held. */
SCENARIO(clock_years_ahead_at_boot_is_held)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "09:15");
	world_crash_machine(rig_world(s), MINUTES(5));
	world_step_clock(rig_world(s), DAYS(800));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(10));
	expect_true(s, clock_is_held(s));
	world_step_clock(rig_world(s), -DAYS(800));
	run_until(s, "03-06 09:15");
	expect_true(s, !clock_is_held(s));
	expect_rows(s, a, RAN("09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01");
}

/* A machine without a battery starts years before the last record, and its clock is set right later. The
 * years in between become one record. */
SCENARIO(clock_years_behind_at_boot_may_be_set_right)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "09:15");
	world_crash_machine(rig_world(s), MINUTES(5));
	world_step_clock(rig_world(s), -DAYS(3650));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(10));
	world_step_clock(rig_world(s), DAYS(3650));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(10));
	expect_true(s, !clock_is_held(s));
	run_until(s, "03-06 09:15");
	expect_rows(s, a,
		    "03-08 09:00..03-04 09:00 missed/superseded; " RAN(
			    "09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01 missed 3649");
	/* The clock may not be set far beyond the last record. */
	world_step_clock(rig_world(s), -DAYS(3650));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(10));
	world_step_clock(rig_world(s), DAYS(3650 + 800));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(10));
	expect_true(s, clock_is_held(s));
	world_step_clock(rig_world(s), -DAYS(800));
	run_until(s, "03-07 09:15");
	expect_true(s, !clock_is_held(s));
	expect_rows(s, a,
		    "03-08 09:00..09:00 missed/superseded; " RAN(
			    "09:00") "03-06 09:00 done 03-06 09:00-03-06 09:00:01 missed 3649; "
				     "03-07 09:00 done 03-07 09:00-03-07 09:00:01 missed 3649");
}

SCENARIO(clock_an_hour_ahead_and_back_runs_the_times_again)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_step_clock(rig_world(s), HOURS(1));
	run_until(s, "09:25");
	expect_rows(s, a, RAN("08:10") "08:20..09:10 missed/clock; 09:20 done 09:20-09:20:01 missed 6");
	world_step_clock(rig_world(s), -HOURS(1));
	run_until(s, "09:35");
	expect_true(s, !clock_is_held(s));
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:25 missed/clock; " RAN("08:30") RAN("08:40") RAN("08:50")
			    RAN("09:00") RAN("09:10") "09:20 done 09:20-09:20:01 missed 6; "
						      "09:30 done 09:30-09:30:01");
}

/* The times that come again are in the open range. */
SCENARIO(clock_back_while_paused_keeps_the_pause)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:45");
	world_step_clock(rig_world(s), -MINUTES(30));
	run_until(s, "08:35");
	send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:35 skipped/paused; " RAN("08:40") "08:50 done 08:50-08:50:01");
}

/* The schedule is resumed before the old time is reached again. */
SCENARIO(clock_back_then_resume)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:32");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:35");
	world_step_clock(rig_world(s), -MINUTES(30));
	run_until(s, "08:06");
	send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	run_until(s, "08:45");
	expect_rows(s, a, RAN("08:10") RAN("08:20") RAN("08:30") "08:40 done 08:40-08:40:01");
}

SCENARIO(clock_back_then_edit)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:35");
	world_step_clock(rig_world(s), -MINUTES(30));
	run_until(s, "08:06");
	change_schedule(s, a, (struct spec){ .cron = "5,15,25,40 * * * *" });
	run_until(s, "08:45");
	expect_rows(s, a,
		    RAN("08:10") RAN("08:15") RAN("08:20") RAN("08:25")
			    RAN("08:30") "08:40 done 08:40-08:40:01");
}

/* The range of the pause was closed while the clock was years ahead. The times before that must not be
 * skipped. */
SCENARIO(clock_ahead_then_resume_then_back)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:16");
	world_step_clock(rig_world(s), DAYS(1000));
	world_run(rig_world(s), rig_world(s)->t + MINUTES(1));
	/* Resuming is refused while the clock is held. */
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_BUSY);
	send_command(s, (struct command){ .kind = CMD_CLOCK });
	world_run(rig_world(s), rig_world(s)->t + SECONDS(1));
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_OK);
	world_run(rig_world(s), rig_world(s)->t + MINUTES(1));
	world_step_clock(rig_world(s), -DAYS(1000));
	run_until(s, "08:35");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}

/* After the step back, ends of the leader have earlier times than ends on which the follower has already
 * acted. */
SCENARIO(clock_back_keeps_a_followers_ends)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	uint64_t b = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_ANY });
	run_until(s, "08:45");
	world_step_clock(rig_world(s), -MINUTES(2));
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:44:59");
	expect_rows(s, b,
		    "after 08:10:01 done 08:10:01-08:10:02; after 08:20:01 done 08:20:01-08:20:02; "
		    "after 08:30:01 done 08:30:01-08:30:02; after 08:40:01 done 08:40:01-08:40:02; "
		    "after 08:43:01 done 08:43:01-08:43:02");
	world_step_clock(rig_world(s), -MINUTES(10));
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:39");
	expect_rows(s, b,
		    "after 08:10:01 done 08:10:01-08:10:02; after 08:20:01 done 08:20:01-08:20:02; "
		    "after 08:30:01 done 08:30:01-08:30:02; after 08:35 done 08:35-08:35:01; "
		    "after 08:40:01 done 08:40:01-08:40:02; after 08:43:01 done 08:43:01-08:43:02");
}

SCENARIO(daylight_saving_gap_in_new_york)
{
	start_at(s, "03-07 00:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = "30 2 * * *", .policy.zone = ZONE_NEW_YORK });
	run_until(s, "03-09 12:00");
	expect_rows(s, a,
		    "07:30 done 07:30-07:30:01; 03-08 07:00 done 03-08 07:00-03-08 07:00:01; "
		    "03-09 06:30 done 03-09 06:30-03-09 06:30:01");
}

SCENARIO(daylight_saving_fold_in_sydney)
{
	start_at(s, "04-03 12:00");
	uint64_t once = add_schedule(s, (struct spec){ .cron = "30 2 * * *", .policy.zone = ZONE_SYDNEY });
	uint64_t both = add_schedule(
		s, (struct spec){ .cron = "30 2 * * *", .fold = FOLD_BOTH, .policy.zone = ZONE_SYDNEY });
	run_until(s, "04-05 20:00");
	expect_rows(s, once,
		    "15:30 done 15:30-15:30:01; 04-04 15:30 done 04-04 15:30-04-04 15:30:01; "
		    "04-05 16:30 done 04-05 16:30-04-05 16:30:01");
	expect_rows(
		s, both,
		"15:30 done 15:30-15:30:01; 04-04 15:30 done 04-04 15:30-04-04 15:30:01; "
		"04-04 16:30 done 04-04 16:30-04-04 16:30:01; 04-05 16:30 done 04-05 16:30-04-05 16:30:01");
}

/* --- holds and delays, if the clock was set back while the daemon was down --- */

SCENARIO(clock_back_while_down_moves_holds_and_retries)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = "0 9 * * *", .policy = { .agent = 1, .account = 9 } });
	script_run(s, a, failing(SECONDS(1), REASON_RATE_LIMITED)); /* the hold lasts 15 minutes */
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	struct world *w = rig_world(s);
	world_crash(w, MINUTES(1));
	world_step_clock(w, -DAYS(90));
	world_run(w, w->t + MINUTES(3));
	struct wall now = world_wall(w);
	expect_true(s, model_hold(w->rows, 9)->until.us <= now.us + MINUTES(15));
	world_run(w, w->t + MINUTES(15));
	const struct run_row *r = model_occurrence(w->rows, a, at(s, "03-05 09:00"));
	expect_true(s, r->attempt == 2 && r->outcome == OUTCOME_DONE);
}

/* The daemon crashes when the hold has been moved and the records have not been corrected: B is busy with a
 * pause, so that the correction waits. The hold is not moved a second time. */
SCENARIO(clock_back_and_a_crash_move_a_hold_once)
{
	uint64_t b = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	struct policy account = { .agent = 1, .account = 9 };
	uint64_t limited = add_schedule(s, (struct spec){ .cron = "10 8 * * *", .policy = account });
	uint64_t a = add_schedule(s, (struct spec){ .cron = "30 8 * * *", .policy = account });
	struct process_plan f = failing(SECONDS(1), REASON_RATE_LIMITED);
	f.reset = at(s, "10:10");
	script_run(s, limited, f);
	script_run(s, limited, lasting(SECONDS(1)));
	run_until(s, "09:05");
	struct world *w = rig_world(s);
	world_command(w, (struct command){ .kind = CMD_PAUSE, .sid = b, .to = WALL_NEVER });
	world_run(w, w->t + 1000);
	world_step_clock(w, -HOURS(1));
	world_run(w, w->t + 14000);
	world_crash(w, SECONDS(5));
	run_until(s, "08:10");
	expect_true(s, wall_seconds(model_hold(w->rows, 9)->until) == wall_seconds(at(s, "09:10")));
	expect_true(s, model_hold(w->rows, 9)->set_back_from.us == 0); /* all records are corrected */
	run_until(s, "09:15");
	expect_rows(s, a, "08:30 done 09:10-09:10:01");
}

/* Found by seed 25725: nothing on record shows by how much the clock was set back. The hold was set while the
 * clock was far ahead and not trusted. */
SCENARIO(clock_back_while_down_bounds_holds)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = "0 9 * * *", .policy = { .agent = 1, .account = 9 } });
	script_run(s, a, failing(MINUTES(10), REASON_RATE_LIMITED));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	struct world *w = rig_world(s);
	world_step_clock(w, DAYS(1000));
	world_run(w, w->t + MINUTES(10));
	expect_true(s, model_hold(w->rows, 9)->until.us > world_wall(w).us);
	world_crash(w, MINUTES(1));
	world_step_clock(w, -DAYS(1000));
	world_run(w, w->t + MINUTES(2));
	expect_true(s, model_hold(w->rows, 9)->until.us <= world_wall(w).us + DAYS(8));
	run_until(s, "03-15 12:00");
	const struct run_row *r = model_occurrence(w->rows, a, at(s, "03-15 09:00"));
	expect_true(s, r && r->outcome == OUTCOME_DONE);
}
