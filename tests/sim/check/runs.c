/* Checks of the requests to the runner, and of the starts and ends of processes. */
#include "check/internal.h"

/* --- requests to the runner --- */

/* An attempt may start only when the store has confirmed its cause (R2, R6). */
static void check_cause(struct check *c, const struct check_run *v, const struct rn_req *q,
			const struct run_row *r)
{
	unsigned long long run = q->run;
	bool first = q->attempt == 1;
	if (v->known_epoch != c->w->epoch)
		check_fail(c, "R2: run %llu is started before the engine knows it is recorded", run);
	else if (first ? v->known_state != RUN_CLAIMED
		       : v->known_state != RUN_RETRYING || v->known_attempt != q->attempt - 1)
		check_fail(c, "R2: run %llu attempt %u is started in state %u after attempt %u", run,
			   q->attempt, v->known_state, v->known_attempt);
	if (first && r->state != RUN_CLAIMED)
		check_fail(c, "R2: run %llu is started, but its record says %u", run, r->state);
	if (!first && (r->state != RUN_RETRYING || r->attempt != q->attempt - 1))
		check_fail(c, "R6: run %llu attempt %u starts before the end of attempt %u is durable", run,
			   q->attempt, q->attempt - 1u);
	for (uint16_t a = 1; a < q->attempt; a++) {
		const struct run_file *f = sim_runner_file(c->w, q->run, a);
		if (f && f->state == FILE_ALIVE)
			check_fail(c, "G5: run %llu attempt %u starts while attempt %u is alive", run,
				   q->attempt, a);
	}
}

/* An attempt must not start early, after its window, or before its retry is due. */
static void check_start_time(struct check *c, const struct check_run *v, const struct rn_req *q,
			     const struct run_row *r)
{
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	struct wall now = world_wall(c->w);
	unsigned long long run = q->run;
	uint32_t window = p->window > p2->window ? p->window : p2->window;
	bool by_hand = v->row.kind == KIND_MANUAL || v->row.kind == KIND_BACKFILL;
	bool adopted =
		v->requested == q->attempt; /* requested again after a crash: the first request counts */
	if (!by_hand && now.us < v->row.due.us && c->clock_steps == 0)
		check_fail(c, "G7: run %llu (%s) starts early", run, check_time_text(v->row.due));
	if (q->attempt == 1 && p->window && p2->window && !by_hand && !adopted &&
	    now.us > v->row.due.us + SECONDS(window))
		check_fail(c, "R5: run %llu (%s) starts after its window", run, check_time_text(v->row.due));
	if (q->attempt > 1 && c->clock_steps == v->steps_seen && now.us < r->retry_at.us)
		check_fail(c, "run %llu attempt %u starts before %s", run, q->attempt,
			   check_time_text(r->retry_at));
}

/* An attempt must not start while its schedule is paused or held, or before its check has succeeded. */
static void check_start_allowed(struct check *c, struct check_run *v, const struct rn_req *q)
{
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	unsigned long long run = q->run;
	unsigned check = 1u << ASK_CHECK;
	bool by_hand = v->row.kind == KIND_MANUAL || v->row.kind == KIND_BACKFILL;
	if (!by_hand && (sched->known_flags & SCHED_PAUSED || c->all_paused))
		check_fail(c, "run %llu of sid %llu starts while paused", run,
			   (unsigned long long)v->row.sid);
	if (check_preconditions(c, v) & check && !(v->answers_epoch == c->w->epoch && v->yes & check) &&
	    v->requested != q->attempt)
		check_fail(c, "run %llu attempt %u starts without its check", run, q->attempt);
	v->yes &= (uint8_t)~check; /* the check is needed once per attempt */
	if ((check_is_held(c, p->account) || check_is_held(c, p->agent)) &&
	    (check_is_held(c, p2->account) || check_is_held(c, p2->agent)))
		check_fail(c, "run %llu starts while its agent or account is held", run);
}

/* Another policy may have changed the order, even if the first policy is in force again. */
static bool same_overlap_since(const struct check_sched *sched, uint32_t rev)
{
	const struct version *first = check_version(sched, rev);
	for (unsigned i = 0; first && i < sched->versions; i++)
		if (sched->version[i].rev >= rev &&
		    sched->version[i].rules.policy.overlap != first->rules.policy.overlap)
			return false;
	return first;
}

/* Queued runs of a schedule start in the order in which they were recorded. */
static void check_queue_order(struct check *c, const struct check_run *v, const struct rn_req *q)
{
	const struct policy *p = &v->rules.policy;
	bool queues = p->overlap == OVERLAP_QUEUE_ALL || p->overlap == OVERLAP_QUEUE_ONE;
	if (!queues || q->attempt != 1 || v->row.kind != KIND_TIMER)
		return;
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	for (const struct check_run *o = run_newest(c, sched); o; o = run_older(c, o))
		if (o->row.run < v->row.run && same_overlap_since(sched, o->row.rev) &&
		    o->row.kind == KIND_TIMER && o->known_epoch == c->w->epoch &&
		    o->known_state == RUN_CLAIMED && o->requested == 0 && !o->stopped && !o->ending)
			check_fail(c, "run %llu starts before run %llu, which was queued before it",
				   (unsigned long long)q->run, (unsigned long long)o->row.run);
}

static void check_start(struct check *c, struct check_run *v, const struct rn_req *q)
{
	const struct policy *p = &v->rules.policy, *p2 = check_latest_policy(c, v);
	const struct run_row *r = model_run(c->w->rows, q->run);
	if (!r || !run_is_open(r)) {
		check_fail(c, "run %llu is started, but it has ended", (unsigned long long)q->run);
		return;
	}
	check_cause(c, v, q, r);
	check_start_time(c, v, q, r);
	check_start_allowed(c, v, q);
	check_queue_order(c, v, q);
	if (v->row.kind == KIND_CATCH_UP) {
		size_t n = 2 * c->w->config.catch_up_per_second, at = c->catch_up_starts++ % n;
		if (c->catch_up_starts > n && c->w->t - c->catch_up_start[at] < SECONDS(1))
			check_fail(c, "more than %zu starts of missed times within a second", n);
		c->catch_up_start[at] = c->w->t;
	}
	v->agent = p->agent;
	v->agent_slots = p->agent_slots > p2->agent_slots ? p->agent_slots : p2->agent_slots;
	v->key = p->key;
	/* Which version decides about the slot of the run depends on the time at which the engine was
	 * loaded. */
	const struct check_sched *sched = check_find_sched(c, v->row.sid);
	for (unsigned i = 0; i < sched->versions; i++)
		if (sched->version[i].rev >= v->row.rev) {
			v->agent = sched->version[i].rules.policy.agent == v->agent ? v->agent : 0;
			v->key = sched->version[i].rules.policy.key == v->key ? v->key : 0;
		}
	v->requested = q->attempt;
	v->requested_epoch = c->w->epoch;
	if (!v->launching)
		c->launches++;
	v->launching = true;
	if (c->launches > LAUNCHES_MAX)
		check_fail(c, "R7: %u launches under way", c->launches);
}

static void check_ask(struct check *c, struct check_run *v, const struct rn_req *q)
{
	unsigned long long run = q->run;
	unsigned bit = 1u << q->ask, preconditions = check_asks(c, &v->rules.policy),
		 preconditions2 = check_asks(c, check_latest_policy(c, v));
	bool pending = v->known_epoch == c->w->epoch && v->known_state == RUN_PENDING;
	bool claimed = v->known_epoch == c->w->epoch &&
		       (v->known_state == RUN_CLAIMED || v->known_state == RUN_RETRYING);
	if (!((preconditions | preconditions2) & bit))
		check_fail(c, "run %llu: precondition %u is asked, but there is none", run, q->ask);
	if (q->ask == ASK_CHECK ? !claimed : !pending)
		check_fail(c, "R10: run %llu: precondition %u is asked before its record is durable", run,
			   q->ask);
	if (v->row.kind == KIND_MANUAL && q->ask != ASK_BUDGET && q->ask != ASK_CHECK)
		check_fail(c, "manual run %llu: precondition %u is asked", run, q->ask);
	unsigned before = q->ask == ASK_CHECK ? 0 : preconditions & preconditions2 & (bit - 1);
	if (v->row.kind != KIND_MANUAL && v->answers_epoch == c->w->epoch && (v->yes & before) != before)
		check_fail(c, "run %llu: precondition %u is asked out of order", run, q->ask);
	if (v->answers_epoch != c->w->epoch)
		v->yes = v->no = 0;
	v->answers_epoch = c->w->epoch;
}

static void check_kill(struct check *c, const struct check_run *v, const struct rn_req *q)
{
	bool ok = v->kill_epoch == c->w->epoch; /* a repeated kill */
	if (q->reason == REASON_CANCELLED)
		ok |= v->stopped;
	const struct check_run *o =
		q->reason == REASON_REPLACED ? run_newest(c, check_find_sched(c, v->row.sid)) : NULL;
	for (; o; o = run_older(c, o))
		ok |= o->row.run > v->row.run && o->known_epoch == c->w->epoch &&
		      o->known_state == RUN_CLAIMED &&
		      (o->rules.policy.overlap == OVERLAP_CANCEL_RUNNING ||
		       check_latest_policy(c, o)->overlap == OVERLAP_CANCEL_RUNNING);
	if (!ok)
		check_fail(c, "run %llu is killed (%s) for no reason", (unsigned long long)q->run,
			   reason_words[q->reason]);
}

void observe_request(struct check *c, const struct rn_req *q)
{
	static const char *const words[] = { "start", "kill", "probe", "prevent", "ask" };
	world_log(c->w, "  > %s run %llu attempt %u sid %llu ask %u reason %u", words[q->op],
		  (unsigned long long)q->run, q->attempt, (unsigned long long)q->sid, q->ask, q->reason);
	check_holder(c, q);
	struct check_run *v = check_find_run(c, q->run);
	if (!v) {
		check_fail(c, "%s: the runner is asked to %s run %llu, which is not recorded",
			   q->op == RN_ASK ? "R10" : "R2", words[q->op], (unsigned long long)q->run);
		return;
	}
	if (q->sid != v->row.sid || q->rev != v->row.rev)
		check_fail(c, "run %llu is of sid %llu rev %u, not %llu rev %u", (unsigned long long)q->run,
			   (unsigned long long)v->row.sid, v->row.rev, (unsigned long long)q->sid, q->rev);
	if (q->op == RN_START)
		check_start(c, v, q);
	if (q->op == RN_ASK)
		check_ask(c, v, q);
	if (q->op == RN_KILL) {
		check_kill(c, v, q);
		v->kill_epoch = c->w->epoch;
	}
}

/* --- processes --- */

/* An occurrence is executed as one run only. */
static void check_once(struct check *c, const struct check_run *v, uint32_t self)
{
	/* After a restore, sids above restored_sid are used again. */
	uint64_t salt = v->row.sid > c->restored_sid ? c->restores << 40 : 0;
	uint64_t key = hash_pair(v->row.sid + salt, (uint64_t)v->row.nominal.us);
	uint32_t other;
	/* By a backfill, a person may run times that the restored store does not know. */
	bool by_hand = v->row.kind == KIND_BACKFILL && v->row.nominal.us <= c->restored.us;
	if (v->row.kind == KIND_MANUAL || by_hand)
		return;
	if (number_map_get(&c->first_started, key, &other) && other != self)
		check_fail(c, "G1: sid %llu: %s is executed as run %llu and as run %llu",
			   (unsigned long long)v->row.sid, check_time_text(v->row.nominal),
			   (unsigned long long)c->run[other].row.run, (unsigned long long)v->row.run);
	number_map_put(&c->first_started, key, self);
}

/* Checks that the two runs may be alive at the same time. */
static void check_concurrency(struct check *c, const struct check_run *v, const struct check_run *o)
{
	bool allowed = v->rules.policy.overlap == OVERLAP_ALLOW || o->rules.policy.overlap == OVERLAP_ALLOW ||
		       check_latest_policy(c, v)->overlap == OVERLAP_ALLOW;
	bool in_line =
		o->row.kind == v->row.kind && (v->row.kind == KIND_CATCH_UP || v->row.kind == KIND_BACKFILL);
	unsigned long long sid = v->row.sid, run = v->row.run, other = o->row.run;
	if (o == v)
		check_fail(c, "G5: run %llu: two attempts are alive together", run);
	else if (o->row.sid == v->row.sid && !allowed)
		check_fail(c, "sid %llu: runs %llu and %llu are alive together (overlap %s)", sid, other, run,
			   overlap_words[v->rules.policy.overlap]);
	else if (o->row.sid == v->row.sid && in_line)
		check_fail(c, "sid %llu: runs %llu and %llu are not one after another", sid, other, run);
}

/* An orphan is an attempt that was requested before a crash, and started after the new engine was told that
 * it had not started. It counts against no limit. */
void observe_started(struct check *c, const struct run_file *f)
{
	uint32_t self;
	unsigned long long run = f->request.run;
	world_log(c->w, "    started: run %llu attempt %u", run, f->request.attempt);
	if (!number_map_get(&c->run_of, f->request.run, &self))
		return; /* observe_request has already reported this */
	struct check_run *v = &c->run[self];
	const struct run_row *r = model_run(c->w->rows, f->request.run);
	if (!r || !run_is_open(r))
		check_fail(c, "run %llu is started, but its record has ended", run);
	check_once(c, v, self);
	v->orphan = f->orphan;
	unsigned all = 1, agent = 1, key = 1;
	for (size_t i = 0; i < c->alives; i++) {
		const struct check_run *o = &c->run[c->alive[i]];
		if (o->orphan || f->orphan)
			continue;
		all += !world_is_elsewhere(c->w, o->row.run); /* it uses a slot of the other node */
		agent += o->agent == v->agent;
		key += o->key == v->key;
		check_concurrency(c, v, o);
	}
	if (all > c->w->config.slots)
		check_fail(c, "R6: %u runs are alive, slots are %u", all, c->w->config.slots);
	if (v->agent && v->agent_slots && agent > v->agent_slots)
		check_fail(c, "R6: agent %u has %u runs, its slots are %u", v->agent, agent, v->agent_slots);
	if (v->key && key > 1)
		check_fail(c, "R6: key %u has %u runs", v->key, key);
	ADD_ROOM(c->alive, c->alive_room, c->alives);
	c->alive[c->alives++] = self;
}

void observe_ended(struct check *c, const struct run_file *f)
{
	world_log(c->w, "    ended: run %llu attempt %u, %s/%s", (unsigned long long)f->request.run,
		  f->request.attempt, f->state == FILE_LOST ? "lost" : outcome_words[f->exit.outcome],
		  reason_words[f->exit.reason]);
	for (size_t i = 0; i < c->alives; i++)
		if (c->run[c->alive[i]].row.run == f->request.run) {
			c->alive[i] = c->alive[--c->alives];
			return;
		}
}

void observe_report(struct check *c, const struct rn_report *s)
{
	static const char *const words[] = { "started", "exit", "alive", "not started", "lost", "answer" };
	world_log(c->w, "< report %s run %llu attempt %u yes %d %s/%s", words[s->kind],
		  (unsigned long long)s->run, s->attempt, s->yes,
		  outcome_words[s->outcome] ? outcome_words[s->outcome] : "-", reason_words[s->reason]);
	struct check_run *v = check_find_run(c, s->run);
	if (!v)
		return;
	if (s->kind == RN_ANSWER) {
		uint8_t bit = (uint8_t)(1u << s->ask);
		v->yes = (uint8_t)((v->yes & ~bit) | (s->yes ? bit : 0));
		v->no = (uint8_t)((v->no & ~bit) | (s->yes ? 0 : bit));
		return;
	}
	if (v->launching && v->requested == s->attempt) {
		v->launching = false;
		c->launches--;
	}
}
