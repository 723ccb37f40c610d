#pragma once
/* Threads of a store: they take no signals, and wait by the clock nobody sets. */
#include "base/err.h"
#include "base/limits.h"

#include <pthread.h>

must_check enum err thread_start(pthread_t *ret, void *(*main)(void *arg), void *arg);
void thread_cond_init(pthread_cond_t *c);

/* This thread works in short strokes and shall have the processor soon after it was woken, however many
 * others want it: it asks the scheduler for short slices, which a later Linux gives (6.12); others do
 * without. */
void thread_short_slices(void);
