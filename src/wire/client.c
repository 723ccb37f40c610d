#include "wire/client.h"
#include "sys/clock.h"
#include "wire/response.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* A call under way. */
struct call {
	const struct client_request *ask;
	struct why *why;
	int fd;
	int64_t until; /* ms; INT64_MAX: no end */
	struct buf out;
	size_t sent;
	bool deaf; /* it takes no more from us, and may still have an answer */
	struct response response;
	client_fn *fn; /* for the body of a stream */
	void *ctx;
	bool enough;
	size_t bytes_max;
	struct client_answer *ret;
};

static int64_t now_ms(void)
{
	return clock_boot().us / 1000;
}

static enum err timed_out(const struct call *c)
{
	return why_set(c->why, E_TIMEOUT, WHY_NOWHERE,
		       "the daemon at %s did not answer in time; whether it did what was asked is not known",
		       c->ask->socket);
}

static enum err went_away(const struct call *c)
{
	return why_set(
		c->why, E_GONE, WHY_NOWHERE,
		"the daemon at %s went away before it had answered; whether it did what was asked is not "
		"known",
		c->ask->socket);
}

/* --- the request --- */

static bool is_clean(const char *s, bool blanks)
{
	for (; *s; s++)
		if ((unsigned char)*s < 32 || *s == 127 || (*s == ' ' && !blanks))
			return false;
	return true;
}

static enum err render(struct call *c)
{
	const struct client_request *a = c->ask;
	bool clean = is_clean(a->method, false) && is_clean(a->target, false) && a->target[0] == '/';
	for (const char *const *h = a->headers; h && *h; h++)
		clean = clean && is_clean(*h, true);
	clean = clean && (!a->token || is_clean(a->token, false));
	if (!clean)
		return why_set(c->why, E_INPUT, WHY_NOWHERE, "what is asked cannot be written as HTTP");
	buf_addf(&c->out, "%s %s HTTP/1.1\r\nHost: rota\r\nConnection: close\r\n", a->method, a->target);
	if (a->token)
		buf_addf(&c->out, "Authorization: Bearer %s\r\n", a->token);
	for (const char *const *h = a->headers; h && *h; h++)
		buf_addf(&c->out, "%s\r\n", *h);
	if (a->body.p)
		buf_addf(&c->out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", a->body.n);
	buf_add(&c->out, STR("\r\n"));
	buf_add(&c->out, a->body);
	return c->out.failed ? E_NOMEM : OK;
}

/* --- the connection --- */

static enum err cannot_connect(const struct call *c, int eno)
{
	const char *path = c->ask->socket;
	if (eno == ENOENT || eno == ENOTDIR)
		return why_set(c->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon: there is no socket at %s; `rota serve` starts one", path);
	if (eno == ECONNREFUSED)
		return why_set(c->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon: nobody listens at %s; `rota serve` starts one", path);
	if (eno == EACCES || eno == EPERM)
		return why_set(c->why, E_DENIED, WHY_NOWHERE, "not permitted to use the daemon's socket %s",
			       path);
	if (eno == EAGAIN)
		return why_set(c->why, E_BUSY, WHY_NOWHERE, "the daemon at %s is busy; try again", path);
	return why_set(c->why, E_IO, WHY_NOWHERE, "cannot connect to %s: %s", path, strerror(eno));
}

static enum err open_connection(struct call *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n = strlen(c->ask->socket);
	if (n >= sizeof at.sun_path)
		return why_set(c->why, E_INPUT, WHY_NOWHERE,
			       "the socket's path has %zu bytes, and the system allows %zu", n,
			       sizeof at.sun_path - 1);
	memcpy(at.sun_path, c->ask->socket, n + 1);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return why_set(c->why, E_IO, WHY_NOWHERE, "cannot make a socket: %s", strerror(errno));
	while (connect(c->fd, (const struct sockaddr *)&at, sizeof at) != 0) {
		/* A full queue of a Unix socket cannot be waited for. */
		if ((errno != EAGAIN && errno != EINTR) || now_ms() >= c->until)
			return cannot_connect(c, errno);
		usleep(CLIENT_BUSY_MS * 1000);
	}
	return OK;
}

/* Waits until something can be read or, while there is anything to send, written. */
static enum err await(struct call *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	if (c->sent < c->out.n && !c->deaf)
		p.events |= POLLOUT;
	for (;;) {
		int64_t left = c->until == INT64_MAX ? -1 : c->until - now_ms();
		if (c->until != INT64_MAX && left <= 0)
			return timed_out(c);
		int rc = poll(&p, 1, left > INT32_MAX ? INT32_MAX : (int)left);
		if (rc > 0)
			return OK;
		if (rc < 0 && errno != EINTR)
			return why_set(c->why, E_IO, WHY_NOWHERE, "cannot wait for the daemon: %s",
				       strerror(errno));
	}
}

static void send_some(struct call *c)
{
	if (c->sent == c->out.n || c->deaf)
		return;
	ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
	if (n >= 0)
		c->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		c->deaf = true; /* it may have refused a body before all of it was sent: its answer tells */
}

/* --- the answer --- */

static enum err take(struct call *c, struct str body)
{
	if (!body.n)
		return OK;
	if (c->fn && c->response.status / 100 == 2) {
		c->enough = !c->fn(c->ctx, body);
		return OK;
	}
	if (c->ret->body.n + body.n > c->bytes_max)
		return why_set(c->why, E_LIMIT, WHY_NOWHERE, "the daemon's answer is larger than %zu bytes",
			       c->bytes_max);
	buf_add(&c->ret->body, body);
	return c->ret->body.failed ? E_NOMEM : OK;
}

/* A stream has begun: from here on only silence counts. */
static void renew(struct call *c)
{
	if (!c->fn || c->response.status / 100 != 2)
		return;
	c->until = c->ask->silence_ms ? now_ms() + c->ask->silence_ms : INT64_MAX;
}

static enum err receive_some(struct call *c, bool *end)
{
	char bytes[16384];
	ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return OK;
	if (n <= 0) {
		*end = true;
		return response_ended(&c->response) && c->response.status ? OK : went_away(c);
	}
	struct str in = { bytes, (size_t)n }, body;
	enum err e = OK;
	while (in.n && !e && !c->enough && c->response.state != RESPONSE_DONE) {
		e = response_read(&c->response, &in, &body, c->why);
		e = e == E_INPUT ? E_IO : e;
		if (!e)
			e = take(c, body);
	}
	renew(c);
	*end = c->enough || c->response.state == RESPONSE_DONE;
	return e;
}

static enum err exchange(struct call *c)
{
	bool end = false;
	enum err e = render(c);
	if (!e)
		e = open_connection(c);
	while (!e && !end) {
		e = await(c);
		if (e)
			break;
		send_some(c);
		e = receive_some(c, &end);
	}
	return e;
}

static enum err run(const struct client_request *ask, client_fn *fn, void *ctx, struct client_answer *ret,
		    struct why *why)
{
	struct client_answer got = { 0 };
	struct call c = { .ask = ask, .why = why, .fd = -1, .fn = fn, .ctx = ctx, .ret = &got };
	c.until = now_ms() + (ask->timeout_ms ? ask->timeout_ms : CLIENT_MS);
	c.bytes_max = ask->bytes_max ? ask->bytes_max : CLIENT_BYTES_MAX;
	c.response.bodyless = strcmp(ask->method, "HEAD") == 0;
	enum err e = exchange(&c);
	if (c.fd >= 0)
		close(c.fd);
	buf_free(&c.out);
	if (!e) {
		got.status = c.response.status;
		got.type = c.response.type;
		got.etag = c.response.etag;
		c.response.type = c.response.etag = (struct buf){ 0 };
		*ret = got;
	} else {
		client_answer_free(&got);
	}
	response_free(&c.response);
	return e;
}

void client_answer_free(struct client_answer *a)
{
	buf_free(&a->type);
	buf_free(&a->etag);
	buf_free(&a->body);
}

enum err client_call(const struct client_request *ask, struct client_answer *ret, struct why *why)
{
	return run(ask, NULL, NULL, ret, why);
}

enum err client_stream(const struct client_request *ask, client_fn *fn, void *ctx, struct client_answer *ret,
		       struct why *why)
{
	return run(ask, fn, ctx, ret, why);
}

struct listening {
	struct sse sse;
	sse_fn *fn;
	void *ctx;
	enum err e;
};

static bool some_events(void *ctx, struct str bytes)
{
	struct listening *l = ctx;
	l->e = sse_read(&l->sse, bytes, l->fn, l->ctx);
	return l->e == OK;
}

enum err client_events(const struct client_request *ask, sse_fn *fn, void *ctx, struct client_answer *ret,
		       struct why *why)
{
	struct listening l = { .fn = fn, .ctx = ctx };
	struct client_answer got;
	enum err e = run(ask, some_events, &l, &got, why);
	sse_free(&l.sse);
	if (e)
		return e;
	if (l.e == OK || l.e == E_GONE) { /* E_GONE: it had enough */
		*ret = got;
		return OK;
	}
	client_answer_free(&got);
	return why_set(why, l.e, WHY_NOWHERE, "the daemon sent an event larger than %u bytes",
		       SSE_EVENT_BYTES_MAX);
}
