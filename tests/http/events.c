/* Followers of the log of events get each event once and in order, whether they begin at its end, in the
 * past, or in the middle of a burst, and however slowly they read. The log is a real store. */
#include "api/events.h"
#include "api/operations.h"
#include "core/model.h"
#include "fixture.h"
#include "requests.h"
#include "rig.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

struct event_server {
	struct fixture store;
	struct reader *reader;
	char path[96];
	struct operations *operations;
	struct events *events;
	struct http *http;
	uint32_t holds; /* events that were added */
};

/* On the operations thread. */
static void follow(void *arg)
{
	struct http_request *r = arg;
	struct event_query q = { .after = EVENTS_FROM_NOW };
	struct why why;
	uint64_t after;
	if (r->header[HTTP_LAST_EVENT_ID].p && str_number(r->header[HTTP_LAST_EVENT_ID], INT64_MAX, &after))
		q.after = after;
	if (str_eq(r->url.path, STR("/freed")))
		CHECK_INT(event_choose(STR("hold:freed"), &q.choice, &why), OK);
	CHECK_INT(events_follow(((struct event_server *)r->ctx)->events, r, &q, &why), OK);
}

static void hand_over(void *ctx, struct http_request *r)
{
	struct event_server *s = ctx;
	r->ctx = s;
	CHECK_INT(operations_add(s->operations, follow, r), OK);
}

static bool open_event_server(struct event_server *s, int stall_ms)
{
	struct why why;
	*s = (struct event_server){ 0 };
	fixture_open(&s->store, FIXTURE_SQLITE);
	snprintf(s->path, sizeof s->path, "%s/socket", s->store.dir);
	struct http_options o = {
		.path = s->path, .limits = http_limits_default, .handle = hand_over, .ctx = s
	};
	o.limits.stop_ms = 300;
	o.limits.stall_ms = (unsigned)stall_ms;
	return CHECK_INT(s->store.ops->reader(s->store.store, &s->reader, &why), OK) &&
	       CHECK_INT(operations_open(&s->operations), OK) &&
	       CHECK_INT(events_new(s->reader, s->operations, &s->events), OK) &&
	       CHECK_INT(http_open(&o, &s->http, &why), OK);
}

static void close_event_server(struct event_server *s)
{
	operations_close(s->operations);
	http_close(s->http);
	events_free(s->events);
	reader_close(s->reader);
	fixture_close(&s->store);
}

/* Adds events, several to a transaction: a hold is set and freed, again and again. */
static void add_events(struct event_server *s, unsigned times)
{
	struct st_ack *ack = calloc(times, sizeof *ack);
	for (unsigned i = 0; i < times; i++, s->holds++) {
		struct st_req r = req_hold(1, s->holds % 2 ? 0 : REASON_AUTH, 5);
		r.tag = ++s->store.tags;
		CHECK_INT(s->store.ops->submit(s->store.store, &r), OK);
	}
	CHECK_INT(collect_answers(s->store.ops, s->store.store, ack, times), times);
	for (unsigned i = 0; i < times; i++)
		events_logged(s->events, ack[i].event, ack[i].done);
	free(ack);
}

/* Connects a follower that has seen event `seen`; EVENTS_FROM_NOW: none. HTTP/1.0, so that the stream is not
 * chunked. */
static int follow_path(struct event_server *s, const char *path, uint64_t seen)
{
	char text[160], header[64] = "";
	int fd = connect_to(s->path);
	if (seen != EVENTS_FROM_NOW)
		snprintf(header, sizeof header, "Last-Event-ID: %llu\r\n", (unsigned long long)seen);
	snprintf(text, sizeof text, "GET %s HTTP/1.0\r\n%s\r\n", path, header);
	send_text(fd, text);
	return fd;
}

static int follow_events(struct event_server *s, uint64_t seen)
{
	return follow_path(s, "/events", seen);
}

/* Reads events up to number `last`, `step` apart, and returns their count. Bytes after it are discarded. */
static unsigned read_events_up_to(int fd, uint64_t last, uint64_t step, uint64_t *first)
{
	char text[32768];
	size_t have = 0;
	unsigned n = 0;
	uint64_t before = 0;
	for (int64_t end = now_ms() + 30000; before != last && now_ms() < end;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t k = poll(&p, 1, 1000) > 0 ? recv(fd, text + have, sizeof text - 1 - have, 0) : 0;
		if (k < 0 || (k == 0 && p.revents & (POLLIN | POLLHUP)))
			break;
		have += (size_t)k;
		text[have] = 0;
		char *at = text, *line;
		for (; (line = strchr(at, '\n')); at = line + 1) {
			if (strncmp(at, "data: {\"seq\":", 13) != 0)
				continue;
			uint64_t number = strtoull(at + 13, NULL, 10);
			*first = n ? *first : number;
			CHECK(!n || number == before + step);
			before = number;
			n++;
		}
		have -= (size_t)(at - text);
		memmove(text, at, have);
	}
	CHECK_INT(before, last);
	return n;
}

/* Reads the first message of a stream, and returns its number: the stream begins after it. */
static uint64_t read_hello(int fd)
{
	const char *text = receive_until(fd, "data: {}", 20000), *id = strstr(text, "id: ");
	return CHECK(id) ? strtoull(id + 4, NULL, 10) : 0;
}

struct gate {
	sem_t closed, open;
};

static void block_at_gate(void *arg)
{
	struct gate *gate = arg;
	sem_post(&gate->closed);
	sem_wait(&gate->open);
}

TEST(new_follower_gets_each_event_once)
{
	struct event_server s;
	struct gate gate;
	uint64_t first = 0;
	if (!open_event_server(&s, HTTP_STALL_MS))
		return;
	add_events(&s, 7);
	sem_init(&gate.closed, 0, 0);
	sem_init(&gate.open, 0, 0);
	int old = follow_events(&s, EVENTS_FROM_NOW);
	CHECK_INT(read_hello(old), 7);
	CHECK_INT(operations_add(s.operations, block_at_gate, &gate), OK);
	sem_wait(&gate.closed);
	add_events(&s, 1000);
	int new_follower = follow_events(&s, 107);
	sem_post(&gate.open);
	/* The new follower may be answered before or after the events are sent to the old one. In both cases
	 * it gets all of them. */
	CHECK_INT(read_events_up_to(old, 1007, 1, &first), 1000);
	CHECK_INT(first, 8);
	CHECK_INT(read_events_up_to(new_follower, 1007, 1, &first), 900);
	CHECK_INT(first, 108);
	add_events(&s, 1);
	CHECK_INT(read_events_up_to(new_follower, 1008, 1, &first), 1);
	CHECK_INT(read_events_up_to(old, 1008, 1, &first), 1);
	close(old);
	close(new_follower);
	sem_destroy(&gate.closed);
	sem_destroy(&gate.open);
	close_event_server(&s);
}

TEST(a_filter_applies_to_old_and_new_events)
{
	struct event_server s;
	uint64_t first = 0;
	if (!open_event_server(&s, HTTP_STALL_MS))
		return;
	add_events(&s, 2000);
	int fd = follow_path(&s, "/freed", 0); /* every second event */
	CHECK_INT(read_events_up_to(fd, 2000, 2, &first), 1000);
	CHECK_INT(first, 2);
	add_events(&s, 500);
	CHECK_INT(read_events_up_to(fd, 2500, 2, &first), 250);
	close(fd);
	close_event_server(&s);
}

TEST(a_follower_of_pruned_or_unknown_events_is_told)
{
	struct event_server s;
	uint64_t first = 0;
	if (!open_event_server(&s, HTTP_STALL_MS))
		return;
	add_events(&s, 50);
	struct st_req prune = req_prune(PRUNE_EVENTS, 0, INT64_MAX - 1);
	prune.prune.last = 30;
	CHECK_INT(fixture_ask(&s.store, prune).res, ST_OK);
	int fd = follow_events(&s, 10);
	CHECK(contains(receive_until(fd, "\"oldest\":31", 20000), "event: pruned"));
	close(fd); /* receive_until may have discarded events */
	fd = follow_events(&s, 10);
	CHECK_INT(read_events_up_to(fd, 50, 1, &first), 20);
	CHECK_INT(first, 31);
	close(fd);
	fd = follow_events(&s, 30); /* the next one is kept */
	CHECK_INT(read_events_up_to(fd, 50, 1, &first), 20);
	close(fd);
	fd = follow_events(&s, 99);
	CHECK(contains(receive_until(fd, "\"last\":50", 20000), "event: unknown"));
	add_events(&s, 1);
	CHECK_INT(read_events_up_to(fd, 51, 1, &first), 1);
	close(fd);
	close_event_server(&s);
}

/* A follower that does not read for a while is not sent more than a bounded number of bytes, and gets the
 * rest from the log afterwards. */
TEST(a_slow_follower_loses_nothing)
{
	struct event_server s;
	uint64_t first = 0;
	if (!open_event_server(&s, HTTP_STALL_MS))
		return;
	int slow = follow_events(&s, EVENTS_FROM_NOW), fast = follow_events(&s, EVENTS_FROM_NOW);
	CHECK_INT(read_hello(slow), 0);
	CHECK_INT(read_hello(fast), 0);
	for (unsigned i = 1; i <= 10;
	     i++) { /* about 1.3 MB: more than the socket and EVENT_SLOW_BYTES hold */
		add_events(&s, 1000);
		CHECK_INT(read_events_up_to(fast, 1000 * i, 1, &first), 1000);
	}
	CHECK_INT(http_stats(s.http).dropped, 0);
	CHECK_INT(read_events_up_to(slow, 10000, 1, &first), 10000);
	CHECK_INT(first, 1);
	add_events(&s, 1);
	CHECK_INT(read_events_up_to(slow, 10001, 1, &first), 1);
	close(slow);
	close(fast);
	close_event_server(&s);
}

TEST(a_follower_that_stops_reading_is_dropped_with_a_word)
{
	struct event_server s;
	uint64_t first = 0;
	if (!open_event_server(&s, 300))
		return;
	int stopped = follow_events(&s, EVENTS_FROM_NOW), fast = follow_events(&s, EVENTS_FROM_NOW);
	CHECK_INT(read_hello(stopped), 0);
	CHECK_INT(read_hello(fast), 0);
	for (unsigned i = 1; i <= 10; i++) {
		add_events(&s, 1000);
		CHECK_INT(read_events_up_to(fast, 1000 * i, 1, &first), 1000);
	}
	for (int64_t end = now_ms() + 20000; http_stats(s.http).dropped == 0 && now_ms() < end;)
		usleep(10000);
	CHECK_INT(http_stats(s.http).dropped, 1);
	/* What was sent before is whole, and the last message says why there is no more. */
	const char *last = NULL, *at = receive_until(stopped, NULL, 20000);
	uint64_t number = 0;
	for (; (at = strstr(at, "{\"seq\":")); at++) {
		CHECK_INT(strtoull(at + 7, NULL, 10), ++number);
		last = at;
	}
	CHECK(last && contains(last, "event: dropped"));
	CHECK(number > 0 && number < 10000);
	int again = follow_events(&s, number);
	CHECK_INT(read_events_up_to(again, 10000, 1, &first), 10000 - number);
	CHECK_INT(first, number + 1);
	close(again);
	close(stopped);
	close(fast);
	close_event_server(&s);
}
