/* Slow clients must not delay other clients, and must not keep their connections for ever. */
#include "rig.h"

#include <sys/socket.h>
#include <unistd.h>

static struct http_limits short_limits(void)
{
	struct http_limits l = rig_limits();
	l.first_ms = l.idle_ms = 150;
	l.read_ms = l.send_ms = l.stall_ms = 300;
	return l;
}

/* Sends `head`, then `drip` every 10 ms, until the server disconnects; false after 30 s. */
static bool drip_until_cut(struct rig *r, const char *head, const char *drip)
{
	int fd = connect_to(r->path);
	bool cut = false;
	send_text(fd, head);
	for (int64_t end = now_ms() + 30000; now_ms() < end && !cut; usleep(10000))
		cut = !send_text(fd, drip);
	close(fd);
	return cut;
}

TEST(slow_senders_are_disconnected)
{
	struct rig r;
	if (!rig_open(&r, short_limits()))
		return;
	int good = connect_to(r.path);
	CHECK(drip_until_cut(&r, "", "G"));                                  /* a request line without end */
	CHECK(drip_until_cut(&r, "", "\r\n"));                               /* nothing but empty lines */
	CHECK(drip_until_cut(&r, "GET /echo HTTP/1.1\r\nHost: x\r\n", "a")); /* slowloris */
	CHECK(drip_until_cut(&r, "GET /echo HTTP/1.1\r\nHost: x\r\n", "a: b\r\n"));
	CHECK(drip_until_cut(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n", "b"));
	CHECK(drip_until_cut(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
			     "1\r\nb\r\n"));
	CHECK(drip_until_cut(&r, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
			     "a: b\r\n"));
	CHECK(is_closed(good, 1)); /* the client has sent nothing */
	close(good);
	CHECK_INT(http_stats(r.http).requests, 0);
	CHECK(rig_await_connections(&r, 0));
	rig_close(&r);
}

TEST(idle_connections_are_closed)
{
	struct rig r;
	if (!rig_open(&r, short_limits()))
		return;
	int fresh = connect_to(r.path), kept = connect_to(r.path);
	send_text(kept, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(receive_until(kept, "pid:", 20000), "GET /echo"));
	CHECK(is_closed(fresh, 20000));
	CHECK(is_closed(kept, 20000));
	close(fresh);
	close(kept);
	rig_close(&r);
}

TEST(client_that_does_not_read_is_disconnected)
{
	struct rig r;
	if (!rig_open(&r, short_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /big/20000000 HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await_connections(&r, 1));
	CHECK(rig_await_connections(&r, 0));
	CHECK_INT(http_stats(r.http).late, 1);
	close(fd);
	rig_close(&r);
	/* A client that reads gets all of it, with the default limits. */
	if (!rig_open(&r, rig_limits()))
		return;
	struct client_request request = { .socket = r.path, .method = "GET", .target = "/big/20000000" };
	struct client_answer a = { 0 };
	struct why why = { .at = WHY_NOWHERE };
	CHECK_INT(client_call(&request, &a, &why), OK);
	CHECK_INT(a.body.n, 20000000);
	client_answer_free(&a);
	rig_close(&r);
}

TEST(slow_clients_do_not_delay_others)
{
	enum { SLOW = 100 };
	int fd[SLOW];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (int i = 0; i < SLOW; i++) {
		static const char *const requests[] = {
			"GET /ec", "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n1",
			"GET /big/900000 HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"
		};
		fd[i] = connect_to(r.path);
		send_text(fd[i], requests[i % 4]);
	}
	CHECK(rig_await(&r.streams, SLOW / 4));
	for (int i = 0; i < 200; i++) {
		int good = connect_to(r.path);
		send_text(good, "GET /echo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
		CHECK(contains(receive_until(good, NULL, 20000), "GET /echo"));
		close(good);
	}
	for (int i = 0; i < SLOW; i++)
		close(fd[i]);
	rig_close(&r);
}
