#pragma once
/* Problems: conditions that need a person. Made from durable facts and checks of the daemon's health, on the
 * daemon's thread: a problem is opened, reported again, and closed when its cause is gone. Each cause has one
 * key. Only an open problem is closed, so that the usual success of a run costs nothing.
 *
 *	schedule:7:failed	a run failed finally; until a run of the schedule succeeds, or the schedule is
 *				removed (a run that ends after that opens no problem: nothing would close it)
 *	schedule:7:paused	max_failures paused the schedule; until it is resumed or removed
 *	held:3			an agent or account is blocked; until it is released
 *	hook:7			the hook of the schedule could not answer; until it answers, or the schedule
 *				is removed
 *	hook:0			a hook of the configuration could not answer; until it answers for every
 *				schedule for which it could not (after a restart: for any)
 *	clock, store, runner	as long as it fails
 *	clock:step		the clock was set by more than a minute; until it has run evenly for an hour
 *
 * The texts of problems contain names that are read from the store. This may take a while, so the prepare
 * worker does it. */
#include "daemon/prepare/worker.h"
#include "daemon/pump.h"

struct problems_config {
	struct prepare_worker *prepare;
	struct intern *intern;
	void *ctx;
	/* Sends a request to the store; its texts are copied. Called on a thread of the prepare worker. */
	void (*send)(void *ctx, const struct st_req *r);
};

struct problems;
must_check enum err problems_new(const struct problems_config *c, struct problems **ret);
void problems_free(struct problems *p); /* after the prepare worker was closed */
/* Remembers a problem that is open in the store; ignores other items. */
void problems_load(struct problems *p, const struct load_item *item);
/* For pump_subscribe; `problems` is a struct problems. */
void problems_happened(void *problems, const struct pump_fact *f, const struct st_ack *ack);

/* A hook has answered about a run of this schedule, or could not: then `words`, whose p is NULL otherwise,
 * says why. */
void problems_hook(struct problems *p, uint64_t sid, enum rn_ask ask, struct str words);
/* Sends the changes of problems that waited for room in the prepare worker's queue. False: some of them still
 * wait. */
bool problems_flush(struct problems *p);

/* What fails now. A text is NULL if its part works. */
struct health {
	bool clock_held;
	const char *clock_step; /* how the clock was set; NULL: it was not */
	bool clock_stepped;     /* the clock was set since the last check */
	const char *store, *runner;
};
/* True: something fails that can recover without an event, so check again soon. */
bool problems_check(struct problems *p, const struct health *h);
