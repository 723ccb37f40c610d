/* What was answered is on the disk: with the power cut at every sync, with every write, sync and read failing
 * once, with the disk full. A model in memory says after each fault what the rows must be, exactly: all that
 * was answered, and of what was under way some first part. */
#include "fault_vfs.h"
#include "fixture.h"
#include "request_stream.h"
#include "requests.h"
#include "test.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

enum { BURSTS = 30, BURST_MAX = 7, WAIT_MS = 20000 };

/* Small, so that a short history meets everything: several groups to a burst, passes of the checkpoint
 * thread, a log that is begun anew, a lull in which it is cut. */
static const struct store_tuning tuning = {
	.group = 4, .checkpoint = 16, .wal_lull = 24, .lull_ms = 1, .wal_max = 60
};

struct work {
	char dir[64], path[80];
	struct store *store;
	struct rows *model; /* all that was answered */
	struct stream stream;
	struct st_req flight[BURST_MAX]; /* not yet answered, in order */
	char text[BURST_MAX][sizeof(((struct stream *)0)->text)];
	unsigned flying;
	struct why why;
};

static void work_init(struct work *w, uint64_t seed)
{
	*w = (struct work){ .model = rows_new() };
	make_dir(w->dir, sizeof w->dir);
	snprintf(w->path, sizeof w->path, "%s/db", w->dir);
	stream_init(&w->stream, seed, true);
	w->stream.scheds = 12;
	faultfs_reset();
}

static void work_free(struct work *w)
{
	store_sqlite_close(w->store);
	rows_free(w->model);
	remove_dir(w->dir);
	faultfs_reset();
}

static enum err work_open(struct work *w)
{
	return store_sqlite_open_tuned(w->path, &tuning, &w->store, &w->why);
}

static void work_close(struct work *w)
{
	store_sqlite_close(w->store);
	w->store = NULL;
}

/* The next answer must be that of the first request in flight, as the model gives it. */
static void take_answer(struct work *w, const struct st_ack *got)
{
	struct buf a = { 0 }, b = { 0 };
	struct st_ack want;
	CHECK_INT(got->tag, w->flight[0].tag);
	rows_apply(w->model, &w->flight[0], &want);
	stream_learn(&w->stream, &want);
	dump_ack(got, &a);
	dump_ack(&want, &b);
	CHECK_SAME(&a, &b);
	buf_free(&a);
	buf_free(&b);
	w->flying--;
	memmove(&w->flight[0], &w->flight[1],
		w->flying * sizeof w->flight[0]); /* texts stay where they are */
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until all is answered, or the machine stops, or the patience ends. */
static void take_answers(struct work *w, int patience_ms)
{
	int64_t until = now_ms() + patience_ms;
	while (w->flying && !faultfs_stopped() && now_ms() < until) {
		struct st_ack ack;
		struct pollfd p = { .fd = store_sqlite_ops.fd(w->store), .events = POLLIN };
		if (poll(&p, 1, 2) == 1 && CHECK_INT(store_sqlite_ops.collect(w->store, &ack, 1), 1))
			take_answer(w, &ack);
	}
}

static void submit_burst(struct work *w)
{
	unsigned n = 1 + (unsigned)(test_random(&w->stream.random) % BURST_MAX);
	for (w->flying = 0; w->flying < n; w->flying++) {
		w->flight[w->flying] = stream_next(&w->stream);
		stream_keep(&w->stream, &w->flight[w->flying], w->text[w->flying]);
		CHECK_INT(store_sqlite_ops.submit(w->store, &w->flight[w->flying]), OK);
	}
}

/* True: all of it was answered. */
static bool run_bursts(struct work *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		submit_burst(w);
		take_answers(w, WAIT_MS);
		if (w->flying)
			return false;
		if (i % 20 == 19)
			usleep(3000); /* a lull */
	}
	return true;
}

static struct buf found(struct work *w)
{
	struct buf b = { 0 };
	dump_sqlite(w->path, &b);
	return b;
}

/* The rows are the model's, or the model's after the first, the first two, … requests in flight; which then
 * is the model. */
static bool settle_model(struct work *w)
{
	struct buf got = found(w), want = { 0 };
	for (unsigned i = 0;; i++) {
		struct st_ack ack;
		buf_free(&want);
		want = (struct buf){ 0 };
		dump_rows(w->model, &want);
		if (i == w->flying || str_eq(buf_str(&got), buf_str(&want)))
			break;
		rows_apply(w->model, &w->flight[i], &ack);
		stream_learn(&w->stream, &ack);
	}
	bool same = CHECK_SAME(&got, &want);
	w->flying = 0;
	buf_free(&got);
	buf_free(&want);
	return same;
}

/* After the machine has stopped: what is there, is it sound, is it there to stay, and does it go on? */
static void recover(struct work *w, enum faultfs_end end, uint64_t seed)
{
	work_close(w);
	faultfs_restart(end, seed);
	if (!CHECK_INT(work_open(w), OK)) {
		printf("%s\n", w->why.text);
		return;
	}
	settle_model(w);
	/* What an engine has seen must not go, though nothing was written since. */
	struct buf seen = found(w);
	faultfs_stop();
	work_close(w);
	faultfs_restart(FAULTFS_CUT, 0);
	CHECK_INT(work_open(w), OK);
	struct buf still = found(w);
	CHECK_SAME(&still, &seen);
	buf_free(&seen);
	buf_free(&still);
	CHECK(run_bursts(w, 3));
	settle_model(w);
	CHECK(database_is_sound(w->path));
}

/* Cuts the power at the n-th sync, for every n that there is. */
static void cut_at_every_sync(enum faultfs_end end, uint64_t seed)
{
	bool through = false;
	for (uint64_t n = 1; !through; n++) {
		struct work w;
		test_case("sync %llu, seed %llu", (unsigned long long)n, (unsigned long long)seed);
		work_init(&w, seed);
		faultfs_stop_at_sync(n);
		through = work_open(&w) == OK && run_bursts(&w, BURSTS) && !faultfs_stopped();
		if (through)
			faultfs_stop();
		recover(&w, end, seed * 1000 + n);
		work_free(&w);
		if (through && getenv("SHOW"))
			printf("%llu syncs\n", (unsigned long long)n - 1);
	}
}

TEST(power_cut_at_every_sync)
{
	faultfs_install();
	cut_at_every_sync(FAULTFS_CUT, 1);
}

TEST(power_cut_at_every_sync_some_sectors_survive)
{
	faultfs_install();
	cut_at_every_sync(FAULTFS_CUT_SOME, 2);
	cut_at_every_sync(FAULTFS_CUT_SOME, 3);
}

TEST(process_killed_at_every_sync_then_power_cut)
{
	faultfs_install();
	cut_at_every_sync(FAULTFS_KILLED, 4);
}

/* Fails the n-th call and those after it, `times` in all, for every n that there is. */
static void fail_every_call(enum fault what, uint64_t times, uint64_t step)
{
	bool failed = true;
	for (uint64_t n = 1; failed; n += step) {
		struct work w;
		test_case("call %llu of kind %d", (unsigned long long)n, what);
		work_init(&w, 5 + (uint64_t)what);
		faultfs_fail(what, n, times);
		while (work_open(&w) != OK) {
			if (!CHECK(faultfs_has_failed()))
				return;
			if (!CHECK(strstr(w.why.text, w.path)))
				printf("%s\n", w.why.text);
		}
		CHECK(run_bursts(&w, BURSTS));
		failed = faultfs_has_failed();
		faultfs_fail(what, 1, 0); /* not while we look */
		settle_model(&w);
		work_close(&w);
		CHECK(database_is_sound(w.path));
		work_free(&w);
		if (!failed && getenv("SHOW"))
			printf("kind %d: %llu calls\n", what, (unsigned long long)n - 1);
	}
}

TEST(every_write_fails_once)
{
	faultfs_install();
	fail_every_call(FAULT_WRITE, 1, 1);
}

TEST(every_sync_fails_once)
{
	faultfs_install();
	fail_every_call(FAULT_SYNC, 1, 1);
}

TEST(every_read_fails_once)
{
	faultfs_install();
	fail_every_call(FAULT_READ, 1, 1);
}

TEST(every_truncation_fails_once)
{
	faultfs_install();
	fail_every_call(FAULT_TRUNCATE, 1, 1);
}

TEST(several_in_a_row_fail)
{
	faultfs_install();
	fail_every_call(FAULT_WRITE, 4, 17);
	fail_every_call(FAULT_SYNC, 4, 5);
}

/* No answer while nothing can be written; every answer, and the right one, afterwards. */
static void outage(struct work *w, void (*begin)(void), void (*end)(void), const char *word)
{
	struct wall since = { 0 };
	struct why why = { 0 };
	CHECK(run_bursts(w, 10));
	CHECK_INT(store_sqlite_trouble(w->store, NULL, NULL, NULL), OK);
	begin();
	/* What changes nothing, or finds room in the log, is answered all the same: until something is stuck.
	 */
	for (unsigned i = 0; i < 1000 && !w->flying; i++) {
		submit_burst(w);
		take_answers(w, 50);
	}
	CHECK(w->flying);
	CHECK_INT(store_sqlite_trouble(w->store, &since, NULL, &why), E_IO);
	CHECK(since.us > 0);
	if (!CHECK(strstr(why.text, word)))
		printf("%s\n", why.text);
	end();
	take_answers(w, WAIT_MS);
	CHECK(!w->flying);
	/* The checkpoint thread tries again after a second. */
	for (unsigned i = 0; i < 1000 && store_sqlite_trouble(w->store, NULL, NULL, NULL) != OK; i++)
		usleep(10000);
	CHECK_INT(store_sqlite_trouble(w->store, NULL, NULL, NULL), OK);
	CHECK(run_bursts(w, 5));
	settle_model(w);
	CHECK(database_is_sound(w->path));
}

static void fill_up(void)
{
	faultfs_capacity(faultfs_used());
}

static void make_room(void)
{
	faultfs_capacity(SIZE_MAX);
}

TEST(full_disk)
{
	struct work w;
	faultfs_install();
	work_init(&w, 20);
	CHECK_INT(work_open(&w), OK);
	outage(&w, fill_up, make_room, "full");
	work_free(&w);
}

static void break_sync(void)
{
	faultfs_fail(FAULT_SYNC, 1, UINT64_MAX);
}

static void mend_sync(void)
{
	faultfs_fail(FAULT_SYNC, 1, 0);
}

TEST(disk_that_does_not_sync)
{
	struct work w;
	faultfs_install();
	work_init(&w, 21);
	CHECK_INT(work_open(&w), OK);
	outage(&w, break_sync, mend_sync, "I/O");
	work_free(&w);
}

/* Growing by a page at a time, with the disk full each time anew. */
TEST(full_disk_again_and_again)
{
	struct work w;
	faultfs_install();
	work_init(&w, 22);
	CHECK_INT(work_open(&w), OK);
	for (unsigned i = 0; i < 200; i++) {
		fill_up();
		submit_burst(&w);
		take_answers(&w, 5);
		faultfs_capacity(faultfs_used() + 6000);
		take_answers(&w, 5);
		make_room();
		take_answers(&w, WAIT_MS);
		CHECK(!w.flying);
	}
	settle_model(&w);
	CHECK(database_is_sound(w.path));
	work_free(&w);
}

TEST(closing_in_an_outage_gives_up)
{
	struct work w;
	faultfs_install();
	work_init(&w, 23);
	CHECK_INT(work_open(&w), OK);
	CHECK(run_bursts(&w, 5));
	break_sync();
	while (!w.flying) {
		submit_burst(&w);
		take_answers(&w, 20);
	}
	work_close(&w); /* and does not hang */
	mend_sync();
	CHECK_INT(work_open(&w), OK);
	settle_model(&w);
	work_free(&w);
}

static void ignore(void *ctx, const struct load_item *item)
{
	(void)ctx, (void)item;
}

TEST(loading_says_when_it_cannot)
{
	struct work w;
	struct buf text = { 0 };
	faultfs_install();
	work_init(&w, 24);
	CHECK_INT(work_open(&w), OK);
	CHECK(run_bursts(&w, 20));
	work_close(&w);
	CHECK_INT(work_open(&w), OK); /* a cold cache */
	faultfs_fail(FAULT_READ, 1, UINT64_MAX);
	struct why why = { 0 };
	void *store = w.store;
	CHECK_INT(store_sqlite_ops.load(store, ignore, NULL), E_IO);
	CHECK_INT(store_sqlite_trouble(w.store, NULL, NULL, &why), E_IO);
	faultfs_fail(FAULT_READ, 1, 0);
	dump_load(&store_sqlite_ops, store, &text);
	CHECK_INT(store_sqlite_trouble(w.store, NULL, NULL, &why), OK);
	buf_free(&text);
	work_free(&w);
}
