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

bool thread_wait(int id, struct thread_wait *ret)
{
	char path[48], text[4096];
	snprintf(path, sizeof path, "/proc/self/task/%d/status", id);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	const char *state = strstr(text, "\nState:\t"), *count = strstr(text, "\nvoluntary_ctxt_switches:\t");
	if (!state || !count)
		return false;
	/* R: it runs, or could run if it had the processor. */
	ret->waits = state[sizeof "\nState:\t" - 1] != 'R';
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
