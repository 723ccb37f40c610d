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

/* 0 or an errno. */
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

/* True: it is under way. Otherwise the slot waits in `state`. */
static bool hand_over(struct runner *r, struct slot *s, enum launch_op op, int memfd, enum slot_state state)
{
	/* The ticket leads back to the slot. */
	uint64_t ticket = ++r->tickets << 32 | (uint32_t)(s - r->slot);
	int e = send_packet(r, op, memfd, ticket);
	if (e) {
		runner_later(s, state);
		if (e == EPIPE || e == ECONNRESET)
			launch_lost(r);
		return false;
	}
	s->ticket = ticket;
	s->handed = clock_boot().us;
	s->at = s->handed + RUNNER_ANSWER_MS * INT64_C(1000);
	return true;
}

void launch_send(struct runner *r, struct slot *s)
{
	s->state = SLOT_HELD;
	if (!runner_has_launcher(r)) {
		/* An earlier one may have carried it out before it died. */
		s->at = s->sent ? clock_boot().us + RUNNER_WATCH_MS * INT64_C(1000) : INT64_MAX;
		return;
	}
	runner_unwatch(r, s);
	if (!hand_over(r, s, LAUNCH_START, s->memfd, SLOT_HELD))
		return;
	s->state = SLOT_SENT;
	s->sent = true;
}

void launch_sweep(struct runner *r, struct slot *s)
{
	struct runfile f;
	enum run_life life;
	struct why why;
	int memfd;
	s->state = SLOT_SWEEP;
	s->at = INT64_MAX;
	if (!runner_has_launcher(r))
		return; /* the next one will be told */
	if (runfile_read(r->runs, s->run, s->attempt, &life, &f, &why) != OK || life != LIFE_DEAD ||
	    launch_render_sweep(&r->c.place, &f, s->run, s->attempt, &memfd, &why) != OK) {
		runner_later(s, SLOT_LOOK);
		return;
	}
	if (hand_over(r, s, LAUNCH_SWEEP, memfd, SLOT_SWEEP))
		s->state = SLOT_SWEEPING;
	close(memfd);
}

/* --- what comes back --- */

static void refused(struct runner *r, struct slot *s, int error)
{
	if (s->state == SLOT_SWEEPING) {
		runner_later(s, SLOT_SWEEP);
		return;
	}
	runner_trouble_set(r, TROUBLE_BIRTH, "run %llu could not be started: %s", (unsigned long long)s->run,
			   strerror(error));
	runner_unwatch(r, s);
	runner_later(s, SLOT_HELD); /* the claim stands: it is tried again until it can be */
}

static void heard(struct runner *r, struct slot *s, const struct launch_reply *a, int *pidfd)
{
	bool sent = s->state == SLOT_SENT;
	runner_trouble_over(r, TROUBLE_LAUNCHER);
	switch ((enum launch_say)a->say) {
	case LAUNCH_PIDFD:
		if ((!sent && s->state != SLOT_ALIVE && s->state != SLOT_SWEEPING) || s->pidfd >= 0)
			break;
		runner_watch(r, s, *pidfd);
		*pidfd = -1;
		if (s->state == SLOT_ALIVE && s->pidfd >= 0) {
			s->at = INT64_MAX;
			life_signal(r, s);
		}
		break;
	case LAUNCH_STARTED:
		if (!sent)
			break;
		runner_trouble_over(r, TROUBLE_BIRTH);
		life_born(r, s);
		break;
	case LAUNCH_TAKEN:
		if (!sent)
			break;
		runner_unwatch(r, s);
		life_look(r, s);
		break;
	case LAUNCH_REFUSED:
		if (sent || s->state == SLOT_SWEEPING)
			refused(r, s, a->error);
		break;
	}
}

static struct slot *by_ticket(struct runner *r, uint64_t ticket)
{
	uint32_t i = (uint32_t)ticket;
	return i < r->slots && r->slot[i].state != SLOT_FREE && r->slot[i].ticket == ticket ? &r->slot[i]
											    : NULL;
}

/* One packet; false: there is none now. */
static bool hear_one(struct runner *r)
{
	struct launch_reply a;
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v = { &a, sizeof a };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	ssize_t n = recvmsg(r->launcher.socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n <= 0) {
		if (n == 0 || (errno != EAGAIN && errno != EINTR))
			launch_lost(r);
		return false;
	}
	r->heard = clock_boot().us;
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int pidfd = -1;
	if (h && h->cmsg_type == SCM_RIGHTS)
		memcpy(&pidfd, CMSG_DATA(h), sizeof pidfd);
	struct slot *s = n == sizeof a && a.magic == LAUNCH_MAGIC ? by_ticket(r, a.ticket) : NULL;
	if (s)
		heard(r, s, &a, &pidfd);
	if (pidfd >= 0)
		close(pidfd); /* of a shim nobody waits for */
	return true;
}

void launch_hear(struct runner *r)
{
	while (runner_has_launcher(r) && hear_one(r))
		;
}

/* A birth may be there of which we were not told, when the socket was full; or the launcher hangs. */
void launch_overdue(struct runner *r, struct slot *s)
{
	struct runfile f;
	enum run_life life;
	struct why why;
	if (s->state == SLOT_SENT && runfile_read(r->runs, s->run, s->attempt, &life, &f, &why) == OK &&
	    life != LIFE_ABSENT) {
		life_look(r, s);
		return;
	}
	s->at = clock_boot().us + RUNNER_ANSWER_MS * INT64_C(1000);
	if (s->pidfd >= 0)
		return;
	runner_trouble_set(r, TROUBLE_LAUNCHER, "the launcher does not answer");
	int64_t since = r->heard > s->handed ? r->heard : s->handed;
	/* Whoever stopped it, everything waits for it: another one is made. */
	if (clock_boot().us - since >= RUNNER_HUNG_MS * INT64_C(1000))
		launch_lost(r);
}

/* Ends it, if it only hangs: its shims do not care, and a zombie would be ours to keep. */
static void bury(struct runner *r)
{
	siginfo_t si;
	const struct launcher *l = &r->launcher;
	struct pollfd p = { .fd = l->pidfd, .events = POLLIN };
	/* Closing would not do: the next launcher, about to be executed, may still hold copies, and epoll
	 * would go on telling of this one. */
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, l->socket, NULL);
	epoll_ctl(r->epoll, EPOLL_CTL_DEL, l->pidfd, NULL);
	syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	if (poll(&p, 1, 100) == 1)
		waitid(P_PIDFD, (id_t)l->pidfd, &si, WEXITED | WNOHANG);
	close(l->socket);
	close(l->pidfd);
}

void launch_lost(struct runner *r)
{
	if (!runner_has_launcher(r))
		return;
	bury(r);
	r->launcher = (struct launcher){ -1, -1 };
	runner_trouble_set(r, TROUBLE_LAUNCHER, "the launcher is gone");
	for (uint32_t i = 0; i < r->slots; i++) {
		struct slot *s = &r->slot[i];
		/* Whether a shim was made of it or not: its file decides between that one and the next. */
		if (s->state == SLOT_SENT)
			launch_send(r, s);
		else if (s->state == SLOT_SWEEPING && s->pidfd < 0)
			launch_sweep(r, s);
	}
}
