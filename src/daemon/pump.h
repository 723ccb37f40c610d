#pragma once
/* Drives the engine: submits its requests to the store, the runner and the prepare worker, and passes their
 * answers to it. The pump decides nothing, never waits, and belongs to one thread. Requests that a full port
 * refuses are submitted again later, in their order. */
#include "base/arena.h"
#include "core/engine/engine.h"
#include "exec/runner.h"

/* A durable fact: a request that the store has answered. */
struct pump_fact {
	uint8_t op, res;
	bool news; /* if res is ST_OK: the notifier has something to do */
	uint64_t sid;
	struct wall at; /* when it became durable */
	struct run_row
		run; /* OCC, VERDICT, STARTED, FINISH: as in the request. MESSAGES, DELIVERY: only run.run */
	struct range_row range; /* RANGE */
	struct hold_row hold;   /* HOLD */
	struct {
		uint8_t act;
		bool fresh; /* this request opened it */
		uint64_t number;
	} problem; /* PROBLEM */
	struct {
		uint64_t number;
		uint8_t kind, state;
	} message; /* MESSAGES (one fact for each message), DELIVERY */
};
typedef void pump_fact_fn(void *ctx, const struct pump_fact *f, const struct st_ack *ack);

/* The store has logged events up to this number, and they are durable since `done`. */
typedef void pump_log_fn(void *ctx, uint64_t number, struct wall done);

struct prepare_worker;
struct pump_config {
	struct engine_config engine;
	void *store;
	const struct store_ops *ops;
	struct runner *runner;
	struct prepare_worker *prepare; /* answers RN_ASK where no program does; answers come as EV_RUNNER */
	void *ctx;
	/* The program of a hook has ended: the answer follows from its output, and comes as EV_RUNNER. False:
	 * no room or memory, call again later. */
	bool (*hook_ended)(void *ctx, const struct rn_report *report);
	/* The result of a run that has finished, to be recorded with its end; empty: none. Called once for
	 * each end, in the turn in which the runner has read the exit section of the attempt. */
	struct str (*result)(void *ctx, const struct run_row *run, struct arena *a);
	void (*replied)(void *ctx, const struct reply *r);
	/* The store has answered a request of pump_send. */
	void (*answered)(void *ctx, const struct st_ack *ack);
};

struct pump;
must_check enum err pump_new(const struct pump_config *c, struct pump **ret);
void pump_free(struct pump *p);
DEFINE_CLEANUP(struct pump *, pump_free)

/* Calls fn for every fact, on the pump's thread, after the engine and in the order of subscription. At most
 * PUMP_SUBSCRIBERS_MAX. */
void pump_subscribe(struct pump *p, pump_fact_fn *fn, void *ctx);
/* Calls fn whenever a request has logged events, on the pump's thread, before the facts. At most
 * PUMP_SUBSCRIBERS_MAX. */
void pump_subscribe_log(struct pump *p, pump_log_fn *fn, void *ctx);
/* Passes a fact about a request of pump_send to the subscribers. */
void pump_publish(struct pump *p, const struct pump_fact *f, const struct st_ack *ack);

/* Loads everything from the store into the engine. `also` is called with every item, too (may be NULL). */
must_check enum err pump_load(struct pump *p, struct now now, load_fn *also, void *ctx);
/* Passes on all answers, and lets the engine do what is due. False: out of memory, the engine must be loaded
 * again. */
must_check bool pump_turn(struct pump *p, struct now now);
must_check bool pump_event(struct pump *p, const struct event *ev, struct now now);
/* Submits a request that is not the engine's, in order with the engine's; sets its tag. */
must_check enum err pump_send(struct pump *p, struct st_req *r);
/* When to call pump_turn if there are no answers before; false: never. */
bool pump_next(const struct pump *p, struct now now, struct wall *ret);

const struct engine *pump_engine(const struct pump *p);
/* Whether a request waits because its port has no memory. */
bool pump_lacks_memory(const struct pump *p);
/* The number of requests to the store and the runner that have not been answered. */
unsigned pump_under_way(const struct pump *p);
