/* Waits for SIGTERM and SIGINT on a thread of its own, and ends the process if nothing else does. */
#include "daemon/stop_signal.h"

#include "sys/clock.h"
#include "sys/thread.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

struct stop_signal {
	int signals, counted, quit;
	pthread_t thread;
};

static _Noreturn void end_process(void)
{
	static const char text[] =
		"rota: the daemon did not stop in time and is ended now; runs go on, and nothing "
		"that was acknowledged is lost\n";
	/* A pipe with room for less than the whole text is not writable. */
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	if (poll(&p, 1, 0) == 1 && write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(1);
	_exit(1);
}

static int milliseconds_until(int64_t deadline)
{
	int64_t left = deadline == INT64_MAX ? -1 : (deadline - clock_boot().us + 999) / 1000;
	return deadline == INT64_MAX ? -1 : left < 0 ? 0 : (int)left;
}

static void *watch(void *arg)
{
	struct stop_signal *s = arg;
	struct pollfd p[] = { { .fd = s->signals, .events = POLLIN }, { .fd = s->quit, .events = POLLIN } };
	int64_t deadline = INT64_MAX;
	for (;;) {
		struct signalfd_siginfo si;
		uint64_t one = 1;
		poll(p, ARRAY_LEN(p), milliseconds_until(deadline));
		if (p[1].revents)
			return NULL;
		if (clock_boot().us >= deadline)
			end_process();
		if (!p[0].revents || read(s->signals, &si, sizeof si) != sizeof si)
			continue;
		/* A second signal means that its sender does not want to wait. */
		int64_t end = clock_boot().us +
			      (deadline == INT64_MAX ? DAEMON_END_MS : DAEMON_END_SOON_MS) * INT64_C(1000);
		deadline = end < deadline ? end : deadline;
		if (write(s->counted, &one, sizeof one) < 0)
			continue; /* the counter is full: the daemon's thread has been notified */
	}
}

static void close_fds(struct stop_signal *s)
{
	const int fds[] = { s->signals, s->counted, s->quit };
	for (unsigned i = 0; i < ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

enum err stop_signal_open(struct stop_signal **ret, struct why *why)
{
	struct stop_signal *s = calloc(1, sizeof *s);
	sigset_t both;
	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGINT);
	if (!s)
		return E_NOMEM;
	pthread_sigmask(SIG_BLOCK, &both, NULL);
	s->signals = signalfd(-1, &both, SFD_CLOEXEC | SFD_NONBLOCK);
	s->counted = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->quit = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	enum err e = OK;
	if (s->signals < 0 || s->counted < 0 || s->quit < 0)
		e = why_set(why, E_IO, WHY_NOWHERE, "cannot wait for signals: %s", strerror(errno));
	if (!e && thread_start(&s->thread, watch, s) != OK)
		e = why_set(why, E_NOMEM, WHY_NOWHERE, "cannot start a thread that waits for signals");
	if (e) {
		close_fds(s);
		free(s);
		return e;
	}
	*ret = s;
	return OK;
}

void stop_signal_close(struct stop_signal *s)
{
	uint64_t one = 1;
	if (!s)
		return;
	if (write(s->quit, &one, sizeof one) < 0)
		return; /* it cannot fail: this is the first and only write */
	pthread_join(s->thread, NULL);
	close_fds(s);
	free(s);
}

int stop_signal_fd(const struct stop_signal *s)
{
	return s->counted;
}
