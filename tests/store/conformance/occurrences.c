/* ST_OCC. */
#include "conformance.h"

ON_EACH(occ_records_the_run_as_it_is)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.pruned_to = AT(-1000);
	ask(f, p);
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run = (struct run_row){ .run = 7,
				  .sid = 5,
				  .rev = 42,
				  .attempt = 65535,
				  .reason = STORE_REASONS - 1,
				  .kind = KIND_CATCH_UP,
				  .state = RUN_MISSED,
				  .outcome = 3,
				  .uncounted = 65533,
				  .replaced = 2,
				  .missed = UINT32_MAX,
				  .nominal = AT(-100),
				  .due = AT(1),
				  .claimed = AT(2),
				  .started = AT(3),
				  .ended = AT(4),
				  .retry_at = WALL_NEVER,
				  .retry = INT64_MAX,
				  .end = 77, /* not stored: the store numbers ends itself */
				  .fence = UINT64_MAX,
				  .node = UINT32_MAX,
				  .cost = -1,
				  .tokens_in = INT64_MAX,
				  .tokens_out = 9,
				  .exit_code = INT32_MIN };
	struct st_ack ack = ask(f, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.run, 7);
	CHECK(ack.has_row && ack.row.next.us == 100); /* nothing moved */
	EXPECT(f, "run",
	       "7 5 42 65535 39 1 5 3 2 4294967295 -100 1 2 3 4 9223372036854775807 -1 -1"
	       " 9223372036854775807 9 65533 0 -2147483648 4294967295 9223372036854775807");
}

ON_EACH(occ_moves_the_schedule_in_the_same_request)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = moving(req_occ(5, 1, 7, 100), 200, 150);
	r.move.left = 3;
	r.move.owed = 2;
	r.move.owed_since = AT(90);
	struct sched_row row = ask(f, r).row;
	CHECK_INT(row.next.us, 200);
	CHECK_INT(row.high.us, 150);
	CHECK_INT(row.left, 3);
	CHECK_INT(row.owed, 2);
	CHECK_INT(row.owed_since.us, 90);
	CHECK_INT(row.rev, 1);
}

/* Each request that moves the schedule clears next_set_at; a request that does not move it keeps
 * next_set_at. */
ON_EACH(next_set_at_is_cleared_when_next_moves)
{
	struct st_req r = req_put(5, 0, 10),
		      moves[] = { moving(req_occ(5, 2, 8, 100), 200, 100),
				  moving(req_range(5, 2, 100, 150), 200, 150), req_withdraw(5, 2, 50, 60) };
	for (unsigned i = 0; i < ARRAY_LEN(moves); i++) {
		r = req_put(5 + i, 0, 10);
		r.row.next_set_at = AT(10);
		ask(f, r);
		CHECK_INT(ask(f, req_occ(5 + i, 1, 10 + i, 90)).row.next_set_at.us, 10);
		moves[i].sid = moves[i].run.sid = moves[i].range.sid = 5 + i;
		moves[i].rev = 1;
		CHECK_INT(ask(f, moves[i]).res, ST_OK);
		CHECK_INT(ask(f, req_occ(5 + i, 1, 20 + i, 95)).row.next_set_at.us, 0);
	}
}

ON_EACH(occ_move_never_lowers_high_below_pruned_to)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = r.row.high = AT(50);
	ask(f, r);
	CHECK_INT(ask(f, moving(req_occ(5, 1, 7, 100), 200, 20)).row.high.us, 50);
}

/* Corrects one fault of the request after another. Each time the answer comes from the next check that the
 * header lists. */
ON_EACH(occ_checks_in_the_order_of_the_header)
{
	struct st_req first = moving(req_occ(5, 1, 7, 100), 200, 100);
	CHECK_RES(f, first, ST_REFUSED); /* no such schedule */
	struct st_req p = req_put(5, 0, 10);
	p.row.high = AT(100);
	ask(f, p);
	first.rev = 2;
	struct st_ack ack = ask_unchanged(f, first);
	CHECK_INT(ack.res, ST_STALE); /* because of rev, though nominal is at high as well */
	CHECK(ack.has_row && ack.row.rev == 1);
	first.rev = 1;
	CHECK_UNCHANGED(f, first, ST_STALE); /* nominal is at high */
	first.run.nominal = AT(99);
	CHECK_UNCHANGED(f, first, ST_STALE); /* nominal is below high */
	first.run.nominal = AT(101);
	first.move.high = AT(101);
	CHECK_RES(f, first, ST_OK);

	struct st_req other = req_occ(5, 1, 8, 101);
	ack = ask_unchanged(f, other);
	CHECK_INT(ack.res, ST_LOST);
	CHECK_INT(ack.existing.run, 7);
	CHECK_INT(ack.existing.nominal.us, 101);
	CHECK_INT(ack.run, 8);
	CHECK(ack.has_row && ack.row.high.us == 101);
	CHECK_UNCHANGED(f, moving(other, 300, 300), ST_STALE); /* high is checked before the record */
	other.rev = 9;
	CHECK_UNCHANGED(f, other, ST_STALE); /* rev is checked before the record */
	/* Repetition is checked before everything. */
	other = first;
	other.rev = 9;
	CHECK_UNCHANGED(f, moving(other, 300, 300), ST_OK);
	/* So is a collision: the number belongs to another record. */
	struct st_req collided[5];
	for (unsigned i = 0; i < ARRAY_LEN(collided); i++)
		collided[i] = first;
	collided[0].run.nominal = AT(500);
	collided[1].sid = collided[1].run.sid = 6;
	collided[2].run.kind = KIND_BACKFILL;
	collided[3].run.claimed.us++;
	collided[4].run.node++;
	for (unsigned i = 0; i < ARRAY_LEN(collided); i++) {
		test_case("%u", i);
		CHECK_UNCHANGED(f, collided[i], ST_COLLISION);
	}
}

/* A follower has no nominal times of its own. The numbers of ends move it, independently of the clock. */
ON_EACH(occ_of_a_follower_is_judged_by_ends)
{
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.high = AT(1000);
	ask(f, p);
	struct st_req r = moving(req_occ(6, 1, 1, 100), INT64_MAX, 100);
	CHECK_UNCHANGED(f, r, ST_STALE); /* `seen` is 0 */
	r.move.seen = 3;
	struct sched_row row = ask(f, r).row;
	CHECK_INT(row.seen, 3);
	CHECK_INT(row.high.us, 100);
	r.run.run = 2;
	r.run.nominal = AT(2000);
	CHECK_UNCHANGED(f, r, ST_STALE);
	r.move.seen = 2;
	CHECK_UNCHANGED(f, r, ST_STALE);
	r.move.seen = 4;
	r.run.nominal = AT(100);
	CHECK_UNCHANGED(f, r, ST_LOST); /* the occurrence is recorded */
	r.run.nominal = AT(90);         /* the clock went back */
	CHECK_RES(f, r, ST_OK);
	struct st_req m = req_occ(6, 1, 3, 50); /* a manual run moves nothing and is not checked */
	m.run.kind = KIND_MANUAL;
	CHECK_INT(ask(f, m).row.seen, 4);
	/* The same holds for ranges. */
	struct st_req g = moving(req_range(6, 1, 3000, 4000), INT64_MAX, 4000);
	g.move.seen = 4;
	CHECK_UNCHANGED(f, g, ST_STALE);
	g.range.first = g.range.last = AT(10);
	g.move.seen = 5;
	CHECK_INT(ask(f, g).row.seen, 5);
}

/* A schedule with a rule is checked by its nominal times, `seen` has no effect. */
ON_EACH(occ_of_a_timer_is_not_judged_by_ends)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = moving(req_occ(5, 1, 1, 100), 200, 100);
	r.move.seen = 7;
	CHECK_INT(ask(f, r).row.seen, 7);
	CHECK_RES(f, moving(req_occ(5, 1, 2, 101), 200, 101), ST_OK);
	r = moving(req_occ(5, 1, 3, 101), 200, 101);
	r.move.seen = 9;
	CHECK_UNCHANGED(f, r, ST_STALE);
}

ON_EACH(occ_below_high_is_accepted_if_nothing_moves)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.high = AT(1000);
	ask(f, p);
	CHECK_RES(f, req_occ(5, 1, 7, 100), ST_OK);
	CHECK_RES(f, req_occ(5, 1, 8, 1000), ST_OK);
}

ON_EACH(occ_refuses_invalid_requests)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run.sid = 6;
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	CHECK_UNCHANGED(f, req_occ(5, 1, 0, 100), ST_REFUSED);
	CHECK_UNCHANGED(f, req_occ(5, 1, UINT64_MAX, 100), ST_REFUSED);
	/* The largest number with which a database can be opened again. */
	CHECK_RES(f, req_occ(5, 1, RUN_DATABASE_MAX, 100), ST_OK);
}

ON_EACH(occ_manual_runs_are_no_occurrences)
{
	ask(f, req_put(5, 0, 10));
	struct st_req m = req_occ(5, 1, 7, 100);
	m.run.kind = KIND_MANUAL;
	CHECK_RES(f, m, ST_OK);
	m.run.run = 8;
	CHECK_RES(f, m, ST_OK);                     /* two manual runs at the same time */
	CHECK_RES(f, req_occ(5, 1, 9, 100), ST_OK); /* they do not exclude an occurrence */
	m.run.run = 10;
	CHECK_RES(f, m, ST_OK); /* the occurrence does not exclude manual runs either */
	for (unsigned kind = 0; kind < RUN_KINDS; kind++) {
		struct st_req r = req_occ(5, 1, 11, 100);
		r.run.kind = (uint8_t)kind;
		if (kind != KIND_MANUAL)
			CHECK_UNCHANGED(f, r, ST_LOST);
	}
}

ON_EACH(occ_is_unique_per_schedule)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	CHECK_RES(f, req_occ(5, 1, 1, 100), ST_OK);
	CHECK_RES(f, req_occ(6, 1, 2, 100), ST_OK);
	CHECK_RES(f, req_occ(5, 1, 3, 101), ST_OK);
}

/* Tests each state of the old record. */
ON_EACH(occ_backfill_replaces_records_that_did_not_run)
{
	ask(f, req_put(5, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++) {
		bool idle = state == RUN_SKIPPED || state == RUN_MISSED;
		uint64_t old = 100 + state, new = 200 + state;
		struct st_req r = req_occ(5, 1, old, 1000 + state);
		r.run.state = (uint8_t)state;
		r.run.reason = 14;
		CHECK_RES(f, r, ST_OK);
		struct st_req b = req_occ(5, 1, new, 1000 + state);
		CHECK_UNCHANGED(f, b, ST_LOST); /* a timer replaces nothing */
		b.run.kind = KIND_BACKFILL;
		struct st_ack ack = ask(f, b);
		CHECK_INT(ack.res, idle ? ST_OK : ST_LOST);
		CHECK_INT(ack.existing.run, idle ? 0 : old);
		if (idle) /* there is no run with the old number */
			CHECK_UNCHANGED(f, req_verdict(5, old, RUN_CLAIMED, 0), ST_REFUSED);
		b.run.run = 300 + state; /* a second backfill finds the run of the first */
		CHECK_UNCHANGED(f, b, ST_LOST);
	}
}

ON_EACH(occ_backfill_records_the_old_state)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 9, 100);
	r.run.state = RUN_MISSED;
	ask(f, r);
	/* A smaller number than 9, which is still the largest number that was given out. */
	r = req_occ(5, 1, 3, 100);
	r.run.kind = KIND_BACKFILL;
	r.run.replaced = 77;
	CHECK_RES(f, r, ST_OK);
	EXPECT(f, "run", "3 5 1 0 0 3 1 0 6 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 0 0");
	r = req_occ(5, 1, 4, 101); /* no record to replace */
	r.run.kind = KIND_BACKFILL;
	CHECK_RES(f, r, ST_OK);
	EXPECT_IN_LOAD(f, "done 9 5\n");
}
