/* Scenarios: combinations of two rules. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"
#define HOURLY    "0 * * * *"

#define ONE_RETRY .retries = 1, .backoff = BACKOFF_FIXED

static struct reply pause_schedule(struct scenario_rig *s, uint64_t sid, struct wall to)
{
	return send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = sid, .to = to });
}

static struct reply resume_schedule(struct scenario_rig *s, uint64_t sid)
{
	return send_command(s, (struct command){ .kind = CMD_RESUME, .sid = sid });
}

/* --- pause and retry --- */

/* A manual run ignores the pause, but has retries. */
SCENARIO(manual_run_of_a_paused_schedule_is_retried)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 60 } });
	pause_schedule(s, a, WALL_NEVER);
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:05");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:10");
	expect_rows(s, a, "manual 08:05 done #2 08:06:01-08:06:02; 09:00.. skipped/paused");
}

SCENARIO(manual_run_keeps_its_retry_when_paused)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 60 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:05");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:05:30");
	pause_schedule(s, a, WALL_NEVER);
	run_until(s, "08:10");
	expect_rows(s, a, "manual 08:05 done #2 08:06:01-08:06:02; 09:00.. skipped/paused");
}

/* If an attempt is running when all schedules are paused, it is not retried, even if they are resumed before
 * the retry would be due. */
SCENARIO(pause_all_drops_the_retry_of_a_running_attempt)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 1200 } });
	script_run(s, a, failing(MINUTES(5), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:02");
	pause_schedule(s, 0, WALL_NEVER);
	run_until(s, "09:10");
	resume_schedule(s, 0);
	run_until(s, "10:00");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:05");
}

/* The retry is dropped even if the schedule is resumed before it would be due. */
SCENARIO(pause_drops_a_retry_that_is_being_recorded)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 1200 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	/* The pause is requested, then the run fails; both are written together, the pause first. */
	run_until(s, "09:00:01.038");
	pause_schedule(s, a, WALL_NEVER);
	run_until(s, "09:10");
	resume_schedule(s, a);
	run_until(s, "10:00");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:00:01");
}

/* The daemon crashes when the pause is written, and before it drops the retry. */
SCENARIO(pause_drops_a_retry_although_the_daemon_crashes)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 1200 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	struct world *w = rig_world(s);
	world_command(w, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	world_run(w, w->t + 12000);
	world_crash(w, SECONDS(5));
	run_until(s, "09:10");
	resume_schedule(s, a);
	run_until(s, "10:00");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:00:01");
}

/* Found by seed 650010993: an earlier engine has prevented the attempt and crashed. When it is to be started,
 * the schedule is paused. */
SCENARIO(pause_skips_a_run_whose_attempt_was_prevented)
{
	set_slots(s, 1);
	uint64_t blocker = add_schedule(s, (struct spec){ .cron = "5 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = "10 8 * * *" });
	struct world *w = rig_world(s);
	script_run(s, blocker, lasting(MINUTES(20)));
	run_until(s, "08:12");
	world_crash(w, SECONDS(5)); /* from now on the attempt may have been requested before */
	run_until(s, "08:15");
	uint64_t run = model_occurrence(w->rows, a, at(s, "08:10"))->run;
	world_command(w, (struct command){ .kind = CMD_STOP, .run = run });
	world_crash(w, SECONDS(5));
	expect_true(s, sim_runner_file(w, run, 1)->state == FILE_PREVENTED);
	run_until(s, "08:20");
	w->timing.report = (struct span){ 200000, 200000 };
	run_until(s, "08:25:00.3");
	expect_rows(s, a, "08:10 claimed");
	pause_schedule(s, a, WALL_NEVER);
	run_until(s, "08:30");
	expect_rows(s, a, "08:10.. skipped/paused"); /* also the times that come */
}

SCENARIO(stop_drops_a_retry_that_is_being_recorded)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { ONE_RETRY, .retry_delay = 60 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(MINUTES(1)));
	run_until(s, "09:00:01.045");
	uint64_t run = model_occurrence(rig_world(s)->rows, a, at(s, "09:00"))->run;
	send_command(s, (struct command){ .kind = CMD_STOP, .run = run });
	run_until(s, "09:10");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:00:01");
}

/* --- holds, and schedules that are paused, removed or disabled --- */

SCENARIO(rate_limit_of_a_paused_schedule_holds_the_account)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	uint64_t b = add_schedule(
		s, (struct spec){ .cron = "10 9 * * *", .policy = { .agent = 2, .account = 9 } });
	struct process_plan limited = failing(MINUTES(5), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:30");
	script_run(s, a, limited);
	run_until(s, "09:01");
	pause_schedule(s, a, WALL_NEVER);
	run_until(s, "09:40");
	expect_rows(s, b, "09:10 done 09:30-09:30:01");
}

SCENARIO(auth_failure_of_a_removed_schedule_blocks_the_agent)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.agent = 1 });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "10 9 * * *", .policy.agent = 1 });
	script_run(s, a, failing(MINUTES(5), REASON_AUTH));
	run_until(s, "09:01");
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a });
	run_until(s, "09:40");
	expect_rows(s, b, "09:10.. skipped/blocked");
}

/* The schedule's next time is in the past and will never be due, so it is no reason to end the run. */
SCENARIO(rate_limited_manual_run_of_a_disabled_schedule_is_retried)
{
	uint64_t a = add_schedule(
		s,
		(struct spec){ .cron = EVERY_TEN, .disabled = true, .policy = { .agent = 1, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:30");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "09:40");
	expect_rows(s, a, "manual 09:05 done #2 09:30-09:30:01");
}

SCENARIO(rate_limit_with_a_reset_too_far_away_is_ignored)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = wall_of(seconds_of(2099, 1, 1, 0, 0, 0));
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #2 09:15:01-09:15:02");
}

/* --- max_failures --- */

/* The daemon crashes between the record of the last failure and the pause. */
SCENARIO(max_failures_survives_a_crash)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.max_failures = 2 });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "08:20:01.055");
	world_crash(rig_world(s), SECONDS(10));
	run_until(s, "08:55");
	expect_rows(
		s, a,
		"08:10 failed/exit 08:10-08:10:01; 08:20 failed/exit 08:20-08:20:01; 08:30.. skipped/paused");
}

/* The times are changed while the end of the last failure is written. */
SCENARIO(max_failures_counts_an_end_during_a_change)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.max_failures = 2 });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "08:20:01.055");
	change_schedule(s, a, (struct spec){ .cron = "25 * * * *", .policy.max_failures = 2 });
	run_until(s, "08:30");
	expect_rows(
		s, a,
		"08:10 failed/exit 08:10-08:10:01; 08:20 failed/exit 08:20-08:20:01; 08:25.. skipped/paused");
}

SCENARIO(max_failures_counts_runs_that_end_together)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN,
					       .policy = { .max_failures = 2, .overlap = OVERLAP_ALLOW } });
	script_run(s, a, failing(MINUTES(12), REASON_EXIT));
	script_run(s, a, failing(MINUTES(2), REASON_EXIT));
	run_until(s, "08:35");
	expect_rows(s, a,
		    "08:10 failed/exit 08:10-08:22; 08:20 failed/exit 08:20-08:22; 08:30.. skipped/paused");
}

/* --- pause and resume --- */

SCENARIO(pause_can_be_extended)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:05");
	pause_schedule(s, a, at(s, "08:15"));
	run_until(s, "08:06");
	pause_schedule(s, a, at(s, "08:45"));
	run_until(s, "08:55");
	expect_rows(s, a, "08:10..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

/* Jitter moves the due time beyond the end of the pause, but the nominal time is within the pause. */
SCENARIO(resume_all_does_not_run_jittered_times_of_the_pause)
{
	struct spec x = { .cron = HOURLY, .jitter = 1800 };
	uint64_t a = add_schedule(s, x);
	struct rules r = spec_rules(&x);
	struct wall due = rule_due(&r.when, world_zone(0), at(s, "09:00"));
	expect_true(s, due.us > at(s, "09:01").us);
	run_until(s, "08:55");
	pause_schedule(s, 0, WALL_NEVER);
	run_until(s, "09:00:30");
	resume_schedule(s, 0);
	run_until(s, "09:59");
	expect_rows(s, a, "09:00 skipped/paused");
}

/* --- overlap and manual runs --- */

SCENARIO(manual_run_is_busy_while_a_run_is_alive)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(5)));
	run_until(s, "09:01");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_BUSY);
	run_until(s, "09:10");
	expect_rows(s, a, "09:00 done 09:00-09:05");
}

SCENARIO(manual_run_waits_with_overlap_queue_one)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.overlap = OVERLAP_QUEUE_ONE });
	script_run(s, a, lasting(MINUTES(5)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:01");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_OK);
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_BUSY);
	run_until(s, "09:10");
	expect_rows(s, a, "09:00 done 09:00-09:05; manual 09:01 done 09:05-09:05:01");
}

SCENARIO(manual_run_replaces_with_overlap_cancel_running)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.overlap = OVERLAP_CANCEL_RUNNING });
	script_run(s, a, lasting(MINUTES(5)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:01");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_OK);
	run_until(s, "09:10");
	expect_rows(s, a, "09:00 killed/replaced 09:00-09:01; manual 09:01 done 09:01-09:01:01");
}

/* --- missed times and times that never run --- */

/* The limit is 2: the two newest times within the active hours are caught up. */
SCENARIO(catch_up_limit_counts_only_times_that_may_run)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN,
				  .active = { .from = 8 * 60, .to = 8 * 60 + 40 },
				  .policy = { .missed = MISSED_CATCH_UP, .catch_up_limit = 2 } });
	run_until(s, "08:05");
	world_crash(rig_world(s), HOURS(1));
	run_until(s, "09:09");
	expect_rows(s, a,
		    "08:10 missed/limit; catch_up 08:20 done 09:05-09:05:01 missed 1; catch_up 08:30 done "
		    "09:05:01-09:05:02; 08:40..09:00 skipped/active_hours");
}

SCENARIO(catch_up_limit_leaves_excluded_days_excluded)
{
	start_at(s, "03-09 08:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE,
						    .policy = { .missed = MISSED_CATCH_UP,
								.calendar = CALENDAR_SOME,
								.catch_up_limit = 1 } });
	world_crash(rig_world(s), DAYS(4));
	run_until(s, "03-13 08:30");
	expect_rows(s, a,
		    "09:00 missed/limit; 03-10 09:00 skipped/excluded; 03-11 09:00 missed/limit; "
		    "catch_up 03-12 09:00 done 03-13 08:00-03-13 08:00:01 missed 2");
}

/* --- edits --- */

/* Two runs are over, so a limit of three leaves one. */
SCENARIO(edit_can_raise_max_runs)
{
	struct spec x = { .cron = EVERY_TEN, .max_runs = 2 };
	uint64_t a = add_schedule(s, x);
	run_until(s, "08:35");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30.. skipped/max_runs");
	x.max_runs = 3;
	change_schedule(s, a, x);
	run_until(s, "08:55");
	expect_rows(s, a,
		    RAN("08:10")
			    RAN("08:20") "08:30..08:35 skipped/max_runs; " RAN("08:40") "08:50.. "
											"skipped/max_runs");
}

SCENARIO(edit_can_lower_max_runs)
{
	struct spec x = { .cron = EVERY_TEN, .max_runs = 10 };
	uint64_t a = add_schedule(s, x);
	run_until(s, "08:25");
	x.max_runs = 2;
	change_schedule(s, a, x);
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30.. skipped/max_runs");
}

/* --- removal --- */

/* An event leaves no open run, so nothing keeps the removed schedule in memory. The command must still be
 * answered. */
SCENARIO(removal_answers_a_backfill_of_events)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "* * * * *", .policy.action = ACTION_EVENT });
	run_until(s, "08:10:30");
	struct world *w = rig_world(s);
	uint64_t fill = world_command(
		w, (struct command){
			   .kind = CMD_BACKFILL, .sid = a, .from = at(s, "05:00"), .to = at(s, "08:00") });
	world_run(w, w->t + 5000);
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a });
	run_until(s, "08:20");
	struct reply r;
	expect_true(s, check_reply_of(w->check, fill, &r));
}

/* --- followers --- */

/* Two ends are missed; the next run is told of them. */
SCENARIO(after_with_execute_next_counts_missed_ends)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy = { .overlap = OVERLAP_ALLOW } });
	uint64_t b = add_schedule(
		s,
		(struct spec){ .after = a, .policy = { .after = AFTER_ANY, .missed = MISSED_EXECUTE_NEXT } });
	script_run(s, a, lasting(MINUTES(12)));
	script_run(s, a, lasting(MINUTES(3)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:21");
	world_crash(rig_world(s), MINUTES(6));
	run_until(s, "08:39");
	expect_rows(s, b, "08:22..08:23 missed/down; after 08:30:01 done 08:30:01-08:30:02 missed 2");
}

SCENARIO(after_acts_on_an_end_that_was_written_before_an_edit)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a });
	run_until(s, "09:00:01.055");
	change_schedule(s, b, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "09:15");
	expect_rows(s, b, "after 09:00:01 done 09:00:01-09:00:02; 09:10 done 09:10-09:10:01");
}

SCENARIO(after_acts_on_an_end_that_was_written_before_it_is_disabled)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a });
	run_until(s, "09:00:01.055");
	change_schedule(s, b, (struct spec){ .after = a, .disabled = true });
	run_until(s, "09:15");
	expect_rows(s, b, "after 09:00:01 done 09:00:01-09:00:02");
}

/* One leader has two followers, and one of them has a follower. */
SCENARIO(after_works_in_a_tree)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a }),
		 c = add_schedule(s, (struct spec){ .after = a });
	uint64_t d = add_schedule(s, (struct spec){ .after = c });
	run_until(s, "09:05");
	expect_rows(s, b, "after 09:00:01 done 09:00:01-09:00:02");
	expect_rows(s, c, "after 09:00:01 done 09:00:01-09:00:02");
	expect_rows(s, d, "after 09:00:02 done 09:00:02-09:00:03");
}

/* The account was held during four ends and the limit is two: the newest two are caught up. */
SCENARIO(after_with_catch_up_respects_the_limit)
{
	uint64_t limited =
		add_schedule(s, (struct spec){ .cron = "5 8 * * *", .policy = { .agent = 2, .account = 9 } });
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	uint64_t b = add_schedule(s, (struct spec){ .after = a,
						    .policy = { .agent = 1,
								.account = 9,
								.missed = MISSED_CATCH_UP,
								.catch_up_limit = 2 } });
	struct process_plan plan = failing(SECONDS(1), REASON_RATE_LIMITED);
	plan.reset = at(s, "08:45");
	script_run(s, limited, plan);
	script_run(s, limited, lasting(SECONDS(1)));
	run_until(s, "08:49");
	expect_rows(s, b,
		    "08:10:01..08:20:01 missed/limit; catch_up 08:30:01 done 08:45-08:45:01 missed 2; "
		    "catch_up 08:40:01 "
		    "done 08:45:01-08:45:02");
}

/* --- limits --- */

/* A thousand runs wait for the only slot, and further runs are skipped. */
SCENARIO(overlap_allow_is_limited_to_a_thousand_open_runs)
{
	set_slots(s, 1);
	uint64_t a = add_schedule(s, (struct spec){ .cron = "* * * * * *", .policy.overlap = OVERLAP_ALLOW });
	script_run(s, a, lasting(HOURS(1)));
	run_until(s, "08:17:00.5");
	expect_true(s, model_open_runs(rig_world(s)->rows) == RUNS_OPEN_MAX);
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_BUSY);
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a, .kill = true });
	run_until(s, "08:18");
	expect_true(s, model_open_runs(rig_world(s)->rows) == 0);
}

/* After a long suspension sixty missed times could start at once. */
SCENARIO(missed_times_start_at_fifty_per_second)
{
	set_slots(s, 100);
	for (unsigned i = 0; i < 60; i++)
		add_schedule(s, (struct spec){ .cron = "20 8 * * *" });
	run_until(s, "08:15");
	world_suspend(rig_world(s), MINUTES(40));
	run_until(s, "08:56");
	const struct model *rows = rig_world(s)->rows;
	unsigned first = 0, all = 0;
	for (size_t i = 0; i < model_runs(rows); i++) {
		first += model_run_at(rows, i)->claimed.us < at(s, "08:55:01").us;
		all += model_run_at(rows, i)->outcome == OUTCOME_DONE;
	}
	expect_true(s, first == 50);
	expect_true(s, all == 60);
}

/* The engine learns from ST_REFUSED that the schedule is gone, and does not repeat its request endlessly. */
SCENARIO(removal_by_another_writer_is_noticed)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	struct world *w = rig_world(s);
	world_foreign_write(w, &(struct st_req){ .op = ST_DROP, .sid = a, .rev = 1, .at = world_wall(w) });
	uint64_t before = w->steps;
	run_until(s, "08:35");
	expect_rows(s, a, "08:10 done 08:10-08:10:01");
	expect_true(s, w->steps - before < 100);
	expect_true(s, engine_counts(w->engine).schedules == 0);
}

/* The clock goes back to before the missed times, so they are in the future again. */
SCENARIO(clock_back_while_missed_times_wait_for_a_token)
{
	set_slots(s, 100);
	uint64_t last = 0;
	for (unsigned i = 0; i < 60; i++)
		last = add_schedule(s, (struct spec){ .cron = "20 8 * * *" });
	run_until(s, "08:15");
	world_suspend(rig_world(s), MINUTES(40));
	run_until(s, "08:55:00.5");
	world_step_clock(rig_world(s), -MINUTES(40));
	run_until(s, "08:19");
	expect_rows(s, last, "");
	run_until(s, "08:25");
	expect_rows(s, last, "08:20 done 08:20-08:20:01");
}
