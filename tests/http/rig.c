/* The test server, its handler and the raw clients. */
#include "rig.h"
#include "base/buf.h"
#include "wire/sse.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* --- the handler --- */

static void answer_echo(struct http_request *q)
{
	struct buf out = { 0 };
	buf_addf(&out, "%s %.*s", http_method_words[q->method], STR_ARG(q->url.path));
	for (unsigned i = 0; i < q->url.segments; i++)
		buf_addf(&out, " [%.*s]", STR_ARG(q->url.segment[i]));
	for (unsigned i = 0; i < q->url.queries; i++)
		buf_addf(&out, " %.*s=%.*s", STR_ARG(q->url.query[i].name), STR_ARG(q->url.query[i].value));
	if (q->header[HTTP_IF_MATCH].p)
		buf_addf(&out, " if-match:%.*s", STR_ARG(q->header[HTTP_IF_MATCH]));
	buf_addf(&out, " body:%zu:%.*s uid:%d pid:%d\n", q->body.n, STR_SHORT(q->body), (int)q->peer.uid,
		 (int)q->peer.pid);
	http_header_add(q, "ETag", "\"7\"");
	http_answer(q, 200, "text/plain", buf_str(&out));
	buf_free(&out);
}

static void answer_big(struct http_request *q)
{
	uint64_t n = 0;
	CHECK(q->url.segments == 2 && str_number(q->url.segment[1], 1 << 30, &n));
	char *bytes = calloc(1, n + 1);
	memset(bytes, 'x', n);
	http_answer(q, 200, "text/plain", (struct str){ bytes, n });
	free(bytes);
}

static void keep_request(struct rig *r, struct http_request *q)
{
	q->ctx = r;
	for (unsigned i = 0; i < RIG_KEPT; i++)
		if (!r->kept[i]) {
			r->kept[i] = q;
			r->held++;
			return;
		}
	CHECK(!"no free place in rig.kept");
}

static void closed(void *ctx)
{
	struct stream_slot *s = ctx;
	s->stream = NULL;
	s->rig->closed++;
}

static void open_stream(struct rig *r, struct http_request *q, const char *type)
{
	struct stream_slot *s = r->slot;
	while (s->stream)
		s++;
	s->rig = r;
	s->stream = http_stream(q, type, closed, s);
	r->streams++;
}

static void handle(void *ctx, struct http_request *q)
{
	struct rig *r = ctx;
	struct str what = q->url.segments ? q->url.segment[0] : STR("echo");
	struct why why;
	why_write(&why, 2, "no such day");
	if (str_eq(what, STR("late")) || str_eq(what, STR("never")))
		keep_request(r, q);
	else if (str_eq(what, STR("events")))
		open_stream(r, q, SSE_TYPE);
	else if (str_eq(what, STR("lines")))
		open_stream(r, q, "text/plain");
	else if (str_eq(what, STR("big")))
		answer_big(q);
	else if (str_eq(what, STR("problem")))
		http_answer_error(q, E_INPUT, &why, STR("a\nb"));
	else
		answer_echo(q);
}

/* --- the server --- */

struct http_limits rig_limits(void)
{
	struct http_limits l = http_limits_default;
	l.body_bytes = 100000;
	l.bodies_bytes = 400000;
	l.header_bytes = 4096;
	l.stream_bytes = 65536;
	l.stop_ms = 300;
	return l;
}

bool rig_open(struct rig *r, struct http_limits limits)
{
	struct why why = { .at = WHY_NOWHERE };
	memset(r, 0, sizeof *r);
	strcpy(r->dir, "/tmp/rota-http.XXXXXX");
	if (!CHECK(mkdtemp(r->dir)))
		return false;
	snprintf(r->path, sizeof r->path, "%s/socket", r->dir);
	struct http_options o = { .path = r->path, .limits = limits, .handle = handle, .ctx = r };
	enum err e = http_open(&o, &r->http, &why);
	if (e)
		printf("http_open: %s\n", why.text);
	return CHECK_INT(e, OK);
}

void rig_close(struct rig *r)
{
	http_close(r->http);
	r->http = NULL;
	CHECK(access(r->path, F_OK) != 0);
	unlink(r->path);
	CHECK(rmdir(r->dir) == 0);
}

struct awaited_task {
	void (*fn)(void *arg);
	void *arg;
	sem_t done;
};

static void run_awaited_task(void *arg)
{
	struct awaited_task *e = arg;
	e->fn(e->arg);
	sem_post(&e->done);
}

void rig_run(struct rig *r, void (*fn)(void *arg), void *arg)
{
	struct awaited_task e = { .fn = fn, .arg = arg };
	sem_init(&e.done, 0, 0);
	if (CHECK_INT(http_add_task(r->http, run_awaited_task, &e), OK))
		while (sem_wait(&e.done) != 0)
			;
	sem_destroy(&e.done);
}

static void answer_kept(void *arg)
{
	struct rig *r = arg;
	for (unsigned i = 0; i < RIG_KEPT; i++) {
		struct http_request *q = r->kept[i];
		if (!q || (q->url.segments && str_eq(q->url.segment[0], STR("never"))))
			continue;
		r->kept[i] = NULL;
		r->held--;
		if (http_gone(q))
			r->gone++;
		http_answer(q, 200, "text/plain", STR("late\n"));
	}
}

void rig_answer_kept(struct rig *r)
{
	rig_run(r, answer_kept, r);
}

struct stream_write {
	struct rig *rig;
	const char *text;
	unsigned times;
};

static void write_all(void *arg)
{
	struct stream_write *w = arg;
	for (unsigned i = 0; i < RIG_KEPT; i++)
		for (unsigned k = 0; k < w->times && w->rig->slot[i].stream; k++)
			w->rig->wrote = (int)http_stream_write(w->rig->slot[i].stream, str_of(w->text));
}

void rig_write_streams(struct rig *r, const char *text, unsigned times)
{
	struct stream_write w = { r, text, times };
	rig_run(r, write_all, &w);
}

static void end_all(void *arg)
{
	struct rig *r = arg;
	for (unsigned i = 0; i < RIG_KEPT; i++) {
		if (r->slot[i].stream)
			http_stream_end(r->slot[i].stream);
		r->slot[i].stream = NULL;
	}
}

void rig_end_streams(struct rig *r)
{
	rig_run(r, end_all, r);
}

bool rig_await(_Atomic unsigned *what, unsigned n)
{
	for (int64_t until = now_ms() + 30000; now_ms() < until; usleep(500))
		if (*what >= n)
			return true;
	return false;
}

bool rig_await_connections(struct rig *r, unsigned n)
{
	for (int64_t until = now_ms() + 30000; now_ms() < until; usleep(500))
		if (http_stats(r->http).connections == n)
			return true;
	return false;
}

/* --- clients --- */

int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int connect_to(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	if (!CHECK(fd >= 0) || !CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0))
		return -1;
	return fd;
}

bool send_bytes(int fd, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		ssize_t k = poll(&p, 1, 5000) > 0
				    ? send(fd, (const char *)bytes + at, n - at, MSG_NOSIGNAL | MSG_DONTWAIT)
				    : 0;
		if (k < 0 && errno == EAGAIN)
			continue;
		if (k <= 0)
			return false;
		at += (size_t)k;
	}
	return true;
}

bool send_text(int fd, const char *text)
{
	return send_bytes(fd, text, strlen(text));
}

const char *receive_until(int fd, const char *until, int ms)
{
	static _Thread_local char text[1 << 20];
	size_t n = 0;
	int64_t end = now_ms() + ms;
	text[0] = 0;
	while (n + 1 < sizeof text && !(until && strstr(text, until))) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = end - now_ms();
		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			break;
		ssize_t k = recv(fd, text + n, sizeof text - 1 - n, 0);
		if (k <= 0)
			break;
		n += (size_t)k;
		text[n] = 0;
	}
	return text;
}

bool is_closed(int fd, int ms)
{
	char bytes[65536];
	for (int64_t end = now_ms() + ms; now_ms() < end;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (poll(&p, 1, 50) > 0 && recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) <= 0)
			return true;
	}
	return false;
}

bool contains(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

unsigned occurrences(const char *text, const char *part)
{
	unsigned n = 0;
	for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
		n++;
	return n;
}
