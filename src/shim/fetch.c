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

/* A value on its way: with room for one byte too many, and a newline. */
struct value {
	char p[SECRET_BYTES_MAX + 3];
	size_t n;
	char why[128]; /* it could not be had */
};

static bool printf_like(2, 3) not_had(struct value *v, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(v->why, sizeof v->why, fmt, ap);
	va_end(ap);
	return false;
}

/* --- out of a file --- */

static bool read_file(const char *path, struct value *v)
{
	struct stat st;
	/* A pipe that nobody writes to is not waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) != 0) {
		int e = errno;
		if (fd >= 0)
			close(fd);
		return not_had(v, "its file cannot be read: %s", strerror(e));
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
		return not_had(v, "its file is no plain file");
	return n < 0 ? not_had(v, "its file cannot be read: %s", strerror(e)) : true;
}

/* --- out of a program --- */

struct pipes {
	int out[2], err[2], null;
};

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_pipes(struct pipes *p)
{
	int *all[] = { &p->out[0], &p->out[1], &p->err[0], &p->err[1], &p->null };
	for (unsigned i = 0; i < ARRAY_LEN(all); i++)
		close_one(all[i]);
}

static int open_pipes(struct pipes *p)
{
	*p = (struct pipes){ { -1, -1 }, { -1, -1 }, open("/dev/null", O_RDONLY | O_CLOEXEC) };
	if (p->null < 0 || pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->err, O_CLOEXEC) != 0 ||
	    fcntl(p->out[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(p->err[0], F_SETFL, O_NONBLOCK) != 0)
		return errno;
	return 0;
}

/* What is there; what finds no room is read and left out. False: it is at its end. */
static bool take(int fd, char *to, size_t room, size_t *n)
{
	char left_out[4096];
	bool fits = *n < room;
	ssize_t k = fits ? read(fd, to + *n, room - *n) : read(fd, left_out, sizeof left_out);
	*n += fits && k > 0 ? (size_t)k : 0;
	return k > 0 || (k < 0 && (errno == EAGAIN || errno == EINTR));
}

static void drain(int fd, char *to, size_t room, size_t *n)
{
	for (size_t before = *n + 1; fd >= 0 && before != *n;) {
		before = *n;
		if (!take(fd, to, room, n))
			break;
	}
}

/* Until it has ended; false: it is to end before. Others that hold its pipes are not waited for. */
static bool follow(struct fetcher *f, struct pipes *p, pid_t pid, struct value *v, int *status)
{
	while (waitpid(pid, status, WNOHANG) == 0) {
		struct pollfd fds[] = { { .fd = p->out[0], .events = POLLIN },
					{ .fd = p->err[0], .events = POLLIN },
					{ .fd = f->wake[0], .events = POLLIN },
					{ .fd = f->wake[1], .events = POLLIN } };
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[0].revents && !take(p->out[0], v->p, sizeof v->p, &v->n))
			close_one(&p->out[0]);
		if (fds[1].revents && !take(p->err[0], f->said, sizeof f->said, &f->said_n))
			close_one(&p->err[0]);
		if ((fds[2].revents || fds[3].revents) && !f->go_on(f->ctx))
			return false;
	}
	drain(p->out[0], v->p, sizeof v->p, &v->n);
	drain(p->err[0], f->said, sizeof f->said, &f->said_n);
	return true;
}

/* As the daemon would execute it, whose environment this is: what a document says of the run's is not for
 * those who know secrets. */
static bool run_program(struct fetcher *f, char *const *argv, struct value *v)
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
		return not_had(v, "its command cannot be started: %s", strerror(e));
	}
	close_one(&p.out[1]);
	close_one(&p.err[1]);
	if (f->cgroup)
		cgroup_enter(f->cgroup, a.pid);
	agent_release(&a);
	bool ended = follow(f, &p, a.pid, v, &status);
	close_pipes(&p);
	bool failed = ended && agent_failed(&a, &failure);
	close(a.line);
	f->cancelled = !ended;
	if (!ended)
		return not_had(v, "its command was still running");
	if (failed)
		return not_had(v, "its command cannot be executed: %s", strerror(failure.error));
	if (WIFSIGNALED(status))
		return not_had(v, "its command was ended by signal %d", WTERMSIG(status));
	return !WEXITSTATUS(status) || not_had(v, "its command ended with exit code %d", WEXITSTATUS(status));
}

/* --- what becomes of it --- */

/* The newline that editors and programs put there is no part of it. */
static void trim(struct value *v)
{
	if (v->n && v->p[v->n - 1] == '\n') {
		v->n--;
		v->n -= v->n && v->p[v->n - 1] == '\r';
	}
}

static bool check(struct value *v)
{
	if (!v->n)
		return not_had(v, "it is empty");
	if (v->n > SECRET_BYTES_MAX)
		return not_had(v, "it is longer than %d bytes", SECRET_BYTES_MAX);
	if (v->n < SECRET_BYTES_MIN)
		return not_had(v, "it is shorter than %d bytes, and could not be kept out of the log",
			       SECRET_BYTES_MIN);
	if (memchr(v->p, 0, v->n))
		return not_had(v, "it has a byte 0 in it, which no variable can have");
	return true;
}

static bool mask(struct launch_request *rq, const char *p, size_t n)
{
	if (rq->secrets == SECRETS_MAX)
		return false;
	rq->secret[rq->secrets++] = (struct blob){ p, n };
	return true;
}

/* The same as it stands in JSON, if that is different. */
static bool mask_json(struct launch_request *rq, const char *p, size_t n)
{
	char *text = malloc(2 * n), *to = text;
	for (size_t i = 0; text && i < n; i++) {
		if (p[i] == '"' || p[i] == '\\')
			*to++ = '\\';
		*to++ = p[i];
	}
	bool same = text && to == text + n, done = text && (same || mask(rq, text, (size_t)(to - text)));
	if (!done || same)
		free(text);
	return done;
}

/* All of it, and each of its lines, for programs print what they like of it. */
static bool mask_value(struct launch_request *rq, const char *p, size_t n)
{
	bool done = mask(rq, p, n);
	for (const char *end = p + n; done && p < end;) {
		const char *line = memchr(p, '\n', (size_t)(end - p));
		size_t k = (size_t)((line ? line : end) - p);
		bool whole = k == n;
		size_t bare = k && p[k - 1] == '\r' ? k - 1 : k;
		if (whole || bare >= SECRET_LINE_MIN)
			done = (whole || mask(rq, p, bare)) && mask_json(rq, p, bare);
		p += k + 1;
	}
	return done;
}

static bool keep(struct fetcher *f, const char *name, struct value *v)
{
	size_t k = strlen(name);
	char *entry = malloc(k + v->n + 2);
	if (!entry)
		return not_had(v, "%s", strerror(ENOMEM));
	memcpy(entry, name, k);
	entry[k] = '=';
	memcpy(entry + k + 1, v->p, v->n);
	entry[k + 1 + v->n] = 0;
	f->entry[f->entries++] = entry;
	return mask_value(f->rq, entry + k + 1, v->n) || not_had(v, "it has too many lines to be masked");
}

/* For `rota` in the run, which masks what it is told. */
static char *names(const struct launch_request *rq)
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

/* Of one that could not be had: what was printed may be it, or a part of it, and stand in what was said. */
static bool mask_rest(struct fetcher *f, const struct value *v)
{
	return !v->n || (v->n <= SECRET_BYTES_MAX && !memchr(v->p, 0, v->n) && mask_value(f->rq, v->p, v->n));
}

/* Where there was no room for more it may end in the middle of a value: with its last whole line, then. */
static void end_what_was_said(struct fetcher *f)
{
	const char *end =
		f->said_n == sizeof f->said ? memrchr(f->said, '\n', f->said_n) : f->said + f->said_n;
	f->said_n = end ? (size_t)(end - f->said) + (f->said_n == sizeof f->said) : 0;
}

bool fetch_all(struct fetcher *f, char *note, size_t room)
{
	static struct value v;
	bool done = true;
	for (unsigned i = 0; i < f->rq->fetches && done; i++) {
		const struct fetch *one = &f->rq->fetch[i];
		v.n = 0;
		done = one->file   ? read_file(one->file, &v)
		       : one->argv ? run_program(f, one->argv, &v)
				   : not_had(&v, "nobody says where it is");
		trim(&v);
		done = done && check(&v) && keep(f, one->name, &v);
		if (done)
			continue;
		snprintf(note, room, "secret %.*s: %s", FETCH_NAME_MAX, one->name, v.why);
		if (!mask_rest(f, &v))
			f->said_n = 0;
	}
	end_what_was_said(f);
	if (done)
		explicit_bzero(v.p, sizeof v.p); /* else it is among what is masked */
	if (done && !(f->entry[f->entries] = names(f->rq))) {
		snprintf(note, room, "secrets: %s", strerror(ENOMEM));
		return false;
	}
	f->entries += done;
	return done;
}
