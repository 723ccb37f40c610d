/* The runner: takes requests, queues reports, and makes one step for each attempt whose time has come or
 * whose process has ended. */
#include "exec/runner.h"
#include "base/array.h"
#include "core/model.h"
#include "exec/internal.h"
#include "exec/rundir.h"
#include "sys/clock.h"
#include "sys/procs.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- open and close --- */

bool runner_listen(struct runner *r, int fd, uint64_t event)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = event };
	return fd >= 0 && epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

static char *copy_text(const char *text, bool *failed)
{
	char *c = text ? strdup(text) : NULL;
	*failed |= text && !c;
	return c;
}

enum err runner_open(const struct runner_config *c, struct runner **ret, struct why *why)
{
	enum err e = rundir_check(c->place.runs, why);
	if (e != OK)
		return e;
	struct runner *r = calloc(1, sizeof *r);
	if (!r)
		return E_NOMEM;
	bool failed = false;
	r->config = *c;
	r->config.place.runs = r->runs = copy_text(c->place.runs, &failed);
	r->config.place.cgroup = r->cgroup = copy_text(c->place.cgroup, &failed);
	r->config.place.lease = r->lease = copy_text(c->place.lease, &failed);
	r->launcher = (struct launcher){ -1, -1 };
	for (unsigned i = 0; i < QUEUES; i++)
		r->queue[i].first = UINT32_MAX;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	r->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	r->ready = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	failed |= r->epoll < 0 || !runner_listen(r, r->timer, EVENT_TIMER) ||
		  !runner_listen(r, r->ready, EVENT_READY) || boot_id_read(r->boot) != 0;
	if (failed) {
		int error = errno;
		runner_close(r);
		return why_set(why, E_IO, WHY_NOWHERE, "cannot watch runs: %s", strerror(error));
	}
	*ret = r;
	return OK;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* The launcher ends when its socket is closed. If it hangs, the runner does not wait for it. */
static void end_launcher(struct runner *r)
{
	siginfo_t si;
	struct pollfd p = { .fd = r->launcher.pidfd, .events = POLLIN };
	close_fd(r->launcher.socket);
	if (p.fd >= 0 && poll(&p, 1, 1000) == 1)
		waitid(P_PIDFD, (id_t)p.fd, &si, WEXITED | WNOHANG);
	close_fd(p.fd);
}

void runner_close(struct runner *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->attempts; i++) {
		if (r->attempt[i].state == ATTEMPT_FREE)
			continue;
		close_fd(r->attempt[i].memfd);
		close_fd(r->attempt[i].pidfd);
	}
	end_launcher(r);
	close_fd(r->epoll);
	close_fd(r->timer);
	close_fd(r->ready);
	map_free(&r->by_key);
	free(r->attempt);
	free(r->spare);
	free(r->report);
	free(r->runs);
	free(r->cgroup);
	free(r->lease);
	free(r);
}

/* --- trouble --- */

void runner_trouble_set(struct runner *r, unsigned which, const char *fmt, ...)
{
	va_list ap;
	struct runner_trouble *t = &r->trouble[which];
	char text[WHY_TEXT_MAX];
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!t->since.us)
		t->since = clock_wall();
	why_write(&t->why, WHY_NOWHERE, "%s", text);
}

void runner_trouble_clear(struct runner *r, unsigned which)
{
	r->trouble[which].since.us = 0;
}

enum err runner_trouble(const struct runner *r, struct wall *since, struct why *why)
{
	for (unsigned i = 0; i < TROUBLES; i++) {
		if (!r->trouble[i].since.us)
			continue;
		if (since)
			*since = r->trouble[i].since;
		if (why)
			*why = r->trouble[i].why;
		return E_IO;
	}
	return OK;
}

/* --- reports --- */

/* Called before anything is begun, so that all reports about the attempts in the table can be queued without
 * allocating memory. An attempt may be reported as started and as ended, and both again if the caller asks
 * twice. */
static bool reserve_reports(struct runner *r)
{
	unsigned need = r->reports + 4 * (r->used + 1) + 4;
	return array_reserve(&r->report, &r->report_room, need, sizeof *r->report);
}

static void queue_report(struct runner *r, const struct rn_report *report)
{
	assert(r->reports < r->report_room);
	uint64_t one = 1;
	if (r->reports == r->collected && write(r->ready, &one, sizeof one) < 0)
		one = 0; /* it is set already */
	r->report[r->reports++] = *report;
}

static unsigned take_reports(struct runner *r, struct rn_report *ret, unsigned max)
{
	unsigned n = 0;
	uint64_t count;
	while (n < max && r->collected < r->reports)
		ret[n++] = r->report[r->collected++];
	if (r->collected == r->reports) {
		r->collected = r->reports = 0;
		if (read(r->ready, &count, sizeof count) < 0)
			count = 0; /* it was not set */
	}
	return n;
}

void runner_report(struct runner *r, const struct attempt *a, const struct rn_report *report)
{
	struct rn_report answer;
	if (!is_question(a))
		queue_report(r, report);
	else if (question_answer(a, report, &answer))
		queue_report(r, &answer);
}

/* --- requests --- */

/* Whether no shim of the attempt has reported its start yet. */
static bool is_starting(const struct attempt *a)
{
	return a->state == ATTEMPT_WANTED || a->state == ATTEMPT_HELD || a->state == ATTEMPT_SENT;
}

static void submit_start(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	a->start_asked = true;
	if (is_new) {
		a->state = ATTEMPT_WANTED;
		r->config.want(r->config.ctx, q);
	} else if (a->state == ATTEMPT_ALIVE) {
		attempt_report(r, a, RN_STARTED);
	}
}

static void submit_kill(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	if (!a->kill_pending)
		a->kill_reason = q->reason;
	a->kill_pending = true;
	if (a->state == ATTEMPT_ALIVE)
		attempt_signal(r, a);
	else if (is_new)
		attempt_update(r, a);
	else if (is_starting(a))
		attempt_prevent(r, a); /* or signals the shim, if a shim has started the attempt already */
}

static void submit_probe(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	(void)q;
	if (is_new)
		attempt_update(r, a);
	else if (a->state == ATTEMPT_ALIVE)
		attempt_report(r, a, RN_ALIVE);
	else
		a->start_asked = false; /* RN_ALIVE follows when it starts */
}

static void submit_prevent(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	(void)q;
	a->prevent_pending = true;
	a->start_asked = false;
	if (a->state == ATTEMPT_ALIVE)
		attempt_report(r, a, RN_ALIVE);
	else if (is_new || is_starting(a))
		attempt_prevent(r, a);
}

enum err runner_submit(struct runner *r, const struct rn_req *q)
{
	static void (*const submit[])(struct runner *, struct attempt *, const struct rn_req *, bool) = {
		[RN_START] = submit_start,
		[RN_KILL] = submit_kill,
		[RN_PROBE] = submit_probe,
		[RN_PREVENT] = submit_prevent,
	};
	uint16_t attempt = q->attempt;
	bool question = question_attempt(q, &attempt);
	assert(question || (q->op < ARRAY_LEN(submit) && submit[q->op]));
	if (!reserve_reports(r))
		return E_NOMEM;
	struct attempt *a = attempt_find(r, q->run, attempt);
	bool is_new = !a;
	enum err e = is_new ? attempt_add(r, q->run, attempt, &a) : OK;
	if (e == OK && question)
		question_ask(r, a, q, is_new);
	else if (e == OK)
		submit[q->op](r, a, q, is_new);
	return e;
}

enum err runner_give(struct runner *r, uint64_t run, uint16_t attempt, const struct launch *l,
		     struct why *why)
{
	struct attempt *a = attempt_find(r, run, attempt);
	if (!a || a->state != ATTEMPT_WANTED)
		return OK;
	enum err e = launch_render(&r->config.place, run, attempt, l, &a->memfd, why);
	if (e == OK)
		launch_send_start(r, a);
	return e;
}

void runner_refuse(struct runner *r, uint64_t run, uint16_t attempt, uint8_t outcome, uint16_t reason)
{
	struct attempt *a = attempt_find(r, run, attempt);
	if (!a || a->state != ATTEMPT_WANTED)
		return;
	runner_report(r, a,
		      &(struct rn_report){ .kind = RN_EXIT,
					   .run = run,
					   .attempt = attempt,
					   .outcome = outcome,
					   .reason = reason,
					   .ended = clock_wall(),
					   .cost = -1,
					   .exit_code = -1 });
	attempt_remove(r, a);
}

/* --- events --- */

/* The pidfd says that the process has ended; the run file says what that means. */
static void process_ended(struct runner *r, uint64_t event)
{
	uint32_t i = (uint32_t)event;
	launch_receive(r); /* packets that the shim sent before it ended */
	if (i >= r->attempts || r->attempt[i].generation != event >> 32 ||
	    r->attempt[i].state == ATTEMPT_FREE || r->attempt[i].pidfd < 0)
		return;
	struct attempt *a = &r->attempt[i];
	attempt_unwatch(r, a);
	a->at = INT64_MAX;
	attempt_update(r, a);
}

/* Called when the time `at` of an attempt has come. */
static void attempt_due(struct runner *r, struct attempt *a)
{
	a->at = INT64_MAX;
	switch ((enum attempt_state)a->state) {
	case ATTEMPT_HELD:
		if (runner_has_launcher(r))
			launch_send_start(r, a);
		else
			attempt_update(r, a);
		break;
	case ATTEMPT_SENT:
	case ATTEMPT_SWEEPING:
		launch_overdue(r, a);
		break;
	case ATTEMPT_SWEEP:
		launch_send_sweep(r, a);
		break;
	case ATTEMPT_ALIVE:
	case ATTEMPT_UNKNOWN:
		attempt_update(r, a);
		break;
	default:
		break;
	}
}

/* Visits every entry of the table, which has about as many entries as there are runs at a time. */
static void handle_due(struct runner *r)
{
	int64_t now = clock_boot().us, next = INT64_MAX;
	for (unsigned i = 0; i < r->attempts; i++) {
		struct attempt *a = &r->attempt[i];
		if (a->state != ATTEMPT_FREE && a->at <= now)
			attempt_due(r, a);
		if (a->state != ATTEMPT_FREE && a->at < next)
			next = a->at;
	}
	struct itimerspec t = { 0 };
	if (next != INT64_MAX)
		t.it_value = (struct timespec){ next / USEC, next % USEC * 1000 + 1 };
	timerfd_settime(r->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void handle_event(struct runner *r, uint64_t event)
{
	switch (event) {
	case EVENT_SOCKET:
	case EVENT_TIMER:
	case EVENT_READY:
		break; /* the caller, runner_collect, takes the reports after every event */
	case EVENT_LAUNCHER:
		launch_receive(r);
		launch_disconnect(r);
		break;
	default:
		process_ended(r, event);
	}
}

unsigned runner_collect(struct runner *r, struct rn_report *ret, unsigned max)
{
	struct epoll_event e[64];
	bool none = r->reports == r->collected;
	/* Called at every turn of the caller's loop, mostly when there is no attempt at all. */
	if (none && !r->used && epoll_wait(r->epoll, e, 1, 0) == 0)
		return 0;
	if (none && reserve_reports(r)) {
		/* Packets of shims are handled before their ends. */
		launch_receive(r);
		int n = epoll_wait(r->epoll, e, ARRAY_LEN(e), 0);
		for (int i = 0; i < n; i++)
			handle_event(r, e[i].data.u64);
		questions_start(r);
		handle_due(r);
	} else if (questions_can_start(r) && reserve_reports(r)) {
		questions_start(r); /* a check or hook was refused between two calls */
		handle_due(r);
	}
	return take_reports(r, ret, max);
}

int runner_fd(const struct runner *r)
{
	return r->epoll;
}

unsigned runner_busy(const struct runner *r)
{
	return r->used;
}
