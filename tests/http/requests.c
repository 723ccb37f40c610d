/* Requests and answers, valid and invalid. */
#include "rig.h"
#include "wire/problem_document.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

TEST(handler_gets_the_whole_request)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "PUT /echo/a%2Fb/c%20d?x=1&y=a+b%26&z HTTP/1.1\r\nHost: x\r\nIf-Match: \"5\"\r\n"
		      "Content-Length: 5\r\n\r\nhello");
	const char *got = receive_until(fd, "pid:", 20000);
	char want[128];
	snprintf(want, sizeof want, "body:5:hello uid:%d pid:", (int)geteuid());
	CHECK(contains(got, "HTTP/1.1 200 "));
	CHECK(contains(got, "ETag: \"7\""));
	CHECK(contains(got, "PUT /echo/a%2Fb/c%20d [echo] [a/b] [c d] x=1 y=a b& z= if-match:\"5\""));
	CHECK(contains(got, want));
	/* The connection stays open for the next request. */
	send_text(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(receive_until(fd, "pid:", 20000), "GET /echo [echo] body:0: "));
	close(fd);
	rig_close(&r);
}

TEST(bad_requests_are_refused)
{
	static const struct {
		int line;
		const char *request, *status;
		bool problem_document; /* the server answers with a problem document; MHD answers the other
					  requests in HTML */
	} rows[] = {
		{ __LINE__, "BREW /echo HTTP/1.1\r\nHost: x\r\n\r\n", "501" },
		{ __LINE__, "get /echo HTTP/1.1\r\nHost: x\r\n\r\n", "501" },
		{ __LINE__, "GET /echo/%zz HTTP/1.1\r\nHost: x\r\n\r\n", "400" },
		{ __LINE__, "GET /echo/%00 HTTP/1.1\r\nHost: x\r\n\r\n", "400" },
		{ __LINE__, "GET echo HTTP/1.1\r\nHost: x\r\n\r\n", "400" },
		{ __LINE__, "GET /echo HTTP/1.1\r\n\r\n", "400", true }, /* no Host */
		{ __LINE__, "GET /ec ho HTTP/1.1\r\nHost: x\r\n\r\n", "400", true },
		{ __LINE__, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc", "501",
		  true },
		{ __LINE__,
		  "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
		  "400", true },
		{ __LINE__,
		  "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 3\r\n\r\nabc",
		  "400", true },
		{ __LINE__,
		  "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
		  "transfer-encoding: identity\r\n\r\n0\r\n\r\n",
		  "400", true },
		{ __LINE__, "GET /echo HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n", "400", true },
		{ __LINE__, "GET /echo HTTP/1.1\r\nHost: x\r\nOrigin: a\r\nOrigin: a\r\n\r\n", "400", true },
		{ __LINE__, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length : 3\r\n\r\nabc", "400", true },
		{ __LINE__, "GET /echo HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", "400" },
		{ __LINE__, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n", "400" },
		{ __LINE__, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n", "413" },
		{ __LINE__, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		  "400" },
		{ __LINE__,
		  "GET /echo/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1/1 HTTP/1.1\r\n"
		  "Host: x\r\n\r\n",
		  "422" },
	};
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		int fd = connect_to(r.path);
		send_text(fd, rows[i].request);
		const char *got = receive_until(fd, "\r\n\r\n", 20000);
		if (!CHECK_AT(rows[i].line, strlen(got) > 12 && strncmp(got + 9, rows[i].status, 3) == 0))
			printf("got: %s\n", got);
		if (rows[i].problem_document)
			CHECK_AT(rows[i].line, contains(got, "application/problem+json"));
		close(fd);
	}
	CHECK_INT(http_stats(r.http).requests, 0);
	rig_close(&r);
}

TEST(sizes_are_bounded)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	/* Heads of every size around the limit: smaller heads are served, larger heads are refused. */
	for (size_t size = 3800; size < 20000; size += size < 4400 ? 37 : 1999) {
		char head[20480];
		int n = snprintf(head, sizeof head, "GET /echo HTTP/1.1\r\nHost: x\r\nCookie: ");
		memset(head + n, 'c', size - (size_t)n - 4);
		memcpy(head + size - 4, "\r\n\r\n", 5);
		int fd = connect_to(r.path);
		send_text(fd, head);
		test_case("a head of %zu bytes", size);
		CHECK(contains(receive_until(fd, "\r\n\r\n", 20000),
			       size <= 4096 ? "HTTP/1.1 200" : "HTTP/1.1 431"));
		close(fd);
	}
	/* Many small headers. */
	struct buf many = { 0 };
	buf_addf(&many, "GET /echo HTTP/1.1\r\nHost: x\r\n");
	while (many.n < 4080)
		buf_addf(&many, "a: b\r\n");
	buf_addf(&many, "\r\n");
	int fd = connect_to(r.path);
	send_text(fd, many.p);
	test_case("many small headers");
	CHECK(contains(receive_until(fd, "\r\n\r\n", 20000), "HTTP/1.1 431"));
	close(fd);
	buf_free(&many);
	test_case(NULL);

	/* A body of the largest size, and a chunked one of one byte more. */
	char *body = calloc(1, 100002);
	memset(body, 'b', 100001);
	fd = connect_to(r.path);
	send_text(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
	send_bytes(fd, body, 100000);
	CHECK(contains(receive_until(fd, "pid:", 20000), "body:100000:bbb"));
	send_text(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n186A1\r\n");
	send_bytes(fd, body, 100001);
	send_text(fd, "\r\n0\r\n\r\n");
	const char *got = receive_until(fd, "}", 20000);
	CHECK(contains(got, "HTTP/1.1 413") && contains(got, PROBLEM_DOCUMENT_TYPE) &&
	      contains(got, "100000 bytes"));
	close(fd);

	/* The limit for all bodies together leaves room for four. A body is freed with its request. */
	int fds[5];
	for (int i = 0; i < 5; i++) {
		fds[i] = connect_to(r.path);
		send_text(fds[i], "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
		send_bytes(fds[i], body, 100000);
		if (i < 4)
			CHECK(rig_await(&r.held, (unsigned)i + 1));
	}
	CHECK(contains(receive_until(fds[4], "}", 20000), "HTTP/1.1 503"));
	rig_answer_kept(&r);
	CHECK(contains(receive_until(fds[0], "late", 20000), "200 OK"));
	send_text(fds[4], "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
	send_bytes(fds[4], body, 100000);
	CHECK(contains(receive_until(fds[4], "pid:", 20000), "body:100000:bbb"));
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	free(body);
	rig_close(&r);
}

TEST(pipelined_requests_are_answered_in_order)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /echo/1 HTTP/1.1\r\nHost: x\r\n\r\nGET /late/2 HTTP/1.1\r\nHost: x\r\n\r\n"
		      "GET /echo/3 HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(rig_await(&r.held, 1));
	CHECK(!contains(receive_until(fd, "[3]", 100), "[3]"));
	rig_answer_kept(&r);
	const char *got = receive_until(fd, "[3]", 20000);
	CHECK(contains(got, "late\n") && contains(got, "[3]") && strstr(got, "late\n") < strstr(got, "[3]"));
	close(fd);
	rig_close(&r);
}

TEST(half_closed_peers_get_their_answer)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (int late = 0; late < 2; late++) {
		int fd = connect_to(r.path);
		send_text(fd, late ? "GET /late HTTP/1.1\r\nHost: x\r\n\r\n"
				   : "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
		shutdown(fd, SHUT_WR);
		if (late) {
			CHECK(rig_await(&r.held, 1));
			usleep(20000);
			rig_answer_kept(&r);
		}
		CHECK(contains(receive_until(fd, NULL, 20000), late ? "late\n" : "GET /echo"));
		CHECK(is_closed(fd, 20000)); /* the connection is not kept */
		close(fd);
	}
	rig_close(&r);
}

TEST(a_client_may_leave_before_its_late_answer)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
	CHECK(rig_await(&r.held, 1));
	close(fd);
	CHECK(rig_await_connections(&r, 0)); /* the server notices it without reading or writing */
	rig_answer_kept(&r);
	CHECK_INT(r.gone, 1);
	/* Clients that leave right after sending. */
	for (int i = 0; i < 20; i++) {
		fd = connect_to(r.path);
		send_text(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
		close(fd);
	}
	CHECK(rig_await_connections(&r, 0));
	rig_answer_kept(&r);
	CHECK_INT(r.held, 0);
	rig_close(&r);
}

TEST(unanswered_requests_get_503)
{
	struct rig r;
	struct http_limits l = rig_limits();
	l.answer_ms = 100;
	if (!rig_open(&r, l))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
	const char *got = receive_until(fd, "}", 20000);
	CHECK(contains(got, "HTTP/1.1 503") && contains(got, PROBLEM_DOCUMENT_TYPE));
	send_text(fd, "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	CHECK(contains(receive_until(fd, "pid:", 20000), "GET /echo"));
	rig_answer_kept(&r); /* the answer is too late and is discarded */
	CHECK_INT(r.gone, 1);
	CHECK_INT(http_stats(r.http).late, 1);
	close(fd);
	rig_close(&r);
}

TEST(head_and_http_1_0_work)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	int fd = connect_to(r.path);
	send_text(fd, "HEAD /echo HTTP/1.1\r\nHost: x\r\n\r\n");
	const char *got = receive_until(fd, "\r\n\r\n", 20000);
	CHECK(contains(got, "200 OK") && !contains(got, "HEAD /echo"));
	close(fd);
	fd = connect_to(r.path);
	send_text(fd, "GET /echo HTTP/1.0\r\n\r\n");
	CHECK(contains(receive_until(fd, NULL, 20000), "GET /echo"));
	close(fd);
	fd = connect_to(r.path);
	send_text(fd, "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
	CHECK(contains(receive_until(fd, "\r\n\r\n", 20000), "100 Continue"));
	send_text(fd, "ok");
	CHECK(contains(receive_until(fd, "pid:", 20000), "body:2:ok"));
	close(fd);
	rig_close(&r);
}

TEST(five_hundred_clients_at_once)
{
	enum { N = 500 };
	static int fd[N];
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	for (int i = 0; i < N; i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	CHECK(rig_await(&r.held, N));
	rig_answer_kept(&r);
	unsigned answered = 0;
	for (int i = 0; i < N; i++)
		answered += contains(receive_until(fd[i], "late\n", 5000), "late\n");
	CHECK_INT(answered, N);
	for (int i = 0; i < N; i++)
		close(fd[i]);
	CHECK(rig_await_connections(&r, 0));
	rig_close(&r);
}

TEST(at_the_connection_limit_idle_clients_make_room_and_others_wait)
{
	enum { CAP = 8, N = 24 };
	int fd[N];
	struct rig r;
	struct http_limits l = rig_limits();
	l.connections = CAP;
	if (!rig_open(&r, l))
		return;
	/* Each connection stays open after its answer. New clients displace the connection that was idle for
	 * longest. */
	for (int i = 0; i < N; i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], "GET /echo HTTP/1.1\r\nHost: x\r\n\r\n");
		CHECK(contains(receive_until(fd[i], "pid:", 20000), "GET /echo"));
		CHECK(http_stats(r.http).connections <= CAP);
	}
	for (int i = 0; i < N; i++)
		close(fd[i]);
	CHECK(rig_await_connections(&r, 0));
	/* Clients with requests in progress are not displaced; new clients wait. */
	for (int i = 0; i < N; i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], "GET /late HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	}
	CHECK(rig_await(&r.held, CAP));
	uint64_t before = http_stats(r.http).turns;
	usleep(200000);
	CHECK(http_stats(r.http).turns - before < 10); /* the loop does not spin */
	CHECK_INT(r.held, CAP);
	for (int served = 0; served < N; served += CAP) {
		CHECK(rig_await(&r.held, CAP));
		rig_answer_kept(&r);
	}
	for (int i = 0; i < N; i++) {
		CHECK(contains(receive_until(fd[i], "late\n", 20000), "late\n"));
		close(fd[i]);
	}
	rig_close(&r);
}

static int64_t cpu_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

TEST(idle_server_does_not_wake)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	/* One connection in each phase: new, idle, half a head, half a body, with the handler, streams. */
	static const char *const requests[] = {
		"",
		"GET /echo HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /echo HTTP/1.1\r\nHo",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc",
		"GET /late HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /events HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /lines HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /big/1000000 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /late HTTP/1.1\r\nHost: x\r\n\r\n",
	};
	int fd[ARRAY_LEN(requests)];
	for (unsigned i = 0; i < ARRAY_LEN(requests); i++) {
		fd[i] = connect_to(r.path);
		send_text(fd[i], requests[i]);
	}
	shutdown(fd[ARRAY_LEN(requests) - 1], SHUT_WR);
	CHECK(rig_await(&r.held, 2) && rig_await(&r.streams, 2));
	usleep(200000);
	uint64_t turns = http_stats(r.http).turns;
	int64_t cpu = cpu_us();
	usleep(1000000);
	CHECK_INT(http_stats(r.http).turns - turns, 0);
	CHECK(cpu_us() - cpu < 20000);
	rig_answer_kept(&r);
	for (unsigned i = 0; i < ARRAY_LEN(requests); i++)
		close(fd[i]);
	rig_close(&r);
}

static void count_up(void *arg)
{
	++*(unsigned *)arg;
}

struct task_adder {
	struct rig *rig;
	unsigned ran, added, busy;
};

static void *add_many_tasks(void *arg)
{
	struct task_adder *p = arg;
	for (unsigned i = 0; i < 20000; i++) {
		enum err e = http_add_task(p->rig->http, count_up, &p->ran);
		p->added += e == OK;
		p->busy += e == E_BUSY;
	}
	return NULL;
}

static void sleep_a_moment(void *arg)
{
	(void)arg;
	usleep(50000);
}

TEST(tasks_run_once_each_and_are_bounded)
{
	struct rig r;
	if (!rig_open(&r, rig_limits()))
		return;
	struct task_adder p[4];
	pthread_t thread[4];
	for (int i = 0; i < 4; i++) {
		p[i] = (struct task_adder){ .rig = &r };
		pthread_create(&thread[i], NULL, add_many_tasks, &p[i]);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	unsigned full = 0, ran = 0, added = 0;
	while (http_add_task(r.http, sleep_a_moment, NULL) == E_BUSY)
		usleep(1000);
	for (unsigned i = 0; i < 3 * HTTP_TASKS_MAX; i++) {
		enum err e = http_add_task(r.http, count_up, &ran);
		CHECK(e == OK || e == E_BUSY);
		added += e == OK;
		full += e == E_BUSY;
	}
	CHECK(full > 0);
	http_stop(r.http);
	while (http_add_task(r.http, count_up, &ran) != E_GONE)
		added++;
	rig_close(&r);
	CHECK(ran <= added); /* the last loop also counts tasks that were refused with E_BUSY */
	for (int i = 0; i < 4; i++)
		CHECK_INT(p[i].ran, p[i].added);
}

TEST(descriptors_are_reserved)
{
	struct why why;
	struct http *h = NULL;
	struct rlimit old, small;
	getrlimit(RLIMIT_NOFILE, &old);
	small = old;
	small.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &small);
	struct http_options o = { .path = "/nowhere/socket", .limits = http_limits_default };
	CHECK_INT(http_open(&o, &h, &why), E_LIMIT);
	CHECK(contains(why.text, "256 are reserved"));
	/* Of 80 descriptors 60 are reserved, so 20 connections are accepted. */
	struct rig r;
	struct http_limits l = rig_limits();
	l.fds_reserved = 60;
	small.rlim_cur = 80;
	setrlimit(RLIMIT_NOFILE, &small);
	if (rig_open(&r, l)) {
		int fd[40];
		for (int i = 0; i < 40; i++) {
			fd[i] = connect_to(r.path);
			send_text(fd[i], "GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
		}
		CHECK(rig_await(&r.held, 20));
		usleep(50000);
		CHECK_INT(http_stats(r.http).connections, 20);
		/* If descriptors still run out, the server waits and does not spin. */
		small.rlim_cur = 3;
		for (int i = 0; i < 20; i++)
			close(fd[i]);
		setrlimit(RLIMIT_NOFILE, &small);
		uint64_t turns = http_stats(r.http).turns;
		usleep(500000);
		CHECK(http_stats(r.http).turns - turns < 200);
		setrlimit(RLIMIT_NOFILE, &old);
		for (int i = 20; i < 40; i++) {
			bool received = false;
			for (int tries = 0; tries < 100 && !received; tries++) {
				rig_answer_kept(&r);
				received = contains(receive_until(fd[i], "late\n", 20), "late\n");
			}
			CHECK(received);
			close(fd[i]);
		}
		rig_close(&r);
	}
	setrlimit(RLIMIT_NOFILE, &old);
}
