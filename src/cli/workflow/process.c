/* Starts and watches the processes of components. */
#include "cli/workflow/process.h"

#include "sys/clock.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* In a group of its own, so that it can be killed with its children; it does not outlive this program. */
static _Noreturn void execute(const struct process_start *s, int in, int out, int error, int report)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_DFL);
	bool good = dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(error, 2) == 2 && chdir(s->dir) == 0;
	if (good)
		execvpe(s->argv[0], (char *const *)s->argv, (char *const *)s->env);
	int problem = errno;
	if (write(report, &problem, sizeof problem) < 0)
		_exit(126);
	_exit(127);
}

enum err process_begin(const struct process_start *s, struct process *ret, struct why *why)
{
	int out[2] = { -1, -1 }, error[2] = { -1, -1 }, report[2] = { -1, -1 }, problem = 0;
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int file = open(s->output, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool good = in >= 0 && file >= 0 && !pipe2(out, O_CLOEXEC) && !pipe2(error, O_CLOEXEC) &&
		    !pipe2(report, O_CLOEXEC);
	pid_t pid = good ? fork() : -1;
	if (pid == 0)
		execute(s, in, out[1], error[1], report[1]);
	int failed = errno;
	close_end(&in);
	close_end(&out[1]);
	close_end(&error[1]);
	close_end(&report[1]);
	struct process p = { .pid = pid, .pidfd = -1, .out = out[0], .error = error[0], .file = file };
	if (pid < 0) {
		close_end(&report[0]);
		process_free(&p);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot start a component: %s", strerror(failed));
	}
	setpgid(pid, pid);
	p.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	p.started = clock_boot();
	p.until = (struct boot){ p.started.us + s->seconds * USEC };
	/* exec closes the pipe. If exec fails, the child writes the error into it. */
	ssize_t n;
	while ((n = read(report[0], &problem, sizeof problem)) < 0 && errno == EINTR)
		;
	close_end(&report[0]);
	fcntl(p.out, F_SETFL, O_NONBLOCK);
	fcntl(p.error, F_SETFL, O_NONBLOCK);
	if (n == sizeof problem) {
		waitpid(pid, NULL, 0);
		p.end = PROCESS_UNKNOWN;
		p.code = problem;
	}
	*ret = p;
	return OK;
}

void process_stop(struct process *p, enum process_end end)
{
	if (p->end != PROCESS_RUNS)
		return;
	kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->end = end;
}

/* Copies what has been printed. False: too much. */
static bool copy_output(struct process *p)
{
	char chunk[65536];
	ssize_t n;
	while (p->out >= 0 && (n = read(p->out, chunk, sizeof chunk)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true; /* nothing more for now */
		p->written += (uint64_t)n;
		if (p->written > WORKFLOW_OUTPUT_BYTES_MAX || write_all(p->file, chunk, (size_t)n))
			return false;
	}
	close_end(&p->out);
	return true;
}

/* The buffer is cut to its last bytes when it has twice as many. A process that prints without end must not
 * keep others and its own timeout waiting: the rest is read next time. */
static void keep_log(struct process *p)
{
	enum { READS = 64 };
	char chunk[16384];
	ssize_t n;
	for (unsigned i = 0; p->error >= 0 && (n = read(p->error, chunk, sizeof chunk)) != 0; i++) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return;
		buf_add(&p->log, (struct str){ chunk, (size_t)n });
		if (p->log.n > 2 * WORKFLOW_LOG_BYTES) {
			memmove(p->log.p, p->log.p + p->log.n - WORKFLOW_LOG_BYTES, WORKFLOW_LOG_BYTES);
			p->log.n = WORKFLOW_LOG_BYTES;
		}
		if (i == READS)
			return;
	}
	close_end(&p->error);
}

static void look_at(struct process *p)
{
	int status;
	bool room = copy_output(p);
	keep_log(p);
	if (!room) {
		process_stop(p, PROCESS_OVERFLOW);
		return;
	}
	pid_t ended = waitpid(p->pid, &status, WNOHANG);
	if (ended == p->pid) {
		/* What it left in its pipes still counts; children that hold them open do not delay the end.
		 */
		bool whole = copy_output(p);
		keep_log(p);
		kill(-p->pid, SIGKILL);
		p->end = whole ? PROCESS_EXITED : PROCESS_OVERFLOW;
		p->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	} else if (clock_boot().us >= p->until.us) {
		process_stop(p, PROCESS_TIMEOUT);
	}
}

void process_wait(struct process **list, unsigned n)
{
	struct pollfd fd[3 * WORKFLOW_JOBS_MAX];
	int64_t until = INT64_MAX;
	assert(n <= WORKFLOW_JOBS_MAX);
	for (unsigned i = 0; i < n; i++) {
		const struct process *p = list[i];
		fd[3 * i] = (struct pollfd){ p->pidfd, POLLIN, 0 };
		fd[3 * i + 1] = (struct pollfd){ p->out, POLLIN, 0 };
		fd[3 * i + 2] = (struct pollfd){ p->error, POLLIN, 0 };
		until = p->until.us < until ? p->until.us : until;
	}
	int64_t left = (until - clock_boot().us) / 1000 + 1;
	/* Without a pidfd (an old kernel), the end of a process is noticed within 200 ms. */
	int wait = left < 0 ? 0 : left > 200 ? 200 : (int)left;
	if (poll(fd, 3 * n, wait) < 0 && errno != EINTR)
		return;
	for (unsigned i = 0; i < n; i++)
		look_at(list[i]);
}

void process_free(struct process *p)
{
	if (p->pid > 0)
		process_stop(p, PROCESS_STOPPED);
	close_end(&p->out);
	close_end(&p->error);
	close_end(&p->file);
	close_end(&p->pidfd);
	buf_free(&p->log);
}
