/* The operations thread: whether it hangs, and what clients get while it does. */
#include "api/operations.h"
#include "base/limits.h"
#include "rig.h"
#include "sys/clock.h"

#include <semaphore.h>
#include <time.h>
#include <unistd.h>

/* --- whether it hangs --- */

static sem_t begun, unlocked;
static int file[2]; /* a pipe */

/* Waits for a file until go_on is called. */
static void wait_once(void *arg)
{
	char byte;
	(void)arg;
	sem_post(&begun);
	CHECK(read(file[0], &byte, 1) == 1);
}

static void go_on(void)
{
	CHECK(write(file[1], "", 1) == 1);
}

static void wait_for_lock(void *arg)
{
	(void)arg;
	sem_post(&begun);
	sem_wait(&unlocked);
}

/* Waits again and again, each time for a moment, as for a slow disk. */
static void wait_often(void *arg)
{
	atomic_bool *stop = arg;
	sem_post(&begun);
	while (!atomic_load(stop))
		usleep(500);
}

static void compute(void *arg)
{
	atomic_bool *stop = arg;
	sem_post(&begun);
	while (!atomic_load(stop))
		continue;
}

static void pause_between_looks(void)
{
	usleep(OPERATIONS_LOOK_MS * 1000);
}

/* Whether one of the looks during a task finds that the thread hangs. Then ends the task. */
static bool is_found_hanging(struct operations *o, mail_fn *task, atomic_bool *stop)
{
	bool found = false;
	CHECK_INT(operations_add(o, task, stop), OK);
	sem_wait(&begun);
	for (unsigned i = 0; i < 10; i++) {
		found |= operations_look(o);
		pause_between_looks();
	}
	atomic_store(stop, true);
	sem_post(&unlocked);
	return found;
}

static void close_operations(struct operations *o)
{
	operations_close(o);
	close(file[0]);
	close(file[1]);
}

static void open_operations(struct operations **ret)
{
	sem_init(&begun, 0, 0);
	sem_init(&unlocked, 0, 0);
	CHECK(pipe(file) == 0);
	CHECK_INT(operations_open(ret), OK);
}

TEST(a_thread_in_one_wait_hangs)
{
	struct operations *o = NULL;
	open_operations(&o);
	CHECK(!operations_look(o) && !operations_hang(o));
	pause_between_looks();
	CHECK(!operations_look(o)); /* it waits for something to do */
	CHECK_INT(operations_add(o, wait_once, NULL), OK);
	sem_wait(&begun);
	bool found = false;
	for (unsigned i = 0; i < 1000 && !found; i++) {
		found = operations_look(o);
		pause_between_looks();
	}
	CHECK(found && operations_hang(o));
	go_on();
	for (unsigned i = 0; i < 1000 && operations_hang(o); i++)
		pause_between_looks();
	CHECK(!operations_hang(o));
	close_operations(o);
}

TEST(a_thread_that_makes_progress_does_not_hang)
{
	struct operations *o = NULL;
	atomic_bool stop[3] = { false, false, false };
	open_operations(&o);
	CHECK(!is_found_hanging(o, compute, &stop[0]));
	CHECK(!is_found_hanging(o, wait_often, &stop[1]));
	sem_init(&unlocked, 0, 0);
	CHECK(!is_found_hanging(o, wait_for_lock, &stop[2])); /* its holder may wait for the processor */
	close_operations(o);
}

static void count(void *arg)
{
	++*(atomic_uint *)arg;
}

TEST(what_is_queued_is_done_before_the_thread_ends)
{
	struct operations *o = NULL;
	atomic_uint done = 0;
	unsigned requests = 0;
	open_operations(&o);
	CHECK_INT(operations_add(o, wait_once, NULL), OK);
	sem_wait(&begun);
	while (operations_add_request(o, count, &done) == OK)
		requests++;
	CHECK_INT(requests, OPERATIONS_MAX - OPERATIONS_RESERVED);
	CHECK_INT(operations_add(o, count, &done), OK); /* requests under way have room */
	go_on();
	close_operations(o);
	CHECK_INT(done, requests + 1);
}

/* --- what clients get --- */

struct watched_server {
	char dir[64], path[96];
	struct operations *operations;
	struct http *http;
};

static void send_late_answer(void *arg)
{
	http_answer(arg, 200, "text/plain", STR("too late\n"));
}

/* On the operations thread: /hang waits, all others are answered. */
static void answer(void *arg)
{
	struct http_request *r = arg;
	if (str_eq(r->url.path, STR("/hang")))
		wait_once(NULL);
	CHECK_INT(http_add_task(http_server(r), send_late_answer, r), OK);
}

static void hand_over(void *ctx, struct http_request *r)
{
	CHECK_INT(operations_add(((struct watched_server *)ctx)->operations, answer, r), OK);
}

static void refuse_if_it_hangs(void *ctx, struct http *h)
{
	struct why why;
	why_write(&why, WHY_NOWHERE, "the store does not respond");
	if (operations_look(((struct watched_server *)ctx)->operations))
		http_refuse_waiting(h, &why);
}

TEST(clients_of_a_thread_that_hangs_are_refused)
{
	struct watched_server s = { .dir = "/tmp/rota-watched.XXXXXX" };
	struct why why;
	if (!CHECK(mkdtemp(s.dir)))
		return;
	snprintf(s.path, sizeof s.path, "%s/socket", s.dir);
	struct http_options o = { .path = s.path,
				  .limits = http_limits_default,
				  .handle = hand_over,
				  .watch = refuse_if_it_hangs,
				  .ctx = &s };
	o.limits.stop_ms = 300;
	open_operations(&s.operations);
	CHECK_INT(http_open(&o, &s.http, &why), OK);
	int hanging = connect_to(s.path), behind = connect_to(s.path);
	send_text(hanging, "GET /hang HTTP/1.1\r\nHost: x\r\n\r\n");
	sem_wait(&begun);
	send_text(behind, "GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
	/* Both are refused while the thread still hangs. */
	CHECK(contains(receive_until(hanging, "does not respond", 20000), "503"));
	CHECK(contains(receive_until(behind, "does not respond", 20000), "503"));
	go_on();
	/* The late answers are discarded, and the connections stay usable. */
	send_text(behind, "GET /other HTTP/1.1\r\nHost: x\r\n\r\n");
	const char *text = receive_until(behind, "too late", 20000);
	CHECK(contains(text, "200") && occurrences(text, "HTTP/1.1") == 1);
	close(hanging);
	close(behind);
	http_stop(s.http);
	close_operations(s.operations);
	http_close(s.http);
	CHECK(rmdir(s.dir) == 0);
}
