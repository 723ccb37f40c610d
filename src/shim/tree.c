/* Finds, signals and collects the processes of an attempt. */
#include "shim/tree.h"
#include "shim/cgroup.h"
#include "sys/procs.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

bool tree_gone(struct tree *t)
{
	int status;
	pid_t pid;
	/* __WALL: also children that were cloned with another exit signal than SIGCHLD. */
	while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
		if (pid != t->main || t->main_gone)
			continue;
		t->main_gone = true;
		t->status = status;
	}
	return pid < 0 && !(t->cgroup && cgroup_alive(t->cgroup));
}

static void signal_descendants(const int *sigs, unsigned n)
{
	struct procs ps;
	if (procs_list(&ps) != 0)
		return; /* out of memory: the next round tries again */
	pid_t self = getpid();
	for (unsigned i = 0; i < ps.n; i++)
		ps.p[i].marked = ps.p[i].pid == self;
	procs_mark_descendants(&ps);
	for (unsigned k = 0; k < n; k++)
		for (unsigned i = 0; i < ps.n; i++)
			if (ps.p[i].marked && ps.p[i].pid != self && !ps.p[i].dead)
				proc_signal(&ps.p[i], sigs[k]);
	procs_free(&ps);
}

void tree_terminate(const struct tree *t)
{
	static const int sigs[] = { SIGTERM, SIGCONT }; /* stopped processes must be able to react */
	if (t->cgroup) {
		cgroup_signal(t->cgroup, SIGTERM);
		cgroup_signal(t->cgroup, SIGCONT);
	} else {
		signal_descendants(sigs, ARRAY_LEN(sigs));
	}
}

void tree_kill(const struct tree *t)
{
	static const int stop[] = { SIGSTOP }, kills[] = { SIGKILL };
	if (t->cgroup)
		cgroup_signal(t->cgroup, SIGKILL);
	else
		signal_descendants(stop, 1);
	/* With a cgroup, too: a process that has moved to another cgroup is still a descendant. */
	signal_descendants(kills, 1);
}
