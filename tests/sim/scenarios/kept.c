/* Scenarios: records that are pruned, and a store that is restored. */
#include "scenario.h"

#define EVERY_TEN "*/10 * * * *"

/* At or below the mark of pruning nothing is claimed, since the store does not know any more what ran. */
SCENARIO(pruned_times_do_not_run_again_after_a_step_back)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:45");
	world_prune(rig_world(s), at(s, "08:35"));
	expect_rows(s, a, "08:40 done 08:40-08:40:01");
	world_step_clock(rig_world(s), -MINUTES(40));
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:40") "08:50 done 08:50-08:50:01");
}

/* What was due since the backup may have run, so it does not run again. */
SCENARIO(restore_misses_what_was_due_since_the_backup)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = EVERY_TEN });
	run_until(s, "08:15");
	world_back_up(rig_world(s));
	run_until(s, "08:45");
	world_restore(rig_world(s), SECONDS(5));
	run_until(s, "08:55");
	expect_rows(s, a, RAN("08:10") "08:20..08:40 missed/restored; 08:50 done 08:50-08:50:01 missed 3");
}

/* A time whose jitter was not over when the store was restored cannot have run. */
SCENARIO(restore_during_the_jitter_of_a_time_lets_it_run)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "0 * * * *", .jitter = 1800 });
	run_until(s, "08:30");
	world_back_up(rig_world(s));
	run_until(s, "09:00:10");
	world_restore(rig_world(s), SECONDS(5));
	run_until(s, "09:45");
	const struct run_row *r = model_occurrence(rig_world(s)->rows, a, at(s, "09:00"));
	expect_true(s, r && r->state == RUN_FINISHED && r->due.us > at(s, "09:00:10").us);
}

/* A run that the backup does not know is killed; one that it knows goes on. */
SCENARIO(restore_adopts_the_runs_that_it_knows)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "10 8 * * *" });
	uint64_t b = add_schedule(s, (struct spec){ .cron = "20 8 * * *" });
	script_run(s, a, lasting(MINUTES(30)));
	script_run(s, b, lasting(MINUTES(30)));
	run_until(s, "08:15");
	world_back_up(rig_world(s));
	run_until(s, "08:25");
	world_restore(rig_world(s), SECONDS(5));
	run_until(s, "08:50");
	expect_rows(s, a, "08:10 done 08:10-08:40");
	expect_rows(s, b, "08:20 missed/restored");
	expect_true(s, sim_runner_file(rig_world(s), 2, 1)->exit.reason == REASON_RESTORED);
}

/* The clock is set back by more than a day after the restore: the times before the restore come again, and
 * those that ran since the backup must not run again. */
SCENARIO(restore_is_believed_by_a_clock_more_than_a_day_behind_it)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "20,40 8 * * *" });
	struct world *w = rig_world(s);
	run_until(s, "08:15");
	world_back_up(w);
	run_until(s, "08:45");
	world_restore(w, SECONDS(5));
	run_until(s, "08:50");
	expect_rows(s, a, "08:20..08:40 missed/restored");
	world_step_clock(w, -HOURS(30));
	world_run(w, w->t + SECONDS(1));
	world_crash(w, SECONDS(5));
	run_until(s, "03-05 09:00");
	expect_rows(s, a, "03-04 08:20..08:40 missed/restored");
}

/* The first attempt has no file, because its check failed; the second one is alive. */
SCENARIO(restore_adopts_an_attempt_after_one_without_a_file)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "10 8 * * *",
						    .policy = { .preconditions = 1 << ASK_CHECK,
								.retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 60 } });
	struct world *w = rig_world(s);
	script_answer(s, a, ASK_CHECK, false, REASON_CHECK);
	script_run(s, a, lasting(MINUTES(30)));
	run_until(s, "08:10:00.025");
	expect_rows(s, a, "08:10 claimed");
	world_back_up(w);
	run_until(s, "08:10:30");
	expect_rows(s, a, "08:10 retrying/check again 08:11");
	script_answer(s, a, ASK_CHECK, true, REASON_NONE);
	run_until(s, "08:15");
	world_restore(w, SECONDS(5));
	run_until(s, "08:50");
	expect_rows(s, a, "08:10 done #2 08:15-08:41");
}

/* Found by seed 76: the retry of a run from before the restore is given up. While its attempt is being
 * prevented, the next time is due: it is no overlap. */
SCENARIO(restore_gives_a_retry_up_before_the_next_time)
{
	uint64_t a = add_schedule(s, (struct spec){ .cron = "10,40 8 * * *",
						    .policy = { .retries = 1,
								.backoff = BACKOFF_FIXED,
								.retry_delay = 10800,
								.retry_most = 10800 } });
	struct world *w = rig_world(s);
	script_run(s, a, failing(SECONDS(1), REASON_EXIT));
	script_run(s, a, lasting(SECONDS(1)));
	run_until(s, "08:15");
	world_back_up(w);
	run_until(s, "08:30");
	w->timing.report = (struct span){ 50000, 50000 };
	world_restore(w, MINUTES(10));
	run_until(s, "08:45");
	expect_rows(s, a, "08:10 failed/exit 08:10-08:10:01; 08:40 done 08:40-08:40:01");
}
