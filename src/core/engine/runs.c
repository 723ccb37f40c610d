/* From record to exit: guards, then for each attempt check, gate, start. A run moves on only when the store
 * or the runner has answered. */
#include "core/engine/state.h"
#include "core/schedule/news.h"

struct sched *runs_sched(struct engine *e, const struct run *r)
{
	return &e->sched[r->sched];
}

/* Has failed, and has not set out again: only pending, in whatever queue it stands. */
static bool is_pending_retry(const struct run *r)
{
	return r->phase == PHASE_RETRY ||
	       (r->row.attempt &&
		(r->phase == PHASE_BEHIND || r->phase == PHASE_CHECKING || r->phase == PHASE_QUEUED));
}

/* A person's word ignores the pause. */
bool runs_is_paused(const struct engine *e, const struct run *r)
{
	return r->row.kind != KIND_MANUAL && (e->sched[r->sched].row.flags & SCHED_PAUSED || e->paused_all);
}

bool runs_is_live(const struct run *r)
{
	return r->phase != PHASE_RECORDING && r->phase != PHASE_ENDING && !is_pending_retry(r);
}

unsigned runs_live(const struct engine *e, const struct sched *s)
{
	unsigned n = 0;
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		n += runs_is_live(&e->run[i]);
	return n;
}

unsigned runs_open(const struct engine *e, const struct sched *s)
{
	unsigned n = 0;
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		n++;
	return n;
}

struct st_req runs_new_request(const struct run *r, enum st_op op, enum st_lane lane)
{
	return (struct st_req){
		.op = (uint8_t)op, .lane = (uint8_t)lane, .sid = r->row.sid, .rev = r->row.rev, .run = r->row
	};
}

static void tell_runner(struct engine *e, struct run *r, enum rn_op op, enum rn_ask ask, enum reason reason)
{
	struct rn_req q = { .op = (uint8_t)op,
			    .ask = (uint8_t)ask,
			    .attempt = r->attempt,
			    .reason = (uint16_t)reason,
			    .number = r->question,
			    .run = r->row.run,
			    .sid = r->row.sid,
			    .rev = r->row.rev };
	engine_submit_runner(e, &q);
}

/* --- guards --- */

static void go_on(struct engine *e, struct run *r);

static void ask(struct engine *e, struct run *r, enum rn_ask which, enum run_phase phase)
{
	r->phase = (uint8_t)phase;
	r->answer_stale = false;
	r->question++;
	tell_runner(e, r, RN_ASK, which, REASON_NONE);
}

static unsigned guards_of(struct engine *e, const struct run *r)
{
	unsigned guards = policy_of(runs_sched(e, r))->preconditions & ~(1u << ASK_CHECK);
	return r->row.kind == KIND_MANUAL ? guards & 1u << ASK_BUDGET : guards;
}

/* The guards that have not said yes yet, in their order; when all have, the verdict. */
static void ask_next(struct engine *e, struct run *r)
{
	unsigned left = guards_of(e, r) & ~r->passed;
	if (left) {
		ask(e, r, (enum rn_ask)__builtin_ctz(left), PHASE_ASKING);
		return;
	}
	struct st_req q = runs_new_request(r, ST_VERDICT, LANE_CLAIM);
	q.run.state = RUN_CLAIMED;
	r->phase = PHASE_VERDICT;
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

/* The run ends without another attempt. */
static void leave(struct engine *e, struct run *r, struct run_ending how)
{
	gate_dequeue(e, r);
	gate_release_slot(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	if (r->maybe_started) {
		r->phase = PHASE_PREVENTING;
		r->ending = how;
		r->attempt = (uint16_t)(r->row.attempt + 1);
		tell_runner(e, r, RN_PREVENT, 0, REASON_NONE);
		return;
	}
	if (how.state == RUN_RETRYING) {
		/* Not an end that the runner said: the check's answer. */
		struct rn_report end = { .kind = RN_ANSWER,
					 .outcome = how.outcome,
					 .reason = how.reason,
					 .ended = e->now.wall,
					 .cost = -1,
					 .exit_code = -1 };
		r->attempt = (uint16_t)(r->row.attempt + 1);
		finish_attempt(e, r, &end);
		return;
	}
	r->attempt = r->row.attempt;
	if (how.state != RUN_FINISHED) {
		struct st_req q = runs_new_request(r, ST_VERDICT, LANE_CLAIM);
		q.run.state = how.state;
		q.run.reason = how.reason;
		q.news = news_of_refusal(policy_of(runs_sched(e, r)), (enum run_state)how.state);
		r->phase = PHASE_VERDICT;
		engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
		return;
	}
	r->row.state = RUN_FINISHED;
	if (how.outcome) {
		r->row.outcome = how.outcome;
		r->row.reason = how.reason;
		r->row.ended = e->now.wall;
	} else {
		r->row.retry_at = e->now.wall; /* a retry that was to be: what was before it stands */
	}
	finish_record(e, r, false);
}

void runs_refuse(struct engine *e, struct run *r, enum run_state state, enum reason reason)
{
	leave(e, r, (struct run_ending){ .state = (uint8_t)state, .reason = (uint16_t)reason });
}

/* No further attempt: the last one's outcome is the run's, and it is over now. */
void runs_end_retries(struct engine *e, struct run *r)
{
	leave(e, r, (struct run_ending){ .state = RUN_FINISHED });
}

/* It ends before another attempt of it was started. */
static void end_unstarted(struct engine *e, struct run *r, enum outcome outcome, enum reason reason)
{
	if (r->row.attempt)
		runs_end_retries(e, r);
	else
		leave(e, r, (struct run_ending){ RUN_FINISHED, (uint8_t)outcome, (uint16_t)reason });
}

static struct wall window_end(struct engine *e, const struct run *r)
{
	uint32_t window = policy_of(runs_sched(e, r))->window;
	return (struct wall){ r->row.due.us + window * USEC };
}

/* A false condition may become true: asked again within the window, and a last time when it closes. */
static void said_no(struct engine *e, struct run *r, enum rn_ask which, enum reason reason)
{
	static const enum reason reasons[RN_ASKS] = {
		[ASK_BUDGET] = REASON_BUDGET, [ASK_CONDITION] = REASON_CONDITION, [ASK_HOOK] = REASON_HOOK
	};
	int64_t left = window_end(e, r).us - e->now.wall.us;
	if (which == ASK_CONDITION && policy_of(runs_sched(e, r))->window && left > 0) {
		if (r->answer_stale) {
			ask_next(e, r);
			return;
		}
		int64_t wait = left < CONDITION_SECONDS * USEC ? left : CONDITION_SECONDS * USEC;
		r->phase = PHASE_WAITING;
		heap_put(&e->run_timer, run_index(e, r), e->now.boot.us + wait);
		return;
	}
	runs_refuse(e, r, RUN_SKIPPED, reason ? reason : reasons[which]);
}

/* `check` says whether this attempt is worth a start at all. */
static void checked(struct engine *e, struct run *r, const struct rn_report *says)
{
	if (says->yes) {
		gate_enqueue(e, r);
		return;
	}
	leave(e, r,
	      (struct run_ending){ RUN_RETRYING, says->reason ? OUTCOME_FAILED : OUTCOME_NO_WORK,
				   says->reason });
}

static void answered(struct engine *e, struct run *r, const struct rn_report *says)
{
	if (says->number != r->question)
		return; /* an answer to an older question */
	if (r->phase == PHASE_CHECKING && says->ask == ASK_CHECK) {
		checked(e, r, says);
	} else if (r->phase == PHASE_ASKING && says->ask < RN_ASKS) {
		if (says->yes) {
			r->passed |= (uint8_t)(1u << says->ask);
			ask_next(e, r);
		} else {
			said_no(e, r, (enum rn_ask)says->ask, (enum reason)says->reason);
		}
	}
}

void runs_state_changed(struct engine *e, uint32_t key)
{
	for (uint32_t i = 0; i < e->runs; i++) {
		struct run *r = &e->run[i];
		if (!r->row.run || (key && policy_of(runs_sched(e, r))->agent != key))
			continue;
		r->answer_stale |= r->phase == PHASE_ASKING;
		if (r->phase == PHASE_WAITING) {
			heap_remove(&e->run_timer, i);
			ask_next(e, r);
		}
	}
}

/* --- attempts --- */

void runs_recorded(struct engine *e, struct run *r)
{
	if (r->row.state == RUN_PENDING)
		ask_next(e, r);
	else
		go_on(e, r);
}

/* Is there a live run of the schedule that must end first? */
static bool must_wait(struct engine *e, const struct run *r)
{
	const struct sched *s = runs_sched(e, r);
	bool allow = policy_of(s)->overlap == OVERLAP_ALLOW;
	bool line = r->row.kind == KIND_BACKFILL ||
		    r->row.kind == KIND_CATCH_UP; /* goes one after another anyway */
	for (uint32_t i = s->first_run; i != NONE && (!allow || line); i = e->run[i].sibling) {
		const struct run *other = &e->run[i];
		if (other == r || !runs_is_live(other) || (allow && other->row.kind != r->row.kind))
			continue;
		/* Whoever is older goes first, unless a younger one has set out already. */
		bool set_out = other->phase > PHASE_BEHIND;
		if (r->phase == PHASE_QUEUED ? other->phase >= PHASE_STARTING
					     : set_out || other->row.run < r->row.run)
			return true;
	}
	return false;
}

static void attempt(struct engine *e, struct run *r)
{
	const struct sched *s = runs_sched(e, r);
	if (s->removed) {
		end_unstarted(e, r, OUTCOME_KILLED, REASON_CANCELLED);
		return;
	}
	if (runs_is_paused(e, r)) {
		if (r->row.attempt)
			runs_end_retries(e, r);
		else
			runs_refuse(e, r, RUN_SKIPPED, REASON_PAUSED);
		return;
	}
	r->attempt = (uint16_t)(r->row.attempt + 1);
	if (policy_of(runs_sched(e, r))->preconditions & 1u << ASK_CHECK)
		ask(e, r, ASK_CHECK, PHASE_CHECKING);
	else
		gate_enqueue(e, r);
}

/* Its turn, if nobody of its schedule is before it. */
static void set_out(struct engine *e, struct run *r)
{
	if (must_wait(e, r))
		r->phase = PHASE_BEHIND;
	else
		attempt(e, r);
}

/* The run is claimed. */
static void go_on(struct engine *e, struct run *r)
{
	struct sched *s = runs_sched(e, r);
	if (policy_of(s)->action == ACTION_EVENT || r->killed) {
		end_unstarted(e, r, r->killed ? OUTCOME_KILLED : OUTCOME_DONE, (enum reason)r->kill_reason);
		return;
	}
	if (!must_wait(e, r)) {
		attempt(e, r);
		return;
	}
	r->phase = PHASE_BEHIND;
	if (policy_of(s)->overlap != OVERLAP_CANCEL_RUNNING || r->row.kind == KIND_BACKFILL)
		return;
	for (uint32_t i = s->first_run, next; i != NONE && e->run[i].row.run < r->row.run; i = next) {
		next = e->run[i].sibling;
		if (runs_is_live(&e->run[i]))
			runs_cancel(e, &e->run[i], REASON_REPLACED);
	}
}

void runs_start_waiting(struct engine *e, struct sched *s)
{
	for (uint32_t i = s->first_run, next; i != NONE; i = next) {
		next = e->run[i].sibling;
		if (e->run[i].phase == PHASE_BEHIND && !must_wait(e, &e->run[i])) {
			attempt(e, &e->run[i]);
			return;
		}
	}
}

/* Its agent is blocked, or its account held: it cannot start now. */
void runs_hold(struct engine *e, struct run *r, const struct hold_row *hold)
{
	if (hold->until.us != INT64_MAX) {
		/* A retry is pending again; a first attempt stays queued. */
		r->phase = r->row.attempt ? PHASE_RETRY : PHASE_QUEUED;
		r->attempt = r->row.attempt;
		heap_put(&e->run_timer, run_index(e, r), e->now.boot.us + (hold->until.us - e->now.wall.us));
		if (r->phase == PHASE_RETRY)
			runs_start_waiting(e, runs_sched(e, r));
	} else if (r->row.attempt == 0) {
		runs_refuse(e, r, RUN_SKIPPED, REASON_BLOCKED);
	} else {
		runs_end_retries(e, r);
	}
}

void runs_release(struct engine *e, struct sched *s)
{
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling) {
		const struct run *r = &e->run[i];
		if (!heap_has(&e->run_timer, i) || (r->phase != PHASE_QUEUED && r->phase != PHASE_RETRY))
			continue;
		int64_t at = r->phase == PHASE_RETRY && r->retry_at.us > e->now.boot.us ? r->retry_at.us
											: e->now.boot.us;
		if (at < heap_key(&e->run_timer, i))
			heap_put(&e->run_timer, i, at);
	}
}

void runs_start(struct engine *e, struct run *r)
{
	if (r->row.attempt == 0 && policy_of(runs_sched(e, r))->window && r->row.kind != KIND_MANUAL &&
	    r->row.kind != KIND_BACKFILL && e->now.wall.us > window_end(e, r).us) {
		runs_refuse(e, r, RUN_MISSED, REASON_WINDOW_CLOSED);
		return;
	}
	if (must_wait(e, r)) {
		/* Two retries may have stood at the gate: only one of them goes. */
		r->phase = PHASE_BEHIND;
		gate_release_slot(e, r);
		return;
	}
	r->phase = PHASE_STARTING;
	r->maybe_started = false; /* from now on the runner tells what becomes of it */
	r->launching = true;
	e->launches++;
	tell_runner(e, r, RN_START, 0, REASON_NONE);
}

void runs_launch_answered(struct engine *e, struct run *r)
{
	e->launches -= r->launching;
	r->launching = false;
}

bool runs_is_waiting(const struct run *r)
{
	return r->phase == PHASE_ASKING || r->phase == PHASE_WAITING || r->phase == PHASE_BEHIND ||
	       r->phase == PHASE_CHECKING || r->phase == PHASE_QUEUED;
}

void runs_drop_retry(struct engine *e, struct run *r)
{
	if (is_pending_retry(r))
		runs_end_retries(e, r);
	else if (r->phase == PHASE_ENDING && r->row.state == RUN_RETRYING)
		r->retry_dropped = true; /* it is not pending before the store has answered */
}

void runs_drop_retries(struct engine *e, struct sched *s)
{
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		runs_drop_retry(e, &e->run[i]);
}

void runs_cancel(struct engine *e, struct run *r, enum reason reason)
{
	r->kill_reason = (uint16_t)reason;
	r->killed = true;
	switch ((enum run_phase)r->phase) {
	case PHASE_STARTING:
	case PHASE_RUNNING:
		tell_runner(e, r, RN_KILL, 0, reason);
		break;
	case PHASE_ASKING:
	case PHASE_WAITING:
	case PHASE_BEHIND:
	case PHASE_CHECKING:
	case PHASE_QUEUED:
	case PHASE_RETRY:
		end_unstarted(e, r, OUTCOME_KILLED, reason);
		break;
	default:
		break; /* recording, verdict, probing, ending: judged when its answer comes */
	}
}

/* --- what the runner says --- */

static void born(struct engine *e, struct run *r)
{
	if (r->phase != PHASE_STARTING && r->phase != PHASE_PROBING)
		return;
	runs_launch_answered(e, r);
	gate_claim_slot(e, r);
	r->phase = PHASE_RUNNING;
	if (r->killed)
		tell_runner(e, r, RN_KILL, 0, (enum reason)r->kill_reason);
	if (r->row.attempt == r->attempt && r->row.started.us)
		return; /* adopted: the store knows */
	r->row.attempt = r->attempt;
	r->row.started = e->now.wall;
	r->row.state = RUN_CLAIMED;
	struct st_req q = runs_new_request(r, ST_STARTED, LANE_FINISH);
	q.news = news_of_start(policy_of(runs_sched(e, r)));
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

/* It cannot be started: in a former life its end was prepared, and not recorded. The next attempt goes in its
 * place; this one does not count. */
static void unborn(struct engine *e, struct run *r)
{
	runs_launch_answered(e, r);
	if (r->killed) {
		end_unstarted(e, r, OUTCOME_KILLED, (enum reason)r->kill_reason);
		return;
	}
	gate_release_slot(e, r);
	r->row.attempt = r->attempt;
	r->row.outcome = OUTCOME_FAILED;
	r->row.reason = REASON_LOST;
	r->row.ended = r->row.retry_at = e->now.wall;
	r->retry_at = e->now.boot;
	r->row.uncounted++;
	r->row.state = RUN_RETRYING;
	finish_record(e, r, false);
}

/* It was born, left no record, and nothing of it is alive. */
static void lost(struct engine *e, struct run *r)
{
	struct rn_report says = { .outcome = OUTCOME_FAILED,
				  .reason = REASON_LOST,
				  .ended = e->now.wall,
				  .cost = -1,
				  .exit_code = -1 };
	finish_attempt(e, r, &says);
}

/* There is no trace of it, which does not mean that there was none: it is not started again. */
static void unknown(struct engine *e, struct run *r)
{
	bool waited = r->row.state == RUN_RETRYING || r->row.attempt == 0;
	r->maybe_started = waited;
	if (!waited)
		lost(e, r);
	else if (r->row.attempt)
		runs_end_retries(e, r);
	else
		runs_refuse(e, r, RUN_MISSED, REASON_RESTORED);
}

/* Its window was open when it was decided to start it; but the machine could not, until it was long over. */
static void too_late(struct engine *e, struct run *r, const struct rn_report *says)
{
	struct rn_report fenced = *says;
	if (r->row.attempt) { /* not a first attempt's fate */
		fenced.outcome = OUTCOME_KILLED;
		fenced.reason = REASON_FENCED;
		finish_attempt(e, r, &fenced);
		return;
	}
	runs_launch_answered(e, r);
	if (r->killed)
		end_unstarted(e, r, OUTCOME_KILLED, (enum reason)r->kill_reason);
	else
		runs_refuse(e, r, RUN_MISSED, REASON_WINDOW_CLOSED);
}

/* After a load: the attempt was never born. Its claim still stands. */
static void never(struct engine *e, struct run *r)
{
	if (r->phase == PHASE_PREVENTING) {
		r->maybe_started = false;
		leave(e, r, r->ending);
		return;
	}
	if (r->phase == PHASE_STARTING) {
		unborn(e, r);
		return;
	}
	if (r->phase != PHASE_PROBING)
		return;
	if (is_from_before_restore(e, r)) {
		unknown(e, r);
		return;
	}
	if (r->row.state == RUN_CLAIMED && r->row.attempt == r->attempt) {
		lost(e, r); /* it was seen alive: somebody has removed its file */
		return;
	}
	r->attempt = r->row.attempt;
	r->maybe_started = true;
	gate_release_slot(e, r);
	if (r->row.state == RUN_RETRYING && r->killed) {
		runs_end_retries(e, r);
	} else if (r->row.state == RUN_RETRYING) {
		int64_t left = r->row.retry_at.us - e->now.wall.us;
		int64_t most = r->row.reason == REASON_RATE_LIMITED
				       ? RETRY_SECONDS_MAX * USEC
				       : finish_max_delay(policy_of(runs_sched(e, r))) * USEC;
		left = left < 0 ? 0 : left > most ? most : left;
		r->phase = PHASE_RETRY;
		r->retry_at = (struct boot){ e->now.boot.us + left };
		heap_put(&e->run_timer, run_index(e, r), r->retry_at.us);
	} else {
		go_on(e, r);
	}
	runs_start_waiting(e, runs_sched(e, r)); /* those behind may have waited for this answer only */
}

/* What was asked for in a former life was born after all: as if the probe had found it. */
static void adopt(struct engine *e, struct run *r)
{
	gate_dequeue(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	gate_claim_slot(e, r);
	r->maybe_started = false;
	r->attempt = (uint16_t)(r->row.attempt + 1);
	r->phase = PHASE_PROBING;
}

void runs_report(struct engine *e, const struct rn_report *says)
{
	struct run *r = engine_run(e, says->run);
	if (!r)
		return;
	if (says->kind == RN_ANSWER) {
		answered(e, r, says);
		return;
	}
	if (r->maybe_started && says->kind != RN_NOT_STARTED && says->attempt == r->row.attempt + 1)
		adopt(e, r);
	if (says->attempt != r->attempt)
		return;
	bool alive = r->phase == PHASE_STARTING || r->phase == PHASE_RUNNING || r->phase == PHASE_PROBING;
	switch ((enum rn_report_kind)says->kind) {
	case RN_STARTED:
	case RN_ALIVE:
		born(e, r);
		due_enqueue(e, runs_sched(e, r)); /* if it was out until this was known */
		break;
	case RN_EXIT:
		if (alive && says->outcome == OUTCOME_NONE)
			too_late(e, r, says);
		else if (alive)
			finish_attempt(e, r, says);
		break;
	case RN_LOST:
		if (alive)
			lost(e, r);
		break;
	case RN_NOT_STARTED:
		never(e, r);
		due_enqueue(e, runs_sched(e, r));
		break;
	case RN_ANSWER:
		break;
	}
}

/* --- what the store answers --- */

static void gone(struct engine *e, struct run *r)
{
	struct sched *s = runs_sched(e, r);
	engine_reply_code(e, r->stop_tag, REPLY_OK, r->row.sid, r->row.run);
	engine_remove_run(e, r);
	runs_start_waiting(e, s);
	if (s->removed && s->first_run == NONE)
		engine_remove_sched(e, s);
	else
		due_enqueue(e, s);
}

/* Its end is the store's `number`; 0: it ended otherwise before, and that was told. */
static void finished(struct engine *e, struct run *r, uint64_t number)
{
	r->row.end = number;
	if (number)
		finish_notify_followers(e, &r->row);
	gone(e, r);
}

static void verdict_acked(struct engine *e, struct run *r, const struct pending *w, const struct st_ack *ack)
{
	if (ack->res != ST_OK || w->state != RUN_CLAIMED) {
		gone(e, r);
		return;
	}
	r->row.state = RUN_CLAIMED;
	go_on(e, r);
}

void runs_acked(struct engine *e, const struct pending *w, const struct st_ack *ack)
{
	struct run *r = engine_run(e, w->run);
	struct sched *s = engine_pending_sched(e, w);
	if (s && ack->has_row)
		s->row.failures = ack->row.failures; /* all that a finish changes */
	if (s && w->op == ST_FINISH && w->state == RUN_FINISHED)
		s->finishing--;
	if (!r)
		return;
	switch ((enum st_op)w->op) {
	case ST_VERDICT:
		verdict_acked(e, r, w, ack);
		break;
	case ST_FINISH:
		if (ack->res == ST_OK && r->row.state == RUN_RETRYING && (r->retry_dropped || r->killed)) {
			runs_end_retries(e, r);
		} else if (ack->res == ST_OK && r->row.state == RUN_RETRYING) {
			r->phase = PHASE_RETRY;
			heap_put(&e->run_timer, run_index(e, r), r->retry_at.us);
			runs_start_waiting(e, runs_sched(e, r));
			due_enqueue(e, runs_sched(e, r));
		} else {
			finished(e, r, ack->res == ST_OK ? ack->end : 0);
		}
		break;
	default:
		break;
	}
}

void runs_timers(struct engine *e)
{
	for (unsigned n = 0;
	     n < STEP_DUE_MAX && e->run_timer.n && e->run_timer.entry[0].key <= e->now.boot.us; n++) {
		struct run *r = &e->run[e->run_timer.entry[0].item];
		heap_remove(&e->run_timer, run_index(e, r));
		if (r->phase == PHASE_WAITING)
			ask_next(e, r);
		else if (r->phase == PHASE_RETRY || r->phase == PHASE_BEHIND)
			set_out(e, r);
		else if (r->phase == PHASE_QUEUED)
			attempt(e, r); /* what held it is over */
	}
}

/* --- after a load --- */

void runs_recover(struct engine *e, struct run *r)
{
	if (r->row.state == RUN_PENDING && is_from_before_restore(e, r)) {
		runs_refuse(e, r, RUN_MISSED, REASON_RESTORED);
		return;
	}
	if (r->row.state == RUN_PENDING) {
		ask_next(e, r); /* asked again, never claimed again */
		return;
	}
	/* The attempt that may be alive: the one seen started, or the next, of which nobody told the store.
	 */
	r->attempt = (uint16_t)(r->row.attempt + (r->row.state == RUN_RETRYING || r->row.attempt == 0));
	r->phase = PHASE_PROBING;
	gate_claim_slot(e, r); /* it may be alive */
	tell_runner(e, r, RN_PROBE, 0, REASON_NONE);
}
