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

/* The C library knows neither the call nor the structure. */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period; /* ns; of an ordinary thread only the first counts: its slice */
};

void thread_short_slices(void)
{
	struct attributes a = { 0 };
	if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) < 0 || a.policy != SCHED_OTHER)
		return; /* somebody has seen to it in another way */
	a.size = sizeof a;
	a.runtime = THREAD_SLICE_NS;
	if (syscall(SYS_sched_setattr, 0, &a, 0) < 0)
		return; /* then it waits its turn */
}
