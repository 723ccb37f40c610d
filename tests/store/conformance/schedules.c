/* ST_PUT, ST_DROP and ST_SOURCE. */
#include "conformance.h"

/* Compares the end of the first dumped line with `want`: id, document, source and line. */
static void expect_texts(int line, struct fixture *f, const char *want)
{
	struct buf all = { 0 };
	fixture_dump(f, &all);
	struct str rest = buf_str(&all), row = { "", 0 };
	while (str_line(&rest, &row) && !str_starts(row, STR("sched ")))
		continue;
	size_t n = strlen(want);
	check_str(__FILE__, line, row.n > n ? str_from(row, row.n - n) : row, str_of(want), "texts");
	buf_free(&all);
}

/* --- ST_PUT --- */

ON_EACH(put_inserts_with_rev_1)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.sid = 99; /* the store sets both */
	r.row.rev = 88;
	r.row.pruned_to = AT(3);
	r.row.high = AT(4);
	r.id = STR("news");
	r.document = STR("when: daily");
	struct st_ack ack = ask(f, r);
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

ON_EACH(put_replaces_all_but_sid_rev_pruned_to)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = AT(3);
	ask(f, r);
	struct st_req s = req_put(5, 1, 20);
	s.row = (struct sched_row){ .sid = 1,
				    .rev = 9,
				    .seen = 10,
				    .after = 2,
				    .flags = 3,
				    .left = 4,
				    .owed = 6,
				    .owed_since = AT(7),
				    .next = AT(8),
				    .high = AT(9),
				    .pruned_to = AT(77),
				    .changed = AT(11),
				    .paused_until = AT(12),
				    .next_set_at = AT(13) };
	struct st_ack ack = ask(f, s);
	CHECK_INT(ack.res, ST_OK);
	s.row.sid = 5;
	s.row.rev = 2;
	s.row.seen = 0; /* it has a new leader, which has not ended */
	s.row.pruned_to = AT(3);
	CHECK(memcmp(&ack.row, &s.row, sizeof s.row) == 0);
}

ON_EACH(put_with_keep_next_keeps_next)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.high = AT(50);
	r.row.left = 9;
	r.row.owed = 7;
	r.row.owed_since = AT(6);
	r.row.next_set_at = AT(5);
	ask(f, r);
	struct st_req s = req_put(5, 1, 20);
	s.keep_next = true;
	s.row.next_set_at = AT(15);
	s.row.flags = 1234;
	s.row.next = AT(1);
	struct sched_row got = ask(f, s).row;
	CHECK_INT(got.rev, 2);
	CHECK_INT(got.flags, 1234);
	CHECK_INT(got.changed.us, 20);
	CHECK_INT(got.next.us, 100);
	CHECK_INT(got.high.us, 50);
	CHECK_INT(got.left, 9);
	CHECK_INT(got.owed, 7);
	CHECK_INT(got.owed_since.us, 6);
	CHECK_INT(got.next_set_at.us, 5);
	/* A new schedule has nothing to keep. */
	struct st_req n = req_put(6, 0, 20);
	n.keep_next = true;
	CHECK_INT(ask(f, n).row.next.us, 100);
}

/* ends_known: a put is stale if the leader has ended since the put was decided, whatever the put changes. */
ON_EACH(put_is_stale_if_its_leader_has_ended_since)
{
	ask(f, req_put(4, 0, 10));
	ask(f, req_put(6, 0, 10));
	struct st_req p = req_put(5, 0, 10);
	p.row.after = 4;
	ask(f, p);
	for (uint64_t sid = 4; sid <= 6; sid += 2) { /* ends 1 and 2 */
		struct st_req r = req_occ(sid, 1, sid, 20);
		r.run.state = RUN_FINISHED;
		ask(f, r);
	}
	p = req_put(5, 1, 30);
	p.ends_known = true;
	CHECK_UNCHANGED(f, p, ST_STALE);
	p.row.after = 6;
	p.row.seen = 1;
	CHECK_RES(f, p, ST_OK);
	CHECK_RES(f, p, ST_OK); /* the put is repeated, so the end of the leader has no effect */
	p = req_put(5, 2, 40);
	p.row.after = 4;
	p.row.seen = 1;
	CHECK_RES(f, p, ST_OK); /* a put without ends_known is not stale */
}

/* A new follower has seen the ends of its leader so far, whatever the request says; with the same leader, the
 * request decides. */
ON_EACH(put_sets_seen_for_a_new_leader)
{
	ask(f, req_put(4, 0, 10));
	ask(f, req_put(5, 0, 10));
	record_end(f, 5, 1, 100);
	record_end(f, 5, 2, 101);
	record_end(f, 4, 3, 102);
	struct st_req p = req_put(6, 0, 10);
	p.row.after = 5;
	p.row.seen = 77;
	p.keep_next = true; /* a new schedule has nothing to keep */
	CHECK_INT(ask(f, p).row.seen, 2);
	p.rev = 1;
	p.row.seen = 7;
	CHECK_INT(ask(f, p).row.seen, 2);
	p.rev = 2;
	p.keep_next = false;
	CHECK_INT(ask(f, p).row.seen, 7);
	p.rev = 3;
	p.row.after = 4;
	p.keep_next = true;
	CHECK_INT(ask(f, p).row.seen, 1);
	fixture_reopen(f);
	CHECK_INT(ask_unchanged(f, p).row.seen, 1);
	p.rev = 4;
	p.row.after = 0;
	CHECK_INT(ask(f, p).row.seen, 0);
}

ON_EACH(put_never_lowers_high_below_pruned_to)
{
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = r.row.high = AT(40);
	ask(f, r);
	struct st_req s = req_put(5, 1, 20);
	s.row.high = AT(39);
	CHECK_INT(ask(f, s).row.high.us, 40);
}

ON_EACH(put_is_judged_by_rev)
{
	CHECK_RES(f, req_put(5, 1, 10), ST_REFUSED); /* there is no such schedule */
	CHECK_RES(f, req_put(5, 0, 10), ST_OK);
	struct st_ack ack = ask_unchanged(f, req_put(5, 0, 11)); /* another `at`: from another caller */
	CHECK_INT(ack.res, ST_COLLISION);
	CHECK(ack.has_row && ack.row.rev == 1);
	struct st_req named = req_put(5, 0, 10);
	named.id = STR("other");
	CHECK_UNCHANGED(f, named, ST_COLLISION); /* the same `at`, but another id */
	CHECK_RES(f, req_put(5, 1, 20), ST_OK);
	CHECK_UNCHANGED(f, req_put(5, 0, 10), ST_COLLISION); /* carried out, but another put followed */
	CHECK_UNCHANGED(f, req_put(5, 1, 21), ST_STALE);
	CHECK_UNCHANGED(f, req_put(5, 3, 20), ST_STALE);
	CHECK_RES(f, req_put(5, 2, 20), ST_OK); /* the same time, but another rev */
}

ON_EACH(put_refuses_invalid_numbers)
{
	CHECK_UNCHANGED(f, req_put(0, 0, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_put(UINT64_MAX, 0, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_put((uint64_t)INT64_MAX + 1, 0, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_put(5, UINT32_MAX, 10), ST_REFUSED);
	/* The largest number with which a database can be opened again. */
	CHECK_RES(f, req_put(UINT64_C(1) << 62, 0, 10), ST_OK);
}

ON_EACH(put_keeps_texts_that_are_not_given)
{
	struct st_req r = req_put(5, 0, 10);
	ask(f, r);
	expect_texts(__LINE__, f, " NULL NULL NULL NULL");
	r = req_put(5, 1, 11);
	r.id = STR("news");
	r.document = STR("one");
	ask(f, r);
	expect_texts(__LINE__, f, " 'news' 'one' NULL NULL");
	r = req_put(5, 2, 12);
	r.document = STR("two");
	ask(f, r);
	expect_texts(__LINE__, f, " 'news' 'two' NULL NULL");
	ask(f, req_put(5, 3, 13));
	expect_texts(__LINE__, f, " 'news' 'two' NULL NULL");
	r = req_put(5, 4, 14);
	r.document = STR("");
	ask(f, r);
	expect_texts(__LINE__, f, " 'news' '' NULL NULL");
	r.document = STR("stale");
	r.at = AT(99);
	CHECK_UNCHANGED(f, r, ST_STALE);
	char big[20000];
	memset(big, 'x', sizeof big);
	r = req_put(5, 5, 15);
	r.document = (struct str){ big, sizeof big };
	CHECK_RES(f, r, ST_OK);
}

static struct st_req put_with_id(uint64_t sid, uint32_t rev, int64_t at, const char *id)
{
	struct st_req r = req_put(sid, rev, at);
	r.id = str_of(id);
	return r;
}

ON_EACH(put_refuses_the_id_of_another_living_schedule)
{
	CHECK_RES(f, put_with_id(5, 0, 10, "news"), ST_OK);
	struct st_ack ack = ask_unchanged(f, put_with_id(6, 0, 10, "news"));
	CHECK_INT(ack.res, ST_REFUSED);
	CHECK(!ack.has_row);
	CHECK_RES(f, put_with_id(6, 0, 10, "News"), ST_OK); /* a different id */
	CHECK_RES(f, put_with_id(7, 0, 10, "news2"), ST_OK);
	ack = ask_unchanged(f, put_with_id(6, 1, 20, "news")); /* a change is refused, too */
	CHECK_INT(ack.res, ST_REFUSED);
	CHECK(ack.has_row && ack.row.rev == 1);
	CHECK_UNCHANGED(f, put_with_id(6, 3, 20, "news"), ST_STALE); /* rev is checked first */
	CHECK_UNCHANGED(f, put_with_id(6, 0, 10, "News"),
			ST_OK);                             /* repetition is checked before everything */
	CHECK_RES(f, put_with_id(5, 1, 20, "news"), ST_OK); /* the id of the schedule itself */
	CHECK_RES(f, req_put(8, 0, 10), ST_OK);             /* any number of schedules may have no id */
	CHECK_RES(f, req_put(9, 0, 10), ST_OK);
	fixture_reopen(f);
	CHECK_UNCHANGED(f, put_with_id(10, 0, 10, "news"), ST_REFUSED);
}

ON_EACH(the_id_of_a_removed_schedule_is_free)
{
	ask(f, put_with_id(5, 0, 10, "news"));
	ask(f, req_drop(5, 1, 20));
	CHECK_RES(f, put_with_id(6, 0, 30, "news"), ST_OK);
	CHECK_UNCHANGED(f, put_with_id(7, 0, 30, "news"), ST_REFUSED);
	ask(f, req_drop(6, 1, 40)); /* two removed schedules share the id */
	CHECK_RES(f, put_with_id(7, 0, 50, "news"), ST_OK);
	/* A living schedule may change its id; then the old one is free. */
	CHECK_RES(f, put_with_id(7, 1, 60, "olds"), ST_OK);
	CHECK_RES(f, put_with_id(8, 0, 60, "news"), ST_OK);
	CHECK_UNCHANGED(f, put_with_id(7, 2, 70, "news"), ST_REFUSED);
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
			struct fixture fresh;
			fixture_open(&fresh, f->kind);
			ask(&fresh, req_put(5, 0, 10));
			struct st_req g = req_range(5, 1, rows[i].first, INT64_MAX);
			g.range.state = RUN_SKIPPED;
			g.range.reason = 1;
			CHECK_RES(&fresh, g, ST_OK);
			struct st_req r = drop ? req_drop(5, 1, rows[i].at) : req_put(5, 1, rows[i].at);
			r.close_range = true;
			CHECK_RES(&fresh, r, ST_OK);
			expect_at(__FILE__, rows[i].line, &fresh, "range", rows[i].want);
			fixture_close(&fresh);
		}
}

ON_EACH(put_closes_ranges_only_with_close_range)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(6, 0, 10));
	ask(f, req_range(5, 1, 20, INT64_MAX));
	ask(f, req_range(6, 1, 20, INT64_MAX));
	ask(f, req_put(5, 1, 30));
	EXPECT(f, "range", "5 20 9223372036854775807 5 14|6 20 9223372036854775807 5 14");
	struct st_req r = req_put(5, 2, 40);
	r.close_range = true;
	ask(f, r);
	EXPECT(f, "range", "5 20 40 5 14|6 20 9223372036854775807 5 14");
	r.rev = 3; /* no range is open now */
	r.at = AT(30);
	ask(f, r);
	EXPECT(f, "range", "5 20 40 5 14|6 20 9223372036854775807 5 14");
	r = req_put(6, 9, 40);
	r.close_range = true;
	CHECK_UNCHANGED(f, r, ST_STALE);
}

/* --- ST_DROP --- */

ON_EACH(drop_leaves_a_tombstone)
{
	CHECK_RES(f, req_drop(5, 1, 10), ST_REFUSED);
	struct st_req r = req_put(5, 0, 10);
	r.row.pruned_to = AT(30);
	ask(f, r);
	ask(f, moving(req_occ(5, 1, 1, 100), 200, 100));
	r = req_occ(5, 1, 2, 101);
	r.run.state = RUN_PENDING;
	ask(f, r);
	ask(f, req_range(5, 1, 150, 160));
	CHECK_UNCHANGED(f, req_drop(5, 2, 20), ST_STALE);
	struct st_ack ack = ask(f, req_drop(5, 1, 20));
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);

	CHECK_UNCHANGED(f, req_drop(5, 7, 99), ST_OK);
	CHECK_UNCHANGED(f, req_put(5, 0, 99), ST_COLLISION);
	CHECK_UNCHANGED(f, req_put(5, 1, 99), ST_REFUSED);
	CHECK_UNCHANGED(f, req_put(5, 0, 10), ST_OK); /* repeated */
	CHECK_UNCHANGED(f, req_occ(5, 1, 3, 300), ST_REFUSED);
	CHECK_UNCHANGED(f, req_occ(5, 1, 1, 100), ST_OK); /* repeated */
	CHECK_UNCHANGED(f, req_range(5, 1, 300, 400), ST_REFUSED);
	CHECK_UNCHANGED(f, req_range(5, 1, 150, 160), ST_REFUSED); /* refused even if the range is covered */
	CHECK_UNCHANGED(f, req_withdraw(5, 1, 0, 0), ST_REFUSED);

	CHECK_RES(f, req_started(5, 1, 1, 40), ST_OK);
	r = req_finish(5, 1, 1, RUN_FINISHED, 50);
	r.failures = FAILURES_GROW;
	ack = ask(f, r);
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);
	CHECK_RES(f, req_verdict(5, 2, RUN_CLAIMED, 0), ST_OK);

	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	CHECK(str_starts(buf_str(&load), STR("part 0 0 1\nsched 5 "))); /* because of its open run */
	CHECK(strstr(load.p, " dropped\nrun 2 5 "));
	CHECK(strstr(load.p, "done 2 5\n"));
	buf_free(&load);
	ask(f, req_finish(5, 2, 1, RUN_FINISHED, 60));
	dump_load(f->ops, f->store, &load);
	CHECK_STR(load.p, "part 0 0 1\ndone 2 5\n");
	buf_free(&load);
}

/* --- ST_SOURCE --- */

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
	ask(f, p);
	expect_texts(__LINE__, f, " 'a' 'b' '/ops/a.yaml' 3");
	ask(f, req_put(5, 1, 20)); /* this put has no source */
	expect_texts(__LINE__, f, " 'a' 'b' '/ops/a.yaml' 3");
	struct st_ack ack = ask(f, req_source(5, STR("/ops/b.yaml"), 9));
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(ack.row.rev, 2);
	expect_texts(__LINE__, f, " 'a' 'b' '/ops/b.yaml' 9");
	CHECK_INT(ask(f, req_source(5, STR(""), 0)).res, ST_OK);
	expect_texts(__LINE__, f, " 'a' 'b' '' 0");
	CHECK_INT(ask(f, req_source(5, (struct str){ 0 }, 0)).res, ST_REFUSED);
	CHECK_INT(ask(f, req_source(6, STR("/x"), 1)).res, ST_REFUSED);
	ask(f, req_drop(5, 2, 30));
	CHECK_INT(ask(f, req_source(5, STR("/x"), 1)).res, ST_REFUSED);
}
