#pragma once
/* Threads of a store: they take no signals, and wait by the clock nobody sets. */
#include "base/err.h"

#include <pthread.h>

must_check enum err thread_start(pthread_t *ret, void *(*main)(void *arg), void *arg);
void thread_cond_init(pthread_cond_t *c);
