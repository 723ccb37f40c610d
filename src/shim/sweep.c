/* Sweeps: kill the processes that a dead shim has left. A sweep is not the parent of the tree, so it finds
 * the processes by the cgroup, by the mark in their environment, by the session of the agent, and by descent
 * from all these, and the processes that the launcher has adopted. It cannot find a process that has left the
 * cgroup, cleaned its environment, started its own session and lost its parent after the launcher of its shim
 * had ended. */
#include "base/limits.h"
#include "runfile/create.h"
#include "runfile/sections.h"
#include "shim/cgroup.h"
#include "shim/request.h"
#include "shim/shim.h"
#include "sys/clock.h"
#include "sys/data_file.h"
#include "sys/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel does not reuse the number of a session while it has members. So the session is still that of the
 * agent, unless it has a leader that is not the recorded process. */
static bool session_is_valid(const struct launch_head *h)
{
	struct proc leader;
	return h->agent > 0 && (!proc_read((pid_t)h->agent, &leader) || leader.start == h->agent_start);
}

/* Whether the process executes the same program as this one: a launcher, a shim or a sweep. */
static bool is_own_program(pid_t pid)
{
	char path[32];
	struct stat its, own;
	snprintf(path, sizeof path, "/proc/%d/exe", pid);
	return stat("/proc/self/exe", &own) == 0 && stat(path, &its) == 0 && its.st_ino == own.st_ino &&
	       its.st_dev == own.st_dev;
}

/* Our parent, if it is the launcher; 0: the launcher has ended, and our parent may be any process. */
static pid_t find_launcher(void)
{
	pid_t parent = getppid();
	return parent > 1 && is_own_program(parent) ? parent : 0;
}

/* A child of the launcher that is neither a shim nor a sweep: its shim is dead, and the launcher has adopted
 * it. */
static bool is_orphan(const struct proc *p, pid_t launcher)
{
	return launcher && p->parent == launcher && !p->dead && !is_own_program(p->pid);
}

/* Returns how many processes it found alive; -1: it could not list them. */
static int kill_once(const struct launch_request *rq)
{
	static const int sigs[] = { SIGSTOP, SIGKILL };
	const struct launch_head *h = rq->head;
	const char *cgroup = rq->one[FIELD_CGROUP].p;
	struct procs ps;
	int found = 0;
	if (cgroup && cgroup_alive(cgroup)) {
		cgroup_signal(cgroup, SIGKILL);
		found++;
	}
	if (procs_list(&ps) != 0)
		return -1;
	bool session = session_is_valid(h);
	pid_t launcher = find_launcher();
	for (unsigned i = 0; i < ps.n; i++) {
		struct proc *p = &ps.p[i];
		p->marked = (session && p->session == h->agent && p->start >= h->agent_start) ||
			    (rq->envc && proc_has_env(p->pid, rq->envp[0])) || is_orphan(p, launcher);
	}
	procs_mark_descendants(&ps);
	for (unsigned k = 0; k < ARRAY_LEN(sigs); k++)
		for (unsigned i = 0; i < ps.n; i++)
			if (ps.p[i].marked && !ps.p[i].dead && ps.p[i].pid != getpid()) {
				proc_signal(&ps.p[i], sigs[k]);
				found++;
			}
	procs_free(&ps);
	return found;
}

static void kill_all(const struct launch_request *rq)
{
	unsigned ms = KILL_ROUND_MS;
	/* Continues until two rounds in a row find nothing: a process may be forked while a round lists the
	 * processes. */
	for (int quiet = 0; quiet < 2;) {
		if (kill_once(rq) == 0) {
			quiet++;
			continue;
		}
		quiet = 0;
		usleep(ms * 1000);
		ms = ms < KILL_ROUND_MS_MAX ? ms * 2 : ms;
	}
	if (rq->one[FIELD_CGROUP].p)
		cgroup_remove(rq->one[FIELD_CGROUP].p);
}

_Noreturn void sweep_main(int memfd)
{
	static struct launch_request rq;
	char name[RUNFILE_NAME_MAX], section[RUNFILE_SECTION] = "";
	if (request_read(memfd, &rq) != 0)
		_exit(1);
	int dir = runfile_open_directory(rq.one[FIELD_RUNS].p, rq.head->run, false);
	runfile_name(name, rq.head->run, rq.head->attempt, "run");
	int file = dir < 0 ? -1 : data_file_open(dir, name, O_RDWR);
	if (file < 0 || runfile_lock(file) != 0)
		_exit(1); /* another sweep is running */
	/* An earlier sweep may have written the exit section: do not change it. */
	if (pread(file, section, sizeof section, RUNFILE_EXIT) == sizeof section &&
	    runfile_sealed_bytes(section))
		_exit(0);
	kill_all(&rq);
	/* Its reports may contain secrets. Only the shim knew what to mask in them. */
	if (rq.head->flags & LAUNCH_SECRETS) {
		runfile_name(name, rq.head->run, rq.head->attempt, "box");
		unlinkat(dir, name, 0);
	}
	struct exit_facts x = { .cause = CAUSE_LOST, .ended = clock_wall().us };
	runfile_exit_section(section, &x);
	_exit(pwrite(file, section, sizeof section, RUNFILE_EXIT) == sizeof section ? 0 : 1);
}
