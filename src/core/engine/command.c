/* What people and documents ask for: add, change, remove, pause, resume, run, stop, backfill, free. Each is a
 * request to the store at the schedule's rev; the answer to it is the answer to them. */
#include "base/array.h"
#include "core/engine/state.h"

struct st_req command_new_put(const struct sched *s, struct wall at)
{
	struct st_req r = { .op = ST_PUT,
			    .lane = LANE_USER,
			    .sid = s->row.sid,
			    .rev = s->row.rev,
			    .row = s->row,
			    .keep_next = true,
			    .at = at };
	r.row.failures = s->finishing ? s->failures_pending : s->row.failures; /* where it does not stay */
	return r;
}

void command_submit(struct engine *e, struct sched *s, struct st_req *r, enum request_purpose what,
		    uint64_t command)
{
	due_dequeue(e, s);
	s->busy = true;
	engine_submit_store(e, r, what, 0, command, s);
}

/* --- add and change --- */

static uint8_t lane_of(const struct command *c)
{
	return c->bulk ? LANE_BULK : LANE_USER;
}

static struct wall first_time(struct engine *e, const struct rules *rules, uint64_t after, struct wall from)
{
	struct wall next;
	unsigned zone = rules->policy.zone < e->config.zone_count ? rules->policy.zone : 0;
	if (after || rule_next(&rules->when, e->config.zones[zone], from, &next) != OK)
		return WALL_NEVER;
	return next;
}

static void set_rules(struct sched_row *row, const struct command *c, uint32_t max_runs)
{
	struct rules rules = c->rules;
	rules.max_runs = max_runs;
	memcpy(row->rules, &rules, sizeof rules);
}

static void put_new(struct engine *e, const struct command *c)
{
	struct st_req r = { .op = ST_PUT,
			    .lane = lane_of(c),
			    .at = e->now.wall,
			    .id = c->id,
			    .document = c->document,
			    .source = c->source };
	r.sid = r.row.sid = ++e->last_sid;
	r.row.after = c->after;
	r.row.flags = c->enabled ? SCHED_ENABLED : 0;
	r.row.left = c->max_runs;
	r.row.changed = r.row.high = e->now.wall;
	r.row.seen = e->last_end;
	r.row.next = first_time(e, &c->rules, c->after, e->now.wall);
	r.row.paused_until = WALL_NEVER;
	set_rules(&r.row, c, c->max_runs);
	engine_submit_store(e, &r, FOR_PUT, 0, c->tag, NULL);
}

static bool same_when(const struct sched *s, const struct command *c)
{
	const struct rules *old = rules_of(s);
	return rule_same(&old->when, &c->rules.when) && old->policy.zone == c->rules.policy.zone &&
	       old->policy.calendar == c->rules.policy.calendar && s->row.after == c->after &&
	       (!c->after || old->policy.after == c->rules.policy.after) &&
	       !!(s->row.flags & SCHED_ENABLED) == c->enabled;
}

/* A change of when: nothing at or before now fires any more; what was due and had not been taken up is
 * missed/edited. */
static void put_changed(struct engine *e, struct sched *s, const struct command *c)
{
	bool enabled = s->row.flags & SCHED_ENABLED && !(s->row.flags & SCHED_PAUSED) && !s->range_open;
	struct wall last;
	bool settles = enabled && due_last_pending(e, s, &last);
	if (settles)
		due_record_range(e, s, last, RUN_MISSED, REASON_EDITED);
	if (settles || next_check_arrive(e, s) || follow_refuse_pending(e, s)) {
		/* The range was asked for first, in another lane: this one may overtake it, is then stale,
		 * and asked again. */
		engine_reply_code(e, c->tag, REPLY_BUSY, s->row.sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	r.keep_next = false;
	r.close_range = s->range_open;
	r.row.after = c->after;
	r.row.flags = (s->row.flags & ~(uint32_t)SCHED_ENABLED) | (c->enabled ? SCHED_ENABLED : 0);
	r.row.left = c->max_runs;
	r.row.changed = e->now.wall;
	r.row.high = e->now.wall.us > s->row.pruned_to.us
			     ? e->now.wall
			     : s->row.pruned_to; /* back, too, if the clock went back */
	r.row.next = first_time(e, &c->rules, c->after, e->now.wall);
	r.row.next_set_at = (struct wall){ 0 };
	r.row.seen = e->last_end; /* what ended before is not its business, be it that it did not fit */
	r.ends_known = true;      /* and of what ended meanwhile it is to have a record first */
	set_rules(&r.row, c, c->max_runs);
	r.lane = lane_of(c);
	r.id = c->id;
	r.document = c->document;
	r.source = c->source;
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

/* Those that have run count for the new max_runs; how many that were is not known if there was none. */
static uint32_t left_of(const struct sched *s, uint32_t max_runs)
{
	uint32_t before = rules_of(s)->max_runs;
	if (before == UINT32_MAX || max_runs == UINT32_MAX)
		return max_runs;
	uint32_t used = before > s->row.left ? before - s->row.left : 0;
	return max_runs > used ? max_runs - used : 0;
}

/* Something else than its when: what was due and has not been taken up runs by the new version. */
static void put_same_when(struct engine *e, struct sched *s, const struct command *c)
{
	struct st_req r = command_new_put(s, e->now.wall);
	if (rules_of(s)->max_runs != c->max_runs) {
		r.keep_next = false;
		r.row.left = left_of(s, c->max_runs);
	}
	set_rules(&r.row, c, c->max_runs);
	r.lane = lane_of(c);
	r.id = c->id;
	r.document = c->document;
	r.source = c->source;
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

static void take_put(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!c->sid) {
		put_new(e, c);
	} else if (!s || s->removed) {
		engine_reply_code(e, c->tag, REPLY_NOT_FOUND, c->sid, 0);
	} else if (s->busy || (clock_is_unsettled(e, s) && !same_when(s, c))) {
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	} else if (same_when(s, c)) {
		put_same_when(e, s, c);
	} else {
		put_changed(e, s, c);
	}
}

static void take_drop(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed || s->busy || next_check_arrive(e, s)) {
		engine_reply_code(e, c->tag, s && s->busy ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, 0);
		return;
	}
	struct wall first, at = e->now.wall;
	/* By a clock that is not believed what a run has set is over: it is not the reason for what comes
	 * after. */
	if (next_check_gates(s, &first) && s->row.next.us <= at.us)
		at.us = s->row.next.us - 1;
	struct st_req r = command_new_put(s, at);
	r.op = ST_DROP;
	r.close_range = s->range_open;
	for (uint32_t i = s->first_run, next; c->kill && i != NONE; i = next) {
		next = e->run[i].sibling;
		runs_cancel(e, &e->run[i], REASON_CANCELLED);
	}
	command_submit(e, s, &r, FOR_DROP, c->tag);
}

/* --- pause and resume --- */

void command_pause(struct engine *e, struct sched *s, struct wall until, struct str note, uint64_t command)
{
	struct wall first;
	if (next_check_arrive(e, s)) {
		engine_reply_code(e, command, REPLY_BUSY, s->row.sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	if (next_check_gates(s, &first) && !clock_is_unsettled(e, s)) {
		/* A person's word: from here on it is paused, and not for what a run has said. */
		r.keep_next = false;
		r.close_range = s->range_open;
		r.row.next = due_next(s, e->now.wall);
		r.row.high = e->now.wall.us > s->row.high.us ? e->now.wall : s->row.high;
		r.row.next_set_at = (struct wall){ 0 };
	}
	r.row.flags |= SCHED_PAUSED;
	r.row.paused_until = until;
	r.note = note;
	command_submit(e, s, &r, FOR_PAUSE, command);
}

void command_close_range_before(struct engine *e, struct sched *s, struct wall before)
{
	struct st_req r = command_new_put(s, before);
	r.close_range = true;
	r.row.changed = before;
	command_submit(e, s, &r, FOR_PUT, 0);
}

void command_resume(struct engine *e, struct sched *s, uint64_t command)
{
	struct st_req r = command_new_put(s, e->now.wall);
	r.keep_next = false;
	r.close_range = true;
	r.row.flags &= ~(uint32_t)SCHED_PAUSED;
	r.row.paused_until = WALL_NEVER;
	r.row.failures = 0;
	r.row.changed = e->now.wall;
	r.row.high = e->now.wall.us > s->row.pruned_to.us
			     ? e->now.wall
			     : s->row.pruned_to; /* back, too, if the clock went back */
	r.row.next = due_next(s, e->now.wall);
	r.row.next_set_at = (struct wall){ 0 };
	r.note = STR("");
	command_submit(e, s, &r, FOR_RESUME, command);
}

static void pause_all(struct engine *e, const struct command *c, bool on)
{
	struct st_req r = { .op = ST_HOLD, .lane = LANE_USER, .note = c->note };
	r.hold = (struct hold_row){ 0, on ? REASON_PAUSED : 0, on ? c->to : (struct wall){ 0 } };
	engine_submit_store(e, &r, FOR_HOLD, 0, c->tag, NULL);
}

static void take_pause(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	bool on = c->kind == CMD_PAUSE;
	if (!c->sid) {
		pause_all(e, c, on);
	} else if (!s || s->removed) {
		engine_reply_code(e, c->tag, REPLY_NOT_FOUND, c->sid, 0);
	} else if (s->busy || (!on && s->row.flags & SCHED_PAUSED && clock_is_unsettled(e, s))) {
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	} else if (on == !!(s->row.flags & SCHED_PAUSED) &&
		   (!on || (s->row.paused_until.us == c->to.us && !c->note.p))) {
		engine_reply_code(e, c->tag, REPLY_OK, c->sid, 0);
	} else if (on) {
		command_pause(e, s, c->to, c->note, c->tag);
	} else {
		command_resume(e, s, c->tag);
	}
}

/* Waiting runs of a schedule that was paused become skipped/paused; a retry is dropped; a running attempt
 * goes on. */
static void paused(struct engine *e, struct sched *s)
{
	for (uint32_t i = s->first_run, next; i != NONE; i = next) {
		struct run *r = &e->run[i];
		next = r->sibling;
		if (r->row.kind == KIND_MANUAL)
			continue;
		runs_drop_retry(e, r);
		if (runs_is_waiting(r))
			runs_refuse(e, r, RUN_SKIPPED, REASON_PAUSED);
	}
}

/* All are resumed: what was due by its nominal time meanwhile was paused, and does not fire, be it put off by
 * jitter beyond this. */
static void resumed_with_all(struct engine *e, struct sched *s)
{
	struct wall last;
	bool waits =
		s->row.flags & SCHED_ENABLED && !s->busy && !s->removed && !s->range_open && !s->outdated;
	if (waits && !clock_is_unsettled(e, s) && due_last_pending(e, s, &last))
		due_record_range(e, s, last, RUN_SKIPPED, REASON_PAUSED);
	else
		due_enqueue(e, s);
}

/* The store knows that everything is paused, or not any more. */
static void paused_all(struct engine *e, const struct hold_row *hold)
{
	e->paused_all = hold->reason != 0;
	e->global_pause = *hold;
	for (uint32_t i = 0; i < e->scheds; i++) {
		struct sched *s = &e->sched[i];
		if (!s->in_use || s->row.flags & SCHED_PAUSED)
			continue;
		if (e->paused_all)
			paused(e, s);
		else
			resumed_with_all(e, s);
	}
}

/* --- run, stop, backfill, free --- */

static void take_run(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed)
		engine_reply_code(e, c->tag, REPLY_NOT_FOUND, c->sid, 0);
	else if (due_is_overlap(e, s, KIND_MANUAL) || (s->busy && policy_of(s)->overlap != OVERLAP_ALLOW))
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	else
		due_claim(e, s, e->now.wall, NULL, KIND_MANUAL, c->tag);
}

static void take_stop(struct engine *e, const struct command *c)
{
	struct run *r = engine_run(e, c->run);
	if (!r || r->stop_tag) {
		engine_reply_code(e, c->tag, r ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, c->run);
		return;
	}
	r->stop_tag = c->tag; /* answered when it has ended */
	runs_cancel(e, r, REASON_CANCELLED);
}

static struct backfill *fill_of(struct engine *e, const struct sched *s)
{
	for (uint32_t i = 0; i < e->backfills; i++)
		if (e->backfill[i].sid == s->row.sid)
			return &e->backfill[i];
	return NULL;
}

static void end_fill(struct engine *e, struct backfill *f, bool more)
{
	engine_reply(e, (struct reply){ .tag = f->tag,
					.sid = f->sid,
					.count = f->made,
					.already_run = f->already_run,
					.more = more });
	*f = e->backfill[--e->backfills];
}

/* One after another: whether a time has run already only the store can say, and those do not count. */
static void fill_next(struct engine *e, struct sched *s, struct backfill *f)
{
	struct wall t;
	bool more = !s->removed && rule_next(&rules_of(s)->when, s->zone, f->last, &t) == OK &&
		    t.us <= f->to.us && t.us <= e->now.wall.us;
	if (more && f->left) {
		f->last = t;
		due_claim(e, s, t, NULL, KIND_BACKFILL, 0);
		return;
	}
	end_fill(e, f, more);
}

void command_backfill_next(struct engine *e, struct sched *s, enum st_res res)
{
	struct backfill *f = fill_of(e, s);
	if (!f)
		return;
	f->left -= res == ST_OK;
	f->made += res == ST_OK;
	f->already_run += res == ST_LOST;
	f->last.us -= res == ST_STALE; /* the same again */
	fill_next(e, s, f);
}

static void take_backfill(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	enum reply_code no = !s || s->removed || s->row.after               ? REPLY_NOT_FOUND
			     : fill_of(e, s) || e->clock_held               ? REPLY_BUSY
			     : s->row.flags & SCHED_PAUSED || e->paused_all ? REPLY_REFUSED
									    : REPLY_OK;
	if (no) {
		engine_reply_code(e, c->tag, no, c->sid, 0);
		return;
	}
	if (!ARRAY_ADD_ROOM(e->backfill, e->backfill_room, e->backfills)) {
		e->broken = true;
		return;
	}
	struct wall at = { c->from.us - 1 };
	if (at.us < s->row.pruned_to.us)
		at = s->row.pruned_to; /* what ran up to there is not known any more */
	e->backfill[e->backfills] = (struct backfill){
		.sid = c->sid, .tag = c->tag, .last = at, .to = c->to, .left = late_limit(s)
	};
	fill_next(e, s, &e->backfill[e->backfills++]);
}

static void take_free(struct engine *e, const struct command *c)
{
	struct resource *res = engine_resource(e, c->key);
	struct st_req r = { .op = ST_HOLD, .lane = LANE_USER, .hold = { .key = c->key } };
	if (!res || res->holding) {
		engine_reply_code(e, c->tag, res ? REPLY_BUSY : REPLY_NOT_FOUND, 0, 0);
		return;
	}
	res->releasing++;
	engine_submit_store(e, &r, FOR_HOLD, 0, c->tag, NULL);
}

/* Whoever uses it has another time to wait for, or none. */
static void wait_anew(struct engine *e, uint32_t key)
{
	for (uint32_t i = 0; i < e->scheds; i++) {
		struct sched *s = &e->sched[i];
		const struct policy *p = policy_of(s);
		if (!s->in_use || (p->agent != key && p->account != key))
			continue;
		due_enqueue(e, s);
		runs_release(e, s);
	}
}

/* In force at once; no harm is done if the store never hears of it. */
void command_hold(struct engine *e, uint32_t key, enum reason reason, struct wall until)
{
	struct resource *res = engine_resource(e, key);
	struct st_req q = { .op = ST_HOLD, .lane = LANE_FINISH, .hold = { key, (uint16_t)reason, until } };
	if (!res)
		return;
	bool sooner = res->held && until.us < res->hold.until.us;
	res->hold = q.hold;
	res->held = true;
	res->holding++;
	engine_submit_store(e, &q, FOR_HOLD, 0, 0, NULL);
	if (sooner)
		wait_anew(e, key);
}

/* The store knows that an agent or account is held, or free: the last word it took counts. */
static void held(struct engine *e, const struct hold_row *hold)
{
	struct resource *res = engine_resource(e, hold->key);
	if (!res)
		return;
	res->holding -= hold->reason != 0;
	res->releasing -= hold->reason == 0;
	if (res->holding)
		return; /* held by what is on its way, and that is known already */
	res->hold = *hold;
	res->held = hold->reason != 0;
	if (!res->held)
		wait_anew(e, hold->key);
}

static void take_clock(struct engine *e, const struct command *c)
{
	clock_accept(e);
	engine_reply_code(e, c->tag, REPLY_OK, 0, 0);
}

/* The same document, compiled anew. If it is its when that did not hold, its times are found again from its
 * last record on, and what was missed meanwhile is settled by them; another agent changes none of them. */
static void take_recompile(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed || s->busy || !s->outdated) {
		engine_reply_code(e, c->tag, s && s->busy ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	struct wall from = s->row.high.us > s->row.changed.us ? s->row.high : s->row.changed;
	if (!engine_times_valid(e, s)) {
		r.keep_next = false;
		if (!s->row.next_set_at.us)
			r.row.next = first_time(e, &c->rules, s->row.after, from);
		s->late_cause = REASON_DOWN; /* of what came due meanwhile: nobody was there to decide it */
	}
	set_rules(&r.row, c, rules_of(s)->max_runs);
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

void command_handle(struct engine *e, const struct command *c)
{
	static void (*const takers[])(struct engine *, const struct command *) = {
		[CMD_PUT] = take_put,
		[CMD_DROP] = take_drop,
		[CMD_PAUSE] = take_pause,
		[CMD_RESUME] = take_pause,
		[CMD_RUN] = take_run,
		[CMD_STOP] = take_stop,
		[CMD_BACKFILL] = take_backfill,
		[CMD_RELEASE] = take_free,
		[CMD_CLOCK] = take_clock,
		[CMD_RECOMPILE] = take_recompile,
		[CMD_NEXT_CHECK] = next_check_set,
	};
	if (c->kind < ARRAY_LEN(takers))
		takers[c->kind](e, c);
}

/* --- answers --- */

/* A running attempt finishes; what has not set out never does. */
void command_sched_removed(struct engine *e, struct sched *s)
{
	engine_set_removed(e, s);
	due_dequeue(e, s);
	struct backfill *f = fill_of(e, s);
	if (f)
		end_fill(e, f, false);
	runs_drop_retries(e, s);
	for (uint32_t i = s->first_run, next; i != NONE; i = next) {
		next = e->run[i].sibling;
		if (runs_is_waiting(&e->run[i]))
			runs_cancel(e, &e->run[i], REASON_CANCELLED);
	}
	if (s->first_run == NONE)
		engine_remove_sched(e, s);
}

void command_acked(struct engine *e, const struct pending *w, const struct st_ack *ack)
{
	static const enum reply_code codes[ST_RESULTS] = { [ST_OK] = REPLY_OK,
							   [ST_LOST] = REPLY_BUSY,
							   [ST_STALE] = REPLY_BUSY,
							   [ST_FENCED] = REPLY_BUSY,
							   [ST_REFUSED] = REPLY_REFUSED };
	struct sched *s = engine_pending_sched(e, w);
	bool ok = ack->res == ST_OK;
	bool ended = w->purpose == FOR_RESUME || (w->purpose == FOR_HOLD && !w->hold.key && e->paused_all);
	engine_reply(e, (struct reply){
				.tag = w->command, .code = codes[ack->res], .sid = w->sid, .count = ended });
	if (w->purpose == FOR_HOLD) {
		if (ok)
			(w->hold.key ? held : paused_all)(e, &w->hold);
		return;
	}
	if (!s && ok && w->purpose == FOR_PUT && ack->has_row)
		s = engine_add_sched(e, &ack->row);
	else if (s && ack->has_row)
		engine_set_row(e, s, &ack->row);
	if (!s)
		return;
	s->busy = false;
	if (s->row.changed.us > e->now.wall.us && sched_index(e, s) < e->rewind)
		e->rewind = sched_index(e, s); /* the clock went back while this was under way */
	if (ok && w->closes_range)
		s->range_open = false;
	if (ok && w->purpose == FOR_PAUSE)
		paused(e, s);
	if ((ok && w->purpose == FOR_DROP) || (ack->res == ST_REFUSED && !ack->has_row && !s->removed)) {
		command_sched_removed(e, s); /* by this, or by another hand before */
		return;
	}
	due_enqueue(e, s);
}
