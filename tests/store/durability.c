/* Answered requests are on the disk: after a power cut at every sync, after a failure of every write, sync
 * and read, and with a full disk. After each fault the rows must be exactly those of a model that has carried
 * out all answered requests and some number of the requests under way, in their order. */
#include "dump.h"
#include "fault_vfs.h"
#include "fixture.h"
#include "request_stream.h"
#include "requests.h"
#include "test.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

enum { BURSTS = 30, BURSTS_AFTER_FAULT = 5, BURST_MAX = 7, WAIT_MS = 20000 };

/* The values are small, so that in a short test a burst has several groups, the checkpoint thread makes
 * several passes, and the log is restarted and truncated. */
static const struct store_tuning tuning = {
	.group = 4, .checkpoint = 16, .wal_lull = 24, .lull_ms = 1, .wal_max = 60
};

struct work {
	char dir[64], path[80];
	struct store *store;
	struct model *model; /* has carried out all answered requests */
	struct request_stream stream;
	struct st_req waiting[BURST_MAX]; /* requests without an answer, in order */
	char text[BURST_MAX][sizeof(((struct request_stream *)0)->text)];
	unsigned under_way;
	struct why why;
};

static void work_init(struct work *w, uint64_t seed)
{
	*w = (struct work){ .model = model_new() };
	make_dir(w->dir, sizeof w->dir);
	snprintf(w->path, sizeof w->path, "%s/db", w->dir);
	stream_init(&w->stream, seed, true);
	w->stream.scheds = 12;
	fault_vfs_reset();
}

static void work_free(struct work *w)
{
	store_sqlite_close(w->store);
	model_free(w->model);
	remove_dir(w->dir);
	fault_vfs_reset();
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

/* The next answer must be the model's answer to the first waiting request. */
static void take_answer(struct work *w, const struct st_ack *got)
{
	struct buf a = { 0 }, b = { 0 };
	struct st_ack want;
	CHECK_INT(got->tag, w->waiting[0].tag);
	model_apply(w->model, &w->waiting[0], &want);
	stream_learn(&w->stream, &want);
	dump_ack(got, &a);
	dump_ack(&want, &b);
	CHECK_SAME(&a, &b);
	buf_free(&a);
	buf_free(&b);
	w->under_way--;
	memmove(&w->waiting[0], &w->waiting[1],
		w->under_way * sizeof w->waiting[0]); /* only the structs move, not their texts */
}

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Takes answers until all requests are answered, the machine stops, or the time is over. */
static void take_answers(struct work *w, int most_ms)
{
	int64_t until = now_ms() + most_ms;
	while (w->under_way && !fault_vfs_stopped() && now_ms() < until) {
		struct st_ack ack;
		struct pollfd p = { .fd = store_sqlite_ops.fd(w->store), .events = POLLIN };
		if (poll(&p, 1, 2) == 1 && CHECK_INT(store_sqlite_ops.collect(w->store, &ack, 1), 1))
			take_answer(w, &ack);
	}
}

static void submit_burst(struct work *w)
{
	unsigned n = 1 + (unsigned)(test_random(&w->stream.random) % BURST_MAX);
	for (w->under_way = 0; w->under_way < n; w->under_way++) {
		w->waiting[w->under_way] = stream_next(&w->stream);
		stream_copy_texts(&w->stream, &w->waiting[w->under_way], w->text[w->under_way]);
		CHECK_INT(store_sqlite_ops.submit(w->store, &w->waiting[w->under_way]), OK);
	}
}

/* The i-th burst. True: all requests were answered. */
static bool run_burst(struct work *w, unsigned i)
{
	submit_burst(w);
	take_answers(w, WAIT_MS);
	if (!w->under_way && i % 20 == 19)
		usleep(3000); /* a pause, in which the log is truncated */
	return !w->under_way;
}

static bool run_bursts(struct work *w, unsigned n)
{
	unsigned i = 0;
	while (i < n && run_burst(w, i))
		i++;
	return i == n;
}

/* At most BURSTS, but few after the fault: they show that the store goes on, and the log is moved into the
 * database and restarted several times. */
static bool run_bursts_past_fault(struct work *w)
{
	bool answered = true;
	for (unsigned i = 0, after = 0; i < BURSTS && after < BURSTS_AFTER_FAULT && answered; i++) {
		answered = run_burst(w, i);
		after += fault_vfs_has_failed();
	}
	return answered;
}

static struct buf stored_rows(struct work *w)
{
	struct buf b = { 0 };
	dump_sqlite(w->path, &b);
	return b;
}

/* The stored rows must be those of the model after the first n of the waiting requests, for some n. The model
 * then carries out these n requests. */
static void catch_up_model(struct work *w)
{
	struct buf got = stored_rows(w), want = { 0 };
	for (unsigned i = 0;; i++) {
		struct st_ack ack;
		buf_free(&want);
		want = (struct buf){ 0 };
		dump_model(w->model, &want);
		if (i == w->under_way || str_eq(buf_str(&got), buf_str(&want)))
			break;
		model_apply(w->model, &w->waiting[i], &ack);
		stream_learn(&w->stream, &ack);
	}
	CHECK_SAME(&got, &want);
	w->under_way = 0;
	buf_free(&got);
	buf_free(&want);
}

/* To be called after the machine has stopped. Checks that the rows are right and durable, and that the store
 * works again. */
static void recover(struct work *w, enum fault_vfs_end end, uint64_t seed)
{
	work_close(w);
	fault_vfs_restart(end, seed);
	if (!CHECK_INT(work_open(w), OK)) {
		printf("%s\n", w->why.text);
		return;
	}
	catch_up_model(w);
	model_forget_numbers(w->model); /* the store was opened again */
	/* Rows that an engine has seen must survive another power cut, though nothing was written since. */
	struct buf seen = stored_rows(w);
	fault_vfs_stop();
	work_close(w);
	fault_vfs_restart(FAULT_VFS_CUT, 0);
	CHECK_INT(work_open(w), OK);
	struct buf later = stored_rows(w);
	CHECK_SAME(&later, &seen);
	model_forget_numbers(w->model); /* the store was opened again */
	buf_free(&seen);
	buf_free(&later);
	CHECK(run_bursts(w, 3));
	catch_up_model(w);
	CHECK(database_is_sound(w->path));
}

/* Cuts the power at the n-th sync, for each n until no sync is left. */
static void cut_at_every_sync(enum fault_vfs_end end, uint64_t seed)
{
	bool completed = false;
	for (uint64_t n = 1; !completed; n++) {
		struct work w;
		test_case("sync %llu, seed %llu", (unsigned long long)n, (unsigned long long)seed);
		work_init(&w, seed);
		fault_vfs_stop_at_sync(n);
		completed = work_open(&w) == OK && run_bursts(&w, BURSTS) && !fault_vfs_stopped();
		if (completed)
			fault_vfs_stop();
		recover(&w, end, seed * 1000 + n);
		work_free(&w);
		if (completed && getenv("SHOW"))
			printf("%llu syncs\n", (unsigned long long)n - 1);
	}
}

TEST(power_cut_at_every_sync)
{
	fault_vfs_install();
	cut_at_every_sync(FAULT_VFS_CUT, 1);
}

TEST(power_cut_at_every_sync_some_sectors_survive)
{
	fault_vfs_install();
	cut_at_every_sync(FAULT_VFS_CUT_SOME, 2);
	cut_at_every_sync(FAULT_VFS_CUT_SOME, 3);
}

TEST(process_killed_at_every_sync_then_power_cut)
{
	fault_vfs_install();
	cut_at_every_sync(FAULT_VFS_KILLED, 4);
}

/* Fails `times` calls from the n-th on, for each n until no call is left. */
static void fail_every_call(enum fault what, uint64_t times, uint64_t step)
{
	bool failed = true;
	for (uint64_t n = 1; failed; n += step) {
		struct work w;
		const uint64_t seed = 5 + (uint64_t)what;
		test_case("call %llu of kind %d, seed %llu", (unsigned long long)n, what,
			  (unsigned long long)seed);
		work_init(&w, seed);
		fault_vfs_fail(what, n, times);
		while (work_open(&w) != OK) {
			if (!CHECK(fault_vfs_has_failed()))
				return;
			if (!CHECK(strstr(w.why.text, w.path)))
				printf("%s\n", w.why.text);
		}
		CHECK(run_bursts_past_fault(&w));
		failed = fault_vfs_has_failed();
		fault_vfs_fail(what, 1, 0); /* no fault while the rows are read */
		catch_up_model(&w);
		work_close(&w);
		CHECK(database_is_sound(w.path));
		work_free(&w);
		if (!failed && getenv("SHOW"))
			printf("kind %d: %llu calls\n", what, (unsigned long long)n - 1);
	}
}

TEST(every_write_fails_once)
{
	fault_vfs_install();
	fail_every_call(FAULT_WRITE, 1, 1);
}

TEST(every_sync_fails_once)
{
	fault_vfs_install();
	fail_every_call(FAULT_SYNC, 1, 1);
}

TEST(every_read_fails_once)
{
	fault_vfs_install();
	fail_every_call(FAULT_READ, 1, 1);
}

TEST(every_truncation_fails_once)
{
	fault_vfs_install();
	fail_every_call(FAULT_TRUNCATE, 1, 1);
}

TEST(several_calls_in_a_row_fail)
{
	fault_vfs_install();
	fail_every_call(FAULT_WRITE, 4, 17);
	fail_every_call(FAULT_SYNC, 4, 5);
}

/* During an outage there must be no answer; afterwards every request must get the right answer. */
static void check_outage(struct work *w, void (*begin)(void), void (*end)(void), const char *word)
{
	struct wall since = { 0 };
	struct why why = { 0 };
	CHECK(run_bursts(w, 10));
	CHECK_INT(store_sqlite_failure(w->store, NULL, NULL, NULL), OK);
	begin();
	/* Requests that change nothing or fit into the log are still answered, so requests are sent until one
	 * waits. */
	for (unsigned i = 0; i < 1000 && !w->under_way; i++) {
		submit_burst(w);
		take_answers(w, 50);
	}
	CHECK(w->under_way);
	CHECK_INT(store_sqlite_failure(w->store, &since, NULL, &why), E_IO);
	CHECK(since.us > 0);
	if (!CHECK(strstr(why.text, word)))
		printf("%s\n", why.text);
	end();
	take_answers(w, WAIT_MS);
	CHECK(!w->under_way);
	/* The checkpoint thread tries again after a second. */
	for (unsigned i = 0; i < 1000 && store_sqlite_failure(w->store, NULL, NULL, NULL) != OK; i++)
		usleep(10000);
	CHECK_INT(store_sqlite_failure(w->store, NULL, NULL, NULL), OK);
	CHECK(run_bursts(w, 5));
	catch_up_model(w);
	CHECK(database_is_sound(w->path));
}

static void fill_disk(void)
{
	fault_vfs_capacity(fault_vfs_used());
}

static void empty_disk(void)
{
	fault_vfs_capacity(SIZE_MAX);
}

TEST(full_disk)
{
	struct work w;
	fault_vfs_install();
	work_init(&w, 20);
	CHECK_INT(work_open(&w), OK);
	check_outage(&w, fill_disk, empty_disk, "full");
	work_free(&w);
}

static void break_sync(void)
{
	fault_vfs_fail(FAULT_SYNC, 1, UINT64_MAX);
}

static void mend_sync(void)
{
	fault_vfs_fail(FAULT_SYNC, 1, 0);
}

TEST(disk_that_does_not_sync)
{
	struct work w;
	fault_vfs_install();
	work_init(&w, 21);
	CHECK_INT(work_open(&w), OK);
	check_outage(&w, break_sync, mend_sync, "I/O");
	work_free(&w);
}

/* The disk is full again after each page. */
TEST(full_disk_many_times)
{
	struct work w;
	fault_vfs_install();
	work_init(&w, 22);
	CHECK_INT(work_open(&w), OK);
	for (unsigned i = 0; i < 200; i++) {
		fill_disk();
		submit_burst(&w);
		take_answers(&w, 5);
		fault_vfs_capacity(fault_vfs_used() + 6000);
		take_answers(&w, 5);
		empty_disk();
		take_answers(&w, WAIT_MS);
		CHECK(!w.under_way);
	}
	catch_up_model(&w);
	CHECK(database_is_sound(w.path));
	work_free(&w);
}

TEST(closing_in_an_outage_does_not_wait)
{
	struct work w;
	fault_vfs_install();
	work_init(&w, 23);
	CHECK_INT(work_open(&w), OK);
	CHECK(run_bursts(&w, 5));
	break_sync();
	while (!w.under_way) {
		submit_burst(&w);
		take_answers(&w, 20);
	}
	work_close(&w); /* must not hang */
	mend_sync();
	CHECK_INT(work_open(&w), OK);
	catch_up_model(&w);
	work_free(&w);
}

static void ignore(void *ctx, const struct load_item *item)
{
	(void)ctx, (void)item;
}

TEST(load_reports_a_read_error)
{
	struct work w;
	struct buf text = { 0 };
	fault_vfs_install();
	work_init(&w, 24);
	CHECK_INT(work_open(&w), OK);
	CHECK(run_bursts(&w, 20));
	work_close(&w);
	CHECK_INT(work_open(&w), OK); /* opens the store again, with an empty cache */
	fault_vfs_fail(FAULT_READ, 1, UINT64_MAX);
	struct why why = { 0 };
	void *store = w.store;
	CHECK_INT(store_sqlite_ops.load(store, ignore, NULL), E_IO);
	CHECK_INT(store_sqlite_failure(w.store, NULL, NULL, &why), E_IO);
	fault_vfs_fail(FAULT_READ, 1, 0);
	dump_load(&store_sqlite_ops, store, &text);
	CHECK_INT(store_sqlite_failure(w.store, NULL, NULL, &why), OK);
	buf_free(&text);
	work_free(&w);
}
