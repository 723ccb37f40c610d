#include "shim/agent.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL); /* those that cannot be set refuse, and need not */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void raise_oom_score(void)
{
	char text[16];
	int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	int now = 0;
	ssize_t n = read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = 0;
	if (sscanf(text, "%d", &now) == 1 && now < OOM_SCORE_ADJ) {
		int k = snprintf(text, sizeof text, "%d", OOM_SCORE_ADJ);
		if (pwrite(fd, text, (size_t)k, 0) < 0)
			now = 0; /* it is a wish */
	}
	close(fd);
}

/* 0, 1 and 2 may be among the descriptors to be moved there. */
static int place(const int fds[3])
{
	int high[3];
	for (int i = 0; i < 3; i++) {
		high[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (high[i] < 0)
			return errno;
	}
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], i) < 0)
			return errno;
	return 0;
}

static _Noreturn void say(int line, const char *what, int error)
{
	struct agent_failure f = { .error = error };
	snprintf(f.what, sizeof f.what, "%s", what);
	ssize_t n = send(line, &f, sizeof f, MSG_NOSIGNAL);
	_exit(n > 0 ? 127 : 126);
}

static _Noreturn void become(struct request *rq, const int fds[3], int line, pid_t shim)
{
	char go;
	setsid();
	/* A shim that dies takes the agent with it; whatever the agent started is swept up by the daemon. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != shim || recv(line, &go, 1, 0) != 1)
		_exit(126);
	raise_oom_score();
	int e = place(fds);
	if (e)
		say(line, "descriptors", e);
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
		for (int fd = 3; fd < 65536; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (chdir(rq->one[FIELD_CWD].n ? rq->one[FIELD_CWD].p : "/") != 0)
		say(line, "cwd", errno);
	reset_signals();
	environ = rq->envp;
	execvp(rq->argv[0], rq->argv);
	say(line, "exec", errno);
}

int agent_fork(struct request *rq, const int fds[3], struct agent *ret)
{
	int pair[2];
	pid_t shim = getpid();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return errno;
	pid_t pid = fork();
	if (pid < 0) {
		int e = errno;
		close(pair[0]);
		close(pair[1]);
		return e;
	}
	if (pid == 0) {
		close(pair[0]);
		become(rq, fds, pair[1], shim);
	}
	close(pair[1]);
	*ret = (struct agent){ pid, pair[0] };
	return 0;
}

void agent_go(struct agent *a)
{
	/* If it is dead already, its end is noticed like any other. */
	send(a->line, "g", 1, MSG_NOSIGNAL);
}

void agent_drop(struct agent *a)
{
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
	close(a->line);
}

bool agent_failed(const struct agent *a, struct agent_failure *ret)
{
	return recv(a->line, ret, sizeof *ret, MSG_DONTWAIT) == (ssize_t)sizeof *ret;
}
