/* The server's thread: start, loop, stop, and tasks from other threads. MHD's epoll descriptor is in the
 * server's epoll set, so one wait covers MHD's sockets, tasks, new connections, clients that hang up, and
 * deadlines. */
#include "http/internal.h"
#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
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
	.heartbeat_ms = HTTP_HEARTBEAT_MS,
	.stop_ms = HTTP_STOP_MS,
	.watch_ms = HTTP_WATCH_MS,
};

int64_t http_now(void)
{
	return clock_boot().us / 1000;
}

/* --- called by other threads --- */

enum err http_add_task(struct http *h, void (*fn)(void *arg), void *arg)
{
	pthread_mutex_lock(&h->lock);
	enum err e = h->closed ? E_GONE : mailbox_put(h->tasks, fn, arg);
	pthread_mutex_unlock(&h->lock);
	return e == E_LIMIT ? E_BUSY : e;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

void http_stop(struct http *h)
{
	if (!atomic_exchange(&h->stop_requested, true) && mailbox_put(h->tasks, do_nothing, NULL)) {
		/* The mailbox is full: the thread is about to empty it, and checks stop_requested
		 * afterwards. */
	}
}

struct http *http_server(const struct http_request *r)
{
	return ((const struct server_request *)r)->http;
}

struct http_stats http_stats(const struct http *h)
{
	return (struct http_stats){ h->stats.connections, h->stats.requests, h->stats.late, h->stats.dropped,
				    h->stats.turns };
}

/* --- the thread --- */

static void poll_listener(struct http *h, bool want)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = &h->listener };
	if (want == h->listener_polled)
		return;
	if (epoll_ctl(h->epoll, want ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, h->listener.fd, &event) == 0)
		h->listener_polled = want;
}

static void cut_phase(struct http *h, enum connection_phase p)
{
	while (h->first[p])
		conn_cut(h->first[p]);
}

static void begin_stop(struct http *h)
{
	static const enum connection_phase streams[] = { PH_IDLE_EVENTS, PH_IDLE_STREAM, PH_STALL };
	h->stopping = true;
	h->stop_at = http_now() + h->limits.stop_ms;
	poll_listener(h, false);
	listener_close(&h->listener);
	cut_phase(h, PH_FIRST);
	cut_phase(h, PH_IDLE);
	for (unsigned i = 0; i < ARRAY_LEN(streams); i++)
		while (h->first[streams[i]])
			stream_stop(h->first[streams[i]]);
}

/* After limits.stop_ms, refuses the remaining requests. False: the stop is complete. */
static bool continue_stop(struct http *h, int64_t now)
{
	if (now >= h->stop_at) {
		cut_phase(h, PH_READ);
		while (h->first[PH_HANDLER])
			request_refuse(h->first[PH_HANDLER]->request, 503, E_BUSY, "the daemon is stopping");
	}
	return h->conns > 0 && now < h->stop_at + HTTP_LAST_MS;
}

/* How long epoll may wait, in ms; `next` is the next deadline of a connection. */
static int wait_ms(struct http *h, int64_t next)
{
	MHD_UNSIGNED_LONG_LONG mhd;
	int64_t now = http_now();
	if (h->resumed) /* MHD handles the resumed connection in its next run */
		return 0;
	if (h->stopping && h->conns) {
		int64_t step = now < h->stop_at ? h->stop_at : h->stop_at + HTTP_LAST_MS;
		next = step < next ? step : next;
	}
	if (!h->stopping && h->accept_at > now && h->accept_at < next)
		next = h->accept_at;
	if (h->watch_at && h->watch_at < next)
		next = h->watch_at;
	/* MHD_get_timeout must be called after every run: the timeout is 0 while MHD has unprocessed
	 * input. */
	if (MHD_get_timeout(h->mhd, &mhd) == MHD_YES && (next == INT64_MAX || (int64_t)mhd < next - now))
		next = now + (mhd > INT32_MAX ? INT32_MAX : (int64_t)mhd);
	if (next == INT64_MAX)
		return -1;
	return next <= now ? 0 : next - now > INT32_MAX ? INT32_MAX : (int)(next - now);
}

void http_refuse_waiting(struct http *h, const struct why *why)
{
	while (h->first[PH_HANDLER])
		request_refuse(h->first[PH_HANDLER]->request, 503, E_BUSY, "%s", why->text);
}

static void watch_handler(struct http *h)
{
	int64_t now = http_now();
	if (h->watch_at && now >= h->watch_at && h->first[PH_HANDLER])
		h->o.watch(h->o.ctx, h);
	if (!h->o.watch || !h->first[PH_HANDLER])
		h->watch_at = 0;
	else if (h->watch_at <= now)
		h->watch_at = now + h->limits.watch_ms;
}

/* The events that epoll has reported, without those of clients that hang up. */
struct readiness {
	bool connections, tasks;
};

static struct readiness handle_events(struct http *h, const struct epoll_event *events, int n)
{
	struct readiness ready = { 0 };
	for (int i = 0; i < n; i++) {
		void *source = events[i].data.ptr;
		if (source == &h->listener)
			ready.connections = true;
		else if (source == &h->tasks)
			ready.tasks = true;
		else if (source != &h->mhd && (events[i].events & (EPOLLHUP | EPOLLERR)))
			conn_hang_up(source);
	}
	return ready;
}

static void run_loop(struct http *h)
{
	struct epoll_event events[HTTP_TURN_MAX];
	int64_t next = INT64_MAX;
	for (;;) {
		poll_listener(h, !h->stopping && !h->full && http_now() >= h->accept_at);
		int n = epoll_wait(h->epoll, events, HTTP_TURN_MAX, wait_ms(h, next));
		struct readiness ready = handle_events(h, events, n);
		h->stats.turns++;
		if (ready.connections && !h->stopping)
			conn_accept(h);
		if (ready.tasks)
			mailbox_run(h->tasks);
		if (h->stop_requested && !h->stopping)
			begin_stop(h);
		conn_deadlines(h, http_now());
		h->resumed = false;
		MHD_run(h->mhd); /* frees closed connections, so no pointer to a connection may be kept across
				    this call */
		next = conn_deadlines(h, http_now());
		watch_handler(h);
		if (h->stopping && !continue_stop(h, http_now()))
			return;
	}
}

static void end_thread(struct http *h)
{
	for (unsigned p = 0; p < PH_CUT; p++)
		cut_phase(h, (enum connection_phase)p);
	MHD_run(h->mhd); /* resumes suspended connections; with a suspended connection MHD_stop_daemon would
			    abort */
	MHD_stop_daemon(h->mhd);
	pthread_mutex_lock(&h->lock);
	h->closed = true;
	pthread_mutex_unlock(&h->lock);
	mailbox_run(h->tasks);
}

static enum err start_mhd(struct http *h)
{
	h->mhd = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
		request_access, h, MHD_OPTION_URI_LOG_CALLBACK, request_begin, h, MHD_OPTION_NOTIFY_COMPLETED,
		request_completed, h, MHD_OPTION_NOTIFY_CONNECTION, conn_notify, h,
		/* In strict mode MHD would refuse requests with an HTML page. So it is not strict, and
		 * check_head refuses them in JSON. */
		MHD_OPTION_CONNECTION_LIMIT, h->connections_max + 1, MHD_OPTION_STRICT_FOR_CLIENT, 0,
		/* The pool holds the head twice: as received, and parsed. */
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, 2 * h->limits.header_bytes + 2048, MHD_OPTION_END);
	if (!h->mhd)
		return E_NOMEM;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->mhd, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event mhd = { .events = EPOLLIN, .data.ptr = &h->mhd };
	struct epoll_event tasks = { .events = EPOLLIN, .data.ptr = &h->tasks };
	if (info && epoll_ctl(h->epoll, EPOLL_CTL_ADD, info->epoll_fd, &mhd) == 0 &&
	    epoll_ctl(h->epoll, EPOLL_CTL_ADD, mailbox_fd(h->tasks), &tasks) == 0)
		return OK;
	MHD_stop_daemon(h->mhd);
	return E_IO;
}

static void *thread_main(void *arg)
{
	struct http *h = arg;
	h->start_error = start_mhd(h);
	bool started = h->start_error == OK;
	sem_post(&h->started);
	if (!started)
		return NULL;
	run_loop(h);
	end_thread(h);
	return NULL;
}

/* --- opening and closing --- */

static void free_server(struct http *h)
{
	for (struct server_request *r = h->unanswered, *next; r; r = next) {
		next = r->next;
		if (r->pub.dropped)
			r->pub.dropped(&r->pub);
		request_free(r);
	}
	listener_close(&h->listener);
	if (h->epoll >= 0)
		close(h->epoll);
	mailbox_free(h->tasks);
	map_free(&h->owned);
	sem_destroy(&h->started);
	pthread_mutex_destroy(&h->lock);
	free(h);
}

/* Starts the thread and waits until MHD runs. */
static enum err start_thread(struct http *h)
{
	enum err e = thread_start(&h->thread, thread_main, h);
	if (e)
		return e;
	while (sem_wait(&h->started) != 0)
		; /* interrupted by a signal */
	if (h->start_error != OK)
		pthread_join(h->thread, NULL);
	return h->start_error;
}

/* How many connections the descriptor limit allows. */
static enum err find_connections_max(const struct http_limits *limits, unsigned *ret, struct why *why)
{
	struct rlimit fds;
	rlim_t room = getrlimit(RLIMIT_NOFILE, &fds) == 0 ? fds.rlim_cur : 1024;
	room = room > limits->fds_reserved ? room - limits->fds_reserved : 0;
	if (room < HTTP_CONNECTIONS_MIN)
		return why_set(
			why, E_LIMIT, WHY_NOWHERE,
			"too few file descriptors: %llu are allowed, %u are reserved for the daemon itself; "
			"raise the limit (ulimit -n)",
			(unsigned long long)fds.rlim_cur, limits->fds_reserved);
	*ret = limits->connections < room ? limits->connections : (unsigned)room;
	return OK;
}

enum err http_open(const struct http_options *o, struct http **ret, struct why *why)
{
	unsigned connections_max;
	enum err e = find_connections_max(&o->limits, &connections_max, why);
	if (e)
		return e;
	struct http *h = calloc(1, sizeof *h);
	if (!h)
		return E_NOMEM;
	h->o = *o;
	h->o.path = NULL; /* the listener has a copy */
	h->limits = o->limits;
	h->connections_max = connections_max;
	h->listener.fd = -1;
	pthread_mutex_init(&h->lock, NULL);
	sem_init(&h->started, 0, 0);
	h->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot create an epoll descriptor: %s", strerror(errno));
	if (!e && (e = mailbox_new(HTTP_TASKS_MAX, &h->tasks)))
		e = why_set(why, e, WHY_NOWHERE, "cannot create the HTTP server's task queue");
	if (!e)
		e = listener_open(o->path, &h->listener, why);
	if (!e && (e = start_thread(h)))
		e = why_set(why, e, WHY_NOWHERE, "cannot start the HTTP server");
	if (e)
		free_server(h);
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
	free_server(h);
}
