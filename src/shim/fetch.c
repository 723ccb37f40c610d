/* Reads secrets from files and programs, and adds their values to the list of masked texts. */
#include "shim/fetch.h"
#include "shim/agent.h"
#include "shim/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The buffer has room for a line end, and for one byte more than is allowed, to detect a value that is too
 * long. */
struct secret_value {
	char p[SECRET_BYTES_MAX + 3];
	size_t n;
	char why[128]; /* why it could not be fetched */
};

static bool printf_like(2, 3) fail_fetch(struct secret_value *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof v->why, fmt, ap);
	va_end(ap);
	return false;
}

/* --- from a file --- */

static bool read_file(const char *path, struct secret_value *v)
{
	struct stat st;
	/* O_NONBLOCK, because the file may be a pipe without a writer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0) {
		int e = errno;
		if (fd >= 0)
			close(fd);
		return fail_fetch(v, "its file cannot be read: %s", strerror(e));
	}
	ssize_t n = 1;
	errno = 0;
	while (S_ISREG(st.st_mode) && n > 0 && v->n < sizeof v->p) {
		n = read(fd, v->p + v->n, sizeof v->p - v->n);
		v->n += n > 0 ? (size_t)n : 0;
	}
	int e = errno;
	close(fd);
	if (!S_ISREG(st.st_mode))
		return fail_fetch(v, "its file is not a regular file");
	return n < 0 ? fail_fetch(v, "its file cannot be read: %s", strerror(e)) : true;
}

/* --- from a program --- */

struct pipes {
	int out[2], err[2], null;
};

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct pipes *p)
{
	int *all[] = { &p->out[0], &p->out[1], &p->err[0], &p->err[1], &p->null };
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		close_fd(all[i]);
}

static int open_pipes(struct pipes *p)
{
	*p = (struct pipes){ { -1, -1 }, { -1, -1 }, open("/dev/null", O_RDONLY | O_CLOEXEC) };
	if (p->null < 0 || pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->err, O_CLOEXEC) != 0 ||
	    fcntl(p->out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(p->err[0], F_SETFL, O_NONBLOCK) != 0)
		return errno;
	return 0;
}

/* Reads once; bytes that do not fit are discarded. False: the pipe is at its end. */
static bool read_some(int fd, char *to, size_t room, size_t *n)
{
	char left_out[4096];
	bool fits = *n < room;
	ssize_t k = fits ? read(fd, to + *n, room - *n) : read(fd, left_out, sizeof left_out);
	*n += fits && k > 0 ? (size_t)k : 0;
	return k > 0 || (k < 0 && (errno == EAGAIN || errno == EINTR));
}

static void read_rest(int fd, char *to, size_t room, size_t *n)
{
	for (size_t before = *n + 1; fd >= 0 && before != *n;) {
		before = *n;
		if (!read_some(fd, to, room, n))
			break;
	}
}

/* Waits until the program has ended, but not for other processes that have its pipes open. False: the program
 * must be ended. */
static bool wait_for_program(struct fetcher *f, struct pipes *p, pid_t pid, struct secret_value *v,
			     int *status)
{
	while (waitpid(pid, status, WNOHANG) == 0) {
		struct pollfd fds[] = { { .fd = p->out[0], .events = POLLIN },
					{ .fd = p->err[0], .events = POLLIN },
					{ .fd = f->wake[0], .events = POLLIN },
					{ .fd = f->wake[1], .events = POLLIN } };
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[0].revents && !read_some(p->out[0], v->p, sizeof v->p, &v->n))
			close_fd(&p->out[0]);
		if (fds[1].revents &&
		    !read_some(p->err[0], f->stderr_text, sizeof f->stderr_text, &f->stderr_n))
			close_fd(&p->err[0]);
		if ((fds[2].revents || fds[3].revents) && !f->go_on(f->ctx))
			return false;
	}
	read_rest(p->out[0], v->p, sizeof v->p, &v->n);
	read_rest(p->err[0], f->stderr_text, sizeof f->stderr_text, &f->stderr_n);
	return true;
}

/* The program gets the environment of the daemon, which the shim has inherited. The environment that a
 * document sets for the run must not influence programs that handle secrets. */
static bool run_program(struct fetcher *f, char *const *argv, struct secret_value *v)
{
	struct pipes p;
	struct agent a;
	struct agent_failure failure;
	const struct program program = { argv, environ, NULL };
	int status = 0, e = open_pipes(&p);
	if (!e)
		e = agent_fork(&program, (const int[]){ p.null, p.out[1], p.err[1] }, &a);
	if (e) {
		close_pipes(&p);
		return fail_fetch(v, "its command cannot be started: %s", strerror(e));
	}
	close_fd(&p.out[1]);
	close_fd(&p.err[1]);
	if (f->cgroup)
		cgroup_enter(f->cgroup, a.pid);
	agent_release(&a);
	bool ended = wait_for_program(f, &p, a.pid, v, &status);
	close_pipes(&p);
	bool failed = ended && agent_failed(&a, &failure);
	close(a.socket);
	f->cancelled = !ended;
	if (!ended)
		return fail_fetch(v, "its command was still running when the attempt ended");
	if (failed)
		return fail_fetch(v, "its command cannot be executed: %s", strerror(failure.error));
	if (WIFSIGNALED(status))
		return fail_fetch(v, "its command was ended by signal %d", WTERMSIG(status));
	return !WEXITSTATUS(status) ||
	       fail_fetch(v, "its command ended with exit code %d", WEXITSTATUS(status));
}

/* --- the value --- */

/* The line end that editors and programs append is not part of the secret. */
static void trim(struct secret_value *v)
{
	if (v->n && v->p[v->n - 1] == '\n') {
		v->n--;
		v->n -= v->n && v->p[v->n - 1] == '\r';
	}
}

static bool check_value(struct secret_value *v)
{
	if (!v->n)
		return fail_fetch(v, "it is empty");
	if (v->n > SECRET_BYTES_MAX)
		return fail_fetch(v, "it is longer than %d bytes", SECRET_BYTES_MAX);
	if (v->n < SECRET_BYTES_MIN)
		return fail_fetch(v,
				  "it is shorter than %d bytes, which is too short to be masked in the log",
				  SECRET_BYTES_MIN);
	if (memchr(v->p, 0, v->n))
		return fail_fetch(v, "it contains a 0 byte, which a variable cannot have");
	return true;
}

static bool keep_secret(struct fetcher *f, const char *name, struct secret_value *v)
{
	size_t k = strlen(name);
	char *entry = malloc(k + v->n + 2);
	if (!entry)
		return fail_fetch(v, "%s", strerror(ENOMEM));
	memcpy(entry, name, k);
	entry[k] = '=';
	memcpy(entry + k + 1, v->p, v->n);
	entry[k + 1 + v->n] = 0;
	f->entry[f->entries++] = entry;
	return mask_forms_add(&f->rq->masks, entry + k + 1, v->n) ||
	       fail_fetch(v, "it has too many lines: at most %d forms of all secrets of a run can be masked",
			  MASK_FORMS_MAX);
}

/* The variable that names the secrets, so that `rota` in the run can mask their values. */
static char *secret_names(const struct launch_request *rq)
{
	static const char first[] = "ROTA_SECRETS=";
	size_t n = sizeof first;
	for (unsigned i = 0; i < rq->fetches; i++)
		n += strlen(rq->fetch[i].name) + 1;
	char *entry = malloc(n), *to = entry ? stpcpy(entry, first) : NULL;
	for (unsigned i = 0; to && i < rq->fetches; i++) {
		if (i)
			*to++ = ',';
		to = stpcpy(to, rq->fetch[i].name);
	}
	return entry;
}

/* Masks the output of a failed program: it may be the secret or a part of it, and the program may also have
 * printed it to standard error. */
static bool mask_failed(struct fetcher *f, const struct secret_value *v)
{
	return !v->n || (v->n <= SECRET_BYTES_MAX && !memchr(v->p, 0, v->n) &&
			 mask_forms_add(&f->rq->masks, v->p, v->n));
}

/* If standard error was truncated, its end may be a part of a secret, which would not be masked: drop the
 * last, incomplete line. */
static void drop_partial_line(struct fetcher *f)
{
	const char *end = f->stderr_n == sizeof f->stderr_text ? memrchr(f->stderr_text, '\n', f->stderr_n)
							       : f->stderr_text + f->stderr_n;
	f->stderr_n = end ? (size_t)(end - f->stderr_text) + (f->stderr_n == sizeof f->stderr_text) : 0;
}

bool fetch_all(struct fetcher *f, char *note, size_t room)
{
	static struct secret_value v;
	bool done = true;
	for (unsigned i = 0; i < f->rq->fetches && done; i++) {
		const struct fetch *one = &f->rq->fetch[i];
		v.n = 0;
		done = one->file   ? read_file(one->file, &v)
		       : one->argv ? run_program(f, one->argv, &v)
				   : fail_fetch(&v, "it has neither a file nor a command");
		trim(&v);
		done = done && check_value(&v) && keep_secret(f, one->name, &v);
		if (done)
			continue;
		snprintf(note, room, "secret %.*s: %s", FETCH_NAME_MAX, one->name, v.why);
		if (!mask_failed(f, &v))
			f->stderr_n = 0;
	}
	drop_partial_line(f);
	explicit_bzero(v.p, sizeof v.p);
	if (done && !(f->entry[f->entries] = secret_names(f->rq))) {
		snprintf(note, room, "secrets: %s", strerror(ENOMEM));
		return false;
	}
	f->entries += done;
	return done;
}
