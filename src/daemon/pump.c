/* Passes the engine's requests to the ports, the answers back to it, and durable facts to subscribers. */
#include "daemon/pump.h"

#include "base/array.h"
#include "base/map.h"
#include "daemon/prepare/worker.h"

/* The tags of requests of pump_send begin here. The engine's tags begin at 1. */
#define OWN_TAGS (UINT64_C(1) << 63)

enum { ANSWERS = 256 }; /* the most answers collected at a time */

/* Requests that wait because their port is full: a queue, emptied from its head. */
struct backlog {
	void *items;
	size_t size;
	unsigned head, n, room;
};

struct subscriber {
	pump_fact_fn *fn;
	void *ctx;
};

struct pump {
	struct pump_config config;
	struct engine *engine;
	struct effects fx;
	struct backlog store, runner, questions, hook_ends;
	struct pump_fact *fact; /* one fact for each request of the engine that the store has not answered */
	uint32_t *free_fact;    /* unused places in `fact` */
	unsigned facts, free_facts, fact_room, free_room;
	struct map fact_of; /* from the tag of a request to the place of its fact in `fact` */
	struct subscriber subscriber[PUMP_SUBSCRIBERS_MAX];
	unsigned subscribers;
	struct {
		pump_log_fn *fn;
		void *ctx;
	} log_subscriber[PUMP_SUBSCRIBERS_MAX];
	unsigned log_subscribers;
	uint64_t last_own_tag;
	unsigned own; /* number of requests of pump_send that the store has not answered */
	/* The result that goes with request `result_of` at the head of `store`: it is read once, however
	 * often the store refuses the request. */
	struct str result;
	struct arena result_arena;
	uint64_t result_of; /* a tag; 0: none */
	bool lacks_memory;
	bool broken; /* out of memory: the engine's state is no longer complete */
};

static bool backlog_add(struct backlog *b, const void *item)
{
	/* If the port is always nearly full, the queue never becomes empty: then its entries are moved to the
	 * front of the array. */
	if (b->head && (b->head == b->n || (b->n == b->room && b->head >= b->n / 2))) {
		b->n -= b->head;
		memmove(b->items, (char *)b->items + b->head * b->size, b->n * b->size);
		b->head = 0;
	}
	if (!array_reserve(&b->items, &b->room, b->n + 1, b->size))
		return false;
	memcpy((char *)b->items + b->n++ * b->size, item, b->size);
	return true;
}

static void *backlog_first(const struct backlog *b)
{
	return b->head < b->n ? (char *)b->items + b->head * b->size : NULL;
}

static unsigned backlog_length(const struct backlog *b)
{
	return b->n - b->head;
}

enum err pump_new(const struct pump_config *c, struct pump **ret)
{
	struct pump *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	p->config = *c;
	p->store.size = sizeof(struct st_req);
	p->runner.size = p->questions.size = sizeof(struct rn_req);
	p->hook_ends.size = sizeof(struct rn_report);
	enum err e = engine_new(&c->engine, &p->engine);
	if (e) {
		free(p);
		return e;
	}
	*ret = p;
	return OK;
}

void pump_free(struct pump *p)
{
	if (!p)
		return;
	engine_free(p->engine);
	effects_free(&p->fx);
	free(p->store.items);
	free(p->runner.items);
	free(p->questions.items);
	free(p->hook_ends.items);
	free(p->fact);
	free(p->free_fact);
	map_free(&p->fact_of);
	arena_free(&p->result_arena);
	free(p);
}

const struct engine *pump_engine(const struct pump *p)
{
	return p->engine;
}

unsigned pump_under_way(const struct pump *p)
{
	return p->facts - p->free_facts + p->own + backlog_length(&p->store) + backlog_length(&p->runner) +
	       backlog_length(&p->questions) + backlog_length(&p->hook_ends);
}

bool pump_lacks_memory(const struct pump *p)
{
	return p->lacks_memory;
}

/* --- facts --- */

void pump_subscribe(struct pump *p, pump_fact_fn *fn, void *ctx)
{
	assert(p->subscribers < PUMP_SUBSCRIBERS_MAX);
	p->subscriber[p->subscribers++] = (struct subscriber){ fn, ctx };
}

void pump_subscribe_log(struct pump *p, pump_log_fn *fn, void *ctx)
{
	assert(p->log_subscribers < PUMP_SUBSCRIBERS_MAX);
	p->log_subscriber[p->log_subscribers].fn = fn;
	p->log_subscriber[p->log_subscribers++].ctx = ctx;
}

void pump_publish(struct pump *p, const struct pump_fact *f, const struct st_ack *ack)
{
	for (unsigned i = 0; i < p->subscribers; i++)
		p->subscriber[i].fn(p->subscriber[i].ctx, f, ack);
}

static bool keep_fact(struct pump *p, const struct st_req *r)
{
	uint32_t place = p->facts;
	if (p->free_facts)
		place = p->free_fact[--p->free_facts];
	else if (!ARRAY_ADD_ROOM(p->fact, p->fact_room, p->facts))
		return false;
	else
		p->facts++;
	p->fact[place] = (struct pump_fact){
		.op = r->op, .news = r->news, .sid = r->sid, .run = r->run, .range = r->range, .hold = r->hold
	};
	return map_put(&p->fact_of, r->tag, place);
}

static bool take_fact(struct pump *p, uint64_t tag, struct pump_fact *ret)
{
	uint32_t place = map_get(&p->fact_of, tag);
	if (place == MAP_NONE)
		return false;
	*ret = p->fact[place];
	map_remove(&p->fact_of, tag);
	if (!ARRAY_ADD_ROOM(p->free_fact, p->free_room, p->free_facts))
		p->broken = true;
	else
		p->free_fact[p->free_facts++] = place;
	return true;
}

/* --- requests --- */

static enum err submit_end(struct pump *p, const struct st_req *r)
{
	struct st_req with = *r;
	if (p->result_of != r->tag)
		p->result = p->config.result(p->config.ctx, &r->run, &p->result_arena);
	p->result_of = r->tag;
	with.result = p->result;
	enum err e = p->config.ops->submit(p->config.store, &with);
	if (e)
		return e;
	/* The store has copied it. */
	arena_free(&p->result_arena);
	p->result_of = 0;
	return OK;
}

static enum err submit_to_store(struct pump *p, const struct st_req *r)
{
	bool has_result = r->op == ST_FINISH && r->run.state == RUN_FINISHED && r->run.attempt;
	enum err e = has_result ? submit_end(p, r) : p->config.ops->submit(p->config.store, r);
	if (e)
		return e;
	if (r->tag >= OWN_TAGS)
		p->own++;
	else if (!keep_fact(p, r))
		p->broken = true;
	return OK;
}

static void submit_backlogs(struct pump *p)
{
	enum err store = OK, runner = OK, question = OK;
	for (struct st_req *r; !store && (r = backlog_first(&p->store)); p->store.head += !store)
		store = submit_to_store(p, r);
	for (struct rn_req *r; !runner && (r = backlog_first(&p->runner)); p->runner.head += !runner)
		runner = runner_submit(p->config.runner, r);
	for (struct rn_req *r; !question && (r = backlog_first(&p->questions));
	     p->questions.head += !question)
		question = prepare_answer(p->config.prepare, r);
	for (struct rn_report *r;
	     (r = backlog_first(&p->hook_ends)) && p->config.hook_ended(p->config.ctx, r);)
		p->hook_ends.head++;
	p->lacks_memory = store == E_NOMEM || runner == E_NOMEM || question == E_NOMEM;
}

static bool is_hook(unsigned ask)
{
	return ask == ASK_CONFIG_HOOK || ask == ASK_HOOK || ask == ASK_CREATE_HOOK;
}

/* Whether the prepare worker answers the request. Checks and hooks are programs, which the runner executes.
 */
static bool is_question(const struct rn_req *r)
{
	return r->op == RN_ASK && r->ask != ASK_CHECK && !is_hook(r->ask);
}

static void carry_out(struct pump *p)
{
	for (unsigned i = 0; i < p->fx.stores; i++)
		p->broken |= !backlog_add(&p->store, &p->fx.store[i]);
	for (unsigned i = 0; i < p->fx.runners; i++) {
		const struct rn_req *r = &p->fx.runner[i];
		p->broken |= !backlog_add(is_question(r) ? &p->questions : &p->runner, r);
	}
	submit_backlogs(p);
	for (unsigned i = 0; i < p->fx.replies; i++)
		p->config.replied(p->config.ctx, &p->fx.reply[i]);
}

enum err pump_send(struct pump *p, struct st_req *r)
{
	r->tag = OWN_TAGS + ++p->last_own_tag;
	if (!backlog_add(&p->store, r))
		return E_NOMEM;
	submit_backlogs(p);
	return OK;
}

/* --- answers --- */

bool pump_event(struct pump *p, const struct event *ev, struct now now)
{
	effects_clear(&p->fx);
	engine_step(p->engine, ev, now, &p->fx);
	carry_out(p);
	return !(p->broken |= p->fx.failed);
}

struct loading {
	struct pump *p;
	load_fn *also;
	void *ctx;
};

static void load_item(void *ctx, const struct load_item *item)
{
	struct loading *l = ctx;
	engine_load(l->p->engine, item);
	if (l->also)
		l->also(l->ctx, item);
}

enum err pump_load(struct pump *p, struct now now, load_fn *also, void *ctx)
{
	struct loading l = { p, also, ctx };
	enum err e = p->config.ops->load(p->config.store, load_item, &l);
	if (e)
		return e;
	return pump_event(p, &(struct event){ .kind = EV_LOADED }, now) ? OK : E_NOMEM;
}

static bool take_ack(struct pump *p, const struct st_ack *ack, struct now now)
{
	struct pump_fact fact;
	for (unsigned i = 0; ack->event && i < p->log_subscribers; i++)
		p->log_subscriber[i].fn(p->log_subscriber[i].ctx, ack->event, ack->done);
	if (ack->tag >= OWN_TAGS) {
		p->own--;
		p->config.answered(p->config.ctx, ack);
		return true;
	}
	bool known = take_fact(p, ack->tag, &fact);
	if (!pump_event(p, &(struct event){ .kind = EV_ACK, .ack = ack }, now))
		return false;
	fact.res = ack->res;
	fact.at = ack->done.us ? ack->done : now.wall;
	if (known)
		pump_publish(p, &fact, ack);
	return true;
}

bool pump_turn(struct pump *p, struct now now)
{
	static _Thread_local struct st_ack ack[ANSWERS];
	static _Thread_local struct rn_report says[ANSWERS];
	unsigned n = p->config.ops->collect(p->config.store, ack, ANSWERS);
	for (unsigned i = 0; i < n; i++)
		if (!take_ack(p, &ack[i], now))
			return false;
	n = runner_collect(p->config.runner, says, ANSWERS);
	for (unsigned i = 0; i < n; i++)
		if (says[i].kind == RN_ANSWER && is_hook(says[i].ask))
			p->broken |= !backlog_add(&p->hook_ends, &says[i]);
		else if (!pump_event(p, &(struct event){ .kind = EV_RUNNER, .report = &says[i] }, now))
			return false;
	return pump_event(p, &(struct event){ .kind = EV_TICK }, now);
}

bool pump_next(const struct pump *p, struct now now, struct wall *ret)
{
	bool full = backlog_first(&p->store) || backlog_first(&p->runner) || backlog_first(&p->questions) ||
		    backlog_first(&p->hook_ends);
	struct wall soon = { now.wall.us + USEC / 20 }; /* when a full port is tried again */
	bool any = engine_next(p->engine, now, ret);
	if (full && (!any || ret->us > soon.us))
		*ret = soon;
	return any || full;
}
