/* Scenarios: commands of people and documents. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"
#define AT_NINE   "0 9 * * *"

/* --- pause --- */

SCENARIO(pause_skips_times_until_resume)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:25");
	expect_true(s,
		    send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER }).code ==
			    REPLY_OK);
	run_until(s, "08:42");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30.. skipped/paused");
	run_until(s, "08:45");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a }).code == REPLY_OK);
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

SCENARIO(pause_ends_at_its_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:25");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

/* Times after the end of the pause were missed, not paused. */
SCENARIO(pause_that_ends_while_the_daemon_is_down_ends_at_its_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:25");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	run_until(s, "08:35");
	world_crash(rig_world(s), MINUTES(30));
	run_until(s, "09:15");
	expect_rows(s, a,
		    RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50..09:00 missed/down; "
					      "09:10 done 09:10-09:10:01 missed 2");
}

SCENARIO(pause_all_that_ends_while_the_daemon_is_down_ends_at_its_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "40,50 8 * * *" });
	run_until(s, "08:25");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = at(s, "08:45") });
	run_until(s, "08:35");
	world_crash(rig_world(s), MINUTES(30));
	run_until(s, "09:15");
	expect_rows(s, a,
		    RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50..09:00 missed/down; "
					      "09:10 done 09:10-09:10:01 missed 2");
	expect_rows(s, b, "08:40 skipped/paused; 08:50 done 09:05-09:05:01");
}

/* Found by seed 800002870: the range is that of a block, which was released just before the daemon crashed.
 * Its times are not recorded a second time. */
SCENARIO(pause_that_ends_while_the_daemon_is_down_leaves_the_range_of_a_block)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.agent = 1 });
	struct world *w = rig_world(s);
	script_run(s, a, failing(SECONDS(1), REASON_AUTH));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:22");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = at(s, "08:45") });
	run_until(s, "08:25");
	world_command(w, (struct command){ .kind = CMD_RELEASE, .key = 1 });
	world_run(w, w->t + 12000); /* it is written, and not answered */
	world_crash(w, MINUTES(40));
	run_until(s, "09:15");
	expect_rows(
		s, a,
		"08:10 failed/auth 08:10-08:10:01; 08:20..09:05 skipped/blocked; 09:10 done 09:10-09:10:01");
}

/* While the ranges of the pause are open nothing else wakes the engine. */
SCENARIO(pause_all_ends_at_its_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:25");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = at(s, "08:45") });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

SCENARIO(pause_all_skips_times_until_resume)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN }),
		 b = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:25");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	run_until(s, "08:45");
	send_command(s, (struct command){ .kind = CMD_RESUME });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
	expect_rows(s, b, RAN("08:10") RAN("08:20") "08:30..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

/* The waiting run is skipped, the running one finishes. */
SCENARIO(pause_skips_waiting_runs)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "08:22");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 done 08:10-08:25; 08:20.. skipped/paused");
}

SCENARIO(pause_all_skips_waiting_runs)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "08:22");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 done 08:10-08:25; 08:20.. skipped/paused");
}

SCENARIO(pause_drops_a_pending_retry)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN,
				  .policy = { .retries = 1, .backoff = BACKOFF_FIXED, .retry_delay = 480 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "08:15");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:20.. skipped/paused");
}

SCENARIO(pause_survives_a_restart)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:25");
	world_crash(rig_world(s), MINUTES(10));
	run_until(s, "08:45");
	send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") "08:20..08:45 skipped/paused; 08:50 done 08:50-08:50:01");
}

SCENARIO(manual_run_ignores_pause_and_max_runs)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .max_runs = 1 });
	send_command(s, (struct command){ .kind = CMD_PAUSE, .sid = a, .to = WALL_NEVER });
	run_until(s, "08:05");
	script_run(s, a, lasting(MINUTES(1)));
	struct reply r = send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	expect_true(s, r.code == REPLY_OK && r.run);
	run_until(s, "08:05:30");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_RUN, .sid = a }).code == REPLY_BUSY);
	run_until(s, "08:10");
	send_command(s, (struct command){ .kind = CMD_RESUME, .sid = a });
	run_until(s, "09:05");
	expect_rows(s, a,
		    "manual 08:05 done 08:05-08:06; 09:00 done 09:00-09:01; 03-06 09:00.. skipped/max_runs");
}

SCENARIO(manual_run_asks_only_the_budget)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = AT_NINE,
					       .policy.preconditions = 1 << ASK_BUDGET | 1 << ASK_CONDITION |
								       1 << ASK_HOOK });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	script_answer(s, a, ASK_HOOK, false, REASON_HOOK);
	run_until(s, "08:05");
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:10");
	expect_rows(s, a, "manual 08:05 done 08:05-08:05:01");
	script_answer(s, a, ASK_BUDGET, false, REASON_BUDGET);
	send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	run_until(s, "08:15");
	expect_rows(s, a, "manual 08:05 done 08:05-08:05:01; 08:10 skipped/budget");
}

/* --- stop --- */

static uint64_t open_run(struct scenario_rig *s, uint64_t sid)
{
	const struct model *rows = rig_world(s)->rows;
	for (size_t i = 0; i < model_open_runs(rows); i++)
		if (model_open_run_at(rows, i)->sid == sid)
			return model_open_run_at(rows, i)->run;
	return 0;
}

SCENARIO(stop_kills_a_running_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.retries = 3 });
	script_run(s, a, lasting(MINUTES(15)));
	run_until(s, "09:02");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code ==
			       REPLY_OK);
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 killed/cancelled 09:00-09:02");
}

SCENARIO(stop_ends_a_queued_run)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, other, lasting(MINUTES(15)));
	run_until(s, "09:02");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code ==
			       REPLY_OK);
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 killed/cancelled");
}

SCENARIO(stop_ends_a_run_that_waits_for_its_condition)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE,
				  .policy = { .window = 900, .preconditions = 1 << ASK_CONDITION } });
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "09:02");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code ==
			       REPLY_OK);
	script_answer(s, a, ASK_CONDITION, true, REASON_NONE);
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 killed/cancelled");
}

SCENARIO(stop_ends_a_run_that_waits_for_its_retry)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = AT_NINE, .policy = { .retries = 3, .retry_delay = 600 } });
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	run_until(s, "09:02");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) }).code ==
			       REPLY_OK);
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 failed/exit 09:00-09:00:01");
}

/* A crash right after the command must not undo it. */
SCENARIO(stop_survives_a_crash)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, a,
		   (struct process_plan){
			   .lasts = MINUTES(15), .outcome = OUTCOME_DONE, .kill_takes = SECONDS(20) });
	run_until(s, "09:02");
	send_command(s, (struct command){ .kind = CMD_STOP, .run = open_run(s, a) });
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "09:30");
	expect_rows(s, a, "09:00 killed/cancelled 09:00-09:02:20");
}

/* --- edit and removal --- */

SCENARIO(edit_changes_the_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:25");
	change_schedule(s, a, (struct spec){ .cron = "5 * * * *" });
	run_until(s, "09:10");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "09:05 done 09:05-09:05:01");
}

SCENARIO(edit_does_not_run_past_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "08:25");
	change_schedule(s, a, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:35");
	expect_rows(s, a, "08:30 done 08:30-08:30:01");
}

/* The schedule is changed while its time 09:10 waits for the end of a hold. */
static uint64_t edit_while_held(struct scenario_rig *s, struct spec to)
{
	uint64_t limited =
		add_schedule(s, (struct spec){ .cron = AT_NINE, .policy = { .agent = 1, .account = 9 } });
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = "10 * * * *", .policy = { .agent = 2, .account = 9 } });
	struct process_plan f = failing(SECONDS(1), REASON_RATE_LIMITED);
	f.reset = at(s, "09:20");
	script_run(s, limited, f);
	script_run(s, limited, lasting(SECONDS(1)));
	run_until(s, "08:15");
	expect_rows(s, a, "08:10 done 08:10-08:10:01");
	run_until(s, "09:15");
	to.policy.agent = 2;
	to.policy.account = 9;
	change_schedule(s, a, to);
	run_until(s, "09:45");
	return a;
}

SCENARIO(edit_of_times_makes_a_pending_time_missed)
{
	expect_rows(s, edit_while_held(s, (struct spec){ .cron = "40 * * * *" }),
		    RAN("08:10") "09:10 missed/edited; 09:40 done 09:40-09:40:01 missed 1");
}

SCENARIO(edit_of_action_runs_a_pending_time_by_the_new_version)
{
	uint64_t a = edit_while_held(s, (struct spec){ .cron = "10 * * * *", .policy.retries = 1 });
	expect_rows(s, a, RAN("08:10") "09:10 done 09:20-09:20:01");
	expect_true(s, model_occurrence(rig_world(s)->rows, a, at(s, "09:10"))->rev == 2);
}

/* The daemon is down from 08:55 to 09:30. With documents_first, 09:00 is settled after the documents are
 * applied. */
static uint64_t edit_while_down(struct scenario_rig *s, struct spec to)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE });
	run_until(s, "08:55");
	rig_world(s)->config.documents_first = true;
	world_crash(rig_world(s), MINUTES(35));
	run_until(s, "09:40");
	expect_rows(s, a, "");
	change_schedule(s, a, to);
	run_until(s, "09:41");
	world_documents_applied(rig_world(s));
	run_until(s, "09:45");
	return a;
}

SCENARIO(documents_with_changed_times_make_a_pending_time_missed)
{
	expect_rows(s, edit_while_down(s, (struct spec){ .cron = "43 9 * * *" }),
		    "09:00 missed/edited; 09:43 done 09:43-09:43:01 missed 1");
}

SCENARIO(documents_with_a_changed_action_run_a_pending_time)
{
	uint64_t a = edit_while_down(s, (struct spec){ .cron = AT_NINE, .policy.retries = 1 });
	expect_rows(s, a, "09:00 done 09:41-09:41:01");
	expect_true(s, model_occurrence(rig_world(s)->rows, a, at(s, "09:00"))->rev == 2);
}

/* The slot of a run counts for the agent and key with which the run was recorded. */
SCENARIO(edit_of_agent_while_running_keeps_the_slots_right)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 1, .key = 5, .priority = 3 } });
	uint64_t b =
		add_schedule(s, (struct spec){ .cron = "22 8 * * *", .policy = { .agent = 1, .key = 5 } });
	script_run(s, a, lasting(MINUTES(3)));
	run_until(s, "08:11");
	change_schedule(
		s, a, (struct spec){ .cron = EVERY_TEN, .policy = { .agent = 2, .key = 6, .priority = -3 } });
	run_until(s, "08:29");
	expect_rows(s, a, "08:10 done 08:10-08:13; 08:20 done 08:20-08:23");
	expect_rows(s, b, "08:22 done 08:22-08:22:01");
}

SCENARIO(edit_of_priority_while_queued_keeps_the_queue_right)
{
	set_slots(s, 1);
	uint64_t other = add_schedule(s, (struct spec){ .cron = "55 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = AT_NINE, .policy.priority = 3 });
	uint64_t b = add_schedule(s, (struct spec){ .cron = AT_NINE });
	script_run(s, other, lasting(MINUTES(15)));
	run_until(s, "09:02");
	change_schedule(s, a, (struct spec){ .cron = AT_NINE, .policy.priority = -3 });
	run_until(s, "09:30");
	expect_rows(s, other, "08:55 done 08:55-09:10");
	expect_true(s, model_open_runs(rig_world(s)->rows) == 0);
	expect_true(s, model_occurrence(rig_world(s)->rows, a, at(s, "09:00"))->outcome == OUTCOME_DONE);
	expect_true(s, model_occurrence(rig_world(s)->rows, b, at(s, "09:00"))->outcome == OUTCOME_DONE);
}

SCENARIO(removal_lets_a_running_attempt_finish)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_run(s, a, lasting(MINUTES(5)));
	run_until(s, "08:12");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_DROP, .sid = a }).code == REPLY_OK);
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 done 08:10-08:15");
}

SCENARIO(removal_with_kill_kills_a_running_attempt)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_run(s, a, lasting(MINUTES(5)));
	run_until(s, "08:12");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_DROP, .sid = a, .kill = true }).code ==
			       REPLY_OK);
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 killed/cancelled 08:10-08:12");
}

/* The process is not alive yet when the schedule is removed. */
SCENARIO(removal_with_kill_kills_a_starting_attempt)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	struct world *w = rig_world(s);
	script_run(s, a, lasting(MINUTES(5)));
	w->timing.launch = (struct span){ SECONDS(20), SECONDS(20) };
	run_until(s, "08:10:10");
	expect_true(s, sim_runner_file(w, open_run(s, a), 1)->state == FILE_REQUESTED);
	expect_true(s, send_command(s, (struct command){ .kind = CMD_DROP, .sid = a, .kill = true }).code ==
			       REPLY_OK);
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 killed/cancelled 08:10:20-08:10:20");
}

/* --- backfill --- */

SCENARIO(backfill_runs_missed_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.missed = MISSED_SKIP });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(40));
	run_until(s, "09:05");
	expect_true(s, send_command(s, (struct command){ .kind = CMD_BACKFILL,
							 .sid = a,
							 .from = at(s, "08:10"),
							 .to = at(s, "08:40") })
				       .code == REPLY_OK);
	run_until(s, "09:09");
	expect_rows(
		s, a,
		RAN("08:10") "08:20..08:50 missed/down; backfill 08:20 done 09:05-09:05:01; "
			     "backfill 08:30 done 09:05:01-09:05:02; backfill 08:40 done 09:05:02-09:05:03; "
			     "09:00 done 09:00-09:00:01 missed 4");
}

SCENARIO(backfill_runs_skipped_times)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	script_run(s, a, lasting(MINUTES(15)));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:26");
	expect_rows(s, a, "08:10 done 08:10-08:25; 08:20 skipped/overlap");
	send_command(s,
		     (struct command){
			     .kind = CMD_BACKFILL, .sid = a, .from = at(s, "08:00"), .to = at(s, "08:25") });
	run_until(s, "08:29");
	expect_rows(s, a,
		    "backfill 08:00 done 08:26-08:26:01; 08:10 done 08:10-08:25; "
		    "backfill 08:20 done 08:26:01-08:26:02 was skipped");
}

SCENARIO(backfill_respects_the_limit)
{
	uint64_t a =
		add_schedule(s, (struct spec){ .cron = EVERY_TEN,
					       .policy = { .missed = MISSED_SKIP, .catch_up_limit = 2 } });
	run_until(s, "08:15");
	world_crash(rig_world(s), MINUTES(40));
	run_until(s, "09:05");
	send_command(s,
		     (struct command){
			     .kind = CMD_BACKFILL, .sid = a, .from = at(s, "08:10"), .to = at(s, "08:50") });
	run_until(s, "09:09");
	expect_rows(s, a,
		    RAN("08:10") "08:20..08:50 missed/down; backfill 08:20 done 09:05-09:05:01; "
				 "backfill 08:30 done 09:05:01-09:05:02; 09:00 done 09:00-09:00:01 missed 4");
}

/* --- outdated rules --- */

/* Rules for other zone data record nothing, not even missed times. */
SCENARIO(outdated_rules_decide_nothing_until_recompiled)
{
	struct spec spec = { .cron = EVERY_TEN, .policy.missed = MISSED_SKIP };
	struct command old = spec_command(&spec, 0),
		       now = { .kind = CMD_RECOMPILE, .rules = spec_rules(&spec) };
	uint32_t at_first = 0;
	old.rules.zone_print++;
	uint64_t a = send_command(s, old).sid;
	run_until(s, "08:35");
	expect_rows(s, a, "");
	expect_true(s, engine_counts(rig_world(s)->engine).outdated == 1);
	expect_true(s, engine_outdated(rig_world(s)->engine, &at_first) == a);
	now.sid = a;
	expect_true(s, send_command(s, now).code == REPLY_OK);
	expect_true(s, engine_counts(rig_world(s)->engine).outdated == 0);
	run_until(s, "08:45");
	expect_rows(s, a, "08:10..08:30 missed/down; 08:40 done 08:40-08:40:01 missed 3");
	expect_true(s, send_command(s, now).code == REPLY_NOT_FOUND);
}

/* Changes the fingerprint of an agent's definition; agent 0 is the default. */
static void define_agent(struct scenario_rig *s, uint32_t agent, uint64_t print)
{
	struct world *w = rig_world(s);
	*(agent ? &w->agents[agent] : &w->default_agent) = print;
	world_step(w, &(struct event){ .kind = EV_AGENTS, .key = agent });
}

static struct command recompile_command(uint64_t sid, struct spec spec, uint64_t print)
{
	struct command c = { .kind = CMD_RECOMPILE, .sid = sid, .rules = spec_rules(&spec) };
	c.rules.agent_print = print;
	return c;
}

static unsigned outdated(struct scenario_rig *s)
{
	return engine_counts(rig_world(s)->engine).outdated;
}

/* A schedule without its agent is blocked. It runs when the agent is defined, and is blocked again when the
 * definition is deleted; times that were skipped do not come again. Definitions of other agents do not affect
 * it. */
SCENARIO(outdated_rules_of_an_agent_that_comes_and_goes)
{
	struct spec blocked = { .cron = EVERY_TEN,
				.policy = { .action = ACTION_TURN,
					    .agent = 3,
					    .agent_choice = AGENT_CHOICE_NAMED,
					    .preconditions = 1 << ASK_BLOCKED } },
		    good = blocked;
	good.policy.preconditions = 0;
	uint64_t a = add_schedule(s, blocked),
		 other = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.agent = 2 });
	script_answer(s, a, ASK_BLOCKED, false, REASON_BLOCKED);
	run_until(s, "08:25");
	define_agent(s, 2, 4711);
	expect_true(s, outdated(s) == 0);
	define_agent(s, 3, 5);
	expect_true(s, outdated(s) == 1);
	expect_true(s, send_command(s, recompile_command(a, good, 5)).code == REPLY_OK);
	expect_true(s, outdated(s) == 0);
	run_until(s, "08:45");
	define_agent(s, 3, 0);
	expect_true(s, send_command(s, recompile_command(a, blocked, 0)).code == REPLY_OK);
	run_until(s, "08:55");
	expect_rows(s, a, "08:10..08:20 skipped/blocked; " RAN("08:30") RAN("08:40") "08:50 skipped/blocked");
	expect_rows(s, other,
		    RAN("08:10") RAN("08:20") RAN("08:30") RAN("08:40") "08:50 done 08:50-08:50:01");
}

/* Rules compiled for an older definition wait for CMD_RECOMPILE, also after a crash. */
SCENARIO(outdated_rules_of_the_default_agent_survive_a_crash)
{
	struct spec spec = {
		.cron = EVERY_TEN,
		.policy = { .action = ACTION_TURN, .agent = 1, .agent_choice = AGENT_CHOICE_DEFAULT }
	};
	struct command put = spec_command(&spec, 0);
	rig_world(s)->default_agent = 7;
	put.rules.agent_print = 7;
	uint64_t a = send_command(s, put).sid;
	run_until(s, "08:15");
	define_agent(s, 0, 8);
	expect_true(s, outdated(s) == 1);
	world_crash(rig_world(s), SECONDS(5));
	run_until(s, "08:16");
	expect_true(s, outdated(s) == 1);
	expect_true(s, send_command(s, recompile_command(a, spec, 8)).code == REPLY_OK);
	run_until(s, "08:35");
	expect_rows(s, a, RAN("08:10") RAN("08:20") "08:30 done 08:30-08:30:01");
}
