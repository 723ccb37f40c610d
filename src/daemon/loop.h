#pragma once
/* The engine's thread: one loop over the timer, the store's answers, the runner's words, other threads' mail,
 * and signals. It waits in one place only, and never for a disk. */
#include "daemon/pump.h"
#include "sys/mailbox.h"

struct loop_config {
	struct pump *pump;
	int store_fd;
	struct runner *runner;
	struct mailbox *mail;
	const char *launcher; /* the program, started again when it has died */
	void *ctx;
	void (*zones_changed)(void *ctx); /* the zone files did */
	/* At the end of every turn: what is not the engine's business. In how many microseconds it wants
	 * another turn at the latest; 0: whenever there is one. */
	int64_t (*turned)(void *ctx, struct now now);
	/* SIGTERM or SIGINT was heard: loop_stop is to be called when all is in order. Who takes too long, or
	 * hears a second signal, is stopped anyway. */
	void (*stopping)(void *ctx);
};

struct loop;
must_check enum err loop_new(const struct loop_config *c, struct loop **ret, struct why *why);
void loop_free(struct loop *l);
/* Until SIGTERM or SIGINT, which must be blocked in all threads, or loop_stop. E_NOMEM: the engine must be
 * loaded anew. Tells systemd that it is ready and alive, if it wants to know. */
must_check enum err loop_run(struct loop *l, struct why *why);
/* Ends it: what is not done is taken up by the next daemon. */
void loop_out_of_memory(struct loop *l);
void loop_stop(struct loop *l); /* the loop's own thread */
/* The engine gets an event. The loop's own thread, outside of the engine's callbacks. */
void loop_event(struct loop *l, const struct event *ev);
struct now loop_now(void);
