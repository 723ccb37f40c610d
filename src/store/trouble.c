#include "store/trouble.h"

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

void trouble_note(struct trouble *t, enum trouble_with with, const struct why *why)
{
	pthread_mutex_lock(&t->lock);
	if (why && !t->with[with].failing) {
		struct timespec now;
		clock_gettime(CLOCK_REALTIME, &now);
		t->with[with].since = (struct wall){ now.tv_sec * USEC + now.tv_nsec / 1000 };
	}
	t->with[with].failing = why != NULL;
	if (why)
		t->with[with].why = *why;
	pthread_mutex_unlock(&t->lock);
}

enum err trouble_read(struct trouble *t, struct wall *since, struct why *why)
{
	enum err e = OK;
	pthread_mutex_lock(&t->lock);
	for (unsigned i = 0; i < TROUBLES && e == OK; i++) {
		if (!t->with[i].failing)
			continue;
		e = E_IO;
		if (since)
			*since = t->with[i].since;
		if (why)
			*why = t->with[i].why;
	}
	pthread_mutex_unlock(&t->lock);
	return e;
}
