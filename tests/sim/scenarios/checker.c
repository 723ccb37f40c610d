/* Scenarios: situations in which the checker once reported a fault by mistake. The name of each says what the
 * checker must know. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"

/* The policy is changed twice, and a queue that was dissolved in between has another order. */
SCENARIO(checker_knows_that_a_queue_was_dissolved)
{
	struct spec x = { .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL };
	set_slots(s, 1);
	uint64_t blocker = add_schedule(s, (struct spec){ .cron = "5 8 * * *" });
	uint64_t a = add_schedule(s, x);
	script_run(s, blocker, lasting(MINUTES(20)));
	run_until(s, "08:15"); /* the run of 08:10 waits for the slot */
	x.policy.priority = 2;
	change_schedule(s, a, x);
	run_until(s, "08:21"); /* that of 08:20 waits behind it */
	x.policy.overlap = OVERLAP_ALLOW;
	change_schedule(s, a, x);
	struct reply manual = send_command(s, (struct command){ .kind = CMD_RUN, .sid = a });
	send_command(s, (struct command){ .kind = CMD_STOP, .run = manual.run });
	x.policy.overlap = OVERLAP_QUEUE_ALL;
	change_schedule(s, a, x);
	run_until(s, "08:27");
	expect_rows(s, a,
		    "08:10 done 08:25:01-08:25:02; 08:20 done 08:25-08:25:01; manual 08:21 killed/cancelled");
}

/* After a step back and a suspension the engine passes many times that have run, one after another; what
 * comes due meanwhile waits. */
SCENARIO(checker_knows_that_recorded_times_are_passed)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "* * * * * *",
						    .until = wall_seconds(at(s, "08:14")),
						    .policy = { .action = ACTION_EVENT,
								.missed = MISSED_CATCH_UP,
								.catch_up_limit = 1000 } });
	struct world *w = rig_world(s);
	run_until(s, "08:10:00.5");
	world_step_clock(w, -MINUTES(5));
	world_run(w, w->t + SECONDS(1));
	w->timing.commit = w->timing.answer = (struct span){ 200000, 200000 };
	world_suspend(w, SECONDS(288));
	run_until(s, "08:15");
	expect_true(s, model_occurrence(w->rows, a, at(s, "08:10:01")) != NULL);
}

/* A process that a dead launcher has started is alive before the daemon can know it. */
SCENARIO(checker_knows_that_an_orphan_is_unknown)
{
	uint64_t a = add_schedule(
		s, (struct spec){
			   .cron = "10,12 8 * * *",
			   .policy = { .preconditions = 1 << ASK_CHECK, .retries = 1, .retry_delay = 5 } });
	struct world *w = rig_world(s);
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(MINUTES(1)));
	run_until(s, "08:05");
	w->timing.launch = (struct span){ SECONDS(25), SECONDS(25) };
	w->timing.report = w->timing.ask = (struct span){ SECONDS(20), SECONDS(20) };
	w->timing.orphan_percent = w->timing.unseen_percent = 100;
	run_until(s, "08:11:33");
	const struct run_file *f = sim_runner_file(w, 1, 2);
	expect_true(s, f && f->state == FILE_REQUESTED);
	world_crash(w, SECONDS(1));
	run_until(s, "08:12:05");
	f = sim_runner_file(w, 1, 2);
	expect_true(s, f && f->state == FILE_ALIVE && f->orphan);
	expect_true(s, model_occurrence(w->rows, a, at(s, "08:12")) != NULL);
}

/* A follower has acted on an end that is in the future since a step back of the clock. Now it has a rule, and
 * a next check: its open range says nothing about that end. */
SCENARIO(checker_knows_that_ends_may_lie_ahead)
{
	uint64_t leader = add_schedule(s, (struct spec){ .cron = "12 8 * * *" });
	struct spec x = { .cron = EVERY_TEN, .after = leader };
	uint64_t a = add_schedule(s, x);
	run_until(s, "08:15");
	world_step_clock(rig_world(s), -HOURS(1));
	run_until(s, "07:16");
	x.after = 0;
	change_schedule(s, a, x);
	struct reply r =
		send_command(s, (struct command){ .kind = CMD_NEXT_CHECK, .sid = a, .to = at(s, "07:45") });
	expect_true(s, r.code == REPLY_OK);
	run_until(s, "07:25");
	expect_rows(s, a, "07:20.. skipped/gated; after 08:12:01 done 08:12:01-08:12:02");
}

/* The refusal of a waiting run and its withdrawal are written twice: the second time there is no such run. */
SCENARIO(checker_knows_that_a_refusal_was_withdrawn)
{
	set_slots(s, 1);
	uint64_t blocker = add_schedule(s, (struct spec){ .cron = "5 8 * * *" });
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN, .policy.overlap = OVERLAP_QUEUE_ALL });
	struct world *w = rig_world(s);
	script_run(s, blocker, lasting(MINUTES(20)));
	run_until(s, "08:15");
	world_command(w, (struct command){ .kind = CMD_PAUSE, .to = WALL_NEVER });
	world_run(w, w->t + 21000);
	w->timing.repeat_percent = 100;
	world_step_clock(w, -MINUTES(10));
	world_run(w, w->t + SECONDS(1));
	w->timing.repeat_percent = 0;
	expect_true(s, model_occurrence(w->rows, a, at(s, "08:10")) == NULL);
	send_command(s, (struct command){ .kind = CMD_RESUME });
	run_until(s, "08:25");
	expect_true(s, model_occurrence(w->rows, a, at(s, "08:20")) != NULL);
}

/* The same for a run that a person stops: its record is gone, so it has ended. */
SCENARIO(checker_knows_that_a_stopped_run_was_withdrawn)
{
	uint64_t a = add_schedule(
		s, (struct spec){ .cron = EVERY_TEN, .policy.preconditions = 1 << ASK_CONDITION });
	struct world *w = rig_world(s);
	script_answer(s, a, ASK_CONDITION, false, REASON_CONDITION);
	run_until(s, "08:10:00.031");
	const struct run_row *r = model_occurrence(w->rows, a, at(s, "08:10"));
	expect_true(s, r && r->state == RUN_PENDING);
	uint64_t tag = world_command(w, (struct command){ .kind = CMD_STOP, .run = r->run });
	world_step_clock(w, -MINUTES(5));
	world_run(w, w->t + SECONDS(1));
	struct reply reply = { 0 };
	expect_true(s, check_reply_of(w->check, tag, &reply) && reply.code == REPLY_OK);
}

/* Found by seed 800000167: the schedule has a second agent, which is blocked too, while its range is open. */
SCENARIO(checker_knows_that_a_block_goes_on_with_another_agent)
{
	uint64_t one = add_schedule(s, (struct spec){ .cron = "10 8 * * *", .policy.agent = 1 });
	uint64_t three = add_schedule(s, (struct spec){ .cron = "10 8 * * *", .policy.agent = 3 });
	struct spec x = { .cron = "20,30,40,50 8 * * *", .policy.agent = 1 };
	uint64_t a = add_schedule(s, x);
	script_run(s, one, failing(SECONDS(1), REASON_AUTH));
	script_run(s, three, failing(SECONDS(1), REASON_AUTH));
	run_until(s, "08:25");
	x.policy.agent = 3;
	change_schedule(s, a, x);
	run_until(s, "08:26");
	send_command(s, (struct command){ .kind = CMD_RELEASE, .key = 1 });
	run_until(s, "08:45");
	x.policy.agent = 2;
	change_schedule(s, a, x);
	run_until(s, "08:55");
	expect_rows(s, a, "08:20..08:45 skipped/blocked; 08:50 done 08:50-08:50:01");
}
