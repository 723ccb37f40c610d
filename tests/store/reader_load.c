/* Readers while the writer is under load. Most useful with the thread sanitizer. */
#include "fixture.h"
#include "requests.h"
#include "store/sqlite/read/query.h"
#include "store/sqlite/read/reader.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { CLAIMS = 3000, MAX_CLAIMS = 100 * CLAIMS, ANSWERS = 20, SCHEDS = 5, READERS = 2, AHEAD = 300 };

static const struct store_tuning small = {
	.group = 32, .checkpoint = 20, .wal_lull = 50, .lull_ms = 1, .wal_max = 200
};

struct load_test {
	char dir[64], path[80];
	struct store *store;
	atomic_bool stop;
	atomic_uint answers;
};

static void load_test_open(struct load_test *p)
{
	struct why why;
	struct st_ack ack;
	*p = (struct load_test){ 0 };
	make_dir(p->dir, sizeof p->dir);
	snprintf(p->path, sizeof p->path, "%s/db", p->dir);
	CHECK_INT(store_sqlite_open_tuned(p->path, &small, &p->store, &why), OK);
	for (uint64_t sid = 1; sid <= SCHEDS; sid++) {
		struct st_req r = req_put(sid, 0, 10);
		char id[8];
		snprintf(id, sizeof id, "s%llu", (unsigned long long)sid);
		r.id = str_of(id);
		r.document = STR("some text");
		CHECK_INT(store_sqlite_ops.submit(p->store, &r), OK);
		CHECK_INT(collect_answers(&store_sqlite_ops, p->store, &ack, 1), 1);
	}
}

static void load_test_close(struct load_test *p)
{
	store_sqlite_close(p->store);
	CHECK(database_is_sound(p->path));
	remove_dir(p->dir);
}

/* Writes the runs from+1 to n. Run n belongs to schedule 1 + n % SCHEDS and has nominal time 1000 + n. */
static unsigned write_claims(struct load_test *p, unsigned from, unsigned n)
{
	struct st_ack ack[64];
	unsigned sent = from, done = from;
	while (done < n) {
		for (; sent < n && sent - done < AHEAD; sent++) {
			uint64_t run = sent + 1;
			struct st_req r = moving(req_occ(1 + run % SCHEDS, 1, run, 1000 + (int64_t)run),
						 9000000, 1000 + (int64_t)run);
			CHECK_INT(store_sqlite_ops.submit(p->store, &r), OK);
		}
		unsigned got =
			collect_answers(&store_sqlite_ops, p->store, ack, n - done < 64 ? n - done : 64);
		for (unsigned i = 0; i < got; i++)
			CHECK_INT(ack[i].res, ST_OK);
		if (!got)
			break;
		done += got;
	}
	return done;
}

/* Checks that an answer shows one moment: no run is missing between the listed runs, and an answer contains
 * everything that an earlier answer contained. Returns the number of faults. */
static unsigned check_answers(struct reader *r, struct arena *a, uint64_t *newest)
{
	struct why why = { 0 };
	struct read_runs runs;
	struct read_why w;
	struct read_sched sched;
	unsigned bad = 0;
	if (read_runs(r, &(struct read_filter){ .limit = 50 }, a, &runs, &why) != OK)
		return 1;
	for (unsigned i = 1; i < runs.n; i++)
		bad += runs.item[i].run + 1 != runs.item[i - 1].run;
	if (!runs.n)
		return bad;
	bad += runs.item[0].run < *newest;
	*newest = runs.item[0].run;
	/* The schedule is read after the run, so it must be at this run or beyond it. */
	if (read_sched(r, runs.item[0].sid, a, &sched, &why) != OK)
		return bad + 1;
	bad += sched.row.high.us < runs.item[0].nominal.us;
	if (read_why(r, runs.item[0].sid, runs.item[0].nominal, &w, &why) != OK)
		return bad + 1;
	bad += !w.has_run || w.run.run != *newest;
	return bad;
}

static void *read_until_stop(void *arg)
{
	struct load_test *p = arg;
	struct reader *r = NULL;
	struct arena a = { 0 };
	struct why why;
	uint64_t newest = 0;
	uintptr_t bad = sqlite_reader_open(p->path, &r, &why) != OK;
	while (!bad && !atomic_load(&p->stop)) {
		bad += check_answers(r, &a, &newest);
		atomic_fetch_add(&p->answers, 1);
		arena_reset(&a);
	}
	reader_close(r);
	arena_free(&a);
	return (void *)bad;
}

TEST(readers_of_a_busy_store_see_consistent_moments)
{
	struct load_test p;
	pthread_t thread[READERS];
	load_test_open(&p);
	for (unsigned i = 0; i < READERS; i++)
		pthread_create(&thread[i], NULL, read_until_stop, &p);
	/* On a fast disk the claims are written before a reader has opened its file: write until the readers
	 * have answered often enough, or have failed and stopped. */
	unsigned written = 0;
	while (atomic_load(&p.answers) <= ANSWERS && written < MAX_CLAIMS) {
		CHECK_INT(write_claims(&p, written, written + CLAIMS), written + CLAIMS);
		written += CLAIMS;
	}
	atomic_store(&p.stop, true);
	for (unsigned i = 0; i < READERS; i++) {
		void *bad;
		pthread_join(thread[i], &bad);
		CHECK_INT((uintptr_t)bad, 0);
	}
	CHECK(atomic_load(&p.answers) > ANSWERS);
	CHECK_INT(store_sqlite_failure(p.store, NULL, NULL, NULL), OK);
	load_test_close(&p);
}

static int64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

/* Even a reader that keeps its transaction open does not block the writer. */
TEST(a_reader_never_blocks_the_writer)
{
	struct load_test p;
	struct reader *r = NULL;
	struct why why;
	load_test_open(&p);
	CHECK_INT(sqlite_reader_open(p.path, &r, &why), OK);
	CHECK_INT(reader_begin(sqlite_reader_of(r)), SQLITE_OK);
	sqlite3_stmt *s = sqlite_reader_of(r)->stmt[READ_HOLDS];
	CHECK_INT(sqlite3_bind_int(s, 1, 1), SQLITE_OK);
	CHECK_INT(sqlite3_step(s), SQLITE_DONE);
	sqlite3_reset(s);
	int64_t from = now_us();
	CHECK_INT(write_claims(&p, 0, 1500), 1500);
	CHECK(now_us() - from < 3 * STORE_BUSY_MS * 1000); /* the writer did not wait for the reader */
	CHECK_INT(store_sqlite_failure(p.store, NULL, NULL, NULL), OK);
	CHECK_INT(reader_end(sqlite_reader_of(r), SQLITE_OK, &why), OK);
	struct run_row run;
	CHECK_INT(read_run(r, 1500, &run, &why), OK);
	reader_close(r);
	load_test_close(&p);
}
