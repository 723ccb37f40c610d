#include "store/failures.h"

#include <time.h>

void trouble_init(struct trouble *t)
{
	*t = (struct trouble){ 0 };
	pthread_mutex_init(&t->lock, NULL);
}

void trouble_destroy(struct trouble *t)
{
	pthread_mutex_destroy(&t->lock);
}

static void note(struct trouble *t, enum trouble_with with, const struct why *why, bool final)
{
	pthread_mutex_lock(&t->lock);
	if (!t->with[with].final) {
		if (why && !t->with[with].failing) {
			struct timespec now;
			clock_gettime(CLOCK_REALTIME, &now);
			t->with[with].since = (struct wall){ now.tv_sec * USEC + now.tv_nsec / 1000 };
		}
		t->with[with].failing = why != NULL;
		t->with[with].final = final;
		if (why)
			t->with[with].why = *why;
	}
	pthread_mutex_unlock(&t->lock);
}

void trouble_note(struct trouble *t, enum trouble_with with, const struct why *why)
{
	note(t, with, why, false);
}

void trouble_note_final(struct trouble *t, enum trouble_with with, const struct why *why)
{
	note(t, with, why, true);
}

/* Locked. The first that fails, or the first that is final, if one is; TROUBLES: nothing. */
static unsigned worst(const struct trouble *t)
{
	unsigned found = TROUBLES;
	for (unsigned i = 0; i < TROUBLES; i++)
		if (t->with[i].failing && (found == TROUBLES || (t->with[i].final && !t->with[found].final)))
			found = i;
	return found;
}

bool trouble_is_final(struct trouble *t)
{
	pthread_mutex_lock(&t->lock);
	unsigned i = worst(t);
	bool final = i < TROUBLES && t->with[i].final;
	pthread_mutex_unlock(&t->lock);
	return final;
}

enum err trouble_writing(struct trouble *t, struct why *why)
{
	pthread_mutex_lock(&t->lock);
	unsigned i = worst(t);
	bool failing = i < TROUBLES && (i == TROUBLE_WRITE || t->with[i].final);
	if (failing && why)
		*why = t->with[i].why;
	pthread_mutex_unlock(&t->lock);
	return failing ? E_IO : OK;
}

enum err trouble_read(struct trouble *t, struct wall *since, bool *final, struct why *why)
{
	pthread_mutex_lock(&t->lock);
	unsigned i = worst(t);
	if (i < TROUBLES && since)
		*since = t->with[i].since;
	if (i < TROUBLES && final)
		*final = t->with[i].final;
	if (i < TROUBLES && why)
		*why = t->with[i].why;
	pthread_mutex_unlock(&t->lock);
	return i < TROUBLES ? E_IO : OK;
}
