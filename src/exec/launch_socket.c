/* The runner's side of the launcher's socket: requests to it, replies from it, and its replacement when it
 * has died or hangs. */
#include "exec/internal.h"
#include "port/launch.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- requests --- */

/* Returns 0 or an errno. */
static int send_packet(struct runner *r, enum launch_op op, int memfd, uint64_t ticket)
{
	struct launch_packet p = {
		.magic = LAUNCH_MAGIC, .version = LAUNCH_VERSION, .op = (uint16_t)op, .ticket = ticket
	};
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { .h = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec v = { &p, sizeof p };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	memcpy(CMSG_DATA(&c.h), &memfd, sizeof memfd);
	return sendmsg(r->launcher.socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? errno : 0;
}

/* Sends a request for the attempt. False: it could not be sent; the attempt enters `state` and is tried again
 * later. */
static bool send_request(struct runner *r, struct attempt *a, enum launch_op op, int memfd,
			 enum attempt_state state)
{
	/* The lower half of the ticket is the index of the attempt. */
	uint64_t ticket = ++r->tickets << 32 | (uint32_t)(a - r->attempt);
	int e = send_packet(r, op, memfd, ticket);
	if (e) {
		attempt_retry(a, state);
		if (e == EPIPE || e == ECONNRESET)
			launch_disconnect(r);
		return false;
	}
	a->ticket = ticket;
	a->sent_at = clock_boot().us;
	a->at = a->sent_at + RUNNER_ANSWER_MS * INT64_C(1000);
	return true;
}

void launch_send_start(struct runner *r, struct attempt *a)
{
	a->state = ATTEMPT_HELD;
	if (!runner_has_launcher(r)) {
		/* The previous launcher may have started the attempt before it died: read the run file from
		 * time to time. */
		a->at = a->sent ? clock_boot().us + RUNNER_WATCH_MS * INT64_C(1000) : INT64_MAX;
		return;
	}
	attempt_unwatch(r, a);
	if (!send_request(r, a, LAUNCH_START, a->memfd, ATTEMPT_HELD))
		return;
	a->state = ATTEMPT_SENT;
	a->sent = true;
}

void launch_send_sweep(struct runner *r, struct attempt *a)
{
	struct runfile f;
	enum run_life life;
	struct why why;
	int memfd;
	a->state = ATTEMPT_SWEEP;
	a->at = INT64_MAX;
	if (!runner_has_launcher(r))
		return; /* runner_launcher sends it to the next launcher */
	if (runfile_read(r->runs, a->run, a->attempt, &life, &f, &why) != OK || life != LIFE_DEAD ||
	    launch_render_sweep(&r->config.place, &f, a->run, a->attempt, &memfd, &why) != OK) {
		attempt_retry(a, ATTEMPT_UNKNOWN);
		return;
	}
	if (send_request(r, a, LAUNCH_SWEEP, memfd, ATTEMPT_SWEEP))
		a->state = ATTEMPT_SWEEPING;
	close(memfd);
}

/* --- replies --- */

static void handle_refusal(struct runner *r, struct attempt *a, int error)
{
	if (a->state == ATTEMPT_SWEEPING) {
		attempt_retry(a, ATTEMPT_SWEEP);
		return;
	}
	runner_trouble_set(r, TROUBLE_START, "run %llu could not be started: %s", (unsigned long long)a->run,
			   strerror(error));
	attempt_unwatch(r, a);
	attempt_retry(a, ATTEMPT_HELD);
}

static void handle_reply(struct runner *r, struct attempt *a, const struct launch_reply *reply, int *pidfd)
{
	bool sent = a->state == ATTEMPT_SENT;
	runner_trouble_clear(r, TROUBLE_LAUNCHER);
	switch ((enum launch_reply_kind)reply->kind) {
	case LAUNCH_PIDFD:
		if ((!sent && a->state != ATTEMPT_ALIVE && a->state != ATTEMPT_SWEEPING) || a->pidfd >= 0)
			break;
		attempt_watch(r, a, *pidfd);
		*pidfd = -1;
		if (a->state == ATTEMPT_ALIVE && a->pidfd >= 0) {
			a->at = INT64_MAX;
			attempt_signal(r, a);
		}
		break;
	case LAUNCH_STARTED:
		if (!sent)
			break;
		runner_trouble_clear(r, TROUBLE_START);
		attempt_started(r, a);
		break;
	case LAUNCH_TAKEN:
		if (!sent)
			break;
		attempt_unwatch(r, a);
		attempt_update(r, a);
		break;
	case LAUNCH_REFUSED:
		if (sent || a->state == ATTEMPT_SWEEPING)
			handle_refusal(r, a, reply->error);
		break;
	}
}

static struct attempt *find_ticket(struct runner *r, uint64_t ticket)
{
	uint32_t i = (uint32_t)ticket;
	bool known = i < r->attempts && r->attempt[i].state != ATTEMPT_FREE && r->attempt[i].ticket == ticket;
	return known ? &r->attempt[i] : NULL;
}

/* False: there is no packet now. */
static bool receive_packet(struct runner *r)
{
	struct launch_reply reply;
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v = { &reply, sizeof reply };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	ssize_t n = recvmsg(r->launcher.socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			launch_disconnect(r);
		return false;
	}
	r->heard_at = clock_boot().us;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int pidfd = -1;
	if (h && h->cmsg_type == SCM_RIGHTS)
		memcpy(&pidfd, CMSG_DATA(h), sizeof pidfd);
	bool valid = n == sizeof reply && reply.magic == LAUNCH_MAGIC;
	struct attempt *a = valid ? find_ticket(r, reply.ticket) : NULL;
	if (a)
		handle_reply(r, a, &reply, &pidfd);
	if (pidfd >= 0)
		close(pidfd); /* the pidfd of a shim that is not waited for any more */
	return true;
}

void launch_receive(struct runner *r)
{
	while (runner_has_launcher(r) && receive_packet(r))
		;
}

/* Either the shim has started but could not reply, because the socket was full; or the launcher hangs. */
void launch_overdue(struct runner *r, struct attempt *a)
{
	struct runfile f;
	enum run_life life;
	struct why why;
	if (a->state == ATTEMPT_SENT && runfile_read(r->runs, a->run, a->attempt, &life, &f, &why) == OK &&
	    life != LIFE_ABSENT) {
		attempt_update(r, a);
		return;
	}
	a->at = clock_boot().us + RUNNER_ANSWER_MS * INT64_C(1000);
	if (a->pidfd >= 0)
		return;
	runner_trouble_set(r, TROUBLE_LAUNCHER, "the launcher does not answer");
	int64_t since = r->heard_at > a->sent_at ? r->heard_at : a->sent_at;
	/* All starts wait for the launcher, so it is replaced, whatever the cause. */
	if (clock_boot().us - since >= RUNNER_HUNG_MS * INT64_C(1000))
		launch_disconnect(r);
}

/* --- the launcher --- */

/* Kills the launcher, which may hang instead of being dead, and collects the zombie. Its shims do not depend
 * on it. */
static void end_launcher(struct runner *r)
{
	siginfo_t si;
	const struct launcher *l = &r->launcher;
	struct pollfd p = { .fd = l->pidfd, .events = POLLIN };
	/* Closing the descriptors is not enough: a process that is being spawned may have copies of them
	 * until it executes, and epoll would still report events of this launcher. */
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, l->socket, NULL);
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, l->pidfd, NULL);
	syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	if (poll(&p, 1, 100) == 1)
		waitid(P_PIDFD, (id_t)l->pidfd, &si, WEXITED | WNOHANG);
	close(l->socket);
	close(l->pidfd);
}

void launch_disconnect(struct runner *r)
{
	if (!runner_has_launcher(r))
		return;
	end_launcher(r);
	r->launcher = (struct launcher){ -1, -1 };
	runner_trouble_set(r, TROUBLE_LAUNCHER, "the launcher has died");
	for (unsigned i = 0; i < r->attempts; i++) {
		struct attempt *a = &r->attempt[i];
		/* The launcher may have started a shim already. Sending the request again is safe: only one
		 * of two shims can create the run file. */
		if (a->state == ATTEMPT_SENT)
			launch_send_start(r, a);
		else if (a->state == ATTEMPT_SWEEPING && a->pidfd < 0)
			launch_send_sweep(r, a);
	}
}

void runner_launcher(struct runner *r, struct launcher l)
{
	launch_disconnect(r);
	r->launcher = l;
	if (!runner_listen(r, l.socket, EVENT_SOCKET) || !runner_listen(r, l.pidfd, EVENT_LAUNCHER)) {
		launch_disconnect(r);
		return;
	}
	runner_trouble_clear(r, TROUBLE_LAUNCHER);
	for (unsigned i = 0; i < r->attempts; i++) {
		if (r->attempt[i].state == ATTEMPT_HELD)
			launch_send_start(r, &r->attempt[i]);
		else if (r->attempt[i].state == ATTEMPT_SWEEP)
			launch_send_sweep(r, &r->attempt[i]);
	}
}

/* No launcher could be started; runner_trouble reports it. */
static void note_missing_launcher(struct runner *r, const struct why *why)
{
	runner_trouble_set(r, TROUBLE_LAUNCHER, "%s", why->text);
}

bool runner_has_launcher(const struct runner *r)
{
	return r->launcher.socket >= 0;
}

bool runner_keep_launcher(struct runner *r, const char *program)
{
	struct launcher l;
	struct why why;
	int64_t now = clock_boot().us;
	if (runner_has_launcher(r) || now < r->launcher_at)
		return runner_has_launcher(r);
	r->launcher_at = now + RUNNER_LAUNCHER_MS * INT64_C(1000);
	if (launcher_start(program, r->config.owner, &l, &why) == OK)
		runner_launcher(r, l);
	else
		note_missing_launcher(r, &why);
	return runner_has_launcher(r);
}
