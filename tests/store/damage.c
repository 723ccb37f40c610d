/* A file that is damaged while the store has it open: whoever meets the damage, nothing is answered from then
 * on, and the store says that this is final. */
#include "fixture.h"
#include "requests.h"
#include "store/failures.h"
#include "test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCHEDS = 3000, PAGE = 4096, WAIT_MS = 10000 };

struct scene {
	char dir[64], path[80];
	struct store *store;
	int fd; /* stays open beside the store: closing it would drop the store's own locks */
};

/* A database of many pages, of which the store that has just opened it has read but a few. */
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
	CHECK_INT(rig_collect(&store_sqlite_ops, s->store, ack, SCHEDS), SCHEDS);
	store_sqlite_close(s->store);
	s->fd = open(s->path, O_RDWR | O_CLOEXEC);
	CHECK_INT(store_sqlite_open(s->path, &s->store, &why), OK);
}

static void scene_close(struct scene *s)
{
	store_sqlite_close(s->store); /* and does not hang */
	close(s->fd);
	remove_dir(s->dir);
}

static void scribble(struct scene *s, off_t from, off_t to)
{
	char junk[PAGE];
	memset(junk, 0xA5, sizeof junk);
	for (; from < to; from += PAGE)
		CHECK(pwrite(s->fd, junk, to - from < PAGE ? (size_t)(to - from) : PAGE, from) > 0);
}

/* The later half, in which no page is of a table of few rows. */
static void scribble_half(struct scene *s)
{
	struct stat st;
	CHECK(fstat(s->fd, &st) == 0 && st.st_size > 100 * PAGE);
	scribble(s, st.st_size / 2 / PAGE * PAGE, st.st_size);
}

static void submit(struct scene *s, struct st_req r, uint64_t tag)
{
	r.tag = tag;
	CHECK_INT(store_sqlite_ops.submit(s->store, &r), OK);
}

/* Reads a page of the later half. */
static struct st_req probe(void)
{
	return req_put(SCHEDS * 3 / 4, 1, 20);
}

/* Somebody else's lock holds the writer up, in the midst of one request. */
static sqlite3 *lock(struct scene *s, uint64_t tag)
{
	sqlite3 *other = NULL;
	CHECK_INT(sqlite3_open(s->path, &other), SQLITE_OK);
	CHECK_INT(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	submit(s, req_hold(1, 1, 1), tag);
	for (unsigned i = 0; i < WAIT_MS && store_sqlite_trouble(s->store, NULL, NULL, NULL) == OK; i++)
		usleep(1000);
	return other;
}

static void unlock(sqlite3 *other)
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
		(void)!store_sqlite_trouble(s->store, &since, &final, &why);
	}
	CHECK_AT(line, final);
	CHECK_INT_AT(line, store_sqlite_trouble(s->store, NULL, NULL, NULL), E_IO);
	CHECK_AT(line, since.us > 0);
	if (!CHECK_AT(line, strstr(why.text, word) && strstr(why.text, s->path)))
		printf("%s\n", why.text);
	/* It stays so, whatever is tried. */
	CHECK_INT_AT(line, store_sqlite_ops.submit(s->store, &r), E_IO);
	CHECK_INT_AT(line, store_sqlite_ops.load(s->store, ignore, NULL), E_IO);
	final = false;
	CHECK_INT_AT(line, store_sqlite_trouble(s->store, NULL, &final, NULL), E_IO);
	CHECK_AT(line, final);
}
#define EXPECT_FINAL(s, word) expect_final_at(__LINE__, s, word)

TEST(damage_met_by_a_request)
{
	struct scene s;
	struct st_ack ack[2];
	scene_open(&s);
	submit(&s, req_hold(1, 1, 1), 1);
	CHECK_INT(rig_collect(&store_sqlite_ops, s.store, ack, 1), 1);
	CHECK_INT(store_sqlite_trouble(s.store, NULL, NULL, NULL), OK);
	scribble_half(&s);
	submit(&s, probe(), 2);
	EXPECT_FINAL(&s, "malformed");
	CHECK_INT(store_sqlite_ops.collect(s.store, ack, 2), 0);
	scene_close(&s);
}

/* None of its group is answered; what was answered before, and not yet collected, is. */
TEST(damage_leaves_the_whole_group_unanswered)
{
	struct scene s;
	struct st_ack ack[9];
	scene_open(&s);
	sqlite3 *other = lock(&s, 1);
	submit(&s, req_hold(2, 1, 1), 2); /* these become one group */
	submit(&s, req_hold(3, 1, 1), 3);
	submit(&s, probe(), 4);
	submit(&s, req_hold(4, 1, 1), 5);
	scribble_half(&s);
	unlock(other);
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
	scribble_half(&s);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "malformed");
	scene_close(&s);
}

/* What is under way when a reader finds the damage is not carried out any more, though it could be. */
TEST(damage_met_by_a_load_stops_the_writer)
{
	struct scene s;
	struct st_ack ack;
	scene_open(&s);
	sqlite3 *other = lock(&s, 1);
	scribble_half(&s);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "malformed");
	usleep((STORE_BUSY_MS + 300) * 1000); /* the try that was under way fails */
	unlock(other);
	usleep(100000);
	CHECK_INT(store_sqlite_ops.collect(s.store, &ack, 1), 0);
	scene_close(&s);
}

TEST(a_file_that_is_no_database_any_more)
{
	struct scene s;
	scene_open(&s);
	scribble(&s, 0, 100);
	CHECK_INT(store_sqlite_ops.load(s.store, ignore, NULL), E_IO);
	EXPECT_FINAL(&s, "not a database");
	scene_close(&s);
}

TEST(what_is_final_stays_and_comes_first)
{
	struct trouble t;
	struct why first = { .text = "first" }, second = { .text = "second" }, got = { 0 };
	bool final = true;
	trouble_init(&t);
	CHECK_INT(trouble_read(&t, NULL, NULL, NULL), OK);
	trouble_note(&t, TROUBLE_CHECKPOINT, &second);
	trouble_note(&t, TROUBLE_READ, &first);
	CHECK_INT(trouble_read(&t, NULL, &final, &got), E_IO);
	CHECK(!final && !trouble_is_final(&t));
	CHECK_STR(got.text, "first");
	trouble_note_final(&t, TROUBLE_CHECKPOINT, &second);
	trouble_note(&t, TROUBLE_CHECKPOINT, &first); /* neither this … */
	trouble_note(&t, TROUBLE_CHECKPOINT, NULL);   /* … nor that */
	CHECK_INT(trouble_read(&t, NULL, &final, &got), E_IO);
	CHECK(final && trouble_is_final(&t));
	CHECK_STR(got.text, "second");
	trouble_note(&t, TROUBLE_READ, NULL);
	CHECK(trouble_is_final(&t));
	trouble_destroy(&t);
}
