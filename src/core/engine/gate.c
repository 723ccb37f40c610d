/* The gate: slots in all, per agent, per concurrency key. Who is ready stands in one queue; who is ready but
 * for his agent or key is parked there, and comes back to the front when it is free. So a freed slot is found
 * its next run at once, however many wait for something else. */
#include "core/engine/state.h"

static void join(struct engine *e, struct run_queue *q, struct run *r, bool front)
{
	uint32_t i = run_index(e, r), *first = &q->at[r->level].first, *last = &q->at[r->level].last;
	r->queue = q;
	r->queue_prev = front ? NONE : *last;
	r->queue_next = front ? *first : NONE;
	*(r->queue_prev == NONE ? first : &e->run[r->queue_prev].queue_next) = i;
	*(r->queue_next == NONE ? last : &e->run[r->queue_next].queue_prev) = i;
	q->n++;
}

static void leave(struct engine *e, struct run *r)
{
	struct run_queue *q = r->queue;
	if (!q)
		return;
	unsigned level = r->level;
	*(r->queue_prev == NONE ? &q->at[level].first : &e->run[r->queue_prev].queue_next) = r->queue_next;
	*(r->queue_next == NONE ? &q->at[level].last : &e->run[r->queue_next].queue_prev) = r->queue_prev;
	r->queue = NULL;
	r->queue_prev = r->queue_next = NONE;
	q->n--;
}

static struct run *first_of(struct engine *e, const struct run_queue *q)
{
	for (unsigned level = 0; q->n && level < ARRAY_LEN(q->at); level++)
		if (q->at[level].first != NONE)
			return &e->run[q->at[level].first];
	return NULL;
}

void gate_enqueue(struct engine *e, struct run *r)
{
	r->phase = PHASE_QUEUED;
	join(e, &e->ready, r, false);
}

static struct resource *agent_of(struct engine *e, const struct run *r)
{
	return engine_resource(e, r->agent);
}

static struct resource *key_of(struct engine *e, const struct run *r)
{
	return engine_resource(e, r->key);
}

/* What keeps it from running, if anything. */
static struct resource *obstacle(struct engine *e, const struct run *r)
{
	struct resource *agent = agent_of(e, r), *key = key_of(e, r);
	if (agent && agent->used >= r->agent_slots)
		return agent;
	return key && key->used >= 1 ? key : NULL;
}

void gate_claim_slot(struct engine *e, struct run *r)
{
	struct resource *agent = agent_of(e, r), *key = key_of(e, r);
	if (r->has_slot)
		return;
	r->has_slot = true;
	e->slots_used++;
	if (agent)
		agent->used++;
	if (key)
		key->used++;
}

static void unpark(struct engine *e, struct resource *res, uint32_t limit)
{
	struct run *r = res && res->used < limit ? first_of(e, &res->parked) : NULL;
	if (!r)
		return;
	leave(e, r);
	join(e, &e->ready, r, true);
}

/* Its agent and key are not taken, or not any more: whoever waits for them may try. */
static void pass_on(struct engine *e, const struct run *r)
{
	unpark(e, agent_of(e, r), r->agent_slots);
	unpark(e, key_of(e, r), 1);
}

void gate_dequeue(struct engine *e, struct run *r)
{
	bool was_next = r->queue == &e->ready;
	leave(e, r);
	if (was_next)
		pass_on(e, r);
}

void gate_release_slot(struct engine *e, struct run *r)
{
	struct resource *agent = agent_of(e, r), *key = key_of(e, r);
	if (!r->has_slot)
		return;
	r->has_slot = false;
	e->slots_used--;
	if (agent)
		agent->used--;
	if (key)
		key->used--;
	pass_on(e, r);
}

/* A hold on its agent or account that is still in force. */
static const struct hold_row *hold_of(struct engine *e, const struct run *r)
{
	const struct policy *p = policy_of(&e->sched[r->sched]);
	const struct resource *both[] = { engine_resource(e, p->agent), engine_resource(e, p->account) };
	for (unsigned i = 0; i < ARRAY_LEN(both); i++)
		if (both[i] && both[i]->held && both[i]->hold.until.us > e->now.wall.us)
			return &both[i]->hold;
	return NULL;
}

void gate_start_ready(struct engine *e)
{
	while (e->slots_used < e->config.slots && e->launches < LAUNCHES_MAX) {
		struct run *r = first_of(e, &e->ready);
		if (!r)
			return;
		struct resource *wall = obstacle(e, r);
		const struct hold_row *hold = hold_of(e, r);
		leave(e, r);
		if (wall && !hold)
			join(e, &wall->parked, r, false);
		if (wall || hold)
			pass_on(e, r);
		if (hold)
			runs_hold(e, r, hold);
		if (wall || hold)
			continue;
		gate_claim_slot(e, r);
		runs_start(e, r);
	}
}
