/* Starts git, feeds it and reads what it prints. */
#include "cli/git/git.h"

#include "sys/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
	pid_t pid;
	int pidfd;          /* readable when it has ended; -1: not known */
	int in, out, error; /* -1: closed */
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Only async-signal-safe calls, and setenv, which is safe here: this process has one thread. */
static _Noreturn void execute(const struct git *g, const char *const *argv, const int pipes[3])
{
	static const char *const unset[] = { "GIT_DIR",        "GIT_WORK_TREE", "GIT_INDEX_FILE",
					     "GIT_COMMON_DIR", "GIT_PREFIX",    "GIT_OBJECT_DIRECTORY",
					     "GIT_NAMESPACE" };
	static const char *const identity[] = { "GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME" };
	for (unsigned i = 0; i < ARRAY_LEN(unset); i++)
		unsetenv(unset[i]);
	setenv("LC_ALL", "C", 1);
	setenv("GIT_TERMINAL_PROMPT", "0", 1);
	setenv("GIT_OPTIONAL_LOCKS", "0", 1);
	setenv("GIT_LITERAL_PATHSPECS", "1", 1);
	if (g->index)
		setenv("GIT_INDEX_FILE", g->index, 1);
	for (unsigned i = 0; g->agent && i < ARRAY_LEN(identity); i++)
		setenv(identity[i], g->agent, 0);
	if (g->agent) {
		setenv("GIT_AUTHOR_EMAIL", "agent@rota.invalid", 0);
		setenv("GIT_COMMITTER_EMAIL", "agent@rota.invalid", 0);
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++)
		if (dup2(pipes[i], i) < 0)
			_exit(126);
	execvp("git", (char *const *)argv);
	_exit(errno == ENOENT ? 127 : 126);
}

/* The whole command line: settings that keep git from doing more than it is asked for, then the arguments. */
static const char **command_line(const struct git *g, const char *const *argv)
{
	static const char *const fixed[] = { "git",
					     "-c",
					     "core.hooksPath=/dev/null",
					     "-c",
					     "core.fsmonitor=false", /* may be a program */
					     "-c",
					     "protocol.ext.allow=never", /* a URL that is a command */
					     "-c",
					     "fetch.recurseSubmodules=false",
					     "-c",
					     "push.recurseSubmodules=no",
					     "-c",
					     "gc.auto=0",
					     "-c",
					     "maintenance.auto=false",
					     "-c",
					     "push.followTags=false",
					     "-c",
					     "push.gpgSign=false",
					     "-c",
					     "core.quotePath=false",
					     "-C" };
	unsigned n = 0, at = 0;
	while (argv[n])
		n++;
	const char **all = arena_alloc(g->arena, (ARRAY_LEN(fixed) + n + 2) * sizeof *all);
	if (!all)
		return NULL;
	for (; at < ARRAY_LEN(fixed); at++)
		all[at] = fixed[at];
	all[at++] = g->dir;
	for (unsigned i = 0; i < n; i++)
		all[at++] = argv[i];
	return all;
}

static enum err start(const struct git *g, const char *const *argv, struct child *ret)
{
	int ends[3][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	const char **line = command_line(g, argv);
	bool good = line != NULL;
	for (int i = 0; i < 3 && good; i++)
		good = pipe2(ends[i], O_CLOEXEC) == 0;
	pid_t pid = good ? fork() : -1;
	if (pid == 0)
		execute(g, line, (int[]){ ends[0][0], ends[1][1], ends[2][1] });
	int error = errno;
	close_end(&ends[0][0]);
	close_end(&ends[1][1]);
	close_end(&ends[2][1]);
	if (pid < 0) {
		close_end(&ends[0][1]);
		close_end(&ends[1][0]);
		close_end(&ends[2][0]);
		return why_set(g->why, E_IO, WHY_NOWHERE, "cannot start git: %s", strerror(error));
	}
	*ret = (struct child){ pid, (int)syscall(SYS_pidfd_open, pid, 0), ends[0][1], ends[1][0],
			       ends[2][0] };
	fcntl(ret->in, F_SETFL, O_NONBLOCK);
	fcntl(ret->out, F_SETFL, O_NONBLOCK);
	fcntl(ret->error, F_SETFL, O_NONBLOCK);
	return OK;
}

/* Reads what is there. */
static void read_some(int *fd, struct buf *to)
{
	char chunk[65536];
	ssize_t n = 1;
	while (*fd >= 0 && n > 0) {
		n = read(*fd, chunk, sizeof chunk);
		if (n > 0 && to->n < GIT_OUTPUT_BYTES_MAX)
			buf_add(to, (struct str){ chunk, (size_t)n });
		if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
			close_end(fd);
	}
}

static void write_some(int *fd, struct str *input)
{
	ssize_t n = input->n ? write(*fd, input->p, input->n) : 0;
	if (n > 0)
		*input = str_from(*input, (size_t)n);
	if (!input->n || (n < 0 && errno != EINTR && errno != EAGAIN))
		close_end(fd);
}

/* Writes the input and reads the output until git has ended. A process that git has left behind may keep the
 * output open: ssh with ControlPersist does. So the end of the output counts only where the end of git cannot
 * be seen. False: GIT_SECONDS_MAX have passed. */
static bool talk(struct child *c, struct str input, struct buf *out, struct buf *error)
{
	int64_t until = clock_boot().us + GIT_SECONDS_MAX * USEC;
	bool ended = false;
	while (!ended && (c->pidfd >= 0 || c->out >= 0 || c->error >= 0)) {
		struct pollfd p[] = { { c->in, POLLOUT, 0 },
				      { c->out, POLLIN, 0 },
				      { c->error, POLLIN, 0 },
				      { c->pidfd, POLLIN, 0 } };
		int64_t left = (until - clock_boot().us) / 1000;
		if (left <= 0)
			return false;
		if (poll(p, ARRAY_LEN(p), (int)left) < 0) {
			if (errno != EINTR)
				return false;
			continue;
		}
		if (p[0].revents)
			write_some(&c->in, &input);
		read_some(&c->out, out);
		read_some(&c->error, error);
		ended = p[3].revents;
	}
	return true;
}

static int wait_for(pid_t pid)
{
	int status;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 126;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

enum err git_run(const struct git *g, const char *const *argv, struct str input, struct git_answer *ret)
{
	struct child c;
	struct git_answer answer = { 0 };
	_cleanup_(buf_free) struct buf out = { 0 }, error = { 0 };
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	enum err e = start(g, argv, &c);
	if (e)
		return e;
	sigaction(SIGPIPE, &ignore, &before);
	bool ended = talk(&c, input, &out, &error);
	sigaction(SIGPIPE, &before, NULL);
	close_end(&c.in);
	close_end(&c.out);
	close_end(&c.error);
	close_end(&c.pidfd);
	if (!ended)
		kill(c.pid, SIGKILL);
	answer.code = wait_for(c.pid);
	if (!ended)
		return why_set(g->why, E_TIMEOUT, WHY_NOWHERE, "git %s took longer than %d seconds", argv[0],
			       GIT_SECONDS_MAX);
	if (answer.code == 127 && !error.n)
		return why_set(g->why, E_NOTFOUND, WHY_NOWHERE,
			       "claims need git, and there is no program git");
	char *copy = out.failed ? NULL : arena_dup(g->arena, buf_str(&out));
	if (!copy)
		return E_NOMEM;
	struct str rest = buf_str(&error), line = { 0 };
	while (str_line(&rest, &line) && !str_trim(line).n)
		;
	snprintf(answer.error, sizeof answer.error, "%.*s", STR_LINE(str_trim(line)));
	answer.out = (struct str){ copy, out.n };
	*ret = answer;
	return OK;
}

enum err git_do(const struct git *g, const char *const *argv, struct str input, struct str *out)
{
	struct git_answer answer;
	enum err e = git_run(g, argv, input, &answer);
	if (e)
		return e;
	if (answer.code)
		return why_set(g->why, E_IO, WHY_NOWHERE, "git %s failed: %s", argv[0], answer.error);
	if (out)
		*out = answer.out;
	return OK;
}

enum err git_line(const struct git *g, const char *const *argv, const char **line)
{
	struct git_answer answer;
	struct str first = { 0 };
	enum err e = git_run(g, argv, STR(""), &answer);
	if (e)
		return e;
	if (!answer.code)
		str_line(&answer.out, &first);
	const char *copy = arena_dup(g->arena, first);
	if (!copy)
		return E_NOMEM;
	*line = copy;
	return OK;
}
