/* ST_PRUNE. */
#include "conformance.h"

ON_EACH(prune_removes_old_finished_runs)
{
	ask(f, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 6; n++)
		record_end(f, 5, n, 100 * (int64_t)n);
	ask(f, req_occ(5, 1, 7, 150)); /* this run is open, so it stays */
	struct st_req skipped = req_occ(5, 1, 8, 160);
	skipped.run.state = RUN_SKIPPED;
	ask(f, skipped);
	/* Each run was claimed two microseconds after its nominal time. */
	CHECK_RES(f, prune_runs(1, 9, 301), ST_OK);
	EXPECT_RUNS(f, "3 4 5 6 7");
	CHECK_UNCHANGED(f, prune_runs(4, 9, 302), ST_OK);
	CHECK_RES(f, prune_runs(1, 4, 1000), ST_OK);
	EXPECT_RUNS(f, "5 6 7");
}

ON_EACH(prune_judges_by_the_latest_of_a_runs_times)
{
	static const int64_t times[][4] = {
		{ 500, 1, 1, 1 }, { 2, 500, 1, 1 }, { 3, 1, 500, 1 }, { 4, 1, 1, 500 }
	};
	ask(f, req_put(5, 0, 10));
	for (unsigned i = 0; i < ARRAY_LEN(times); i++) {
		struct st_req r = req_occ(5, 1, i + 1, times[i][0]);
		r.run.state = RUN_MISSED;
		r.run.claimed = AT(times[i][1]);
		r.run.ended = AT(times[i][2]);
		r.run.retry_at = AT(times[i][3]);
		ask(f, r);
	}
	CHECK_UNCHANGED(f, prune_runs(1, 9, 499), ST_OK);
	CHECK_RES(f, prune_runs(1, 9, 500), ST_OK);
	EXPECT_RUNS(f, "");
}

ON_EACH(prune_leaves_a_mark_below_which_nothing_is_claimed)
{
	ask(f, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 4; n++)
		record_end(f, 5, n, 100 * (int64_t)n);
	ask(f, prune_runs(1, 3, 1000));
	struct st_ack ack = ask(f, req_occ(5, 1, 10, 300));
	CHECK_INT(ack.res, ST_LOST);
	CHECK_INT(ack.row.pruned_to.us, 300);
	CHECK_INT(ack.existing.run, 0);
	CHECK_UNCHANGED(f, req_occ(5, 1, 10, 250), ST_LOST);
	CHECK_UNCHANGED(f, moving(req_occ(5, 1, 10, 250), 400, 250), ST_STALE);
	/* Pruned occurrences cannot be claimed again: not by a backfill, nor after a step back of the clock,
	 * a change, or a restart of the store. */
	struct st_req fill = req_occ(5, 1, 11, 200);
	fill.run.kind = KIND_BACKFILL;
	CHECK_UNCHANGED(f, fill, ST_LOST);
	CHECK_RES(f, req_withdraw(5, 1, 5, 6), ST_OK);
	CHECK_UNCHANGED(f, moving(req_occ(5, 1, 12, 300), 400, 300), ST_STALE);
	CHECK_UNCHANGED(f, moving(req_range(5, 1, 300, 350), 400, 350), ST_STALE);
	struct st_req edit = req_put(5, 1, 20);
	edit.row.high = AT(1);
	CHECK_INT(ask(f, edit).row.high.us, 300);
	fixture_reopen(f);
	CHECK_UNCHANGED(f, moving(req_occ(5, 2, 13, 300), 400, 300), ST_STALE);
	/* The run that was not pruned is found. Manual runs are not affected. */
	struct st_req again = req_occ(5, 2, 14, 400);
	CHECK_INT(ask_unchanged(f, again).existing.run, 4);
	struct st_req by_hand = req_occ(5, 2, 15, 200);
	by_hand.run.kind = KIND_MANUAL;
	CHECK_RES(f, by_hand, ST_OK);
	CHECK_RES(f, moving(req_occ(5, 2, 16, 301), 400, 301), ST_OK);
}

ON_EACH(prune_of_a_manual_run_leaves_no_mark)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 1, 100);
	r.run.kind = KIND_MANUAL;
	r.run.state = RUN_SKIPPED;
	ask(f, r);
	ask(f, prune_runs(1, 1, 1000));
	EXPECT_RUNS(f, "");
	CHECK_INT(ask(f, req_occ(5, 1, 2, 90)).row.pruned_to.us, 0);
}

/* The next end gets the number after it, even if the schedule is removed meanwhile. */
ON_EACH(prune_keeps_the_last_end_of_a_removed_schedule_with_an_open_run)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 1, 50));
	CHECK_INT(record_end(f, 5, 2, 100), 1);
	CHECK_INT(record_end(f, 5, 3, 200), 2);
	ask(f, req_drop(5, 1, 500));
	ask(f, prune_runs(1, 9, 1000));
	EXPECT_RUNS(f, "1 3");
	CHECK_INT(ask(f, req_finish(5, 1, 1, RUN_FINISHED, 600)).end, 3);
	ask(f, prune_runs(1, 9, 1000));
	EXPECT_RUNS(f, "");
}

ON_EACH(prune_keeps_the_last_end_of_living_schedules)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	record_end(f, 5, 1, 200);
	record_end(f, 6, 2, 200);
	record_end(f, 5, 3, 100); /* its end is the last, whatever its nominal time */
	ask(f, prune_runs(1, 9, 1000));
	EXPECT_RUNS(f, "2 3");
	ask(f, req_drop(5, 1, 500));
	ask(f, prune_runs(1, 9, 1000));
	EXPECT_RUNS(f, "2");
	/* Their numbers are not reused. */
	EXPECT_IN_LOAD(f, "done 3 6\n");
}

ON_EACH(prune_removes_closed_ranges)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_range(5, 1, 100, 200));
	ask(f, req_range(5, 1, 300, 400));
	ask(f, req_range(5, 1, 500, INT64_MAX));
	struct st_ack ack = ask(f, req_prune(PRUNE_RANGES, 5, 399));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.pruned_to.us, 200);
	EXPECT(f, "range", "5 300 400 5 14|5 500 9223372036854775807 5 14");
	CHECK_INT(ask(f, req_prune(PRUNE_RANGES, 5, INT64_MAX)).row.pruned_to.us, 400);
	EXPECT(f, "range", "5 500 9223372036854775807 5 14");
	CHECK_UNCHANGED(f, req_prune(PRUNE_RANGES, 99, 1000), ST_OK);
}

ON_EACH(prune_removes_a_tombstone_without_runs)
{
	struct st_req p = req_put(5, 0, 10);
	p.id = STR("a");
	p.document = STR("b");
	ask(f, p);
	ask(f, req_put(4, 0, 10));
	record_end(f, 5, 1, 100);
	ask(f, req_range(5, 1, 300, INT64_MAX));
	CHECK_UNCHANGED(f, req_prune(PRUNE_SCHED, 5, 1000), ST_OK); /* the schedule was not removed */
	ask(f, req_drop(5, 1, 500));
	CHECK_UNCHANGED(f, req_prune(PRUNE_SCHED, 5, 1000), ST_OK); /* a run is left */
	ask(f, prune_runs(1, 1, 1000));
	CHECK_UNCHANGED(f, req_prune(PRUNE_SCHED, 5, 499), ST_OK);
	CHECK_RES(f, req_prune(PRUNE_SCHED, 5, 500), ST_OK);
	EXPECT(f, "range", "");
	/* Neither this sid nor a smaller new one is accepted again. */
	CHECK_UNCHANGED(f, p, ST_REFUSED);
	CHECK_UNCHANGED(f, req_put(3, 0, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_drop(5, 1, 500), ST_REFUSED);
	EXPECT_IN_LOAD(f, "done 1 5\n");
	p.sid = 6;
	CHECK_RES(f, p, ST_OK); /* the id of the pruned schedule is free */
}

ON_EACH(prune_removes_closed_problems)
{
	ask(f, req_problem(PROBLEM_OPEN, 0, "a", 10));
	ask(f, req_problem(PROBLEM_OPEN, 0, "b", 11));
	ask(f, req_problem(PROBLEM_CLOSE, 0, "a", 100));
	struct st_req p = req_prune(PRUNE_PROBLEM, 0, 99);
	p.prune.first = 1;
	CHECK_UNCHANGED(f, p, ST_OK);
	p.at = AT(100);
	CHECK_RES(f, p, ST_OK);
	p.prune.first = 2;
	p.at = AT(INT64_MAX);
	CHECK_UNCHANGED(f, p, ST_OK); /* the problem is open */
	CHECK_UNCHANGED(f, req_problem(PROBLEM_CLOSE, 1, NULL, 200), ST_REFUSED);
	CHECK_INT(ask(f, req_problem(PROBLEM_OPEN, 0, "a", 300)).problem, 3);
}

ON_EACH(prune_of_nothing_changes_nothing)
{
	struct st_req r = req_prune(PRUNES, 5, 1000);
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	CHECK_UNCHANGED(f, prune_runs(0, UINT64_MAX >> 1, INT64_MAX), ST_OK);
	CHECK_UNCHANGED(f, req_prune(PRUNE_VERSION, 5, 1000), ST_OK);
	CHECK_UNCHANGED(f, req_prune(PRUNE_SCHED, 5, 1000), ST_OK);
}
