/* The client, against the real server and against servers that misbehave. */
#include "rig.h"
#include "wire/problem_document.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

TEST(a_call_gets_its_answer)
{
	struct rig r;
	struct why why = { .at = WHY_NOWHERE };
	struct client_answer a = { 0 };
	if (!rig_open(&r, rig_limits()))
		return;
	setenv("http_proxy", "http://127.0.0.1:1", 1);
	setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
	const char *const headers[] = { "If-Match: \"9\"", NULL };
	struct client_request request = { .socket = r.path,
					  .method = "POST",
					  .target = "/echo?x=y",
					  .body = STR("{\"a\":1}"),
					  .headers = headers };
	CHECK_INT(client_call(&request, &a, &why), OK);
	CHECK_INT(a.status, 200);
	CHECK_STR(a.type.p, "text/plain");
	CHECK_STR(a.etag.p, "\"7\"");
	CHECK(contains(a.body.p, "POST /echo [echo] x=y if-match:\"9\" body:7:{\"a\":1} uid:"));
	client_answer_free(&a);
	request = (struct client_request){ .socket = r.path, .method = "HEAD", .target = "/big/5000" };
	CHECK_INT(client_call(&request, &a, &why), OK);
	CHECK_INT(a.body.n, 0);
	client_answer_free(&a);
	unsetenv("http_proxy");
	unsetenv("ALL_PROXY");
	rig_close(&r);
}

TEST(problem_documents_are_read_as_written)
{
	struct rig r;
	struct why why = { .at = WHY_NOWHERE };
	struct client_answer a = { 0 };
	struct buf text = { 0 };
	if (!rig_open(&r, rig_limits()))
		return;
	struct client_request request = { .socket = r.path, .method = "GET", .target = "/problem" };
	CHECK_INT(client_call(&request, &a, &why), OK);
	CHECK_INT(a.status, 400);
	CHECK_STR(a.type.p, PROBLEM_DOCUMENT_TYPE);
	CHECK_INT(problem_document_read(a.status, buf_str(&a.body), &text), E_INPUT);
	CHECK_STR(text.p, "no such day, at line 2, column 1");
	client_answer_free(&a);
	buf_free(&text);
	/* A body that is refused before all of it is sent: the answer is still read. */
	size_t n = 5000000;
	char *body = malloc(n);
	memset(body, ' ', n);
	request = (struct client_request){
		.socket = r.path, .method = "POST", .target = "/echo", .body = { body, n }
	};
	for (int i = 0; i < 20; i++) {
		CHECK_INT(client_call(&request, &a, &why), OK);
		CHECK_INT(a.status, 413);
		CHECK_INT(problem_document_read(a.status, buf_str(&a.body), &text), E_LIMIT);
		client_answer_free(&a);
	}
	CHECK(contains(text.p, "the body is larger than 100000 bytes"));
	free(body);
	buf_free(&text);
	rig_close(&r);
}

TEST(client_errors_are_distinct)
{
	struct rig r;
	struct why why = { .at = WHY_NOWHERE };
	struct client_answer a = { 0 };
	char path[256];
	if (!rig_open(&r, rig_limits()))
		return;
	struct client_request request = {
		.socket = path, .method = "GET", .target = "/never", .timeout_ms = 100
	};
	snprintf(path, sizeof path, "%s/nothing", r.dir);
	CHECK_INT(client_call(&request, &a, &why), E_NODAEMON);
	CHECK_INT(err_table[E_NODAEMON].exit_code, 69);
	CHECK_INT(err_table[E_GONE].exit_code, 75);
	CHECK(contains(why.text, "there is no socket"));
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/nothing", r.dir);
	int dead = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(dead, (struct sockaddr *)&at, sizeof at) == 0);
	CHECK_INT(client_call(&request, &a, &why), E_NODAEMON);
	CHECK(contains(why.text, "nothing listens"));
	/* The queue of connections is full. */
	CHECK(listen(dead, 0) == 0);
	int first = connect_to(at.sun_path);
	CHECK_INT(client_call(&request, &a, &why), E_BUSY);
	close(first);
	close(dead);
	unlink(at.sun_path);
	memset(path, 'a', 200);
	path[200] = 0;
	CHECK_INT(client_call(&request, &a, &why), E_INPUT);

	snprintf(path, sizeof path, "%s", r.path);
	CHECK_INT(client_call(&request, &a, &why), E_TIMEOUT);
	request.target = "/big/3000";
	request.timeout_ms = 2000;
	request.bytes_max = 2999;
	CHECK_INT(client_call(&request, &a, &why), E_LIMIT);
	request.bytes_max = 3000;
	CHECK_INT(client_call(&request, &a, &why), OK);
	CHECK_INT(a.body.n, 3000);
	client_answer_free(&a);
	request.target = "/two words";
	CHECK_INT(client_call(&request, &a, &why), E_INPUT);
	request.target = "/x\r\nEvil: yes";
	CHECK_INT(client_call(&request, &a, &why), E_INPUT);
	rig_close(&r);
}

/* A server that sends `text` in pieces of `step` bytes and closes the connection. */
struct fake_server {
	int fd;
	const char *text;
	size_t step;
};

static void *serve_fake(void *arg)
{
	struct fake_server *l = arg;
	int fd = accept(l->fd, NULL, NULL);
	char bytes[4096];
	if (recv(fd, bytes, sizeof bytes, 0) > 0)
		for (size_t at = 0, n = strlen(l->text); at < n; at += l->step)
			if (!send_bytes(fd, l->text + at, n - at < l->step ? n - at : l->step))
				break;
	close(fd);
	return NULL;
}

TEST(answers_in_every_form_are_read)
{
#define H "HTTP/1.1 200 OK\r\n"
	static const struct {
		int line;
		const char *text;
		enum err e;
		const char *body;
	} rows[] = {
		{ __LINE__, H "Content-Length: 5\r\n\r\nhello", OK, "hello" },
		{ __LINE__, H "content-length:5\r\n\r\nhello", OK, "hello" },
		{ __LINE__, H "\r\nto the end", OK, "to the end" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n", OK,
		  "hello" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n", OK,
		  "hello" },
		{ __LINE__, "HTTP/1.1 100 Continue\r\n\r\n" H "Content-Length: 2\r\n\r\nok", OK, "ok" },
		{ __LINE__, "HTTP/1.1 204 No Content\r\n\r\n", OK, "" },
		{ __LINE__, "", E_GONE, "" },
		{ __LINE__, "HTTP/1.1 20", E_GONE, "" },
		{ __LINE__, H "Content-Length: 5\r\n\r\nhell", E_GONE, "" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", E_GONE, "" },
		{ __LINE__, "SSH-2.0-OpenSSH\r\n\r\n", E_IO, "" },
		{ __LINE__, "HTTP/1.1 OK\r\n\r\n", E_IO, "" },
		{ __LINE__, H "no colon\r\n\r\n", E_IO, "" },
		{ __LINE__, H "Content-Length: -1\r\n\r\n", E_IO, "" },
		{ __LINE__, H "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", E_IO, "" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\nhello\r\n", E_IO, "" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", E_IO, "" },
		{ __LINE__, H "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", E_IO, "" },
	};
#undef H
	char dir[] = "/tmp/rota-http.XXXXXX";
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	CHECK(mkdtemp(dir));
	snprintf(at.sun_path, sizeof at.sun_path, "%s/socket", dir);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 5) == 0);
	for (unsigned i = 0; i < ARRAY_LEN(rows) * 2; i++) {
		unsigned row = i / 2;
		struct fake_server l = { fd, rows[row].text, i % 2 ? 1 : 1000 };
		struct client_request request = {
			.socket = at.sun_path, .method = "GET", .target = "/", .timeout_ms = 2000
		};
		struct client_answer a = { 0 };
		struct why why = { .at = WHY_NOWHERE };
		pthread_t thread;
		pthread_create(&thread, NULL, serve_fake, &l);
		CHECK_INT_AT(rows[row].line, client_call(&request, &a, &why), rows[row].e);
		CHECK_STR_AT(rows[row].line, a.body.p ? a.body.p : "", rows[row].body);
		CHECK_AT(rows[row].line, rows[row].e == OK || why.text[0]);
		client_answer_free(&a);
		pthread_join(thread, NULL);
	}
	close(fd);
	unlink(at.sun_path);
	CHECK(rmdir(dir) == 0);
}

struct event_log {
	unsigned events, most;
	char last[64];
};

static bool log_event(void *ctx, const struct sse_event *e)
{
	struct event_log *s = ctx;
	snprintf(s->last, sizeof s->last, "%.*s/%.*s/%.*s", STR_ARG(e->event), STR_ARG(e->id),
		 STR_ARG(e->data));
	return ++s->events < s->most;
}

static void *write_events_later(void *arg)
{
	struct rig *r = arg;
	rig_await(&r->streams, 1);
	for (int i = 0; i < 3; i++) {
		rig_write_streams(r, "id: 4\nevent: done\ndata: one\ndata: two\n\n", 1);
		usleep(20000);
	}
	rig_end_streams(r);
	return NULL;
}

TEST(events_are_delivered_one_by_one)
{
	for (unsigned most = 2; most <= 100; most += 98) {
		struct rig r;
		struct why why = { .at = WHY_NOWHERE };
		struct client_answer a = { 0 };
		struct event_log seen = { .most = most };
		struct http_limits l = rig_limits();
		l.heartbeat_ms = 10;
		if (!rig_open(&r, l))
			return;
		pthread_t thread;
		pthread_create(&thread, NULL, write_events_later, &r);
		struct client_request request = { .socket = r.path, .method = "GET", .target = "/events" };
		CHECK_INT(client_events(&request, log_event, &seen, &a, &why), OK);
		CHECK_INT(a.status, 200);
		CHECK_INT(seen.events, most < 3 ? most : 3);
		CHECK_STR(seen.last, "done/4/one\ntwo");
		client_answer_free(&a);
		pthread_join(thread, NULL);
		rig_close(&r);
	}
}

TEST(silent_and_failed_streams_are_reported)
{
	struct rig r;
	struct why why = { .at = WHY_NOWHERE };
	struct client_answer a = { 0 };
	struct event_log seen = { .most = 9 };
	if (!rig_open(&r, rig_limits()))
		return;
	struct client_request request = {
		.socket = r.path, .method = "GET", .target = "/events", .silence_ms = 100
	};
	CHECK_INT(client_events(&request, log_event, &seen, &a, &why), E_TIMEOUT);
	request.target = "/problem";
	CHECK_INT(client_events(&request, log_event, &seen, &a, &why), OK);
	CHECK_INT(a.status, 400);
	CHECK(contains(a.body.p, "no such day"));
	CHECK_INT(seen.events, 0);
	client_answer_free(&a);
	rig_close(&r);
}
