/* Scenarios: an occurrence between its due time and its start. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"

/* --- overlap --- */

SCENARIO(overlap_skip)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_run(s, a, lasting(MINUTES(25)));
	run_until(s, "09:01");
	expect_rows(s, a,
		    "08:10 done 08:10-08:35; 08:20..08:30 skipped/overlap; 08:40 claimed 08:40; "
		    "08:50..09:00 skipped/overlap");
}

SCENARIO(overlap_queue_one)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ONE });
	script_run(s, a, lasting(MINUTES(25)));
	run_until(s, "09:01");
	expect_rows(
		s, a,
		"08:10 done 08:10-08:35; 08:20 done 08:35-09:00; 08:30 skipped/overlap; 08:40 claimed 09:00; "
		"08:50..09:00 skipped/overlap");
}

SCENARIO(overlap_queue_all)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "09:01");
	expect_rows(s, a,
		    "08:10 done 08:10-08:25; 08:20 done 08:25-08:40; 08:30 done 08:40-08:55; 08:40 claimed "
		    "08:55; "
		    "08:50 claimed; 09:00 claimed");
}

SCENARIO(overlap_cancel_running)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_CANCEL_RUNNING });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "08:35");
	expect_rows(
		s, a,
		"08:10 killed/replaced 08:10-08:20; 08:20 killed/replaced 08:20-08:30; 08:30 claimed 08:30");
}

/* The process tree takes 30 s to die, and the new run waits until it is dead. */
SCENARIO(overlap_cancel_waits_for_the_death_of_the_tree)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_CANCEL_RUNNING });
	script_run(s, a,
		   (struct process_plan){
			   .lasts = HOURS(1), .outcome = OUTCOME_DONE, .kill_takes = SECONDS(30) });
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:25");
	expect_rows(s, a, "08:10 killed/replaced 08:10-08:20:30; 08:20 done 08:20:30-08:20:31");
}

SCENARIO(overlap_cancel_only_if_all_preconditions_pass)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .overlap = OVERLAP_CANCEL_RUNNING,
								.preconditions = 1 << ASK_CONDITION } });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "08:15");
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 done 08:10-08:25; 08:20 skipped/condition");
}

SCENARIO(overlap_allow)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_ALLOW });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "08:34");
	expect_rows(s, a, "08:10 done 08:10-08:25; 08:20 claimed 08:20; 08:30 claimed 08:30");
}

SCENARIO(overlap_ignores_a_pending_retry)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .overlap = OVERLAP_ALLOW,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 1200 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:35");
	expect_rows(s, a,
		    "08:10 done #2 08:30:01-08:30:02; 08:20 done 08:20-08:20:01; 08:30 done 08:30-08:30:01");
}

/* --- missed: four policies, four causes --- */

enum cause { DOWN, SUSPENDED, CLOCK, STORE };

/* From 08:15 to 08:55 the engine handles nothing, because of the given cause. */
static uint64_t miss_forty_minutes(struct scenario_rig *s, enum cause cause, enum missed missed,
				   unsigned limit)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .missed = (uint8_t)missed,
								.overlap = OVERLAP_ALLOW,
								.catch_up_limit = (uint16_t)limit } });
	run_until(s, "08:15");
	struct world *w = rig_world(s);
	if (cause == DOWN)
		world_crash(w, MINUTES(40));
	if (cause == SUSPENDED)
		world_suspend(w, MINUTES(40));
	if (cause == CLOCK)
		world_step_clock(w, MINUTES(40));
	if (cause == STORE)
		world_outage(w, MINUTES(40));
	run_until(s, "09:05");
	return a;
}

#define BEFORE          "08:10 done 08:10-08:10:01; "
#define CLAIMED_IN_TIME "08:20 done 08:55-08:55:01; " /* the store answered late */
#define SUPERSEDED      "08:20..08:40 missed/superseded; 08:50 done 08:55-08:55:01 missed 3; "
#define AFTER           "09:00 done 09:00-09:00:01"

SCENARIO(missed_skip_down)
{
	expect_rows(s, miss_forty_minutes(s, DOWN, MISSED_SKIP, 0),
		    BEFORE "08:20..08:50 missed/down; " AFTER " missed 4");
}

SCENARIO(missed_skip_suspended)
{
	expect_rows(s, miss_forty_minutes(s, SUSPENDED, MISSED_SKIP, 0),
		    BEFORE "08:20..08:50 missed/suspended; " AFTER " missed 4");
}

SCENARIO(missed_skip_clock)
{
	expect_rows(s, miss_forty_minutes(s, CLOCK, MISSED_SKIP, 0),
		    BEFORE "08:20..08:50 missed/clock; " AFTER " missed 4");
}

SCENARIO(missed_skip_store)
{
	expect_rows(s, miss_forty_minutes(s, STORE, MISSED_SKIP, 0),
		    BEFORE CLAIMED_IN_TIME "08:30..08:50 missed/store; " AFTER " missed 3");
}

SCENARIO(missed_execute_immediately_down)
{
	expect_rows(s, miss_forty_minutes(s, DOWN, MISSED_EXECUTE_IMMEDIATELY, 0), BEFORE SUPERSEDED AFTER);
}

SCENARIO(missed_execute_immediately_suspended)
{
	expect_rows(s, miss_forty_minutes(s, SUSPENDED, MISSED_EXECUTE_IMMEDIATELY, 0),
		    BEFORE SUPERSEDED AFTER);
}

SCENARIO(missed_execute_immediately_clock)
{
	expect_rows(s, miss_forty_minutes(s, CLOCK, MISSED_EXECUTE_IMMEDIATELY, 0), BEFORE SUPERSEDED AFTER);
}

SCENARIO(missed_execute_immediately_store)
{
	expect_rows(s, miss_forty_minutes(s, STORE, MISSED_EXECUTE_IMMEDIATELY, 0),
		    BEFORE CLAIMED_IN_TIME
		    "08:30..08:40 missed/superseded; 08:50 done 08:55-08:55:01 missed 2; " AFTER);
}

SCENARIO(missed_execute_next_down)
{
	expect_rows(s, miss_forty_minutes(s, DOWN, MISSED_EXECUTE_NEXT, 0),
		    BEFORE "08:20..08:50 missed/down; " AFTER " missed 4");
}

SCENARIO(missed_execute_next_suspended)
{
	expect_rows(s, miss_forty_minutes(s, SUSPENDED, MISSED_EXECUTE_NEXT, 0),
		    BEFORE "08:20..08:50 missed/suspended; " AFTER " missed 4");
}

SCENARIO(missed_execute_next_clock)
{
	expect_rows(s, miss_forty_minutes(s, CLOCK, MISSED_EXECUTE_NEXT, 0),
		    BEFORE "08:20..08:50 missed/clock; " AFTER " missed 4");
}

SCENARIO(missed_execute_next_store)
{
	expect_rows(s, miss_forty_minutes(s, STORE, MISSED_EXECUTE_NEXT, 0),
		    BEFORE CLAIMED_IN_TIME "08:30..08:50 missed/store; " AFTER " missed 3");
}

#define CAUGHT_UP                                                                                            \
	"08:20 missed/limit; catch_up 08:30 done 08:55-08:55:01 missed 1; catch_up 08:40 done "              \
	"08:55:01-08:55:02; "                                                                                \
	"catch_up 08:50 done 08:55:02-08:55:03; "

SCENARIO(missed_catch_up_down)
{
	expect_rows(s, miss_forty_minutes(s, DOWN, MISSED_CATCH_UP, 3), BEFORE CAUGHT_UP AFTER);
}

SCENARIO(missed_catch_up_suspended)
{
	expect_rows(s, miss_forty_minutes(s, SUSPENDED, MISSED_CATCH_UP, 3), BEFORE CAUGHT_UP AFTER);
}

SCENARIO(missed_catch_up_clock)
{
	expect_rows(s, miss_forty_minutes(s, CLOCK, MISSED_CATCH_UP, 3), BEFORE CAUGHT_UP AFTER);
}

SCENARIO(missed_catch_up_store)
{
	expect_rows(s, miss_forty_minutes(s, STORE, MISSED_CATCH_UP, 2),
		    BEFORE CLAIMED_IN_TIME "08:30 missed/limit; catch_up 08:40 done 08:55-08:55:01 missed 1; "
					   "catch_up 08:50 done 08:55:01-08:55:02; " AFTER);
}

/* One of the due times is not late. It runs, and all late ones are superseded. */
SCENARIO(missed_times_are_superseded_by_one_in_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(35) + SECONDS(30));
	run_until(s, "08:55");
	expect_rows(s, a, BEFORE "08:20..08:40 missed/superseded; 08:50 done 08:50:30-08:50:31 missed 3");
}

/* A time that is 60 s late runs; one microsecond later it is missed. The engine gets the first numbers 20 ms
 * after the load, so that it decides at exactly 08:21:00. */
SCENARIO(missed_grace_is_inclusive)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(6) - 20000);
	run_until(s, "08:25");
	expect_rows(s, a, BEFORE "08:20 done 08:21-08:21:01");
	world_crash(rig_world(s), MINUTES(6) - 20000 + 1);
	run_until(s, "08:35");
	expect_rows(s, a, BEFORE "08:20 done 08:21-08:21:01; 08:30 missed/down");
}

SCENARIO(missed_catch_up_includes_times_that_come_due_meanwhile)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_CATCH_UP });
	script_run(s, a, lasting(SECONDS(1)));
	script_run(s, a, lasting(MINUTES(4)));
	script_run(s, a, lasting(MINUTES(4)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(22));
	run_until(s, "08:55");
	expect_rows(s, a,
		    BEFORE "catch_up 08:20 done 08:37-08:41; catch_up 08:30 done 08:41-08:45; "
			   "catch_up 08:40 done 08:45-08:45:01; 08:50 done 08:50-08:50:01");
}

/* Every time of a schedule that is due every 2 s must have run, whatever the policy for overlap, after an
 * interruption that is longer than the grace. */
static void catch_up_dense(struct scenario_rig *s, enum overlap overlap)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .every = 2,
				  .policy = { .missed = MISSED_CATCH_UP, .overlap = (uint8_t)overlap } });
	script_run(s, a, lasting(USEC / 2));
	run_until(s, "08:01");
	world_crash(rig_world(s), SECONDS(100));
	run_until(s, "08:05:01");
	const struct model *rows = rig_world(s)->rows;
	unsigned done = 0, caught_up = 0;
	for (size_t i = 0; i < model_runs(rows); i++) {
		const struct run_row *r = model_run_at(rows, i);
		done += r->state == RUN_FINISHED && r->outcome == OUTCOME_DONE;
		caught_up += r->kind == KIND_CATCH_UP;
	}
	expect_true(s, done == 150);
	expect_true(s, caught_up > 50 && caught_up < 100);
	expect_true(s, model_runs(rows) == 150 && model_sched(rows, a)->ranges == 0);
	send_command(s, (struct command){ .kind = CMD_DROP, .sid = a }); /* it would never be quiet */
}

SCENARIO(missed_catch_up_of_a_dense_schedule)
{
	catch_up_dense(s, OVERLAP_SKIP);
}

SCENARIO(missed_catch_up_of_a_dense_schedule_that_queues_one)
{
	catch_up_dense(s, OVERLAP_QUEUE_ONE);
}

SCENARIO(missed_catch_up_of_a_dense_schedule_that_cancels)
{
	catch_up_dense(s, OVERLAP_CANCEL_RUNNING);
}

/* All missed times are within the grace. Several of them are a line; one alone simply runs late. */
SCENARIO(missed_catch_up_of_times_within_the_grace)
{
	uint64_t a = add_schedule(s, (struct spec){ .every = 20, .policy.missed = MISSED_CATCH_UP });
	script_run(s, a, lasting(SECONDS(12)));
	run_until(s, "08:00:50");
	world_crash(rig_world(s), SECONDS(15));
	run_until(s, "08:01:30");
	world_crash(rig_world(s), SECONDS(55));
	run_until(s, "08:04:15");
	expect_rows(s, a,
		    "08:00:20 done 08:00:20-08:00:32; 08:00:40 done 08:00:40-08:00:52; "
		    "08:01 done 08:01:05-08:01:17; 08:01:20 done 08:01:20-08:01:32; "
		    "catch_up 08:01:40 done 08:02:25-08:02:37; catch_up 08:02 done 08:02:37-08:02:49; "
		    "catch_up 08:02:20 done 08:02:49-08:03:01; catch_up 08:02:40 done 08:03:01-08:03:13; "
		    "catch_up 08:03 done 08:03:13-08:03:25; catch_up 08:03:20 done 08:03:25-08:03:37; "
		    "08:03:40 done 08:03:40-08:03:52; 08:04 done 08:04-08:04:12");
}

/* The ends of a leader that a follower was not informed of are a line, too. */
SCENARIO(missed_catch_up_of_a_follower_includes_ends_that_come_meanwhile)
{
	uint64_t a = add_schedule(s, (struct spec){ .every = 600 });
	uint64_t b = add_schedule(s, (struct spec){ .after = a, .policy.missed = MISSED_CATCH_UP });
	script_run(s, a, lasting(MINUTES(9)));
	script_run(s, b, lasting(MINUTES(9) + SECONDS(30)));
	script_run(s, b, lasting(SECONDS(1)));
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(9));
	run_until(s, "08:45");
	expect_rows(s, b, "catch_up 08:19 done 08:24-08:33:30; catch_up 08:33 done 08:33:30-08:33:31");
}

/* One of the catch-up runs fails and waits for its retry. */
SCENARIO(missed_catch_up_with_a_retry_runs_one_at_a_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .missed = MISSED_CATCH_UP,
								.overlap = OVERLAP_ALLOW,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 60 } });
	script_run(s, a, lasting(SECONDS(1)));
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(MINUTES(2)));
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(17));
	run_until(s, "08:39");
	const struct model *rows = rig_world(s)->rows;
	expect_true(s, model_occurrence(rows, a, at(s, "08:20"))->outcome == OUTCOME_DONE);
	expect_true(s, model_occurrence(rows, a, at(s, "08:30"))->outcome == OUTCOME_DONE);
}

/* --- the window --- */

#define WINDOW_OF_15_MINUTES .policy.window = 900

SCENARIO(window_allows_a_delayed_start)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, WINDOW_OF_15_MINUTES });
	script_run(s, other, lasting(MINUTES(15)));
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:10-09:10:01");
}

SCENARIO(window_closes_while_waiting_for_a_slot)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, WINDOW_OF_15_MINUTES });
	script_run(s, other, lasting(MINUTES(21)));
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 missed/window_closed");
}

/* The claim is sent 20 ms after the load, with the first numbers, and answered 20 ms after that, so the start
 * is decided at exactly 09:15:00. */
SCENARIO(window_end_is_inclusive)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, WINDOW_OF_15_MINUTES });
	run_until(s, "08:30");
	world_crash(rig_world(s), MINUTES(45) - 40000);
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:15-09:15:01");
}

SCENARIO(window_end_plus_a_microsecond_is_too_late)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, WINDOW_OF_15_MINUTES });
	run_until(s, "08:30");
	world_crash(rig_world(s), MINUTES(45) - 20000 + 1);
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 missed/window_closed");
}

/* The start is decided in time, but the machine cannot start it, perhaps because of a full disk. */
SCENARIO(window_closes_before_the_process_can_start)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, WINDOW_OF_15_MINUTES });
	script_run(s, a, (struct process_plan){ .starts_too_late = true });
	run_until(s, "10:00");
	expect_rows(s, a, "09:00 missed/window_closed");
}

SCENARIO(window_closes_while_down)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.window = 120 });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(40));
	run_until(s, "09:05");
	expect_rows(s, a, BEFORE "08:20..08:50 missed/window_closed; " AFTER " missed 4");
}

/* --- preconditions --- */

SCENARIO(condition_becomes_true_within_the_window)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:05");
	expect_rows(s, a, "09:00 pending");
	run_until(s, "09:10");
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	world_state_changed(rig_world(s), 0);
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:10-09:10:01");
}

/* The answer that is under way was given before the change, so the condition is asked again at once. */
SCENARIO(condition_that_changes_while_asked_is_asked_again)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:00:00.025");
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	world_state_changed(rig_world(s), 0);
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:00-09:00:01");
}

/* Without EV_STATE the condition is asked every 30 s. */
SCENARIO(condition_is_asked_every_30_seconds)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:10:10");
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:10:30-09:10:31");
}

SCENARIO(condition_that_stays_false_is_skipped_at_the_end_of_the_window)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:14:59");
	expect_rows(s, a, "09:00 pending");
	run_until(s, "09:15:01");
	expect_rows(s, a, "09:00 skipped/condition");
}

SCENARIO(condition_without_window_is_asked_once)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_CONDITION });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:00:01");
	expect_rows(s, a, "09:00 skipped/condition");
}

SCENARIO(hook_that_answers_no_skips)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_HOOK | 1 << ASK_BUDGET });
	script_answer(s, a, ASK_HOOK, false, REASON_HOOK);
	run_until(s, "09:01");
	expect_rows(s, a, "09:00 skipped/hook");
}

SCENARIO(budget_that_answers_no_skips)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_HOOK | 1 << ASK_BUDGET });
	script_answer(s, a, ASK_BUDGET, false, REASON_BUDGET);
	run_until(s, "09:01");
	expect_rows(s, a, "09:00 skipped/budget");
}

SCENARIO(check_that_finds_no_work_ends_the_run)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_CHECK });
	script_answer(s, a, ASK_CHECK, false, REASON_NONE);
	run_until(s, "09:01");
	expect_rows(s, a, "09:00 no_work");
}

SCENARIO(check_that_fails_fails_the_run)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_CHECK });
	script_answer(s, a, ASK_CHECK, false, REASON_CHECK);
	run_until(s, "09:01");
	expect_rows(s, a, "09:00 failed/check");
}

/* For a day there is no work: the check is made at each due time, and nothing is started. */
static void idle_day(struct scenario_rig *s, const char *cron, unsigned minutes)
{
	start_at(s, "03-05 00:00");
	struct spec turn = {
		.cron = cron, .policy = { .preconditions = 1 << ASK_CHECK, .action = ACTION_TURN, .agent = 1 }
	};
	struct spec command = { .cron = cron, .policy.preconditions = 1 << ASK_CHECK };
	uint64_t a = add_schedule(s, turn), b = add_schedule(s, command);
	script_answer(s, a, ASK_CHECK, false, REASON_NONE);
	script_answer(s, b, ASK_CHECK, false, REASON_NONE);
	run_until(s, "03-05 13:37");
	world_crash(rig_world(s), SECONDS(10)); /* in spite of the crash, each avoided call is counted once */
	run_until(s, "03-06 00:00:30");
	const struct model *rows = rig_world(s)->rows;
	unsigned idle = 0;
	for (unsigned minute = minutes; minute <= 24 * 60; minute += minutes) {
		struct wall nominal = { at(s, "03-05 00:00").us + MINUTES(minute) };
		const struct run_row *r = model_occurrence(rows, a, nominal);
		idle += r && r->state == RUN_FINISHED && r->outcome == OUTCOME_NO_WORK;
	}
	expect_true(s, idle == 24 * 60 / minutes);
	expect_true(s, model_avoided(rows, 0) == idle && model_avoided(rows, a) == idle);
	expect_true(s, model_avoided(rows, b) == 0); /* a command calls no model */
	unsigned started = 0;
	for (unsigned i = 0; i < rig_world(s)->files; i++)
		started += rig_world(s)->file[i].state != FILE_PREVENTED;
	expect_true(s, started == 0);
}

SCENARIO(check_avoids_all_model_calls_of_a_day)
{
	idle_day(s, "*/15 * * * *", 15);
}

SCENARIO(check_avoids_all_model_calls_of_every_minute)
{
	idle_day(s, "* * * * *", 1);
}

SCENARIO(hook_is_asked_again_after_a_crash)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.preconditions = 1 << ASK_HOOK });
	run_until(s, "09:00:00.025");
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "09:01");
	expect_rows(s, a, "09:00 done 09:00:05-09:00:06");
}

/* A hook cancels one occurrence: there is no retry and no other question within the window, and the next
 * occurrence asks again. */
SCENARIO(hook_that_cancels_waits_for_the_next_occurrence)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .policy = { .preconditions = 1 << ASK_HOOK,
								.window = 300,
								.retries = 3,
								.retry_delay = 5 } });
	script_answer(s, a, ASK_HOOK, false, REASON_HOOK);
	run_until(s, "08:15");
	script_answer(s, a, ASK_HOOK, true, REASON_NONE);
	run_until(s, "08:25");
	expect_rows(s, a, "08:10 skipped/hook; 08:20 done 08:20-08:20:01");
}

/* The hook of the configuration comes before that of the schedule; the first that cancels decides. */
SCENARIO(hook_of_the_configuration_comes_first)
{
	rig_world(s)->config.has_hook = true;
	world_crash(rig_world(s), SECONDS(1)); /* the next daemon reads the configuration */
	run_until(s, "08:05");
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.preconditions = 1 << ASK_HOOK });
	uint64_t b = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_answer(s, b, ASK_CONFIG_HOOK, false, REASON_HOOK);
	run_until(s, "08:15");
	expect_rows(s, a, "08:10 done 08:10-08:10:01");
	expect_rows(s, b, "08:10 skipped/hook");
}

/* The hook of the configuration applies to events, and not to runs of a person. */
SCENARIO(hook_of_the_configuration_cancels_events)
{
	rig_world(s)->config.has_hook = true;
	world_crash(rig_world(s), SECONDS(1));
	run_until(s, "08:05");
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.action = ACTION_EVENT });
	script_answer(s, a, ASK_CONFIG_HOOK, false, REASON_HOOK);
	run_until(s, "08:12");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:15");
	expect_rows(s, a, "08:10 skipped/hook; manual 08:12 done");
}

/* --- events, exclusions, limits --- */

SCENARIO(event_is_done_when_claimed)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.action = ACTION_EVENT });
	script_run(s, other, lasting(HOURS(1)));
	run_until(s, "09:00:01");
	expect_rows(s, a, "09:00 done");
}

SCENARIO(excluded_date_is_skipped)
{
	start_at(s, "03-09 08:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.calendar = CALENDAR_SOME });
	run_until(s, "03-11 10:00");
	expect_rows(
		s, a,
		"09:00 done 09:00-09:00:01; 03-10 09:00 skipped/excluded; 03-11 09:00 done 03-11 09:00-03-11 "
		"09:00:01");
}

/* A missed time on an excluded date is skipped/excluded, and never run late. */
SCENARIO(excluded_date_is_not_caught_up)
{
	start_at(s, "03-09 08:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.calendar = CALENDAR_SOME });
	run_until(s, "03-09 20:00");
	world_crash(rig_world(s), HOURS(24));
	run_until(s, "03-11 10:00");
	expect_rows(
		s, a,
		"09:00 done 09:00-09:00:01; 03-10 09:00 skipped/excluded; 03-11 09:00 done 03-11 09:00-03-11 "
		"09:00:01");
}

/* The later time is excluded, so the earlier one is the latest that may run. */
SCENARIO(excluded_date_does_not_supersede_a_missed_time)
{
	start_at(s, "03-09 08:00");
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.calendar = CALENDAR_SOME });
	run_until(s, "03-09 08:30");
	world_crash(rig_world(s), HOURS(27));
	run_until(s, "03-10 12:00");
	expect_rows(s, a, "09:00 done 03-10 11:30-03-10 11:30:01; 03-10 09:00 skipped/excluded");
}

/* 08:00 to 10:00 in New York is 13:00 to 15:00 UTC. Times outside are one range. */
SCENARIO(active_hours_in_another_zone)
{
	start_at(s, "03-05 12:00");
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = "0 * * * *", .active = { 480, 600, ZONE_NEW_YORK } });
	run_until(s, "03-05 16:30");
	expect_rows(s, a, RAN("13:00") RAN("14:00") "15:00..16:00 skipped/active_hours");
}

SCENARIO(active_hours_over_midnight)
{
	start_at(s, "03-05 21:00");
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = "0 */2 * * *", .active = { 23 * 60, 60, ZONE_UTC } });
	run_until(s, "03-06 03:00");
	expect_rows(s, a,
		    "22:00 skipped/active_hours; 03-06 00:00 done 03-06 00:00-03-06 00:00:01; "
		    "03-06 02:00 skipped/active_hours");
}

/* 22:00 to 06:00 in New York is 03:00 to 11:00 UTC. */
SCENARIO(active_hours_over_midnight_in_another_zone)
{
	start_at(s, "03-05 23:00");
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = "0 */4 * * *", .active = { 22 * 60, 6 * 60, ZONE_NEW_YORK } });
	run_until(s, "03-06 13:00");
	expect_rows(s, a,
		    "03-06 00:00 skipped/active_hours; 03-06 04:00 done 03-06 04:00-03-06 04:00:01; "
		    "03-06 08:00 done 03-06 08:00-03-06 08:00:01; 03-06 12:00 skipped/active_hours");
}

/* Times outside the agent's hours are skipped, not missed. */
SCENARIO(active_hours_are_not_caught_up)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .active = { 8 * 60, 8 * 60 + 25, ZONE_UTC },
						    .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(30));
	run_until(s, "08:59");
	expect_rows(s, a, RAN("08:10") "08:20 missed/down; 08:30..08:50 skipped/active_hours");
}

static int64_t seconds_at(struct scenario_rig *s, const char *when)
{
	return wall_seconds(at(s, when));
}

/* The times before the start are one range, which the start closes. A time at the start runs. */
SCENARIO(not_started_until_the_start_date)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .from = seconds_at(s, "08:40") });
	run_until(s, "08:35");
	expect_rows(s, a, "08:10.. skipped/not_started");
	run_until(s, "08:55");
	expect_rows(s, a, "08:10..08:39:59 skipped/not_started; " RAN("08:40") "08:50 done 08:50-08:50:01");
}

SCENARIO(not_started_during_a_restart)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN,
						    .from = seconds_at(s, "08:30"),
						    .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(30));
	run_until(s, "08:55");
	expect_rows(s, a,
		    "08:10..08:29:59 skipped/not_started; 08:30..08:40 missed/down; 08:50 done "
		    "08:50-08:50:01 missed 2");
}

/* Times before the start are not_started, times after it are paused. */
SCENARIO(not_started_then_paused)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .from = seconds_at(s, "08:30") });
	run_until(s, "08:15");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	run_until(s, "08:55");
	expect_rows(s, a,
		    "08:10..08:29:59 skipped/not_started; 08:30..08:45 skipped/paused; 08:50 done "
		    "08:50-08:50:01");
}

SCENARIO(expired_after_the_end_date)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .until = seconds_at(s, "08:25") });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30.. skipped/expired");
	change_schedule(s, a, (struct spec){ .cron = EVERY_TEN, .until = seconds_at(s, "09:05") });
	run_until(s, "09:15");
	expect_rows(s, a,
		    RAN("08:10") RAN("08:20") "08:30..08:55 skipped/expired; " RAN(
			    "09:00") "09:10.. skipped/expired");
}

SCENARIO(max_runs_ends_the_schedule)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .max_runs = 2 });
	run_until(s, "08:55");
	expect_rows(s, a, "08:10 done 08:10-08:10:01; 08:20 done 08:20-08:20:01; 08:30.. skipped/max_runs");
}

/* --- the gate --- */

SCENARIO(gate_starts_by_priority)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t low = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.priority = -5 });
	uint64_t mid = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t high = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.priority = 5 });
	script_run(s, other, lasting(MINUTES(10)));
	run_until(s, "09:10");
	expect_rows(s, high, "09:00 done 09:05-09:05:01");
	expect_rows(s, mid, "09:00 done 09:05:01-09:05:02");
	expect_rows(s, low, "09:00 done 09:05:02-09:05:03");
}

SCENARIO(gate_is_first_in_first_out)
{
	set_slots(s, 1);
	uint64_t a = add_schedule(s, (struct spec){ .cron = "0 9 * * *" });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "1 9 * * *" });
	uint64_t c = add_schedule(s, (struct spec){ .cron = "2 9 * * *" });
	script_run(s, a, lasting(MINUTES(5)));
	script_run(s, b, lasting(MINUTES(5)));
	script_run(s, c, lasting(MINUTES(5)));
	run_until(s, "09:20");
	expect_rows(s, a, "09:00 done 09:00-09:05");
	expect_rows(s, b, "09:01 done 09:05-09:10");
	expect_rows(s, c, "09:02 done 09:10-09:15");
}

SCENARIO(gate_limits_a_key_to_one_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.key = 7 });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "0 9 * * *", .policy.key = 7 });
	uint64_t c = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a, lasting(MINUTES(1)));
	script_run(s, b, lasting(MINUTES(1)));
	run_until(s, "09:05");
	expect_rows(s, a, "09:00 done 09:00-09:01");
	expect_rows(s, b, "09:00 done 09:01-09:02");
	expect_rows(s, c, "09:00 done 09:00-09:00:01");
}

SCENARIO(gate_limits_an_agent_to_its_slots)
{
	struct spec x = { .cron = AT_NINE, .policy = { .agent = 3, .agent_slots = 2 } };
	uint64_t a = add_schedule(s, x), b = add_schedule(s, x), c = add_schedule(s, x);
	script_run(s, a, lasting(MINUTES(1)));
	script_run(s, b, lasting(MINUTES(2)));
	script_run(s, c, lasting(MINUTES(1)));
	run_until(s, "09:05");
	expect_rows(s, a, "09:00 done 09:00-09:01");
	expect_rows(s, b, "09:00 done 09:00-09:02");
	expect_rows(s, c, "09:00 done 09:01-09:02");
}

/* After a restart, runs that are found alive get their slots before other runs. */
SCENARIO(gate_counts_runs_found_alive)
{
	set_slots(s, 1);
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "10 9 * * *" });
	script_run(s, a, lasting(MINUTES(20)));
	run_until(s, "09:05");
	world_crash(rig_world(s), MINUTES(5) + SECONDS(10));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 done 09:00-09:20");
	expect_rows(s, b, "09:10 done 09:20-09:20:01");
}
