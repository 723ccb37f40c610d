/* The check before an attempt: a program of its own under a shim of its own, so that it outlives the daemon
 * as runs do, and whoever asks next finds it. Its run file is no promise that it is executed once: a question
 * that was answered is asked again if somebody wants to know again. */
#include "core/model.h"
#include "exec/internal.h"

#include <errno.h>
#include <unistd.h>

/* Asked while it is under way, by a daemon that came back or otherwise: its answer is for the last question.
 */
void check_ask(struct runner *r, struct slot *s, const struct rn_req *q, bool is_new)
{
	s->number = q->number;
	s->sid = q->sid;
	s->rev = q->rev;
	if (!is_new)
		return;
	uint32_t i = (uint32_t)(s - r->slot);
	s->state = SLOT_LINE;
	s->next = UINT32_MAX;
	if (r->first == UINT32_MAX)
		r->first = i;
	else
		r->slot[r->last].next = i;
	r->last = i;
	check_next(r);
}

void check_next(struct runner *r)
{
	while (r->first != UINT32_MAX && r->checks < RUNNER_CHECKS_MAX) {
		struct slot *s = &r->slot[r->first];
		r->first = s->next;
		r->checks++;
		s->counted = true;
		s->state = SLOT_LOOK;
		if (s->kill_pending)
			runner_forget(r, s); /* nobody waits for it any more */
		else
			life_look(r, s);
	}
}

void check_over(struct runner *r, struct slot *s)
{
	assert(s->state != SLOT_LINE && r->checks >= s->counted);
	r->checks -= s->counted;
}

bool check_is_old(const struct slot *s)
{
	return is_check(s) && !s->sent && !s->told && !s->kill_pending;
}

void check_anew(struct runner *r, struct slot *s)
{
	_cleanup_(buf_free) struct buf path = { 0 };
	runfile_path(&path, r->runs, s->run, s->attempt, "run");
	if (path.failed || (unlink(path.p) < 0 && errno != ENOENT && errno != ENOTDIR)) {
		runner_trouble_set(r, TROUBLE_FILES, "the file of a check of run %llu cannot be removed: %s",
				   (unsigned long long)s->run, strerror(path.failed ? ENOMEM : errno));
		runner_later(s, SLOT_LOOK);
		return;
	}
	s->state = SLOT_WANTED;
	r->c.want(r->c.ctx, &(struct rn_req){ .op = RN_ASK,
					      .ask = ASK_CHECK,
					      .attempt = s->attempt,
					      .number = s->number,
					      .run = s->run,
					      .sid = s->sid,
					      .rev = s->rev });
}

/* 0: go on; 1: there is nothing to do; all else: it could not say. */
bool check_answer(const struct slot *s, const struct rn_report *says, struct rn_report *ret)
{
	bool ended = says->kind == RN_EXIT;
	if (says->kind == RN_STARTED || says->kind == RN_ALIVE)
		return false;
	*ret = (struct rn_report){ .kind = RN_ANSWER,
				   .ask = ASK_CHECK,
				   .attempt = (uint16_t)(s->attempt & ~RUN_CHECK),
				   .number = s->number,
				   .run = s->run,
				   .reason = REASON_CHECK };
	if (ended && (says->outcome == OUTCOME_DONE || says->outcome == OUTCOME_NO_WORK)) {
		ret->yes = true;
		ret->reason = REASON_NONE;
	} else if (ended && says->outcome == OUTCOME_FAILED && says->reason == REASON_EXIT) {
		ret->reason = says->exit_code == 1 ? REASON_NONE : REASON_CHECK;
	} else if (ended && says->outcome == OUTCOME_FAILED) {
		ret->reason = says->reason; /* it could not even be rendered */
	}
	return true;
}

void runner_drop_check(struct runner *r, uint64_t run, uint16_t attempt)
{
	uint32_t i = map_get(&r->of, attempt_key(run, (uint16_t)(attempt | RUN_CHECK)));
	if (i == MAP_NONE)
		return;
	struct rn_req q = { .op = RN_KILL,
			    .run = run,
			    .attempt = (uint16_t)(attempt | RUN_CHECK),
			    .reason = REASON_CANCELLED };
	if (runner_submit(r, &q))
		return; /* it ends when its time is up */
}
