/* One request to the daemon and its answer, over a connection of its own. */
#include "wire/client.h"
#include "sys/clock.h"
#include "wire/response.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

typedef bool body_fn(void *ctx, struct str bytes); /* returns false if it wants no more bytes */

struct exchange {
	const struct client_request *request;
	struct why *why;
	int fd;
	int64_t until; /* deadline in ms; INT64_MAX: none */
	struct buf out;
	size_t sent;
	bool send_failed; /* the daemon no longer reads the request, but may have answered */
	struct response response;
	body_fn *fn; /* gets the body of a 2xx answer in pieces; NULL: the body is collected in ret */
	void *ctx;
	bool stopped; /* fn has returned false */
	size_t bytes_max;
	struct client_answer *ret;
};

static int64_t now_ms(void)
{
	return clock_boot().us / 1000;
}

static enum err timed_out(const struct exchange *c)
{
	return why_set(
		c->why, E_TIMEOUT, WHY_NOWHERE,
		"the daemon at %s did not answer in time; it may or may not have carried out the request",
		c->request->socket);
}

static enum err disconnected(const struct exchange *c)
{
	return why_set(c->why, E_GONE, WHY_NOWHERE,
		       "the daemon at %s closed the connection before it answered; it may or may not have "
		       "carried out the request",
		       c->request->socket);
}

/* --- the request --- */

static bool is_printable(const char *s, bool spaces)
{
	for (; *s; s++)
		if ((unsigned char)*s < 32 || *s == 127 || (*s == ' ' && !spaces))
			return false;
	return true;
}

static enum err write_request(struct exchange *c)
{
	const struct client_request *r = c->request;
	bool valid = is_printable(r->method, false) && is_printable(r->target, false) && r->target[0] == '/';
	for (const char *const *h = r->headers; h && *h; h++)
		valid = valid && is_printable(*h, true);
	valid = valid && (!r->token || is_printable(r->token, false));
	if (!valid)
		return why_set(c->why, E_INPUT, WHY_NOWHERE,
			       "the path, a header or the token of the request has a character that HTTP "
			       "does not allow");
	buf_addf(&c->out, "%s %s HTTP/1.1\r\nHost: rota\r\nConnection: close\r\n", r->method, r->target);
	if (r->token)
		buf_addf(&c->out, "Authorization: Bearer %s\r\n", r->token);
	for (const char *const *h = r->headers; h && *h; h++)
		buf_addf(&c->out, "%s\r\n", *h);
	if (r->body.p)
		buf_addf(&c->out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", r->body.n);
	buf_add(&c->out, STR("\r\n"));
	buf_add(&c->out, r->body);
	return c->out.failed ? E_NOMEM : OK;
}

/* --- the connection --- */

static enum err cannot_connect(const struct exchange *c, int eno)
{
	const char *path = c->request->socket;
	if (eno == ENOENT || eno == ENOTDIR)
		return why_set(c->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon at %s: there is no socket; `rota serve` starts one", path);
	if (eno == ECONNREFUSED)
		return why_set(c->why, E_NODAEMON, WHY_NOWHERE,
			       "no daemon at %s: nothing listens; `rota serve` starts one", path);
	if (eno == EACCES || eno == EPERM)
		return why_set(c->why, E_DENIED, WHY_NOWHERE, "not permitted to use the daemon's socket %s",
			       path);
	if (eno == EAGAIN)
		return why_set(c->why, E_BUSY, WHY_NOWHERE, "the daemon at %s is busy; try again", path);
	return why_set(c->why, E_NODAEMON, WHY_NOWHERE, "no daemon at %s: %s; `rota serve` starts one", path,
		       strerror(eno));
}

static enum err open_connection(struct exchange *c)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	size_t n = strlen(c->request->socket);
	if (n >= sizeof at.sun_path)
		return why_set(c->why, E_INPUT, WHY_NOWHERE,
			       "the socket's path has %zu bytes; the system allows %zu", n,
			       sizeof at.sun_path - 1);
	memcpy(at.sun_path, c->request->socket, n + 1);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return why_set(c->why, E_IO, WHY_NOWHERE, "cannot create a socket: %s", strerror(errno));
	while (connect(c->fd, (const struct sockaddr *)&at, sizeof at) != 0) {
		/* No system call waits for room in the queue of a Unix socket, so connect is tried
		 * repeatedly. */
		if ((errno != EAGAIN && errno != EINTR) || now_ms() >= c->until)
			return cannot_connect(c, errno);
		usleep(CLIENT_BUSY_MS * 1000);
	}
	return OK;
}

/* Waits until the socket can be read or, while part of the request is unsent, written. */
static enum err await_socket(struct exchange *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	if (c->sent < c->out.n && !c->send_failed)
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

static void send_some(struct exchange *c)
{
	if (c->sent == c->out.n || c->send_failed)
		return;
	ssize_t n = send(c->fd, c->out.p + c->sent, c->out.n - c->sent, MSG_NOSIGNAL);
	if (n >= 0)
		c->sent += (size_t)n;
	else if (errno != EAGAIN && errno != EINTR)
		c->send_failed = true; /* the daemon may have refused the body early; its answer says why */
}

/* --- the answer --- */

static enum err handle_body(struct exchange *c, struct str body)
{
	if (!body.n)
		return OK;
	if (c->fn && c->response.status / 100 == 2) {
		c->stopped = !c->fn(c->ctx, body);
		return OK;
	}
	if (c->ret->body.n + body.n > c->bytes_max)
		return why_set(c->why, E_LIMIT, WHY_NOWHERE, "the daemon's answer is larger than %zu bytes",
			       c->bytes_max);
	buf_add(&c->ret->body, body);
	return c->ret->body.failed ? E_NOMEM : OK;
}

/* After a stream has begun, its deadline is renewed whenever bytes are received. */
static void renew_deadline(struct exchange *c)
{
	if (!c->fn || c->response.status / 100 != 2)
		return;
	c->until = c->request->silence_ms ? now_ms() + c->request->silence_ms : INT64_MAX;
}

static enum err receive_some(struct exchange *c, bool *end)
{
	char bytes[16384];
	ssize_t n = recv(c->fd, bytes, sizeof bytes, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return OK;
	if (n <= 0) {
		*end = true;
		return response_complete(&c->response) && c->response.status ? OK : disconnected(c);
	}
	struct str in = { bytes, (size_t)n }, body;
	enum err e = OK;
	while (in.n && !e && !c->stopped && c->response.state != RESPONSE_DONE) {
		e = response_read(&c->response, &in, &body, c->why);
		e = e == E_INPUT ? E_IO : e;
		if (!e)
			e = handle_body(c, body);
	}
	renew_deadline(c);
	*end = c->stopped || c->response.state == RESPONSE_DONE;
	return e;
}

static enum err send_and_receive(struct exchange *c)
{
	bool end = false;
	enum err e = write_request(c);
	if (!e)
		e = open_connection(c);
	while (!e && !end) {
		e = await_socket(c);
		if (e)
			break;
		send_some(c);
		e = receive_some(c, &end);
	}
	return e;
}

static enum err run_exchange(const struct client_request *request, body_fn *fn, void *ctx,
			     struct client_answer *ret, struct why *why)
{
	struct client_answer got = { 0 };
	struct exchange c = { .request = request, .why = why, .fd = -1, .fn = fn, .ctx = ctx, .ret = &got };
	c.until = now_ms() + (request->timeout_ms ? request->timeout_ms : CLIENT_MS);
	c.bytes_max = request->bytes_max ? request->bytes_max : CLIENT_BYTES_MAX;
	c.response.bodyless = strcmp(request->method, "HEAD") == 0;
	enum err e = send_and_receive(&c);
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

enum err client_call(const struct client_request *request, struct client_answer *ret, struct why *why)
{
	return run_exchange(request, NULL, NULL, ret, why);
}

struct event_reader {
	struct sse sse;
	sse_fn *fn;
	void *ctx;
	enum err e;
};

static bool read_events(void *ctx, struct str bytes)
{
	struct event_reader *l = ctx;
	l->e = sse_read(&l->sse, bytes, l->fn, l->ctx);
	return l->e == OK;
}

enum err client_events(const struct client_request *request, sse_fn *fn, void *ctx, struct client_answer *ret,
		       struct why *why)
{
	struct event_reader l = { .fn = fn, .ctx = ctx };
	struct client_answer got;
	enum err e = run_exchange(request, read_events, &l, &got, why);
	sse_free(&l.sse);
	if (e)
		return e;
	if (l.e == OK || l.e == E_GONE) { /* E_GONE: fn returned false */
		*ret = got;
		return OK;
	}
	client_answer_free(&got);
	return why_set(why, l.e, WHY_NOWHERE, "the daemon sent an event larger than %u bytes",
		       SSE_EVENT_BYTES_MAX);
}
