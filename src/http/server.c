/* The server's thread: its loop, its end, and how others reach it. MHD runs inside of our own epoll, so that
 * one wait covers its sockets, posted work, new connections, clients that leave, and deadlines. */
#include "http/internal.h"
#include "sys/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

const struct http_limits http_limits_default = {
	.body_bytes = HTTP_BODY_BYTES_MAX,
	.bodies_bytes = HTTP_BODIES_BYTES_MAX,
	.header_bytes = HTTP_HEADER_BYTES_MAX,
	.stream_bytes = HTTP_STREAM_BYTES_MAX,
	.connections = HTTP_CONNECTIONS_MAX,
	.fds_reserved = HTTP_FDS_RESERVED,
	.first_ms = HTTP_FIRST_MS,
	.idle_ms = HTTP_IDLE_MS,
	.read_ms = HTTP_READ_MS,
	.answer_ms = HTTP_ANSWER_MS,
	.send_ms = HTTP_SEND_MS,
	.stall_ms = HTTP_STALL_MS,
	.beat_ms = HTTP_BEAT_MS,
	.stop_ms = HTTP_STOP_MS,
};

int64_t http_now(void)
{
	return clock_boot().us / 1000;
}

/* --- other threads' side --- */

static void wake(struct http *h)
{
	uint64_t one = 1;
	if (write(h->wake, &one, sizeof one) < 0)
		one = 0; /* the counter is full, hence readable: just as well */
}

enum err http_post(struct http *h, void (*fn)(void *arg), void *arg)
{
	enum err e = OK;
	pthread_mutex_lock(&h->lock);
	bool first = h->posts == 0;
	if (h->notifier_closed)
		e = E_GONE;
	else if (h->posts == HTTP_POSTS_MAX)
		e = E_BUSY;
	else
		h->post[(h->notifier_first + h->posts++) % HTTP_POSTS_MAX] = (struct notifier){ fn, arg };
	pthread_mutex_unlock(&h->lock);
	if (!e && first)
		wake(h);
	return e;
}

void http_stop(struct http *h)
{
	if (!atomic_exchange(&h->stop, true))
		wake(h);
}

struct http_stats http_stats(const struct http *h)
{
	return (struct http_stats){ h->stats.connections, h->stats.requests, h->stats.late, h->stats.dropped,
				    h->stats.turns };
}

/* --- the thread --- */

/* Those there are now; what they post themselves waits for the next turn. */
static void run_posts(struct http *h)
{
	pthread_mutex_lock(&h->lock);
	for (unsigned n = h->posts; n > 0; n--) {
		struct notifier p = h->post[h->notifier_first];
		h->notifier_first = (h->notifier_first + 1) % HTTP_POSTS_MAX;
		h->posts--;
		pthread_mutex_unlock(&h->lock);
		p.fn(p.arg);
		pthread_mutex_lock(&h->lock);
	}
	bool more = h->posts > 0;
	pthread_mutex_unlock(&h->lock);
	if (more)
		wake(h);
}

static void poll_listener(struct http *h, bool want)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &h->listener };
	if (want == h->polled)
		return;
	if (epoll_ctl(h->epoll, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, h->listener.fd, &event) == 0)
		h->polled = want;
}

static void cut_all(struct http *h, enum phase p)
{
	while (h->first[p])
		conn_cut(h->first[p]);
}

static void begin_stop(struct http *h)
{
	static const enum phase streams[] = { PH_QUIET, PH_OPEN, PH_STALL };
	h->stopping = true;
	h->stop_at = http_now() + h->limits.stop_ms;
	poll_listener(h, false);
	listener_close(&h->listener);
	cut_all(h, PH_FIRST);
	cut_all(h, PH_IDLE);
	for (unsigned i = 0; i < ARRAY_LEN(streams); i++)
		while (h->first[streams[i]])
			stream_stop(h->first[streams[i]]);
}

/* How far the stop has come; false at its end. */
static bool still_stopping(struct http *h, int64_t now)
{
	if (now >= h->stop_at) {
		cut_all(h, PH_READ);
		while (h->first[PH_HELD])
			request_refuse(h->first[PH_HELD]->request, 503, E_BUSY, "the daemon is stopping");
	}
	return h->conns > 0 && now < h->stop_at + HTTP_LAST_MS;
}

static int timeout(struct http *h, int64_t next)
{
	MHD_UNSIGNED_LONG_LONG mhd;
	int64_t now = http_now();
	if (h->resumed) /* MHD takes note of that in its next run only */
		return 0;
	if (h->stopping && h->conns) {
		int64_t step = now < h->stop_at ? h->stop_at : h->stop_at + HTTP_LAST_MS;
		next = step < next ? step : next;
	}
	if (!h->stopping && h->accept_at > now && h->accept_at < next)
		next = h->accept_at;
	/* To be asked after every run: it is 0 while MHD has read more than it has looked at. */
	if (MHD_get_timeout(h->mhd, &mhd) == MHD_YES && (next == INT64_MAX || (int64_t)mhd < next - now))
		next = now + (mhd > INT32_MAX ? INT32_MAX : (int64_t)mhd);
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > INT32_MAX ? INT32_MAX : (int)(next - now);
}

static void look(struct http *h, const struct epoll_event *events, int n, bool *accept)
{
	for (int i = 0; i < n; i++) {
		void *what = events[i].data.ptr;
		uint64_t count;
		if (what == &h->listener)
			*accept = true;
		else if (what == &h->wake && read(h->wake, &count, sizeof count) < 0)
			count = 0; /* woken for nothing */
		else if (what != &h->wake && what != &h->mhd && (events[i].events & (EPOLLHUP | EPOLLERR)))
			conn_hang_up(what);
	}
}

static void loop(struct http *h)
{
	struct epoll_event events[HTTP_TURN_MAX];
	int64_t next = INT64_MAX;
	for (;;) {
		bool accept = false;
		poll_listener(h, !h->stopping && !h->full && http_now() >= h->accept_at);
		look(h, events, epoll_wait(h->epoll, events, HTTP_TURN_MAX, timeout(h, next)), &accept);
		h->stats.turns++;
		if (h->stop && !h->stopping)
			begin_stop(h);
		if (accept && !h->stopping)
			conn_accept(h);
		run_posts(h);
		conn_deadlines(h, http_now());
		h->resumed = false;
		MHD_run(h->mhd); /* closes connections: no pointer to one is older than this */
		next = conn_deadlines(h, http_now());
		if (h->stopping && !still_stopping(h, http_now()))
			return;
	}
}

static void end(struct http *h)
{
	for (unsigned p = 0; p < PH_CUT; p++)
		cut_all(h, (enum phase)p);
	MHD_run(h->mhd); /* what was suspended is resumed here; MHD_stop_daemon aborts otherwise */
	MHD_stop_daemon(h->mhd);
	pthread_mutex_lock(&h->lock);
	h->notifier_closed = true;
	pthread_mutex_unlock(&h->lock);
	run_posts(h);
}

static enum err begin(struct http *h)
{
	h->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		request_access, h, MHD_OPTION_URI_LOG_CALLBACK, request_begin, h, MHD_OPTION_NOTIFY_COMPLETED,
		request_completed, h, MHD_OPTION_NOTIFY_CONNECTION, conn_notify, h,
		/* Not strict: what it refuses for that it refuses in HTML; check_head does it in ours. */
		MHD_OPTION_CONNECTION_LIMIT, h->room + 1, MHD_OPTION_STRICT_FOR_CLIENT, 0,
		/* The pool holds the head twice: as it comes, and taken apart. */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, 2 * h->limits.header_bytes + 2048, MHD_OPTION_END);
	if (!h->mhd)
		return E_NOMEM;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event mhd = { .events = EPOLLIN, .data.ptr = &h->mhd };
	struct epoll_event woken = { .events = EPOLLIN, .data.ptr = &h->wake };
	if (info && epoll_ctl(h->epoll, EPOLL_CTL_ADD, info->epoll_fd, &mhd) == 0 &&
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->wake, &woken) == 0)
		return OK;
	MHD_stop_daemon(h->mhd);
	return E_IO;
}

static void *work(void *arg)
{
	struct http *h = arg;
	h->start = begin(h);
	bool started = h->start == OK;
	sem_post(&h->ready);
	if (!started)
		return NULL;
	loop(h);
	end(h);
	return NULL;
}

/* --- from the first to the last --- */

static void destroy(struct http *h)
{
	for (struct request *r = h->kept, *next; r; r = next) {
		next = r->next;
		if (r->pub.dropped)
			r->pub.dropped(&r->pub);
		request_free(r);
	}
	listener_close(&h->listener);
	if (h->epoll >= 0)
		close(h->epoll);
	if (h->wake >= 0)
		close(h->wake);
	sem_destroy(&h->ready);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* Its thread takes no signals. */
static enum err start(struct http *h)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(&h->thread, NULL, work, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		return E_NOMEM;
	while (sem_wait(&h->ready) != 0)
		; /* a signal */
	if (h->start != OK)
		pthread_join(h->thread, NULL);
	return h->start;
}

static enum err find_room(const struct http_limits *limits, unsigned *ret, struct why *why)
{
	struct rlimit fds;
	rlim_t room = getrlimit(RLIMIT_NOFILE, &fds) == 0 ? fds.rlim_cur : 1024;
	room = room > limits->fds_reserved ? room - limits->fds_reserved : 0;
	if (room < HTTP_CONNECTIONS_MIN)
		return why_set(
			why, E_LIMIT, WHY_NOWHERE,
			"of the %llu file descriptors allowed (ulimit -n) %u are reserved: none is left "
			"for connections",
			(unsigned long long)fds.rlim_cur, limits->fds_reserved);
	*ret = limits->connections < room ? limits->connections : (unsigned)room;
	return OK;
}

enum err http_open(const struct http_options *o, struct http **ret, struct why *why)
{
	unsigned room;
	enum err e = find_room(&o->limits, &room, why);
	if (e)
		return e;
	struct http *h = calloc(1, sizeof *h);
	if (!h)
		return E_NOMEM;
	h->o = *o;
	h->o.path = NULL; /* the listener has its own */
	h->limits = o->limits;
	h->room = room;
	h->listener.fd = -1;
	pthread_mutex_init(&h->lock, NULL);
	sem_init(&h->ready, 0, 0);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	h->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (h->epoll < 0 || h->wake < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot make an event queue: %s", strerror(errno));
	if (!e)
		e = listener_open(o->path, &h->listener, why);
	if (!e && (e = start(h)))
		e = why_set(why, e, WHY_NOWHERE, "cannot start the HTTP server");
	if (e)
		destroy(h);
	else
		*ret = h;
	return e;
}

void http_close(struct http *h)
{
	if (!h)
		return;
	http_stop(h);
	pthread_join(h->thread, NULL);
	destroy(h);
}
