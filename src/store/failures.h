#pragma once
/* What a store cannot do at present, or ever again, and since when. Written by its threads, read by anybody.
 */
#include "base/err.h"
#include "base/time.h"

#include <pthread.h>

enum trouble_with { TROUBLE_WRITE, TROUBLE_READ, TROUBLE_CHECKPOINT, TROUBLES };

struct trouble {
	pthread_mutex_t lock;
	struct {
		bool failing, final;
		struct wall since;
		struct why why;
	} with[TROUBLES];
};

void trouble_init(struct trouble *t);
void trouble_destroy(struct trouble *t);
/* The latest reason replaces earlier ones; `since` stays the first's. NULL: it works (again). */
void trouble_note(struct trouble *t, enum trouble_with with, const struct why *why);
/* The same for what will never work again: whatever is noted later, it stays. */
void trouble_note_final(struct trouble *t, enum trouble_with with, const struct why *why);
bool trouble_is_final(struct trouble *t);
/* E_IO while nothing can be written, or ever again, with the reason. */
must_check enum err trouble_writing(struct trouble *t, struct why *why);
/* E_IO and what is final, or else the first of them in the order above; OK and nothing written if there is
 * none. Any of the pointers may be NULL. */
must_check enum err trouble_read(struct trouble *t, struct wall *since, bool *final, struct why *why);
