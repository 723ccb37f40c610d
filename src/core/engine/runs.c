/* Handles runs from their record to their exit: preconditions, then for each attempt `check`, a slot and the
 * start. A run changes its phase only when the store or the runner has answered. */
#include "core/engine/state.h"
#include "core/schedule/news.h"

struct sched *runs_sched(struct engine *e, const struct run *r)
{
	return &e->sched[r->sched];
}

/* True if its last attempt failed and the next one has not been started. */
static bool is_pending_retry(const struct run *r)
{
	return r->phase == PHASE_RETRY ||
	       (r->row.attempt &&
		(r->phase == PHASE_BEHIND || r->phase == PHASE_CHECKING || r->phase == PHASE_QUEUED));
}

/* Manual runs ignore the pause. */
bool runs_is_paused(const struct engine *e, const struct run *r)
{
	return r->row.kind != KIND_MANUAL && (e->sched[r->sched].row.flags & SCHED_PAUSED || e->paused_all);
}

/* True if the run is alive, or waits to be: another run of its schedule may have to wait for it. */
static bool is_live(const struct run *r)
{
	return r->phase != PHASE_RECORDING && r->phase != PHASE_ENDING && !is_pending_retry(r);
}

/* A retry that is being given up does not count for overlap. But its attempt may have been started before the
 * load, so later runs wait until it is prevented. */
static bool is_given_up(const struct run *r)
{
	return r->phase == PHASE_PREVENTING && r->row.state == RUN_RETRYING;
}

unsigned runs_live(const struct engine *e, const struct sched *s)
{
	unsigned n = 0;
	for (uint32_t i = s->first_run; i != NONE; i = e->run[i].sibling)
		n += is_live(&e->run[i]) && !is_given_up(&e->run[i]);
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

static void submit_runner(struct engine *e, struct run *r, enum rn_op op, enum rn_ask ask, enum reason reason)
{
	struct rn_req q = { .op = (uint8_t)op,
			    .ask = (uint8_t)ask,
			    .attempt = r->attempt,
			    .reason = (uint16_t)reason,
			    .number = r->question,
			    .run = r->row.run,
			    .sid = r->row.sid,
			    .rev = r->row.rev,
			    .agent = policy_of(runs_sched(e, r))->agent };
	engine_submit_runner(e, &q);
}

/* --- preconditions --- */

static void proceed(struct engine *e, struct run *r);

static void ask_precondition(struct engine *e, struct run *r, enum rn_ask which, enum run_phase phase)
{
	r->phase = (uint8_t)phase;
	r->answer_stale = false;
	r->question++;
	submit_runner(e, r, RN_ASK, which, REASON_NONE);
}

unsigned runs_preconditions(const struct engine *e, const struct policy *p, enum run_kind kind)
{
	unsigned all = p->preconditions & ~(1u << ASK_CHECK);
	if (e->config.has_hook)
		all |= 1u << ASK_CONFIG_HOOK;
	return kind == KIND_MANUAL ? all & 1u << ASK_BUDGET : all;
}

/* Asks the first precondition that has not answered yes; when all have, records the verdict. */
static void ask_next(struct engine *e, struct run *r)
{
	unsigned left = runs_preconditions(e, policy_of(runs_sched(e, r)), (enum run_kind)r->row.kind) &
			~(unsigned)r->passed;
	if (left) {
		ask_precondition(e, r, (enum rn_ask)__builtin_ctz(left), PHASE_ASKING);
		return;
	}
	struct st_req q = runs_new_request(r, ST_VERDICT, LANE_CLAIM);
	q.run.state = RUN_CLAIMED;
	r->phase = PHASE_VERDICT;
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

/* Ends the run without a further attempt. An attempt that may still start is prevented first. */
static void end_run(struct engine *e, struct run *r, struct run_ending how)
{
	gate_dequeue(e, r);
	gate_release_slot(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	if (r->maybe_started) {
		r->phase = PHASE_PREVENTING;
		r->ending = how;
		r->attempt = (uint16_t)(r->row.attempt + 1);
		submit_runner(e, r, RN_PREVENT, 0, REASON_NONE);
		return;
	}
	if (how.state == RUN_RETRYING) {
		/* RN_ANSWER, because the end comes from the check, not from the runner. */
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
		r->row.retry_at = e->now.wall; /* the retry is given up; the last outcome stays */
	}
	finish_record(e, r, false);
}

void runs_refuse(struct engine *e, struct run *r, enum run_state state, enum reason reason)
{
	end_run(e, r, (struct run_ending){ .state = (uint8_t)state, .reason = (uint16_t)reason });
}

/* Ends the run with the outcome of its last attempt. */
static void end_retries(struct engine *e, struct run *r)
{
	end_run(e, r, (struct run_ending){ .state = RUN_FINISHED });
}

/* Ends a run whose next attempt was not started. */
static void end_unstarted(struct engine *e, struct run *r, enum outcome outcome, enum reason reason)
{
	if (r->row.attempt)
		end_retries(e, r);
	else
		end_run(e, r, (struct run_ending){ RUN_FINISHED, (uint8_t)outcome, (uint16_t)reason });
}

static struct wall window_end(struct engine *e, const struct run *r)
{
	uint32_t window = policy_of(runs_sched(e, r))->window;
	return (struct wall){ r->row.due.us + window * USEC };
}

/* A precondition answered no. A false condition is asked again within the window, the last time when it
 * closes. */
static void answered_no(struct engine *e, struct run *r, enum rn_ask which, enum reason reason)
{
	static const enum reason reasons[RN_ASKS] = { [ASK_BUDGET] = REASON_BUDGET,
						      [ASK_CONDITION] = REASON_CONDITION,
						      [ASK_BLOCKED] = REASON_BLOCKED,
						      [ASK_CONFIG_HOOK] = REASON_HOOK,
						      [ASK_HOOK] = REASON_HOOK };
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

/* `check` answered whether there is work for this attempt. */
static void check_answered(struct engine *e, struct run *r, const struct rn_report *report)
{
	if (report->yes) {
		gate_enqueue(e, r);
		return;
	}
	end_run(e, r,
		(struct run_ending){ RUN_RETRYING, report->reason ? OUTCOME_FAILED : OUTCOME_NO_WORK,
				     report->reason });
}

static void handle_answer(struct engine *e, struct run *r, const struct rn_report *report)
{
	if (report->number != r->question)
		return; /* an answer to an older question */
	if (r->phase == PHASE_CHECKING && report->ask == ASK_CHECK) {
		check_answered(e, r, report);
	} else if (r->phase == PHASE_ASKING && report->ask < RN_ASKS) {
		if (report->yes) {
			r->passed |= (uint8_t)(1u << report->ask);
			ask_next(e, r);
		} else {
			answered_no(e, r, (enum rn_ask)report->ask, (enum reason)report->reason);
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

/* True if this run, once it is claimed, takes the place of the pending retries of earlier runs. */
static bool replaces_retries(const struct sched *s, const struct run *r)
{
	enum overlap overlap = (enum overlap)policy_of(s)->overlap;
	return overlap != OVERLAP_ALLOW && overlap != OVERLAP_QUEUE_ALL && r->row.kind != KIND_MANUAL &&
	       r->row.kind != KIND_BACKFILL;
}

/* The run is claimed: its preconditions, if it has any, have answered yes. A run that is refused leaves the
 * retries of earlier runs alone. */
static void handle_claimed(struct engine *e, struct run *r)
{
	struct sched *s = runs_sched(e, r);
	for (uint32_t i = s->first_run; i != run_index(e, r) && replaces_retries(s, r); i = e->run[i].sibling)
		runs_drop_retry(e, &e->run[i]);
	proceed(e, r);
}

void runs_recorded(struct engine *e, struct run *r)
{
	if (r->row.state == RUN_PENDING)
		ask_next(e, r);
	else
		handle_claimed(e, r);
}

/* Backfills and catch-up runs go one after another, whatever the policy for overlap. */
static bool goes_in_line(const struct run *r)
{
	return r->row.kind == KIND_BACKFILL || r->row.kind == KIND_CATCH_UP;
}

/* True if another live run of the schedule must end first. */
static bool must_wait(struct engine *e, const struct run *r)
{
	const struct sched *s = runs_sched(e, r);
	bool allow = policy_of(s)->overlap == OVERLAP_ALLOW;
	bool in_line = goes_in_line(r);
	bool older = true; /* `other` comes before `r` */
	for (uint32_t i = s->first_run; i != NONE && (!allow || in_line); i = e->run[i].sibling) {
		const struct run *other = &e->run[i];
		older &= other != r;
		if (other == r || !is_live(other) || (allow && other->row.kind != r->row.kind))
			continue;
		/* The older run goes first, unless a younger one has begun an attempt already. */
		bool has_begun = other->phase > PHASE_BEHIND;
		if (r->phase == PHASE_QUEUED ? other->phase >= PHASE_STARTING : has_begun || older)
			return true;
	}
	return false;
}

/* If its schedule is removed or paused, ends the run before its next attempt. */
static bool end_if_unwanted(struct engine *e, struct run *r)
{
	bool removed = runs_sched(e, r)->removed;
	if (!removed && !runs_is_paused(e, r))
		return false;
	if (removed || r->row.attempt)
		end_unstarted(e, r, OUTCOME_KILLED, REASON_CANCELLED);
	else
		runs_refuse(e, r, RUN_SKIPPED, REASON_PAUSED);
	return true;
}

/* Begins the next attempt: its check, or the wait for a slot. */
static void begin_attempt(struct engine *e, struct run *r)
{
	if (end_if_unwanted(e, r))
		return;
	r->attempt = (uint16_t)(r->row.attempt + 1);
	if (policy_of(runs_sched(e, r))->preconditions & 1u << ASK_CHECK)
		ask_precondition(e, r, ASK_CHECK, PHASE_CHECKING);
	else
		gate_enqueue(e, r);
}

/* Begins the next attempt, unless another run of the schedule must end first. */
static void begin_or_wait(struct engine *e, struct run *r)
{
	if (must_wait(e, r))
		r->phase = PHASE_BEHIND;
	else
		begin_attempt(e, r);
}

/* The run is claimed: begins its first attempt, or lets it wait for older runs, which the policy
 * cancel_running cancels. An event, and a run that was killed, end without an attempt. */
static void proceed(struct engine *e, struct run *r)
{
	struct sched *s = runs_sched(e, r);
	if (policy_of(s)->action == ACTION_EVENT || r->killed) {
		end_unstarted(e, r, r->killed ? OUTCOME_KILLED : OUTCOME_DONE, (enum reason)r->kill_reason);
		return;
	}
	if (!must_wait(e, r)) {
		begin_attempt(e, r);
		return;
	}
	r->phase = PHASE_BEHIND;
	/* Catch-up runs and backfills never replace each other. */
	if (policy_of(s)->overlap != OVERLAP_CANCEL_RUNNING || goes_in_line(r))
		return;
	for (uint32_t i = s->first_run, next; i != run_index(e, r); i = next) {
		next = e->run[i].sibling;
		if (is_live(&e->run[i]))
			runs_cancel(e, &e->run[i], REASON_REPLACED);
	}
}

/* A run of the schedule has ended: starts the oldest one in PHASE_BEHIND that need not wait any more. */
static void start_waiting(struct engine *e, struct sched *s)
{
	for (uint32_t i = s->first_run, next; i != NONE; i = next) {
		next = e->run[i].sibling;
		if (e->run[i].phase == PHASE_BEHIND && !must_wait(e, &e->run[i])) {
			begin_attempt(e, &e->run[i]);
			return;
		}
	}
}

void runs_hold(struct engine *e, struct run *r, const struct hold_row *hold)
{
	if (hold->until.us != INT64_MAX) {
		/* A retry becomes pending again; a first attempt stays queued, with a timer. */
		r->phase = r->row.attempt ? PHASE_RETRY : PHASE_QUEUED;
		r->attempt = r->row.attempt;
		heap_put(&e->run_timer, run_index(e, r), e->now.boot.us + (hold->until.us - e->now.wall.us));
		if (r->phase == PHASE_RETRY)
			start_waiting(e, runs_sched(e, r));
	} else if (r->row.attempt == 0) {
		runs_refuse(e, r, RUN_SKIPPED, REASON_BLOCKED);
	} else {
		end_retries(e, r);
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
		/* Two retries may have been queued: only one of them may start. */
		r->phase = PHASE_BEHIND;
		gate_release_slot(e, r);
		return;
	}
	r->phase = PHASE_STARTING;
	r->maybe_started = false; /* from now on the runner reports what happens to it */
	r->launching = true;
	e->launches++;
	submit_runner(e, r, RN_START, 0, REASON_NONE);
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
		end_retries(e, r);
	else if (r->phase == PHASE_ENDING && r->row.state == RUN_RETRYING)
		r->retry_dropped = true; /* takes effect when the store has answered */
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
		submit_runner(e, r, RN_KILL, 0, reason);
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
		break; /* in the other phases, the handler of the next answer checks `killed` */
	}
}

/* --- reports of the runner --- */

static void handle_started(struct engine *e, struct run *r)
{
	if (r->phase != PHASE_STARTING && r->phase != PHASE_PROBING && r->phase != PHASE_ELSEWHERE)
		return;
	if (r->phase != PHASE_ELSEWHERE) {
		runs_launch_answered(e, r);
		gate_claim_slot(e, r);
		r->phase = PHASE_RUNNING;
		if (r->killed)
			submit_runner(e, r, RN_KILL, 0, (enum reason)r->kill_reason);
	}
	if (r->row.attempt == r->attempt && r->row.started.us)
		return; /* the attempt was found alive after a load: its start is recorded */
	r->row.attempt = r->attempt;
	r->row.started = e->now.wall;
	r->row.state = RUN_CLAIMED;
	r->row.outcome = OUTCOME_NONE; /* the end of the attempt before is not the end of this one */
	r->row.reason = REASON_NONE;
	struct st_req q = runs_new_request(r, ST_STARTED, LANE_FINISH);
	q.news = news_of_start(policy_of(runs_sched(e, r)));
	engine_submit_store(e, &q, FOR_RUN, r->row.run, 0, runs_sched(e, r));
}

/* The attempt cannot be started: before the load it was prevented, but the end of the run was not recorded.
 * The next attempt takes its place; this one does not count. */
static void skip_prevented(struct engine *e, struct run *r)
{
	runs_launch_answered(e, r);
	if (r->killed) {
		end_unstarted(e, r, OUTCOME_KILLED, (enum reason)r->kill_reason);
		return;
	}
	if (end_if_unwanted(e, r))
		return;
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

/* The attempt was started, left no record of its end, and no process of it is alive. */
static void handle_lost(struct engine *e, struct run *r)
{
	struct rn_report report = { .outcome = OUTCOME_FAILED,
				    .reason = REASON_LOST,
				    .ended = e->now.wall,
				    .cost = -1,
				    .exit_code = -1 };
	finish_attempt(e, r, &report);
}

/* A run of a restored copy without a run file. It may have been started and its file deleted, so it is not
 * started again. */
static void end_restored(struct engine *e, struct run *r)
{
	bool not_started = r->row.state == RUN_RETRYING || r->row.attempt == 0;
	r->maybe_started = not_started;
	if (!not_started)
		handle_lost(e, r);
	else if (r->row.attempt)
		end_retries(e, r);
	else
		runs_refuse(e, r, RUN_MISSED, REASON_RESTORED);
}

/* The window was open when RN_START was sent, but had closed before the machine could start the attempt. */
static void handle_too_late(struct engine *e, struct run *r, const struct rn_report *report)
{
	struct rn_report fenced = *report;
	if (r->row.attempt) { /* a retry is killed; only a first attempt becomes missed */
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

/* True if a later run of the schedule was claimed while the retry was pending. Found after a load if the
 * daemon crashed before it had given the retry up. */
static bool is_replaced(const struct engine *e, const struct run *r)
{
	const struct sched *s = &e->sched[r->sched];
	for (uint32_t i = r->sibling; i != NONE; i = e->run[i].sibling) {
		const struct run *later = &e->run[i];
		if (later->phase != PHASE_RECORDING && later->row.state != RUN_PENDING &&
		    later->row.claimed.us >= r->row.ended.us && replaces_retries(s, later))
			return true;
	}
	return false;
}

/* The attempt was never started; the run is still claimed. */
static void handle_not_started(struct engine *e, struct run *r)
{
	if (r->phase == PHASE_PREVENTING) {
		r->maybe_started = false;
		end_run(e, r, r->ending);
		return;
	}
	/* A run that was held elsewhere goes on here, with the next attempt: this one must never be executed
	 * by two nodes. */
	bool was_seen = r->row.state == RUN_CLAIMED && r->row.attempt == r->attempt;
	if (r->phase == PHASE_STARTING || (r->phase == PHASE_ELSEWHERE && !was_seen)) {
		skip_prevented(e, r);
		return;
	}
	if (r->phase == PHASE_ELSEWHERE) {
		handle_lost(e, r);
		return;
	}
	if (r->phase != PHASE_PROBING)
		return;
	if (is_from_before_restore(e, r)) {
		end_restored(e, r);
		return;
	}
	if (was_seen) {
		handle_lost(e, r); /* it was seen alive: its run file was deleted */
		return;
	}
	r->attempt = r->row.attempt;
	r->maybe_started = true;
	gate_release_slot(e, r);
	if (r->row.state == RUN_RETRYING && (r->killed || runs_is_paused(e, r) || is_replaced(e, r))) {
		end_retries(e, r); /* a crash may have come between the cause and the end of its retries */
	} else if (r->row.state == RUN_RETRYING) {
		int64_t left = r->row.retry_at.us - e->set_back - e->now.wall.us;
		int64_t most = r->row.reason == REASON_RATE_LIMITED ? RETRY_SECONDS_MAX * USEC
								    : finish_max_delay(e, r) * USEC;
		left = left < 0 ? 0 : left > most ? most : left;
		r->phase = PHASE_RETRY;
		r->retry_at = (struct boot){ e->now.boot.us + left };
		heap_put(&e->run_timer, run_index(e, r), r->retry_at.us);
	} else {
		proceed(e, r);
	}
	start_waiting(e, runs_sched(e, r)); /* other runs may have waited only for this answer */
}

/* An attempt that was requested before the load turns out to be alive: handles it as if the probe had found
 * it. */
static void adopt_late_start(struct engine *e, struct run *r)
{
	gate_dequeue(e, r);
	heap_remove(&e->run_timer, run_index(e, r));
	gate_claim_slot(e, r);
	r->maybe_started = false;
	r->attempt = (uint16_t)(r->row.attempt + 1);
	r->phase = PHASE_PROBING;
}

void runs_report(struct engine *e, const struct rn_report *report)
{
	struct run *r = engine_run(e, report->run);
	if (!r)
		return;
	if (report->kind == RN_ANSWER) {
		handle_answer(e, r, report);
		return;
	}
	if (r->maybe_started && report->kind != RN_NOT_STARTED && report->attempt == r->row.attempt + 1)
		adopt_late_start(e, r);
	if (report->attempt != r->attempt)
		return;
	bool alive = r->phase == PHASE_STARTING || r->phase == PHASE_RUNNING || r->phase == PHASE_ELSEWHERE ||
		     r->phase == PHASE_PROBING;
	switch ((enum rn_report_kind)report->kind) {
	case RN_STARTED:
	case RN_ALIVE:
		handle_started(e, r);
		due_enqueue(e, runs_sched(e, r)); /* the schedule may have waited for this report */
		break;
	case RN_EXIT:
		if (alive && report->outcome == OUTCOME_NONE)
			handle_too_late(e, r, report);
		else if (alive)
			finish_attempt(e, r, report);
		break;
	case RN_LOST:
		if (alive)
			handle_lost(e, r);
		break;
	case RN_NOT_STARTED:
		handle_not_started(e, r);
		due_enqueue(e, runs_sched(e, r));
		break;
	case RN_ANSWER:
		break;
	}
}

/* --- answers of the store --- */

/* Removes a run whose end the store has recorded. */
static void forget_run(struct engine *e, struct run *r)
{
	struct sched *s = runs_sched(e, r);
	engine_reply_code(e, r->stop_tag, REPLY_OK, r->row.sid, r->row.run);
	engine_remove_run(e, r);
	start_waiting(e, s);
	if (s->removed && s->first_run == NONE)
		engine_remove_sched(e, s);
	else
		due_enqueue(e, s);
}

/* The store has recorded the end under `number`; 0: another end was recorded before, and the followers know
 * it. */
static void handle_finished(struct engine *e, struct run *r, uint64_t number)
{
	r->row.end = number;
	if (number)
		follow_notify(e, &r->row);
	forget_run(e, r);
}

static void verdict_acked(struct engine *e, struct run *r, const struct pending *pending,
			  const struct st_ack *ack)
{
	if (ack->res != ST_OK || pending->state != RUN_CLAIMED) {
		forget_run(e, r);
		return;
	}
	r->row.state = RUN_CLAIMED;
	handle_claimed(e, r);
}

void runs_acked(struct engine *e, const struct pending *pending, const struct st_ack *ack)
{
	struct run *r = engine_run(e, pending->run);
	struct sched *s = engine_pending_sched(e, pending);
	if (s && ack->has_row)
		s->row.failures = ack->row.failures; /* a finish changes nothing else */
	if (s && pending->op == ST_FINISH && pending->state == RUN_FINISHED)
		s->finishing--;
	if (!r)
		return;
	switch ((enum st_op)pending->op) {
	case ST_VERDICT:
		verdict_acked(e, r, pending, ack);
		break;
	case ST_FINISH:
		if (ack->res == ST_OK && r->row.state == RUN_RETRYING && (r->retry_dropped || r->killed)) {
			end_retries(e, r);
		} else if (ack->res == ST_OK && r->row.state == RUN_RETRYING) {
			r->phase = PHASE_RETRY;
			heap_put(&e->run_timer, run_index(e, r), r->retry_at.us);
			start_waiting(e, runs_sched(e, r));
			due_enqueue(e, runs_sched(e, r));
		} else {
			handle_finished(e, r, ack->res == ST_OK ? ack->end : 0);
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
			begin_or_wait(e, r);
		else if (r->phase == PHASE_QUEUED)
			begin_attempt(e, r); /* the hold has ended */
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
		r->row.node = e->node; /* no node has started it */
		ask_next(e, r);        /* the preconditions are asked again; the claim is recorded already */
		return;
	}
	/* The attempt that may be alive: the last one on record, or the next one, whose start was not
	 * recorded. */
	r->attempt = (uint16_t)(r->row.attempt + (r->row.state == RUN_RETRYING || r->row.attempt == 0));
	if (r->row.node && r->row.node != e->node) {
		r->phase = PHASE_ELSEWHERE;
		gate_claim_slot(e, r);
		return;
	}
	r->phase = PHASE_PROBING;
	gate_claim_slot(e, r); /* it may be alive */
	submit_runner(e, r, RN_PROBE, 0, REASON_NONE);
}
