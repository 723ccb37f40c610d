/* The check before an attempt: a program under its own shim, so that it outlives the daemon as runs do, and
 * the next daemon finds it. Unlike an attempt it may be executed more than once: when the question is asked
 * again after its end, its run file is removed and the program is executed anew. */
#include "core/model.h"
#include "exec/internal.h"

#include <errno.h>
#include <unistd.h>

/* If the check is running already, its answer is reported with the number of the latest question. */
void check_ask(struct runner *r, struct attempt *a, const struct rn_req *q, bool is_new)
{
	a->number = q->number;
	a->sid = q->sid;
	a->rev = q->rev;
	a->agent = q->agent;
	if (!is_new)
		return;
	uint32_t i = (uint32_t)(a - r->attempt);
	a->state = ATTEMPT_QUEUED;
	a->next = UINT32_MAX;
	if (r->check_first == UINT32_MAX)
		r->check_first = i;
	else
		r->attempt[r->check_last].next = i;
	r->check_last = i;
	check_start_queued(r);
}

void check_start_queued(struct runner *r)
{
	while (r->check_first != UINT32_MAX && r->checks_running < RUNNER_CHECKS_MAX) {
		struct attempt *a = &r->attempt[r->check_first];
		r->check_first = a->next;
		r->checks_running++;
		a->counted = true;
		a->state = ATTEMPT_UNKNOWN;
		if (a->kill_pending)
			attempt_remove(r, a); /* dropped while it was queued */
		else
			attempt_update(r, a);
	}
}

void check_uncount(struct runner *r, struct attempt *a)
{
	assert(a->state != ATTEMPT_QUEUED && r->checks_running >= a->counted);
	r->checks_running -= a->counted;
}

bool check_is_stale(const struct attempt *a)
{
	return is_check(a) && !a->sent && !a->start_reported && !a->kill_pending;
}

void check_restart(struct runner *r, struct attempt *a)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	runfile_path(&path, r->runs, a->run, a->attempt, "run");
	if (path.failed || (unlink(path.p) < 0 && errno != ENOENT && errno != ENOTDIR)) {
		runner_trouble_set(r, TROUBLE_FILES,
				   "cannot remove the run file of the check of run %llu: %s",
				   (unsigned long long)a->run, strerror(path.failed ? ENOMEM : errno));
		attempt_retry(a, ATTEMPT_UNKNOWN);
		return;
	}
	a->state = ATTEMPT_WANTED;
	r->config.want(r->config.ctx, &(struct rn_req){ .op = RN_ASK,
							.ask = ASK_CHECK,
							.attempt = a->attempt,
							.number = a->number,
							.run = a->run,
							.sid = a->sid,
							.rev = a->rev,
							.agent = a->agent });
}

/* Exit code 0: there is work; 1: there is no work; any other: the check failed. */
bool check_answer(const struct attempt *a, const struct rn_report *report, struct rn_report *ret)
{
	bool ended = report->kind == RN_EXIT;
	if (report->kind == RN_STARTED || report->kind == RN_ALIVE)
		return false;
	*ret = (struct rn_report){ .kind = RN_ANSWER,
				   .ask = ASK_CHECK,
				   .attempt = (uint16_t)(a->attempt & ~RUN_CHECK),
				   .number = a->number,
				   .run = a->run,
				   .reason = REASON_CHECK };
	if (ended && (report->outcome == OUTCOME_DONE || report->outcome == OUTCOME_NO_WORK)) {
		ret->yes = true;
		ret->reason = REASON_NONE;
	} else if (ended && report->outcome == OUTCOME_FAILED && report->reason == REASON_EXIT) {
		ret->reason = report->exit_code == 1 ? REASON_NONE : REASON_CHECK;
	} else if (ended && report->outcome == OUTCOME_FAILED) {
		ret->reason =
			report->reason; /* not executed: refused by runner_refuse, or a secret is missing */
	}
	return true;
}

void runner_drop_check(struct runner *r, uint64_t run, uint16_t attempt)
{
	struct rn_req q = { .op = RN_KILL,
			    .run = run,
			    .attempt = (uint16_t)(attempt | RUN_CHECK),
			    .reason = REASON_CANCELLED };
	if (attempt_find(r, run, q.attempt) && runner_submit(r, &q))
		return; /* the check then ends at its timeout */
}
