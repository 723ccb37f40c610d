#pragma once
/* Starting the threads of the daemon and of the store, and how they wait. */
#include "base/err.h"
#include "base/limits.h"

#include <pthread.h>

/* Starts a thread with all signals blocked, so that they go to the main thread. */
must_check enum err thread_start(pthread_t *ret, void *(*main)(void *arg), void *arg);
/* A condition variable whose timeouts are on CLOCK_MONOTONIC, which cannot be set. */
void thread_cond_init(pthread_cond_t *c);

/* Names the calling thread, for people and debuggers; at most 15 bytes. */
void thread_set_name(const char *name);
/* The number of the calling thread, as the kernel knows it. */
int thread_id(void);
/* Whether a thread of this process waits for a file or a device, and how often it has begun to wait: if the
 * count is the same at two looks, it is in one and the same wait. Waiting for the processor does not count,
 * nor does waiting for a lock of this process, whose holder may be waiting for the processor. */
struct thread_wait {
	bool waits;
	uint64_t count;
};
/* False: that cannot be read. */
bool thread_wait(int id, struct thread_wait *ret);

/* For a thread that works in short bursts and should run soon after it is woken, even on a busy machine: asks
 * the scheduler for short time slices. Linux before 6.12 ignores the request; a failure does no harm. */
void thread_short_slices(void);
