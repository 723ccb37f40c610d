/* The gate: limits of slots in all, per agent and per concurrency key. Ready runs are in one queue. A run
 * whose agent or key is fully used is parked in the queue of that resource, and returns to the front of the
 * ready queue when the resource has room. So a free slot finds its next run in constant time, however many
 * runs wait for something else. */
#include "core/engine/state.h"

/* Inserts the run by its turn. `front`: it belongs near the front, so the search begins there. */
static void enqueue(struct engine *e, struct run_queue *q, struct run *r, bool front)
{
	uint32_t i = run_index(e, r), *first = &q->at[r->level].first, *last = &q->at[r->level].last;
	uint32_t next = front ? *first : NONE, prev = front ? NONE : *last;
	while (front && next != NONE && e->run[next].turn < r->turn)
		prev = next, next = e->run[next].queue_next;
	while (!front && prev != NONE && e->run[prev].turn > r->turn)
		next = prev, prev = e->run[prev].queue_prev;
	r->queue = q;
	r->queue_prev = prev;
	r->queue_next = next;
	*(prev == NONE ? first : &e->run[prev].queue_next) = i;
	*(next == NONE ? last : &e->run[next].queue_prev) = i;
	q->n++;
}

static void dequeue(struct engine *e, struct run *r)
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
	r->turn = ++e->last_turn;
	enqueue(e, &e->ready, r, false);
}

static struct resource *agent_of(struct engine *e, const struct run *r)
{
	return engine_resource(e, r->agent);
}

static struct resource *key_of(struct engine *e, const struct run *r)
{
	return engine_resource(e, r->key);
}

/* The resource that has no room for the run; NULL: none. */
static struct resource *full_resource(struct engine *e, const struct run *r)
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
	r->slot_elsewhere = r->phase == PHASE_ELSEWHERE;
	e->slots_used += !r->slot_elsewhere;
	if (agent)
		agent->used++;
	if (key)
		key->used++;
}

/* Lets the first run that is parked for the resource try again. */
static void unpark(struct engine *e, struct resource *res, uint32_t limit)
{
	struct run *r = res && res->used < limit ? first_of(e, &res->parked) : NULL;
	if (!r)
		return;
	dequeue(e, r);
	enqueue(e, &e->ready, r, true);
}

/* The run does not use its agent and key (any more): runs that are parked for them may try. */
static void unpark_for(struct engine *e, const struct run *r)
{
	unpark(e, agent_of(e, r), r->agent_slots);
	unpark(e, key_of(e, r), 1);
}

void gate_dequeue(struct engine *e, struct run *r)
{
	bool was_next = r->queue == &e->ready;
	dequeue(e, r);
	if (was_next)
		unpark_for(e, r);
}

void gate_release_slot(struct engine *e, struct run *r)
{
	struct resource *agent = agent_of(e, r), *key = key_of(e, r);
	if (!r->has_slot)
		return;
	r->has_slot = false;
	e->slots_used -= !r->slot_elsewhere;
	if (agent)
		agent->used--;
	if (key)
		key->used--;
	unpark_for(e, r);
}

/* The hold on its agent or account that is in force; NULL: none. */
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
		struct resource *full = full_resource(e, r);
		const struct hold_row *hold = hold_of(e, r);
		dequeue(e, r);
		if (full && !hold)
			enqueue(e, &full->parked, r, false);
		if (full || hold)
			unpark_for(e, r);
		if (hold)
			runs_hold(e, r, hold);
		if (full || hold)
			continue;
		gate_claim_slot(e, r);
		runs_start(e, r);
	}
}
