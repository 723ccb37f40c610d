/* load, and ST_NAME. */
#include "conformance.h"

/* Compares the first words of each loaded item with `want`: "hold 1|sched 5|run 3|for 6 end 2|done 9 7". */
static void expect_load_at(int line, struct fixture *f, const char *want)
{
	struct buf all = { 0 }, got = { 0 };
	dump_load(f->ops, f->store, &all);
	struct str rest = buf_str(&all), row;
	while (str_line(&rest, &row)) {
		struct str kind = str_token(&row);
		if (str_eq(kind, STR("part")))
			continue;
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
#define EXPECT_LOAD(f, want) expect_load_at(__LINE__, f, want)

ON_EACH(load_of_an_empty_store)
{
	EXPECT_LOAD(f, "done 0 0");
}

ON_EACH(load_is_in_order)
{
	static const uint64_t sids[] = { 9, 2, 300, 7 };
	for (unsigned i = 0; i < ARRAY_LEN(sids); i++)
		ask(f, req_put(sids[i], 0, 10));
	ask(f, req_put(400, 0, 10));
	ask(f, req_drop(400, 1, 11));
	ask(f, req_hold(8, 1, 1));
	ask(f, req_hold(4, 1, 1));
	static const uint64_t runs[] = { 1000, 20, 500, 30, 40, 50 };
	static_assert(ARRAY_LEN(runs) == RUN_STATES, "one of each state");
	for (unsigned i = 0; i < ARRAY_LEN(runs); i++) {
		struct st_req r = req_occ(9, 1, runs[i], 100 + (int)i);
		r.run.state = (uint8_t)i;
		ask(f, r);
	}
	EXPECT_LOAD(f,
		    "hold 4|hold 8|sched 2|sched 7|sched 9|sched 300|run 20|run 500|run 1000|done 1000 400");
}

ON_EACH(load_gives_rows_in_full)
{
	struct st_req p = req_put(5, 0, 10);
	p.row.after = 4;
	p.row.paused_until = AT(44);
	struct st_ack put = ask(f, p);
	ask(f, req_occ(5, 1, 7, 100));
	struct buf got = { 0 }, want = { 0 };
	dump_load(f->ops, f->store, &got);
	dump_ack(&put, &want);
	CHECK(strstr(got.p, strstr(want.p, "row") + 3)); /* the answer has the loaded row */
	CHECK(strstr(got.p, "\nrun 7 5 1 0 0 0 1 0 0 0 100 101 102 0 0 0 0 -1 0 0 0 0 -1 0 0\n"));
	buf_free(&got);
	buf_free(&want);
}

ON_EACH(load_tells_of_open_ranges)
{
	for (uint64_t sid = 4; sid <= 6; sid++)
		ask(f, req_put(sid, 0, 10));
	ask(f, req_range(5, 1, 20, INT64_MAX));
	ask(f, req_range(6, 1, 20, 30));
	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	struct str rest = buf_str(&load), row;
	CHECK(str_line(&rest, &row) && str_starts(row, STR("part 0 ")));
	for (uint64_t sid = 4; sid <= 6 && CHECK(str_line(&rest, &row)); sid++)
		CHECK_INT(str_eq(str_from(row, row.n - 8), STR(" open 14")), sid == 5);
	buf_free(&load);
}

/* Schedule 5 is followed by 6, 3 and the removed 2; 8 follows the removed 7; 9 follows a schedule without
 * runs. Ends are loaded in the order of their numbers, which is neither the order of the runs nor of the
 * clock. */
ON_EACH(load_tells_followers_of_ends)
{
	ask(f, req_put(5, 0, 10));
	ask(f, req_put(7, 0, 10));
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
		p.row.high = AT(250); /* has no effect */
		ask(f, p);
		p.rev = 1; /* only now, since a new follower has seen what its leader has given so far */
		p.row.seen = followers[i].seen;
		ask(f, p);
	}
	for (unsigned i = 0; i < ARRAY_LEN(runs); i++) {
		struct st_req r = req_occ(runs[i].sid, 1, runs[i].run, 1000 + (int)i);
		r.run.kind = i == 0 ? KIND_MANUAL : KIND_TIMER;
		ask(f, r);
		ask(f, req_finish(runs[i].sid, runs[i].run, 1, runs[i].state, runs[i].ended));
	}
	/* A removed follower with an open run is loaded, but without ends. */
	ask(f, req_occ(2, 2, 7, 100));
	ask(f, req_drop(7, 1, 20));
	ask(f, req_drop(2, 2, 20));
	EXPECT_LOAD(f, "sched 2|sched 3|sched 5|sched 6|sched 8|sched 9|run 4|run 7"
		       "|for 3 end 3|for 3 end 1|for 3 end 2|for 3 end 6"
		       "|for 6 end 1|for 6 end 2|for 6 end 6|for 8 end 5|done 7 9");
	/* The follower acts on an end: its own record moves `seen`. */
	struct st_req a = moving(req_occ(6, 2, 10, 200), INT64_MAX, 200);
	a.run.kind = KIND_AFTER;
	a.move.seen = 3; /* the end of run 2 */
	ask(f, a);
	EXPECT_LOAD(f, "sched 2|sched 3|sched 5|sched 6|sched 8|sched 9|run 4|run 7|run 10"
		       "|for 3 end 3|for 3 end 1|for 3 end 2|for 3 end 6"
		       "|for 6 end 6|for 8 end 5|done 10 9");
	struct buf load = { 0 }; /* must contain the number of the end */
	dump_load(f->ops, f->store, &load);
	CHECK(strstr(load.p, "done 10 9\n"));
	CHECK(strstr(load.p, "for 6 end 6 5 1 1 0 0 3 1 0 0 1005 1006 1007 0 201 0 0 5 6 7 0 4 8 0 0\n"));
	buf_free(&load);
}

/* --- ST_NAME --- */

static struct st_req req_name(unsigned kind, uint32_t number, const char *text)
{
	return (struct st_req){ .op = ST_NAME,
				.lane = LANE_USER,
				.name = { (uint8_t)kind, number, text ? str_of(text) : (struct str){ 0 } } };
}

ON_EACH(names_are_kept_and_loaded_before_schedules)
{
	CHECK_INT(ask(f, req_name(1, 7, "Europe/Berlin")).res, ST_OK);
	CHECK_INT(ask(f, req_name(0, 9, "")).res, ST_OK);
	CHECK_INT(ask(f, req_name(1, 2, "UTC")).res, ST_OK);
	CHECK_INT(ask(f, req_name(1, 7, "Europe/Berlin")).res, ST_OK); /* repeated */
	CHECK_INT(ask(f, req_name(1, 7, "Europe/Paris")).res, ST_COLLISION);
	CHECK_INT(ask(f, req_name(1, 8, NULL)).res, ST_REFUSED);
	ask(f, req_hold(1, 1, 1));
	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	CHECK(load.p &&
	      !strncmp(load.p, "part 0 0 1\nname 0 9 \nname 1 2 UTC\nname 1 7 Europe/Berlin\nhold", 61));
	buf_free(&load);
}

/* Two nodes may add the same name at the same time: the second one gets the number of the first. */
ON_EACH(a_name_has_one_number)
{
	CHECK_INT(ask(f, req_name(1, 7, "Europe/Berlin")).name, 7);
	struct st_ack ack = ask_unchanged(f, req_name(1, 8, "Europe/Berlin"));
	CHECK(ack.res == ST_LOST && ack.name == 7);
	ack = ask(f, req_name(1, 8, "Europe/Paris")); /* the number is still free */
	CHECK(ack.res == ST_OK && ack.name == 8);
	ack = ask_unchanged(f, req_name(1, 8, "Europe/Berlin")); /* though the number collides as well */
	CHECK(ack.res == ST_LOST && ack.name == 7);
	ack = ask_unchanged(f, req_name(1, 8, "Europe/Rome"));
	CHECK(ack.res == ST_COLLISION && ack.name == 0);
	/* Other kinds have names and numbers of their own, and every byte counts. */
	CHECK_INT(ask(f, req_name(2, 8, "Europe/Berlin")).name, 8);
	CHECK_INT(ask(f, req_name(1, 5, "europe/berlin")).name, 5);
	CHECK_INT(ask(f, req_name(1, 6, "Europe/Berlin ")).name, 6);
	fixture_reopen(f);
	ack = ask_unchanged(f, req_name(1, 9, "Europe/Berlin"));
	CHECK(ack.res == ST_LOST && ack.name == 7);
	EXPECT(f, "name",
	       "1 5 'europe/berlin'|1 6 'Europe/Berlin '|1 7 'Europe/Berlin'|1 8 'Europe/Paris'"
	       "|2 8 'Europe/Berlin'");
}

ON_EACH(the_length_of_a_name_is_limited)
{
	static char text[STORE_NAME_BYTES_MAX + 2];
	memset(text, '7', STORE_NAME_BYTES_MAX + 1);
	CHECK_UNCHANGED(f, req_name(1, 1, text), ST_REFUSED);
	text[STORE_NAME_BYTES_MAX] = '\0';
	CHECK_RES(f, req_name(1, 1, text), ST_OK);
}
