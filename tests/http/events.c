/* Followers of events get each event once and in order, and the number of events that they have missed. */
#include "api/events.h"
#include "api/operations.h"
#include "rig.h"

#include <semaphore.h>
#include <unistd.h>

struct event_server {
	char dir[64], path[96];
	struct operations *operations;
	struct events *events;
	struct http *http;
};

/* On the operations thread. */
static void follow(void *arg)
{
	struct http_request *r = arg;
	uint64_t after = 0;
	if (r->header[HTTP_LAST_EVENT_ID].p)
		CHECK(str_number(r->header[HTTP_LAST_EVENT_ID], INT64_MAX, &after));
	events_follow(((struct event_server *)r->ctx)->events, r, after);
}

static void hand_over(void *ctx, struct http_request *r)
{
	struct event_server *s = ctx;
	r->ctx = s;
	CHECK_INT(operations_add(s->operations, follow, r), OK);
}

static bool open_event_server(struct event_server *s)
{
	struct why why;
	*s = (struct event_server){ .dir = "/tmp/rota-events.XXXXXX" };
	if (!CHECK(mkdtemp(s->dir)))
		return false;
	snprintf(s->path, sizeof s->path, "%s/socket", s->dir);
	struct http_options o = {
		.path = s->path, .limits = http_limits_default, .handle = hand_over, .ctx = s
	};
	o.limits.stop_ms = 300;
	return CHECK_INT(operations_open(&s->operations), OK) &&
	       CHECK_INT(events_new(NULL, s->operations, &s->events), OK) &&
	       CHECK_INT(http_open(&o, &s->http, &why), OK);
}

static void close_event_server(struct event_server *s)
{
	operations_close(s->operations);
	http_close(s->http);
	events_free(s->events);
	CHECK(rmdir(s->dir) == 0);
}

static void add_events(struct event_server *s, unsigned times)
{
	struct pump_fact f = { .op = ST_HOLD, .res = ST_OK, .hold = { .key = 1, .reason = REASON_AUTH } };
	for (unsigned i = 0; i < times; i++)
		events_add(s->events, &f);
}

/* Connects a follower that has seen event `seen`; 0: none. HTTP/1.0, so that the stream is not chunked. */
static int follow_events(struct event_server *s, uint64_t seen)
{
	char text[128];
	int fd = connect_to(s->path);
	snprintf(text, sizeof text, "GET /events HTTP/1.0\r\nLast-Event-ID: %llu\r\n\r\n",
		 (unsigned long long)seen);
	send_text(fd, text);
	return fd;
}

/* Reads events up to number `last` and returns their count. *first is the number of the first, *left_out the
 * sum of the counts of lost events. */
static unsigned read_events_up_to(int fd, uint64_t last, uint64_t *first, bool *in_order, unsigned *left_out)
{
	char until[48];
	unsigned n = 0;
	uint64_t before = 0;
	*in_order = true;
	*left_out = 0;
	snprintf(until, sizeof until, "{\"id\":%llu,", (unsigned long long)last);
	const char *at = receive_until(fd, until, 20000);
	for (; (at = strstr(at, "{\"id\":")); n++, at++) {
		uint64_t id = strtoull(at + 6, NULL, 10);
		const char *count = strstr(at, "\"count\":"), *end = strchr(at, '}');
		if (count && end && count < end)
			*left_out += (unsigned)strtoul(count + 8, NULL, 10);
		*first = n ? *first : id;
		*in_order &= !n || id == before + 1;
		before = id;
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
	unsigned left_out;
	bool in_order;
	if (!open_event_server(&s))
		return;
	sem_init(&gate.closed, 0, 0);
	sem_init(&gate.open, 0, 0);
	int old = follow_events(&s, 0);
	uint64_t before = read_hello(old);
	CHECK_INT(operations_add(s.operations, block_at_gate, &gate), OK);
	sem_wait(&gate.closed);
	add_events(&s, 1000);
	int new_follower = follow_events(&s, before + 100);
	sem_post(&gate.open);
	/* The new follower may get its first message before or after the events. In both cases it gets all
	 * events. */
	CHECK_INT(read_events_up_to(old, before + 1000, &first, &in_order, &left_out), 1000);
	CHECK(in_order && !left_out);
	CHECK_INT(read_events_up_to(new_follower, before + 1000, &first, &in_order, &left_out), 900);
	CHECK_INT(first, before + 101);
	CHECK(in_order && !left_out);
	add_events(&s, 1);
	CHECK_INT(read_events_up_to(new_follower, before + 1001, &first, &in_order, &left_out), 1);
	close(old);
	close(new_follower);
	sem_destroy(&gate.closed);
	sem_destroy(&gate.open);
	close_event_server(&s);
}

TEST(follower_of_another_daemon_gets_the_count_of_lost_events)
{
	struct event_server s;
	uint64_t first = 0;
	unsigned left_out;
	bool in_order;
	if (!open_event_server(&s))
		return;
	int fd = follow_events(&s, 0);
	uint64_t before = read_hello(fd);
	close(fd);
	add_events(&s, 1500);
	/* Numbers that an earlier daemon, a daemon whose clock was ahead, and this daemon have used. */
	const uint64_t seen[] = { 5, before + 1000000000, before };
	for (unsigned i = 0; i < ARRAY_LEN(seen); i++) {
		fd = follow_events(&s, seen[i]);
		unsigned n = read_events_up_to(fd, before + 1500, &first, &in_order, &left_out);
		CHECK_INT(n - 1 + left_out, 1500);
		CHECK_INT(first, before + left_out);
		CHECK(in_order && left_out);
		close(fd);
	}
	close_event_server(&s);
}
