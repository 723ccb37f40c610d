#pragma once
/* Drives the engine: carries out what it asks of the store and the runner, and brings it what they answer. It
 * decides nothing and waits for nothing; one thread. A port that is full is asked again later, in order. */
#include "core/engine/engine.h"
#include "exec/runner.h"

/* A request that was carried out, as far as anybody wants to know. */
struct pump_fact {
	uint8_t op, res;
	bool news; /* if it was carried out: somebody wants to be told */
	uint64_t sid;
	struct wall at;         /* when it was durable */
	struct run_row run;     /* OCC, VERDICT, STARTED, FINISH: as asked for */
	struct range_row range; /* RANGE */
	struct hold_row hold;   /* HOLD */
	struct {
		uint8_t act;
		bool fresh; /* it was opened by this */
		uint64_t number;
	} problem; /* PROBLEM */
	struct {
		uint64_t number;
		uint8_t kind, state;
	} notice; /* TELL, for each of them; TRIED */
};

struct pump_config {
	struct engine_config engine;
	void *store;
	const struct store_ops *ops;
	struct runner *runner;
	void *ctx;
	void (*replied)(void *ctx, const struct reply *r);
	/* Told after the engine, and only of what is durable. May be NULL. */
	void (*happened)(void *ctx, const struct pump_fact *f, const struct st_ack *ack);
	/* A request of our own was answered. May be NULL. */
	void (*answered)(void *ctx, const struct st_ack *ack);
};

struct pump;
must_check enum err pump_new(const struct pump_config *c, struct pump **ret);
void pump_free(struct pump *p);
DEFINE_CLEANUP(struct pump *, pump_free)

/* Reads everything the store has, and lets the engine take it up. `also` hears every item as well (may be
 * NULL). */
must_check enum err pump_load(struct pump *p, struct now now, load_fn *also, void *ctx);
/* Brings what has been answered, and what is due. False: out of memory, the engine must be loaded anew. */
must_check bool pump_turn(struct pump *p, struct now now);
must_check bool pump_event(struct pump *p, const struct event *ev, struct now now);
/* Sends a request of somebody else's along with the engine's, in its order; its tag is given here. */
must_check enum err pump_send(struct pump *p, struct st_req *r);
/* When to turn again if nothing is heard before; false: never. */
bool pump_next(const struct pump *p, struct now now, struct wall *ret);

const struct engine *pump_engine(const struct pump *p);
/* Something waits because there is no memory to hand it over. */
bool pump_starved(const struct pump *p);
/* Requests and starts that have not been answered. */
unsigned pump_under_way(const struct pump *p);
