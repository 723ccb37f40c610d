/* Streams: what is written arrives, in order; what is not read is dropped; who leaves is told of. */
#include "rig.h"
#include "wire/sse.h"

#include <sys/socket.h>
#include <unistd.h>

TEST(what_is_written_arrives)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = dial(r.path);
	say(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	CHECK(contains(hear(fd, "\r\n\r\n", 20000), "Transfer-Encoding: chunked"));
	for (int i = 0; i < 5; i++) { /* sleeping and waking in turns */
		char line[32];
		snprintf(line, sizeof line, "line %d\n", i);
		rig_write(&r, line, 1);
		CHECK(contains(hear(fd, line, 20000), line));
	}
	rig_write(&r, "0123456789abcdef", 1000); /* more than one block */
	rig_end(&r);
	const char *got = hear(fd, "0\r\n\r\n", 20000);
	CHECK(contains(got, "\r\n0\r\n\r\n"));
	CHECK_INT(r.closed, 0); /* who ended it needs no telling */
	say(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(hear(fd, "pid:", 20000), "GET /echo"));
	close(fd);
	rig_close(&r);
}

TEST(old_http_streams_to_the_end_of_the_connection)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = dial(r.path);
	say(fd, "GET /lines HTTP/1.0\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	rig_write(&r, "hello\n", 3);
	rig_end(&r);
	CHECK(contains(hear(fd, NULL, 20000), "\r\n\r\nhello\nhello\nhello\n"));
	close(fd);
	fd = dial(r.path);
	say(fd, "HEAD /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	CHECK(contains(hear(fd, "\r\n\r\n", 20000), "200 OK"));
	CHECK(rig_await(&r.closed, 1)); /* there is nothing more to say to it */
	close(fd);
	rig_close(&r);
}

TEST(quiet_events_have_a_heart_beat)
{
	struct rig r;
	struct http_limits l = rig_limits();
	l.heartbeat_ms = 50;
	if (!rig_open(&r, l))
		return;
	int events = dial(r.path), lines = dial(r.path);
	say(events, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	say(lines, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	CHECK(occurrences(hear(events, "\n\n:\n\n", 400), SSE_HEARTBEAT) >= 2);
	CHECK(!contains(hear(lines, SSE_HEARTBEAT, 100), SSE_HEARTBEAT));
	close(events);
	close(lines);
	CHECK(rig_await(&r.closed, 2));
	rig_close(&r);
}

TEST(a_client_that_leaves_is_told_of)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = dial(r.path);
	say(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	close(fd);
	CHECK(rig_await(&r.closed, 1)); /* without anything written */
	CHECK(rig_await_connections(&r, 0));
	/* One that only closes its own side still listens. */
	fd = dial(r.path);
	say(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	shutdown(fd, SHUT_WR);
	CHECK(rig_await(&r.streams, 2));
	rig_write(&r, "still here\n", 1);
	CHECK(contains(hear(fd, "still here\n", 20000), "still here\n"));
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
	int slow = dial(r.path), fast = dial(r.path);
	say(slow, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	say(fast, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 2));
	unsigned lines = 0, wrote = 0;
	for (; wrote < 2000; wrote += 20) {
		rig_write(&r, line, 20);
		lines += occurrences(hear(fast, "x\n\r\n", 20), "x\n");
	}
	while (lines < wrote) {
		unsigned more = occurrences(hear(fast, "x\n\r\n", 200), "x\n");
		if (!more)
			break;
		lines += more;
	}
	CHECK(lines + 5 >= wrote); /* an end of line may fall between two readings */
	CHECK_INT(r.closed, 1);
	CHECK_INT(http_stats(r.http).dropped, 1);
	CHECK(hung_up(slow, 20000));
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
	int fd = dial(r.path);
	say(fd, "GET /lines HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.streams, 1));
	rig_write(&r, text, 20);
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
	struct http_stream *s = r->seat[0].stream;
	enum err e = OK;
	for (int i = 0; i < 100 && !e; i++)
		e = http_stream_write(s, (struct str){ block, sizeof block });
	CHECK_INT(e, E_LIMIT);
	CHECK_INT(http_stream_write(s, STR("more")), E_GONE);
	CHECK_INT(r->closed, 0); /* never out of a call */
}

TEST(writing_past_the_bound_says_so)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = dial(r.path);
	say(fd, "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
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
		fd[i] = dial(r.path);
		say(fd[i], "GET /events HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	CHECK(rig_await(&r.streams, N));
	for (int i = 0; i < 20; i++) {
		rig_write(&r, "data: something\n\n", 5);
		if (i % 4 == 3)
			close(fd[i]); /* some leave in the middle */
	}
	rig_end(&r);
	unsigned whole = 0;
	for (int i = 0; i < N; i++) {
		if (i < 20 && i % 4 == 3)
			continue;
		whole += occurrences(hear(fd[i], "0\r\n\r\n", 20000), "data: something\n\n") == 100;
		close(fd[i]);
	}
	CHECK_INT(whole, N - 5);
	rig_close(&r);
}
