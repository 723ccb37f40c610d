/* Clients that take their time: none of them may hold the others up, or hold on for ever. */
#include "rig.h"

#include <sys/socket.h>
#include <unistd.h>

static struct http_limits hasty(void)
{
	struct http_limits l = rig_limits();
	l.first_ms = l.idle_ms = 150;
	l.read_ms = l.send_ms = l.stall_ms = 300;
	return l;
}

/* Sends `head`, then the byte `drip` every 10 ms, until it is cut off; false if that takes over 30 s. */
static bool drips(struct rig *r, const char *head, const char *drip)
{
	int fd = dial(r->path);
	bool cut = false;
	say(fd, head);
	for (int64_t end = now_ms() + 30000; now_ms() < end && !cut; usleep(10000))
		cut = !say(fd, drip);
	close(fd);
	return cut;
}

TEST(drips_are_cut_off)
{
	struct rig r;
	if (!rig_open(&r, hasty()))
		return;
	int good = dial(r.path);
	CHECK(drips(&r, "", "G"));                                  /* a request line without end */
	CHECK(drips(&r, "", "\r\n"));                               /* nothing but empty lines */
	CHECK(drips(&r, "GET /echo HTTP/1.1\r\nHost: x\r\n", "a")); /* slowloris */
	CHECK(drips(&r, "GET /echo HTTP/1.1\r\nHost: x\r\n", "a: b\r\n"));
	CHECK(drips(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n", "b"));
	CHECK(drips(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		    "1\r\nb\r\n"));
	CHECK(drips(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
		    "a: b\r\n"));
	CHECK(hung_up(good, 1)); /* it said nothing all that time */
	close(good);
	CHECK_INT(http_stats(r.http).requests, 0);
	CHECK(rig_await_connections(&r, 0));
	rig_close(&r);
}

TEST(idle_connections_end)
{
	struct rig r;
	if (!rig_open(&r, hasty()))
		return;
	int fresh = dial(r.path), kept = dial(r.path);
	say(kept, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(hear(kept, "pid:", 20000), "GET /echo"));
	CHECK(hung_up(fresh, 20000));
	CHECK(hung_up(kept, 20000));
	close(fresh);
	close(kept);
	rig_close(&r);
}

TEST(a_reader_that_does_not_read_is_cut_off)
{
	struct rig r;
	if (!rig_open(&r, hasty()))
		return;
	int fd = dial(r.path);
	say(fd, "GET /big/20000000 HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await_connections(&r, 1));
	CHECK(rig_await_connections(&r, 0));
	CHECK_INT(http_stats(r.http).late, 1);
	close(fd);
	rig_close(&r);
	/* One that does gets all of it; how long that takes is the machine's affair. */
	if (!rig_open(&r, rig_limits()))
		return;
	struct client_request ask = { .socket = r.path, .method = "GET", .target = "/big/20000000" };
	struct client_answer a = { 0 };
	struct why why = { .at = WHY_NOWHERE };
	CHECK_INT(client_call(&ask, &a, &why), OK);
	CHECK_INT(a.body.n, 20000000);
	client_answer_free(&a);
	rig_close(&r);
}

TEST(the_slow_do_not_hold_up_the_others)
{
	enum { SLOW = 100 };
	int fd[SLOW];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (int i = 0; i < SLOW; i++) {
		static const char *const asks[] = {
			"GET /ec", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
			"GET /big/900000 HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"
		};
		fd[i] = dial(r.path);
		say(fd[i], asks[i % 4]);
	}
	CHECK(rig_await(&r.streams, SLOW / 4));
	for (int i = 0; i < 200; i++) {
		int good = dial(r.path);
		say(good, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
		CHECK(contains(hear(good, NULL, 20000), "GET /echo"));
		close(good);
	}
	for (int i = 0; i < SLOW; i++)
		close(fd[i]);
	rig_close(&r);
}
