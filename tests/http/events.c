/* What is told to those who follow: each event once and in order, and how many could not be told. */
#include "api/events.h"
#include "rig.h"

#include <semaphore.h>
#include <unistd.h>

struct stand {
	char dir[64], path[96];
	struct events *events;
	struct http *http;
};

static void follow(void *ctx, struct http_request *r)
{
	uint64_t after = 0;
	if (r->header[HTTP_LAST_EVENT_ID].p)
		CHECK(str_number(r->header[HTTP_LAST_EVENT_ID], INT64_MAX, &after));
	events_follow(((struct stand *)ctx)->events, r, after);
}

static bool set_up(struct stand *s)
{
	struct why why;
	*s = (struct stand){ .dir = "/tmp/rota-events.XXXXXX" };
	if (!CHECK(mkdtemp(s->dir)))
		return false;
	snprintf(s->path, sizeof s->path, "%s/socket", s->dir);
	struct http_options o = {
		.path = s->path, .limits = http_limits_default, .handle = follow, .ctx = s
	};
	o.limits.stop_ms = 300;
	return CHECK_INT(events_new(NULL, &s->events), OK) && CHECK_INT(http_open(&o, &s->http, &why), OK);
}

static void tear_down(struct stand *s)
{
	http_close(s->http);
	events_free(s->events);
	CHECK(rmdir(s->dir) == 0);
}

static void happen(struct stand *s, unsigned times)
{
	struct pump_fact f = { .op = ST_HOLD, .res = ST_OK, .hold = { .key = 1, .reason = REASON_AUTH } };
	for (unsigned i = 0; i < times; i++)
		events_add(s->events, s->http, &f);
}

/* Who has seen this one; 0: nothing. By old HTTP, which does not cut what it sends in pieces. */
static int follower(struct stand *s, uint64_t seen)
{
	char text[128];
	int fd = dial(s->path);
	snprintf(text, sizeof text, "GET /events HTTP/1.0\r\nLast-Event-ID: %llu\r\n\r\n",
		 (unsigned long long)seen);
	say(fd, text);
	return fd;
}

/* Those that a stream has told up to this one, in order; the number of the first event of all is its
 * greeting's. */
static unsigned told_up_to(int fd, uint64_t last, uint64_t *first, bool *in_order, unsigned *left_out)
{
	char until[48];
	unsigned n = 0;
	uint64_t before = 0;
	*in_order = true;
	*left_out = 0;
	snprintf(until, sizeof until, "{\"id\":%llu,", (unsigned long long)last);
	const char *at = hear(fd, until, 20000);
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

static uint64_t greeting(int fd)
{
	const char *text = hear(fd, "data: {}", 20000), *id = strstr(text, "id: ");
	return CHECK(id) ? strtoull(id + 4, NULL, 10) : 0;
}

struct door {
	sem_t closed, open;
};

static void wait_at(void *arg)
{
	struct door *d = arg;
	sem_post(&d->closed);
	sem_wait(&d->open);
}

TEST(who_comes_while_others_are_told_hears_each_event_once)
{
	struct stand s;
	struct door d;
	uint64_t first = 0;
	unsigned left_out;
	bool in_order;
	if (!set_up(&s))
		return;
	sem_init(&d.closed, 0, 0);
	sem_init(&d.open, 0, 0);
	int old = follower(&s, 0);
	uint64_t before = greeting(old);
	CHECK_INT(http_add_task(s.http, wait_at, &d), OK);
	sem_wait(&d.closed);
	happen(&s, 1000);
	int newcomer = follower(&s, before + 100);
	sem_post(&d.open);
	/* The greeting of the newcomer may come before or after; either way all that came is told. */
	CHECK_INT(told_up_to(old, before + 1000, &first, &in_order, &left_out), 1000);
	CHECK(in_order && !left_out);
	CHECK_INT(told_up_to(newcomer, before + 1000, &first, &in_order, &left_out), 900);
	CHECK_INT(first, before + 101);
	CHECK(in_order && !left_out);
	happen(&s, 1);
	CHECK_INT(told_up_to(newcomer, before + 1001, &first, &in_order, &left_out), 1);
	close(old);
	close(newcomer);
	sem_destroy(&d.closed);
	sem_destroy(&d.open);
	tear_down(&s);
}

TEST(who_saw_another_daemon_is_told_what_was_left_out)
{
	struct stand s;
	uint64_t first = 0;
	unsigned left_out;
	bool in_order;
	if (!set_up(&s))
		return;
	int fd = follower(&s, 0);
	uint64_t before = greeting(fd);
	close(fd);
	happen(&s, 1500);
	/* By an earlier daemon, by one whose clock was ahead, by this one. */
	const uint64_t seen[] = { 5, before + 1000000000, before };
	for (unsigned i = 0; i < ARRAY_LEN(seen); i++) {
		fd = follower(&s, seen[i]);
		unsigned n = told_up_to(fd, before + 1500, &first, &in_order, &left_out);
		CHECK_INT(n - 1 + left_out, 1500);
		CHECK_INT(first, before + left_out);
		CHECK(in_order && left_out);
		close(fd);
	}
	tear_down(&s);
}
