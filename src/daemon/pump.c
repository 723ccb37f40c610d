#include "daemon/pump.h"

#include "base/map.h"

#include <stdlib.h>

/* Our own requests' tags, apart from the engine's, which count from 1. */
#define OWN_TAGS (UINT64_C(1) << 63)

enum { ANSWERS = 256 }; /* taken at a time */

/* What waits because its port is full: a queue that is emptied from its head. */
struct backlog {
	void *items;
	size_t size;
	unsigned head, n, room;
};

struct pump {
	struct pump_config config;
	struct engine *engine;
	struct effects fx;
	struct backlog stores, runners;
	struct pump_fact *fact; /* of requests under way, by the place the map gives */
	uint32_t *free_place;
	unsigned facts, free_places, fact_room, free_room;
	struct map by_tag;
	uint64_t own_tag;
	unsigned own; /* requests of others under way */
	bool starved; /* a port had no memory, the last time */
	bool broken;
};

static bool room_for(void **items, unsigned n, unsigned *room, size_t size)
{
	if (n < *room)
		return true;
	unsigned more = *room ? 2 * *room : 64;
	void *p = realloc(*items, more * size);
	if (!p)
		return false;
	*items = p;
	*room = more;
	return true;
}

static bool backlog_add(struct backlog *b, const void *item)
{
	/* A port that is never quite free would let it grow for ever. */
	if (b->head && (b->head == b->n || (b->n == b->room && b->head >= b->n / 2))) {
		b->n -= b->head;
		memmove(b->items, (char *)b->items + b->head * b->size, b->n * b->size);
		b->head = 0;
	}
	if (!room_for(&b->items, b->n, &b->room, b->size))
		return false;
	memcpy((char *)b->items + b->n++ * b->size, item, b->size);
	return true;
}

static void *backlog_first(const struct backlog *b)
{
	return b->head < b->n ? (char *)b->items + b->head * b->size : NULL;
}

enum err pump_new(const struct pump_config *c, struct pump **ret)
{
	struct pump *p = calloc(1, sizeof *p);
	if (!p)
		return E_NOMEM;
	p->config = *c;
	p->stores.size = sizeof(struct st_req);
	p->runners.size = sizeof(struct rn_req);
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
	free(p->stores.items);
	free(p->runners.items);
	free(p->fact);
	free(p->free_place);
	map_free(&p->by_tag);
	free(p);
}

const struct engine *pump_engine(const struct pump *p)
{
	return p->engine;
}

unsigned pump_under_way(const struct pump *p)
{
	return p->facts - p->free_places + p->own + (p->stores.n - p->stores.head) +
	       (p->runners.n - p->runners.head);
}

bool pump_starved(const struct pump *p)
{
	return p->starved;
}

/* --- out --- */

static bool remember(struct pump *p, const struct st_req *r)
{
	uint32_t place = p->facts;
	if (p->free_places)
		place = p->free_place[--p->free_places];
	else if (!room_for((void **)&p->fact, p->facts, &p->fact_room, sizeof *p->fact))
		return false;
	else
		p->facts++;
	p->fact[place] = (struct pump_fact){
		.op = r->op, .news = r->news, .sid = r->sid, .run = r->run, .range = r->range, .hold = r->hold
	};
	return map_put(&p->by_tag, r->tag, place);
}

static bool forget(struct pump *p, uint64_t tag, struct pump_fact *ret)
{
	uint32_t place = map_get(&p->by_tag, tag);
	if (place == MAP_NONE)
		return false;
	*ret = p->fact[place];
	map_remove(&p->by_tag, tag);
	if (!room_for((void **)&p->free_place, p->free_places, &p->free_room, sizeof *p->free_place))
		p->broken = true;
	else
		p->free_place[p->free_places++] = place;
	return true;
}

/* Both ports may be full, and say so; what was asked first goes first. */
static void drain(struct pump *p)
{
	enum err e = OK, full = OK;
	for (struct st_req *r; (r = backlog_first(&p->stores)); p->stores.head++) {
		e = p->config.ops->submit(p->config.store, r);
		if (e)
			break;
		if (r->tag >= OWN_TAGS)
			p->own++;
		else if (!remember(p, r))
			p->broken = true;
	}
	for (struct rn_req *r; (r = backlog_first(&p->runners)); p->runners.head++)
		if ((full = runner_submit(p->config.runner, r)) != OK)
			break;
	p->starved = e == E_NOMEM || full == E_NOMEM;
}

static void carry_out(struct pump *p)
{
	for (unsigned i = 0; i < p->fx.stores; i++)
		p->broken |= !backlog_add(&p->stores, &p->fx.store[i]);
	for (unsigned i = 0; i < p->fx.runners; i++)
		p->broken |= !backlog_add(&p->runners, &p->fx.runner[i]);
	drain(p);
	for (unsigned i = 0; i < p->fx.replies; i++)
		p->config.replied(p->config.ctx, &p->fx.reply[i]);
}

enum err pump_send(struct pump *p, struct st_req *r)
{
	r->tag = OWN_TAGS + ++p->own_tag;
	if (!backlog_add(&p->stores, r))
		return E_NOMEM;
	drain(p);
	return OK;
}

/* --- in --- */

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

static void load_one(void *ctx, const struct load_item *item)
{
	struct loading *l = ctx;
	engine_load(l->p->engine, item);
	if (l->also)
		l->also(l->ctx, item);
}

enum err pump_load(struct pump *p, struct now now, load_fn *also, void *ctx)
{
	struct loading l = { p, also, ctx };
	enum err e = p->config.ops->load(p->config.store, load_one, &l);
	if (e)
		return e;
	return pump_event(p, &(struct event){ .kind = EV_LOADED }, now) ? OK : E_NOMEM;
}

static bool take_ack(struct pump *p, const struct st_ack *ack, struct now now)
{
	struct pump_fact fact;
	if (ack->tag >= OWN_TAGS) {
		p->own--;
		if (p->config.answered)
			p->config.answered(p->config.ctx, ack);
		return true;
	}
	bool known = forget(p, ack->tag, &fact);
	if (!pump_event(p, &(struct event){ .kind = EV_ACK, .ack = ack }, now))
		return false;
	fact.res = ack->res;
	fact.at = ack->done.us ? ack->done : now.wall;
	if (known && p->config.happened)
		p->config.happened(p->config.ctx, &fact, ack);
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
		if (!pump_event(p, &(struct event){ .kind = EV_RUNNER, .report = &says[i] }, now))
			return false;
	return pump_event(p, &(struct event){ .kind = EV_TICK }, now);
}

bool pump_next(const struct pump *p, struct now now, struct wall *ret)
{
	bool full = backlog_first(&p->stores) || backlog_first(&p->runners);
	struct wall soon = { now.wall.us + USEC / 20 }; /* a full port is asked again */
	bool any = engine_next(p->engine, now, ret);
	if (full && (!any || ret->us > soon.us))
		*ret = soon;
	return any || full;
}
