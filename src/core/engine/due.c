/* Handles due times until they are recorded. One heap has the next time of every schedule. A time that is due
 * is claimed, refused, or, if it is late, settled by the schedule's policy for missed times. */
#include "core/engine/state.h"
#include "core/schedule/news.h"

struct wall due_time(const struct sched *s, struct wall nominal)
{
	return rule_due(&rules_of(s)->when, s->zone, nominal);
}

struct wall due_next(const struct sched *s, struct wall after)
{
	struct wall next;
	/* No time at or before its last change fires, even if the clock has stepped back since. */
	if (after.us < s->row.changed.us)
		after = s->row.changed;
	if (s->row.after || rule_next(&rules_of(s)->when, s->zone, after, &next) != OK)
		return WALL_NEVER;
	return next;
}

int64_t due_grace(const struct sched *s)
{
	uint32_t window = policy_of(s)->window;
	return (window ? window : GRACE_SECONDS) * USEC;
}

static bool is_late(const struct engine *e, const struct sched *s, struct wall nominal)
{
	return e->now.wall.us - due_time(s, nominal).us > due_grace(s);
}

bool due_has_come(const struct engine *e, const struct sched *s, struct wall nominal)
{
	return nominal.us != INT64_MAX && due_time(s, nominal).us <= e->now.wall.us;
}

/* --- the due heap --- */

struct wall due_held_until(struct engine *e, const struct sched *s)
{
	const struct resource *both[] = { engine_resource(e, policy_of(s)->agent),
					  engine_resource(e, policy_of(s)->account) };
	struct wall until = { INT64_MIN };
	for (unsigned i = 0; i < ARRAY_LEN(both); i++)
		if (both[i] && both[i]->held && both[i]->hold.until.us > until.us)
			until = both[i]->hold.until;
	return until;
}

/* After a load: one of its runs is being probed, so it is not known whether that run is alive. */
static bool is_probing(const struct engine *e, const struct sched *s)
{
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		if (e->run[i].phase == PHASE_PROBING)
			return true;
	return false;
}

/* Catch-up runs go one after another: the next one must wait until the one before has ended, or waits for a
 * retry. */
static bool catch_up_is_busy(const struct engine *e, const struct sched *s)
{
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		if (e->run[i].row.kind == KIND_CATCH_UP && e->run[i].phase != PHASE_RETRY)
			return true;
	return false;
}

/* True if the reason of an open range applies at present. */
static bool reason_applies(struct engine *e, const struct sched *s, enum reason reason)
{
	struct wall first;
	bool paused = s->row.flags & SCHED_PAUSED;
	switch (reason) {
	case REASON_PAUSED:
		return paused || e->paused_all;
	case REASON_BLOCKED:
		return due_held_until(e, s).us == INT64_MAX;
	case REASON_MAX_RUNS:
		return s->row.left == 0;
	case REASON_NOT_STARTED:
		return dates_have_not_begun(s, &first);
	case REASON_EXPIRED:
		return dates_have_ended(s);
	case REASON_GATED:
		return !paused && next_check_gates(s, &first);
	default:
		return false;
	}
}

/* If the reason of the open range does not apply any more, closes the range. If another reason applies, the
 * schedule stays as it is, and the next range is opened after the answer. True: a request was sent. */
static bool range_close_outdated(struct engine *e, struct sched *s)
{
	static const enum reason reasons[] = { REASON_PAUSED,      REASON_BLOCKED, REASON_MAX_RUNS,
					       REASON_NOT_STARTED, REASON_EXPIRED, REASON_GATED };
	bool other = false;
	if (!s->range_reason || clock_is_unsettled(e, s) ||
	    reason_applies(e, s, (enum reason)s->range_reason))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		other |= reason_applies(e, s, reasons[i]);
	if (other)
		command_change_range(e, s);
	else
		command_resume(e, s, 0);
	return true;
}

static bool has_reached_max_failures(const struct sched *s)
{
	uint16_t most = policy_of(s)->max_failures;
	return most && s->row.failures >= most && !(s->row.flags & SCHED_PAUSED);
}

/* The line of catch-up runs ends when none of them is open and no time is left that came due meanwhile. */
static void update_line(struct engine *e, struct sched *s)
{
	bool open = false;
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		open |= e->run[i].row.kind == KIND_CATCH_UP;
	s->in_line = open || (s->in_line && (s->first_end != NONE || due_has_come(e, s, s->next_try)));
}

void due_dequeue(struct engine *e, struct sched *s)
{
	heap_remove(&e->due, sched_index(e, s));
	heap_remove(&e->catch_up, sched_index(e, s));
}

void due_enqueue(struct engine *e, struct sched *s)
{
	uint32_t i = sched_index(e, s);
	due_dequeue(e, s);
	follow_drop_handled(e, s);
	if (!s->busy)
		update_line(e, s);
	if (s->busy || s->removed || !(s->row.flags & SCHED_ENABLED) || s->outdated)
		return;
	if (has_reached_max_failures(s)) {
		command_pause(e, s, WALL_NEVER, (struct str){ 0 }, 0);
		return;
	}
	if (range_close_outdated(e, s) || dates_hold_back(e, s) || next_check_hold_back(e, s))
		return;
	if (s->first_end != NONE) {
		if (!catch_up_is_busy(e, s) && !is_probing(e, s))
			heap_put(&e->due, i, e->now.wall.us);
		return;
	}
	if (s->row.flags & SCHED_PAUSED) {
		if (!s->range_reason && s->row.next.us != INT64_MAX)
			due_open_range(e, s, s->next_try, REASON_PAUSED);
		else if (s->row.paused_until.us != INT64_MAX)
			heap_put(&e->due, i, s->row.paused_until.us);
		return;
	}
	if (s->range_reason || s->next_try.us == INT64_MAX || catch_up_is_busy(e, s) || is_probing(e, s))
		return;
	if (s->row.left == 0) {
		due_open_range(e, s, s->next_try, REASON_MAX_RUNS);
		return;
	}
	heap_put(&e->due, i, due_time(s, s->next_try).us);
}

/* --- records --- */

struct st_req due_new_request(const struct sched *s, enum st_op op, enum st_lane lane)
{
	return (struct st_req){
		.op = (uint8_t)op, .lane = (uint8_t)lane, .sid = s->row.sid, .rev = s->row.rev
	};
}

struct row_move due_keep_row(const struct sched *s)
{
	return (struct row_move){ s->row.next, s->row.high,       s->row.left,
				  s->row.owed, s->row.owed_since, s->row.seen };
}

void due_open_range(struct engine *e, struct sched *s, struct wall first, enum reason reason)
{
	struct st_req r = due_new_request(s, ST_RANGE, LANE_CLAIM);
	r.range = (struct range_row){ s->row.sid, first, WALL_NEVER, RUN_SKIPPED, (uint16_t)reason };
	r.expires = reason == REASON_EXPIRED;
	due_dequeue(e, s);
	s->busy = true;
	engine_submit_store(e, &r, FOR_OPEN, 0, 0, s);
}

/* The next run is informed of this missed time. */
static void add_owed(struct row_move *move, struct wall nominal)
{
	if (!move->owed)
		move->owed_since = nominal;
	if (move->owed < OWED_MAX)
		move->owed++;
}

void due_record_range(struct engine *e, struct sched *s, struct wall last, enum run_state state,
		      enum reason reason)
{
	struct st_req r = due_new_request(s, ST_RANGE, state == RUN_MISSED ? LANE_BULK : LANE_CLAIM);
	r.range = (struct range_row){ s->row.sid, s->next_try, last, (uint8_t)state, (uint16_t)reason };
	r.news = news_of_refusal(policy_of(s), state);
	r.moves = true;
	r.move = due_keep_row(s);
	r.move.next = due_next(s, last);
	r.move.high = last;
	if (state == RUN_MISSED)
		for (struct wall t = s->next_try; t.us <= last.us && r.move.owed < OWED_MAX;
		     t = due_next(s, t))
			add_owed(&r.move, t);
	due_dequeue(e, s);
	s->busy = true;
	engine_submit_store(e, &r, FOR_RANGE, 0, 0, s);
}

/* How many live runs of the schedule wait for another of its runs. */
static unsigned waiting_behind(const struct engine *e, const struct sched *s)
{
	unsigned live = runs_live(e, s);
	return live ? live - 1 : 0;
}

bool due_is_overlap(const struct engine *e, const struct sched *s, enum run_kind kind)
{
	static const unsigned most_behind[OVERLAP_COUNT] = {
		[OVERLAP_SKIP] = 0,
		[OVERLAP_QUEUE_ONE] = 1,
		[OVERLAP_QUEUE_ALL] = QUEUE_ALL_MAX,
		[OVERLAP_CANCEL_RUNNING] = QUEUE_ALL_MAX,
		[OVERLAP_ALLOW] = UINT32_MAX,
	};
	if (kind != KIND_TIMER && kind != KIND_AFTER && kind != KIND_MANUAL)
		return false;
	if (runs_open(e, s) >= RUNS_OPEN_MAX)
		return true;
	if (!runs_live(e, s))
		return false;
	return policy_of(s)->overlap == OVERLAP_SKIP ||
	       waiting_behind(e, s) >= most_behind[policy_of(s)->overlap];
}

/* The state in which an occurrence is recorded; RUN_PENDING if preconditions must be asked first. */
static enum run_state first_state(const struct engine *e, const struct policy *p, enum run_kind kind,
				  bool refused)
{
	if (refused)
		return RUN_SKIPPED;
	if (runs_preconditions(e, p, kind))
		return RUN_PENDING;
	return p->action == ACTION_EVENT ? RUN_FINISHED : RUN_CLAIMED;
}

/* The schedule's row after an occurrence of its rule or of its leader's end. */
static struct row_move move_past(const struct sched *s, struct wall nominal, const struct leader_end *end)
{
	struct row_move move = due_keep_row(s);
	if (end) {
		move.seen = end->number;
	} else {
		move.high = nominal;
		move.next = due_next(s, nominal);
	}
	return move;
}

void due_record(struct engine *e, struct sched *s, struct wall nominal, const struct leader_end *end,
		enum run_kind kind, enum run_state state, enum reason reason, uint64_t command)
{
	bool by_hand = kind == KIND_MANUAL || kind == KIND_BACKFILL;
	bool refused = state == RUN_SKIPPED || state == RUN_MISSED;
	struct st_req r = due_new_request(s, ST_OCC,
					  kind == KIND_MANUAL     ? LANE_USER
					  : kind == KIND_CATCH_UP ? LANE_BULK
								  : LANE_CLAIM);
	r.run = (struct run_row){ .run = numbers_take(e, NUMBER_RUN),
				  .sid = s->row.sid,
				  .rev = s->row.rev,
				  .kind = (uint8_t)kind,
				  .state = (uint8_t)state,
				  .reason = (uint16_t)reason,
				  .nominal = nominal,
				  .due = nominal,
				  .claimed = e->now.wall,
				  .fence = e->part[s->row.part].epoch,
				  .node = e->node,
				  .retry = finish_retry_number(s),
				  .cost = -1,
				  .exit_code = -1 };
	if (!end && (kind == KIND_TIMER || kind == KIND_CATCH_UP))
		r.run.due = due_time(s, nominal);
	if (state == RUN_FINISHED) {
		r.run.outcome = OUTCOME_DONE;
		r.run.ended = e->now.wall;
		r.publishes = true; /* only an event is done when it is claimed */
		r.news = news_of_end(policy_of(s), &r.run, s->row.failures, s->row.failures);
	} else {
		r.news = news_of_refusal(policy_of(s), state);
	}
	if (!by_hand) {
		due_dequeue(e, s);
		s->busy = true;
		r.moves = true;
		r.move = move_past(s, nominal, end);
		if (!refused && s->row.left != UINT32_MAX)
			r.move.left--;
		if (end && state == RUN_MISSED)
			add_owed(&r.move, nominal);
		if (!refused && s->row.owed) {
			r.run.missed = s->row.owed;
			r.move.owed = 0;
			r.move.owed_since = (struct wall){ 0 };
		}
	}
	if (state == RUN_PENDING || state == RUN_CLAIMED) {
		struct run *run = engine_add_run(e, &r.run, sched_index(e, s));
		if (run)
			run->phase = PHASE_RECORDING;
	}
	engine_submit_store(e, &r, FOR_CLAIM, r.run.run, command, s);
}

void due_claim(struct engine *e, struct sched *s, struct wall nominal, const struct leader_end *end,
	       enum run_kind kind, uint64_t command)
{
	bool refused = due_is_overlap(e, s, kind);
	due_record(e, s, nominal, end, kind, first_state(e, policy_of(s), kind, refused),
		   refused ? REASON_OVERLAP : REASON_NONE, command);
}

/* --- ranges of nominal times --- */

struct wall due_last_since(const struct engine *e, const struct sched *s, int64_t since)
{
	struct wall t = { e->now.wall.us - since };
	while (rule_prev(&rules_of(s)->when, s->zone, t, &t) == OK && t.us > s->next_try.us) {
		if (e->now.wall.us - due_time(s, t).us >= since)
			return t;
		t.us--;
	}
	return s->next_try;
}

bool due_prev(const struct sched *s, struct wall t, struct wall *ret)
{
	struct wall prev;
	if (s->next_try.us > t.us)
		return false;
	bool regular = rule_prev(&rules_of(s)->when, s->zone, t, &prev) == OK && prev.us > s->next_try.us;
	*ret = regular ? prev : s->next_try;
	return true;
}

/* Jitter is ignored because nominal times before a change of the schedule never fire after it. */
bool due_last_pending(const struct engine *e, const struct sched *s, struct wall *ret)
{
	return !s->row.after && due_prev(s, e->now.wall, ret);
}

static struct rules_context context_of(const struct engine *e, const struct sched *s)
{
	uint16_t hours = rules_of(s)->active.zone;
	return (struct rules_context){ s->zone, e->config.zones[hours < e->config.zone_count ? hours : 0],
				       &e->config.calendars[policy_of(s)->calendar] };
}

enum reason due_bar_reason(const struct engine *e, const struct sched *s, struct wall nominal)
{
	struct rules_context context = context_of(e, s);
	return rules_bar(rules_of(s), &context, nominal);
}

struct wall due_same_bar(const struct engine *e, const struct sched *s, struct wall last)
{
	enum reason reason = due_bar_reason(e, s, s->next_try);
	struct wall t = s->next_try, next;
	struct rules_context context = context_of(e, s);
	if (!rules_can_bar(rules_of(s), &context))
		return last;
	for (unsigned n = 0; n < STRETCH_MAX; n++, t = next) {
		next = due_next(s, t);
		if (next.us > last.us || due_bar_reason(e, s, next) != reason)
			break;
	}
	return t;
}

/* --- handling due schedules --- */

/* The last nominal time up to restored_at, for which the restored store cannot say whether it ran. */
static struct wall last_before_restore(const struct engine *e, const struct sched *s)
{
	struct wall until = e->restored_at.us < e->now.wall.us ? e->restored_at : e->now.wall, t = until;
	while (due_prev(s, t, &t) && t.us > s->next_try.us && due_time(s, t).us > until.us)
		t.us--; /* jitter: it was not due yet, so it did not run */
	return t.us > s->next_try.us ? t : s->next_try;
}

/* Handles one schedule whose time has come. Every path sends a request, or puts the schedule into a heap with
 * a later time, or leaves it out of the heaps. */
static bool is_another_due(const struct engine *e, const struct sched *s)
{
	return due_has_come(e, s, due_next(s, s->next_try));
}

static void handle_sched(struct engine *e, struct sched *s)
{
	struct resource *agent = engine_resource(e, policy_of(s)->agent);
	struct wall held = due_held_until(e, s), paused;
	if (clock_is_unsettled(e, s)) {
		heap_put(&e->due, sched_index(e, s), e->now.wall.us + USEC / 100);
	} else if (s->first_end != NONE) {
		follow_run_first(e, s);
	} else if (dates_arrive(e, s) || next_check_arrive(e, s)) {
		return;
	} else if (s->row.flags & SCHED_PAUSED) {
		command_resume(e, s, 0);
	} else if (!due_has_come(e, s, s->next_try)) {
		due_enqueue(e, s); /* the clock stepped back while it waited for a token */
	} else if (e->paused_all) {
		due_open_range(e, s, s->next_try, REASON_PAUSED);
	} else if (due_prev(s, e->all_resumed_at, &paused)) {
		due_record_range(e, s, paused, RUN_SKIPPED, REASON_PAUSED);
	} else if (agent && agent->held && agent->hold.until.us == INT64_MAX) {
		due_open_range(e, s, s->next_try, REASON_BLOCKED);
	} else if (due_time(s, s->next_try).us <= e->restored_at.us) {
		due_record_range(e, s, last_before_restore(e, s), RUN_MISSED, REASON_RESTORED);
	} else if (held.us > e->now.wall.us) {
		s->late_cause = REASON_RATE_LIMITED;
		heap_put(&e->due, sched_index(e, s), held.us);
	} else if (due_bar_reason(e, s, s->next_try)) {
		due_record_range(e, s, due_same_bar(e, s, due_last_since(e, s, 0)), RUN_SKIPPED,
				 due_bar_reason(e, s, s->next_try));
	} else if (is_late(e, s, s->next_try)) {
		late_settle(e, s);
	} else if (late_joins_line(e, s, due_time(s, s->next_try), is_another_due)) {
		late_start(e, s, KIND_CATCH_UP);
	} else {
		struct wall last = due_is_overlap(e, s, KIND_TIMER)
					   ? due_same_bar(e, s, due_last_since(e, s, 0))
					   : s->next_try;
		if (last.us > s->next_try.us)
			due_record_range(e, s, last, RUN_SKIPPED, REASON_OVERLAP);
		else
			due_claim(e, s, s->next_try, NULL, KIND_TIMER, 0);
	}
}

/* The next schedule to handle: the first in the catch_up heap if there is a token, else the first that is
 * due; NULL: none. */
static struct sched *first_due(struct engine *e)
{
	if (e->catch_up.n && late_tokens(e, e->now.boot) >= USEC)
		return &e->sched[e->catch_up.entry[0].item];
	if (e->due.n && e->due.entry[0].key <= e->now.wall.us)
		return &e->sched[e->due.entry[0].item];
	return NULL;
}

void due_handle(struct engine *e)
{
	if (e->clock_held)
		return;
	if (e->paused_all && !e->resuming_all && e->global_pause.until.us <= e->now.wall.us) {
		struct command resume_all = { .kind = CMD_RESUME };
		e->resuming_all = true;
		command_handle(e, &resume_all);
	}
	e->rewind_waits = false;
	for (unsigned n = 0; n < STEP_DUE_MAX && e->claims < CLAIMS_MAX && numbers_ready(e, NUMBER_RUN);
	     n++) {
		if (e->rewind != NONE && clock_rewind_next(e))
			continue;
		struct sched *s = e->documents_first ? NULL : first_due(e);
		if (!s)
			return;
		due_dequeue(e, s);
		/* Prefetches the schedule that is probably next: with a million schedules, each access misses
		 * the cache. */
		if (e->due.n)
			for (size_t at = 0; at < sizeof *s; at += 64)
				__builtin_prefetch((const char *)&e->sched[e->due.entry[0].item] + at);
		handle_sched(e, s);
	}
}

/* --- answers --- */

static void claim_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack)
{
	struct run *r = engine_run(e, pending->run);
	if (ack->res != ST_OK) {
		engine_reply_code(e, pending->command, ack->res == ST_REFUSED ? REPLY_NOT_FOUND : REPLY_BUSY,
				  pending->sid, 0);
		if (r)
			engine_remove_run(e, r);
		return;
	}
	engine_reply_code(e, pending->command, REPLY_OK, pending->sid, pending->run);
	if (r) {
		runs_recorded(e, r);
	} else if (pending->outcome) {
		follow_notify(e, &(struct run_row){ .sid = pending->sid,
						    .outcome = pending->outcome,
						    .ended = pending->ended,
						    .end = ack->end });
	}
}

/* ST_LOST: the nominal time is recorded already, so it is skipped even if the row still names it. */
static void skip_recorded(struct engine *e, struct sched *s, struct wall tried)
{
	if (s->first_end != NONE)
		follow_shift_first(e, s);
	else if (tried.us != INT64_MAX)
		s->next_try = due_next(s, tried);
}

void due_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack)
{
	struct sched *s = engine_pending_sched(e, pending);
	/* Manual runs and backfills do not make the schedule busy, and do not move its row. */
	bool by_clock = pending->purpose != FOR_CLAIM ||
			(pending->kind != KIND_MANUAL && pending->kind != KIND_BACKFILL);
	struct wall tried = s ? s->next_try : WALL_NEVER;
	if (s && by_clock)
		s->busy = false;
	if (s && ack->has_row && (by_clock || !s->busy))
		engine_set_row(e, s, &ack->row);
	if (s && ack->res == ST_OK && by_clock)
		s->late_cause = 0;
	/* Refused although the schedule exists: it has an open range already. */
	if (s && ack->has_row && pending->purpose == FOR_OPEN &&
	    (ack->res == ST_OK || ack->res == ST_REFUSED))
		s->range_reason = pending->reason;
	if (s && s->row.next.us < tried.us && !by_clock)
		s->next_try =
			tried; /* the row in an answer about a manual run or backfill must not reset it */
	if (s && by_clock && ack->res == ST_LOST)
		skip_recorded(e, s, tried);
	if (pending->purpose == FOR_CLAIM)
		claim_acked(e, pending, ack);
	if (s && pending->purpose == FOR_CLAIM && pending->kind == KIND_BACKFILL)
		command_backfill_next(e, s, (enum st_res)ack->res);
	if (s && s->removed && s->first_run == NONE)
		engine_remove_sched(e, s); /* removed while this was under way */
	else if (s && !s->removed && ack->res == ST_REFUSED && !ack->has_row)
		command_sched_removed(e, s); /* removed by another writer */
	else if (s)
		due_enqueue(e, s);
}
