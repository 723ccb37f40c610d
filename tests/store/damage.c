/* A file is damaged while the store has it open. When any thread has found the damage, no request is answered
 * any more, and the store reports a final failure. */
#include "fixture.h"
#include "requests.h"
#include "store/failures.h"
#include "test.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEDS = 3000, PAGE = 4096, WAIT_MS = 10000 };

struct scene {
	char dir[64], path[80];
	struct store *store;
	int fd; /* stays open: closing it would release the locks of the store */
};

/* A database of many pages, of which the newly opened store has read only a few. */
static void scene_open(struct scene *s)
{
	struct why why;
	static struct st_ack ack[SCHEDS];
	make_dir(s->dir, sizeof s->dir);
	snprintf(s->path, sizeof s->path, "%s/db", s->dir);
	CHECK_INT(store_sqlite_open(s->path, &s->store, &why), OK);
	for (uint64_t sid = 1; sid <= SCHEDS; sid++) {
		struct st_req r = req_put(sid, 0, 10);
		CHECK_INT(store_sqlite_ops.submit(s->store, &r), OK);
	}
	CHECK_INT(collect_answers(&store_sqlite_ops, s->store, ack, SCHEDS), SCHEDS);
	/* Requests write to the last page of the log of events: empty, it has one page in the first half. */
	struct st_req prune = req_prune(PRUNE_EVENTS, 0, INT64_MAX - 1);
	CHECK_INT(store_sqlite_ops.submit(s->store, &prune), OK);
	CHECK_INT(collect_answers(&store_sqlite_ops, s->store, ack, 1), 1);
	store_sqlite_close(s->store);
	s->fd = open(s->path, O_RDWR | O_CLOEXEC);
	CHECK_INT(store_sqlite_open(s->path, &s->store, &why), OK);
}

static void scene_close(struct scene *s)
{
	store_sqlite_close(s->store); /* must not hang */
	close(s->fd);
	remove_dir(s->dir);
}

static void overwrite(struct scene *s, off_t from, off_t to)
{
	char junk[PAGE];
	memset(junk, 0xA5, sizeof junk);
	for (; from < to; from += PAGE)
		CHECK(pwrite(s->fd, junk, to - from < PAGE ? (size_t)(to - from) : PAGE, from) > 0);
}

/* Overwrites the second half, which has no page of a small table. */
static void damage_half(struct scene *s)
{
	struct stat st;
	CHECK(fstat(s->fd, &st) == 0 && st.st_size > 100 * PAGE);
	overwrite(s, st.st_size / 2 / PAGE * PAGE, st.st_size);
}

static void submit(struct scene *s, struct st_req r, uint64_t tag)
{
	r.tag = tag;
	CHECK_INT(store_sqlite_ops.submit(s->store, &r), OK);
}

/* A request that reads a page of the second half. */
static struct st_req damaged_request(void)
{
	return req_put(SCHEDS * 3 / 4, 1, 20);
}

/* Takes a lock that makes the writer wait, with one request under way. */
static sqlite3 *lock_database(struct scene *s, uint64_t tag)
{
	sqlite3 *other = NULL;
	CHECK_INT(sqlite3_open(s->path, &other), SQLITE_OK);
	CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	submit(s, req_hold(1, 1, 1), tag);
	for (unsigned i = 0; i < WAIT_MS && store_sqlite_failure(s->store, NULL, NULL, NULL) == OK; i++)
		usleep(1000);
	return other;
}

static void unlock_database(sqlite3 *other)
{
	CHECK_INT(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(other);
}

static void ignore(void *ctx, const struct load_item *item)
{
	(void)ctx, (void)item;
}

static void expect_final_at(int line, struct scene *s, const char *word)
{
	struct wall since = { 0 };
	struct why why = { 0 };
	struct st_req r = req_hold(1, 1, 1);
	bool final = false;
	for (unsigned i = 0; i < WAIT_MS && !final; i++) {
		usleep(1000);
		(void)!store_sqlite_failure(s->store, &since, &final, &why);
	}
	CHECK_AT(line, final);
	CHECK_INT_AT(line, store_sqlite_failure(s->store, NULL, NULL, NULL), E_IO);
	CHECK_AT(line, since.us > 0);
	if (!CHECK_AT(line, strstr(why.text, word) && strstr(why.text, s->path)))
		printf("%s\n", why.text);
	/* The failure stays final: no request is accepted any more. */
	CHECK_INT_AT(line, store_sqlite_ops.submit(s->store, &r), E_IO);
	CHECK_INT_AT(line, store_sqlite_ops.load(s->store, ignore, NULL), E_IO);
	final = false;
	CHECK_INT_AT(line, store_sqlite_failure(s->store, NULL, &final, NULL), E_IO);
	CHECK_AT(line, final);
}
#define EXPECT_FINAL(s, word) expect_final_at(__LINE__, s, word)

TEST(damage_met_by_a_request)
{
	struct scene s;
	struct st_ack ack[2];
	scene_open(&s);
	submit(&s, req_hold(1, 1, 1), 1);
	CHECK_INT(collect_answers(&store_sqlite_ops, s.store, ack, 1), 1);
	CHECK_INT(store_sqlite_failure(s.store, NULL, NULL, NULL), OK);
	damage_half(&s);
	submit(&s, damaged_request(), 2);
	EXPECT_FINAL(&s, "malformed");
	CHECK_INT(store_sqlite_ops.collect(s.store, ack, 2), 0);
	scene_close(&s);
}

/* No request of the group is answered; answers given before can still be collected. */
TEST(damage_leaves_the_whole_group_unanswered)
{
	struct scene s;
	struct st_ack ack[9];
	scene_open(&s);
	sqlite3 *other = lock_database(&s, 1);
	submit(&s, req_hold(2, 1, 1), 2); /* these requests become one group */
	submit(&s, req_hold(3, 1, 1), 3);
	submit(&s, damaged_request(), 4);
	submit(&s, req_hold(4, 1, 1), 5);
	damage_half(&s);
	unlock_database(other);
	EXPECT_FINAL(&s, "malformed");
	CHECK_INT(store_sqlite_ops.collect(s.store, ack, 9), 1);
	CHECK_INT(ack[0].tag, 1);
	CHECK_INT(ack[0].res, ST_OK);
	scene_close(&s);
}

TEST(damage_met_by_a_load)
{
	struct scene s;
	scene_open(&s);
	damage_half(&s);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "malformed");
	scene_close(&s);
}

/* Requests that are under way when load finds the damage are not carried out, even if they could be. */
TEST(damage_met_by_a_load_stops_the_writer)
{
	struct scene s;
	struct st_ack ack;
	scene_open(&s);
	sqlite3 *other = lock_database(&s, 1);
	damage_half(&s);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "malformed");
	usleep((STORE_BUSY_MS + 300) * 1000); /* waits until the current try has failed */
	unlock_database(other);
	usleep(100000);
	CHECK_INT(store_sqlite_ops.collect(s.store, &ack, 1), 0);
	scene_close(&s);
}

TEST(a_file_that_is_no_longer_a_database)
{
	struct scene s;
	scene_open(&s);
	overwrite(&s, 0, 100);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "not a database");
	scene_close(&s);
}

TEST(a_final_failure_stays_and_is_reported_first)
{
	struct store_failures f;
	struct why first = { .text = "first" }, second = { .text = "second" }, got = { 0 };
	bool final = true;
	failures_init(&f);
	CHECK_INT(failures_worst(&f, NULL, NULL, NULL), OK);
	failures_set(&f, STORE_CHECKPOINTING, E_IO, &second);
	failures_set(&f, STORE_READING, E_IO, &first);
	CHECK_INT(failures_worst(&f, NULL, &final, &got), E_IO);
	CHECK(!final && !failures_are_final(&f));
	CHECK_STR(got.text, "first");
	failures_set_final(&f, STORE_CHECKPOINTING, &second);
	failures_set(&f, STORE_CHECKPOINTING, E_NOMEM, &first); /* no effect */
	failures_set(&f, STORE_CHECKPOINTING, OK, NULL);        /* no effect */
	CHECK_INT(failures_worst(&f, NULL, &final, &got), E_IO);
	CHECK(final && failures_are_final(&f));
	CHECK_STR(got.text, "second");
	failures_set(&f, STORE_READING, OK, NULL);
	CHECK(failures_are_final(&f));
	failures_destroy(&f);
}
