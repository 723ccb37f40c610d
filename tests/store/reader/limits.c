/* Limits on the time and the size of an answer. */
#include "reader.h"

#include <time.h>

static void add_runs(const char *path, unsigned n)
{
	char text[600];
	snprintf(text, sizeof text,
		 "PRAGMA synchronous = OFF; BEGIN;"
		 "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO run SELECT i, 1 + i %% 100, 1, 1, 0, 0, 3, 1, 0, 0, 0, i, i, i, i, i, 0, i, "
		 "0, -1,"
		 " 0, 0, 0, 0, 0, 0 FROM n; COMMIT",
		 n);
	run_sql(path, text);
}

static int64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

/* A query that would scan all runs is interrupted, and the reader stays usable. Queries with an index
 * finish. */
TEST(no_answer_takes_longer_than_its_limit)
{
	enum { RUNS = 600000 };
	struct scene s;
	struct read_runs list = { .n = 77 };
	scene_open(&s);
	add_runs(s.f.path, RUNS);
	struct read_filter none = { .states = 1 << RUN_RETRYING | 1 << RUN_MISSED };
	int64_t from = now_us();
	CHECK_INT(read_runs(s.r, &none, &s.a, &list, &s.why), E_LIMIT);
	CHECK(now_us() - from < 2 * READ_WAIT_MS_MAX * 1000);
	CHECK_INT(list.n, 77);
	CHECK(strstr(s.why.text, "ask for fewer records"));
	CHECK(sqlite3_get_autocommit(sqlite_reader_of(s.r)->db));
	/* A patient reader reports E_BUSY, so that its caller tries again. */
	s.r->patient = true;
	CHECK_INT(read_runs(s.r, &none, &s.a, &list, &s.why), E_BUSY);
	CHECK(sqlite3_get_autocommit(sqlite_reader_of(s.r)->db));
	static const struct read_filter quick[] = {
		{ .limit = 5 },
		{ .sid = 7, .limit = 5 },
		{ .failed = true },
		{ .failed = true, .sid = 7 },
		{ .states = 1 << RUN_MISSED },
		{ .states = 1 << RUN_SKIPPED, .sid = 7 },
		{ .states = 1 << RUN_CLAIMED },
		{ .since = { 300000 }, .until = { 300004 } },
		{ .before = { { 300000 }, 300000 }, .limit = 5 },
		{ .states = 1 << RUN_RETRYING | 1 << RUN_MISSED, .since = { 599000 } },
	};
	for (unsigned i = 0; i < ARRAY_LEN(quick); i++) {
		test_case("query %u", i);
		CHECK_INT(read_runs(s.r, &quick[i], &s.a, &list, &s.why), OK);
		bool empty = quick[i].failed || quick[i].states;
		CHECK_INT(list.n, empty ? 0 : 5);
	}
	test_case(NULL);
	CHECK_INT(read_runs(s.r, &(struct read_filter){ .limit = UINT32_MAX }, &s.a, &list, &s.why), OK);
	CHECK(list.n == READ_LIST_MAX && list.more && list.item[0].run == RUNS);
	scene_close(&s);
}
