/* Judges followers: each end of the leader's run that matches makes one record, in the order of the ends. */
#include "opinion/facts.h"

static bool matches(const struct policy *p, const struct run_row *end)
{
	switch ((enum after_outcome)p->after) {
	case AFTER_DONE:
		return run_is_good(end);
	case AFTER_FAILED:
		return end->outcome == OUTCOME_FAILED || end->outcome == OUTCOME_KILLED;
	case AFTER_ANY:
		break;
	}
	return true;
}

/* A run is over when its last attempt ended, or when its retry was given up. */
static struct wall over_at(const struct run_row *end)
{
	return end->retry_at.us ? end->retry_at : end->ended;
}

static void add_end(struct opinion *o, struct opinion_sched *s, const struct run_row *end)
{
	if (s->row.after != end->sid || s->dropped || !(s->row.flags & SCHED_ENABLED) ||
	    over_at(end).us <= s->row.changed.us || !matches(&s->rules.policy, end))
		return;
	ADD_ROOM(s->end, s->end_room, s->ends);
	unsigned at = s->ends++;
	for (; at > 0 && s->end[at - 1].number > end->end; at--)
		s->end[at] = s->end[at - 1];
	s->end[at] = (struct awaited_end){ over_at(end), o->w->t, end->outcome, s->row.rev, end->end };
}

void await_end(struct opinion *o, const struct run_row *end)
{
	for (unsigned i = 0; i < o->scheds; i++)
		add_end(o, &o->sched[i], end);
}

void await_earlier_ends(struct opinion *o, struct opinion_sched *s)
{
	s->ends = 0;
	for (size_t i = 0; i < model_runs(o->w->rows); i++) {
		const struct run_row *r = model_run_at(o->w->rows, i);
		if (r && r->state == RUN_FINISHED && r->end > s->row.seen)
			add_end(o, s, r);
	}
}

static void forget_end(struct opinion_sched *s, unsigned i)
{
	memmove(&s->end[i], &s->end[i + 1], (s->ends - i - 1) * sizeof *s->end);
	s->ends--;
}

/* The end that the record is about: its time, or a few microseconds later if several ended together. */
static unsigned find_end(const struct opinion_sched *s, const struct run_row *r)
{
	for (unsigned i = 0; i < s->ends; i++) {
		int64_t later = r->nominal.us - s->end[i].nominal.us;
		if (later >= 0 && later < 1000)
			return i;
	}
	return UINT32_MAX;
}

static const char *wrong_refusal(const struct opinion *o, const struct opinion_sched *s,
				 const struct run_row *r, int64_t decided, unsigned newer)
{
	const struct policy *p = &s->rules.policy;
	struct wall now = o->then.wall;
	bool late = now.us - r->nominal.us > SECONDS(grace_seconds(p)), runs = r->state < RUN_SKIPPED;
	enum reason bar = barred(o, &s->rules, r->nominal);
	enum reason skip = o->then.paused                             ? REASON_PAUSED
			   : s->row.left == 0                         ? REASON_MAX_RUNS
			   : surely_held(o, p, decided, true)         ? REASON_BLOCKED
			   : maybe_held(o, p, decided, decided, true) ? REASON_COUNT
								      : bar;
	unsigned limit = p->missed == MISSED_CATCH_UP ? p->catch_up_limit : 1;
	if (skip == REASON_COUNT || stepped_between(o, true_time(o, r->nominal), decided))
		return NULL;
	if (r->nominal.us <= o->restored.us)
		return r->reason == REASON_RESTORED ? NULL : "it may have been acted on before the restore";
	if (skip)
		return r->state == RUN_SKIPPED && r->reason == skip ? NULL : "it must be skipped";
	if (r->state == RUN_SKIPPED)
		return r->reason == REASON_OVERLAP ? NULL : "it must not be skipped";
	if (!late)
		return runs ? NULL : "it is not late";
	if (p->window)
		return r->reason == REASON_WINDOW_CLOSED ? NULL : "its window has closed";
	if (p->missed == MISSED_SKIP || p->missed == MISSED_EXECUTE_NEXT)
		return r->state == RUN_MISSED && r->reason != REASON_SUPERSEDED ? NULL : "it is missed";
	if (newer >= limit)
		return r->reason == (p->missed == MISSED_CATCH_UP ? REASON_LIMIT : REASON_SUPERSEDED)
			       ? NULL
			       : "later ends run in its place";
	return runs ? NULL : "it runs late";
}

void judge_follower(struct opinion *o, struct opinion_sched *s, const struct run_row *r, int64_t decided)
{
	unsigned i = find_end(s, r);
	if (i == UINT32_MAX) {
		if (r->reason != REASON_EDITED && s->changed < decided - o->slack)
			FIND(o, "sid %llu: %s is no end of its leader on which it must act",
			     (unsigned long long)s->sid, check_time_text(r->nominal));
		return;
	}
	/* Ends on which it must act and that were written before the decision. */
	unsigned newer = 0, unsure = 0;
	for (unsigned k = i + 1; k < s->ends; k++) {
		bool told =
			s->end[k].t < decided - o->slack && !spans_touch(&o->suspended, s->end[k].t, decided);
		newer += told;
		unsure += !told;
	}
	bool changed = s->end[i].rev != s->row.rev;
	if (i > 0 && !changed && s->end[0].rev == s->row.rev)
		FIND(o, "sid %llu acts on the end %s before the end %s", (unsigned long long)s->sid,
		     check_time_text(s->end[i].nominal), check_time_text(s->end[0].nominal));
	const char *wrong = wrong_refusal(o, s, r, decided, newer);
	if (wrong && !unsure && !changed && r->reason != REASON_EDITED)
		FIND(o, "sid %llu: the end %s of its leader is recorded in state %u/%s, but %s",
		     (unsigned long long)s->sid, check_time_text(r->nominal), r->state,
		     reason_words[r->reason], wrong);
	forget_end(s, i);
}

/* At the end: nothing is left on which it must act. */
void judge_awaited(struct opinion *o, const struct opinion_sched *s)
{
	for (unsigned i = 0; i < s->ends && !s->dropped; i++)
		if (s->end[i].rev == s->row.rev)
			FIND(o, "sid %llu has not acted on the end %s of its leader",
			     (unsigned long long)s->sid, check_time_text(s->end[i].nominal));
}
