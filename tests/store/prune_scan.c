/* Finding and pruning old records: versions of documents, and the scan for old runs. */
#include "fixture.h"
#include "port/read.h"
#include "requests.h"
#include "test.h"

/* --- versions of documents --- */

static void check_document(int line, struct fixture *f, uint32_t rev, const char *want)
{
	struct reader *reader = NULL;
	struct arena arena = { 0 };
	struct str got = { 0 };
	struct why why;
	CHECK_INT_AT(line, f->ops->reader(f->store, &reader, &why), OK);
	CHECK_INT_AT(line, read_document_of(reader, 5, rev, &arena, &got, &why), OK);
	check_str(__FILE__, line, got, str_of(want), "document");
	reader_close(reader);
	arena_free(&arena);
}
#define CHECK_DOCUMENT(f, rev, want) check_document(__LINE__, f, rev, want)

static void put_document(struct fixture *f, uint32_t rev, const char *text)
{
	struct st_req p = req_put(5, rev, 10 * ((int64_t)rev + 1));
	p.document = str_of(text);
	CHECK_INT(fixture_ask(f, p).res, ST_OK);
}

static void prune_version(struct fixture *f, uint32_t rev, int64_t at)
{
	struct st_req r = req_prune(PRUNE_VERSION, 5, at);
	r.rev = rev;
	CHECK_INT(fixture_ask(f, r).res, ST_OK);
}

static void version_is_pruned_after_its_last_run(uint8_t kind)
{
	struct fixture f;
	fixture_open(&f, FIXTURE_SQLITE);
	put_document(&f, 0, "one");
	struct st_req r = req_occ(5, 1, 1, 100);
	r.run.kind = kind;
	CHECK_INT(fixture_ask(&f, r).res, ST_OK);
	put_document(&f, 1, "two");
	put_document(&f, 2, "three");
	put_document(&f, 3, "four");
	CHECK_DOCUMENT(&f, 1, "one");
	CHECK_DOCUMENT(&f, 2, "two");
	prune_version(&f, 1, 1000); /* stays: its run is open */
	prune_version(&f, 2, 29);   /* stays: it is not old enough */
	CHECK_DOCUMENT(&f, 1, "one");
	CHECK_DOCUMENT(&f, 2, "two");
	prune_version(&f, 2, 30); /* pruned: it has no run; the version before it has one */
	CHECK_DOCUMENT(&f, 1, "one");
	CHECK_DOCUMENT(&f, 2, "three");
	fixture_ask(&f, req_finish(5, 1, 1, RUN_FINISHED, 110));
	prune_version(&f, 1, 1000); /* stays: its run is finished, but still recorded */
	CHECK_DOCUMENT(&f, 1, "one");
	/* A run of a later version may have an earlier nominal time. */
	struct st_req later = req_occ(5, 4, 2, 90);
	later.run.state = RUN_FINISHED;
	CHECK_INT(fixture_ask(&f, later).res, ST_OK);
	fixture_ask(&f, req_prune(PRUNE_RUNS, 0, 1000));
	prune_version(&f, 1, 1000);
	CHECK_DOCUMENT(&f, 1, "three");
	prune_version(&f, 3, 1000);
	CHECK_DOCUMENT(&f, 1, "four");
	fixture_close(&f);
}

TEST(version_is_pruned_after_its_last_run_of_any_kind)
{
	version_is_pruned_after_its_last_run(KIND_TIMER);
	version_is_pruned_after_its_last_run(KIND_MANUAL);
}

/* --- the scan --- */

TEST(old_records_are_scanned_in_parts)
{
	struct fixture f;
	struct reader *reader = NULL;
	struct old_item item[3];
	struct why why;
	unsigned n;
	fixture_open(&f, FIXTURE_SQLITE);
	put_document(&f, 0, "one");
	for (uint64_t i = 1; i <= 5; i++) {
		struct st_req r = req_occ(5, 1, 10 * i, 100 * (int64_t)i);
		r.run.state = i == 2 ? RUN_CLAIMED : RUN_FINISHED;
		CHECK_INT(fixture_ask(&f, r).res, ST_OK);
	}
	CHECK_INT(f.ops->reader(f.store, &reader, &why), OK);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 0, AT(402), item, 3, &n, &why), OK);
	CHECK(n == 3 && item[0].at == 10 && item[2].at == 30);
	CHECK(item[0].old && !item[1].old && item[2].old && !item[2].young);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 30, AT(402), item, 3, &n, &why), OK);
	CHECK(n == 2 && item[0].old && !item[1].old && item[1].young);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 30, AT(1000), item, 3, &n, &why), OK);
	CHECK(n == 2 && item[0].old && !item[1].old &&
	      !item[1].young); /* it stays because it is the last end of a schedule that was not removed */
	struct old_run run;
	CHECK_INT(read_old_run(reader, 50, &run, &why), OK);
	CHECK(run.known && run.over && run.latest && run.at.us == 502);
	CHECK_INT(read_old_run(reader, 20, &run, &why), OK);
	CHECK(run.known && !run.over && !run.latest);
	CHECK_INT(read_old_run(reader, 60, &run, &why), OK);
	CHECK(!run.known);
	reader_close(reader);
	fixture_close(&f);
}
