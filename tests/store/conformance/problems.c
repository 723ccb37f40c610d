/* ST_HOLD and ST_PROBLEM. */
#include "conformance.h"

/* --- ST_HOLD --- */

ON_EACH(hold_is_set_and_removed)
{
	struct st_ack ack = ask(f, req_hold(3, 22, 500));
	CHECK_INT(ack.res, ST_OK);
	CHECK(!ack.has_row);
	ask(f, req_hold(1, 25, INT64_MAX));
	ask(f, req_hold(UINT32_MAX, 1, 0));
	struct st_req r = req_hold(3, 23, 501);
	r.hold.set_back_from = AT(77);
	ask(f, r);
	EXPECT(f, "hold", "1 25 9223372036854775807 0|3 23 501 77|4294967295 1 0 0");
	ask(f, req_hold(3, 23, 501)); /* the mark is cleared */
	EXPECT(f, "hold", "1 25 9223372036854775807 0|3 23 501 0|4294967295 1 0 0");
	CHECK_RES(f, req_hold(3, 0, 0), ST_OK);
	CHECK_UNCHANGED(f, req_hold(2, 0, 0), ST_OK); /* there was no hold */
	EXPECT(f, "hold", "1 25 9223372036854775807 0|4294967295 1 0 0");
}

ON_EACH(a_note_stays_until_it_is_replaced)
{
	struct st_req r = req_put(5, 0, 10), h = req_hold(0, 1, 500);
	r.note = STR("deploy");
	ask(f, r);
	h.note = STR("all");
	ask(f, h);
	EXPECT(f, "note", "'hold' 0 'all'|'schedule' 5 'deploy'");
	ask(f, req_put(5, 1, 11));
	ask(f, req_hold(0, 1, 600));
	EXPECT(f, "note", "'hold' 0 'all'|'schedule' 5 'deploy'");
	r = req_put(5, 2, 12);
	r.note = STR("it's over");
	ask(f, r);
	h.note = STR("");
	ask(f, h);
	EXPECT(f, "note", "'schedule' 5 'it's over'");
	r.note = STR("stale");
	r.at = AT(99);
	CHECK_UNCHANGED(f, r, ST_STALE);
	r = req_put(5, 3, 13);
	r.note = STR("");
	ask(f, r);
	EXPECT(f, "note", "");
	h.note = STR("again");
	ask(f, h);
	ask(f, req_hold(0, 0, 0)); /* removing the hold removes its note, too */
	ask(f, req_hold(0, 1, 700));
	EXPECT(f, "note", "");
}

/* --- ST_PROBLEM --- */

static struct st_req open_problem(const char *key, int64_t at, const char *subject, const char *text)
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
	EXPECT_PROBLEM(ask(f, open_problem("a", 10, "x", "one")), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask(f, open_problem("b", 10, "y", NULL)), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask(f, open_problem("a", 20, "z", "two")), ST_OK, 1, 2);
	EXPECT_PROBLEM(ask(f, open_problem("a", 15, "z", NULL)), ST_OK, 1, 3); /* the clock may go back */
	EXPECT(f, "problem",
	       "1 3 10 15 " NEVER_S " " NEVER_S " 'a' 'x' 'two' NULL NULL|2 1 10 10 " NEVER_S " " NEVER_S
	       " 'b' 'y' NULL NULL NULL");
	EXPECT_PROBLEM(ask_unchanged(f, open_problem("b", 10, "other", "words")), ST_OK, 2, 1); /* repeated */
	fixture_reopen(f);
	EXPECT_PROBLEM(ask_unchanged(f, open_problem("b", 10, "y", NULL)), ST_OK, 2, 1);
}

ON_EACH(problem_is_acknowledged_once)
{
	ask(f, open_problem("a", 10, "x", "one"));
	struct st_req r = req_problem(PROBLEM_ACK, 1, NULL, 20);
	r.problem.by = STR("ann");
	r.problem.note = STR("looking");
	EXPECT_PROBLEM(ask(f, r), ST_OK, 1, 1);
	EXPECT(f, "problem", "1 1 10 10 20 " NEVER_S " 'a' 'x' 'one' 'ann' 'looking'");
	r.at = AT(21);
	r.problem.by = STR("bob");
	EXPECT_PROBLEM(ask_unchanged(f, r), ST_LOST, 1, 1);
	/* The problem stays acknowledged when it is opened again. A repeated acknowledgement succeeds even
	 * after the problem was closed. */
	EXPECT_PROBLEM(ask(f, open_problem("a", 30, "x", "again")), ST_OK, 1, 2);
	EXPECT_PROBLEM(ask(f, req_problem(PROBLEM_CLOSE, 0, "a", 40)), ST_OK, 1, 2);
	EXPECT(f, "problem", "1 2 10 30 20 40 'a' 'x' 'again' 'ann' 'looking'");
	r.at = AT(20);
	EXPECT_PROBLEM(ask_unchanged(f, r), ST_OK, 1, 2);
	/* A closed problem is not acknowledged. The key alone, without a note, is enough. */
	ask(f, open_problem("b", 10, "x", NULL));
	EXPECT_PROBLEM(ask(f, req_problem(PROBLEM_CLOSE, 2, NULL, 20)), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask_unchanged(f, req_problem(PROBLEM_ACK, 2, NULL, 30)), ST_LOST, 2, 1);
	ask(f, open_problem("c", 10, "x", NULL));
	EXPECT_PROBLEM(ask(f, req_problem(PROBLEM_ACK, 0, "c", 30)), ST_OK, 3, 1);
}

ON_EACH(problem_numbers_are_never_reused)
{
	ask(f, open_problem("a", 10, "x", "one"));
	EXPECT_PROBLEM(ask(f, req_problem(PROBLEM_CLOSE, 0, "a", 20)), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask_unchanged(f, req_problem(PROBLEM_CLOSE, 0, "a", 21)), ST_OK, 1, 1);
	EXPECT_PROBLEM(ask_unchanged(f, open_problem("a", 10, "x", "one")), ST_OK, 1, 1); /* repeated */
	fixture_reopen(f);
	EXPECT_PROBLEM(ask(f, open_problem("a", 30, "x", "anew")), ST_OK, 2, 1);
	EXPECT_PROBLEM(ask_unchanged(f, req_problem(PROBLEM_CLOSE, 1, NULL, 40)), ST_OK, 1, 1);
	EXPECT(f, "problem",
	       "1 1 10 10 " NEVER_S " 20 'a' 'x' 'one' NULL NULL|2 1 30 30 " NEVER_S " " NEVER_S
	       " 'a' 'x' 'anew' NULL NULL");
	/* Only open problems are loaded, with all columns. */
	struct buf load = { 0 };
	dump_load(f->ops, f->store, &load);
	CHECK_STR(load.p, "part 0 0 1\nproblem 2 1 30 30 " NEVER_S " " NEVER_S
			  " 'a' 'x' 'anew' NULL NULL\ndone 0 0\n");
	buf_free(&load);
}

ON_EACH(problem_refuses_invalid_requests)
{
	static char large[STORE_PROBLEM_BYTES_MAX + 1];
	memset(large, 'x', sizeof large);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_ACK, 1, NULL, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_CLOSE, 0, "a", 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_OPEN, 0, NULL, 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_OPEN, 1, "", 10), ST_REFUSED);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_OPEN, 0, "a", INT64_MAX), ST_REFUSED);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_ACTS, 0, "a", 10), ST_REFUSED);
	struct st_req r = req_problem(PROBLEM_OPEN, 0, "a", 10);
	r.problem.text = (struct str){ large, sizeof large };
	CHECK_UNCHANGED(f, r, ST_REFUSED);
	r.problem.text.n--;
	CHECK_RES(f, r, ST_OK);
	CHECK_UNCHANGED(f, req_problem(PROBLEM_ACK, 2, NULL, 10), ST_REFUSED);
	r = req_problem(PROBLEM_ACK, 1, NULL, 10);
	r.problem.note = (struct str){ large, sizeof large };
	CHECK_UNCHANGED(f, r, ST_REFUSED);
}
