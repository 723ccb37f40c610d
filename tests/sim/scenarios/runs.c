/* Scenarios about runs: retries, holds, restarts, followers. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"
#define HOURLY    "0 * * * *"

/* --- retry --- */

/* Three attempts fail, the fourth succeeds. */
static uint64_t fail_three_times(struct scenario_rig *s, enum backoff backoff, unsigned most)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE,
						    .policy = { .retries = 3,
								.backoff = (uint8_t)backoff,
								.retry_delay = 60,
								.retry_most = most } });
	for (unsigned i = 0; i < 3; i++)
		script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	return a;
}

SCENARIO(retry_with_fixed_backoff)
{
	expect_rows(s, fail_three_times(s, BACKOFF_FIXED, 3600), "09:00 done #4 09:03:03-09:03:04");
}

SCENARIO(retry_with_linear_backoff)
{
	expect_rows(s, fail_three_times(s, BACKOFF_LINEAR, 3600), "09:00 done #4 09:06:03-09:06:04");
}

SCENARIO(retry_with_exponential_backoff)
{
	expect_rows(s, fail_three_times(s, BACKOFF_EXPONENTIAL, 3600), "09:00 done #4 09:07:03-09:07:04");
}

SCENARIO(retry_with_a_maximal_delay)
{
	expect_rows(s, fail_three_times(s, BACKOFF_EXPONENTIAL, 100), "09:00 done #4 09:04:23-09:04:24");
}

SCENARIO(retry_ends_when_used_up)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .retries = 2, .backoff = BACKOFF_FIXED, .retry_delay = 60 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "09:00:30");
	expect_rows(s, a, "09:00 retrying/exit 09:00 again 09:01:01");
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 failed/exit #3 09:02:02-09:02:03");
}

SCENARIO(retry_is_not_done_for_final_outcomes)
{
	struct spec x = { .cron = AT_NINE, .policy = { .retries = 2, .retry_delay = 60 } };
	uint64_t a = add_schedule(s, x), b = add_schedule(s, x), c = add_schedule(s, x);
	script_run(s, a, (struct process_plan){ .lasts = SECONDS(1), .outcome = OUTCOME_NO_WORK });
	script_run(s, b, failing(SECONDS(1), REASON_DENIED));
	script_run(s, c, failing(SECONDS(1), REASON_DEFINITION));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 no_work 09:00-09:00:01");
	expect_rows(s, b, "09:00 failed/denied 09:00-09:00:01");
	expect_rows(s, c, "09:00 failed/definition 09:00-09:00:01");
}

/* A run keeps the version under which it was claimed, also after a crash. */
SCENARIO(retry_keeps_the_version_of_its_run)
{
	struct spec x = { .cron = AT_NINE,
			  .policy = { .retries = 2, .backoff = BACKOFF_FIXED, .retry_delay = 60 } };
	uint64_t a = add_schedule(s, x);
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "09:00:30");
	x.policy.retries = 0;
	x.policy.retry_delay = 1200;
	change_schedule(s, a, x);
	run_until(s, "09:01:30");
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 failed/exit #3 09:02:02-09:02:03");
}

/* The window limits the first attempt only. */
SCENARIO(retry_may_start_after_the_window)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .retries = 1, .retry_delay = 600, .window = 60 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #2 09:10:01-09:10:02");
}

SCENARIO(retry_is_dropped_for_the_next_run)
{
	uint64_t a = add_schedule(
		s,
		(struct spec){ .cron = EVERY_TEN,
			       .policy = { .retries = 3, .backoff = BACKOFF_FIXED, .retry_delay = 1200 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:35");
	expect_rows(s, a,
		    "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:20-08:20:01; 08:30 done 08:30-08:30:01");
}

SCENARIO(retry_is_kept_when_a_person_runs_the_schedule)
{
	uint64_t a = add_schedule(
		s,
		(struct spec){ .cron = AT_NINE,
			       .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 1200 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #2 09:20:01-09:20:02; manual 09:05 done 09:05-09:05:01");
}

SCENARIO(retry_is_kept_when_the_next_time_is_skipped)
{
	start_at(s, "03-09 08:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE,
						    .policy = { .retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 90000,
								.retry_most = 100000,
								.calendar = CALENDAR_SOME } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "03-10 12:00");
	expect_rows(s, a, "09:00 done #2 03-10 10:00:01-03-10 10:00:02; 03-10 09:00 skipped/excluded");
}

/* The next time is recorded, and then refused because its condition is false. */
SCENARIO(retry_is_kept_when_the_next_time_is_refused_by_its_condition)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 720,
								.preconditions = 1 << ASK_CONDITION } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "08:25");
	expect_rows(s, a, "08:10 done #2 08:22:01-08:22:02; 08:20 skipped/condition");
}

/* The next time waits for its condition; when that becomes true, the retry is dropped. */
SCENARIO(retry_is_dropped_when_the_condition_of_the_next_time_becomes_true)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 1200,
								.window = 300,
								.preconditions = 1 << ASK_CONDITION } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "08:21");
	expect_rows(s, a, "08:10 retrying/exit 08:10 again 08:30:01; 08:20 pending");
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	world_state_changed(rig_world(s), 0);
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:21-08:21:01");
}

/* The daemon crashes when the next run is claimed, and before it drops the retry. */
SCENARIO(retry_is_dropped_for_the_next_run_although_the_daemon_crashes)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 700 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:20:00.012"); /* 08:20 is written, and not answered yet */
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:20:05-08:20:06");
}

/* With queue_all the retry and the next run both continue, one at a time. */
SCENARIO(retry_waits_for_the_running_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .overlap = OVERLAP_QUEUE_ALL,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 720 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(MINUTES(5)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 done #2 08:25-08:25:01; 08:20 done 08:20-08:25");
}

SCENARIO(retry_survives_a_restart)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 600 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:02");
	world_crash(rig_world(s), MINUTES(1));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #2 09:10:01-09:10:02");
}

/* --- holds --- */

SCENARIO(rate_limit_lasts_until_the_reset)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy = { .agent = 1, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:20");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:10");
	expect_true(s, model_hold(rig_world(s)->rows, 9) != NULL);
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #2 09:20-09:20:01");
}

SCENARIO(rate_limit_without_a_reset_doubles)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	for (unsigned i = 0; i < 3; i++)
		script_run(s, a, failing(SECONDS(1), REASON_RATE_LIMITED));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "12:00");
	expect_rows(s, a, "09:00 done #4 10:45:03-10:45:04");
}

SCENARIO(rate_limit_holds_the_account)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy = { .agent = 1, .account = 9 } });
	uint64_t skips = add_schedule(
		s, (struct spec){ .cron = "10 9 * * *",
				  .policy = { .agent = 2, .account = 9, .missed = MISSED_SKIP } });
	uint64_t runs = add_schedule(
		s, (struct spec){ .cron = "10 9 * * *", .policy = { .agent = 3, .account = 9 } });
	uint64_t other = add_schedule(
		s, (struct spec){ .cron = "10 9 * * *", .policy = { .agent = 4, .account = 8 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:20");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	expect_rows(s, skips, "09:10 missed/rate_limited");
	expect_rows(s, runs, "09:10 done 09:20-09:20:01");
	expect_rows(s, other, "09:10 done 09:10-09:10:01");
}

/* A run that was claimed before the hold and waits for a slot starts only after the hold. */
SCENARIO(rate_limit_holds_queued_runs)
{
	set_slots(s, 1);
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy = { .agent = 1, .account = 9 } });
	uint64_t b = add_schedule(s, (struct spec){ .cron = HOURLY, .policy = { .agent = 2, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:20");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	/* Either of the two runs may start first. */
	const struct model *rows = rig_world(s)->rows;
	expect_true(s, model_occurrence(rows, b, at(s, "09:00"))->started.us >= at(s, "09:20").us);
	expect_true(s, model_occurrence(rows, a, at(s, "09:00"))->outcome == OUTCOME_DONE);
	expect_true(s, model_occurrence(rows, b, at(s, "09:00"))->outcome == OUTCOME_DONE);
}

/* A time that waited for the end of the hold is handled at the release, not at the old end. */
SCENARIO(rate_limit_can_be_released_early)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	uint64_t b =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 2, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "10:00");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:59");
	run_until(s, "09:15");
	send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 9 });
	run_until(s, "09:25");
	const struct model *rows = rig_world(s)->rows;
	const struct run_row *ten = model_occurrence(rows, b, at(s, "09:10")),
			     *twenty = model_occurrence(rows, b, at(s, "09:20"));
	expect_true(s, ten && ten->claimed.us >= at(s, "09:15").us && ten->claimed.us < at(s, "09:16").us);
	expect_true(s, twenty && twenty->claimed.us < at(s, "09:20:01").us);
}

SCENARIO(rate_limited_attempts_do_not_count_after_a_restart)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE,
						    .policy = { .agent = 1,
								.account = 9,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 60 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "09:10");
	script_run(s, a, limited);
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:02");
	world_crash(rig_world(s), MINUTES(1));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done #3 09:11:01-09:11:02");
}

SCENARIO(rate_limited_run_ends_if_the_next_time_comes_first)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 1, .account = 9 } });
	struct process_plan limited = failing(SECONDS(1), REASON_RATE_LIMITED);
	limited.reset = at(s, "08:30");
	script_run(s, a, limited);
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:35");
	expect_rows(s, a,
		    "08:10 failed/rate_limited 08:10-08:10:01; 08:20 missed/superseded; 08:30 done "
		    "08:30-08:30:01 missed 1");
}

SCENARIO(auth_failure_blocks_the_agent)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy.agent = 1 });
	uint64_t same = add_schedule(s, (struct spec){ .cron = "30 * * * *", .policy.agent = 1 });
	uint64_t other = add_schedule(s, (struct spec){ .cron = "30 10 * * *", .policy.agent = 2 });
	script_run(s, a, failing(SECONDS(1), REASON_AUTH));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "11:15");
	struct reply r = send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 1 });
	expect_true(s, r.code == REPLY_OK);
	run_until(s, "12:01");
	expect_rows(
		s, a,
		"09:00 failed/auth 09:00-09:00:01; 10:00..11:15 skipped/blocked; 12:00 done 12:00-12:00:01");
	expect_rows(s, same,
		    "08:30 done 08:30-08:30:01; 09:30..11:15 skipped/blocked; 11:30 done 11:30-11:30:01");
	expect_rows(s, other, "10:30 done 10:30-10:30:01");
}

/* Both runs of the agent are under way when the login is refused; the other one then meets a rate limit. */
SCENARIO(auth_failure_is_not_replaced_by_a_rate_limit)
{
	struct policy two = { .agent = 1, .agent_slots = 2 };
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy = two });
	uint64_t b = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = two });
	script_run(s, a, failing(SECONDS(1), REASON_AUTH));
	script_run(s, b, failing(SECONDS(5), REASON_RATE_LIMITED));
	run_until(s, "11:15");
	const struct hold_row *h = model_hold(rig_world(s)->rows, 1);
	expect_true(s, h && h->reason == REASON_AUTH && h->until.us == INT64_MAX);
	expect_rows(s, a, "09:00 failed/auth 09:00-09:00:01; 10:00.. skipped/blocked");
	expect_rows(s, b, "09:00 failed/rate_limited 09:00-09:00:05");
}

SCENARIO(auth_failure_blocks_the_agent_after_a_restart)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY, .policy.agent = 1 });
	script_run(s, a, failing(SECONDS(1), REASON_AUTH));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:30");
	world_crash(rig_world(s), MINUTES(50));
	run_until(s, "11:15");
	send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 1 });
	run_until(s, "12:01");
	expect_rows(
		s, a,
		"09:00 failed/auth 09:00-09:00:01; 10:00..11:15 skipped/blocked; 12:00 done 12:00-12:00:01");
}

SCENARIO(max_failures_pauses)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.max_failures = 2 });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "08:55");
	expect_rows(
		s, a,
		"08:10 failed/exit 08:10-08:10:01; 08:20 failed/exit 08:20-08:20:01; 08:30.. skipped/paused");
}

/* A manual run that fails neither counts as a failure nor uses up max_runs. */
SCENARIO(max_failures_does_not_count_manual_runs)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .max_runs = 2, .policy.max_failures = 3 });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "08:12");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:15");
	const struct model_sched *m = model_sched(rig_world(s)->rows, a);
	expect_true(s, m->row.failures == 1 && m->row.left == 1 && !(m->row.flags & SCHED_PAUSED));
	run_until(s, "08:29");
	expect_rows(s, a,
		    "08:10 failed/exit 08:10-08:10:01; manual 08:12 failed/exit 08:12-08:12:01; "
		    "08:20 failed/exit 08:20-08:20:01; 08:30.. skipped/max_runs");
	expect_true(s, model_sched(rig_world(s)->rows, a)->row.failures == 2);
}

SCENARIO(max_failures_counts_only_failures_in_a_row)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.max_failures = 2 });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:45");
	expect_rows(s, a,
		    "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:20-08:20:01; 08:30 failed/exit "
		    "08:30-08:30:01; "
		    "08:40 done 08:40-08:40:01");
}

/* --- restarts --- */

SCENARIO(restart_adopts_a_running_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(30)));
	run_until(s, "09:05");
	world_crash(rig_world(s), MINUTES(5));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 done 09:00-09:30");
}

SCENARIO(restart_reads_the_end_of_a_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, failing(MINUTES(3), REASON_EXIT));
	run_until(s, "09:01");
	world_crash(rig_world(s), MINUTES(9));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:03");
}

/* The daemon crashes between the record and the start. */
SCENARIO(restart_starts_a_claimed_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "09:00:00.015");
	world_crash(rig_world(s), MINUTES(15));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 done 09:15-09:15:01");
}

SCENARIO(restart_misses_a_claimed_run_after_its_window)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.window = 600 });
	run_until(s, "09:00:00.015");
	world_crash(rig_world(s), MINUTES(15));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 missed/window_closed");
}

/* The process was started, but the engine was not told. */
SCENARIO(restart_adopts_a_run_whose_start_was_not_reported)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(30)));
	run_until(s, "09:00:00.035");
	world_crash(rig_world(s), MINUTES(5));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 done 09:05-09:30");
}

SCENARIO(restart_finds_a_lost_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(30)));
	run_until(s, "09:05");
	world_crash_machine(rig_world(s), MINUTES(5));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 failed/lost 09:00-09:10");
}

SCENARIO(restart_retries_a_lost_run)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 60 } });
	script_run(s, a, lasting(MINUTES(30)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "09:05");
	world_crash_machine(rig_world(s), MINUTES(5));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 done #2 09:11-09:11:01");
}

SCENARIO(restart_with_a_pending_retry_runs_the_next_time)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 900 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(5) + SECONDS(30));
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:20:30-08:20:31");
}

SCENARIO(restart_with_a_pending_retry_does_not_start_it_to_replace_it)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .overlap = OVERLAP_CANCEL_RUNNING,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 900 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(5) + SECONDS(30));
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20 done 08:20:30-08:20:31");
}

SCENARIO(restart_finishes_a_run_of_a_removed_schedule)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(30)));
	run_until(s, "09:05");
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a });
	run_until(s, "09:06");
	world_crash(rig_world(s), MINUTES(5));
	run_until(s, "09:35");
	expect_rows(s, a, "09:00 done 09:00-09:30");
}

/* --- followers --- */

SCENARIO(after_follows_the_outcome)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = HOURLY });
	uint64_t done = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_DONE });
	uint64_t failed = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_FAILED });
	uint64_t any = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_ANY });
	script_run(s, a, lasting(SECONDS(1)));
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "10:30");
	expect_rows(s, done, "after 09:00:01 done 09:00:01-09:00:02");
	expect_rows(s, failed, "after 10:00:01 done 10:00:01-10:00:02");
	expect_rows(s, any, "after 09:00:01 done 09:00:01-09:00:02; after 10:00:01 done 10:00:01-10:00:02");
}

/* The end was written but not answered, and the follower is not recorded. */
SCENARIO(after_a_crash_before_the_follower_is_recorded)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_ANY });
	run_until(s, "09:00:01.055");
	world_crash(rig_world(s), SECONDS(10));
	run_until(s, "09:05");
	expect_rows(s, a, "09:00 done 09:00-09:00:01");
	expect_rows(s, b, "after 09:00:01 done 09:00:11-09:00:12");
}

/* The end was not written. It is read from the run file, and the follower runs once. */
SCENARIO(after_a_crash_before_the_end_is_recorded)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a, .policy.after = AFTER_ANY });
	run_until(s, "09:00:01.035");
	world_crash(rig_world(s), SECONDS(10));
	run_until(s, "09:05");
	expect_rows(s, a, "09:00 done 09:00-09:00:01");
	expect_rows(s, b, "after 09:00:01 done 09:00:11-09:00:12");
}

SCENARIO(after_a_long_crash_follows_the_policy)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(
		s, (struct spec){ .after = a, .policy = { .after = AFTER_ANY, .missed = MISSED_SKIP } });
	run_until(s, "09:00:01.055");
	world_crash(rig_world(s), MINUTES(10));
	run_until(s, "09:20");
	expect_rows(s, b, "09:00:01 missed/down");
}

SCENARIO(after_works_in_a_chain)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .after = a });
	uint64_t c = add_schedule(s, (struct spec){ .after = b });
	run_until(s, "09:20");
	expect_rows(s, b, "after 09:00:01 done 09:00:01-09:00:02");
	expect_rows(s, c, "after 09:00:02 done 09:00:02-09:00:03");
}

/* After the restart the later end is reported first. The follower runs for both ends. */
SCENARIO(after_two_ends_found_by_a_restart)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_ALLOW });
	uint64_t b = add_schedule(
		s, (struct spec){ .after = a, .policy = { .overlap = OVERLAP_ALLOW, .after = AFTER_ANY } });
	script_run(s, a, lasting(MINUTES(14) + SECONDS(5)));
	script_run(s, a, lasting(MINUTES(3) + SECONDS(55)));
	run_until(s, "08:23:50");
	world_crash(rig_world(s), SECONDS(20));
	run_until(s, "08:29");
	expect_rows(s, b, "after 08:23:55 done 08:24:10-08:24:11; after 08:24:05 done 08:24:10-08:24:11");
}

/* The leader's run ends when its retry is dropped. The follower becomes due at that moment, so it is not
 * late. */
SCENARIO(after_a_dropped_retry_is_due_when_it_is_dropped)
{
	uint64_t a = add_schedule(
		s,
		(struct spec){ .cron = EVERY_TEN,
			       .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 1200 } });
	uint64_t b = add_schedule(
		s, (struct spec){ .after = a, .policy = { .after = AFTER_FAILED, .missed = MISSED_SKIP } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:25");
	size_t done = 0;
	for (size_t i = 0; i < model_runs(rig_world(s)->rows); i++) {
		const struct run_row *r = model_run_at(rig_world(s)->rows, i);
		done += r && r->sid == b && r->outcome == OUTCOME_DONE;
	}
	expect_true(s, done == 1);
}

/* The two ends become two occurrences, a microsecond apart. */
SCENARIO(after_two_ends_at_one_instant)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_ALLOW });
	uint64_t b = add_schedule(
		s, (struct spec){ .after = a, .policy = { .overlap = OVERLAP_ALLOW, .after = AFTER_ANY } });
	script_run(s, a, lasting(MINUTES(12)));
	script_run(s, a, lasting(MINUTES(2)));
	run_until(s, "08:29");
	expect_rows(s, b, "after 08:22 done 08:22-08:22:01; after 08:22 done 08:22-08:22:01");
}

/* The follower acts on both ends, one after the other, and does not repeat requests meanwhile. */
SCENARIO(after_two_ends_while_the_first_is_recorded)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_ALLOW });
	uint64_t b = add_schedule(
		s, (struct spec){ .after = a, .policy = { .overlap = OVERLAP_ALLOW, .after = AFTER_ANY } });
	script_run(s, a, lasting(MINUTES(12)));
	script_run(s, a, lasting(MINUTES(2) + 5000));
	run_until(s, "08:29");
	expect_rows(s, b, "after 08:22 done 08:22-08:22:01; after 08:22 done 08:22-08:22:01");
}

/* A run that waited for its agent, then for a slot, and then for its agent again keeps its place. */
SCENARIO(gate_keeps_the_place_of_a_run_that_waits_for_its_agent_again)
{
	set_slots(s, 2);
	uint64_t first = add_schedule(s, (struct spec){ .cron = "10 8 * * *", .policy.agent = 1 });
	uint64_t a = add_schedule(s, (struct spec){ .cron = "11 8 * * *", .policy.agent = 1 });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "12 8 * * *", .policy.agent = 1 });
	uint64_t other = add_schedule(s, (struct spec){ .cron = "13 8 * * *" });
	uint64_t urgent = add_schedule(
		s, (struct spec){ .cron = "14 8 * * *", .policy = { .agent = 1, .priority = 1 } });
	script_run(s, first, lasting(MINUTES(20)));  /* `a` and `b` wait for the agent */
	script_run(s, other, lasting(MINUTES(22)));  /* now `urgent` waits for a slot */
	script_run(s, urgent, lasting(MINUTES(10))); /* from 08:30 on; `a` waits for a slot until 08:35 */
	run_until(s, "08:45");
	expect_rows(s, a, "08:11 done 08:40-08:40:01");
	expect_rows(s, b, "08:12 done 08:40:01-08:40:02");
}
