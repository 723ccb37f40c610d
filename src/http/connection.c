/* Connections. The server accepts them itself, to control their number, peers and deadlines. MHD then reads,
 * writes and closes them. */
#include "http/internal.h"
#include "sys/clock.h"
#include "wire/problem_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void cut_late(struct conn *c)
{
	c->http->stats.late++;
	conn_cut(c);
}

static void refuse_late(struct conn *c)
{
	c->http->stats.late++;
	request_refuse(c->request, 503, E_TIMEOUT, "the request was not answered within %u ms",
		       c->http->limits.answer_ms);
}

#define NEVER SIZE_MAX
static const struct {
	size_t limit; /* offset of the phase's time limit in struct http_limits */
	void (*on_deadline)(struct conn *c);
} phases[] = {
	[PH_FIRST] = { offsetof(struct http_limits, first_ms), cut_late },
	[PH_IDLE] = { offsetof(struct http_limits, idle_ms), conn_cut },
	[PH_READ] = { offsetof(struct http_limits, read_ms), cut_late },
	[PH_HANDLER] = { offsetof(struct http_limits, answer_ms), refuse_late },
	[PH_SEND] = { offsetof(struct http_limits, send_ms), cut_late },
	[PH_IDLE_EVENTS] = { offsetof(struct http_limits, heartbeat_ms), stream_send_heartbeat },
	[PH_IDLE_STREAM] = { NEVER, NULL },
	[PH_STALL] = { offsetof(struct http_limits, stall_ms), stream_stalled },
	[PH_CUT] = { NEVER, NULL },
};
static_assert(ARRAY_LEN(phases) == PHASES, "a row for every phase");

static void remove_from_phase(struct conn *c)
{
	struct http *h = c->http;
	*(c->prev ? &c->prev->next : &h->first[c->phase]) = c->next;
	*(c->next ? &c->next->prev : &h->last[c->phase]) = c->prev;
	c->prev = c->next = NULL;
}

static void append_to_phase(struct conn *c, enum connection_phase p)
{
	struct http *h = c->http;
	const char *limits = (const char *)&h->limits;
	unsigned ms = 0;
	if (phases[p].limit != NEVER)
		memcpy(&ms, limits + phases[p].limit, sizeof ms);
	c->deadline = phases[p].limit == NEVER ? INT64_MAX : http_now() + ms;
	c->phase = p;
	c->prev = h->last[p];
	c->next = NULL;
	*(c->prev ? &c->prev->next : &h->first[p]) = c;
	h->last[p] = c;
}

void conn_enter(struct conn *c, enum connection_phase p)
{
	if (c->phase == PH_CUT) /* a connection never leaves this phase */
		return;
	remove_from_phase(c);
	append_to_phase(c, p);
}

void conn_suspend(struct conn *c)
{
	assert(!c->suspended);
	MHD_suspend_connection(c->mhd);
	c->suspended = true;
	if (c->hung_up) /* the epoll event is edge-triggered, so it is not reported again */
		conn_cut(c);
}

void conn_resume(struct conn *c)
{
	if (!c->suspended) /* a second resume would make MHD ignore the next suspend */
		return;
	c->suspended = false;
	c->http->resumed = true;
	MHD_resume_connection(c->mhd);
}

void conn_cut(struct conn *c)
{
	if (c->phase == PH_CUT)
		return;
	conn_enter(c, PH_CUT);
	shutdown(c->fd, SHUT_RDWR);
	conn_resume(c);
}

/* MHD ignores the sockets of suspended connections, so it would not notice that the client has left. */
void conn_hang_up(struct conn *c)
{
	c->hung_up = true;
	if (c->suspended)
		conn_cut(c);
}

int64_t conn_deadlines(struct http *h, int64_t now)
{
	int64_t next = INT64_MAX;
	for (unsigned p = 0; p < PHASES; p++) {
		/* Each on_deadline moves the connection to another phase, or to the end of the list of this
		 * phase, so the loop ends. */
		while (h->first[p] && h->first[p]->deadline <= now)
			phases[p].on_deadline(h->first[p]);
		if (h->first[p] && h->first[p]->deadline < next)
			next = h->first[p]->deadline;
	}
	return next;
}

/* --- owners --- */

static unsigned owned_by(const struct http *h, const struct http_owner *o)
{
	uint32_t n = o->key ? map_get(&h->owned, o->key) : 0;
	return n == MAP_NONE ? 0 : n;
}

/* False: out of memory. */
static bool count_owner(struct http *h, const struct http_owner *o, int change)
{
	unsigned n = owned_by(h, o) + (unsigned)change;
	if (!o->key)
		return true;
	if (!n)
		map_remove(&h->owned, o->key);
	else if (!map_put(&h->owned, o->key, n))
		return false;
	h->guests += o->guest ? (unsigned)change : 0;
	return true;
}

static bool has_room(const struct http *h, const struct http_owner *o)
{
	unsigned most = o->guest ? HTTP_GUEST_CONNECTIONS
			: h->connections_max > 2 * HTTP_USER_RESERVED
				? h->connections_max - HTTP_USER_RESERVED
				: h->connections_max;
	return !o->key || (owned_by(h, o) < most &&
			   (!o->guest || h->guests < h->connections_max - h->connections_max / 4));
}

/* Answers without MHD. If the answer cannot be sent, the client finds the connection closed. */
static void send_refusal(int fd, const char *status, const char *problem)
{
	char text[512];
	int n = snprintf(text, sizeof text,
			 "HTTP/1.1 %s\r\nContent-Type: " PROBLEM_DOCUMENT_TYPE
			 "\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
			 status, strlen(problem), problem);
	assert(n > 0 && n < (int)sizeof text);
	ssize_t sent = send(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)sent;
}

/* The client may not have sent its request yet; the answer waits in its socket. */
static void refuse_connection(int fd)
{
	send_refusal(
		fd, "503 Service Unavailable",
		"{\"title\":\"busy\",\"status\":503,\"detail\":\"too many connections of one run or user "
		"are open; try again later\",\"code\":\"busy\"}\n");
	close(fd);
}

void conn_refuse_query(struct conn *c)
{
	char problem[256];
	snprintf(problem, sizeof problem,
		 "{\"title\":\"limit reached\",\"status\":422,\"detail\":\"the query has more than %d "
		 "values\",\"code\":\"limit\"}\n",
		 HTTP_QUERY_MAX);
	send_refusal(c->fd, "422 Unprocessable Content", problem);
	conn_cut(c);
}

/* --- opening and closing --- */

void conn_notify(void *cls, struct MHD_Connection *mhd, void **ctx, enum MHD_ConnectionNotificationCode code)
{
	struct http *h = cls;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		struct conn *c = h->adding;
		h->adding = NULL;
		c->mhd = mhd;
		*ctx = c;
		append_to_phase(c, PH_FIRST);
		h->stats.connections = ++h->conns;
		return;
	}
	struct conn *c = *ctx;
	if (c->request)
		request_detach(c->request);
	count_owner(h, &c->owner, -1);
	epoll_ctl(h->epoll, EPOLL_CTL_DEL, c->fd, NULL);
	remove_from_phase(c);
	free(c);
	h->stats.connections = --h->conns;
	h->full = false;
}

static bool add_connection(struct http *h, int fd)
{
	struct conn *c = calloc(1, sizeof *c);
	struct ucred cred;
	socklen_t n = sizeof cred;
	struct epoll_event event = { .events = EPOLLET,
				     .data.ptr = c }; /* EPOLLHUP and EPOLLERR are always reported */
	const struct sockaddr_un addr = { .sun_family = AF_UNIX };
	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) != 0) {
		free(c);
		close(fd);
		return false;
	}
	c->http = h;
	c->fd = fd;
	c->peer = (struct http_peer){ cred.pid, cred.uid, clock_boot() };
	if (h->o.owner)
		c->owner = h->o.owner(h->o.ctx, &c->peer);
	if (!has_room(h, &c->owner) || !count_owner(h, &c->owner, 1)) {
		refuse_connection(fd);
		free(c);
		return true;
	}
	h->adding = c;
	/* On failure MHD has closed fd, and conn_notify has freed c if it was called for the connection. */
	if (MHD_add_connection(h->mhd, fd, (const struct sockaddr *)&addr, sizeof addr.sun_family) !=
	    MHD_YES) {
		if (h->adding)
			count_owner(h, &h->adding->owner, -1);
		free(h->adding);
		h->adding = NULL;
		return false;
	}
	if (epoll_ctl(h->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		conn_cut(c);
	return true;
}

void conn_accept(struct http *h)
{
	for (unsigned i = 0; i < HTTP_TURN_MAX; i++) {
		if (h->conns >= h->connections_max) {
			/* An idle connection is closed to make room for a new client. */
			if (h->first[PH_IDLE])
				conn_cut(h->first[PH_IDLE]);
			else
				h->full = true;
			return;
		}
		int fd = accept4(h->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0 ? add_connection(h, fd) : errno == ECONNABORTED || errno == EINTR)
			continue;
		if (fd < 0 && errno == EAGAIN)
			return;
		/* Out of descriptors or memory. The listener stays readable, so without a pause the loop
		 * would not sleep. */
		h->accept_at = http_now() + HTTP_ACCEPT_PAUSE_MS;
		return;
	}
}
