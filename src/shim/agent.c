/* Forks the agent, which waits for its release and then executes its program. */
#include "shim/agent.h"
#include "base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MESSAGE_RELEASE = 'g', MESSAGE_VARIABLE = 'v' }; /* the first byte of a message */

static void reset_signals(void)
{
	struct sigaction dfl = { .sa_handler = SIG_DFL };
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &dfl, NULL); /* fails for SIGKILL and SIGSTOP, which is fine */
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
			now = 0; /* the score is not essential */
	}
	close(fd);
}

static struct rlimit core_limit; /* the limit for agents; this process has set its own to 0 */
static bool core_disabled;

/* Does not use PR_SET_DUMPABLE: with hidepid on /proc it would hide the shim from its own daemon, which must
 * find the run of a process (exec/lineage.h). */
void agent_disable_core_dumps(void)
{
	if (core_disabled || getrlimit(RLIMIT_CORE, &core_limit) != 0)
		return;
	core_disabled = setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, core_limit.rlim_max }) == 0;
}

/* `fds` may contain 0, 1 and 2 themselves, so all are duplicated to higher numbers first. */
static int set_descriptors(const int fds[3])
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

static _Noreturn void fail(int socket, const char *what, int error)
{
	struct agent_failure f = { .error = error };
	snprintf(f.what, sizeof f.what, "%s", what);
	ssize_t n = send(socket, &f, sizeof f, MSG_NOSIGNAL);
	_exit(n > 0 ? 127 : 126);
}

static void set_variable(char **envp, const char *entry)
{
	size_t name = strcspn(entry, "=") + 1;
	while (*envp && strncmp(*envp, entry, name) != 0)
		envp++;
	*envp = strdup(entry);
}

/* False: the shim has ended. */
static bool wait_for_release(int socket, char **envp)
{
	static char message[FETCH_NAME_MAX + SECRET_BYTES_MAX + 4];
	for (;;) {
		ssize_t n = recv(socket, message, sizeof message - 1, 0);
		if (n < 1)
			return false;
		if (message[0] == MESSAGE_RELEASE)
			return true;
		message[n] = 0;
		set_variable(envp, message + 1);
	}
}

static _Noreturn void execute(const struct program *p, const int fds[3], int socket, pid_t shim)
{
	setsid();
	/* The agent is killed when its shim dies; a sweep kills the processes that the agent has started. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != shim || !wait_for_release(socket, p->envp))
		_exit(126);
	raise_oom_score();
	int e = set_descriptors(fds);
	if (e)
		fail(socket, "descriptors", e);
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
		for (int fd = 3; fd < 65536; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (chdir(p->cwd ? p->cwd : "/") != 0)
		fail(socket, "cwd", errno);
	reset_signals();
	if (core_disabled)
		setrlimit(RLIMIT_CORE, &core_limit);
	environ = p->envp;
	execvp(p->argv[0], p->argv);
	fail(socket, "exec", errno);
}

int agent_fork(const struct program *p, const int fds[3], struct agent *ret)
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
		execute(p, fds, pair[1], shim);
	}
	close(pair[1]);
	*ret = (struct agent){ pid, pair[0] };
	return 0;
}

/* If the agent is dead already, sending fails; its end is handled elsewhere. */
static void send_message(struct agent *a, char kind, const char *text)
{
	struct iovec part[] = { { &kind, 1 }, { (char *)(uintptr_t)text, strlen(text) } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = ARRAY_LEN(part) };
	sendmsg(a->socket, &m, MSG_NOSIGNAL);
}

void agent_set_variable(struct agent *a, const char *entry)
{
	send_message(a, MESSAGE_VARIABLE, entry);
}

void agent_release(struct agent *a)
{
	send_message(a, MESSAGE_RELEASE, "");
}

void agent_kill(struct agent *a)
{
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
	close(a->socket);
}

bool agent_failed(const struct agent *a, struct agent_failure *ret)
{
	return recv(a->socket, ret, sizeof *ret, MSG_DONTWAIT) == (ssize_t)sizeof *ret;
}
