/* Tests of the SQLite store only: opening and refusing files, limits, outages, its log, threads. */
#include "dump.h"
#include "fixture.h"
#include "port/read.h"
#include "requests.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/store.h"
#include "store/sqlite/write/statements.h"
#include "test.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64], path[80], wal[88];

static void make_paths(void)
{
	make_dir(dir, sizeof dir);
	snprintf(path, sizeof path, "%s/db", dir);
	snprintf(wal, sizeof wal, "%s-wal", path);
}

static struct store *open_store(const struct store_tuning *tuning)
{
	struct store *s = NULL;
	struct why why = { 0 };
	if (store_sqlite_open_tuned(path, tuning, &s, &why) != OK) {
		printf("%s\n", why.text);
		abort();
	}
	return s;
}

static void submit(struct store *s, struct st_req r, uint64_t tag)
{
	r.tag = tag;
	CHECK_INT(store_sqlite_ops.submit(s, &r), OK);
}

static void write_file(const char *text, size_t n)
{
	FILE *f = fopen(path, "w");
	CHECK(f && fwrite(text, 1, n, f) == n);
	if (f)
		fclose(f);
}

/* --- statements --- */

/* The cost of a statement must not grow with the size of a table: all requests wait for the writer. */
TEST(no_statement_scans_a_table)
{
	static struct write_statements set;
	sqlite3 *db = NULL;
	make_paths();
	store_sqlite_close(open_store(&store_tuning_default));
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_INT(write_statements_prepare(&set, db), SQLITE_OK);
	for (unsigned i = 0; i < WRITE_STATEMENTS; i++) {
		struct buf text = { 0 };
		sqlite3_stmt *plan = NULL;
		buf_addf(&text, "EXPLAIN QUERY PLAN %s", sqlite3_sql(set.stmt[i]));
		CHECK_INT(sqlite3_prepare_v2(db, text.p, -1, &plan, NULL), SQLITE_OK);
		while (sqlite3_step(plan) == SQLITE_ROW) {
			const char *step = (const char *)sqlite3_column_text(plan, 3);
			test_case("%s: %s", sqlite3_sql(set.stmt[i]), step);
			CHECK(strncmp(step, "SCAN ", 5) != 0 ||
			      !strcmp(step, "SCAN g") /* a few pruned schedules */ ||
			      !strcmp(step, "SCAN part") /* at most STORE_PARTS_MAX, seldom */);
		}
		sqlite3_finalize(plan);
		buf_free(&text);
	}
	write_statements_finalize(&set);
	sqlite3_close(db);
	remove_dir(dir);
}

/* --- opening --- */

static void expect_refused(int line, enum err want, const char *message)
{
	struct store *s = (void *)1;
	struct why why = { 0 };
	CHECK_INT_AT(line, store_sqlite_open(path, &s, &why), want);
	CHECK_AT(line, s == (void *)1); /* untouched */
	if (!CHECK_AT(line, strstr(why.text, message) && strstr(why.text, dir)))
		printf("%s\n", why.text);
}

TEST(open_refuses_a_file_that_is_no_database)
{
	make_paths();
	char junk[8192];
	memset(junk, 'x', sizeof junk);
	write_file(junk, sizeof junk);
	expect_refused(__LINE__, E_INPUT, "is not a database");
	write_file("hello", 5);
	expect_refused(__LINE__, E_INPUT, "is not a database");
	remove_dir(dir);
	expect_refused(__LINE__, E_IO, "No such file or directory");
	mkdir(dir, 0700);
	mkdir(path, 0700);
	expect_refused(__LINE__, E_INPUT, "not a regular file");
	rmdir(path);
	remove_dir(dir);
}

TEST(open_refuses_another_programs_database)
{
	make_paths();
	run_sql(path, "CREATE TABLE notes (text)");
	expect_refused(__LINE__, E_INPUT, "another program");
	run_sql(path, "PRAGMA application_id = 5; DROP TABLE notes");
	expect_refused(__LINE__, E_INPUT, "another program");
	sqlite3 *db = NULL; /* to check that the file was not changed */
	sqlite3_stmt *st = NULL;
	sqlite3_open(path, &db);
	sqlite3_prepare_v2(db, "PRAGMA journal_mode", -1, &st, NULL);
	CHECK_INT(sqlite3_step(st), SQLITE_ROW);
	CHECK_STR((const char *)sqlite3_column_text(st, 0), "delete");
	sqlite3_finalize(st);
	sqlite3_close(db);
	remove_dir(dir);
}

TEST(open_refuses_a_newer_version_and_names_both)
{
	make_paths();
	store_sqlite_close(open_store(&store_tuning_default));
	char text[64], message[64];
	snprintf(text, sizeof text, "PRAGMA user_version = %u", schema_version + 7);
	run_sql(path, text);
	snprintf(message, sizeof message, "version %u,", schema_version + 7);
	expect_refused(__LINE__, E_INPUT, message);
	snprintf(message, sizeof message, "up to %u;", schema_version);
	expect_refused(__LINE__, E_INPUT, message);
	remove_dir(dir);
}

TEST(open_reports_damage)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	for (unsigned i = 1; i < 200; i++)
		submit(s, req_put(i, 0, 10), i);
	store_sqlite_close(s);
	FILE *f = fopen(path, "r+");
	char junk[4096 - 100];
	memset(junk, 0xA5, sizeof junk);
	fseek(f, 100, SEEK_SET); /* overwrites the schema, but not the header */
	CHECK_INT(fwrite(junk, 1, sizeof junk, f), sizeof junk);
	fclose(f);
	expect_refused(__LINE__, E_IO, "malformed");
	remove_dir(dir);
}

TEST(open_fills_an_empty_database)
{
	make_paths();
	write_file("", 0);
	store_sqlite_close(open_store(&store_tuning_default));
	unlink(path);
	run_sql(path, "PRAGMA journal_mode = WAL"); /* created and left empty */
	store_sqlite_close(open_store(&store_tuning_default));
	store_sqlite_close(open_store(&store_tuning_default));
	store_sqlite_close(NULL);
	remove_dir(dir);
}

/* --- submitting and collecting --- */

static bool readable(struct store *s, int ms)
{
	struct pollfd p = { .fd = store_sqlite_ops.fd(s), .events = POLLIN };
	return poll(&p, 1, ms) == 1;
}

TEST(fd_is_readable_while_there_are_answers)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	struct st_ack ack[3];
	CHECK(!readable(s, 0));
	CHECK_INT(store_sqlite_ops.collect(s, ack, 3), 0);
	for (unsigned i = 1; i <= 3; i++)
		submit(s, req_put(i, 0, 10), i);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 2), 2);
	CHECK(readable(s, 10000));
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 1), 1);
	CHECK(!readable(s, 0));
	submit(s, req_put(9, 0, 10), 4);
	CHECK(readable(s, 10000));
	CHECK_INT(store_sqlite_ops.collect(s, ack, 0), 0);
	CHECK_INT(store_sqlite_ops.collect(s, ack, 3), 1);
	CHECK_INT(ack[0].tag, 4);
	store_sqlite_close(s);
	remove_dir(dir);
}

TEST(texts_are_copied)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	char id[] = "first", document[] = "second";
	struct st_req r = req_put(1, 0, 10);
	struct st_ack ack;
	r.id = str_of(id);
	r.document = str_of(document);
	submit(s, r, 1);
	memset(id, 'x', 5);
	memset(document, 'x', 6);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, &ack, 1), 1);
	struct buf b = { 0 };
	dump_sqlite(path, &b);
	CHECK(strstr(b.p, "'first' 'second'"));
	buf_free(&b);
	store_sqlite_close(s);
	remove_dir(dir);
}

TEST(submit_is_bounded)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	struct st_req r = req_hold(1, 1, 1);
	unsigned n = 0;
	while (store_sqlite_ops.submit(s, &r) == OK)
		n++;
	CHECK_INT(n, STORE_UNDER_WAY_MAX);
	CHECK_INT(store_sqlite_ops.submit(s, &r), E_LIMIT);
	struct st_ack *ack = calloc(n, sizeof *ack);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 1), 1);
	CHECK_INT(store_sqlite_ops.submit(s, &r), OK);
	CHECK_INT(store_sqlite_ops.submit(s, &r), E_LIMIT);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, n), n);
	free(ack);
	store_sqlite_close(s);
	remove_dir(dir);
}

TEST(close_carries_out_what_is_queued)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	for (unsigned i = 1; i <= 3000; i++)
		submit(s, req_put(i, 0, 10), i);
	store_sqlite_close(s);
	struct buf b = { 0 };
	s = open_store(&store_tuning_default);
	dump_load(&store_sqlite_ops, s, &b);
	CHECK(strstr(b.p, "done 0 3000\n"));
	buf_free(&b);
	store_sqlite_close(s);
	remove_dir(dir);
}

/* --- failures --- */

/* A document that is too large is refused; the other requests of its group are carried out. */
TEST(a_refused_request_does_not_affect_its_group)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	size_t n = STORE_DOCUMENT_BYTES_MAX + 1;
	char *large = malloc(n);
	struct st_ack ack[9];
	memset(large, 'x', n);
	/* The lock of another connection makes all requests wait, so that they become one group. */
	sqlite3 *other = NULL;
	sqlite3_open(path, &other);
	CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	submit(s, req_put(100, 0, 10), 100);
	for (unsigned i = 1; i <= 8; i++) {
		struct st_req r = req_put(i, 0, 10);
		if (i == 3 || i == 6)
			r.document = (struct str){ large, n };
		submit(s, r, i);
	}
	CHECK_INT(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 9), 9);
	for (unsigned i = 0; i < 9; i++) {
		bool bad = ack[i].tag == 3 || ack[i].tag == 6;
		CHECK_INT(ack[i].res, bad ? ST_REFUSED : ST_OK);
		CHECK_INT(ack[i].has_row, !bad);
	}
	CHECK_INT(store_sqlite_failure(s, NULL, NULL, NULL), OK);
	struct st_req r = req_put(9, 0, 10); /* the largest that is accepted: id and numbers count, too */
	r.id = STR("id");
	r.document = (struct str){ large, STORE_DOCUMENT_BYTES_MAX - 64 };
	submit(s, r, 9);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 1), 1);
	CHECK_INT(ack[0].res, ST_OK);
	free(large);
	store_sqlite_close(s);
	CHECK(database_is_sound(path));
	remove_dir(dir);
}

TEST(the_lock_of_another_connection_is_an_outage)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	sqlite3 *other = NULL;
	struct why why = { 0 };
	struct wall since = { 0 };
	struct st_ack ack;
	sqlite3_open(path, &other);
	CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	submit(s, req_put(1, 0, 10), 1);
	for (unsigned i = 0; i < 1000 && store_sqlite_failure(s, &since, NULL, &why) == OK; i++)
		usleep(10000);
	CHECK(strstr(why.text, "locked") && since.us > 0);
	CHECK(!readable(s, 0));
	CHECK_INT(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, &ack, 1), 1);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(store_sqlite_failure(s, NULL, NULL, NULL), OK);
	sqlite3_close(other);
	store_sqlite_close(s);
	remove_dir(dir);
}

/* --- the log --- */

static off_t size_of(const char *file)
{
	struct stat st;
	return stat(file, &st) == 0 ? st.st_size : 0;
}

/* The log stays short however long the work lasts, and is truncated when there are no requests. */
TEST(log_is_bounded)
{
	static const struct store_tuning small = {
		.group = 16, .checkpoint = 50, .wal_lull = 60, .lull_ms = 1, .wal_max = 300
	};
	make_paths();
	struct store *s = open_store(&small);
	struct st_ack ack[100];
	uint64_t tag = 0;
	for (unsigned round = 0; round < 8; round++) {
		off_t largest = 0;
		for (unsigned i = 0; i < 4 + round; i++) {
			for (unsigned k = 0; k < 100; k++, tag++)
				submit(s, req_put(tag * 7919 % 1000003 + 1, 0, 10), tag);
			CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 100), 100);
			off_t n = size_of(wal);
			largest = n > largest ? n : largest;
		}
		CHECK(largest > 0 && largest < (300 + 200) * 4200);
		for (unsigned i = 0; i < 1000 && size_of(wal) > 60 * 4200; i++)
			usleep(10000);
		CHECK(size_of(wal) <= 60 * 4200);
	}
	CHECK_INT(store_sqlite_failure(s, NULL, NULL, NULL), OK);
	store_sqlite_close(s);
	CHECK(database_is_sound(path));
	remove_dir(dir);
}

/* An open read transaction keeps the log from being restarted, but blocks no request. */
TEST(a_reader_blocks_no_request)
{
	static const struct store_tuning small = {
		.group = 16, .checkpoint = 10, .wal_lull = 20, .lull_ms = 1, .wal_max = 1000000
	};
	make_paths();
	struct store *s = open_store(&small);
	struct st_ack ack[50];
	sqlite3 *other = NULL;
	sqlite3_open(path, &other);
	CHECK_INT(sqlite3_exec(other, "BEGIN; SELECT count(*) FROM run", NULL, NULL, NULL), SQLITE_OK);
	for (uint64_t i = 0; i < 50; i++) {
		for (unsigned k = 0; k < 50; k++)
			submit(s, req_put(i * 50 + k + 1, 0, 10), i);
		CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 50), 50);
	}
	CHECK_INT(store_sqlite_failure(s, NULL, NULL, NULL), OK);
	store_sqlite_close(s);
	s = open_store(&small); /* the reader does not block opening the store either */
	submit(s, req_put(99999, 0, 10), 1);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 1), 1);
	CHECK_INT(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	store_sqlite_close(s);
	remove_dir(dir);
}

/* --- the log of events --- */

/* How many rows of the log are not followed by the next number. */
static int64_t gaps_in_log(void)
{
	return select_number(
		path, "SELECT count(*) FROM (SELECT number, lead(number) OVER (ORDER BY number) AS next,"
		      " CASE cause WHEN 32 THEN 2 WHEN 33 THEN 4 WHEN 34 THEN 5 WHEN 35 THEN 2"
		      " WHEN 36 THEN 3 ELSE 1 END AS n FROM event) WHERE next <> number + n");
}

TEST(events_older_than_a_time_are_pruned_up_to_the_first_younger)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	struct st_ack ack[9];
	for (uint64_t i = 1; i <= 9; i++)
		submit(s, req_put(i, 0, 10), i);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 9), 9);
	/* The clock was set back while they were logged: 4 is younger than 5 and 6. */
	run_sql(path, "UPDATE event SET at = CASE number WHEN 4 THEN 500 ELSE 100 END WHERE number <= 6");
	submit(s, req_prune(PRUNE_EVENTS, 0, 200), 10);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 1), 1);
	CHECK_INT(select_number(path, "SELECT min(number) FROM event"), 4);
	CHECK_INT(select_number(path, "SELECT count(*) FROM event"), 6);
	CHECK_INT(gaps_in_log(), 0);
	store_sqlite_close(s);
	remove_dir(dir);
}

TEST(a_failed_transaction_uses_no_number)
{
	make_paths();
	struct store *s = open_store(&store_tuning_default);
	size_t n = STORE_DOCUMENT_BYTES_MAX + 1;
	char *large = calloc(1, n);
	struct st_ack ack[6];
	sqlite3 *other = NULL;
	sqlite3_open(path, &other); /* its lock makes the requests one group */
	CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	for (unsigned i = 1; i <= 6; i++) {
		struct st_req r = req_put(i, 0, 10);
		if (i == 3)
			r.document = (struct str){ large, n };
		submit(s, r, i);
	}
	CHECK_INT(sqlite3_exec(other, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, ack, 6), 6);
	uint64_t last = 0;
	for (unsigned i = 0; i < 6; i++) {
		CHECK_INT(ack[i].event, ack[i].res == ST_OK ? last + 1 : 0);
		last = ack[i].event ? ack[i].event : last;
	}
	CHECK_INT(last, 5);
	CHECK_INT(gaps_in_log(), 0);
	free(large);
	store_sqlite_close(s);
	remove_dir(dir);
}

TEST(no_events_are_logged_if_the_tuning_says_so)
{
	struct store_tuning tuning = store_tuning_default;
	struct st_ack ack;
	tuning.no_events = true;
	make_paths();
	struct store *s = open_store(&tuning);
	submit(s, req_put(1, 0, 10), 1);
	CHECK_INT(collect_answers(&store_sqlite_ops, s, &ack, 1), 1);
	CHECK(ack.res == ST_OK && !ack.event);
	CHECK_INT(select_number(path, "SELECT count(*) FROM event"), 0);
	store_sqlite_close(s);
	remove_dir(dir);
}

/* --- threads --- */

enum { THREADS = 3, PER_THREAD = 1500 };

struct shared_store {
	struct store *store;
	atomic_bool stop;
};

static void *submit_requests(void *arg)
{
	struct shared_store *p = ((struct shared_store **)arg)[0];
	unsigned me = (unsigned)(uintptr_t)((void **)arg)[1];
	for (unsigned i = 0; i < PER_THREAD; i++) {
		struct st_req r = req_put(1 + i * THREADS + me, 0, 10);
		r.tag = me;
		r.lane = (uint8_t)(i % LANES);
		r.document = STR("some text");
		while (store_sqlite_ops.submit(p->store, &r) != OK)
			usleep(100);
	}
	return NULL;
}

static void *watch_failures(void *arg)
{
	struct shared_store *p = arg;
	struct why why;
	while (!atomic_load(&p->stop)) {
		if (store_sqlite_failure(p->store, NULL, NULL, &why) != OK)
			printf("%s\n", why.text);
		usleep(500);
	}
	return NULL;
}

static void count_schedules(void *ctx, const struct load_item *item)
{
	*(unsigned *)ctx += item->kind == LOAD_SCHED;
}

/* Follows the log: whoever has read up to a number never meets a new event at or below it, and misses none.
 */
static void *follow_log(void *arg)
{
	struct shared_store *p = arg;
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct event_filter f = { .limit = 100 };
	struct why why;
	if (!CHECK_INT(store_sqlite_ops.reader(p->store, &r, &why), OK))
		return NULL;
	for (bool end = false; !end || f.after < THREADS * PER_THREAD;) {
		struct read_events log = { 0 };
		end = atomic_load(&p->stop);
		arena_reset(&a);
		if (!CHECK_INT(read_events(r, &f, &a, &log, &why), OK))
			break;
		for (unsigned i = 0; i < log.n; i++)
			CHECK_INT(log.item[i].number, ++f.after);
		CHECK_INT(log.searched, f.after);
		if (end && !log.n)
			break;
	}
	CHECK_INT(f.after, THREADS * PER_THREAD);
	reader_close(r);
	arena_free(&a);
	return NULL;
}

/* Three threads submit, one collects and loads, one reads the failures, one follows the log of events. Most
 * useful with the thread sanitizer. */
TEST(threads_share_a_store)
{
	static const struct store_tuning small = {
		.group = 64, .checkpoint = 20, .wal_lull = 50, .lull_ms = 1, .wal_max = 200
	};
	make_paths();
	struct shared_store p = { .store = open_store(&small) };
	pthread_t thread[THREADS], watch, follower;
	void *arg[THREADS][2];
	struct st_ack ack[64];
	unsigned got = 0, seen = 0;
	pthread_create(&watch, NULL, watch_failures, &p);
	pthread_create(&follower, NULL, follow_log, &p);
	for (unsigned i = 0; i < THREADS; i++) {
		arg[i][0] = &p;
		arg[i][1] = (void *)(uintptr_t)i;
		pthread_create(&thread[i], NULL, submit_requests, arg[i]);
	}
	while (got < THREADS * PER_THREAD) {
		if (!readable(p.store, 10000))
			break;
		unsigned n = store_sqlite_ops.collect(p.store, ack, 64), before = got;
		for (unsigned i = 0; i < n; i++)
			CHECK(ack[i].res == ST_OK && ack[i].tag < THREADS);
		got += n;
		seen = 0;
		/* A load must show at least the requests that were answered. */
		if (got / 1000 > before / 1000) {
			CHECK_INT(store_sqlite_ops.load(p.store, count_schedules, &seen), OK);
			CHECK(seen >= got);
		}
	}
	CHECK_INT(got, THREADS * PER_THREAD);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	atomic_store(&p.stop, true);
	pthread_join(watch, NULL);
	pthread_join(follower, NULL);
	CHECK_INT(gaps_in_log(), 0);
	store_sqlite_close(p.store);
	CHECK(database_is_sound(path));
	remove_dir(dir);
}

/* --- lack of memory --- */

TEST(a_writer_without_memory_waits_and_says_so)
{
	static char document[1 << 20];
	struct fixture f;
	struct why why = { 0 };
	struct st_ack ack = { 0 };
	memset(document, 'x', sizeof document);
	fixture_open(&f, FIXTURE_SQLITE);
	struct st_req r = req_put(1, 0, 10);
	r.document = (struct str){ document, sizeof document };
	sqlite3_hard_heap_limit64(sqlite3_memory_used() + sizeof document / 2);
	CHECK_INT(f.ops->submit(f.store, &r), OK);
	for (unsigned i = 0; i < 1000 && f.ops->write_failure(f.store, &why) == OK; i++)
		usleep(10000);
	CHECK_INT(f.ops->write_failure(f.store, &why), E_NOMEM);
	CHECK_INT(f.ops->failure(f.store, NULL, NULL, NULL), E_NOMEM);
	CHECK(strstr(why.text, "out of memory"));
	CHECK_INT(f.ops->collect(f.store, &ack, 1), 0);
	sqlite3_hard_heap_limit64(0);
	CHECK_INT(collect_answers(f.ops, f.store, &ack, 1), 1);
	CHECK_INT(ack.res, ST_OK);
	CHECK_INT(f.ops->write_failure(f.store, NULL), OK);
	fixture_close(&f);
}
