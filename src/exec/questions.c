/* Programs that answer a question of the engine: the check before an attempt, and hooks. Each runs under its
 * own shim, so that it outlives the daemon as runs do, and the next daemon finds it. Unlike an attempt it may
 * be executed more than once: when the question is asked again after its end, its run file is removed and the
 * program is executed anew.
 *
 * Checks and hooks have a queue each, so that neither waits for the other. */
#include "core/model.h"
#include "exec/internal.h"

#include <errno.h>
#include <unistd.h>

static const unsigned most_running[QUEUES] = {
	[QUEUE_CHECKS] = RUNNER_CHECKS_MAX, [QUEUE_HOOKS] = RUNNER_HOOKS_MAX
};

bool question_attempt(const struct rn_req *q, uint16_t *ret)
{
	static const uint16_t hooks[RN_ASKS] = {
		[ASK_CONFIG_HOOK] = RUN_HOOK + HOOK_OF_CONFIG,
		[ASK_HOOK] = RUN_HOOK + HOOK_OF_SCHEDULE,
		[ASK_CREATE_HOOK] = RUN_HOOK + HOOK_OF_CREATE,
	};
	bool check = q->ask == ASK_CHECK;
	if (q->op != RN_ASK || q->ask >= RN_ASKS || (!check && !hooks[q->ask]))
		return false;
	*ret = check ? (uint16_t)(q->attempt | RUN_CHECK) : hooks[q->ask];
	return true;
}

static struct question_queue *queue_of(struct runner *r, const struct attempt *a)
{
	return &r->queue[a->ask == ASK_CHECK ? QUEUE_CHECKS : QUEUE_HOOKS];
}

/* If the program is running already, its answer is reported with the number of the latest question. */
void question_ask(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	a->ask = q->ask;
	a->number = q->number;
	a->sid = q->sid;
	a->rev = q->rev;
	a->agent = q->agent;
	if (!is_new)
		return;
	struct question_queue *queue = queue_of(r, a);
	uint32_t i = (uint32_t)(a - r->attempt);
	a->state = ATTEMPT_QUEUED;
	a->next = UINT32_MAX;
	if (queue->first == UINT32_MAX)
		queue->first = i;
	else
		r->attempt[queue->last].next = i;
	queue->last = i;
	queue->changed = true;
	questions_start(r);
}

/* Whether a hook of the same schedule runs. One at a time: otherwise a single schedule, whose runs may
 * overlap, could occupy all places of the queue with hooks that hang. */
static bool hook_must_wait(const struct runner *r, const struct attempt *a)
{
	for (unsigned i = 0; a->ask != ASK_CHECK && i < RUNNER_HOOKS_MAX; i++)
		if (r->hook_sid[i] && r->hook_sid[i] == a->sid)
			return true;
	return false;
}

/* Exchanges the schedule `from` for `to` in the list of schedules whose hook runs; 0: a free place. */
static void set_hook_sid(struct runner *r, uint64_t from, uint64_t to)
{
	for (unsigned i = 0; i < RUNNER_HOOKS_MAX; i++)
		if (r->hook_sid[i] == from) {
			r->hook_sid[i] = to;
			return;
		}
}

static void start_question(struct runner *r, struct question_queue *queue, struct attempt *a)
{
	queue->running++;
	a->counted = true;
	a->state = ATTEMPT_UNKNOWN;
	if (a->ask != ASK_CHECK && a->sid)
		set_hook_sid(r, 0, a->sid);
	if (a->kill_pending)
		attempt_remove(r, a); /* dropped while it was queued */
	else
		attempt_update(r, a);
}

static void start_queue(struct runner *r, struct question_queue *queue, unsigned most)
{
	uint32_t before = UINT32_MAX, i = queue->first;
	queue->changed = false;
	while (i != UINT32_MAX && queue->running < most) {
		struct attempt *a = &r->attempt[i];
		uint32_t next = a->next;
		if (hook_must_wait(r, a) && !a->kill_pending) {
			before = i;
		} else {
			if (before == UINT32_MAX)
				queue->first = next;
			else
				r->attempt[before].next = next;
			if (next == UINT32_MAX)
				queue->last = before;
			start_question(r, queue, a);
		}
		i = next;
	}
}

bool questions_can_start(const struct runner *r)
{
	for (unsigned i = 0; i < QUEUES; i++)
		if (r->queue[i].changed && r->queue[i].first != UINT32_MAX &&
		    r->queue[i].running < most_running[i])
			return true;
	return false;
}

void questions_start(struct runner *r)
{
	for (unsigned i = 0; i < QUEUES; i++)
		while (r->queue[i].changed && r->queue[i].first != UINT32_MAX &&
		       r->queue[i].running < most_running[i])
			start_queue(r, &r->queue[i], most_running[i]);
}

void question_uncount(struct runner *r, struct attempt *a)
{
	struct question_queue *queue = queue_of(r, a);
	assert(a->state != ATTEMPT_QUEUED && queue->running >= a->counted);
	if (!a->counted)
		return;
	queue->running--;
	queue->changed = true;
	if (a->ask != ASK_CHECK && a->sid)
		set_hook_sid(r, a->sid, 0);
}

bool question_is_stale(const struct attempt *a)
{
	return is_question(a) && !a->sent && !a->start_reported && !a->kill_pending;
}

void question_restart(struct runner *r, struct attempt *a)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	runfile_path(&path, r->runs, a->run, a->attempt, "run");
	if (path.failed || (unlink(path.p) < 0 && errno != ENOENT && errno != ENOTDIR)) {
		runner_trouble_set(r, TROUBLE_FILES,
				   "cannot remove the run file of a check or hook of run %llu: %s",
				   (unsigned long long)a->run, strerror(path.failed ? ENOMEM : errno));
		attempt_retry(a, ATTEMPT_UNKNOWN);
		return;
	}
	a->state = ATTEMPT_WANTED;
	r->config.want(r->config.ctx, &(struct rn_req){ .op = RN_ASK,
							.ask = a->ask,
							.attempt = a->attempt,
							.number = a->number,
							.run = a->run,
							.sid = a->sid,
							.rev = a->rev,
							.agent = a->agent });
}

/* Exit code 0: there is work; 1: there is no work; any other: the check failed. */
static void answer_check(const struct rn_report *report, struct rn_report *ret)
{
	bool ended = report->kind == RN_EXIT;
	ret->reason = REASON_CHECK;
	if (ended && (report->outcome == OUTCOME_DONE || report->outcome == OUTCOME_NO_WORK)) {
		ret->yes = true;
		ret->reason = REASON_NONE;
	} else if (ended && report->outcome == OUTCOME_FAILED && report->reason == REASON_EXIT) {
		ret->reason = report->exit_code == 1 ? REASON_NONE : REASON_CHECK;
	} else if (ended && report->outcome == OUTCOME_FAILED) {
		ret->reason =
			report->reason; /* not executed: refused by runner_refuse, or a secret is missing */
	}
}

/* The output of a hook decides, too, and is read elsewhere: here the answer is how its program ended. */
static void answer_hook(const struct rn_report *report, struct rn_report *ret)
{
	bool ended = report->kind == RN_EXIT;
	ret->outcome = ended ? report->outcome : OUTCOME_FAILED;
	ret->reason = ended ? report->reason : REASON_LOST;
	ret->exit_code = ended ? report->exit_code : -1;
}

bool question_answer(const struct attempt *a, const struct rn_report *report, struct rn_report *ret)
{
	if (report->kind == RN_STARTED || report->kind == RN_ALIVE)
		return false;
	*ret = (struct rn_report){ .kind = RN_ANSWER, .ask = a->ask, .number = a->number, .run = a->run };
	if (a->ask == ASK_CHECK) {
		ret->attempt = (uint16_t)(a->attempt & ~RUN_CHECK);
		answer_check(report, ret);
	} else {
		answer_hook(report, ret);
	}
	return true;
}

static void drop_question(struct runner *r, uint64_t run, unsigned attempt)
{
	struct rn_req q = {
		.op = RN_KILL, .run = run, .attempt = (uint16_t)attempt, .reason = REASON_CANCELLED
	};
	if (attempt_find(r, run, q.attempt) && runner_submit(r, &q))
		return; /* the program then ends at its timeout */
}

void runner_drop_questions(struct runner *r, uint64_t run, uint16_t attempt)
{
	drop_question(r, run, attempt | RUN_CHECK);
	drop_question(r, run, RUN_HOOK + HOOK_OF_CONFIG);
	drop_question(r, run, RUN_HOOK + HOOK_OF_SCHEDULE);
}
