/* ST_VERDICT, ST_STARTED, ST_FINISH and ST_RUN_TEXT. */
#include "conformance.h"

/* --- ST_VERDICT --- */

ON_EACH(verdict_settles_pending_runs)
{
	CHECK_RES(f, req_verdict(5, 1, RUN_CLAIMED, 0), ST_REFUSED); /* no such run */
	ask(f, req_put(5, 0, 10));
	uint64_t run = 1;
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned to = 0; to <= RUN_STATES; to++, run++) {
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			r.run.reason = 3;
			ask(f, r);
			bool legal = to == RUN_CLAIMED || to == RUN_SKIPPED || to == RUN_MISSED;
			struct st_ack ack = ask(f, req_verdict(5, run, to, 3));
			bool open = state == RUN_PENDING || state == RUN_CLAIMED;
			CHECK_INT(ack.res, !legal ? ST_REFUSED : open || state == to ? ST_OK : ST_LOST);
			CHECK(ack.has_row && ack.row.sid == 5 && ack.run == run);
			if (to == RUN_SKIPPED && ack.res == ST_OK) /* another reason is another verdict */
				CHECK_UNCHANGED(f, req_verdict(5, run, to, 4), ST_LOST);
		}
}

/* A claimed run may be skipped or missed until its first attempt. */
ON_EACH(verdict_may_follow_a_claim)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	CHECK_RES(f, req_verdict(5, 7, RUN_CLAIMED, 3), ST_OK);
	CHECK_RES(f, req_verdict(5, 7, RUN_MISSED, 4), ST_OK);
	EXPECT(f, "run", "7 5 1 0 4 0 5 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 0 0");
	ask(f, req_occ(5, 1, 8, 101));
	ask(f, req_started(5, 8, 1, 110));
	CHECK_UNCHANGED(f, req_verdict(5, 8, RUN_MISSED, 4), ST_LOST);
	CHECK_UNCHANGED(f, req_verdict(5, 8, RUN_CLAIMED, 0), ST_OK);
}

ON_EACH(verdict_changes_state_and_reason_only)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run.state = RUN_PENDING;
	r.run.attempt = 2;
	ask(f, r);
	struct st_req v = req_verdict(5, 7, RUN_SKIPPED, 9);
	v.run.attempt = 55;
	v.run.nominal = AT(66);
	v.rev = 77; /* not checked */
	ask(f, v);
	EXPECT(f, "run", "7 5 1 2 9 0 4 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 0 0");
}

/* --- ST_STARTED --- */

ON_EACH(started_is_advisory)
{
	CHECK_RES(f, req_started(5, 7, 1, 110), ST_REFUSED);
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	struct st_ack ack = ask(f, req_started(5, 7, 1, 110));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.run == 7);
	EXPECT(f, "run", "7 5 1 1 0 0 1 0 0 0 100 101 102 110 0 0 0 -1 0 0 0 0 -1 0 0");
	CHECK_RES(f, req_started(5, 7, 1, 111), ST_OK);
	CHECK_RES(f, req_started(5, 7, 2, 120), ST_OK);
	EXPECT(f, "run", "7 5 1 2 0 0 1 0 0 0 100 101 102 120 0 0 0 -1 0 0 0 0 -1 0 0");
	CHECK_UNCHANGED(f, req_started(5, 7, 1, 110), ST_OK); /* late: a later attempt was seen */
	/* A run that waited for its retry runs again. */
	ask(f, req_finish(5, 7, 2, RUN_RETRYING, 140));
	CHECK_UNCHANGED(f, req_started(5, 7, 1, 110), ST_OK);
	CHECK_RES(f, req_started(5, 7, 3, 150), ST_OK);
	EXPECT(f, "run", "7 5 1 3 0 0 1 1 0 0 100 101 102 150 140 0 0 5 6 7 0 0 8 0 0");
	ask(f, req_finish(5, 7, 3, RUN_FINISHED, 160));
	CHECK_UNCHANGED(f, req_started(5, 7, 3, 151), ST_OK); /* a finished run does not start again */
	CHECK_UNCHANGED(f, req_started(5, 7, 4, 170), ST_OK);
}

ON_EACH(started_by_state)
{
	ask(f, req_put(5, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned attempt = 0; attempt < 4; attempt++) {
			uint64_t run = 1 + 4 * state + attempt;
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			r.run.attempt = 2;
			ask(f, r);
			struct st_req started = req_started(5, run, attempt, 7);
			if (attempt >= 2 && (state == RUN_CLAIMED || state == RUN_RETRYING)) {
				CHECK_RES(f, started, ST_OK);
				CHECK_UNCHANGED(f, req_verdict(5, run, RUN_CLAIMED, 0),
						ST_OK); /* it is claimed */
			} else {
				CHECK_UNCHANGED(f, started, ST_OK);
			}
		}
}

/* --- ST_FINISH --- */

ON_EACH(finish_records_the_end)
{
	CHECK_RES(f, req_finish(5, 7, 1, RUN_FINISHED, 110), ST_REFUSED);
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	struct st_req r = req_finish(5, 7, 1, RUN_RETRYING, 110);
	r.run.outcome = 2;
	r.run.reason = 25;
	r.run.retry_at = AT(170);
	r.failures = FAILURES_GROW; /* has no effect while the run is to be retried */
	r.rev = 55;                 /* not checked */
	struct st_ack ack = ask(f, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.row.failures == 0 && ack.run == 7);
	EXPECT(f, "run", "7 5 1 1 25 0 2 2 0 0 100 101 102 0 110 170 0 5 6 7 0 0 8 0 0");
	ask(f, req_started(5, 7, 2, 171));
	r = req_finish(5, 7, 2, RUN_FINISHED, 180);
	r.failures = FAILURES_GROW;
	ack = ask(f, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.failures, 1);
	EXPECT(f, "run", "7 5 1 2 0 0 3 1 0 0 100 101 102 171 180 0 0 5 6 7 0 1 8 0 0");
	/* The first recorded end stays. */
	CHECK_UNCHANGED(f, r, ST_OK); /* repeated: failures do not grow again */
	struct st_req other = r;
	other.run.ended = AT(181);
	CHECK_UNCHANGED(f, other, ST_LOST);
	other = r;
	other.run.cost = 6;
	CHECK_UNCHANGED(f, other, ST_LOST);
	other = r;
	other.run.exit_code = 9;
	CHECK_UNCHANGED(f, other, ST_LOST);
	other = r;
	other.run.attempt = 3;
	CHECK_UNCHANGED(f, other, ST_LOST);
	other = r;
	other.run.state = RUN_RETRYING;
	CHECK_UNCHANGED(f, other, ST_LOST);
}

ON_EACH(finish_of_an_earlier_attempt_is_lost)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	ask(f, req_started(5, 7, 2, 110));
	CHECK_UNCHANGED(f, req_finish(5, 7, 1, RUN_FINISHED, 120), ST_LOST);
	CHECK_RES(f, req_finish(5, 7, 2, RUN_FINISHED, 120), ST_OK);
}

ON_EACH(finish_may_cancel_a_retry)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	ask(f, req_finish(5, 7, 1, RUN_RETRYING, 110));
	struct st_req cancelled = req_finish(5, 7, 1, RUN_FINISHED, 120);
	cancelled.failures = FAILURES_GROW;
	CHECK_INT(ask(f, cancelled).row.failures, 1);
	CHECK_UNCHANGED(f, req_finish(5, 7, 1, RUN_RETRYING, 110), ST_LOST);
}

/* The store counts failures in a row; requests say only what an end does to them. */
ON_EACH(finish_changes_failures)
{
	static const struct {
		uint8_t change;
		uint32_t failures;
	} rows[] = {
		{ FAILURES_STAY, 0 }, { FAILURES_GROW, 1 },  { FAILURES_GROW, 2 },  { FAILURES_STAY, 2 },
		{ FAILURES_GROW, 3 }, { FAILURES_CLEAR, 0 }, { FAILURES_CLEAR, 0 }, { FAILURES_GROW, 1 }
	};
	struct st_req p = req_put(5, 0, 10);
	p.row.failures = 9;
	CHECK_INT(ask(f, p).row.failures, 0);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("%u", i);
		ask(f, req_occ(5, 1, 1 + i, 100 + (int)i));
		struct st_req r = req_finish(5, 1 + i, 1, RUN_FINISHED, 200);
		r.failures = rows[i].change;
		CHECK_INT(ask(f, r).row.failures, rows[i].failures);
		CHECK_INT(ask_unchanged(f, r).row.failures, rows[i].failures);
	}
	ask(f, req_occ(5, 1, 50, 300));
	struct st_req r = req_finish(5, 50, 1, RUN_FINISHED, 200);
	r.failures = FAILURES_CHANGES;
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	/* A put leaves them, unless it clears them. */
	p = req_put(5, 1, 20);
	p.row.failures = 7;
	CHECK_INT(ask(f, p).row.failures, 1);
	p = req_put(5, 2, 30);
	p.clear_failures = true;
	p.keep_next = true;
	CHECK_INT(ask(f, p).row.failures, 0);
}

/* A result is recorded with the end of its run, and not with that of an attempt. */
ON_EACH(finish_records_the_result)
{
	static const char too_long[STORE_RUN_TEXT_BYTES_MAX + 1];
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	ask(f, req_occ(5, 1, 8, 101));
	struct st_req r = req_finish(5, 7, 1, RUN_RETRYING, 110);
	r.result = STR("an attempt");
	ask(f, r);
	EXPECT(f, "run_text", "");
	r = req_finish(5, 7, 2, RUN_FINISHED, 120);
	r.result = (struct str){ too_long, sizeof too_long };
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	r.result = STR("the answer");
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "run_text", "7 2 'the answer'");
	r.result = STR("another");
	CHECK_UNCHANGED(f, r, ST_OK); /* repeated */
	CHECK_RES(f, req_finish(5, 8, 1, RUN_FINISHED, 130), ST_OK);
	EXPECT(f, "run_text", "7 2 'the answer'");
	ask(f, prune_runs(7, 7, 1000));
	EXPECT(f, "run_text", "");
}

/* The ends of each schedule are numbered on their own, even after the schedule was removed. */
ON_EACH(ends_are_numbered)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	for (uint64_t run = 1; run <= 4; run++)
		ask(f, req_occ(run % 2 ? 5 : 6, 1, run, 100 + (int64_t)run));
	struct st_req third = req_finish(5, 3, 1, RUN_FINISHED, 300);
	CHECK_INT(ask(f, third).end, 1);
	struct st_ack ack = ask(f, req_finish(6, 2, 1, RUN_RETRYING, 200));
	CHECK(ack.res == ST_OK && ack.end == 0); /* not finished yet */
	CHECK_INT(record_end(f, 6, 5, 500), 1);
	CHECK_INT(ask(f, req_finish(6, 2, 1, RUN_FINISHED, 100)).end, 2); /* its time of ending is earlier */
	fixture_reopen(f);
	ask(f, req_drop(5, 1, 400));
	CHECK_INT(ask(f, req_finish(5, 1, 1, RUN_FINISHED, 400)).end, 2);

	/* A finished backfill that replaces a record is an end, too. */
	struct st_req missed = req_occ(6, 1, 6, 600), again = req_occ(6, 1, 7, 600);
	missed.run.state = RUN_MISSED;
	CHECK_INT(ask(f, missed).end, 0);
	again.run.kind = KIND_BACKFILL;
	again.run.state = RUN_FINISHED;
	CHECK_INT(ask(f, again).end, 3);

	/* A request without an effect uses no number. */
	again.run.run = 8;
	ack = ask_unchanged(f, again);
	CHECK(ack.res == ST_LOST && ack.end == 0 && ack.existing.end == 3);
	again.rev = 9;
	ack = ask_unchanged(f, again);
	CHECK(ack.res == ST_STALE && ack.end == 0);
	third.run.ended = AT(301);
	ack = ask_unchanged(f, third);
	CHECK(ack.res == ST_LOST && ack.end == 0);
	third.run.ended = AT(300);
	CHECK_INT(ask_unchanged(f, third).end, 1); /* repeated */
	/* A repeated claim is no end, though its run has finished meanwhile. */
	CHECK_INT(ask_unchanged(f, req_occ(5, 1, 3, 103)).end, 0);
	CHECK_INT(ask(f, req_finish(6, 4, 1, RUN_FINISHED, 400)).end, 4);
}

ON_EACH(occ_that_is_an_end_leaves_failures)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 9, 50));
	struct st_req failed = req_finish(5, 9, 1, RUN_FINISHED, 60);
	failed.failures = FAILURES_GROW;
	ask(f, failed);
	struct st_req r = moving(req_occ(5, 1, 1, 100), 200, 100);
	r.run.state = RUN_FINISHED;
	r.failures = FAILURES_GROW;
	CHECK_INT(ask(f, r).row.failures, 1);
}

ON_EACH(finish_records_limited_attempts)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	struct st_req r = req_finish(5, 7, 1, RUN_RETRYING, 110);
	r.run.uncounted = 1;
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "run", "7 5 1 1 0 0 2 1 0 0 100 101 102 0 110 0 0 5 6 7 1 0 8 0 0");
	ask(f, req_started(5, 7, 2, 120));
	r = req_finish(5, 7, 2, RUN_FINISHED, 130);
	r.run.uncounted = 65535;
	r.run.end = 77; /* ignored: the store sets it */
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "run", "7 5 1 2 0 0 3 1 0 0 100 101 102 120 130 0 0 5 6 7 65535 1 8 0 0");
	r.run.uncounted = 2;
	CHECK_UNCHANGED(f, r, ST_LOST); /* another end */
}

ON_EACH(finish_by_state)
{
	ask(f, req_put(5, 0, 10));
	uint64_t run = 1;
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned to = 0; to <= RUN_STATES; to++, run++) {
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			ask(f, r);
			bool legal = to == RUN_FINISHED || to == RUN_RETRYING;
			CHECK_RES(f, req_finish(5, run, 1, to, 200),
				  !legal                 ? ST_REFUSED
				  : state < RUN_FINISHED ? ST_OK
							 : ST_LOST);
		}
}

/* --- ST_RUN_TEXT --- */

static struct st_req req_run_text(uint64_t run, unsigned kind, const char *text)
{
	return (struct st_req){ .op = ST_RUN_TEXT,
				.lane = LANE_USER,
				.run_text = { run, (uint8_t)kind, str_of(text) } };
}

ON_EACH(texts_belong_to_a_run)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 7, 100));
	CHECK_INT(ask(f, req_run_text(8, RUN_TEXT_DETAIL, "no such run")).res, ST_REFUSED);
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_KINDS, "no such kind")).res, ST_REFUSED);
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_DETAIL, "first")).res, ST_OK);
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_DETAIL, "second")).res, ST_OK);
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_PROVENANCE, "done")).res, ST_OK);
	EXPECT(f, "run_text", "7 0 'second'|7 1 'done'");
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_DETAIL, "")).res, ST_OK);
	EXPECT(f, "run_text", "7 1 'done'");
	char long_text[STORE_RUN_TEXT_BYTES_MAX + 2];
	memset(long_text, 'x', sizeof long_text);
	long_text[sizeof long_text - 1] = 0;
	CHECK_INT(ask(f, req_run_text(7, RUN_TEXT_DETAIL, long_text)).res, ST_REFUSED);
}

/* --- avoided model calls --- */

static struct st_req req_avoided(uint64_t sid, uint64_t run, int64_t ended)
{
	struct st_req r = req_finish(sid, run, 1, RUN_FINISHED, ended);
	r.avoided = true;
	return r;
}

ON_EACH(an_avoided_call_is_counted_once)
{
	const int64_t quarter = AVOIDED_SECONDS * USEC;
	for (uint64_t sid = 5; sid < 7; sid++) {
		ask(f, req_put(sid, 0, 10));
		ask(f, req_occ(sid, 1, 2 * sid, 100));
		ask(f, req_occ(sid, 1, 2 * sid + 1, 200));
	}
	CHECK_INT(ask(f, req_avoided(5, 10, quarter)).res, ST_OK);
	EXPECT(f, "avoided", "0 -1 1|0 900 1|5 -1 1");
	CHECK_INT(ask(f, req_avoided(5, 10, quarter)).res, ST_OK); /* repeated */
	CHECK_INT(ask(f, req_avoided(5, 10, quarter + 1)).res, ST_LOST);
	CHECK_INT(ask(f, req_avoided(5, 99, quarter)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_avoided(5, 11, 2 * quarter - 1)).res, ST_OK);
	CHECK_INT(ask(f, req_avoided(6, 12, 2 * quarter)).res, ST_OK);
	CHECK_INT(ask(f, req_finish(6, 13, 1, RUN_FINISHED, quarter)).res, ST_OK);
	EXPECT(f, "avoided", "0 -1 3|0 1800 1|0 900 2|5 -1 2|6 -1 1");
	/* Pruning keeps the totals; the total of a schedule is removed with it. */
	CHECK_INT(ask(f, req_prune(PRUNE_RUNS, 0, 2 * quarter)).res, ST_OK);
	EXPECT(f, "avoided", "0 -1 3|0 1800 1|5 -1 2|6 -1 1");
	CHECK_INT(ask(f, req_drop(5, 1, 3 * quarter)).res, ST_OK);
	CHECK_INT(ask(f, req_prune(PRUNE_RUNS, 0, 4 * quarter)).res, ST_OK);
	CHECK_INT(ask(f, req_prune(PRUNE_SCHED, 5, 4 * quarter)).res, ST_OK);
	EXPECT(f, "avoided", "0 -1 3|6 -1 1");
}
