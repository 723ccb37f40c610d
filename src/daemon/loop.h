#pragma once
/* The daemon's thread: one event loop over the timer, the answers of the store and the runner, the mail of
 * other threads, and requests to stop. It waits in the event loop only, and never for a disk. */
#include "daemon/pump.h"
#include "sys/mailbox.h"

struct loop_config {
	struct pump *pump;
	int store_fd; /* readable when the store has answers */
	int stop_fd;  /* an eventfd that counts requests to stop (daemon/stop_signal.h) */
	struct runner *runner;
	struct mailbox *mail;
	const char *launcher; /* path of the launcher program, which is started again when it has died */
	void *ctx;
	void (*zones_changed)(void *ctx); /* called when zone files on disk have changed */
	/* Called at the end of every turn. Returns the number of microseconds after which another turn is
	 * needed, even if nothing happens before; 0: no turn is needed until something happens. */
	int64_t (*after_turn)(void *ctx, struct now now);
	/* Called when the loop is asked to stop. The callee arranges for loop_stop to be called. After
	 * DAEMON_STOP_MS, or when it is asked again, the loop stops by itself. */
	void (*stopping)(void *ctx);
};

struct loop;
must_check enum err loop_new(const struct loop_config *c, struct loop **ret, struct why *why);
void loop_free(struct loop *l);
/* Runs until it is asked to stop, or loop_stop. E_NOMEM: the engine must be loaded again, by another process.
 * If systemd started the daemon, notifies it that the daemon is ready and alive. */
must_check enum err loop_run(struct loop *l, struct why *why);

/* --- on the loop's thread --- */

void loop_stop(struct loop *l);
/* Ends loop_run with E_NOMEM: the next daemon continues from what the store has. */
void loop_out_of_memory(struct loop *l);
/* Passes an event to the engine. Must not be called within a callback of the engine. */
void loop_event(struct loop *l, const struct event *ev);

struct now loop_now(void);
