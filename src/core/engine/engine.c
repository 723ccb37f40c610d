/* The engine's entry points: memory, load, step, and counts for people and tests. The decisions are in the
 * other files of this folder. */
#include "core/engine/engine.h"
#include "base/array.h"
#include "base/hash.h"
#include "core/engine/state.h"

#include <stdlib.h>

/* --- effects --- */

void effects_clear(struct effects *fx)
{
	fx->stores = fx->runners = fx->replies = 0;
}

void effects_free(struct effects *fx)
{
	free(fx->store);
	free(fx->runner);
	free(fx->reply);
	*fx = (struct effects){ 0 };
}

void engine_submit_runner(struct engine *e, const struct rn_req *r)
{
	struct effects *fx = e->fx;
	if (!ARRAY_ADD_ROOM(fx->runner, fx->runner_room, fx->runners))
		fx->failed = e->broken = true;
	else
		fx->runner[fx->runners++] = *r;
}

void engine_reply(struct engine *e, struct reply reply)
{
	struct effects *fx = e->fx;
	if (!reply.tag)
		return;
	if (!ARRAY_ADD_ROOM(fx->reply, fx->reply_room, fx->replies))
		fx->failed = e->broken = true;
	else
		fx->reply[fx->replies++] = reply;
}

void engine_reply_code(struct engine *e, uint64_t tag, enum reply_code code, uint64_t sid, uint64_t run)
{
	/* What is not known here may be in a part that another engine owns. */
	if (code == REPLY_NOT_FOUND && e->part_lost)
		code = REPLY_BUSY;
	engine_reply(e, (struct reply){ .tag = tag, .code = (uint8_t)code, .sid = sid, .run = run });
}

void engine_submit_store(struct engine *e, struct st_req *r, enum request_purpose what, uint64_t run,
			 uint64_t command, const struct sched *s)
{
	struct effects *fx = e->fx;
	uint32_t i = e->pending_free;
	if (i != NONE)
		e->pending_free = (uint32_t)e->pending[i].sid;
	else if (ARRAY_ADD_ROOM(e->pending, e->pending_room, e->pendings))
		i = e->pendings++;
	r->tag = ++e->last_tag;
	if (OWNER_OPS >> r->op & 1) {
		r->part = s ? s->row.part : r->part;
		r->epoch = e->part[r->part].epoch;
		assert(e->part[r->part].owned);
	}
	if (i == NONE || !map_put(&e->pending_by_tag, r->tag, i) ||
	    !ARRAY_ADD_ROOM(fx->store, fx->store_room, fx->stores)) {
		fx->failed = e->broken = true;
		return;
	}
	e->pending[i] = (struct pending){ .sid = r->sid,
					  .run = run,
					  .command = command,
					  .sched = s ? sched_index(e, s) : NONE,
					  .part = r->part,
					  .op = r->op,
					  .purpose = (uint8_t)what,
					  .closes_range = r->close_range,
					  .hold = r->hold,
					  .kind = r->op == ST_NUMBERS ? r->numbers.kind : r->run.kind,
					  .state = r->run.state,
					  .reason = r->range.reason,
					  .outcome = r->run.outcome,
					  .ended = r->run.ended,
					  .since = e->now.boot };
	e->claims += r->op == ST_OCC || r->op == ST_RANGE || r->op == ST_WITHDRAW;
	e->under_way++;
	fx->store[fx->stores++] = *r;
}

/* --- memory --- */

struct sched *engine_sched(struct engine *e, uint64_t sid)
{
	uint32_t i = map_get(&e->sched_by_sid, sid);
	return i == MAP_NONE ? NULL : &e->sched[i];
}

struct sched *engine_pending_sched(struct engine *e, const struct pending *pending)
{
	if (pending->sched < e->scheds && e->sched[pending->sched].in_use &&
	    e->sched[pending->sched].row.sid == pending->sid)
		return &e->sched[pending->sched];
	return engine_sched(e, pending->sid);
}

struct run *engine_run(struct engine *e, uint64_t run)
{
	uint32_t i = map_get(&e->run_by_id, run);
	return i == MAP_NONE ? NULL : &e->run[i];
}

struct resource *engine_resource(struct engine *e, uint32_t key)
{
	if (!key)
		return NULL;
	uint32_t i = map_get(&e->resource_by_key, key);
	if (i != MAP_NONE)
		return e->resource[i];
	struct resource *r = calloc(1, sizeof *r);
	if (!r || !ARRAY_ADD_ROOM(e->resource, e->resource_room, e->resources) ||
	    !map_put(&e->resource_by_key, key, e->resources)) {
		free(r);
		e->broken = true;
		return NULL;
	}
	r->key = key;
	memset(r->parked.at, 0xFF, sizeof r->parked.at);
	e->resource[e->resources++] = r;
	return r;
}

static void set_outdated(struct engine *e, struct sched *s, bool outdated)
{
	e->outdated += (uint32_t)outdated - (uint32_t)s->outdated;
	s->outdated = outdated;
}

void engine_set_removed(struct engine *e, struct sched *s)
{
	s->removed = true;
	set_outdated(e, s, false); /* its rules are not used any more */
}

bool engine_times_valid(const struct engine *e, const struct sched *s)
{
	const struct rules *rules = rules_of(s);
	return rules->version == RULES_VERSION && rules->policy.zone < e->config.zone_count &&
	       rules->zone_print == zone_fingerprint(s->zone) &&
	       rules->policy.calendar < e->config.calendar_count;
}

/* Whether the schedule names its zone, or has that of the configuration. */
static bool zone_in_force(const struct engine *e, const struct policy *p)
{
	return !p->default_zone || p->zone == (e->config.default_zone ? *e->config.default_zone : 0);
}

/* The fingerprint of the agent's present definition; 0: none. */
static uint64_t agent_print(const struct engine *e, const struct policy *p)
{
	if (p->agent_choice == AGENT_CHOICE_DEFAULT)
		return e->config.default_agent ? *e->config.default_agent : 0;
	return p->agent_choice == AGENT_CHOICE_NAMED && p->agent < e->config.agent_count
		       ? e->config.agents[p->agent]
		       : 0;
}

/* Whether every number in the rules belongs to a name. To be called if engine_times_valid. */
static bool names_are_known(const struct engine *e, const struct rules *r)
{
	const struct engine_config *c = &e->config;
	const uint32_t names[] = { r->policy.agent, r->policy.account, r->policy.key };
	bool known =
		!c->known_zones || (c->known_zones[r->policy.zone] && r->active.zone < c->zone_count &&
				    c->known_zones[r->active.zone] && c->known_calendars[r->policy.calendar]);
	for (unsigned i = 0; c->known_names && i < ARRAY_LEN(names); i++)
		known &= names[i] < c->agent_count && c->known_names[names[i]];
	return known;
}

/* Looks up the zone, and finds out whether the rules are still valid for it and for the agent. */
static void validate_rules(struct engine *e, struct sched *s)
{
	const struct rules *rules = rules_of(s);
	if (!rules_are_valid(rules)) /* of another version, or changed by another program */
		memset(s->row.rules, 0, sizeof s->row.rules);
	bool known = rules->policy.zone < e->config.zone_count;
	s->zone = e->config.zones[known ? rules->policy.zone : 0];
	bool holds = engine_times_valid(e, s) && names_are_known(e, rules) &&
		     zone_in_force(e, &rules->policy) && rules->agent_print == agent_print(e, &rules->policy);
	set_outdated(e, s, !holds && !s->removed);
}

/* Visits every schedule, which is affordable because definitions change rarely. */
static void agents_changed(struct engine *e, uint32_t key)
{
	for (uint32_t i = 0; i < e->scheds; i++) {
		struct sched *s = &e->sched[i];
		const struct policy *p = policy_of(s);
		bool affected = p->agent_choice == AGENT_CHOICE_DEFAULT ||
				(p->agent_choice == AGENT_CHOICE_NAMED && p->agent == key);
		if (!s->in_use || !affected)
			continue;
		validate_rules(e, s);
		due_enqueue(e, s);
	}
}

/* No time at or before pruned_to is claimed, even if the clock has stepped back to before pruned_to. */
static struct wall first_try(const struct sched *s)
{
	bool pruned = !s->row.after && !s->outdated && s->row.next.us <= s->row.pruned_to.us;
	return pruned ? due_next(s, s->row.pruned_to) : s->row.next;
}

void engine_set_row(struct engine *e, struct sched *s, const struct sched_row *row)
{
	bool new_leader = s->row.after != row->after;
	if (new_leader) {
		follow_drop_all(e, s); /* drops the ends of the old leader */
		follow_unlink(e, s);
	}
	/* Rules change only with the rev. Not copying them spares their cache lines, which matters with a
	 * million schedules. */
	if (row->rev == s->row.rev) {
		memcpy(&s->row, row, offsetof(struct sched_row, rules));
	} else {
		s->row = *row;
		validate_rules(e, s);
	}
	if (new_leader)
		follow_link(e, s);
	s->next_try = first_try(s);
}

struct sched *engine_add_sched(struct engine *e, const struct sched_row *row)
{
	uint32_t i = e->sched_free;
	if (i != NONE)
		e->sched_free = e->sched[i].first_run;
	else if (ARRAY_ADD_ROOM(e->sched, e->sched_room, e->scheds))
		i = e->scheds++;
	if (i == NONE || !heap_reserve(&e->due, e->scheds) || !map_put(&e->sched_by_sid, row->sid, i)) {
		e->broken = true;
		return NULL;
	}
	struct sched *s = &e->sched[i];
	*s = (struct sched){
		.first_run = NONE, .next_follower = NONE, .first_end = NONE, .last_end = NONE, .in_use = true
	};
	engine_set_row(e, s, row);
	return s;
}

struct run *engine_add_run(struct engine *e, const struct run_row *row, uint32_t sched)
{
	uint32_t i = e->run_free;
	if (i != NONE)
		e->run_free = e->run[i].sibling;
	else if (ARRAY_ADD_ROOM(e->run, e->run_room, e->runs))
		i = e->runs++;
	if (i == NONE || !heap_reserve(&e->run_timer, e->runs) || !map_put(&e->run_by_id, row->run, i)) {
		e->broken = true;
		return NULL;
	}
	struct run *r = &e->run[i];
	*r = (struct run){
		.row = *row, .sched = sched, .sibling = NONE, .queue_prev = NONE, .queue_next = NONE
	};
	const struct policy *p = policy_of(&e->sched[sched]);
	int priority = (int)p->priority;
	priority = priority > PRIORITY_MAX    ? PRIORITY_MAX
		   : priority < -PRIORITY_MAX ? -PRIORITY_MAX
					      : priority;
	r->agent = p->agent;
	r->key = p->key;
	r->agent_slots = p->agent_slots ? p->agent_slots : 1;
	r->level = (uint8_t)(PRIORITY_MAX - priority);
	/* Oldest first, since a run in PHASE_BEHIND waits for older ones. */
	uint32_t *at = &e->sched[sched].first_run;
	while (*at != NONE)
		at = &e->run[*at].sibling;
	*at = i;
	return r;
}

void engine_remove_run(struct engine *e, struct run *r)
{
	uint32_t i = run_index(e, r);
	gate_dequeue(e, r);
	heap_remove(&e->run_timer, i);
	map_remove(&e->run_by_id, r->row.run);
	uint32_t *at = &e->sched[r->sched].first_run;
	while (*at != i)
		at = &e->run[*at].sibling;
	*at = r->sibling;
	r->row.run = 0;
	r->sibling = e->run_free;
	e->run_free = i;
}

void engine_remove_sched(struct engine *e, struct sched *s)
{
	uint32_t i = sched_index(e, s);
	assert(s->first_run == NONE);
	follow_unlink(e, s);
	follow_drop_all(e, s);
	due_dequeue(e, s);
	map_remove(&e->sched_by_sid, s->row.sid);
	set_outdated(e, s, false);
	*s = (struct sched){ .first_run = e->sched_free };
	e->sched_free = i;
}

enum err engine_new(const struct engine_config *config, struct engine **ret)
{
	struct engine *e = calloc(1, sizeof *e);
	if (!e)
		return E_NOMEM;
	e->config = *config;
	e->documents_first = config->documents_first;
	e->sched_free = e->run_free = e->pending_free = e->end_free = e->leader_free = e->rewind = NONE;
	memset(e->ready.at, 0xFF, sizeof e->ready.at);
	*ret = e;
	return OK;
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->resources; i++)
		free(e->resource[i]);
	struct map *maps[] = { &e->sched_by_sid, &e->run_by_id, &e->resource_by_key, &e->pending_by_tag,
			       &e->leader_by_sid };
	for (size_t i = 0; i < ARRAY_LEN(maps); i++)
		map_free(maps[i]);
	heap_free(&e->due);
	heap_free(&e->catch_up);
	heap_free(&e->run_timer);
	free(e->sched);
	free(e->run);
	free(e->resource);
	free(e->pending);
	free(e->end);
	free(e->leader);
	free(e->backfill);
	free(e);
}

/* --- load --- */

static void load_hold(struct engine *e, const struct hold_row *hold)
{
	if (!hold->key) {
		e->global_pause = *hold;
		e->paused_all = true;
		return;
	}
	struct resource *r = engine_resource(e, hold->key);
	if (r) {
		r->hold = *hold;
		r->held = true;
	}
}

void engine_load(struct engine *e, const struct load_item *item)
{
	struct sched *s;
	switch ((enum load_kind)item->kind) {
	case LOAD_PART:
		parts_load(e, &item->part);
		break;
	case LOAD_HOLD:
		load_hold(e, &item->hold);
		break;
	case LOAD_SCHED:
		s = engine_add_sched(e, &item->sched);
		if (s) {
			s->range_reason = item->open;
			if (item->dropped)
				engine_set_removed(e, s);
		}
		break;
	case LOAD_RUN:
		s = engine_sched(e, item->run.sid);
		if (s)
			engine_add_run(e, &item->run, sched_index(e, s));
		break;
	case LOAD_END:
		s = engine_sched(e, item->follower);
		if (s)
			follow_add_end(e, s, &item->run);
		break;
	case LOAD_KEY: /* the engine uses neither the key nor names nor problems */
	case LOAD_NAME:
	case LOAD_PROBLEM:
		break;
	case LOAD_DONE:
		e->restored_at = item->done.restored;
		e->restored_run = item->done.restored_run;
		break;
	}
}

static void finish_load(struct engine *e)
{
	e->is_loaded = true;
	e->loaded_at = e->now.wall;
	clock_init(e);
	e->token_refill = e->now.boot;
	e->tokens = USEC;
	e->rewind = 0; /* the clock may have stepped back before the load */
	for (uint32_t i = 0; i < e->runs; i++)
		if (e->run[i].row.run)
			runs_recover(e, &e->run[i]);
	for (uint32_t i = 0; i < e->scheds; i++)
		if (e->sched[i].in_use)
			due_enqueue(e, &e->sched[i]);
	clock_shift_loaded(e);
}

/* --- steps --- */

static void handle_ack(struct engine *e, const struct st_ack *ack)
{
	uint32_t i = map_get(&e->pending_by_tag, ack->tag);
	if (i == MAP_NONE)
		return; /* of an earlier engine, or answered before */
	struct pending pending = e->pending[i];
	map_remove(&e->pending_by_tag, ack->tag);
	e->pending[i].sid = e->pending_free;
	e->pending_free = i;
	if (e->now.boot.us - pending.since.us > STORE_SLOW_SECONDS * USEC)
		e->stalled_at = e->now.wall;
	e->claims -= pending.op == ST_OCC || pending.op == ST_RANGE || pending.op == ST_WITHDRAW;
	e->under_way--;
	static void (*const handlers[])(struct engine *, const struct pending *, const struct st_ack *) = {
		[FOR_CLAIM] = due_acked,      [FOR_RANGE] = due_acked,       [FOR_OPEN] = due_acked,
		[FOR_PUT] = command_acked,    [FOR_DROP] = command_acked,    [FOR_PAUSE] = command_acked,
		[FOR_RESUME] = command_acked, [FOR_WITHDRAW] = due_acked,    [FOR_RUN] = runs_acked,
		[FOR_HOLD] = command_acked,   [FOR_NUMBERS] = numbers_acked,
	};
	/* Before the handler of the answer, so that it finds nothing of the part. */
	if (ack->res == ST_FENCED)
		parts_forget(e, pending.part);
	handlers[pending.purpose](e, &pending, ack);
}

void engine_step(struct engine *e, const struct event *ev, struct now now, struct effects *out)
{
	e->fx = out;
	e->now = now;
	if (ev->kind == EV_LOADED)
		finish_load(e);
	if (!e->is_loaded)
		return;
	clock_update(e);
	switch ((enum event_kind)ev->kind) {
	case EV_TICK:
	case EV_LOADED:
		break;
	case EV_ACK:
		handle_ack(e, ev->ack);
		break;
	case EV_RUNNER:
		runs_report(e, ev->report);
		break;
	case EV_COMMAND:
		command_handle(e, ev->command);
		break;
	case EV_DOCUMENTS:
		e->documents_first = false;
		break;
	case EV_STATE:
		runs_state_changed(e, ev->key);
		break;
	case EV_RESUMED:
		e->resumed_at = now.wall;
		break;
	case EV_AGENTS:
		agents_changed(e, ev->key);
		break;
	case EV_ZONES:
		for (uint32_t i = 0; i < e->scheds; i++)
			if (e->sched[i].in_use) {
				validate_rules(e, &e->sched[i]);
				due_enqueue(e, &e->sched[i]);
			}
		break;
	}
	runs_timers(e);
	due_handle(e);
	clock_settle(e);
	gate_start_ready(e);
	numbers_refill(e);
	e->fx = NULL;
	out->failed |= e->broken;
}

/* --- queries --- */

bool engine_next(const struct engine *e, struct now now, struct wall *ret)
{
	int64_t best = INT64_MAX;
	if (e->run_timer.n)
		best = now.wall.us + (e->run_timer.entry[0].key - now.boot.us);
	if (e->clock_held)
		goto done;
	bool claims = e->claims < CLAIMS_MAX && numbers_ready(e, NUMBER_RUN);
	if (!e->documents_first && e->due.n && claims && e->due.entry[0].key < best)
		best = e->due.entry[0].key;
	if (e->rewind != NONE && !e->rewind_waits && claims)
		best = now.wall.us;
	struct wall turn;
	if (!e->documents_first && late_next_token(e, now, &turn) && claims && turn.us < best)
		best = turn.us;
	if (e->paused_all && !e->resuming_all && e->global_pause.until.us < best)
		best = e->global_pause.until.us;
done:
	*ret = (struct wall){ best };
	return best != INT64_MAX;
}

uint64_t engine_outdated(const struct engine *e, uint32_t *at)
{
	while (e->outdated && *at < e->scheds) {
		const struct sched *s = &e->sched[(*at)++];
		if (s->outdated)
			return s->row.sid;
	}
	return 0;
}

bool engine_is_outdated(const struct engine *e, uint64_t sid)
{
	uint32_t i = map_get(&e->sched_by_sid, sid);
	return i != MAP_NONE && e->sched[i].outdated;
}

/* Ends are in the order of their numbers, not of their times: all are visited, but there are few. */
struct wall engine_acted_until(const struct engine *e)
{
	int64_t first = INT64_MAX;
	for (uint32_t i = 0; i < e->scheds && e->ends_open; i++)
		for (uint32_t k = e->sched[i].in_use ? e->sched[i].first_end : NONE; k != NONE;
		     k = e->end[k].next)
			if (e->end[k].ended.us < first)
				first = e->end[k].ended.us;
	return (struct wall){ first == INT64_MAX ? first : first - 1 };
}

bool engine_quiet(const struct engine *e, struct now now)
{
	if (e->under_way)
		return false;
	if (!e->clock_held && (e->ends_open || e->catch_up.n || e->rewind != NONE))
		return false;
	if (!e->clock_held && !e->documents_first && e->due.n && e->due.entry[0].key <= now.wall.us)
		return false;
	for (uint32_t i = 0; i < e->runs; i++)
		if (e->run[i].row.run && e->run[i].phase != PHASE_RUNNING &&
		    e->run[i].phase != PHASE_ELSEWHERE && e->run[i].phase != PHASE_RETRY)
			return false;
	return true;
}

static uint64_t mix(const uint64_t *numbers, size_t n)
{
	uint64_t h = FNV_START;
	for (size_t i = 0; i < n; i++)
		h = (h ^ numbers[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return h;
}

#define MIX(...)                                                                                             \
	mix((const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

/* A sum over all rows, so that their order does not matter. */
uint64_t engine_digest(const struct engine *e)
{
	uint64_t sum = e->paused_all;
	for (uint32_t i = 0; i < e->scheds; i++) {
		const struct sched_row *r = &e->sched[i].row;
		if (e->sched[i].removed) /* only its runs matter */
			sum += MIX(r->sid, 1);
		else if (e->sched[i].in_use)
			sum += MIX(r->sid, r->after, r->seen, r->rev, r->flags, r->left, r->failures, r->owed,
				   (uint64_t)r->next.us, (uint64_t)r->high.us, (uint64_t)r->changed.us,
				   (uint64_t)r->paused_until.us, (uint64_t)r->next_set_at.us,
				   e->sched[i].range_reason,
				   fnv1a(FNV_START,
					 (struct str){ (const char *)r->rules, sizeof(struct rules) }));
	}
	for (uint32_t i = 0; i < e->runs; i++) {
		const struct run_row *r = &e->run[i].row;
		if (r->run &&
		    e->run[i].phase != PHASE_RECORDING) /* in that phase it is not in the store yet */
			sum += MIX(r->run, r->sid, r->rev, r->attempt, r->kind, r->state, r->uncounted,
				   r->node, (uint64_t)r->nominal.us, (uint64_t)r->due.us);
	}
	for (uint32_t i = 0; i < e->resources; i++)
		if (e->resource[i]->held)
			sum += MIX(e->resource[i]->key, e->resource[i]->hold.reason,
				   (uint64_t)e->resource[i]->hold.until.us);
	return sum;
}

struct engine_counts engine_counts(const struct engine *e)
{
	struct engine_counts c = { .slots_used = e->slots_used,
				   .claims_under_way = e->claims,
				   .launches_under_way = e->launches };
	c.clock_held = e->clock_held;
	c.schedules = e->sched_by_sid.n;
	c.outdated = e->outdated;
	for (uint32_t i = 0; i < e->runs; i++) {
		if (!e->run[i].row.run)
			continue;
		enum run_phase p = e->run[i].phase;
		c.runs++;
		c.waiting += p <= PHASE_CHECKING;
		c.queued += p == PHASE_QUEUED;
		c.running += p == PHASE_STARTING || p == PHASE_RUNNING;
		c.retrying += p == PHASE_RETRY;
		c.elsewhere += p == PHASE_ELSEWHERE;
	}
	c.bytes = e->sched_room * sizeof *e->sched + e->run_room * sizeof *e->run +
		  e->pending_room * sizeof *e->pending +
		  (size_t)(e->due.room + e->catch_up.room + e->run_timer.room) *
			  (sizeof *e->due.entry + sizeof *e->due.at) +
		  (size_t)(e->sched_by_sid.room + e->run_by_id.room + e->pending_by_tag.room) * 12;
	return c;
}

bool engine_clock_held(const struct engine *e)
{
	return e->clock_held;
}

/* Reads the smallest entries of the heap in order without removing any. A child never comes before its
 * parent, so only entries whose parents have been returned are candidates; `front` has them. */
unsigned engine_coming(const struct engine *e, struct engine_due *ret, unsigned most)
{
	enum { VISITS = 8 * ENGINE_COMING_MAX };
	uint32_t front[3 * VISITS + 1];
	unsigned n = 0, waiting = 0;
	const struct heap *h = &e->due;
	if (h->n && !e->paused_all)
		front[waiting++] = 0;
	for (unsigned visits = 0; waiting && n < most && visits < VISITS; visits++) {
		unsigned best = 0;
		for (unsigned i = 1; i < waiting; i++)
			if (h->entry[front[i]].key < h->entry[front[best]].key)
				best = i;
		uint32_t at = front[best];
		const struct sched *s = &e->sched[h->entry[at].item];
		front[best] = front[--waiting];
		for (uint32_t child = 4 * at + 1; child <= 4 * at + 4 && child < h->n; child++)
			front[waiting++] = child;
		if (!(s->row.flags & SCHED_PAUSED)) /* if it is paused, its entry is the end of the pause */
			ret[n++] = (struct engine_due){ s->row.sid, { h->entry[at].key } };
	}
	return n;
}
