/* Starting threads, and asking the scheduler for short time slices. */
#include "sys/thread.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum err thread_start(pthread_t *ret, void *(*main)(void *arg), void *arg)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int rc = pthread_create(ret, NULL, main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0 ? OK : E_NOMEM;
}

void thread_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

void thread_set_name(const char *name)
{
	pthread_setname_np(pthread_self(), name);
}

int thread_id(void)
{
	return (int)syscall(SYS_gettid);
}

/* Reads a file of /proc about a thread; "": it cannot be read. */
static void read_about(int id, const char *file, char *ret, size_t room)
{
	char path[48];
	snprintf(path, sizeof path, "/proc/self/task/%d/%s", id, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, ret, room - 1) : -1;
	if (fd >= 0)
		close(fd);
	ret[n > 0 ? n : 0] = '\0';
}

/* All locks of this process wait by this system call. */
static bool waits_for_lock(int id)
{
	char call[128];
	read_about(id, "syscall", call, sizeof call);
	return call[0] && strtol(call, NULL, 10) == SYS_futex;
}

bool thread_wait(int id, struct thread_wait *ret)
{
	char text[4096];
	read_about(id, "status", text, sizeof text);
	const char *state = strstr(text, "\nState:\t"), *count = strstr(text, "\nvoluntary_ctxt_switches:\t");
	if (!state || !count)
		return false;
	/* R: it runs, or could run if it had the processor. */
	ret->waits = state[sizeof "\nState:\t" - 1] != 'R' && !waits_for_lock(id);
	ret->count = strtoull(count + sizeof "\nvoluntary_ctxt_switches:\t" - 1, NULL, 10);
	return true;
}

/* struct sched_attr of sched_setattr(2): older C libraries declare neither. */
struct sched_attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* ns; SCHED_OTHER uses only `runtime`, as its slice */
};

void thread_short_slices(void)
{
	struct sched_attributes a = { 0 };
	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) < 0 || a.policy != SCHED_OTHER)
		return; /* the administrator has chosen another policy */
	a.size = sizeof a;
	a.runtime = THREAD_SLICE_NS;
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0)
		return; /* the thread keeps the usual slices */
}
