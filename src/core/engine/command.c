/* Commands: add, change, remove, pause, resume, run, stop, backfill, release, accept the clock, recompile.
 * Most commands become one request to the store, for the schedule's present rev; its answer becomes the
 * reply. */
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

/* Fills in the fields that come from the command's document. */
static void set_document(struct st_req *r, const struct command *c)
{
	set_rules(&r->row, c, c->max_runs);
	r->lane = c->bulk ? LANE_BULK : LANE_USER;
	r->id = c->id;
	r->document = c->document;
	r->source = c->source;
}

static void add_schedule(struct engine *e, const struct command *c)
{
	const struct sched *leader = engine_sched(e, c->after);
	struct st_req r = { .op = ST_PUT, .at = e->now.wall, .part = leader ? leader->row.part : c->part };
	if (!parts_owned(e, r.part)) {
		engine_reply_code(e, c->tag, REPLY_BUSY, 0, 0);
		return;
	}
	r.sid = r.row.sid = numbers_take(e, NUMBER_SCHED);
	r.row.after = c->after;
	r.row.flags = c->enabled ? SCHED_ENABLED : 0;
	r.row.left = c->max_runs;
	r.row.changed = r.row.high = e->now.wall;
	r.row.next = first_time(e, &c->rules, c->after, e->now.wall);
	r.row.paused_until = WALL_NEVER;
	set_document(&r, c);
	engine_submit_store(e, &r, FOR_PUT, 0, c->tag, NULL);
}

static bool same_times(const struct sched *s, const struct command *c)
{
	const struct rules *old = rules_of(s);
	return rule_same(&old->when, &c->rules.when) && old->policy.zone == c->rules.policy.zone &&
	       old->policy.calendar == c->rules.policy.calendar && s->row.after == c->after &&
	       (!c->after || old->policy.after == c->rules.policy.after) &&
	       !!(s->row.flags & SCHED_ENABLED) == c->enabled;
}

/* The times change: no time at or before now fires any more. Times that are due but not recorded become
 * missed/edited first. `left`: how many more times it may run. */
static void change_times(struct engine *e, struct sched *s, const struct command *c, uint32_t left)
{
	bool enabled = s->row.flags & SCHED_ENABLED && !(s->row.flags & SCHED_PAUSED) && !s->range_reason;
	struct wall last;
	bool settles = enabled && due_last_pending(e, s, &last);
	if (settles)
		due_record_range(e, s, last, RUN_MISSED, REASON_EDITED);
	if (settles || next_check_arrive(e, s) || follow_refuse_pending(e, s)) {
		/* Another request must be recorded first. The caller repeats the command after the answer:
		 * sent now, the change could overtake that request in another lane. */
		engine_reply_code(e, c->tag, REPLY_BUSY, s->row.sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	r.keep_next = false;
	r.close_range = s->range_reason;
	r.row.after = c->after;
	r.row.flags = (s->row.flags & ~(uint32_t)SCHED_ENABLED) | (c->enabled ? SCHED_ENABLED : 0);
	r.row.left = left;
	r.row.changed = e->now.wall;
	r.row.high = e->now.wall.us > s->row.pruned_to.us
			     ? e->now.wall
			     : s->row.pruned_to; /* may be lower than before, if the clock stepped back */
	r.row.next = first_time(e, &c->rules, c->after, e->now.wall);
	r.row.next_set_at = (struct wall){ 0 };
	/* Ends before the change are ignored, including ones that did not match. The store answers ST_STALE
	 * if there is an end that the engine does not know yet. With a new leader the store sets the number.
	 */
	r.row.seen = follow_known_end(e, s->row.after);
	r.ends_known = true;
	set_document(&r, c);
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

/* Runs so far count for the new max_runs. They are not counted if there was no limit before. */
static uint32_t left_of(const struct sched *s, uint32_t max_runs)
{
	uint32_t before = rules_of(s)->max_runs;
	if (before == UINT32_MAX || max_runs == UINT32_MAX)
		return max_runs;
	uint32_t used = before > s->row.left ? before - s->row.left : 0;
	return max_runs > used ? max_runs - used : 0;
}

/* Changes something other than the times. Times that are due but not recorded run under the new version. */
static void change_policy(struct engine *e, struct sched *s, const struct command *c)
{
	struct st_req r = command_new_put(s, e->now.wall);
	if (rules_of(s)->max_runs != c->max_runs) {
		r.keep_next = false;
		r.row.left = left_of(s, c->max_runs);
	}
	set_document(&r, c);
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

/* One engine must decide for both a follower and its leader. */
static bool is_leader_apart(struct engine *e, const struct sched *s, uint64_t leader)
{
	const struct sched *l = engine_sched(e, leader);
	return l && l->row.part != s->row.part;
}

static void handle_put(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!c->sid) {
		add_schedule(e, c);
	} else if (!s || s->removed) {
		engine_reply_code(e, c->tag, REPLY_NOT_FOUND, c->sid, 0);
	} else if (s->busy || (clock_is_unsettled(e, s) && !same_times(s, c))) {
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	} else if (same_times(s, c)) {
		change_policy(e, s, c);
	} else if (is_leader_apart(e, s, c->after)) {
		engine_reply_code(e, c->tag, REPLY_REFUSED, c->sid, 0);
	} else {
		change_times(e, s, c, c->max_runs);
	}
}

static void handle_drop(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed || s->busy || next_check_arrive(e, s)) {
		engine_reply_code(e, c->tag, s && s->busy ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, 0);
		return;
	}
	struct wall first, at = e->now.wall;
	/* If the clock is not trusted and has passed the next check, the gated range ends just before the
	 * next check. */
	if (next_check_gates(s, &first) && s->row.next.us <= at.us)
		at.us = s->row.next.us - 1;
	struct st_req r = command_new_put(s, at);
	r.op = ST_DROP;
	r.close_range = s->range_reason;
	for (uint32_t i = s->first_run, next; c->kill && i != NONE; i = next) {
		next = e->run[i].sibling;
		runs_cancel(e, &e->run[i], REASON_CANCELLED);
	}
	command_submit(e, s, &r, FOR_DROP, c->tag);
}

/* --- pause and resume --- */

/* The open range, if there is one, ends at `at`; the next check is forgotten. */
static void close_range_at(const struct sched *s, struct st_req *r, struct wall at)
{
	r->keep_next = false;
	r->close_range = s->range_reason;
	r->row.next = due_next(s, at);
	r->row.high = at.us > s->row.high.us ? at : s->row.high;
	r->row.next_set_at = (struct wall){ 0 };
}

void command_pause(struct engine *e, struct sched *s, struct wall until, struct str note, uint64_t command)
{
	struct wall first;
	if (next_check_arrive(e, s)) {
		engine_reply_code(e, command, REPLY_BUSY, s->row.sid, 0);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	if (next_check_gates(s, &first) && !clock_is_unsettled(e, s)) {
		/* The pause replaces the next check: from now on times are skipped as paused. */
		close_range_at(s, &r, e->now.wall);
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

void command_change_range(struct engine *e, struct sched *s)
{
	struct wall first, at = e->now.wall;
	bool gates = next_check_gates(s, &first);
	/* A time at or after the next check was never gated. */
	if (s->range_reason == REASON_GATED && gates && s->row.next.us <= at.us)
		at.us = s->row.next.us - 1;
	struct st_req r = command_new_put(s, at);
	close_range_at(s, &r, at);
	if (gates && s->range_reason != REASON_GATED) { /* the next range is gated */
		r.row.next = s->row.next;
		r.row.next_set_at = s->row.next_set_at;
	}
	command_submit(e, s, &r, FOR_PUT, 0);
}

/* When the open range of the schedule ended. A pause ends at its time, even if the daemon was down or the
 * machine suspended then: later times were missed, not paused. Other reasons end now. */
static struct wall range_end(const struct engine *e, const struct sched *s)
{
	struct wall at = e->now.wall;
	if (s->row.flags & SCHED_PAUSED)
		at = s->row.paused_until;
	else if (s->range_reason == REASON_PAUSED && e->all_resumed_at.us)
		at = e->all_resumed_at;
	if (at.us < s->row.changed.us)
		at = s->row.changed;
	if (at.us < s->row.high.us) /* times up to here are recorded for another reason */
		at = s->row.high;
	return at.us < e->now.wall.us ? at : e->now.wall;
}

void command_resume(struct engine *e, struct sched *s, uint64_t command)
{
	struct wall at = range_end(e, s);
	struct st_req r = command_new_put(s, at);
	r.keep_next = false;
	r.close_range = true;
	r.row.flags &= ~(uint32_t)SCHED_PAUSED;
	r.row.paused_until = WALL_NEVER;
	r.clear_failures = true;
	r.row.changed = at;
	r.row.high = at.us > s->row.pruned_to.us
			     ? at
			     : s->row.pruned_to; /* may be lower than before, if the clock stepped back */
	r.row.next = due_next(s, at);
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

static void handle_pause(struct engine *e, const struct command *c)
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

/* The schedule was paused: waiting runs are skipped, retries dropped, running attempts go on. */
static void apply_pause(struct engine *e, struct sched *s)
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

/* All schedules are resumed. Nominal times during the pause do not fire, even if jitter delays them beyond
 * its end; later ones do. */
static void resume_with_all(struct engine *e, struct sched *s)
{
	struct wall last;
	bool queued =
		s->row.flags & SCHED_ENABLED && !s->busy && !s->removed && !s->range_reason && !s->outdated;
	if (queued && !clock_is_unsettled(e, s) && !s->row.after && due_prev(s, e->all_resumed_at, &last))
		due_record_range(e, s, last, RUN_SKIPPED, REASON_PAUSED);
	else
		due_enqueue(e, s);
}

/* The store has recorded that all schedules are paused, or resumed. */
static void apply_global_pause(struct engine *e, const struct hold_row *hold)
{
	bool was_paused = e->paused_all;
	struct wall until = e->global_pause.until;
	e->paused_all = hold->reason != 0;
	e->resuming_all = false;
	e->global_pause = *hold;
	e->all_resumed_at = (struct wall){ 0 };
	if (!e->paused_all && !was_paused)
		return;                       /* there was no pause whose times could be skipped */
	if (!e->paused_all && !e->clock_held) /* a clock that is not trusted says nothing about its end */
		e->all_resumed_at = until.us < e->now.wall.us ? until : e->now.wall;
	for (uint32_t i = 0; i < e->scheds; i++) {
		struct sched *s = &e->sched[i];
		if (!s->in_use || s->row.flags & SCHED_PAUSED)
			continue;
		if (e->paused_all)
			apply_pause(e, s);
		else
			resume_with_all(e, s);
	}
}

/* --- run, stop, backfill, release --- */

static void handle_run(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed)
		engine_reply_code(e, c->tag, REPLY_NOT_FOUND, c->sid, 0);
	else if (due_is_overlap(e, s, KIND_MANUAL) || (s->busy && policy_of(s)->overlap != OVERLAP_ALLOW))
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	else
		due_claim(e, s, e->now.wall, NULL, KIND_MANUAL, c->tag);
}

static void handle_stop(struct engine *e, const struct command *c)
{
	struct run *r = engine_run(e, c->run);
	if (!r || r->stop_tag) {
		engine_reply_code(e, c->tag, r ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, c->run);
		return;
	}
	r->stop_tag = c->tag; /* answered when it has ended */
	runs_cancel(e, r, REASON_CANCELLED);
}

static struct backfill *backfill_of(struct engine *e, const struct sched *s)
{
	for (uint32_t i = 0; i < e->backfills; i++)
		if (e->backfill[i].sid == s->row.sid)
			return &e->backfill[i];
	return NULL;
}

static void end_backfill(struct engine *e, struct backfill *f, bool more)
{
	engine_reply(e, (struct reply){ .tag = f->tag,
					.sid = f->sid,
					.count = f->made,
					.already_run = f->already_run,
					.more = more });
	*f = e->backfill[--e->backfills];
}

/* Requests the times one by one, because only the store knows which of them have a run already; those do not
 * count for the limit. */
static void backfill_next(struct engine *e, struct sched *s, struct backfill *f)
{
	struct wall t;
	bool more = !s->removed && rule_next(&rules_of(s)->when, s->zone, f->last, &t) == OK &&
		    t.us <= f->to.us && t.us <= e->now.wall.us;
	if (more && f->left) {
		f->waits = !numbers_ready(e, NUMBER_RUN);
		if (f->waits)
			return; /* command_resume_backfills goes on */
		f->last = t;
		due_claim(e, s, t, NULL, KIND_BACKFILL, 0);
		return;
	}
	end_backfill(e, f, more);
}

void command_backfill_next(struct engine *e, struct sched *s, enum st_res res)
{
	struct backfill *f = backfill_of(e, s);
	if (!f)
		return;
	f->left -= res == ST_OK;
	f->made += res == ST_OK;
	f->already_run += res == ST_LOST;
	f->last.us -= res == ST_STALE || res == ST_COLLISION; /* repeat the same time */
	backfill_next(e, s, f);
}

void command_resume_backfills(struct engine *e)
{
	/* Backwards, because the last backfill of the array takes the place of one that ends. */
	for (uint32_t i = e->backfills; i-- > 0;)
		if (e->backfill[i].waits)
			backfill_next(e, engine_sched(e, e->backfill[i].sid), &e->backfill[i]);
}

void command_abort_backfill(struct engine *e, const struct sched *s)
{
	struct backfill *f = backfill_of(e, s);
	if (!f)
		return;
	engine_reply_code(e, f->tag, REPLY_BUSY, f->sid, 0);
	*f = e->backfill[--e->backfills];
}

static void handle_backfill(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	enum reply_code code = !s || s->removed || s->row.after               ? REPLY_NOT_FOUND
			       : backfill_of(e, s) || e->clock_held           ? REPLY_BUSY
			       : s->row.flags & SCHED_PAUSED || e->paused_all ? REPLY_REFUSED
									      : REPLY_OK;
	if (code) {
		engine_reply_code(e, c->tag, code, c->sid, 0);
		return;
	}
	if (!ARRAY_ADD_ROOM(e->backfill, e->backfill_room, e->backfills)) {
		e->broken = true;
		return;
	}
	struct wall at = { c->from.us - 1 };
	if (at.us < s->row.pruned_to.us)
		at = s->row.pruned_to; /* records of earlier times may have been pruned */
	e->backfill[e->backfills] = (struct backfill){
		.sid = c->sid, .tag = c->tag, .last = at, .to = c->to, .left = late_limit(s)
	};
	backfill_next(e, s, &e->backfill[e->backfills++]);
}

static void handle_release(struct engine *e, const struct command *c)
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

/* A hold was shortened or released: updates the schedules and runs that wait for it. */
static void update_waiters(struct engine *e, uint32_t key)
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

/* The hold takes effect at once. If the request to the store is lost, the worst result is an early
 * attempt. */
void command_hold(struct engine *e, uint32_t key, enum reason reason, struct wall until)
{
	struct resource *res = engine_resource(e, key);
	struct st_req q = { .op = ST_HOLD,
			    .lane = LANE_FINISH,
			    .hold = { key, (uint16_t)reason, until, e->set_back_from } };
	if (!res)
		return;
	bool sooner = res->held && until.us < res->hold.until.us;
	res->hold = q.hold;
	res->held = true;
	res->holding++;
	engine_submit_store(e, &q, FOR_HOLD, 0, 0, NULL);
	if (sooner)
		update_waiters(e, key);
}

/* To be called when the store has recorded a hold or a release: the last one recorded takes effect. */
static void apply_hold(struct engine *e, const struct hold_row *hold)
{
	struct resource *res = engine_resource(e, hold->key);
	if (!res)
		return;
	res->holding -= hold->reason != 0;
	res->releasing -= hold->reason == 0;
	if (res->holding)
		return; /* a newer hold is under way, and in effect already */
	if (!hold->reason && res->held)
		res->released_at = res->hold.until.us < e->now.wall.us ? res->hold.until : e->now.wall;
	res->hold = *hold;
	res->held = hold->reason != 0;
	if (!res->held)
		update_waiters(e, hold->key);
}

static void handle_clock(struct engine *e, const struct command *c)
{
	clock_accept(e);
	engine_reply_code(e, c->tag, REPLY_OK, 0, 0);
}

/* The zone of the configuration has changed, and the schedule follows it: that changes its times, as an edit
 * of its zone would. Its old times are still known. */
static void follow_zone(struct engine *e, struct sched *s, const struct command *c)
{
	struct command change = *c;
	change.enabled = s->row.flags & SCHED_ENABLED;
	change.after = s->row.after;
	change.max_runs = rules_of(s)->max_runs;
	if (clock_is_unsettled(e, s))
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	else
		change_times(e, s, &change, s->row.left);
}

/* The same document was compiled again. If the old times were not valid, times are computed again from the
 * last record on, and missed ones are handled with the new rules. A changed agent alone changes no times. */
static void handle_recompile(struct engine *e, const struct command *c)
{
	struct sched *s = engine_sched(e, c->sid);
	if (!s || s->removed || s->busy || !s->outdated) {
		engine_reply_code(e, c->tag, s && s->busy ? REPLY_BUSY : REPLY_NOT_FOUND, c->sid, 0);
		return;
	}
	bool other_zone = rules_of(s)->policy.zone != c->rules.policy.zone;
	if (other_zone && !s->row.after && engine_times_valid(e, s)) {
		follow_zone(e, s, c);
		return;
	}
	struct st_req r = command_new_put(s, e->now.wall);
	struct wall from = s->row.high.us > s->row.changed.us ? s->row.high : s->row.changed;
	if (!engine_times_valid(e, s)) {
		r.keep_next = false;
		if (!s->row.next_set_at.us)
			r.row.next = first_time(e, &c->rules, s->row.after, from);
		s->late_cause =
			REASON_DOWN; /* the cause for times that came due while the rules were outdated */
	}
	set_rules(&r.row, c, rules_of(s)->max_runs);
	command_submit(e, s, &r, FOR_PUT, c->tag);
}

void command_handle(struct engine *e, const struct command *c)
{
	static void (*const handlers[])(struct engine *, const struct command *) = {
		[CMD_PUT] = handle_put,
		[CMD_DROP] = handle_drop,
		[CMD_PAUSE] = handle_pause,
		[CMD_RESUME] = handle_pause,
		[CMD_RUN] = handle_run,
		[CMD_STOP] = handle_stop,
		[CMD_BACKFILL] = handle_backfill,
		[CMD_RELEASE] = handle_release,
		[CMD_CLOCK] = handle_clock,
		[CMD_RECOMPILE] = handle_recompile,
		[CMD_NEXT_CHECK] = next_check_set,
	};
	if (c->kind >= ARRAY_LEN(handlers))
		return;
	/* Commands that may record something need a number for it. */
	bool records = c->kind == CMD_PUT || c->kind == CMD_RUN || c->kind == CMD_BACKFILL;
	if (records && !(numbers_ready(e, NUMBER_RUN) && numbers_ready(e, NUMBER_SCHED)))
		engine_reply_code(e, c->tag, REPLY_BUSY, c->sid, 0);
	else
		handlers[c->kind](e, c);
}

/* --- answers --- */

/* Running attempts may finish; runs that wait are cancelled, and retries dropped. */
void command_sched_removed(struct engine *e, struct sched *s)
{
	engine_set_removed(e, s);
	due_dequeue(e, s);
	struct backfill *f = backfill_of(e, s);
	if (f)
		end_backfill(e, f, false);
	runs_drop_retries(e, s);
	for (uint32_t i = s->first_run, next; i != NONE; i = next) {
		next = e->run[i].sibling;
		if (runs_is_waiting(&e->run[i]))
			runs_cancel(e, &e->run[i], REASON_CANCELLED);
	}
	if (s->first_run == NONE)
		engine_remove_sched(e, s);
}

void command_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack)
{
	static const enum reply_code codes[ST_RESULTS] = {
		[ST_OK] = REPLY_OK,       [ST_LOST] = REPLY_BUSY,       [ST_STALE] = REPLY_BUSY,
		[ST_FENCED] = REPLY_BUSY, [ST_REFUSED] = REPLY_REFUSED, [ST_COLLISION] = REPLY_BUSY
	};
	struct sched *s = engine_pending_sched(e, pending);
	bool ok = ack->res == ST_OK;
	bool ended = pending->purpose == FOR_RESUME ||
		     (pending->purpose == FOR_HOLD && !pending->hold.key && e->paused_all);
	engine_reply(e, (struct reply){ .tag = pending->command,
					.code = codes[ack->res],
					.sid = pending->sid,
					.count = ended });
	if (pending->purpose == FOR_HOLD) {
		if (ok)
			(pending->hold.key ? apply_hold : apply_global_pause)(e, &pending->hold);
		return;
	}
	if (!s && ok && pending->purpose == FOR_PUT && ack->has_row && parts_owned(e, pending->part))
		s = engine_add_sched(e, &ack->row);
	else if (s && ack->has_row)
		engine_set_row(e, s, &ack->row);
	if (!s)
		return;
	s->busy = false;
	if (s->row.changed.us > e->now.wall.us && sched_index(e, s) < e->rewind)
		e->rewind = sched_index(e, s); /* the clock stepped back while this was under way */
	if (ok && pending->closes_range)
		s->range_reason = 0;
	if (ok && pending->purpose == FOR_PAUSE)
		apply_pause(e, s);
	if ((ok && pending->purpose == FOR_DROP) ||
	    (ack->res == ST_REFUSED && !ack->has_row && !s->removed)) {
		command_sched_removed(e, s); /* removed by this request, or before by another writer */
		return;
	}
	due_enqueue(e, s);
}
