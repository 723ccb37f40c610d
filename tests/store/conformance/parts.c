/* ST_NUMBERS, ST_TAKE and ST_KEY, and requests of owners whose epoch has ended. */
#include "conformance.h"

static struct st_req req_numbers(unsigned kind, uint32_t n)
{
	struct st_req r = { .op = ST_NUMBERS, .lane = LANE_USER };
	r.numbers = (struct numbers_request){ (uint8_t)kind, n };
	return r;
}

static struct st_req req_take(uint32_t part, uint64_t epoch, uint32_t node)
{
	return (struct st_req){
		.op = ST_TAKE, .lane = LANE_USER, .part = part, .epoch = epoch, .node = node
	};
}

static struct st_req of_part(struct st_req r, uint32_t part, uint64_t epoch)
{
	r.part = part;
	r.epoch = epoch;
	return r;
}

/* --- numbers --- */

/* Asked once: a repeated request takes other numbers. */
ON_EACH(numbers_are_taken_once)
{
	for (unsigned kind = 0; kind < NUMBER_KINDS; kind++) {
		test_case("kind %u", kind);
		CHECK_INT(fixture_ask(f, req_numbers(kind, 10)).first, 1);
		CHECK_INT(fixture_ask(f, req_numbers(kind, 1)).first, 11);
		CHECK_INT(fixture_ask(f, req_numbers(kind, STORE_NUMBERS_MAX)).first, 12);
		CHECK_INT(fixture_ask(f, req_numbers(kind, 5)).first, 12 + STORE_NUMBERS_MAX);
		CHECK_UNCHANGED(f, req_numbers(kind, 0), ST_REFUSED);
		CHECK_UNCHANGED(f, req_numbers(kind, STORE_NUMBERS_MAX + 1), ST_REFUSED);
	}
	CHECK_UNCHANGED(f, req_numbers(NUMBER_KINDS, 1), ST_REFUSED);
}

/* Recorded numbers are not given out again, even if no request took them and even if their records were
 * deleted. */
ON_EACH(numbers_are_larger_than_all_that_were_recorded)
{
	ask(f, req_put(40, 0, 10));
	ask(f, req_occ(40, 1, 70, 100));
	struct st_req name = { .op = ST_NAME, .lane = LANE_USER, .name = { 1, 30, STR("a") } };
	ask(f, name);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_RUN, 3)).first, 71);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_SCHED, 3)).first, 41);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_NAME + 1, 3)).first, 31);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_NAME, 3)).first, 1);
	ask(f, req_put(60, 0, 10));
	struct st_req missed = req_occ(60, 1, 90, 100);
	missed.run.state = RUN_MISSED;
	ask(f, missed);
	ask(f, req_withdraw(60, 1, 10, 200));
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_RUN, 3)).first, 91);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_SCHED, 3)).first, 61);
	/* With one owner, numbers that were taken but not recorded are free again. */
	fixture_reopen(f);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_RUN, 3)).first, 91);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_SCHED, 3)).first, 61);
	CHECK_INT(fixture_ask(f, req_numbers(NUMBER_NAME + 1, 3)).first, 31);
}

/* --- parts --- */

ON_EACH(a_part_is_taken_over_by_its_epoch)
{
	struct st_ack ack = ask(f, req_take(0, 0, 2));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.part.part == 0 && ack.part.epoch == 1 && ack.part.node == 2 && !ack.has_row);
	CHECK_UNCHANGED(f, req_take(0, 0, 2), ST_OK); /* repeated */
	ack = ask_unchanged(f, req_take(0, 0, 3));    /* too late */
	CHECK(ack.res == ST_FENCED && ack.part.epoch == 1 && ack.part.node == 2);
	CHECK_UNCHANGED(f, req_take(0, 7, 3), ST_FENCED);
	fixture_reopen(f);
	CHECK_RES(f, req_take(0, 1, 1), ST_OK);
	CHECK_UNCHANGED(f, req_take(9, 1, 1), ST_FENCED); /* it has no owner */
	CHECK_RES(f, req_take(9, 0, 1), ST_OK);
	CHECK_UNCHANGED(f, req_take(STORE_PARTS_MAX, 0, 1), ST_REFUSED);
	CHECK_UNCHANGED(f, req_take(3, 0, 0), ST_REFUSED);
	EXPECT(f, "part", "0 2 1|9 1 1");
}

/* Every request of an owner, once as the present owner and once as an earlier one; even a repeated one. */
ON_EACH(an_earlier_owner_is_fenced)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_occ(5, 1, 1, 50));
	ask(f, req_take(0, 0, 2));
	struct st_req pending = req_occ(5, 1, 2, 100);
	pending.run.state = RUN_PENDING;
	const struct st_req requests[] = {
		pending,
		req_verdict(5, 2, RUN_CLAIMED, 0),
		req_started(5, 2, 1, 110),
		req_finish(5, 2, 1, RUN_FINISHED, 120),
		req_range(5, 1, 200, 300),
		req_withdraw(5, 1, 400, 500),
		req_put(5, 1, 20),
		req_put(6, 0, 20),
		req_drop(5, 2, 30),
	};
	unsigned ops = 0;
	CHECK_UNCHANGED(f, req_occ(5, 1, 1, 50), ST_FENCED);
	for (unsigned i = 0; i < ARRAY_LEN(requests); i++) {
		test_case("%u", i);
		ops |= 1u << requests[i].op;
		struct st_ack ack = ask_unchanged(f, requests[i]);
		CHECK(ack.res == ST_FENCED && !ack.has_row);
		CHECK_UNCHANGED(f, of_part(requests[i], 0, 2), ST_FENCED); /* not yet */
		CHECK_UNCHANGED(f, of_part(requests[i], 1, 0), ST_FENCED); /* another part */
		CHECK_RES(f, of_part(requests[i], 0, 1), ST_OK);
	}
	CHECK_INT(ops, OWNER_OPS);
}

/* A schedule stays in the part in which it was put. */
ON_EACH(a_request_for_another_part_is_fenced)
{
	ask(f, req_take(3, 0, 1));
	ask(f, req_take(4, 0, 1));
	struct st_req p = of_part(req_put(5, 0, 10), 3, 1);
	p.row.part = 4; /* has no effect */
	CHECK_INT(ask(f, p).row.part, 3);
	CHECK_UNCHANGED(f, of_part(req_put(5, 1, 20), 4, 1), ST_FENCED);
	CHECK_UNCHANGED(f, of_part(req_occ(5, 1, 1, 100), 4, 1), ST_FENCED);
	CHECK_UNCHANGED(f, req_occ(5, 1, 1, 100), ST_FENCED);
	CHECK_INT(ask(f, of_part(req_occ(5, 1, 1, 100), 3, 1)).row.part, 3);
	CHECK_UNCHANGED(f, of_part(req_finish(5, 1, 1, RUN_FINISHED, 110), 4, 1), ST_FENCED);
	CHECK_INT(ask(f, of_part(req_put(5, 1, 20), 3, 1)).row.part, 3);
	/* The other requests are not fenced. */
	CHECK_RES(f, req_hold(1, 1, 1), ST_OK);
	CHECK_RES(f, prune_runs(1, 9, 1000), ST_OK);
}

/* The node that loads has number 1. */
ON_EACH(load_has_the_parts_of_this_node)
{
	ask(f, req_take(3, 0, 1));
	ask(f, req_take(4, 0, 2));
	for (uint32_t part = 3; part <= 4; part++) {
		struct st_req p = of_part(req_put(part, 0, 10), part, 1);
		ask(f, p);
		p = of_part(req_put(10 + part, 0, 10), part, 1);
		p.row.after = part;
		ask(f, p);
		ask(f, of_part(req_occ(part, 1, part, 100), part, 1));
		ask(f, of_part(req_occ(part, 1, 10 + part, 101), part, 1));
		ask(f, of_part(req_finish(part, part, 1, RUN_FINISHED, 110), part, 1));
	}
	EXPECT_IN_LOAD(f, "part 0 0 1\npart 3 1 1\nsched 3 ");
	EXPECT_IN_LOAD(f, "\nsched 13 ");
	EXPECT_IN_LOAD(f, "\nrun 13 3 ");
	EXPECT_IN_LOAD(f, "\nfor 13 end 3 ");
	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	CHECK(!strstr(load.p, "part 4") && !strstr(load.p, "sched 4 ") && !strstr(load.p, "sched 14 ") &&
	      !strstr(load.p, "run 14 ") && !strstr(load.p, "for 14 "));
	buf_free(&load);
}

/* A run is held by the node that claimed it, gave its verdict, started it, or recorded its last attempt. */
ON_EACH(runs_name_the_node_that_holds_them)
{
	ask(f, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run.state = RUN_PENDING;
	r.run.node = 2;
	ask(f, r);
	EXPECT(f, "run", "7 5 1 0 0 0 0 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 2 0");
	r = req_verdict(5, 7, RUN_CLAIMED, 0);
	r.run.node = 3;
	ask(f, r);
	EXPECT(f, "run", "7 5 1 0 0 0 1 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 3 0");
	r = req_started(5, 7, 1, 110);
	r.run.node = 4;
	ask(f, r);
	EXPECT(f, "run", "7 5 1 1 0 0 1 0 0 0 100 101 102 110 0 0 0 -1 0 0 0 0 -1 4 0");
	r = req_finish(5, 7, 1, RUN_RETRYING, 120);
	r.run.node = 5;
	ask(f, r);
	EXPECT(f, "run", "7 5 1 1 0 0 2 1 0 0 100 101 102 110 120 0 0 5 6 7 0 0 8 5 0");
}

/* --- the key of run tokens --- */

ON_EACH(the_key_is_stored_once)
{
	struct st_req r = { .op = ST_KEY, .lane = LANE_USER };
	memset(r.key, 0xAB, sizeof r.key);
	CHECK_RES(f, r, ST_OK);
	CHECK_UNCHANGED(f, r, ST_OK); /* repeated */
	r.key[31] ^= 1;
	CHECK_UNCHANGED(f, r, ST_LOST);
	fixture_reopen(f);
	CHECK_UNCHANGED(f, r, ST_LOST);
	EXPECT_IN_LOAD(f,
		       "key abababababababababababababababababababababababababababababababab\npart 0 0 1\n");
}
