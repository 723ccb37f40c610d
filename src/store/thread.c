#include "store/thread.h"

#include <signal.h>
#include <time.h>

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
