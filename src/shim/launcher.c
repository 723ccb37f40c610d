/* The launcher: forks shims for the daemon that started it, so that the daemon need not fork. It has one
 * thread and little memory and is linked statically, so that a fork costs next to nothing. It keeps no state,
 * and ends when the daemon does; shims survive both. */
#include "port/launch.h"
#include "port/runfile.h"
#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SOCKET = 3 };

/* The name of a memfd can be read from /proc without reading memory of the process, which could block. */
static bool set_owner(void)
{
	char name[128];
	const char *owner = getenv(RUN_OWNER_NAME);
	if (!owner)
		return true;
	snprintf(name, sizeof name, "%s=%s", RUN_OWNER_NAME, owner);
	int fd = memfd_create(name, MFD_CLOEXEC);
	bool good = fd >= 0 && dup3(fd, RUN_OWNER_FD, O_CLOEXEC) >= 0;
	if (fd >= 0)
		close(fd);
	return good;
}

/* Sets up the state that shims inherit: descriptors 0 to 2 are /dev/null, 3 is the socket, RUN_OWNER_FD names
 * the daemon, and no others are open. */
static bool set_up_process(int socket)
{
	int null = open("/dev/null", O_RDWR);
	if (null < 0 || socket < SOCKET)
		return false;
	for (int i = 0; i < SOCKET; i++)
		if (dup2(null, i) < 0)
			return false;
	if (dup2(socket, SOCKET) < 0)
		return false;
	syscall(SYS_close_range, SOCKET + 1, ~0u, 0);
	fcntl(SOCKET, F_SETFD, FD_CLOEXEC);
	/* Shims start with all signals blocked, so that none arrives before they are prepared. */
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_IGN); /* the kernel collects zombies; the daemon has pidfds */
	setsid();                 /* not to receive signals of a terminal */
	/* Processes whose shim was killed become children of the launcher, so that the daemon still knows
	 * them as processes of runs (exec/lineage.h). */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return false;
	return set_owner() && chdir("/") == 0;
}

/* Returns a pidfd of the child, or minus an errno. *child: true in the child. */
static int fork_pidfd(bool *child)
{
	int pidfd = -1;
	struct clone_args a = { .flags = CLONE_PIDFD,
				.pidfd = (uint64_t)(uintptr_t)&pidfd,
				.exit_signal = SIGCHLD };
	long pid = syscall(SYS_clone3, &a, sizeof a);
	if (pid < 0 && errno == ENOSYS) /* some sandboxes do not provide clone3 */
		pid = syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, 0, &pidfd, 0, 0);
	*child = pid == 0;
	return pid < 0 ? -errno : pidfd;
}

static void send_reply(uint64_t ticket, int pidfd)
{
	struct launch_reply r = { .magic = LAUNCH_MAGIC,
				  .kind = pidfd < 0 ? LAUNCH_REFUSED : LAUNCH_PIDFD,
				  .error = pidfd < 0 ? -pidfd : 0,
				  .ticket = ticket };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { .h = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec v = { &r, sizeof r };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1 };
	if (pidfd >= 0) {
		memcpy(CMSG_DATA(&c.h), &pidfd, sizeof pidfd);
		m.msg_control = &c;
		m.msg_controllen = sizeof c;
	}
	if (sendmsg(SOCKET, &m, MSG_NOSIGNAL) < 0)
		return; /* the daemon has ended, which the next poll reports */
}

static void handle_packet(const struct launch_packet *p, int memfd)
{
	bool child;
	int pidfd = fork_pidfd(&child);
	if (child && p->op == LAUNCH_START) {
		prctl(PR_SET_NAME, "rota-shim");
		shim_main(SOCKET, memfd, p->ticket);
	}
	if (child) {
		prctl(PR_SET_NAME, "rota-sweep");
		close(SOCKET);
		sweep_main(memfd);
	}
	send_reply(p->ticket, pidfd);
	if (pidfd >= 0)
		close(pidfd);
}

/* False: the daemon has closed the socket. */
static bool receive_packet(void)
{
	struct launch_packet p;
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c;
	struct iovec v = { &p, sizeof p };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c };
	ssize_t n = recvmsg(SOCKET, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EINTR);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);
	int memfd = -1;
	if (h && h->cmsg_type == SCM_RIGHTS)
		memcpy(&memfd, CMSG_DATA(h), sizeof memfd);
	if (n == sizeof p && p.magic == LAUNCH_MAGIC && p.version == LAUNCH_VERSION && p.op < LAUNCH_OPS &&
	    memfd >= 0)
		handle_packet(&p, memfd);
	if (memfd >= 0)
		close(memfd);
	return true;
}

int main(int argc, char **argv)
{
	if (argc != 2 || !set_up_process((int)strtol(argv[1], NULL, 10))) {
		fprintf(stderr, "rota-launcher: this program is started by `rota serve`, not by people\n");
		return 2;
	}
	struct pollfd p = { .fd = SOCKET, .events = POLLIN | POLLRDHUP };
	do {
		if (poll(&p, 1, -1) < 0)
			continue;
		/* The daemon has ended. Its last requests are not carried out: the next daemon asks again for
		 * attempts that have not started. */
		if (p.revents & (POLLHUP | POLLRDHUP | POLLERR | POLLNVAL))
			return 0;
	} while (receive_packet());
	return 0;
}
