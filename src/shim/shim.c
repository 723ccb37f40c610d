#include "shim/shim.h"
#include "base/limits.h"
#include "runfile/create.h"
#include "runfile/sections.h"
#include "shim/agent.h"
#include "shim/cgroup.h"
#include "shim/fetch.h"
#include "shim/lease.h"
#include "shim/outbox.h"
#include "shim/output.h"
#include "shim/tree.h"
#include "sys/clock.h"
#include "sys/procs.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum phase {
	RUNNING,
	ASKED,   /* SIGTERM was sent; until `grace_end` */
	KILLING, /* a round at `next_round`, until nothing is left */
};

struct shim {
	struct launch_request rq;
	char boot[40], cgroup[PATH_MAX], mark[sizeof RUN_MARK_NAME + RUN_MARK_BYTES];
	int dir, file, signals, timer, context, fds[3];
	bool fetching;  /* its secrets, before it is let go */
	bool expecting; /* the agent has ended; now its expectations are looked at */
	struct fetcher secrets;
	struct agent agent;
	struct tree tree;
	struct output output;
	struct lease lease;
	enum phase phase;
	struct exit_facts exit;
	int64_t started, timeout_at, silent_since, lease_end, grace_end, next_round, round;
};

/* --- before birth --- */

static int make_stdin(const struct blob *b)
{
	char path[32];
	if (!b->n)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("stdin", MFD_CLOEXEC), ro = -1;
	if (fd >= 0 && write_all(fd, b->p, b->n) == 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ro = open(path, O_RDONLY | O_CLOEXEC); /* from its beginning, and only to be read */
	}
	if (fd >= 0)
		close(fd);
	return ro;
}

static int make_context(struct shim *s)
{
	const struct blob *b = &s->rq.one[FIELD_CONTEXT];
	s->context = -1;
	if (!b->p)
		return 0;
	s->context = runfile_open_unnamed(s->dir);
	if (s->context < 0)
		return -s->context;
	ssize_t n = write(s->context, b->p, b->n);
	return n == (ssize_t)b->n ? 0 : n < 0 ? errno : ENOSPC;
}

static int make_mark(struct shim *s)
{
	unsigned char random[16];
	if (getrandom(random, sizeof random, 0) != sizeof random)
		return errno;
	int n = snprintf(s->mark, sizeof s->mark, "%s=", RUN_MARK_NAME);
	for (unsigned i = 0; i < sizeof random; i++)
		n += snprintf(s->mark + n, 3, "%02x", random[i]);
	s->rq.envp[s->rq.envc] = s->mark;
	return 0;
}

/* Everything the run needs and may not get, so that what is born can also be started. */
static int prepare(struct shim *s)
{
	sigset_t both;
	int e, write[STREAMS];
	sigemptyset(&both);
	sigaddset(&both, SIGTERM);
	sigaddset(&both, SIGCHLD);
	signal(SIGCHLD, SIG_DFL); /* the launcher ignores it */
	setsid();
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
		return errno;
	s->signals = signalfd(-1, &both, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->signals < 0 || s->timer < 0)
		return errno;
	if ((e = boot_id_read(s->boot)) || (e = make_context(s)) || (e = make_mark(s)) ||
	    (e = lease_open(&s->lease, s->rq.one[FIELD_LEASE].p, s->boot)) ||
	    (e = output_prepare(&s->output, &s->rq, write)))
		return e;
	s->fds[0] = make_stdin(&s->rq.one[FIELD_STDIN]);
	s->fds[1] = write[STREAM_OUT];
	s->fds[2] = write[STREAM_ERR];
	return s->fds[0] >= 0 ? 0 : errno;
}

/* A wish: where it is not granted, the tree is found by descent. */
static void enter_cgroup(struct shim *s)
{
	const struct launch_head *h = s->rq.head;
	if (!s->rq.one[FIELD_CGROUP].n ||
	    snprintf(s->cgroup, sizeof s->cgroup, "%s/run-%llu.%u-%d", s->rq.one[FIELD_CGROUP].p,
		     (unsigned long long)h->run, h->attempt, getpid()) > RUNFILE_SECTION / 2 ||
	    cgroup_make(s->cgroup) != 0)
		return;
	if (cgroup_enter(s->cgroup, s->agent.pid) == 0)
		s->tree.cgroup = s->cgroup;
	else
		cgroup_remove(s->cgroup);
}

static int make_file(struct shim *s)
{
	char block[RUNFILE_BYTES], name[RUNFILE_NAME_MAX];
	struct proc self, agent;
	if (!proc_read(getpid(), &self) || !proc_read(s->agent.pid, &agent))
		return ESRCH;
	struct start_facts f = { .run = s->rq.head->run,
				 .attempt = s->rq.head->attempt,
				 .boot = s->boot,
				 .mark = s->mark + sizeof RUN_MARK_NAME,
				 .cgroup = s->tree.cgroup,
				 .shim = self.pid,
				 .shim_start = self.start,
				 .agent = agent.pid,
				 .agent_start = agent.start,
				 .started = clock_wall().us };
	int e = runfile_start_section(block, &f);
	if (e)
		return e;
	/* One birth for both: nobody ever sees it alive. */
	if (s->exit.cause == CAUSE_LATE)
		runfile_exit_section(block + RUNFILE_EXIT,
				     &(struct exit_facts){ .cause = CAUSE_LATE, .ended = f.started });
	runfile_name(name, f.run, f.attempt, "run");
	s->file = runfile_create(s->dir, name, block, s->rq.head->flags & LAUNCH_FLUSH);
	return s->file >= 0 ? 0 : -s->file;
}

static struct program program(struct shim *s)
{
	return (struct program){ s->rq.argv, s->rq.envp,
				 s->rq.one[FIELD_CWD].n ? s->rq.one[FIELD_CWD].p : NULL };
}

static int be_born(struct shim *s)
{
	char name[RUNFILE_NAME_MAX];
	s->dir = runfile_open_directory(s->rq.one[FIELD_RUNS].p, s->rq.head->run,
					s->rq.head->flags & LAUNCH_FLUSH);
	if (s->dir < 0)
		return -s->dir;
	runfile_name(name, s->rq.head->run, s->rq.head->attempt, "run");
	if (faccessat(s->dir, name, F_OK, 0) == 0)
		return EEXIST; /* saves the trouble; what decides is the birth */
	const struct program p = program(s);
	int e = prepare(s);
	if (!e)
		e = agent_fork(&p, s->fds, &s->agent);
	if (e)
		return e;
	s->tree.main = s->agent.pid;
	enter_cgroup(s);
	if (s->rq.head->start_by && clock_boot().us >= s->rq.head->start_by)
		s->exit.cause = CAUSE_LATE;
	e = make_file(s);
	if (!e && s->exit.cause == CAUSE_LATE)
		e = EEXIST; /* it is there, and has ended */
	if (e) {
		agent_kill(&s->agent);
		if (s->tree.cgroup)
			cgroup_remove(s->cgroup);
	}
	return e;
}

/* --- while it runs --- */

/* The first cause stands. */
static void end_for(struct shim *s, enum run_cause cause, int reason)
{
	if (s->exit.cause != CAUSE_NONE)
		return;
	s->exit.cause = cause;
	s->exit.reason = reason;
}

static void ask_to_end(struct shim *s, int64_t grace)
{
	if (s->phase != RUNNING)
		return;
	s->phase = ASKED;
	s->grace_end = clock_boot().us + grace;
	tree_terminate(&s->tree);
}

static void start_killing(struct shim *s)
{
	if (s->phase == KILLING)
		return;
	s->phase = KILLING;
	s->next_round = 0;
	s->round = KILL_ROUND_MS * INT64_C(1000);
}

static void check_lease(struct shim *s, int64_t now)
{
	if (now < s->lease_end)
		return;
	s->lease_end = lease_deadline(&s->lease); /* it may have been renewed since */
	if (now < s->lease_end)
		return;
	end_for(s, CAUSE_FENCED, 0);
	start_killing(s); /* another node may start the same work now: there is no time to be polite */
	s->lease_end = INT64_MAX;
}

/* Does what is due and returns when the next thing is. */
static int64_t keep_time(struct shim *s)
{
	int64_t now = clock_boot().us, stall = s->expecting || s->fetching ? 0 : s->rq.head->stall,
		next = INT64_MAX;
	check_lease(s, now);
	if (s->phase == RUNNING && now >= s->timeout_at) {
		end_for(s, CAUSE_TIMEOUT, 0);
		ask_to_end(s, s->rq.head->grace);
	}
	if (s->phase == RUNNING && stall && now >= s->silent_since + stall) {
		end_for(s, CAUSE_STALLED, 0);
		ask_to_end(s, s->rq.head->grace);
	}
	if (s->phase == ASKED && now >= s->grace_end)
		start_killing(s);
	if (s->phase == KILLING && now >= s->next_round) {
		tree_kill(&s->tree);
		s->next_round = clock_boot().us + s->round;
		if (s->round < KILL_ROUND_MS_MAX * INT64_C(1000))
			s->round *= 2;
	}
	const int64_t due[] = {
		s->lease_end,
		s->phase == RUNNING ? s->timeout_at : INT64_MAX,
		s->phase == RUNNING && stall ? s->silent_since + stall : INT64_MAX,
		s->phase == ASKED ? s->grace_end : INT64_MAX,
		s->phase == KILLING ? s->next_round : INT64_MAX,
	};
	for (unsigned i = 0; i < ARRAY_LEN(due); i++)
		next = due[i] < next ? due[i] : next;
	return next;
}

static void arm(struct shim *s, int64_t when)
{
	struct itimerspec t = { 0 };
	if (when != INT64_MAX)
		t.it_value = (struct timespec){ when / 1000000, when % 1000000 * 1000 + 1 };
	timerfd_settime(s->timer, TFD_TIMER_ABSTIME, &t, NULL);
}

static void hear(struct shim *s)
{
	struct signalfd_siginfo si;
	while (read(s->signals, &si, sizeof si) == sizeof si) {
		if (si.ssi_signo != SIGTERM)
			continue;
		/* Queued by the daemon, it carries the reason; from a person's kill(1) it carries none. */
		end_for(s, CAUSE_STOPPED, si.ssi_code == SI_QUEUE ? si.ssi_int : 0);
		ask_to_end(s, s->rq.head->grace);
	}
}

static void wait_for_something(struct shim *s)
{
	uint64_t expired;
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
		hear(s);
	if (p[3].revents && read(s->timer, &expired, sizeof expired) < 0)
		expired = 0; /* it was set anew in between */
}

static void watch(struct shim *s)
{
	while (!tree_gone(&s->tree)) {
		if (s->tree.main_gone && s->phase == RUNNING) {
			end_for(s, CAUSE_EXIT, 0);
			ask_to_end(s, LEFTOVER_GRACE_MS * INT64_C(1000));
		}
		arm(s, keep_time(s));
		wait_for_something(s);
	}
	end_for(s, CAUSE_EXIT, 0);
}

/* --- its secrets --- */

/* As it stands in the record, where people look for the reason. */
static void note_in_log(struct shim *s)
{
	char line[sizeof s->exit.note + 32];
	int n = snprintf(line, sizeof line, "[rota: %s]\n", s->exit.note);
	log_write(&s->output.log, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

static bool may_go_on(void *ctx)
{
	struct shim *s = ctx;
	uint64_t expired;
	hear(s);
	if (read(s->timer, &expired, sizeof expired) < 0)
		expired = 0; /* it was something else */
	arm(s, keep_time(s));
	return s->phase == RUNNING;
}

/* Executed by the shim that has won, and by no other: programs that print secrets may count how often. False:
 * there is one that cannot be had, and nothing is executed. */
static bool fetch_secrets(struct shim *s)
{
	struct fetcher *f = &s->secrets;
	if (!s->rq.fetches)
		return true;
	*f = (struct fetcher){ .rq = &s->rq,
			       .cgroup = s->tree.cgroup,
			       .wake = { s->signals, s->timer },
			       .go_on = may_go_on,
			       .ctx = s };
	agent_disable_core_dumps();
	s->fetching = true;
	bool done = may_go_on(s) && fetch_all(f, s->exit.note, sizeof s->exit.note);
	s->fetching = false;
	s->silent_since = clock_boot().us;
	int e = output_set_secrets(&s->output, &s->rq);
	if (!e && f->said_n)
		output_write(&s->output, STREAM_ERR, f->said, f->said_n);
	if (done && e)
		snprintf(s->exit.note, sizeof s->exit.note, "secrets: %s", strerror(e));
	if (done && !e)
		return true;
	if (!f->cancelled)
		end_for(s, CAUSE_SECRET, 0);
	return false;
}

static void let_go(struct shim *s)
{
	for (unsigned i = 0; i < s->secrets.entries; i++)
		agent_set_variable(&s->agent, s->secrets.entry[i]);
	agent_release(&s->agent);
}

/* Never to be executed; what was started for its secrets ends with it. */
static void give_up(struct shim *s)
{
	agent_kill(&s->agent);
	s->tree.main_gone = true;
	watch(s);
	output_drain(&s->output);
	if (s->exit.note[0])
		note_in_log(s);
}

/* --- its end --- */

static void judge(struct shim *s)
{
	struct agent_failure f;
	struct exit_facts *x = &s->exit;
	if (WIFEXITED(s->tree.status))
		x->status = WEXITSTATUS(s->tree.status);
	else if (WIFSIGNALED(s->tree.status))
		x->signal = WTERMSIG(s->tree.status);
	if (x->cause != CAUSE_EXIT || !agent_failed(&s->agent, &f))
		return;
	x->cause = CAUSE_NOT_EXECUTED;
	x->status = f.error;
	f.what[sizeof f.what - 1] = 0;
	snprintf(x->note, sizeof x->note, "%s: %s", f.what, strerror(f.error));
	/* Where people look for the reason. What it was to execute has been given back, and is known to them.
	 */
	char line[128];
	bool cwd = !strcmp(f.what, "cwd");
	int n = snprintf(line, sizeof line, "[rota: the %s: %s]\n",
			 cwd ? "directory cannot be entered" : "program cannot be executed",
			 strerror(f.error));
	log_write(&s->output.log, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
}

/* --- what is expected of it --- */

static void printf_like(2, 3) disappoint(struct shim *s, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(s->exit.note, sizeof s->exit.note, fmt, ap);
	va_end(ap);
	s->exit.cause = CAUSE_EXPECTATION;
	output_drain(&s->output); /* what was said before it */
	note_in_log(s);
}

/* As the agent was, and bound by the same clock and the same word to stop; what it says goes to the log, for
 * the answer is the agent's. */
static bool holds(struct shim *s, char *const *argv, unsigned number)
{
	struct agent_failure f;
	struct program p = program(s);
	p.argv = argv;
	close(s->agent.line);
	int fds[] = { open("/dev/null", O_RDONLY | O_CLOEXEC), s->fds[2], s->fds[2] };
	int e = fds[0] < 0 ? errno : agent_fork(&p, fds, &s->agent);
	if (fds[0] >= 0)
		close(fds[0]);
	if (e) {
		disappoint(s, "expected: script %u could not be started: %s", number, strerror(e));
		return false;
	}
	s->tree.main = s->agent.pid;
	s->tree.main_gone = false;
	if (s->tree.cgroup)
		cgroup_enter(s->cgroup, s->agent.pid);
	s->phase = RUNNING;
	s->exit.cause = CAUSE_NONE;
	let_go(s);
	watch(s);
	if (s->exit.cause != CAUSE_EXIT)
		return false;
	int status = s->tree.status;
	if (agent_failed(&s->agent, &f))
		disappoint(s, "expected: script %u cannot be executed: %s", number, strerror(f.error));
	else if (WIFSIGNALED(status))
		disappoint(s, "expected: script %u was ended by signal %d", number, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		disappoint(s, "expected: script %u ended with exit code %d", number, WEXITSTATUS(status));
	return s->exit.cause == CAUSE_EXIT;
}

/* Only of one that ended well and says that it did something. */
static void look_at_expectations(struct shim *s)
{
	const struct exit_facts *x = &s->exit;
	output_drain(&s->output);
	if (x->cause != CAUSE_EXIT || x->status || x->signal || output_says_no_work(&s->output))
		return;
	s->expecting = true;
	for (unsigned i = 0; i < s->rq.files; i++)
		if (access(s->rq.file[i], F_OK) < 0) {
			disappoint(s, "expected: %s: %s", s->rq.file[i], strerror(errno));
			return;
		}
	for (unsigned i = 0, number = 1; i < s->rq.words && holds(s, s->rq.word + i, number); i++, number++)
		while (s->rq.word[i])
			i++;
}

static void record(struct shim *s)
{
	char section[RUNFILE_SECTION];
	struct exit_facts *x = &s->exit;
	x->ended = clock_wall().us;
	x->lasted = clock_boot().us - s->started;
	x->output = s->output.bytes;
	x->left_out = s->output.log.left_out;
	x->log = s->output.log.state;
	x->no_work = output_says_no_work(&s->output);
	runfile_exit_section(section, x);
	/* Into a block that is there: it needs no room. A disk that fails outright leaves the run lost. */
	if (pwrite(s->file, section, sizeof section, RUNFILE_EXIT) != sizeof section)
		_exit(1);
}

/* Unless it must not be executed any more, or not as it should. */
static bool may_go(struct shim *s)
{
	int e = 0;
	s->started = s->silent_since = clock_boot().us;
	s->timeout_at = s->rq.head->timeout ? s->started + s->rq.head->timeout : INT64_MAX;
	s->lease_end = lease_deadline(&s->lease);
	if (s->started >= s->lease_end) {
		end_for(s, CAUSE_FENCED, 0);
		return false;
	}
	if (s->context >= 0) {
		char name[RUNFILE_NAME_MAX];
		runfile_name(name, s->rq.head->run, s->rq.head->attempt, "ctx");
		unlinkat(s->dir, name, 0);
		e = runfile_link(s->context, s->dir, name);
		close(s->context);
	}
	if (e) {
		end_for(s, CAUSE_NOT_EXECUTED, 0);
		s->exit.status = e;
		snprintf(s->exit.note, sizeof s->exit.note, "context: %s", strerror(e));
	}
	return e == 0;
}

static void answer(int socket, uint64_t ticket, enum launch_say say, int error)
{
	struct launch_reply r = {
		.magic = LAUNCH_MAGIC, .say = (uint16_t)say, .error = error, .ticket = ticket
	};
	/* Not waiting: a daemon that does not listen must not keep the run from going on. It then learns of
	 * the birth from the file. */
	send(socket, &r, sizeof r, MSG_DONTWAIT | MSG_NOSIGNAL);
	close(socket);
}

_Noreturn void shim_main(int socket, int memfd, uint64_t ticket)
{
	static struct shim s;
	int e = request_read(memfd, &s.rq);
	close(memfd);
	if (!e)
		e = s.rq.argc ? be_born(&s) : EPROTO;
	if (e) {
		answer(socket, ticket, e == EEXIST ? LAUNCH_TAKEN : LAUNCH_REFUSED, e);
		_exit(0);
	}
	char name[RUN_SHIM_NAME];
	if (runfile_shim_name(name, s.rq.head->run, s.rq.head->attempt))
		prctl(PR_SET_NAME, name); /* before anything of it can ask the daemon for something */
	bool expects = s.rq.files || s.rq.words;
	for (unsigned i = 0; i < ARRAY_LEN(s.fds) - expects; i++)
		close(s.fds[i]); /* the last is needed once more */
	output_open(&s.output, &s.rq, s.dir);
	answer(socket, ticket, LAUNCH_STARTED, 0);
	if (may_go(&s) && fetch_secrets(&s)) {
		let_go(&s);
		if (!expects)
			request_release(&s.rq);
		watch(&s);
		judge(&s);
		if (expects)
			look_at_expectations(&s);
	} else {
		give_up(&s);
	}
	output_close(&s.output);
	outbox_mask(s.dir, &s.rq);
	if (s.tree.cgroup)
		cgroup_remove(s.tree.cgroup);
	record(&s);
	_exit(0);
}
