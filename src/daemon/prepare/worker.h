#pragma once
/* The desk: a thread that turns an attempt into something to execute. It reads the document of the version
 * the run was claimed under, and renders it: program, environment, directory, input, context, bounds. The
 * engine's thread never waits for a disk; this one may. */
#include "daemon/intern.h"
#include "daemon/prepare/render.h"
#include "exec/launch.h"
#include "port/runner.h"
#include "sys/mailbox.h"

/* One attempt on its way through the desk, or, with RUN_CHECK, the check before it. */
struct prepare_task {
	struct rn_req req;
	struct arena arena; /* of what `launch` points to */
	struct launch launch;
	struct str origin; /* what it is made of, for the record; p NULL: that goes without saying */
	uint8_t outcome;   /* not OUTCOME_NONE: it cannot be executed … */
	uint16_t reason;   /* … for this reason */
	struct why why;
	void *ctx;
	struct prepare_task *next; /* the desk's */
};
void prepare_task_free(struct prepare_task *j);

struct store;
struct prepare_options {
	struct store *store;
	struct render_place place;
	struct doc_env defaults;
	struct intern *names;
	/* Called on the desk's thread when a job is done; takes it over. */
	void (*done)(void *ctx, struct prepare_task *j);
	/* Called there with the rules of a schedule's document as it stands. Not OK: it is not understood any
	 * more, or the desk is closing. */
	void (*compiled)(void *ctx, uint64_t sid, enum err e, const struct rules *rules);
	/* Called there when the zone files have been read anew. */
	void (*zones_read)(void *ctx);
	/* Called there with the answer to a guard's question, and what is to be said of it in words: as
	 * precondition_answer has it. */
	void (*answered)(void *ctx, const struct rn_report *answer, struct str words);
	void *ctx;
};

struct prepare_worker;
must_check enum err prepare_open(const struct prepare_options *o, struct prepare_worker **ret,
				 struct why *why);
void prepare_close(struct prepare_worker *d); /* jobs that were not done are given up */
/* E_BUSY: too many at a time; E_NOMEM. */
must_check enum err prepare_put(struct prepare_worker *d, const struct rn_req *r);
/* RN_ASK: a guard's question, answered by the document of the run's version. E_BUSY, E_NOMEM: as above. */
must_check enum err prepare_ask(struct prepare_worker *d, const struct rn_req *r);
/* A job that was done, but could not be handed over for now: it is done again, later. E_BUSY, E_NOMEM: as
 * above, and it stays the caller's. */
must_check enum err prepare_again(struct prepare_worker *d, struct prepare_task *j);
/* E_IO while an attempt waits because the machine fails: a disk that cannot be read, no memory. It is tried
 * again, however long it takes. From any thread. */
must_check enum err prepare_trouble(struct prepare_worker *d, struct why *why);
/* Calls fn(arg) on the desk's thread with its reader, or without one, to let go of arg: it has closed.
 * E_BUSY, E_NOMEM as above. */
struct reader;
typedef void prepare_fn(struct reader *reader, void *arg);
must_check enum err prepare_call(struct prepare_worker *d, prepare_fn *fn, void *arg);
/* Compiles a schedule's document anew, by the zone files as they are now. E_BUSY, E_NOMEM: as above. */
must_check enum err prepare_compile(struct prepare_worker *d, uint64_t sid);
/* The zone files have changed: what is asked for from now on is read by the new ones, and names have them to
 * be taken over. E_BUSY: not now. */
must_check enum err prepare_zones_changed(struct prepare_worker *d);
