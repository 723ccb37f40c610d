/* ST_RANGE and ST_WITHDRAW. */
#include "conformance.h"

/* --- ST_RANGE --- */

ON_EACH(range_is_one_record)
{
	CHECK_RES(f, req_range(5, 1, 100, 200), ST_REFUSED);
	ask(f, req_put(5, 0, 10));
	CHECK_UNCHANGED(f, req_range(5, 2, 100, 200), ST_STALE);
	struct st_ack ack = ask(f, moving(req_range(5, 1, 100, 200), 300, 200));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.row.high.us == 200 && ack.row.next.us == 300);
	EXPECT(f, "range", "5 100 200 5 14");
	CHECK_UNCHANGED(f, moving(req_range(5, 1, 120, 180), 999, 999), ST_OK); /* covered: repeated */
	CHECK_UNCHANGED(f, moving(req_range(5, 9, 100, 200), 999, 999), ST_OK); /* rev has no effect */
	CHECK_UNCHANGED(f, moving(req_range(5, 1, 99, 200), 999, 999),
			ST_STALE); /* begins at or below high */
	CHECK_UNCHANGED(f, moving(req_range(5, 1, 200, 201), 999, 999), ST_STALE);
	CHECK_RES(f, req_range(5, 1, 99, 200), ST_OK); /* without a move it may begin below high */
	EXPECT(f, "range", "5 100 200 5 14|5 99 200 5 14");
}

ON_EACH(range_is_extended_at_high)
{
	ask(f, req_put(5, 0, 10));
	ask(f, moving(req_range(5, 1, 100, 200), 300, 200));
	CHECK_RES(f, moving(req_range(5, 1, 300, 400), 500, 400), ST_OK);
	EXPECT(f, "range", "5 100 400 5 14");
	CHECK_RES(f, req_range(5, 1, 500, 500), ST_OK); /* this range is also recorded without a move */
	EXPECT(f, "range", "5 100 500 5 14");
	CHECK_RES(f, moving(req_range(5, 1, 600, 700), 800, 700),
		  ST_OK); /* the range ends at 500, but high is 400 */
	EXPECT(f, "range", "5 100 500 5 14|5 600 700 5 14");
}

ON_EACH(range_is_extended_only_by_the_same_state_and_reason)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	ask(f, moving(req_range(5, 1, 100, 200), 300, 200));
	ask(f, moving(req_range(6, 1, 100, 200), 300, 200));
	struct st_req r = moving(req_range(5, 1, 300, 400), 500, 400);
	r.range.reason = 15;
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "range", "5 100 200 5 14|5 300 400 5 15|6 100 200 5 14");
	r = moving(req_range(5, 1, 500, 600), 700, 600);
	r.range.reason = 15;
	r.range.state = RUN_SKIPPED;
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "range", "5 100 200 5 14|5 300 400 5 15|5 500 600 4 15|6 100 200 5 14");
	/* A range is not extended if a run was recorded in between. */
	ask(f, moving(req_occ(6, 1, 1, 300), 400, 300));
	CHECK_RES(f, moving(req_range(6, 1, 400, 500), 600, 500), ST_OK);
	EXPECT(f, "range", "5 100 200 5 14|5 300 400 5 15|5 500 600 4 15|6 100 200 5 14|6 400 500 5 14");
}

ON_EACH(of_several_ranges_the_last_is_extended)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_range(5, 1, 100, 200));
	ask(f, req_range(5, 1, 50, 200));
	ask(f, req_range(5, 1, 20, 200));
	ask(f, moving(req_occ(5, 1, 1, 200), 300, 200));
	CHECK_RES(f, moving(req_range(5, 1, 300, 400), 500, 400), ST_OK);
	EXPECT(f, "range", "5 100 400 5 14|5 20 200 5 14|5 50 200 5 14");
}

ON_EACH(there_is_at_most_one_open_range)
{
	ask(f, req_put(5, 0, 10));
	ask(f, moving(req_range(5, 1, 100, 200), 300, 200));
	/* An open range does not extend another range. */
	CHECK_RES(f, moving(req_range(5, 1, 300, INT64_MAX), INT64_MAX, 250), ST_OK);
	EXPECT(f, "range", "5 100 200 5 14|5 300 9223372036854775807 5 14");
	CHECK_UNCHANGED(f, req_range(5, 1, 400, INT64_MAX), ST_OK); /* covered */
	CHECK_UNCHANGED(f, req_range(5, 1, 350, 360), ST_OK);
	CHECK_UNCHANGED(f, req_range(5, 1, 299, INT64_MAX), ST_REFUSED); /* a second open range */
	struct st_req r = req_range(5, 1, 400, INT64_MAX);
	r.range.reason = 15;
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	r.rev = 2;
	CHECK_UNCHANGED(f, r, ST_STALE); /* rev is checked first */
	r = req_range(5, 1, 400, 500);
	r.range.reason = 15;
	CHECK_RES(f, r, ST_OK); /* a closed range may be added */
	EXPECT(f, "range", "5 100 200 5 14|5 300 9223372036854775807 5 14|5 400 500 5 15");
}

ON_EACH(open_range_is_not_extended_when_high_is_never)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.high = WALL_NEVER;
	ask(f, p);
	ask(f, req_range(5, 1, 100, INT64_MAX));
	struct st_req r = req_range(5, 1, 50, 60);
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "range", "5 100 9223372036854775807 5 14|5 50 60 5 14");
}

ON_EACH(range_refuses_invalid_requests)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_range(5, 1, 101, 100);
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	for (unsigned state = 0; state <= RUN_STATES; state++) {
		r = req_range(5, 1, 100 + state, 100 + state);
		r.range.state = (uint8_t)state;
		bool idle = state == RUN_SKIPPED || state == RUN_MISSED;
		CHECK_RES(f, r, idle ? ST_OK : ST_REFUSED);
	}
	r = req_range(5, 1, 500, 600);
	r.range.sid = 6;
	CHECK_UNCHANGED(f, r, ST_REFUSED);
}

/* --- ST_WITHDRAW --- */

ON_EACH(withdraw_removes_records_that_did_not_run)
{
	CHECK_RES(f, req_withdraw(5, 1, 100, 1), ST_REFUSED);
	struct st_req p = req_put(5, 0, 10);
	p.row.pruned_to = AT(30);
	ask(f, p);
	ask(f, req_put(6, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned late = 0; late < 2; late++) {
			int64_t nominal = late ? 101 + (int64_t)state : 100 - (int64_t)state;
			struct st_req r = req_occ(5, 1, 10 + 2 * state + late, nominal);
			r.run.state = (uint8_t)state;
			ask(f, r);
		}
	struct st_req m = req_occ(5, 1, 40, 150);
	m.run.kind = KIND_MANUAL;
	m.run.state = RUN_SKIPPED;
	ask(f, m);
	m.run.run = 41;
	m.run.nominal = AT(100);
	ask(f, m);
	m = req_occ(6, 1, 50, 150);
	m.run.state = RUN_MISSED;
	ask(f, m);
	ask(f, req_range(5, 1, 60, 100));
	ask(f, req_range(5, 1, 61, 101));
	ask(f, req_range(5, 1, 101, 150));
	ask(f, req_range(5, 1, 62, INT64_MAX));
	ask(f, req_range(6, 1, 60, 150));
	ask(f, moving(req_occ(5, 1, 60, 400), 500, 400));

	CHECK_UNCHANGED(f, req_withdraw(5, 2, 100, 120), ST_STALE);
	struct st_ack ack = ask(f, req_withdraw(5, 1, 100, 120));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row);
	CHECK_INT(ack.row.high.us, 30);
	CHECK_INT(ack.row.next.us, 120);
	CHECK_INT(ack.row.rev, 1);
	EXPECT(f, "range", "5 60 100 5 14|5 61 100 5 14|5 62 9223372036854775807 5 14|6 60 150 5 14");
	struct buf all = { 0 };
	fixture_dump(f, &all);
	/* Manual runs stay, because they do not become due again. */
	static const int stays[] = { 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 40, 41, 50, 60 },
			 goes[] = { 19, 21 };
	char text[32];
	for (unsigned i = 0; i < ARRAY_LEN(stays); i++) {
		snprintf(text, sizeof text, "run %d ", stays[i]);
		CHECK_INT(strstr(all.p, text) ? stays[i] : 0, stays[i]);
	}
	for (unsigned i = 0; i < ARRAY_LEN(goes); i++) {
		snprintf(text, sizeof text, "run %d ", goes[i]);
		CHECK_INT(strstr(all.p, text) ? goes[i] : 0, 0);
	}
	buf_free(&all);
	/* A withdrawn occurrence may be recorded again. */
	CHECK_RES(f, moving(req_occ(5, 1, 61, 105), 500, 105), ST_OK);
}

/* A paused schedule stays paused, at the latest from its next time on. */
ON_EACH(withdraw_keeps_an_open_range)
{
	static const struct {
		int line;
		int64_t first, next;
		const char *want;
	} rows[] = {
		{ __LINE__, 200, 120, "5 120 9223372036854775807 5 14" },
		{ __LINE__, 120, 120, "5 120 9223372036854775807 5 14" },
		{ __LINE__, 110, 120, "5 110 9223372036854775807 5 14" },
		{ __LINE__, 200, INT64_MAX, "5 200 9223372036854775807 5 14" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct fixture fresh;
		fixture_open(&fresh, f->kind);
		ask(&fresh, req_put(5, 0, 10));
		ask(&fresh, req_range(5, 1, rows[i].first, INT64_MAX));
		CHECK_RES(&fresh, req_withdraw(5, 1, 100, rows[i].next), ST_OK);
		expect_at(__FILE__, rows[i].line, &fresh, "range", rows[i].want);
		fixture_close(&fresh);
	}
}

/* Occurrences of a rule become due again; occurrences that follow an end do not. */
ON_EACH(withdraw_keeps_records_that_follow_ends)
{
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.pruned_to = AT(30);
	p.row.changed = AT(200);
	ask(f, p);
	struct st_req r = moving(req_occ(6, 1, 1, 150), INT64_MAX, 150);
	r.run.state = RUN_SKIPPED;
	r.run.kind = KIND_AFTER;
	r.move.seen = 3;
	ask(f, r);
	struct st_req caught = moving(req_occ(6, 1, 2, 151), INT64_MAX, 151), timer = req_occ(6, 1, 3, 152);
	caught.run.state = timer.run.state = RUN_SKIPPED;
	caught.run.kind = KIND_CATCH_UP;
	caught.move.seen = 4;
	ask(f, caught);
	ask(f, timer);
	ask(f, req_range(6, 1, 90, 160));
	CHECK_UNCHANGED(f, req_withdraw(6, 2, 100, 120), ST_STALE);
	struct sched_row row = ask(f, req_withdraw(6, 1, 100, 120)).row;
	CHECK_INT(row.seen, 4);
	CHECK_INT(row.high.us, 30);
	CHECK_INT(row.next.us, 120);
	CHECK_INT(row.changed.us, 100);
	EXPECT(f, "run",
	       "1 6 1 0 0 2 4 0 0 0 150 151 152 0 0 0 0 -1 0 0 0 0 -1 0 0|"
	       "2 6 1 0 0 1 4 0 0 0 151 152 153 0 0 0 0 -1 0 0 0 0 -1 0 0");
	EXPECT(f, "range", "6 90 100 5 14");
}

/* A schedule that was changed while the clock was ahead must not stay silent until that time. */
ON_EACH(withdraw_lowers_changed)
{
	ask(f, req_put(5, 0, 50));
	CHECK_INT(ask(f, req_withdraw(5, 1, 60, 100)).row.changed.us, 50);
	CHECK_INT(ask(f, req_withdraw(5, 1, 50, 100)).row.changed.us, 50);
	CHECK_INT(ask(f, req_withdraw(5, 1, 40, 100)).row.changed.us, 40);
	CHECK_INT(ask(f, req_withdraw(5, 1, 45, 100)).row.changed.us, 40);
}

ON_EACH(withdraw_does_not_free_numbers)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 900, 100);
	r.run.state = RUN_MISSED;
	ask(f, r);
	ask(f, req_withdraw(5, 1, 50, 100));
	EXPECT(f, "run", "");
	EXPECT_IN_LOAD(f, "done 900 5\n");
}
