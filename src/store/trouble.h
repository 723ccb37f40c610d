#pragma once
/* What a store cannot do at present, and since when. Written by its threads, read by anybody. */
#include "base/err.h"
#include "base/time.h"

#include <pthread.h>

enum trouble_with { TROUBLE_WRITE, TROUBLE_READ, TROUBLE_CHECKPOINT, TROUBLES };

struct trouble {
	pthread_mutex_t lock;
	struct {
		bool failing;
		struct wall since;
		struct why why;
	} with[TROUBLES];
};

void trouble_init(struct trouble *t);
void trouble_destroy(struct trouble *t);
/* The latest reason replaces earlier ones; `since` stays the first's. NULL: it works (again). */
void trouble_note(struct trouble *t, enum trouble_with with, const struct why *why);
/* E_IO and the first of them in the order above; OK and nothing written if there is none. */
must_check enum err trouble_read(struct trouble *t, struct wall *since, struct why *why);
