/* Streams: bytes arrive in order, slow readers are disconnected, and the handler is told when a client
 * leaves. */
#include "rig.h"
#include "wire/sse.h"

#include <sys/socket.h>
#include <unistd.h>

TEST(written_bytes_arrive_in_order)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	CHECK(contains(receive_until(fd, "\r\n\r\n", 20000), "Transfer-Encoding: chunked"));
	for (int i = 0; i < 5; i++) { /* the stream is suspended and resumed each time */
		char line[32];
		snprintf(line, sizeof line, "line %d\n", i);
		rig_write_streams(&r, line, 1);
		CHECK(contains(receive_until(fd, line, 20000), line));
	}
	rig_write_streams(&r, "0123456789abcdef", 1000); /* more than one block */
	rig_end_streams(&r);
	const char *got = receive_until(fd, "0\r\n\r\n", 20000);
	CHECK(contains(got, "\r\n0\r\n\r\n"));
	CHECK_INT(r.closed, 0); /* `closed` is not called for a stream that its owner ended */
	send_text(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(receive_until(fd, "pid:", 20000), "GET /echo"));
	close(fd);
	rig_close(&r);
}

TEST(http_1_0_streams_end_with_the_connection)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /lines HTTP/1.0\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	rig_write_streams(&r, "hello\n", 3);
	rig_end_streams(&r);
	CHECK(contains(receive_until(fd, NULL, 20000), "\r\n\r\nhello\nhello\nhello\n"));
	close(fd);
	fd = connect_to(r.path);
	send_text(fd, "HEAD /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	CHECK(contains(receive_until(fd, "\r\n\r\n", 20000), "200 OK"));
	CHECK(rig_await(&r.closed, 1)); /* HEAD has no body */
	close(fd);
	rig_close(&r);
}

TEST(idle_event_streams_send_heartbeats)
{
	struct rig r;
	struct http_limits l = rig_limits();
	l.heartbeat_ms = 50;
	if (!rig_open(&r, l))
		return;
	int events = connect_to(r.path), lines = connect_to(r.path);
	send_text(events, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	send_text(lines, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	CHECK(occurrences(receive_until(events, "\n\n:\n\n", 400), SSE_HEARTBEAT) >= 2);
	CHECK(!contains(receive_until(lines, SSE_HEARTBEAT, 100), SSE_HEARTBEAT));
	close(events);
	close(lines);
	CHECK(rig_await(&r.closed, 2));
	rig_close(&r);
}

TEST(closed_is_called_when_the_client_leaves)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	close(fd);
	CHECK(rig_await(&r.closed, 1)); /* the server notices it without a write */
	CHECK(rig_await_connections(&r, 0));
	/* A client that closes only its sending side still reads. */
	fd = connect_to(r.path);
	send_text(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	shutdown(fd, SHUT_WR);
	CHECK(rig_await(&r.streams, 2));
	rig_write_streams(&r, "still here\n", 1);
	CHECK(contains(receive_until(fd, "still here\n", 20000), "still here\n"));
	CHECK_INT(r.closed, 1);
	close(fd);
	CHECK(rig_await(&r.closed, 2));
	rig_close(&r);
}

TEST(a_slow_reader_is_dropped_and_the_others_are_not)
{
	static char line[1025];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	memset(line, 'x', 1023);
	line[1023] = '\n';
	int slow = connect_to(r.path), fast = connect_to(r.path);
	send_text(slow, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	send_text(fast, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	unsigned lines = 0, wrote = 0;
	for (; wrote < 2000; wrote += 20) {
		rig_write_streams(&r, line, 20);
		lines += occurrences(receive_until(fast, "x\n\r\n", 20), "x\n");
	}
	while (lines < wrote) {
		unsigned more = occurrences(receive_until(fast, "x\n\r\n", 200), "x\n");
		if (!more)
			break;
		lines += more;
	}
	CHECK(lines + 5 >= wrote); /* a line end may be split between two reads */
	CHECK_INT(r.closed, 1);
	CHECK_INT(http_stats(r.http).dropped, 1);
	CHECK(is_closed(slow, 20000));
	close(slow);
	close(fast);
	rig_close(&r);
}

TEST(a_stalled_reader_is_dropped_before_its_buffer_is_full)
{
	static char text[60001];
	struct rig r;
	struct http_limits l = rig_limits();
	l.stall_ms = 200;
	l.stream_bytes = 4 << 20;
	if (!rig_open(&r, l))
		return;
	memset(text, 'x', sizeof text - 1);
	int fd = connect_to(r.path);
	send_text(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	rig_write_streams(&r, text, 20);
	CHECK_INT(r.wrote, OK);
	CHECK(rig_await(&r.closed, 1));
	CHECK_INT(http_stats(r.http).dropped, 1);
	close(fd);
	rig_close(&r);
}

static void write_too_much(void *arg)
{
	static const char block[4096];
	struct rig *r = arg;
	struct http_stream *s = r->slot[0].stream;
	enum err e = OK;
	for (int i = 0; i < 100 && !e; i++)
		e = http_stream_write(s, (struct str){ block, sizeof block });
	CHECK_INT(e, E_LIMIT);
	CHECK_INT(http_stream_write(s, STR("more")), E_GONE);
	CHECK_INT(r->closed, 0); /* `closed` is never called from within a write */
}

TEST(writing_past_the_bound_fails)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	rig_run(&r, write_too_much, &r);
	CHECK(rig_await(&r.closed, 1));
	close(fd);
	rig_close(&r);
}

TEST(many_streams_many_writes)
{
	enum { N = 200 };
	static int fd[N];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (int i = 0; i < N; i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	CHECK(rig_await(&r.streams, N));
	for (int i = 0; i < 20; i++) {
		rig_write_streams(&r, "data: something\n\n", 5);
		if (i % 4 == 3)
			close(fd[i]); /* some clients leave early */
	}
	rig_end_streams(&r);
	unsigned whole = 0;
	for (int i = 0; i < N; i++) {
		if (i < 20 && i % 4 == 3)
			continue;
		whole += occurrences(receive_until(fd[i], "0\r\n\r\n", 20000), "data: something\n\n") == 100;
		close(fd[i]);
	}
	CHECK_INT(whole, N - 5);
	rig_close(&r);
}
