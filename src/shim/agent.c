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

enum { WORD_GO = 'g', WORD_VARIABLE = 'v' }; /* each message begins with one of them */

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

static struct rlimit core; /* an agent's, where this process has none */
static bool leaves_no_core;

/* Not by PR_SET_DUMPABLE: where /proc hides others' processes (hidepid), the shim would be hidden from its
 * own daemon, which tells by it whose a process is. */
void agent_disable_core_dumps(void)
{
	if (leaves_no_core || getrlimit(RLIMIT_CORE, &core) != 0)
		return;
	leaves_no_core = setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, core.rlim_max }) == 0;
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

static void put_variable(char **envp, const char *entry)
{
	size_t name = strcspn(entry, "=") + 1;
	while (*envp && strncmp(*envp, entry, name) != 0)
		envp++;
	*envp = strdup(entry);
}

/* False: nobody says it any more. */
static bool wait_for_word(int line, char **envp)
{
	static char message[FETCH_NAME_MAX + SECRET_BYTES_MAX + 4];
	for (;;) {
		ssize_t n = recv(line, message, sizeof message - 1, 0);
		if (n < 1)
			return false;
		if (message[0] == WORD_GO)
			return true;
		message[n] = 0;
		put_variable(envp, message + 1);
	}
}

static _Noreturn void become(const struct program *p, const int fds[3], int line, pid_t shim)
{
	setsid();
	/* A shim that dies takes the agent with it; whatever the agent started is swept up by the daemon. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != shim || !wait_for_word(line, p->envp))
		_exit(126);
	raise_oom_score();
	int e = place(fds);
	if (e)
		say(line, "descriptors", e);
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
		for (int fd = 3; fd < 65536; fd++)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
	if (chdir(p->cwd ? p->cwd : "/") != 0)
		say(line, "cwd", errno);
	reset_signals();
	if (leaves_no_core)
		setrlimit(RLIMIT_CORE, &core);
	environ = p->envp;
	execvp(p->argv[0], p->argv);
	say(line, "exec", errno);
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
		become(p, fds, pair[1], shim);
	}
	close(pair[1]);
	*ret = (struct agent){ pid, pair[0] };
	return 0;
}

/* If it is dead already, its end is noticed like any other. */
static void tell(struct agent *a, char word, const char *text)
{
	struct iovec part[] = { { &word, 1 }, { (char *)(uintptr_t)text, strlen(text) } };
	struct msghdr m = { .msg_iov = part, .msg_iovlen = ARRAY_LEN(part) };
	sendmsg(a->line, &m, MSG_NOSIGNAL);
}

void agent_set_variable(struct agent *a, const char *entry)
{
	tell(a, WORD_VARIABLE, entry);
}

void agent_release(struct agent *a)
{
	tell(a, WORD_GO, "");
}

void agent_kill(struct agent *a)
{
	kill(a->pid, SIGKILL);
	waitpid(a->pid, NULL, 0);
	close(a->line);
}

bool agent_failed(const struct agent *a, struct agent_failure *ret)
{
	return recv(a->line, ret, sizeof *ret, MSG_DONTWAIT) == (ssize_t)sizeof *ret;
}
