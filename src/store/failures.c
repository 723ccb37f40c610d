/* The failures of a store's activities, protected by one lock. */
#include "store/failures.h"
#include "sys/clock.h"

void failures_init(struct store_failures *f)
{
	*f = (struct store_failures){ 0 };
	pthread_mutex_init(&f->lock, NULL);
}

void failures_destroy(struct store_failures *f)
{
	pthread_mutex_destroy(&f->lock);
}

static void set_failure(struct store_failures *f, enum store_activity activity, enum err e,
			const struct why *why, bool final)
{
	pthread_mutex_lock(&f->lock);
	if (!f->of[activity].final) {
		if (e && !f->of[activity].error)
			f->of[activity].since = clock_wall();
		f->of[activity].error = e;
		f->of[activity].final = final;
		if (e)
			f->of[activity].why = *why;
	}
	pthread_mutex_unlock(&f->lock);
}

void failures_set(struct store_failures *f, enum store_activity activity, enum err e, const struct why *why)
{
	set_failure(f, activity, e, why, false);
}

void failures_set_final(struct store_failures *f, enum store_activity activity, const struct why *why)
{
	set_failure(f, activity, E_IO, why, true);
}

/* The activity of the first final failure, else of the first failure; STORE_ACTIVITIES: none. The caller
 * holds the lock. */
static unsigned worst(const struct store_failures *f)
{
	unsigned found = STORE_ACTIVITIES;
	for (unsigned i = 0; i < STORE_ACTIVITIES; i++)
		if (f->of[i].error && (found == STORE_ACTIVITIES || (f->of[i].final && !f->of[found].final)))
			found = i;
	return found;
}

bool failures_are_final(struct store_failures *f)
{
	pthread_mutex_lock(&f->lock);
	unsigned i = worst(f);
	bool final = i < STORE_ACTIVITIES && f->of[i].final;
	pthread_mutex_unlock(&f->lock);
	return final;
}

enum err failures_of_writing(struct store_failures *f, struct why *why)
{
	pthread_mutex_lock(&f->lock);
	unsigned i = worst(f);
	bool failing = i < STORE_ACTIVITIES && (i == STORE_WRITING || f->of[i].final);
	enum err e = failing ? f->of[i].error : OK;
	if (failing && why)
		*why = f->of[i].why;
	pthread_mutex_unlock(&f->lock);
	return e;
}

enum err failures_worst(struct store_failures *f, struct wall *since, bool *final, struct why *why)
{
	pthread_mutex_lock(&f->lock);
	unsigned i = worst(f);
	if (i < STORE_ACTIVITIES && since)
		*since = f->of[i].since;
	if (i < STORE_ACTIVITIES && final)
		*final = f->of[i].final;
	if (i < STORE_ACTIVITIES && why)
		*why = f->of[i].why;
	enum err e = i < STORE_ACTIVITIES ? f->of[i].error : OK;
	pthread_mutex_unlock(&f->lock);
	return e;
}
