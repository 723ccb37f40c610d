/* Starting threads, and asking the scheduler for short time slices. */
#include "sys/thread.h"

#include <sched.h>
#include <signal.h>
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
