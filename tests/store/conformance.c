/* What port/store.h promises, on every store there is. Each request is asked twice, word for word: the second
 * answer must be the first's, and nothing may have changed. */
#include "fixture.h"
#include "requests.h"
#include "test.h"

/* A test that runs on each store, and after which a store that was closed and opened must be the same. */
#define ON_EACH(fn)                                                                                          \
	static void fn##_on(struct rig *rig);                                                                \
	TEST(fn)                                                                                             \
	{                                                                                                    \
		on_each(fn##_on);                                                                            \
	}                                                                                                    \
	static void fn##_on(struct rig *rig)

static void on_each(void (*fn)(struct rig *rig))
{
	for (unsigned kind = 0; kind < RIG_KINDS; kind++) {
		struct buf before = { 0 }, after = { 0 };
		struct rig rig;
		test_case("%s", rig_name(kind));
		rig_open(&rig, kind);
		fn(&rig);
		rig_dump(&rig, &before);
		dump_load(rig.ops, rig.store, &before);
		rig_reopen(&rig);
		rig_dump(&rig, &after);
		dump_load(rig.ops, rig.store, &after);
		CHECK_SAME(&after, &before);
		rig_close(&rig);
		buf_free(&before);
		buf_free(&after);
	}
}

static struct st_ack ask_at(int line, struct rig *rig, struct st_req r)
{
	struct buf row[2] = { 0 }, said[2] = { 0 };
	struct st_ack ack = { 0 };
	for (unsigned i = 0; i < 2; i++) {
		struct st_ack a = rig_ask(rig, &r);
		dump_ack(&a, &said[i]);
		rig_dump(rig, &row[i]);
		if (i == 0)
			ack = a;
	}
	same_text(__FILE__, line, buf_str(&said[1]), buf_str(&said[0]));
	same_text(__FILE__, line, buf_str(&row[1]), buf_str(&row[0]));
	for (unsigned i = 0; i < 2; i++) {
		buf_free(&row[i]);
		buf_free(&said[i]);
	}
	return ack;
}
#define ask(rig, r) ask_at(__LINE__, rig, r)

/* Asks for something that is to change nothing. */
static struct st_ack ask_in_vain_at(int line, struct rig *rig, struct st_req r)
{
	struct buf before = { 0 }, after = { 0 };
	rig_dump(rig, &before);
	struct st_ack ack = ask_at(line, rig, r);
	rig_dump(rig, &after);
	same_text(__FILE__, line, buf_str(&after), buf_str(&before));
	buf_free(&before);
	buf_free(&after);
	return ack;
}
#define ask_in_vain(rig, r) ask_in_vain_at(__LINE__, rig, r)

#define CHECK_RES(rig, r, want)     CHECK_INT(ask(rig, r).res, want)
#define CHECK_IN_VAIN(rig, r, want) CHECK_INT(ask_in_vain(rig, r).res, want)

/* All lines of a kind, without its word: "5 1 …|6 1 …". */
static void expect_at(int line, struct rig *rig, const char *kind, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	rig_dump(rig, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row)) {
		struct str word = str_token(&row);
		if (!str_eq(word, str_of(kind)))
			continue;
		if (got.n)
			buf_addc(&got, '|');
		buf_add(&got, str_trim(row));
	}
	check_str(__FILE__, line, buf_str(&got), str_of(want), kind);
	buf_free(&all);
	buf_free(&got);
}
#define EXPECT(rig, kind, want) expect_at(__LINE__, rig, kind, want)

/* --- PUT --- */

ON_EACH(put_inserts_with_rev_1)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.sid = 99; /* neither of these is taken over */
	r.row.rev = 88;
	r.row.pruned_to = AT(3);
	r.row.high = AT(4);
	r.id = STR("news");
	r.document = STR("when: daily");
	struct st_ack ack = ask(rig, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row);
	CHECK_INT(ack.row.sid, 5);
	CHECK_INT(ack.row.rev, 1);
	CHECK_INT(ack.row.pruned_to.us, 3);
	CHECK_INT(ack.row.high.us, 4);
	CHECK_INT(ack.row.next.us, 100);
	CHECK_INT(ack.row.left, UINT32_MAX);
	CHECK_INT(ack.row.rules[STORE_RULES - 1], 5);
}

ON_EACH(put_takes_over_all_but_sid_rev_kept)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = AT(3);
	ask(rig, r);
	struct st_req s = req_put(5, 1, 20);
	s.row = (struct sched_row){ .sid = 1,
				    .rev = 9,
				    .seen = 10,
				    .after = 2,
				    .flags = 3,
				    .left = 4,
				    .failures = 5,
				    .owed = 6,
				    .owed_since = AT(7),
				    .next = AT(8),
				    .high = AT(9),
				    .pruned_to = AT(77),
				    .changed = AT(11),
				    .paused_until = AT(12),
				    .next_set_at = AT(13) };
	struct st_ack ack = ask(rig, s);
	CHECK_INT(ack.res, ST_OK);
	s.row.sid = 5;
	s.row.rev = 2;
	s.row.pruned_to = AT(3);
	CHECK(memcmp(&ack.row, &s.row, sizeof s.row) == 0);
}

ON_EACH(put_keeps_next_when_told)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.high = AT(50);
	r.row.left = 9;
	r.row.failures = 8;
	r.row.owed = 7;
	r.row.owed_since = AT(6);
	r.row.next_set_at = AT(5);
	ask(rig, r);
	struct st_req s = req_put(5, 1, 20);
	s.keep_next = true;
	s.row.next_set_at = AT(15);
	s.row.flags = 1234;
	s.row.next = AT(1);
	struct sched_row got = ask(rig, s).row;
	CHECK_INT(got.rev, 2);
	CHECK_INT(got.flags, 1234);
	CHECK_INT(got.changed.us, 20);
	CHECK_INT(got.next.us, 100);
	CHECK_INT(got.high.us, 50);
	CHECK_INT(got.left, 9);
	CHECK_INT(got.failures, 8);
	CHECK_INT(got.owed, 7);
	CHECK_INT(got.owed_since.us, 6);
	CHECK_INT(got.next_set_at.us, 5);
	/* A new one has nothing to keep. */
	struct st_req n = req_put(6, 0, 20);
	n.keep_next = true;
	CHECK_INT(ask(rig, n).row.next.us, 100);
}

/* A run of `sid` that is recorded, and over, in one. */
static uint64_t end_one(struct rig *rig, uint64_t sid, uint64_t run, int64_t nominal)
{
	struct st_req r = req_occ(sid, 1, run, nominal);
	r.run.state = RUN_FINISHED;
	return ask(rig, r).end;
}

/* What was decided without knowing of an end of its leader is void, whatever it makes of the follower. */
ON_EACH(put_is_void_if_its_leader_has_ended_since)
{
	ask(rig, req_put(4, 0, 10));
	ask(rig, req_put(6, 0, 10));
	struct st_req p = req_put(5, 0, 10);
	p.row.after = 4;
	ask(rig, p);
	for (uint64_t sid = 4; sid <= 6; sid += 2) { /* ends 1 and 2 */
		struct st_req r = req_occ(sid, 1, sid, 20);
		r.run.state = RUN_FINISHED;
		ask(rig, r);
	}
	p = req_put(5, 1, 30);
	p.ends_known = true;
	CHECK_IN_VAIN(rig, p, ST_STALE);
	p.row.after = 6;
	p.row.seen = 1;
	CHECK_RES(rig, p, ST_OK);
	CHECK_RES(rig, p, ST_OK); /* mine, though that one has ended */
	p = req_put(5, 2, 40);
	p.row.after = 4;
	p.row.seen = 1;
	CHECK_RES(rig, p, ST_OK); /* decided without that */
}

/* The engine says what a follower has seen when it is put; later only what moves it does. */
ON_EACH(put_keeps_what_was_seen_when_told)
{
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.seen = 2;
	p.keep_next = true; /* a new one has nothing to keep */
	CHECK_INT(ask(rig, p).row.seen, 2);
	p.rev = 1;
	p.row.seen = 7;
	CHECK_INT(ask(rig, p).row.seen, 2);
	p.rev = 2;
	p.keep_next = false;
	CHECK_INT(ask(rig, p).row.seen, 7);
	rig_reopen(rig);
	CHECK_INT(ask_in_vain(rig, p).row.seen, 7);
}

ON_EACH(put_never_lowers_high_below_kept)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = r.row.high = AT(40);
	ask(rig, r);
	struct st_req s = req_put(5, 1, 20);
	s.row.high = AT(39);
	CHECK_INT(ask(rig, s).row.high.us, 40);
}

ON_EACH(put_is_judged_by_rev)
{
	CHECK_RES(rig, req_put(5, 1, 10), ST_REFUSED); /* there is none */
	CHECK_RES(rig, req_put(5, 0, 10), ST_OK);
	struct st_ack ack = ask_in_vain(rig, req_put(5, 0, 11)); /* another's */
	CHECK_INT(ack.res, ST_STALE);
	CHECK(ack.has_row && ack.row.rev == 1);
	CHECK_RES(rig, req_put(5, 1, 20), ST_OK);
	CHECK_IN_VAIN(rig, req_put(5, 0, 10), ST_STALE); /* was mine, and another came after it */
	CHECK_IN_VAIN(rig, req_put(5, 1, 21), ST_STALE);
	CHECK_IN_VAIN(rig, req_put(5, 3, 20), ST_STALE);
	CHECK_RES(rig, req_put(5, 2, 20), ST_OK); /* the same time, but another rev */
}

ON_EACH(put_refuses_what_is_no_number)
{
	CHECK_IN_VAIN(rig, req_put(0, 0, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put(UINT64_MAX, 0, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put((uint64_t)INT64_MAX + 1, 0, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put(5, UINT32_MAX, 10), ST_REFUSED);
	CHECK_RES(rig, req_put(INT64_MAX, 0, 10), ST_OK);
}

static void expect_text(int line, struct rig *rig, const char *want)
{
	struct buf all = { 0 };
	rig_dump(rig, &all);
	struct str rest = buf_str(&all), row = { "", 0 };
	check_true(__FILE__, line, str_line(&rest, &row), "a schedule");
	size_t n = strlen(want);
	check_str(__FILE__, line, row.n > n ? str_from(row, row.n - n) : row, str_of(want), "texts");
	buf_free(&all);
}

ON_EACH(put_keeps_texts_that_are_not_given)
{
	struct st_req r = req_put(5, 0, 10);
	ask(rig, r);
	expect_text(__LINE__, rig, " NULL NULL NULL NULL");
	r = req_put(5, 1, 11);
	r.id = STR("news");
	r.document = STR("one");
	ask(rig, r);
	expect_text(__LINE__, rig, " 'news' 'one' NULL NULL");
	r = req_put(5, 2, 12);
	r.document = STR("two");
	ask(rig, r);
	expect_text(__LINE__, rig, " 'news' 'two' NULL NULL");
	ask(rig, req_put(5, 3, 13));
	expect_text(__LINE__, rig, " 'news' 'two' NULL NULL");
	r = req_put(5, 4, 14);
	r.document = STR("");
	ask(rig, r);
	expect_text(__LINE__, rig, " 'news' '' NULL NULL");
	r.document = STR("stale");
	r.at = AT(99);
	CHECK_IN_VAIN(rig, r, ST_STALE);
	char big[20000];
	memset(big, 'x', sizeof big);
	r = req_put(5, 5, 15);
	r.document = (struct str){ big, sizeof big };
	CHECK_RES(rig, r, ST_OK);
}

static struct st_req put_as(uint64_t sid, uint32_t rev, int64_t at, const char *id)
{
	struct st_req r = req_put(sid, rev, at);
	r.id = str_of(id);
	return r;
}

ON_EACH(put_refuses_the_id_of_another_that_lives)
{
	CHECK_RES(rig, put_as(5, 0, 10, "news"), ST_OK);
	struct st_ack ack = ask_in_vain(rig, put_as(6, 0, 10, "news"));
	CHECK_INT(ack.res, ST_REFUSED);
	CHECK(!ack.has_row);
	CHECK_RES(rig, put_as(6, 0, 10, "News"), ST_OK); /* another id */
	CHECK_RES(rig, put_as(7, 0, 10, "news2"), ST_OK);
	ack = ask_in_vain(rig, put_as(6, 1, 20, "news")); /* nor by a change */
	CHECK_INT(ack.res, ST_REFUSED);
	CHECK(ack.has_row && ack.row.rev == 1);
	CHECK_IN_VAIN(rig, put_as(6, 3, 20, "news"), ST_STALE); /* rev is judged before */
	CHECK_IN_VAIN(rig, put_as(6, 0, 10, "news"), ST_OK);    /* and mine before everything */
	CHECK_RES(rig, put_as(5, 1, 20, "news"), ST_OK);        /* its own */
	CHECK_RES(rig, req_put(8, 0, 10), ST_OK);               /* none is no id: any number may have it */
	CHECK_RES(rig, req_put(9, 0, 10), ST_OK);
	rig_reopen(rig);
	CHECK_IN_VAIN(rig, put_as(10, 0, 10, "news"), ST_REFUSED);
}

ON_EACH(the_id_of_a_removed_one_is_free)
{
	ask(rig, put_as(5, 0, 10, "news"));
	ask(rig, req_drop(5, 1, 20));
	CHECK_RES(rig, put_as(6, 0, 30, "news"), ST_OK);
	CHECK_IN_VAIN(rig, put_as(7, 0, 30, "news"), ST_REFUSED);
	ask(rig, req_drop(6, 1, 40)); /* two removed ones share it */
	CHECK_RES(rig, put_as(7, 0, 50, "news"), ST_OK);
	/* One that lives may give it up for another. */
	CHECK_RES(rig, put_as(7, 1, 60, "olds"), ST_OK);
	CHECK_RES(rig, put_as(8, 0, 60, "news"), ST_OK);
	CHECK_IN_VAIN(rig, put_as(7, 2, 70, "news"), ST_REFUSED);
}

ON_EACH(put_and_drop_close_the_open_range)
{
	static const struct {
		int line;
		int64_t first, at;
		const char *want;
	} rows[] = {
		{ __LINE__, 20, 30, "5 20 30 4 1" },
		{ __LINE__, 30, 30, "5 30 30 4 1" },
		{ __LINE__, 31, 30, "" },
	};
	uint64_t sid = 5;
	for (unsigned drop = 0; drop < 2; drop++)
		for (unsigned i = 0; i < ARRAY_LEN(rows); i++, sid++) {
			struct rig fresh;
			rig_open(&fresh, rig->kind);
			ask(&fresh, req_put(5, 0, 10));
			struct st_req g = req_range(5, 1, rows[i].first, INT64_MAX);
			g.range.state = RUN_SKIPPED;
			g.range.reason = 1;
			CHECK_RES(&fresh, g, ST_OK);
			struct st_req r = drop ? req_drop(5, 1, rows[i].at) : req_put(5, 1, rows[i].at);
			r.close_range = true;
			CHECK_RES(&fresh, r, ST_OK);
			expect_at(rows[i].line, &fresh, "range", rows[i].want);
			rig_close(&fresh);
		}
}

ON_EACH(put_leaves_ranges_alone_unless_told)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	ask(rig, req_range(5, 1, 20, INT64_MAX));
	ask(rig, req_range(6, 1, 20, INT64_MAX));
	ask(rig, req_put(5, 1, 30));
	EXPECT(rig, "range", "5 20 9223372036854775807 5 14|6 20 9223372036854775807 5 14");
	struct st_req r = req_put(5, 2, 40);
	r.close_range = true;
	ask(rig, r);
	EXPECT(rig, "range", "5 20 40 5 14|6 20 9223372036854775807 5 14");
	r.rev = 3; /* none is open now */
	r.at = AT(30);
	ask(rig, r);
	EXPECT(rig, "range", "5 20 40 5 14|6 20 9223372036854775807 5 14");
	r = req_put(6, 9, 40);
	r.close_range = true;
	CHECK_IN_VAIN(rig, r, ST_STALE);
}

/* --- DROP --- */

ON_EACH(drop_leaves_a_tombstone)
{
	CHECK_RES(rig, req_drop(5, 1, 10), ST_REFUSED);
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = AT(30);
	ask(rig, r);
	ask(rig, moving(req_occ(5, 1, 1, 100), 200, 100));
	r = req_occ(5, 1, 2, 101);
	r.run.state = RUN_PENDING;
	ask(rig, r);
	ask(rig, req_range(5, 1, 150, 160));
	CHECK_IN_VAIN(rig, req_drop(5, 2, 20), ST_STALE);
	struct st_ack ack = ask(rig, req_drop(5, 1, 20));
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);

	CHECK_IN_VAIN(rig, req_drop(5, 7, 99), ST_OK);
	CHECK_IN_VAIN(rig, req_put(5, 0, 99), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put(5, 1, 99), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put(5, 0, 10), ST_OK); /* was carried out, long ago */
	CHECK_IN_VAIN(rig, req_occ(5, 1, 3, 300), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_occ(5, 1, 1, 100), ST_OK); /* mine, too */
	CHECK_IN_VAIN(rig, req_range(5, 1, 300, 400), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_range(5, 1, 150, 160), ST_REFUSED); /* though it is covered */
	CHECK_IN_VAIN(rig, req_withdraw(5, 1, 0, 0), ST_REFUSED);

	CHECK_RES(rig, req_started(5, 1, 1, 40), ST_OK);
	r = req_finish(5, 1, 1, RUN_FINISHED, 50);
	r.failures = 3;
	ack = ask(rig, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);
	CHECK_RES(rig, req_verdict(5, 2, RUN_CLAIMED, 0), ST_OK);

	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(str_starts(buf_str(&load), STR("sched 5 "))); /* for the sake of its run */
	CHECK(strstr(load.p, " dropped\nrun 2 5 "));
	CHECK(strstr(load.p, "done 2 5 1\n"));
	buf_free(&load);
	ask(rig, req_finish(5, 2, 1, RUN_FINISHED, 60));
	dump_load(rig->ops, rig->store, &load);
	CHECK_STR(load.p, "done 2 5 2\n");
	buf_free(&load);
}

/* --- OCC --- */

ON_EACH(occ_records_the_run_as_it_is)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.pruned_to = AT(-1000);
	ask(rig, p);
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run = (struct run_row){ .run = 7,
				  .sid = 5,
				  .rev = 42,
				  .attempt = 65535,
				  .reason = 65534,
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
				  .end = 77, /* but for this: the store's to give */
				  .fence = UINT64_MAX,
				  .cost = -1,
				  .tokens_in = INT64_MAX,
				  .tokens_out = 9,
				  .exit_code = INT32_MIN };
	struct st_ack ack = ask(rig, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.run, 7);
	CHECK(ack.has_row && ack.row.next.us == 100); /* nothing moved */
	EXPECT(rig, "run",
	       "7 5 42 65535 65534 1 5 3 2 4294967295 -100 1 2 3 4 9223372036854775807 -1 -1"
	       " 9223372036854775807 9 65533 0 -2147483648");
}

ON_EACH(occ_moves_the_schedule_in_the_same_breath)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = moving(req_occ(5, 1, 7, 100), 200, 150);
	r.move.left = 3;
	r.move.owed = 2;
	r.move.owed_since = AT(90);
	struct sched_row row = ask(rig, r).row;
	CHECK_INT(row.next.us, 200);
	CHECK_INT(row.high.us, 150);
	CHECK_INT(row.left, 3);
	CHECK_INT(row.owed, 2);
	CHECK_INT(row.owed_since.us, 90);
	CHECK_INT(row.rev, 1);
}

/* Whatever moves the schedule on, or back, takes that with it; what does not move leaves it. */
ON_EACH(checked_goes_with_its_next)
{
	struct st_req r = req_put(5, 0, 10),
		      moves[] = { moving(req_occ(5, 2, 8, 100), 200, 100),
				  moving(req_range(5, 2, 100, 150), 200, 150), req_withdraw(5, 2, 50, 60) };
	for (unsigned i = 0; i < ARRAY_LEN(moves); i++) {
		r = req_put(5 + i, 0, 10);
		r.row.next_set_at = AT(10);
		ask(rig, r);
		CHECK_INT(ask(rig, req_occ(5 + i, 1, 10 + i, 90)).row.next_set_at.us, 10);
		moves[i].sid = moves[i].run.sid = moves[i].range.sid = 5 + i;
		moves[i].rev = 1;
		CHECK_INT(ask(rig, moves[i]).res, ST_OK);
		CHECK_INT(ask(rig, req_occ(5 + i, 1, 20 + i, 95)).row.next_set_at.us, 0);
	}
}

ON_EACH(occ_move_never_lowers_high_below_kept)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = r.row.high = AT(50);
	ask(rig, r);
	CHECK_INT(ask(rig, moving(req_occ(5, 1, 7, 100), 200, 20)).row.high.us, 50);
}

/* One thing after the other is made right: each answer gives way to the next in the header's order. */
ON_EACH(occ_refusals_come_in_order)
{
	struct st_req first = moving(req_occ(5, 1, 7, 100), 200, 100);
	CHECK_RES(rig, first, ST_REFUSED); /* no such schedule */
	struct st_req p = req_put(5, 0, 10);
	p.row.high = AT(100);
	ask(rig, p);
	first.rev = 2;
	struct st_ack ack = ask_in_vain(rig, first);
	CHECK_INT(ack.res, ST_STALE); /* rev, though nominal is at high as well */
	CHECK(ack.has_row && ack.row.rev == 1);
	first.rev = 1;
	CHECK_IN_VAIN(rig, first, ST_STALE); /* at high */
	first.run.nominal = AT(99);
	CHECK_IN_VAIN(rig, first, ST_STALE); /* below */
	first.run.nominal = AT(101);
	first.move.high = AT(101);
	CHECK_RES(rig, first, ST_OK);

	struct st_req other = req_occ(5, 1, 8, 101);
	ack = ask_in_vain(rig, other);
	CHECK_INT(ack.res, ST_LOST);
	CHECK_INT(ack.existing.run, 7);
	CHECK_INT(ack.existing.nominal.us, 101);
	CHECK_INT(ack.run, 8);
	CHECK(ack.has_row && ack.row.high.us == 101);
	CHECK_IN_VAIN(rig, moving(other, 300, 300), ST_STALE); /* high before the record */
	other.rev = 9;
	CHECK_IN_VAIN(rig, other, ST_STALE); /* rev before the record */
	/* Mine before everything, whatever else it says. */
	other = req_occ(5, 9, 7, 5);
	CHECK_IN_VAIN(rig, moving(other, 300, 300), ST_OK);
}

/* A follower has no times of its own: ends come in the order of their numbers, whatever the clock says. */
ON_EACH(occ_of_a_follower_is_judged_by_ends)
{
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.high = AT(1000);
	ask(rig, p);
	struct st_req r = moving(req_occ(6, 1, 1, 100), INT64_MAX, 100);
	CHECK_IN_VAIN(rig, r, ST_STALE); /* seen 0 */
	r.move.seen = 3;
	struct sched_row row = ask(rig, r).row;
	CHECK_INT(row.seen, 3);
	CHECK_INT(row.high.us, 100);
	r.run.run = 2;
	r.run.nominal = AT(2000);
	CHECK_IN_VAIN(rig, r, ST_STALE);
	r.move.seen = 2;
	CHECK_IN_VAIN(rig, r, ST_STALE);
	r.move.seen = 4;
	r.run.nominal = AT(100);
	CHECK_IN_VAIN(rig, r, ST_LOST); /* there already */
	r.run.nominal = AT(90);         /* the clock went back */
	CHECK_RES(rig, r, ST_OK);
	struct st_req m = req_occ(6, 1, 3, 50); /* by hand: moves nothing, and is not judged */
	m.run.kind = KIND_MANUAL;
	CHECK_INT(ask(rig, m).row.seen, 4);
	/* The same for its ranges. */
	struct st_req g = moving(req_range(6, 1, 3000, 4000), INT64_MAX, 4000);
	g.move.seen = 4;
	CHECK_IN_VAIN(rig, g, ST_STALE);
	g.range.first = g.range.last = AT(10);
	g.move.seen = 5;
	CHECK_INT(ask(rig, g).row.seen, 5);
}

/* Who has times of his own is judged by those, whatever he has seen. */
ON_EACH(occ_of_a_timer_is_not_judged_by_ends)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = moving(req_occ(5, 1, 1, 100), 200, 100);
	r.move.seen = 7;
	CHECK_INT(ask(rig, r).row.seen, 7);
	CHECK_RES(rig, moving(req_occ(5, 1, 2, 101), 200, 101), ST_OK);
	r = moving(req_occ(5, 1, 3, 101), 200, 101);
	r.move.seen = 9;
	CHECK_IN_VAIN(rig, r, ST_STALE);
}

ON_EACH(occ_below_high_is_fine_if_nothing_moves)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.high = AT(1000);
	ask(rig, p);
	CHECK_RES(rig, req_occ(5, 1, 7, 100), ST_OK);
	CHECK_RES(rig, req_occ(5, 1, 8, 1000), ST_OK);
}

ON_EACH(occ_refuses_what_cannot_be)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run.sid = 6;
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
	CHECK_IN_VAIN(rig, req_occ(5, 1, 0, 100), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_occ(5, 1, UINT64_MAX, 100), ST_REFUSED);
	CHECK_RES(rig, req_occ(5, 1, INT64_MAX, 100), ST_OK);
}

ON_EACH(occ_manual_runs_are_no_occurrences)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req m = req_occ(5, 1, 7, 100);
	m.run.kind = KIND_MANUAL;
	CHECK_RES(rig, m, ST_OK);
	m.run.run = 8;
	CHECK_RES(rig, m, ST_OK);                     /* two at the same time */
	CHECK_RES(rig, req_occ(5, 1, 9, 100), ST_OK); /* and they do not stand in the way of a timer's */
	m.run.run = 10;
	CHECK_RES(rig, m, ST_OK); /* nor the timer's in theirs */
	for (unsigned kind = 0; kind < RUN_KINDS; kind++) {
		struct st_req r = req_occ(5, 1, 11, 100);
		r.run.kind = (uint8_t)kind;
		if (kind != KIND_MANUAL)
			CHECK_IN_VAIN(rig, r, ST_LOST);
	}
}

ON_EACH(occ_is_unique_per_schedule)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	CHECK_RES(rig, req_occ(5, 1, 1, 100), ST_OK);
	CHECK_RES(rig, req_occ(6, 1, 2, 100), ST_OK);
	CHECK_RES(rig, req_occ(5, 1, 3, 101), ST_OK);
}

/* For each state that the old record may have. */
ON_EACH(occ_backfill_takes_over_what_did_not_run)
{
	ask(rig, req_put(5, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++) {
		bool idle = state == RUN_SKIPPED || state == RUN_MISSED;
		uint64_t old = 100 + state, new = 200 + state;
		struct st_req r = req_occ(5, 1, old, 1000 + state);
		r.run.state = (uint8_t)state;
		r.run.reason = 14;
		CHECK_RES(rig, r, ST_OK);
		struct st_req b = req_occ(5, 1, new, 1000 + state);
		CHECK_IN_VAIN(rig, b, ST_LOST); /* a timer's does not */
		b.run.kind = KIND_BACKFILL;
		struct st_ack ack = ask(rig, b);
		CHECK_INT(ack.res, idle ? ST_OK : ST_LOST);
		CHECK_INT(ack.existing.run, idle ? 0 : old);
		if (idle) /* the old number is gone */
			CHECK_IN_VAIN(rig, req_verdict(5, old, RUN_CLAIMED, 0), ST_REFUSED);
		b.run.run = 300 + state; /* and a second backfill finds the first */
		CHECK_IN_VAIN(rig, b, ST_LOST);
	}
}

ON_EACH(occ_backfill_says_what_it_was)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 9, 100);
	r.run.state = RUN_MISSED;
	ask(rig, r);
	r = req_occ(5, 1, 3, 100); /* a smaller number: 9 is the largest ever given, all the same */
	r.run.kind = KIND_BACKFILL;
	r.run.replaced = 77;
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "run", "3 5 1 0 0 3 1 0 6 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1");
	r = req_occ(5, 1, 4, 101); /* nothing there: an ordinary record */
	r.run.kind = KIND_BACKFILL;
	CHECK_RES(rig, r, ST_OK);
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(strstr(load.p, "done 9 5 0\n"));
	buf_free(&load);
}

/* --- RANGE --- */

ON_EACH(range_is_one_record)
{
	CHECK_RES(rig, req_range(5, 1, 100, 200), ST_REFUSED);
	ask(rig, req_put(5, 0, 10));
	CHECK_IN_VAIN(rig, req_range(5, 2, 100, 200), ST_STALE);
	struct st_ack ack = ask(rig, moving(req_range(5, 1, 100, 200), 300, 200));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.row.high.us == 200 && ack.row.next.us == 300);
	EXPECT(rig, "range", "5 100 200 5 14");
	CHECK_IN_VAIN(rig, moving(req_range(5, 1, 120, 180), 999, 999), ST_OK); /* covered: mine */
	CHECK_IN_VAIN(rig, moving(req_range(5, 9, 100, 200), 999, 999), ST_OK); /* whatever the rev */
	CHECK_IN_VAIN(rig, moving(req_range(5, 1, 99, 200), 999, 999),
		      ST_STALE); /* begins at or below high */
	CHECK_IN_VAIN(rig, moving(req_range(5, 1, 200, 201), 999, 999), ST_STALE);
	CHECK_RES(rig, req_range(5, 1, 99, 200), ST_OK); /* nothing moves: a record like any other */
	EXPECT(rig, "range", "5 100 200 5 14|5 99 200 5 14");
}

ON_EACH(range_is_prolonged_at_high)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, moving(req_range(5, 1, 100, 200), 300, 200));
	CHECK_RES(rig, moving(req_range(5, 1, 300, 400), 500, 400), ST_OK);
	EXPECT(rig, "range", "5 100 400 5 14");
	CHECK_RES(rig, req_range(5, 1, 500, 500), ST_OK); /* without a move, too */
	EXPECT(rig, "range", "5 100 500 5 14");
	CHECK_RES(rig, moving(req_range(5, 1, 600, 700), 800, 700), ST_OK); /* ends at 500, high was 400 */
	EXPECT(rig, "range", "5 100 500 5 14|5 600 700 5 14");
}

ON_EACH(range_is_prolonged_by_its_like_only)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	ask(rig, moving(req_range(5, 1, 100, 200), 300, 200));
	ask(rig, moving(req_range(6, 1, 100, 200), 300, 200));
	struct st_req r = moving(req_range(5, 1, 300, 400), 500, 400);
	r.range.reason = 15;
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "range", "5 100 200 5 14|5 300 400 5 15|6 100 200 5 14");
	r = moving(req_range(5, 1, 500, 600), 700, 600);
	r.range.reason = 15;
	r.range.state = RUN_SKIPPED;
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "range", "5 100 200 5 14|5 300 400 5 15|5 500 600 4 15|6 100 200 5 14");
	/* Something else in between: a run. */
	ask(rig, moving(req_occ(6, 1, 1, 300), 400, 300));
	CHECK_RES(rig, moving(req_range(6, 1, 400, 500), 600, 500), ST_OK);
	EXPECT(rig, "range", "5 100 200 5 14|5 300 400 5 15|5 500 600 4 15|6 100 200 5 14|6 400 500 5 14");
}

ON_EACH(range_of_several_the_last_is_prolonged)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_range(5, 1, 100, 200));
	ask(rig, req_range(5, 1, 50, 200));
	ask(rig, req_range(5, 1, 20, 200));
	ask(rig, moving(req_occ(5, 1, 1, 200), 300, 200));
	CHECK_RES(rig, moving(req_range(5, 1, 300, 400), 500, 400), ST_OK);
	EXPECT(rig, "range", "5 100 400 5 14|5 20 200 5 14|5 50 200 5 14");
}

ON_EACH(range_that_is_open_stands_alone)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, moving(req_range(5, 1, 100, 200), 300, 200));
	/* An open one prolongs nothing. */
	CHECK_RES(rig, moving(req_range(5, 1, 300, INT64_MAX), INT64_MAX, 250), ST_OK);
	EXPECT(rig, "range", "5 100 200 5 14|5 300 9223372036854775807 5 14");
	CHECK_IN_VAIN(rig, req_range(5, 1, 400, INT64_MAX), ST_OK); /* covered */
	CHECK_IN_VAIN(rig, req_range(5, 1, 350, 360), ST_OK);
	CHECK_IN_VAIN(rig, req_range(5, 1, 299, INT64_MAX), ST_REFUSED); /* a second one */
	struct st_req r = req_range(5, 1, 400, INT64_MAX);
	r.range.reason = 15;
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
	r.rev = 2;
	CHECK_IN_VAIN(rig, r, ST_STALE); /* rev first */
	r = req_range(5, 1, 400, 500);
	r.range.reason = 15;
	CHECK_RES(rig, r, ST_OK); /* one with an end is no second open one */
	EXPECT(rig, "range", "5 100 200 5 14|5 300 9223372036854775807 5 14|5 400 500 5 15");
}

ON_EACH(range_open_is_not_prolonged_when_high_is_never)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.high = WALL_NEVER;
	ask(rig, p);
	ask(rig, req_range(5, 1, 100, INT64_MAX));
	struct st_req r = req_range(5, 1, 50, 60);
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "range", "5 100 9223372036854775807 5 14|5 50 60 5 14");
}

ON_EACH(range_refuses_what_cannot_be)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = req_range(5, 1, 101, 100);
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
	for (unsigned state = 0; state <= RUN_STATES; state++) {
		r = req_range(5, 1, 100 + state, 100 + state);
		r.range.state = (uint8_t)state;
		bool idle = state == RUN_SKIPPED || state == RUN_MISSED;
		CHECK_RES(rig, r, idle ? ST_OK : ST_REFUSED);
	}
	r = req_range(5, 1, 500, 600);
	r.range.sid = 6;
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
}

/* --- WITHDRAW --- */

ON_EACH(withdraw_takes_back_what_did_not_run)
{
	CHECK_RES(rig, req_withdraw(5, 1, 100, 1), ST_REFUSED);
	struct st_req p = req_put(5, 0, 10);
	p.row.pruned_to = AT(30);
	ask(rig, p);
	ask(rig, req_put(6, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned late = 0; late < 2; late++) {
			int64_t nominal = late ? 101 + (int64_t)state : 100 - (int64_t)state;
			struct st_req r = req_occ(5, 1, 10 + 2 * state + late, nominal);
			r.run.state = (uint8_t)state;
			ask(rig, r);
		}
	struct st_req m = req_occ(5, 1, 40, 150);
	m.run.kind = KIND_MANUAL;
	m.run.state = RUN_SKIPPED;
	ask(rig, m);
	m.run.run = 41;
	m.run.nominal = AT(100);
	ask(rig, m);
	m = req_occ(6, 1, 50, 150);
	m.run.state = RUN_MISSED;
	ask(rig, m);
	ask(rig, req_range(5, 1, 60, 100));
	ask(rig, req_range(5, 1, 61, 101));
	ask(rig, req_range(5, 1, 101, 150));
	ask(rig, req_range(5, 1, 62, INT64_MAX));
	ask(rig, req_range(6, 1, 60, 150));
	ask(rig, moving(req_occ(5, 1, 60, 400), 500, 400));

	CHECK_IN_VAIN(rig, req_withdraw(5, 2, 100, 120), ST_STALE);
	struct st_ack ack = ask(rig, req_withdraw(5, 1, 100, 120));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row);
	CHECK_INT(ack.row.high.us, 30);
	CHECK_INT(ack.row.next.us, 120);
	CHECK_INT(ack.row.rev, 1);
	EXPECT(rig, "range", "5 60 100 5 14|5 61 100 5 14|5 62 9223372036854775807 5 14|6 60 150 5 14");
	struct buf all = { 0 };
	rig_dump(rig, &all);
	/* Among those that stay are manual runs: they were asked for, and do not become due again. */
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
	/* What went may be recorded anew. */
	CHECK_RES(rig, moving(req_occ(5, 1, 61, 105), 500, 105), ST_OK);
}

/* What is paused stays so, and from the time on that comes next. */
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
		struct rig fresh;
		rig_open(&fresh, rig->kind);
		ask(&fresh, req_put(5, 0, 10));
		ask(&fresh, req_range(5, 1, rows[i].first, INT64_MAX));
		CHECK_RES(&fresh, req_withdraw(5, 1, 100, rows[i].next), ST_OK);
		expect_at(rows[i].line, &fresh, "range", rows[i].want);
		rig_close(&fresh);
	}
}

/* Those of a time when it had a rule come again, if it has one again; what came of an end does not. */
ON_EACH(withdraw_leaves_what_came_of_ends)
{
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.pruned_to = AT(30);
	p.row.changed = AT(200);
	ask(rig, p);
	struct st_req r = moving(req_occ(6, 1, 1, 150), INT64_MAX, 150);
	r.run.state = RUN_SKIPPED;
	r.run.kind = KIND_AFTER;
	r.move.seen = 3;
	ask(rig, r);
	struct st_req caught = moving(req_occ(6, 1, 2, 151), INT64_MAX, 151), timer = req_occ(6, 1, 3, 152);
	caught.run.state = timer.run.state = RUN_SKIPPED;
	caught.run.kind = KIND_CATCH_UP;
	caught.move.seen = 4;
	ask(rig, caught);
	ask(rig, timer);
	ask(rig, req_range(6, 1, 90, 160));
	CHECK_IN_VAIN(rig, req_withdraw(6, 2, 100, 120), ST_STALE);
	struct sched_row row = ask(rig, req_withdraw(6, 1, 100, 120)).row;
	CHECK_INT(row.seen, 4);
	CHECK_INT(row.high.us, 30);
	CHECK_INT(row.next.us, 120);
	CHECK_INT(row.changed.us, 100);
	EXPECT(rig, "run",
	       "1 6 1 0 0 2 4 0 0 0 150 151 152 0 0 0 0 -1 0 0 0 0 -1|"
	       "2 6 1 0 0 1 4 0 0 0 151 152 153 0 0 0 0 -1 0 0 0 0 -1");
	EXPECT(rig, "range", "6 90 100 5 14");
}

/* What was changed by a clock that was ahead must not be silent until then. */
ON_EACH(withdraw_takes_changed_back)
{
	ask(rig, req_put(5, 0, 50));
	CHECK_INT(ask(rig, req_withdraw(5, 1, 60, 100)).row.changed.us, 50);
	CHECK_INT(ask(rig, req_withdraw(5, 1, 50, 100)).row.changed.us, 50);
	CHECK_INT(ask(rig, req_withdraw(5, 1, 40, 100)).row.changed.us, 40);
	CHECK_INT(ask(rig, req_withdraw(5, 1, 45, 100)).row.changed.us, 40);
}

ON_EACH(withdraw_forgets_no_number)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 900, 100);
	r.run.state = RUN_MISSED;
	ask(rig, r);
	ask(rig, req_withdraw(5, 1, 50, 100));
	EXPECT(rig, "run", "");
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(strstr(load.p, "done 900 5 0\n"));
	buf_free(&load);
}

/* --- VERDICT --- */

ON_EACH(verdict_settles_what_is_pending)
{
	CHECK_RES(rig, req_verdict(5, 1, RUN_CLAIMED, 0), ST_REFUSED); /* no such run */
	ask(rig, req_put(5, 0, 10));
	uint64_t run = 1;
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned to = 0; to <= RUN_STATES; to++, run++) {
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			r.run.reason = 3;
			ask(rig, r);
			bool legal = to == RUN_CLAIMED || to == RUN_SKIPPED || to == RUN_MISSED;
			struct st_ack ack = ask(rig, req_verdict(5, run, to, 3));
			bool open = state == RUN_PENDING || state == RUN_CLAIMED;
			CHECK_INT(ack.res, !legal ? ST_REFUSED : open || state == to ? ST_OK : ST_LOST);
			CHECK(ack.has_row && ack.row.sid == 5 && ack.run == run);
			if (to == RUN_SKIPPED && ack.res == ST_OK) /* another reason is another verdict */
				CHECK_IN_VAIN(rig, req_verdict(5, run, to, 4), ST_LOST);
		}
}

/* What is claimed may be taken back, until its first attempt. */
ON_EACH(verdict_may_follow_a_claim)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	CHECK_RES(rig, req_verdict(5, 7, RUN_CLAIMED, 3), ST_OK);
	CHECK_RES(rig, req_verdict(5, 7, RUN_MISSED, 4), ST_OK);
	EXPECT(rig, "run", "7 5 1 0 4 0 5 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1");
	ask(rig, req_occ(5, 1, 8, 101));
	ask(rig, req_started(5, 8, 1, 110));
	CHECK_IN_VAIN(rig, req_verdict(5, 8, RUN_MISSED, 4), ST_LOST);
	CHECK_IN_VAIN(rig, req_verdict(5, 8, RUN_CLAIMED, 0), ST_OK);
}

ON_EACH(verdict_changes_state_and_reason_only)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 7, 100);
	r.run.state = RUN_PENDING;
	r.run.attempt = 2;
	ask(rig, r);
	struct st_req v = req_verdict(5, 7, RUN_SKIPPED, 9);
	v.run.attempt = 55;
	v.run.nominal = AT(66);
	v.rev = 77; /* not judged */
	ask(rig, v);
	EXPECT(rig, "run", "7 5 1 2 9 0 4 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1");
}

/* --- STARTED --- */

ON_EACH(started_is_advisory)
{
	CHECK_RES(rig, req_started(5, 7, 1, 110), ST_REFUSED);
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	struct st_ack ack = ask(rig, req_started(5, 7, 1, 110));
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.run == 7);
	EXPECT(rig, "run", "7 5 1 1 0 0 1 0 0 0 100 101 102 110 0 0 0 -1 0 0 0 0 -1");
	CHECK_RES(rig, req_started(5, 7, 1, 111), ST_OK);
	CHECK_RES(rig, req_started(5, 7, 2, 120), ST_OK);
	EXPECT(rig, "run", "7 5 1 2 0 0 1 0 0 0 100 101 102 120 0 0 0 -1 0 0 0 0 -1");
	CHECK_IN_VAIN(rig, req_started(5, 7, 1, 110), ST_OK); /* late, and overtaken */
	/* What waited for its retry runs again. */
	ask(rig, req_finish(5, 7, 2, RUN_RETRYING, 140));
	CHECK_IN_VAIN(rig, req_started(5, 7, 1, 110), ST_OK);
	CHECK_RES(rig, req_started(5, 7, 3, 150), ST_OK);
	EXPECT(rig, "run", "7 5 1 3 0 0 1 1 0 0 100 101 102 150 140 0 0 5 6 7 0 0 8");
	ask(rig, req_finish(5, 7, 3, RUN_FINISHED, 160));
	CHECK_IN_VAIN(rig, req_started(5, 7, 3, 151), ST_OK); /* what is over starts no more */
	CHECK_IN_VAIN(rig, req_started(5, 7, 4, 170), ST_OK);
}

ON_EACH(started_by_state)
{
	ask(rig, req_put(5, 0, 10));
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned attempt = 0; attempt < 4; attempt++) {
			uint64_t run = 1 + 4 * state + attempt;
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			r.run.attempt = 2;
			ask(rig, r);
			struct st_req started = req_started(5, run, attempt, 7);
			if (attempt >= 2 && (state == RUN_CLAIMED || state == RUN_RETRYING)) {
				CHECK_RES(rig, started, ST_OK);
				CHECK_IN_VAIN(rig, req_verdict(5, run, RUN_CLAIMED, 0),
					      ST_OK); /* that it is */
			} else {
				CHECK_IN_VAIN(rig, started, ST_OK);
			}
		}
}

/* --- FINISH --- */

ON_EACH(finish_records_the_end)
{
	CHECK_RES(rig, req_finish(5, 7, 1, RUN_FINISHED, 110), ST_REFUSED);
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	struct st_req r = req_finish(5, 7, 1, RUN_RETRYING, 110);
	r.run.outcome = 2;
	r.run.reason = 25;
	r.run.retry_at = AT(170);
	r.failures = 99; /* not while it is retrying */
	r.rev = 55;      /* not judged */
	struct st_ack ack = ask(rig, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK(ack.has_row && ack.row.failures == 0 && ack.run == 7);
	EXPECT(rig, "run", "7 5 1 1 25 0 2 2 0 0 100 101 102 0 110 170 0 5 6 7 0 0 8");
	ask(rig, req_started(5, 7, 2, 171));
	r = req_finish(5, 7, 2, RUN_FINISHED, 180);
	r.failures = 4;
	ack = ask(rig, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.failures, 4);
	EXPECT(rig, "run", "7 5 1 2 0 0 3 1 0 0 100 101 102 171 180 0 0 5 6 7 0 1 8");
	/* The first durable end stands. */
	r.failures = 5;
	CHECK_IN_VAIN(rig, r, ST_OK); /* the same end: mine, and the count is not judged */
	struct st_req other = r;
	other.run.ended = AT(181);
	CHECK_IN_VAIN(rig, other, ST_LOST);
	other = r;
	other.run.cost = 6;
	CHECK_IN_VAIN(rig, other, ST_LOST);
	other = r;
	other.run.exit_code = 9;
	CHECK_IN_VAIN(rig, other, ST_LOST);
	other = r;
	other.run.attempt = 3;
	CHECK_IN_VAIN(rig, other, ST_LOST);
	other = r;
	other.run.state = RUN_RETRYING;
	CHECK_IN_VAIN(rig, other, ST_LOST);
}

ON_EACH(finish_of_an_earlier_attempt_is_lost)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	ask(rig, req_started(5, 7, 2, 110));
	CHECK_IN_VAIN(rig, req_finish(5, 7, 1, RUN_FINISHED, 120), ST_LOST);
	CHECK_RES(rig, req_finish(5, 7, 2, RUN_FINISHED, 120), ST_OK);
}

ON_EACH(finish_may_end_the_waiting_for_a_retry)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	ask(rig, req_finish(5, 7, 1, RUN_RETRYING, 110));
	struct st_req cancelled = req_finish(5, 7, 1, RUN_FINISHED, 120);
	cancelled.failures = 1;
	CHECK_INT(ask(rig, cancelled).row.failures, 1);
	CHECK_IN_VAIN(rig, req_finish(5, 7, 1, RUN_RETRYING, 110), ST_LOST);
}

/* By whichever request, of whichever schedule, removed or not: one number after the other. */
ON_EACH(ends_are_numbered)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	for (uint64_t run = 1; run <= 4; run++)
		ask(rig, req_occ(run % 2 ? 5 : 6, 1, run, 100 + (int64_t)run));
	struct st_req third = req_finish(5, 3, 1, RUN_FINISHED, 300);
	CHECK_INT(ask(rig, third).end, 1);
	struct st_ack ack = ask(rig, req_finish(6, 2, 1, RUN_RETRYING, 200));
	CHECK(ack.res == ST_OK && ack.end == 0); /* not over yet */
	CHECK_INT(end_one(rig, 6, 5, 500), 2);
	CHECK_INT(ask(rig, req_finish(6, 2, 1, RUN_FINISHED, 100)).end, 3); /* and ended before the first */
	rig_reopen(rig);
	ask(rig, req_drop(5, 1, 400));
	CHECK_INT(ask(rig, req_finish(5, 1, 1, RUN_FINISHED, 400)).end, 4);

	/* A backfill that is over when it takes a record over is an end like any other. */
	struct st_req missed = req_occ(6, 1, 6, 600), again = req_occ(6, 1, 7, 600);
	missed.run.state = RUN_MISSED;
	CHECK_INT(ask(rig, missed).end, 0);
	again.run.kind = KIND_BACKFILL;
	again.run.state = RUN_FINISHED;
	CHECK_INT(ask(rig, again).end, 5);

	/* What does not come about takes no number. */
	again.run.run = 8;
	ack = ask_in_vain(rig, again);
	CHECK(ack.res == ST_LOST && ack.end == 0 && ack.existing.end == 5);
	again.rev = 9;
	ack = ask_in_vain(rig, again);
	CHECK(ack.res == ST_STALE && ack.end == 0);
	third.run.ended = AT(301);
	ack = ask_in_vain(rig, third);
	CHECK(ack.res == ST_LOST && ack.end == 0);
	third.run.ended = AT(300);
	CHECK_INT(ask_in_vain(rig, third).end, 1); /* mine, long ago */
	/* The record of a claim is no end, though its run is over by now. */
	CHECK_INT(ask_in_vain(rig, req_occ(5, 1, 3, 103)).end, 0);
	CHECK_INT(ask(rig, req_finish(6, 4, 1, RUN_FINISHED, 400)).end, 6);
}

ON_EACH(occ_that_is_an_end_leaves_failures)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.failures = 3;
	ask(rig, p);
	struct st_req r = moving(req_occ(5, 1, 1, 100), 200, 100);
	r.run.state = RUN_FINISHED;
	r.failures = 9;
	CHECK_INT(ask(rig, r).row.failures, 3);
}

ON_EACH(finish_takes_over_what_does_not_count)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	struct st_req r = req_finish(5, 7, 1, RUN_RETRYING, 110);
	r.run.uncounted = 1;
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "run", "7 5 1 1 0 0 2 1 0 0 100 101 102 0 110 0 0 5 6 7 1 0 8");
	ask(rig, req_started(5, 7, 2, 120));
	r = req_finish(5, 7, 2, RUN_FINISHED, 130);
	r.run.uncounted = 65535;
	r.run.end = 77; /* not his to say */
	CHECK_RES(rig, r, ST_OK);
	EXPECT(rig, "run", "7 5 1 2 0 0 3 1 0 0 100 101 102 120 130 0 0 5 6 7 65535 1 8");
	r.run.uncounted = 2;
	CHECK_IN_VAIN(rig, r, ST_LOST); /* another end */
}

ON_EACH(finish_by_state)
{
	ask(rig, req_put(5, 0, 10));
	uint64_t run = 1;
	for (unsigned state = 0; state < RUN_STATES; state++)
		for (unsigned to = 0; to <= RUN_STATES; to++, run++) {
			struct st_req r = req_occ(5, 1, run, 100 + (int64_t)run);
			r.run.state = (uint8_t)state;
			ask(rig, r);
			bool legal = to == RUN_FINISHED || to == RUN_RETRYING;
			CHECK_RES(rig, req_finish(5, run, 1, to, 200),
				  !legal                 ? ST_REFUSED
				  : state < RUN_FINISHED ? ST_OK
							 : ST_LOST);
		}
}

/* --- HOLD --- */

ON_EACH(hold_comes_and_goes)
{
	struct st_ack ack = ask(rig, req_hold(3, 22, 500));
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);
	ask(rig, req_hold(1, 25, INT64_MAX));
	ask(rig, req_hold(UINT32_MAX, 1, 0));
	ask(rig, req_hold(3, 23, 501));
	EXPECT(rig, "hold", "1 25 9223372036854775807|3 23 501|4294967295 1 0");
	CHECK_RES(rig, req_hold(3, 0, 0), ST_OK);
	CHECK_IN_VAIN(rig, req_hold(2, 0, 0), ST_OK); /* there was none */
	EXPECT(rig, "hold", "1 25 9223372036854775807|4294967295 1 0");
}

ON_EACH(a_note_stays_until_another_is_said)
{
	struct st_req r = req_put(5, 0, 10), h = req_hold(0, 1, 500);
	r.note = STR("deploy");
	ask(rig, r);
	h.note = STR("all");
	ask(rig, h);
	EXPECT(rig, "note", "'hold' 0 'all'|'schedule' 5 'deploy'");
	ask(rig, req_put(5, 1, 11));
	ask(rig, req_hold(0, 1, 600));
	EXPECT(rig, "note", "'hold' 0 'all'|'schedule' 5 'deploy'");
	r = req_put(5, 2, 12);
	r.note = STR("it's over");
	ask(rig, r);
	h.note = STR("");
	ask(rig, h);
	EXPECT(rig, "note", "'schedule' 5 'it's over'");
	r.note = STR("stale");
	r.at = AT(99);
	CHECK_IN_VAIN(rig, r, ST_STALE);
	r = req_put(5, 3, 13);
	r.note = STR("");
	ask(rig, r);
	EXPECT(rig, "note", "");
	h.note = STR("again");
	ask(rig, h);
	ask(rig, req_hold(0, 0, 0)); /* goes with the hold */
	ask(rig, req_hold(0, 1, 700));
	EXPECT(rig, "note", "");
}

/* --- PROBLEM --- */

#define NEVER_S "9223372036854775807"

static struct st_req said(const char *key, int64_t at, const char *subject, const char *text)
{
	struct st_req r = req_problem(PROBLEM_OPEN, 0, key, at);
	r.problem.subject = str_of(subject);
	if (text)
		r.problem.text = str_of(text);
	return r;
}

static void expect_problem_at(int line, struct st_ack ack, enum st_res res, uint64_t number, uint32_t count)
{
	CHECK_INT_AT(line, ack.res, res);
	CHECK_INT_AT(line, ack.problem, number);
	CHECK_INT_AT(line, ack.count, count);
	CHECK_AT(line, !ack.has_row);
}
#define EXPECT_PROBLEM(ack, res, number, count) expect_problem_at(__LINE__, ack, res, number, count)

ON_EACH(problem_is_one_per_cause)
{
	EXPECT_PROBLEM(ask(rig, said("a", 10, "x", "one")), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask(rig, said("b", 10, "y", NULL)), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask(rig, said("a", 20, "z", "two")), ST_OK, 1, 2);
	EXPECT_PROBLEM(ask(rig, said("a", 15, "z", NULL)), ST_OK, 1, 3); /* the clock may go back */
	EXPECT(rig, "problem",
	       "1 3 10 15 " NEVER_S " " NEVER_S " 'a' 'x' 'two' NULL NULL|2 1 10 10 " NEVER_S " " NEVER_S
	       " 'b' 'y' NULL NULL NULL");
	EXPECT_PROBLEM(ask_in_vain(rig, said("b", 10, "other", "words")), ST_OK, 2, 1); /* mine */
	rig_reopen(rig);
	EXPECT_PROBLEM(ask_in_vain(rig, said("b", 10, "y", NULL)), ST_OK, 2, 1);
}

ON_EACH(problem_is_taken_once)
{
	ask(rig, said("a", 10, "x", "one"));
	struct st_req r = req_problem(PROBLEM_ACK, 1, NULL, 20);
	r.problem.by = STR("ann");
	r.problem.note = STR("looking");
	EXPECT_PROBLEM(ask(rig, r), ST_OK, 1, 1);
	EXPECT(rig, "problem", "1 1 10 10 20 " NEVER_S " 'a' 'x' 'one' 'ann' 'looking'");
	r.at = AT(21);
	r.problem.by = STR("bob");
	EXPECT_PROBLEM(ask_in_vain(rig, r), ST_LOST, 1, 1);
	/* It stays taken however often it is said, and is still mine when it is over. */
	EXPECT_PROBLEM(ask(rig, said("a", 30, "x", "again")), ST_OK, 1, 2);
	EXPECT_PROBLEM(ask(rig, req_problem(PROBLEM_CLOSE, 0, "a", 40)), ST_OK, 1, 2);
	EXPECT(rig, "problem", "1 2 10 30 20 40 'a' 'x' 'again' 'ann' 'looking'");
	r.at = AT(20);
	EXPECT_PROBLEM(ask_in_vain(rig, r), ST_OK, 1, 2);
	/* What is over is not taken. By key, and without a note, is fine. */
	ask(rig, said("b", 10, "x", NULL));
	EXPECT_PROBLEM(ask(rig, req_problem(PROBLEM_CLOSE, 2, NULL, 20)), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask_in_vain(rig, req_problem(PROBLEM_ACK, 2, NULL, 30)), ST_LOST, 2, 1);
	ask(rig, said("c", 10, "x", NULL));
	EXPECT_PROBLEM(ask(rig, req_problem(PROBLEM_ACK, 0, "c", 30)), ST_OK, 3, 1);
}

ON_EACH(problem_numbers_are_never_given_again)
{
	ask(rig, said("a", 10, "x", "one"));
	EXPECT_PROBLEM(ask(rig, req_problem(PROBLEM_CLOSE, 0, "a", 20)), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask_in_vain(rig, req_problem(PROBLEM_CLOSE, 0, "a", 21)), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask_in_vain(rig, said("a", 10, "x", "one")), ST_OK, 1, 1); /* mine, long ago */
	rig_reopen(rig);
	EXPECT_PROBLEM(ask(rig, said("a", 30, "x", "anew")), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask_in_vain(rig, req_problem(PROBLEM_CLOSE, 1, NULL, 40)), ST_OK, 1, 1);
	EXPECT(rig, "problem",
	       "1 1 10 10 " NEVER_S " 20 'a' 'x' 'one' NULL NULL|2 1 30 30 " NEVER_S " " NEVER_S
	       " 'a' 'x' 'anew' NULL NULL");
	/* Only open ones are loaded, with all they have. */
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK_STR(load.p, "problem 2 1 30 30 " NEVER_S " " NEVER_S " 'a' 'x' 'anew' NULL NULL\ndone 0 0 0\n");
	buf_free(&load);
}

ON_EACH(problem_refuses_what_cannot_be)
{
	static char large[STORE_PROBLEM_BYTES_MAX + 1];
	memset(large, 'x', sizeof large);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_ACK, 1, NULL, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_CLOSE, 0, "a", 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_OPEN, 0, NULL, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_OPEN, 1, "", 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_OPEN, 0, "a", INT64_MAX), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_ACTS, 0, "a", 10), ST_REFUSED);
	struct st_req r = req_problem(PROBLEM_OPEN, 0, "a", 10);
	r.problem.text = (struct str){ large, sizeof large };
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
	r.problem.text.n--;
	CHECK_RES(rig, r, ST_OK);
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_ACK, 2, NULL, 10), ST_REFUSED);
	r = req_problem(PROBLEM_ACK, 1, NULL, 10);
	r.problem.note = (struct str){ large, sizeof large };
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
}

/* --- load --- */

/* The first words of each line: "hold 1|sched 5|run 3|for 6 end 2|done 9 7". */
static void expect_load_at(int line, struct rig *rig, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	dump_load(rig->ops, rig->store, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row)) {
		struct str kind = str_token(&row);
		unsigned words = str_eq(kind, STR("for")) ? 3 : str_eq(kind, STR("done")) ? 2 : 1;
		buf_addf(&got, "%s%.*s", got.n ? "|" : "", STR_ARG(kind));
		for (unsigned i = 0; i < words; i++) {
			struct str word = str_token(&row);
			buf_addf(&got, " %.*s", STR_ARG(word));
		}
	}
	check_str(__FILE__, line, buf_str(&got), str_of(want), "load");
	buf_free(&all);
	buf_free(&got);
}
#define EXPECT_LOAD(rig, want) expect_load_at(__LINE__, rig, want)

ON_EACH(load_of_nothing)
{
	EXPECT_LOAD(rig, "done 0 0");
}

ON_EACH(load_is_in_order)
{
	static const uint64_t sids[] = { 9, 2, 300, 7 };
	for (unsigned i = 0; i < ARRAY_LEN(sids); i++)
		ask(rig, req_put(sids[i], 0, 10));
	ask(rig, req_put(400, 0, 10));
	ask(rig, req_drop(400, 1, 11));
	ask(rig, req_hold(8, 1, 1));
	ask(rig, req_hold(4, 1, 1));
	static const uint64_t runs[] = { 1000, 20, 500, 30, 40, 50 };
	static_assert(ARRAY_LEN(runs) == RUN_STATES, "one of each state");
	for (unsigned i = 0; i < ARRAY_LEN(runs); i++) {
		struct st_req r = req_occ(9, 1, runs[i], 100 + (int)i);
		r.run.state = (uint8_t)i;
		ask(rig, r);
	}
	EXPECT_LOAD(rig,
		    "hold 4|hold 8|sched 2|sched 7|sched 9|sched 300|run 20|run 500|run 1000|done 1000 400");
}

ON_EACH(load_gives_rows_in_full)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.after = 4;
	p.row.paused_until = AT(44);
	struct st_ack put = ask(rig, p);
	ask(rig, req_occ(5, 1, 7, 100));
	struct buf got = { 0 }, want = { 0 };
	dump_load(rig->ops, rig->store, &got);
	dump_ack(&put, &want);
	CHECK(strstr(got.p, strstr(want.p, "row") + 3)); /* the answer's row is the loaded row */
	CHECK(strstr(got.p, "\nrun 7 5 1 0 0 0 1 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1\n"));
	buf_free(&got);
	buf_free(&want);
}

ON_EACH(load_tells_of_open_ranges)
{
	for (uint64_t sid = 4; sid <= 6; sid++)
		ask(rig, req_put(sid, 0, 10));
	ask(rig, req_range(5, 1, 20, INT64_MAX));
	ask(rig, req_range(6, 1, 20, 30));
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	struct str rest = buf_str(&load), row;
	for (uint64_t sid = 4; sid <= 6 && CHECK(str_line(&rest, &row)); sid++)
		CHECK_INT(str_eq(str_from(row, row.n - 5), STR(" open")), sid == 5);
	buf_free(&load);
}

/* 5 is followed by 6 and 3, and by 2, which is gone; 8 follows 7, which is gone; 9 follows nothing that ever
 * ran. The ends are told in the order in which they came, which is neither that of the runs nor of the clock.
 */
ON_EACH(load_tells_followers_of_ends)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(7, 0, 10));
	static const struct {
		uint64_t run, sid;
		unsigned state;
		int64_t ended;
	} runs[] = { { 3, 5, RUN_FINISHED, 300 }, { 1, 5, RUN_FINISHED, 201 }, { 2, 5, RUN_FINISHED, 200 },
		     { 4, 5, RUN_RETRYING, 900 }, { 5, 7, RUN_FINISHED, 100 }, { 6, 5, RUN_FINISHED, 201 } };
	static const struct {
		uint64_t sid, after;
		uint64_t seen;
	} followers[] = { { 6, 5, 1 }, { 3, 5, 0 }, { 8, 7, 0 }, { 9, 77, 0 }, { 2, 5, 0 } };
	for (unsigned i = 0; i < ARRAY_LEN(followers); i++) {
		struct st_req p = req_put(followers[i].sid, 0, 10);
		p.row.after = followers[i].after;
		p.row.seen = followers[i].seen;
		p.row.high = AT(250); /* of no account */
		ask(rig, p);
	}
	for (unsigned i = 0; i < ARRAY_LEN(runs); i++) {
		struct st_req r = req_occ(runs[i].sid, 1, runs[i].run, 1000 + (int)i);
		r.run.kind = i == 0 ? KIND_MANUAL : KIND_TIMER;
		ask(rig, r);
		ask(rig, req_finish(runs[i].sid, runs[i].run, 1, runs[i].state, runs[i].ended));
	}
	/* A removed follower that is told of for the sake of its own run: not of ends. */
	ask(rig, req_occ(2, 1, 7, 100));
	ask(rig, req_drop(7, 1, 20));
	ask(rig, req_drop(2, 1, 20));
	EXPECT_LOAD(rig, "sched 2|sched 3|sched 5|sched 6|sched 8|sched 9|run 4|run 7"
			 "|for 3 end 3|for 3 end 1|for 3 end 2|for 3 end 6"
			 "|for 6 end 1|for 6 end 2|for 6 end 6|for 8 end 5|done 7 9");
	/* Acted on: the follower's own record, in whose transaction seen moves. */
	struct st_req a = moving(req_occ(6, 1, 10, 200), INT64_MAX, 200);
	a.run.kind = KIND_AFTER;
	a.move.seen = 3; /* run 2's */
	ask(rig, a);
	EXPECT_LOAD(rig, "sched 2|sched 3|sched 5|sched 6|sched 8|sched 9|run 4|run 7|run 10"
			 "|for 3 end 3|for 3 end 1|for 3 end 2|for 3 end 6"
			 "|for 6 end 6|for 8 end 5|done 10 9");
	struct buf load = { 0 }; /* with its number */
	dump_load(rig->ops, rig->store, &load);
	CHECK(strstr(load.p, "done 10 9 5\n"));
	CHECK(strstr(load.p, "for 6 end 6 5 1 1 0 0 3 1 0 0 1005 1006 1007 0 201 0 0 5 6 7 0 5 8\n"));
	buf_free(&load);
}

/* --- names --- */

static struct st_req req_name(unsigned kind, uint32_t number, const char *text)
{
	return (struct st_req){ .op = ST_NAME,
				.lane = LANE_USER,
				.name = { (uint8_t)kind, number, text ? str_of(text) : (struct str){ 0 } } };
}

ON_EACH(names_are_kept_and_told_first)
{
	CHECK_INT(ask(rig, req_name(1, 7, "Europe/Berlin")).res, ST_OK);
	CHECK_INT(ask(rig, req_name(0, 9, "")).res, ST_OK);
	CHECK_INT(ask(rig, req_name(1, 2, "UTC")).res, ST_OK);
	CHECK_INT(ask(rig, req_name(1, 7, "Europe/Berlin")).res, ST_OK); /* mine */
	CHECK_INT(ask(rig, req_name(1, 7, "Europe/Paris")).res, ST_LOST);
	CHECK_INT(ask(rig, req_name(1, 8, NULL)).res, ST_REFUSED);
	ask(rig, req_hold(1, 1, 1));
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(load.p && !strncmp(load.p, "name 0 9 \nname 1 2 UTC\nname 1 7 Europe/Berlin\nhold", 50));
	buf_free(&load);
}

/* --- sources --- */

static struct st_req req_source(uint64_t sid, struct str from, uint32_t line)
{
	return (struct st_req){ .op = ST_SOURCE, .lane = LANE_USER, .sid = sid, .source = { from, line } };
}

ON_EACH(a_source_is_kept_beside_the_row)
{
	struct st_req p = req_put(5, 0, 10);
	p.id = STR("a");
	p.document = STR("b");
	p.source = (struct source_row){ STR("/ops/a.yaml"), 3 };
	ask(rig, p);
	expect_text(__LINE__, rig, " 'a' 'b' '/ops/a.yaml' 3");
	ask(rig, req_put(5, 1, 20)); /* says nothing of it */
	expect_text(__LINE__, rig, " 'a' 'b' '/ops/a.yaml' 3");
	struct st_ack ack = ask(rig, req_source(5, STR("/ops/b.yaml"), 9));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.rev, 2);
	expect_text(__LINE__, rig, " 'a' 'b' '/ops/b.yaml' 9");
	CHECK_INT(ask(rig, req_source(5, STR(""), 0)).res, ST_OK);
	expect_text(__LINE__, rig, " 'a' 'b' '' 0");
	CHECK_INT(ask(rig, req_source(5, (struct str){ 0 }, 0)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_source(6, STR("/x"), 1)).res, ST_REFUSED);
	ask(rig, req_drop(5, 2, 30));
	CHECK_INT(ask(rig, req_source(5, STR("/x"), 1)).res, ST_REFUSED);
}

/* --- what agents know --- */

static struct st_req req_state(const char *key, const char *text, uint32_t rev, int64_t at)
{
	return (struct st_req){ .op = ST_STATE,
				.lane = LANE_USER,
				.at = AT(at),
				.state = { str_of(key), text ? str_of(text) : (struct str){ 0 }, rev } };
}

ON_EACH(a_state_has_a_rev_to_swap_by)
{
	struct st_ack ack = ask(rig, req_state("desk", "{}", 1, 10));
	CHECK_INT(ack.res, ST_STALE); /* there is none */
	CHECK_INT(ack.count, 0);
	ack = ask(rig, req_state("desk", "{}", 0, 11));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK_INT(ask(rig, req_state("desk", "{}", 0, 11)).res, ST_OK); /* mine */
	CHECK_INT(ask(rig, req_state("desk", "{}", 0, 12)).res, ST_STALE);
	CHECK_INT(ask(rig, req_state("", "{\"name\":1}", 0, 13)).res, ST_OK); /* another's */
	ack = ask(rig, req_state("desk", "{\"a\":1}", 1, 14));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 2);
	ack = ask(rig, req_state("desk", "{\"b\":1}", 1, 15));
	CHECK_INT(ack.res, ST_STALE);
	CHECK_INT(ack.count, 2);
	CHECK(!ack.has_row);
	CHECK_INT(ask(rig, req_state("desk", NULL, 2, 16)).res, ST_REFUSED);
	EXPECT(rig, "state", "1 13 '' '{\"name\":1}'|2 14 'desk' '{\"a\":1}'");
}

/* --- notes --- */

static struct st_req req_memory(enum memory_act act, uint64_t run, const char *text, int64_t at)
{
	return (struct st_req){ .op = ST_MEMORY,
				.lane = LANE_USER,
				.at = AT(at),
				.memory = { .act = (uint8_t)act,
					    .run = run,
					    .agent = STR("desk"),
					    .text = text ? str_of(text) : (struct str){ 0 } } };
}

ON_EACH(notes_are_numbered_and_there_once)
{
	struct st_req one = req_memory(MEMORY_ADD, 7, "a", 10);
	one.memory.tags = STR("x y");
	struct st_ack ack = ask(rig, one);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.note, 1);
	CHECK(!ack.has_row);
	CHECK_INT(ask(rig, one).note, 1); /* mine */
	/* Others: another text, time, run, agent. */
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "b", 10)).note, 2);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "a", 11)).note, 3);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 0, "a", 10)).note, 4);
	struct st_req other = req_memory(MEMORY_ADD, 7, "a", 10);
	other.memory.agent = STR("night");
	CHECK_INT(ask(rig, other).note, 5);
	EXPECT(rig, "memory",
	       "1 7 10 'desk' 'a' 'x y'|2 7 10 'desk' 'b' ''|3 7 11 'desk' 'a' ''|4 0 10 'desk' 'a' ''|5 7 "
	       "10 'night' 'a' ''");
}

ON_EACH(a_number_is_never_given_again)
{
	ask(rig, req_memory(MEMORY_ADD, 7, "a", 10));
	struct st_req gone = req_memory(MEMORY_REMOVE, 0, NULL, 11);
	gone.memory.number = 1;
	CHECK_INT(ask(rig, gone).res, ST_OK);
	CHECK_INT(ask(rig, gone).res, ST_OK); /* gone is gone */
	rig_reopen(rig);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "b", 12)).note, 2);
	gone.memory.number = 2;
	gone.memory.agent = STR("night"); /* not its own */
	CHECK_INT(ask(rig, gone).res, ST_OK);
	EXPECT(rig, "memory", "2 7 12 'desk' 'b' ''");
	gone.memory.agent = (struct str){ 0 };
	CHECK_INT(ask(rig, gone).res, ST_OK);
	EXPECT(rig, "memory", "");
}

ON_EACH(what_a_run_wrote_goes)
{
	for (int64_t i = 0; i < 4; i++)
		ask(rig, req_memory(MEMORY_ADD, 7, "poison", i));
	ask(rig, req_memory(MEMORY_ADD, 8, "good", 1));
	ask(rig, req_memory(MEMORY_ADD, 0, "a person's", 2));
	struct st_req other = req_memory(MEMORY_ADD, 7, "elsewhere", 3);
	other.memory.agent = STR("night");
	ask(rig, other);
	struct st_req gone = req_memory(MEMORY_REMOVE_RUN, 7, NULL, 4);
	gone.memory.number = 2;
	CHECK_INT(ask(rig, gone).res, ST_OK); /* its own, from there on */
	EXPECT(rig, "memory",
	       "1 7 0 'desk' 'poison' ''|5 8 1 'desk' 'good' ''|6 0 2 'desk' 'a person's' ''|7 7 "
	       "3 'night' 'elsewhere' ''");
	gone.memory.number = 0;
	gone.memory.agent = (struct str){ 0 };
	CHECK_INT(ask(rig, gone).res, ST_OK); /* everybody's */
	EXPECT(rig, "memory", "5 8 1 'desk' 'good' ''|6 0 2 'desk' 'a person's' ''");
	gone.memory.run = 0;
	CHECK_INT(ask(rig, gone).res, ST_REFUSED);
}

ON_EACH(notes_have_bounds)
{
	static char text[STORE_MEMORY_BYTES_MAX + 1];
	struct st_req r = req_memory(MEMORY_ADD, 7, "a", 10);
	memset(text, 'x', sizeof text);
	r.memory.text = (struct str){ text, sizeof text };
	CHECK_INT(ask(rig, r).res, ST_REFUSED);
	r.memory.text.n--;
	CHECK_INT(ask(rig, r).res, ST_OK);
	r.memory.tags = (struct str){ text, STORE_MEMORY_TAGS_MAX + 1 };
	r.at = AT(11);
	CHECK_INT(ask(rig, r).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "", 12)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, NULL, 12)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "a", INT64_MAX)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_memory(MEMORY_ACTS, 7, "a", 12)).res, ST_REFUSED);
	r = req_memory(MEMORY_ADD, 7, "a", 12);
	r.memory.agent = STR("");
	CHECK_INT(ask(rig, r).res, ST_REFUSED);
	for (int64_t i = 1; i < STORE_MEMORIES_MAX; i++) {
		struct st_req more = req_memory(MEMORY_ADD, 7, "a", 100 + i);
		rig_ask(rig, &more);
	}
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "a", 20)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_memory(MEMORY_ADD, 7, "a", 101)).res, ST_OK); /* mine */
	r = req_memory(MEMORY_ADD, 7, "a", 20);
	r.memory.agent = STR("night");
	CHECK_INT(ask(rig, r).res, ST_OK);
}

/* --- agents --- */

static struct st_req req_agent(enum agent_act act, const char *name, const char *text, uint32_t rev,
			       int64_t at)
{
	return (struct st_req){ .op = ST_AGENT,
				.lane = LANE_USER,
				.at = AT(at),
				.source = { STR("/ops/a.org"), (uint32_t)at },
				.agent = { str_of(name), text ? str_of(text) : (struct str){ 0 }, rev,
					   act } };
}

ON_EACH(an_agent_has_a_rev_to_swap_by)
{
	struct st_ack ack = ask(rig, req_agent(AGENT_PUT, "desk", "{}", 1, 10));
	CHECK_INT(ack.res, ST_STALE); /* there is none */
	CHECK_INT(ack.count, 0);
	CHECK_INT(ask(rig, req_agent(AGENT_DROP, "desk", NULL, 0, 10)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_agent(AGENT_MOVE, "desk", NULL, 0, 10)).res, ST_REFUSED);
	ack = ask(rig, req_agent(AGENT_PUT, "desk", "{}", 0, 11));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK(!ack.has_row);
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "desk", "{}", 0, 11)).res, ST_OK); /* mine */
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "desk", "{}", 0, 12)).res, ST_STALE);
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "night", "{}", 0, 13)).res, ST_OK); /* another */
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "desk", NULL, 1, 14)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "", "{}", 0, 14)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_agent(AGENT_ACTS, "desk", "{}", 1, 14)).res, ST_REFUSED);
	EXPECT(rig, "agent", "1 11 11 'desk' '{}' '/ops/a.org'|1 13 13 'night' '{}' '/ops/a.org'");
}

ON_EACH(an_agent_moves_and_goes)
{
	ask(rig, req_agent(AGENT_PUT, "desk", "{}", 0, 11));
	struct st_ack ack = ask(rig, req_agent(AGENT_MOVE, "desk", NULL, 1, 20));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 1);
	CHECK_INT(ask(rig, req_agent(AGENT_MOVE, "desk", NULL, 0, 21)).res, ST_STALE);
	EXPECT(rig, "agent", "1 11 20 'desk' '{}' '/ops/a.org'");
	CHECK_INT(ask(rig, req_agent(AGENT_DROP, "desk", NULL, 0, 30)).res, ST_STALE);
	ack = ask(rig, req_agent(AGENT_DROP, "desk", NULL, 1, 31));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 2);
	CHECK_INT(ask(rig, req_agent(AGENT_DROP, "desk", NULL, 1, 31)).res, ST_OK); /* mine */
	CHECK_INT(ask(rig, req_agent(AGENT_DROP, "desk", NULL, 2, 32)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_agent(AGENT_MOVE, "desk", NULL, 2, 32)).res, ST_REFUSED);
	EXPECT(rig, "agent", "2 31 0 'desk' NULL NULL");
	/* Another of that name is not taken for the first. */
	CHECK_INT(ask(rig, req_agent(AGENT_PUT, "desk", "{}", 0, 40)).res, ST_STALE);
	ack = ask(rig, req_agent(AGENT_PUT, "desk", "{\"a\":1}", 2, 41));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.count, 3);
}

/* --- words --- */

static struct st_req req_words(uint64_t run, unsigned kind, const char *text)
{
	return (struct st_req){ .op = ST_RUN_TEXT,
				.lane = LANE_USER,
				.run_text = { run, (uint8_t)kind, str_of(text) } };
}

ON_EACH(words_are_of_a_run)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	CHECK_INT(ask(rig, req_words(8, RUN_TEXT_DETAIL, "no such run")).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_KINDS, "no such kind")).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_DETAIL, "first")).res, ST_OK);
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_DETAIL, "second")).res, ST_OK);
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_PROVENANCE, "done")).res, ST_OK);
	EXPECT(rig, "words", "7 0 'second'|7 1 'done'");
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_DETAIL, "")).res, ST_OK);
	EXPECT(rig, "words", "7 1 'done'");
	char long_text[STORE_RUN_TEXT_BYTES_MAX + 2];
	memset(long_text, 'x', sizeof long_text);
	long_text[sizeof long_text - 1] = 0;
	CHECK_INT(ask(rig, req_words(7, RUN_TEXT_DETAIL, long_text)).res, ST_REFUSED);
}

/* --- what checks saved --- */

static struct st_req req_avoided(uint64_t sid, uint64_t run, int64_t ended)
{
	struct st_req r = req_finish(sid, run, 1, RUN_FINISHED, ended);
	r.avoided = true;
	return r;
}

ON_EACH(what_a_check_saved_is_counted_once)
{
	const int64_t quarter = AVOIDED_SECONDS * USEC;
	for (uint64_t sid = 5; sid < 7; sid++) {
		ask(rig, req_put(sid, 0, 10));
		ask(rig, req_occ(sid, 1, 2 * sid, 100));
		ask(rig, req_occ(sid, 1, 2 * sid + 1, 200));
	}
	CHECK_INT(ask(rig, req_avoided(5, 10, quarter)).res, ST_OK);
	EXPECT(rig, "avoided", "0 -1 1|0 900 1|5 -1 1");
	CHECK_INT(ask(rig, req_avoided(5, 10, quarter)).res, ST_OK); /* mine */
	CHECK_INT(ask(rig, req_avoided(5, 10, quarter + 1)).res, ST_LOST);
	CHECK_INT(ask(rig, req_avoided(5, 99, quarter)).res, ST_REFUSED);
	CHECK_INT(ask(rig, req_avoided(5, 11, 2 * quarter - 1)).res, ST_OK);
	CHECK_INT(ask(rig, req_avoided(6, 12, 2 * quarter)).res, ST_OK);
	CHECK_INT(ask(rig, req_finish(6, 13, 1, RUN_FINISHED, quarter)).res, ST_OK);
	EXPECT(rig, "avoided", "0 -1 3|0 1800 1|0 900 2|5 -1 2|6 -1 1");
	/* Of the past only the sums are kept; those of a schedule go with it. */
	CHECK_INT(ask(rig, req_prune(PRUNE_RUNS, 0, 2 * quarter)).res, ST_OK);
	EXPECT(rig, "avoided", "0 -1 3|0 1800 1|5 -1 2|6 -1 1");
	CHECK_INT(ask(rig, req_drop(5, 1, 3 * quarter)).res, ST_OK);
	CHECK_INT(ask(rig, req_prune(PRUNE_RUNS, 0, 4 * quarter)).res, ST_OK);
	CHECK_INT(ask(rig, req_prune(PRUNE_SCHED, 5, 4 * quarter)).res, ST_OK);
	EXPECT(rig, "avoided", "0 -1 3|6 -1 1");
}

/* --- PRUNE --- */

static struct st_req prune_runs(uint64_t first, uint64_t last, uint64_t end, int64_t at)
{
	struct st_req r = req_prune(PRUNE_RUNS, 0, at);
	r.prune.first = first;
	r.prune.last = last;
	r.prune.end = end;
	return r;
}

/* --- news and notices --- */

/* The same, and somebody wants to know. */
static struct st_req told(struct st_req r, unsigned what)
{
	r.news = (uint8_t)what;
	return r;
}

ON_EACH(news_come_with_their_cause)
{
	ask(rig, told(req_put(5, 0, 10), 255)); /* nobody is told of that */
	ask(rig, told(req_occ(5, 1, 7, 100), 1));
	ask(rig, told(req_started(5, 7, 1, 110), 2));
	ask(rig, told(req_started(5, 7, 1, 111), 2)); /* seen before */
	ask(rig, told(req_finish(5, 7, 1, RUN_RETRYING, 120), 0));
	ask(rig, told(req_finish(5, 7, 2, RUN_FINISHED, 130), 4));
	ask(rig, req_occ(5, 1, 8, 200));
	ask(rig, told(req_verdict(5, 8, RUN_MISSED, 3), 8));
	ask(rig, told(moving(req_range(5, 1, 300, 400), 500, 400), 16));
	ask(rig, told(moving(req_range(5, 1, 410, 500), 600, 500), 16)); /* prolongs it */
	ask(rig, told(req_problem(PROBLEM_OPEN, 0, "cause", 20), 32));
	ask(rig, told(req_problem(PROBLEM_OPEN, 0, "cause", 21), 32)); /* said again */
	ask(rig, told(req_problem(PROBLEM_CLOSE, 0, "cause", 22), 64));
	EXPECT(rig, "news",
	       "1 1 0 5 7 0 0 0|2 2 1 5 7 0 0 0|3 4 2 5 7 0 0 0|4 8 0 5 8 0 0 0|5 16 0 5 0 0 300 400|"
	       "6 16 0 5 0 0 410 500|7 32 0 0 0 1 0 0|8 64 0 0 0 1 0 0");
}

ON_EACH(what_changes_nothing_is_no_news)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, told(req_occ(5, 2, 7, 100), 1)); /* stale */
	ask(rig, req_occ(5, 1, 7, 100));
	ask(rig, told(req_occ(5, 1, 8, 100), 1));                 /* lost */
	ask(rig, told(req_occ(6, 1, 9, 100), 1));                 /* refused */
	ask(rig, told(req_started(5, 6, 1, 1), 1));               /* no such run */
	ask(rig, told(req_finish(5, 7, 1, RUN_CLAIMED, 120), 1)); /* no end */
	ask(rig, req_finish(5, 7, 1, RUN_FINISHED, 120));
	ask(rig, told(req_finish(5, 7, 1, RUN_FINISHED, 121), 1)); /* it has another */
	ask(rig, told(req_verdict(5, 7, RUN_MISSED, 3), 1));       /* too late */
	ask(rig, told(req_problem(PROBLEM_CLOSE, 0, "nothing", 22), 1));
	EXPECT(rig, "news", "");
}

ON_EACH(a_record_that_is_taken_over_is_news_again)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req missed = req_occ(5, 1, 7, 100), filled = req_occ(5, 1, 8, 100);
	missed.run.state = RUN_MISSED;
	filled.run.kind = KIND_BACKFILL;
	ask(rig, told(missed, 4));
	ask(rig, told(filled, 2));
	EXPECT(rig, "news", "1 4 0 5 7 0 0 0|2 2 0 5 8 0 0 0");
}

static struct st_req req_tell(uint64_t upto, const struct message_row *notice, unsigned n, int64_t at)
{
	return (struct st_req){
		.op = ST_MESSAGES, .lane = LANE_FINISH, .at = AT(at), .messages = { upto, notice, n }
	};
}

static struct st_req req_tried(uint64_t number, unsigned attempts, enum message_state state, int64_t next,
			       int64_t at)
{
	return (struct st_req){ .op = ST_DELIVERY,
				.lane = LANE_FINISH,
				.at = AT(at),
				.delivery = { .number = number,
					      .attempts = attempts,
					      .state = (uint8_t)state,
					      .next = AT(next),
					      .result = STR("so") } };
}

#define NOTICE(...)                                                                                          \
	(struct message_row)                                                                                 \
	{                                                                                                    \
		.origin = STR("o"), .target = STR("t"), .body = STR("b"), __VA_ARGS__                        \
	}

static void three_news(struct rig *rig)
{
	ask(rig, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 3; n++)
		ask(rig, told(req_occ(5, 1, n, 100 * (int64_t)n), 1));
}

ON_EACH(news_become_notices_at_once)
{
	three_news(rig);
	const struct message_row two[] = { NOTICE(.kind = 1, .run = 1, .sid = 5, .receiver = 9,
						  .next = AT(50)),
					   NOTICE(.kind = 2, .problem = 4, .state = MESSAGE_DELIVERED) };
	CHECK_RES(rig, req_tell(2, two, 2, 40), ST_OK);
	EXPECT(rig, "news", "3 1 0 5 3 0 0 0");
	EXPECT(rig, "notice",
	       "1 1 0 0 5 1 0 0 9 40 0 50 'o' 't' 'b' NULL|2 2 1 0 0 0 4 0 0 40 0 0 'o' 't' 'b' NULL");
	CHECK_IN_VAIN(rig, req_tell(2, two, 1, 41), ST_OK); /* there are none any more */
	CHECK_RES(rig, req_tell(9, NULL, 0, 42), ST_OK);    /* nobody is told */
	EXPECT(rig, "news", "");
	CHECK_RES(rig, req_tell(0, two, 1, 43), ST_OK); /* nobody heard of it from here */
	ask(rig, told(req_occ(5, 1, 4, 400), 1));
	EXPECT(rig, "news", "4 1 0 5 4 0 0 0"); /* numbers are not given again */
}

ON_EACH(notices_are_joined_by_number)
{
	three_news(rig);
	const struct message_row four[] = { NOTICE(.kind = 9),
					    NOTICE(.run = 1, .joined = 1, .state = MESSAGE_JOINED),
					    NOTICE(.kind = 8),
					    NOTICE(.run = 2, .joined = 1, .state = MESSAGE_JOINED) };
	CHECK_RES(rig, req_tell(3, four, 4, 40), ST_OK);
	EXPECT(rig, "notice",
	       "1 9 0 0 0 0 0 0 0 40 0 0 'o' 't' 'b' NULL|2 0 4 0 0 1 0 1 0 40 0 0 'o' 't' 'b' NULL|"
	       "3 8 0 0 0 0 0 0 0 40 0 0 'o' 't' 'b' NULL|4 0 4 0 0 2 0 3 0 40 0 0 'o' 't' 'b' NULL");
	CHECK_IN_VAIN(rig, req_tell(0, four + 1, 1, 50), ST_REFUSED); /* with what? */
}

ON_EACH(notices_that_are_none)
{
	char text[STORE_MESSAGE_BYTES_MAX + 2];
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = 0;
	struct message_row n = NOTICE(.kind = 1);
	static struct message_row many[STORE_MESSAGES_MAX + 1];
	for (unsigned i = 0; i < ARRAY_LEN(many); i++)
		many[i] = n;
	CHECK_IN_VAIN(rig, req_tell(0, many, ARRAY_LEN(many), 9), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_tell(0, NULL, 0, 9), ST_REFUSED);
	n.body = str_of(text);
	CHECK_IN_VAIN(rig, req_tell(0, &n, 1, 9), ST_REFUSED);
	n = NOTICE(.state = MESSAGE_STATES);
	CHECK_IN_VAIN(rig, req_tell(0, &n, 1, 9), ST_REFUSED);
	n = NOTICE(.kind = 1);
	n.target = (struct str){ 0 };
	CHECK_IN_VAIN(rig, req_tell(0, &n, 1, 9), ST_REFUSED);
}

ON_EACH(a_notice_is_tried_in_order)
{
	const struct message_row n = NOTICE(.run = 7, .next = AT(10));
	CHECK_IN_VAIN(rig, req_tried(1, 1, MESSAGE_WAITING, 20, 11), ST_REFUSED);
	CHECK_RES(rig, req_tell(0, &n, 1, 10), ST_OK);
	CHECK_IN_VAIN(rig, req_tried(1, 2, MESSAGE_WAITING, 20, 11), ST_LOST);
	CHECK_RES(rig, req_tried(1, 1, MESSAGE_WAITING, 20, 11), ST_OK);
	EXPECT(rig, "notice", "1 0 0 1 0 7 0 0 0 10 11 20 'o' 't' 'b' 'so'");
	CHECK_RES(rig, req_tried(1, 1, MESSAGE_WAITING, 30, 12), ST_OK); /* put off, not tried */
	CHECK_RES(rig, req_tried(1, 2, MESSAGE_DELIVERED, 0, 21), ST_OK);
	CHECK_IN_VAIN(rig, req_tried(1, 3, MESSAGE_GIVEN_UP, 0, 22), ST_LOST);
	EXPECT(rig, "notice", "1 0 1 2 0 7 0 0 0 10 21 0 'o' 't' 'b' 'so'");
}

ON_EACH(notices_go_with_their_run_or_when_they_are_over)
{
	const struct message_row all[] = { NOTICE(.run = 7), NOTICE(.run = 9), NOTICE(.kind = 1),
					   NOTICE(.kind = 2), NOTICE(.kind = 3) };
	CHECK_RES(rig, req_tell(0, all, ARRAY_LEN(all), 10), ST_OK);
	ask(rig, req_tried(3, 1, MESSAGE_GIVEN_UP, 0, 20));
	ask(rig, req_tried(4, 1, MESSAGE_DELIVERED, 0, 40));
	CHECK_RES(rig, prune_runs(1, 8, UINT64_MAX, 30), ST_OK);
	EXPECT(rig, "notice",
	       "2 0 0 0 0 9 0 0 0 10 0 0 'o' 't' 'b' NULL|4 2 1 1 0 0 0 0 0 10 40 0 'o' 't' 'b' 'so'|"
	       "5 3 0 0 0 0 0 0 0 10 0 0 'o' 't' 'b' NULL");
}

/* All lines of runs: their numbers. */
static void expect_runs_at(int line, struct rig *rig, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	rig_dump(rig, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row))
		if (str_eq(str_token(&row), STR("run"))) {
			struct str number = str_token(&row);
			buf_addf(&got, "%s%.*s", got.n ? " " : "", STR_ARG(number));
		}
	check_str(__FILE__, line, buf_str(&got), str_of(want), "runs");
	buf_free(&all);
	buf_free(&got);
}
#define EXPECT_RUNS(rig, want) expect_runs_at(__LINE__, rig, want)

ON_EACH(notes_stay_when_their_run_goes)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_occ(5, 1, 7, 100));
	ask(rig, req_finish(5, 7, 1, RUN_FINISHED, 120));
	ask(rig, req_occ(5, 1, 8, 200));
	ask(rig, req_finish(5, 8, 1, RUN_FINISHED, 220));
	ask(rig, req_memory(MEMORY_ADD, 7, "a", 110));
	struct st_req old = req_prune(PRUNE_RUNS, 0, 1000);
	old.prune.first = old.prune.last = 7;
	old.prune.end = UINT64_MAX;
	CHECK_INT(ask(rig, old).res, ST_OK);
	EXPECT(rig, "memory", "1 7 110 'desk' 'a' ''");
	EXPECT_RUNS(rig, "8");
}

ON_EACH(prune_takes_what_is_over_and_old)
{
	ask(rig, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 6; n++)
		end_one(rig, 5, n, 100 * (int64_t)n);
	ask(rig, req_occ(5, 1, 7, 150)); /* open, and stays so */
	struct st_req skipped = req_occ(5, 1, 8, 160);
	skipped.run.state = RUN_SKIPPED;
	ask(rig, skipped);
	/* Claimed two microseconds after its time. */
	CHECK_RES(rig, prune_runs(1, 9, UINT64_MAX, 301), ST_OK);
	EXPECT_RUNS(rig, "3 4 5 6 7");
	CHECK_IN_VAIN(rig, prune_runs(4, 9, UINT64_MAX, 302), ST_OK);
	CHECK_RES(rig, prune_runs(1, 4, UINT64_MAX, 1000), ST_OK);
	EXPECT_RUNS(rig, "5 6 7");
}

ON_EACH(prune_judges_by_the_latest_of_a_runs_times)
{
	static const int64_t times[][4] = {
		{ 500, 1, 1, 1 }, { 2, 500, 1, 1 }, { 3, 1, 500, 1 }, { 4, 1, 1, 500 }
	};
	ask(rig, req_put(5, 0, 10));
	for (unsigned i = 0; i < ARRAY_LEN(times); i++) {
		struct st_req r = req_occ(5, 1, i + 1, times[i][0]);
		r.run.state = RUN_MISSED;
		r.run.claimed = AT(times[i][1]);
		r.run.ended = AT(times[i][2]);
		r.run.retry_at = AT(times[i][3]);
		ask(rig, r);
	}
	CHECK_IN_VAIN(rig, prune_runs(1, 9, UINT64_MAX, 499), ST_OK);
	CHECK_RES(rig, prune_runs(1, 9, UINT64_MAX, 500), ST_OK);
	EXPECT_RUNS(rig, "");
}

ON_EACH(prune_leaves_a_mark_below_which_nothing_is_claimed)
{
	ask(rig, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 4; n++)
		end_one(rig, 5, n, 100 * (int64_t)n);
	ask(rig, prune_runs(1, 3, UINT64_MAX, 1000));
	struct st_ack ack = ask(rig, req_occ(5, 1, 10, 300));
	CHECK_INT(ack.res, ST_LOST);
	CHECK_INT(ack.row.pruned_to.us, 300);
	CHECK_INT(ack.existing.run, 0);
	CHECK_IN_VAIN(rig, req_occ(5, 1, 10, 250), ST_LOST);
	CHECK_IN_VAIN(rig, moving(req_occ(5, 1, 10, 250), 400, 250), ST_STALE);
	/* Nor by a backfill, a clock that went back, a change, another life. */
	struct st_req fill = req_occ(5, 1, 11, 200);
	fill.run.kind = KIND_BACKFILL;
	CHECK_IN_VAIN(rig, fill, ST_LOST);
	CHECK_RES(rig, req_withdraw(5, 1, 5, 6), ST_OK);
	CHECK_IN_VAIN(rig, moving(req_occ(5, 1, 12, 300), 400, 300), ST_STALE);
	CHECK_IN_VAIN(rig, moving(req_range(5, 1, 300, 350), 400, 350), ST_STALE);
	struct st_req edit = req_put(5, 1, 20);
	edit.row.high = AT(1);
	CHECK_INT(ask(rig, edit).row.high.us, 300);
	rig_reopen(rig);
	CHECK_IN_VAIN(rig, moving(req_occ(5, 2, 13, 300), 400, 300), ST_STALE);
	/* The one that was left, too; a person's run is none of these. */
	struct st_req again = req_occ(5, 2, 14, 400);
	CHECK_INT(ask_in_vain(rig, again).existing.run, 4);
	struct st_req by_hand = req_occ(5, 2, 15, 200);
	by_hand.run.kind = KIND_MANUAL;
	CHECK_RES(rig, by_hand, ST_OK);
	CHECK_RES(rig, moving(req_occ(5, 2, 16, 301), 400, 301), ST_OK);
}

ON_EACH(prune_of_a_manual_run_leaves_no_mark)
{
	ask(rig, req_put(5, 0, 10));
	struct st_req r = req_occ(5, 1, 1, 100);
	r.run.kind = KIND_MANUAL;
	r.run.state = RUN_SKIPPED;
	ask(rig, r);
	ask(rig, prune_runs(1, 1, UINT64_MAX, 1000));
	EXPECT_RUNS(rig, "");
	CHECK_INT(ask(rig, req_occ(5, 1, 2, 90)).row.pruned_to.us, 0);
}

ON_EACH(prune_keeps_ends_that_are_to_be_acted_on)
{
	ask(rig, req_put(5, 0, 10));
	for (uint64_t n = 1; n <= 4; n++)
		CHECK_INT(end_one(rig, 5, n, 100 * (int64_t)n), n);
	ask(rig, prune_runs(1, 9, 2, 1000));
	EXPECT_RUNS(rig, "3 4");
}

ON_EACH(prune_keeps_the_latest_end_of_the_living)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_put(6, 0, 10));
	end_one(rig, 5, 1, 200);
	end_one(rig, 6, 2, 200);
	end_one(rig, 5, 3, 100); /* ended last, whatever its time */
	ask(rig, prune_runs(1, 9, UINT64_MAX, 1000));
	EXPECT_RUNS(rig, "2 3");
	ask(rig, req_drop(5, 1, 500));
	ask(rig, prune_runs(1, 9, UINT64_MAX, 1000));
	EXPECT_RUNS(rig, "2");
	/* Their numbers are used up. */
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(strstr(load.p, "done 3 6 3\n") != NULL);
	buf_free(&load);
}

ON_EACH(prune_takes_ranges_that_are_closed)
{
	ask(rig, req_put(5, 0, 10));
	ask(rig, req_range(5, 1, 100, 200));
	ask(rig, req_range(5, 1, 300, 400));
	ask(rig, req_range(5, 1, 500, INT64_MAX));
	struct st_ack ack = ask(rig, req_prune(PRUNE_RANGES, 5, 399));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.pruned_to.us, 200);
	EXPECT(rig, "range", "5 300 400 5 14|5 500 9223372036854775807 5 14");
	CHECK_INT(ask(rig, req_prune(PRUNE_RANGES, 5, INT64_MAX)).row.pruned_to.us, 400);
	EXPECT(rig, "range", "5 500 9223372036854775807 5 14");
	CHECK_IN_VAIN(rig, req_prune(PRUNE_RANGES, 99, 1000), ST_OK);
}

ON_EACH(prune_takes_a_tombstone_when_nothing_is_left_of_it)
{
	struct st_req p = req_put(5, 0, 10);
	p.id = STR("a");
	p.document = STR("b");
	ask(rig, p);
	ask(rig, req_put(4, 0, 10));
	end_one(rig, 5, 1, 100);
	ask(rig, req_range(5, 1, 300, INT64_MAX));
	CHECK_IN_VAIN(rig, req_prune(PRUNE_SCHED, 5, 1000), ST_OK); /* it lives */
	ask(rig, req_drop(5, 1, 500));
	CHECK_IN_VAIN(rig, req_prune(PRUNE_SCHED, 5, 1000), ST_OK); /* a run is left */
	ask(rig, prune_runs(1, 1, UINT64_MAX, 1000));
	CHECK_IN_VAIN(rig, req_prune(PRUNE_SCHED, 5, 499), ST_OK);
	CHECK_RES(rig, req_prune(PRUNE_SCHED, 5, 500), ST_OK);
	EXPECT(rig, "range", "");
	/* Neither it nor any of its number comes again. */
	CHECK_IN_VAIN(rig, p, ST_REFUSED);
	CHECK_IN_VAIN(rig, req_put(3, 0, 10), ST_REFUSED);
	CHECK_IN_VAIN(rig, req_drop(5, 1, 500), ST_REFUSED);
	struct buf load = { 0 };
	dump_load(rig->ops, rig->store, &load);
	CHECK(strstr(load.p, "done 1 5 1\n") != NULL);
	buf_free(&load);
	p.sid = 6;
	CHECK_RES(rig, p, ST_OK); /* its id is free */
}

ON_EACH(prune_takes_problems_that_are_closed)
{
	ask(rig, req_problem(PROBLEM_OPEN, 0, "a", 10));
	ask(rig, req_problem(PROBLEM_OPEN, 0, "b", 11));
	ask(rig, req_problem(PROBLEM_CLOSE, 0, "a", 100));
	struct st_req p = req_prune(PRUNE_PROBLEM, 0, 99);
	p.prune.first = 1;
	CHECK_IN_VAIN(rig, p, ST_OK);
	p.at = AT(100);
	CHECK_RES(rig, p, ST_OK);
	p.prune.first = 2;
	p.at = AT(INT64_MAX);
	CHECK_IN_VAIN(rig, p, ST_OK); /* open */
	CHECK_IN_VAIN(rig, req_problem(PROBLEM_CLOSE, 1, NULL, 200), ST_REFUSED);
	CHECK_INT(ask(rig, req_problem(PROBLEM_OPEN, 0, "a", 300)).problem, 3);
}

ON_EACH(prune_of_what_there_is_not)
{
	struct st_req r = req_prune(PRUNES, 5, 1000);
	CHECK_IN_VAIN(rig, r, ST_REFUSED);
	CHECK_IN_VAIN(rig, prune_runs(0, UINT64_MAX >> 1, 0, INT64_MAX), ST_OK);
	CHECK_IN_VAIN(rig, req_prune(PRUNE_VERSION, 5, 1000), ST_OK);
	CHECK_IN_VAIN(rig, req_prune(PRUNE_SCHED, 5, 1000), ST_OK);
}

/* --- what only the model has --- */

TEST(rows_clone_is_deep)
{
	struct rig rig;
	struct buf before = { 0 }, after = { 0 };
	rig_open(&rig, RIG_ROWS);
	struct st_req p = req_put(5, 0, 10);
	p.id = STR("a");
	p.document = STR("b");
	ask(&rig, p);
	ask(&rig, req_range(5, 1, 10, INT64_MAX));
	ask(&rig, req_occ(5, 1, 1, 100));
	ask(&rig, req_hold(1, 1, 1));
	struct rows *copy = rows_clone(((struct rows_store *)rig.store)->rows);
	dump_rows(copy, &before);
	p = req_put(5, 1, 20);
	p.id = STR("c");
	p.document = STR("d");
	p.close_range = true;
	ask(&rig, p);
	for (unsigned i = 0; i < 1000; i++)
		rig_ask(&rig, &(struct st_req[]){ req_occ(5, 2, 10 + i, 200 + i) }[0]);
	ask(&rig, req_finish(5, 1, 1, RUN_FINISHED, 300));
	ask(&rig, req_hold(1, 0, 0));
	dump_rows(copy, &after);
	CHECK_SAME(&after, &before);
	rows_free(copy);
	rig_close(&rig);
	buf_free(&before);
	buf_free(&after);
}

TEST(rows_answer_for_a_checker)
{
	struct rows *r = rows_new();
	struct st_ack ack;
	rows_apply(r, &(struct st_req[]){ req_put(5, 0, 10) }[0], &ack);
	rows_apply(r, &(struct st_req[]){ req_occ(5, 1, 1, 100) }[0], &ack);
	CHECK(rows_sched(r, 5) && !rows_sched(r, 6));
	CHECK(rows_run(r, 1) && !rows_run(r, 2));
	CHECK(rows_at(r, 5, AT(100)) == rows_run(r, 1));
	CHECK(!rows_at(r, 5, AT(101)));
	CHECK_INT(rows_open(r), 1);
	rows_apply(r, &(struct st_req[]){ req_finish(5, 1, 1, RUN_FINISHED, 300) }[0], &ack);
	CHECK_INT(rows_open(r), 0);
	rows_free(r);
}
