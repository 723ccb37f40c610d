#pragma once
/* The activities of a store that fail, temporarily or for good: since when, and why. Written by the store's
 * threads, read by any thread. */
#include "base/err.h"
#include "base/time.h"

#include <pthread.h>

enum store_activity { STORE_WRITING, STORE_READING, STORE_CHECKPOINTING, STORE_ACTIVITIES };

struct store_failures {
	pthread_mutex_t lock;
	struct {
		enum err error; /* OK: it works; E_NOMEM: it lacks memory; else E_IO */
		bool final;
		struct wall since;
		struct why why;
	} of[STORE_ACTIVITIES];
};

void failures_init(struct store_failures *f);
void failures_destroy(struct store_failures *f);
/* Replaces the error of an activity and keeps the time of the first one. OK: the activity works; `why` is not
 * read. */
void failures_set(struct store_failures *f, enum store_activity activity, enum err e, const struct why *why);
/* The same for a permanent failure: no later call changes it. */
void failures_set_final(struct store_failures *f, enum store_activity activity, const struct why *why);
bool failures_are_final(struct store_failures *f);
/* E_IO or E_NOMEM with the reason while the store cannot write, or if any failure is final. */
must_check enum err failures_of_writing(struct store_failures *f, struct why *why);
/* E_IO or E_NOMEM with the final failure, or else with the first failure in the order of enum store_activity.
 * OK: nothing fails; the pointers are not written to. Any of the pointers may be NULL. */
must_check enum err failures_worst(struct store_failures *f, struct wall *since, bool *final,
				   struct why *why);
