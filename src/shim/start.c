/* Prepares an attempt and creates its run file. Everything that may fail for lack of memory, processes or
 * disk is done before the run file is created, so that an attempt that has started can also be executed. */
#include "runfile/create.h"
#include "shim/cgroup.h"
#include "shim/internal.h"
#include "sys/clock.h"
#include "sys/procs.h"
#include "sys/write.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int make_stdin(const struct blob *b)
{
	char path[32];
	if (!b->n)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("stdin", MFD_CLOEXEC), ro = -1;
	if (fd >= 0 && write_all(fd, b->p, b->n) == 0) {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		ro = open(path, O_RDONLY | O_CLOEXEC); /* at offset 0, and read-only */
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

static int prepare(struct shim *s)
{
	sigset_t both;
	int e, write_end[STREAMS];
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
	    (e = output_prepare(&s->output, &s->rq, write_end)))
		return e;
	s->fds[0] = make_stdin(&s->rq.one[FIELD_STDIN]);
	s->fds[1] = write_end[STREAM_OUT];
	s->fds[2] = write_end[STREAM_ERR];
	return s->fds[0] >= 0 ? 0 : errno;
}

/* The cgroup is optional: without it the tree is found by descent. */
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

static int create_run_file(struct shim *s)
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
				 .secrets = s->rq.fetches,
				 .shim = self.pid,
				 .shim_start = self.start,
				 .agent = agent.pid,
				 .agent_start = agent.start,
				 .started = clock_wall().us };
	int e = runfile_start_section(block, &f);
	if (e)
		return e;
	/* Both sections are written at once, so that the attempt is never seen as running. */
	if (s->exit.cause == CAUSE_LATE)
		runfile_exit_section(block + RUNFILE_EXIT,
				     &(struct exit_facts){ .cause = CAUSE_LATE, .ended = f.started });
	runfile_name(name, f.run, f.attempt, "run");
	s->file = runfile_create(s->dir, name, block, s->rq.head->flags & LAUNCH_FLUSH);
	return s->file >= 0 ? 0 : -s->file;
}

struct program shim_program(struct shim *s)
{
	return (struct program){ s->rq.argv, s->rq.envp,
				 s->rq.one[FIELD_CWD].n ? s->rq.one[FIELD_CWD].p : NULL };
}

int shim_start(struct shim *s)
{
	char name[RUNFILE_NAME_MAX];
	s->dir = runfile_open_directory(s->rq.one[FIELD_RUNS].p, s->rq.head->run,
					s->rq.head->flags & LAUNCH_FLUSH);
	if (s->dir < 0)
		return -s->dir;
	runfile_name(name, s->rq.head->run, s->rq.head->attempt, "run");
	if (faccessat(s->dir, name, F_OK, 0) == 0)
		return EEXIST; /* only avoids useless work; runfile_create decides */
	const struct program p = shim_program(s);
	int e = prepare(s);
	if (!e)
		e = agent_fork(&p, s->fds, &s->agent);
	if (e)
		return e;
	s->tree.main = s->agent.pid;
	enter_cgroup(s);
	if (s->rq.head->start_by && clock_boot().us >= s->rq.head->start_by)
		s->exit.cause = CAUSE_LATE;
	e = create_run_file(s);
	if (!e && s->exit.cause == CAUSE_LATE)
		e = EEXIST;
	if (e) {
		agent_kill(&s->agent);
		if (s->tree.cgroup)
			cgroup_remove(s->cgroup);
	}
	return e;
}
