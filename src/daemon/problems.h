#pragma once
/* What needs a person. Facts and looks at the daemon's health come in on the daemon's thread; from them
 * problems are opened, said again, and closed when their cause is gone: one key per cause. Only what is open
 * is ever closed, so that a run that succeeds as usual costs nothing.
 *
 *	schedule:7:failed	attempts are used up; until a run of it succeeds, or it is removed. How a run
 *				ends that outlived its schedule is nobody's problem: nothing would close it
 *	schedule:7:paused	max_failures paused it; until it goes on, or it is removed
 *	held:3			an agent or an account is blocked; until it is free
 *	clock, store, runner	as long as it lasts
 *	clock:step		somebody set the clock by more than a minute; until it has run evenly for an
 *hour
 *
 * What they are called is read from the store, which may take its time: that is done at the desk. */
#include "daemon/prepare/worker.h"
#include "daemon/pump.h"

struct problems_config {
	struct prepare_worker *prepare;
	struct intern *intern;
	void *ctx;
	/* Sends the request to the store; texts are copied. Any thread. */
	void (*send)(void *ctx, const struct st_req *r);
};

struct problems;
must_check enum err problems_new(const struct problems_config *c, struct problems **ret);
void problems_free(struct problems *p); /* after the desk was closed */
/* What the store has: problems that are open. Other items are nothing to it. */
void problems_load(struct problems *p, const struct load_item *item);
void problems_happened(void *problems, const struct pump_fact *f, const struct st_ack *ack);

/* Says what the desk had no room for, as far as it has some now. False: some of it waits still. */
bool problems_flush(struct problems *p);

/* What is wrong now; a text that is NULL: nothing. True: look again soon. */
struct health {
	bool clock_held;
	const char *clock_step; /* how the clock was set of late … */
	bool clock_stepped;     /* … since the last look */
	const char *store, *runner;
};
bool problems_check(struct problems *p, const struct health *h);
