/* Watches the tree of the attempt: reads its output, enforces timeout, stall and lease, and ends it by
 * SIGTERM, then by SIGKILL. */
#include "base/limits.h"
#include "shim/internal.h"
#include "sys/clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

void shim_end_for(struct shim *s, enum run_cause cause, int reason)
{
	if (s->exit.cause != CAUSE_NONE)
		return;
	s->exit.cause = cause;
	s->exit.reason = reason;
}

static void start_terminating(struct shim *s, int64_t grace)
{
	if (s->phase != SHIM_RUNNING)
		return;
	s->phase = SHIM_TERMINATING;
	s->grace_end = clock_boot().us + grace;
	tree_terminate(&s->tree);
}

static void start_killing(struct shim *s)
{
	if (s->phase == SHIM_KILLING)
		return;
	s->phase = SHIM_KILLING;
	s->next_round = 0;
	s->round = KILL_ROUND_MS * INT64_C(1000);
}

static void check_lease(struct shim *s, int64_t now)
{
	if (now < s->lease_end)
		return;
	s->lease_end = lease_deadline(&s->lease); /* it may have been renewed */
	if (now < s->lease_end)
		return;
	shim_end_for(s, CAUSE_FENCED, 0);
	start_killing(s); /* without grace: another node may start the same work now */
	s->lease_end = INT64_MAX;
}

/* Acts on all deadlines that have passed, and returns the next one. */
static int64_t handle_deadlines(struct shim *s)
{
	int64_t now = clock_boot().us, next = INT64_MAX;
	int64_t stall = s->expecting || s->fetching ? 0 : s->rq.head->stall;
	check_lease(s, now);
	if (s->phase == SHIM_RUNNING && now >= s->timeout_at) {
		shim_end_for(s, CAUSE_TIMEOUT, 0);
		start_terminating(s, s->rq.head->grace);
	}
	if (s->phase == SHIM_RUNNING && stall && now >= s->silent_since + stall) {
		shim_end_for(s, CAUSE_STALLED, 0);
		start_terminating(s, s->rq.head->grace);
	}
	if (s->phase == SHIM_TERMINATING && now >= s->grace_end)
		start_killing(s);
	if (s->phase == SHIM_KILLING && now >= s->next_round) {
		tree_kill(&s->tree);
		s->next_round = clock_boot().us + s->round;
		if (s->round < KILL_ROUND_MS_MAX * INT64_C(1000))
			s->round *= 2;
	}
	const int64_t due[] = {
		s->lease_end,
		s->phase == SHIM_RUNNING ? s->timeout_at : INT64_MAX,
		s->phase == SHIM_RUNNING && stall ? s->silent_since + stall : INT64_MAX,
		s->phase == SHIM_TERMINATING ? s->grace_end : INT64_MAX,
		s->phase == SHIM_KILLING ? s->next_round : INT64_MAX,
	};
	for (unsigned i = 0; i < ARRAY_LEN(due); i++)
		next = due[i] < next ? due[i] : next;
	return next;
}

static void set_timer(struct shim *s, int64_t at)
{
	struct itimerspec t = { 0 };
	if (at != INT64_MAX)
		t.it_value = (struct timespec){ at / USEC, at % USEC * 1000 + 1 };
	timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void read_signals(struct shim *s)
{
	struct signalfd_siginfo si;
	while (read(s->signals, &si, sizeof si) == sizeof si) {
		if (si.ssi_signo != SIGTERM)
			continue;
		/* A signal of the daemon carries the reason; one of kill(1) carries none. */
		shim_end_for(s, CAUSE_STOPPED, si.ssi_code == SI_QUEUE ? si.ssi_int : 0);
		start_terminating(s, s->rq.head->grace);
	}
}

static void read_timer(struct shim *s)
{
	uint64_t expired;
	if (read(s->timer, &expired, sizeof expired) < 0)
		expired = 0; /* it has not expired, or was set again */
}

bool shim_tick(struct shim *s)
{
	read_signals(s);
	read_timer(s);
	set_timer(s, handle_deadlines(s));
	return s->phase == SHIM_RUNNING;
}

static void wait_for_events(struct shim *s)
{
	struct pollfd p[] = {
		{ .fd = s->output.pipe[STREAM_OUT], .events = POLLIN },
		{ .fd = s->output.pipe[STREAM_ERR], .events = POLLIN },
		{ .fd = s->signals, .events = POLLIN },
		{ .fd = s->timer, .events = POLLIN },
	};
	if (poll(p, ARRAY_LEN(p), -1) < 0)
		return;
	for (unsigned i = 0; i < STREAMS; i++)
		if (p[i].revents && output_read(&s->output, i))
			s->silent_since = clock_boot().us;
	if (p[2].revents)
		read_signals(s);
	if (p[3].revents)
		read_timer(s);
}

void shim_watch(struct shim *s)
{
	while (!tree_gone(&s->tree)) {
		if (s->tree.main_gone && s->phase == SHIM_RUNNING) {
			shim_end_for(s, CAUSE_EXIT, 0);
			start_terminating(s, LEFTOVER_GRACE_MS * INT64_C(1000));
		}
		set_timer(s, handle_deadlines(s));
		wait_for_events(s);
	}
	shim_end_for(s, CAUSE_EXIT, 0);
}
