/* What is kept of SQLite's store beyond its rows: documents that were replaced, copies, and how often it was
 * opened.
 */
#include "store/sqlite/backup.h"
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/read/prune_scan.h"
#include "test.h"

#include <unistd.h>

/* --- documents --- */

static void check_document(int line, struct rig *rig, uint32_t rev, const char *want)
{
	struct reader *reader = NULL;
	struct arena arena = { 0 };
	struct str got = { 0 };
	struct why why;
	CHECK_INT_AT(line, reader_open(rig->path, &reader, &why), OK);
	CHECK_INT_AT(line, read_document_of(reader, 5, rev, &arena, &got, &why), OK);
	check_str(__FILE__, line, got, str_of(want), "document");
	reader_close(reader);
	arena_free(&arena);
}
#define CHECK_DOCUMENT(rig, rev, want) check_document(__LINE__, rig, rev, want)

static void put_document(struct rig *rig, uint32_t rev, const char *text)
{
	struct st_req p = req_put(5, rev, 10 * ((int64_t)rev + 1));
	p.document = str_of(text);
	CHECK_INT(rig_ask(rig, &p).res, ST_OK);
}

static void prune_version(struct rig *rig, uint32_t rev, int64_t at)
{
	struct st_req r = req_prune(PRUNE_VERSION, 5, at);
	r.rev = rev;
	CHECK_INT(rig_ask(rig, &r).res, ST_OK);
}

static void version_goes_with_its_last_run(uint8_t kind)
{
	struct rig rig;
	rig_open(&rig, RIG_SQLITE);
	put_document(&rig, 0, "one");
	struct st_req r = req_occ(5, 1, 1, 100);
	r.run.kind = kind;
	CHECK_INT(rig_ask(&rig, &r).res, ST_OK);
	put_document(&rig, 1, "two");
	put_document(&rig, 2, "three");
	put_document(&rig, 3, "four");
	CHECK_DOCUMENT(&rig, 1, "one");
	CHECK_DOCUMENT(&rig, 2, "two");
	prune_version(&rig, 1, 1000); /* its run is open */
	prune_version(&rig, 2, 29);   /* not old enough */
	CHECK_DOCUMENT(&rig, 1, "one");
	CHECK_DOCUMENT(&rig, 2, "two");
	prune_version(&rig, 2, 30); /* nothing ran by it, whatever ran by the one before */
	CHECK_DOCUMENT(&rig, 1, "one");
	CHECK_DOCUMENT(&rig, 2, "three");
	rig_ask(&rig, &(struct st_req[]){ req_finish(5, 1, 1, RUN_FINISHED, 110) }[0]);
	prune_version(&rig, 1, 1000); /* over, and its record is there */
	CHECK_DOCUMENT(&rig, 1, "one");
	/* Later ones, by the later document, have the same nominal times, or earlier ones. */
	struct st_req later = req_occ(5, 4, 2, 90);
	later.run.state = RUN_FINISHED;
	CHECK_INT(rig_ask(&rig, &later).res, ST_OK);
	rig_ask(&rig, &(struct st_req[]){ req_prune(PRUNE_RUNS, 0, 1000) }[0]);
	prune_version(&rig, 1, 1000);
	CHECK_DOCUMENT(&rig, 1, "three");
	prune_version(&rig, 3, 1000);
	CHECK_DOCUMENT(&rig, 1, "four");
	rig_close(&rig);
}

TEST(version_goes_with_its_last_run_of_any_kind)
{
	version_goes_with_its_last_run(KIND_TIMER);
	version_goes_with_its_last_run(KIND_MANUAL);
}

TEST(old_things_are_walked_piece_by_piece)
{
	struct rig rig;
	struct reader *reader = NULL;
	struct old_item item[3];
	struct why why;
	unsigned n;
	rig_open(&rig, RIG_SQLITE);
	put_document(&rig, 0, "one");
	for (uint64_t i = 1; i <= 5; i++) {
		struct st_req r = req_occ(5, 1, 10 * i, 100 * (int64_t)i);
		r.run.state = i == 2 ? RUN_CLAIMED : RUN_FINISHED;
		CHECK_INT(rig_ask(&rig, &r).res, ST_OK);
	}
	CHECK_INT(reader_open(rig.path, &reader, &why), OK);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 0, AT(402), item, 3, &n, &why), OK);
	CHECK(n == 3 && item[0].at == 10 && item[2].at == 30);
	CHECK(item[0].old && !item[1].old && item[2].old && !item[2].young);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 30, AT(402), item, 3, &n, &why), OK);
	CHECK(n == 2 && item[0].old && !item[1].old && item[1].young);
	CHECK_INT(read_old(reader, PRUNE_RUNS, 30, AT(1000), item, 3, &n, &why), OK);
	CHECK(n == 2 && item[0].old && !item[1].old && !item[1].young); /* the latest */
	struct old_run run;
	CHECK_INT(read_old_run(reader, 50, &run, &why), OK);
	CHECK(run.known && run.over && run.latest && run.at.us == 502);
	CHECK_INT(read_old_run(reader, 20, &run, &why), OK);
	CHECK(run.known && !run.over && !run.latest);
	CHECK_INT(read_old_run(reader, 60, &run, &why), OK);
	CHECK(!run.known);
	reader_close(reader);
	rig_close(&rig);
}

/* --- how often it was opened --- */

struct home {
	struct rig rig;
	char generation[96];
};

static void home_open(struct home *p)
{
	rig_open(&p->rig, RIG_SQLITE);
	snprintf(p->generation, sizeof p->generation, "%s/generation", p->rig.dir);
}

static struct copy_past open_past(struct home *p, uint64_t last_run, int64_t now)
{
	struct copy_ask ask = { p->rig.path, p->generation, last_run, AT(now) };
	struct copy_past past = { 0 };
	struct why why = { 0 };
	if (!CHECK_INT(copy_open(&ask, &past, &why), OK))
		printf("%s\n", why.text);
	return past;
}

static void write_number(const struct home *p, const char *text)
{
	FILE *f = fopen(p->generation, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void read_done(void *ctx, const struct load_item *item)
{
	if (item->kind == LOAD_DONE)
		*(struct load_item *)ctx = *item;
}

TEST(a_database_that_was_put_back_is_found_out)
{
	static const struct {
		int line;
		const char *beside; /* after it was opened three times; NULL: the file is gone */
		uint64_t last_run;
		bool older;
	} rows[] = {
		{ __LINE__, "3\n", 7, false }, { __LINE__, "2\n", 0, false }, /* it could not be written */
		{ __LINE__, "4\n", 0, true },  { __LINE__, NULL, 0, true },
		{ __LINE__, "3\n", 8, true },  { __LINE__, "", 0, true },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct home p;
		struct load_item done = { 0 };
		test_case("line %d", rows[i].line);
		home_open(&p);
		rig_ask(&p.rig, &(struct st_req[]){ req_put(5, 0, 10) }[0]);
		rig_ask(&p.rig, &(struct st_req[]){ req_occ(5, 1, 7, 100) }[0]);
		for (unsigned n = 0; n < 3; n++)
			CHECK(!open_past(&p, 7, 500).older);
		if (rows[i].beside)
			write_number(&p, rows[i].beside);
		else
			unlink(p.generation);
		struct copy_past past = open_past(&p, rows[i].last_run, 1000);
		CHECK_INT(past.older, rows[i].older);
		CHECK_INT(past.strays, rows[i].older);
		CHECK_INT(past.restored.us, rows[i].older ? 1000 : 0);
		CHECK_INT(past.restored_run, rows[i].older ? 7 : 0);
		CHECK_INT(p.rig.ops->load(p.rig.store, read_done, &done), OK);
		CHECK_INT(done.done.last_run, rows[i].older ? 4095 : 7);
		CHECK_INT(done.done.restored.us, past.restored.us);
		CHECK_INT(done.done.restored_run, past.restored_run);
		/* Once. */
		uint64_t last = rows[i].older ? 4095 : 7;
		past = open_past(&p, last, 2000);
		CHECK(!past.older && past.strays == rows[i].older);
		struct why why;
		CHECK_INT(copy_settled(p.rig.path, &why), OK);
		CHECK(!open_past(&p, last, 3000).strays);
		rig_close(&p.rig);
	}
}

TEST(a_new_database_has_nothing_to_know)
{
	struct home p;
	home_open(&p);
	write_number(&p, "7\n"); /* of one that was removed */
	CHECK(!open_past(&p, 0, 1000).older);
	CHECK(!open_past(&p, 0, 1000).older);
	rig_close(&p.rig);
	/* But runs have left their files, whose numbers are not to be given again. */
	home_open(&p);
	CHECK(open_past(&p, 4096, 1000).older);
	struct load_item done = { 0 };
	CHECK_INT(p.rig.ops->load(p.rig.store, read_done, &done), OK);
	CHECK_INT(done.done.last_run, 8191);
	rig_close(&p.rig);
}

/* Where the file cannot be written, the first opening is not counted: it would be taken for another's. */
TEST(a_file_that_cannot_be_written)
{
	struct home p;
	home_open(&p);
	char good[96];
	memcpy(good, p.generation, sizeof good);
	snprintf(p.generation, sizeof p.generation, "%s/no/generation", p.rig.dir);
	for (unsigned i = 0; i < 3; i++)
		CHECK(!open_past(&p, 0, 1000).older);
	memcpy(p.generation, good, sizeof good);
	CHECK(!open_past(&p, 0, 1000).older);
	CHECK(!open_past(&p, 0, 1000).older);
	rig_close(&p.rig);
}

/* --- copies --- */

/* Every run of it has its move, and every move its run: a copy of one moment keeps that. */
TEST(a_copy_is_of_one_moment_whatever_is_written)
{
	struct rig rig;
	char file[128];
	uint64_t next = 0, bytes, copies = 0;
	unsigned flying = 0;
	struct st_ack ack[512];
	struct why why = { 0 };
	rig_open(&rig, RIG_SQLITE);
	for (uint64_t sid = 1; sid <= 200; sid++)
		rig_ask(&rig, &(struct st_req[]){ req_put(sid, 0, 10) }[0]);
	while (copies < 5) {
		for (; flying < 400; flying++) {
			uint64_t sid = ++next % 200 + 1;
			struct st_req r =
				moving(req_occ(sid, 1, next, 100 + (int64_t)next), 1, 100 + (int64_t)next);
			r.tag = next;
			CHECK_INT(rig.ops->submit(rig.store, &r), OK);
		}
		snprintf(file, sizeof file, "%s/copy-%llu", rig.dir, (unsigned long long)copies++);
		if (!CHECK_INT(copy_make(rig.path, file, &bytes, &why), OK))
			printf("%s\n", why.text);
		flying -= rig_collect(rig.ops, rig.store, ack, flying);
		CHECK(database_is_sound(file));
		sqlite3 *db = NULL;
		sqlite3_stmt *s = NULL;
		CHECK_INT(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
		CHECK_INT(sqlite3_prepare_v2(
				  db,
				  "SELECT count(*) FROM schedule s WHERE high <> ifnull((SELECT max(nominal)"
				  " FROM run r WHERE r.sid = s.sid), 0)",
				  -1, &s, NULL),
			  SQLITE_OK);
		CHECK_INT(sqlite3_step(s), SQLITE_ROW);
		CHECK_INT(sqlite3_column_int64(s, 0), 0);
		sqlite3_finalize(s);
		sqlite3_close(db);
	}
	rig_close(&rig);
}
