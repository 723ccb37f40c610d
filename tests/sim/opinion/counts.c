/* Judges what a schedule's row counts: runs left of max_runs, missed times of which the next run must be
 * informed, failures in a row; and the next time. */
#include "opinion/facts.h"

static bool is_refused(const struct run_row *r)
{
	return r->state == RUN_SKIPPED || r->state == RUN_MISSED;
}

static bool is_regular(const struct run_row *r)
{
	return r->kind == KIND_TIMER || r->kind == KIND_CATCH_UP || r->kind == KIND_AFTER;
}

/* --- missed times that the next run must be told --- */

void judge_told(struct opinion *o, const struct opinion_sched *s, const struct run_row *r)
{
	uint32_t want = is_regular(r) && !is_refused(r) ? s->row.owed : 0;
	if (r->missed != want)
		FIND(o, "sid %llu: run %llu is told of %u missed times, expected are %u",
		     (unsigned long long)s->sid, (unsigned long long)r->run, r->missed, want);
}

static void judge_owed(struct opinion *o, const struct opinion_sched *s, const struct sched_row *now,
		       const struct run_row *r, bool fresh)
{
	uint32_t want = s->row.owed;
	if (fresh && is_regular(r) && !is_refused(r))
		want = 0;
	else if (fresh && s->row.after && is_regular(r) && r->state == RUN_MISSED)
		want++;
	else if (!fresh && !s->row.after)
		want += s->missed_now;
	if (want > OWED_MAX)
		want = OWED_MAX;
	if (now->owed < want || now->owed > want + (fresh ? 0 : s->taken_now))
		FIND(o, "sid %llu: %u missed times are to be told, expected are %u",
		     (unsigned long long)s->sid, now->owed, want);
}

/* --- max_runs --- */

static bool same_when(const struct sched_row *a, const struct sched_row *b)
{
	struct rules x, y;
	memcpy(&x, a->rules, sizeof x);
	memcpy(&y, b->rules, sizeof y);
	return rule_same(&x.when, &y.when) && x.policy.zone == y.policy.zone &&
	       x.policy.calendar == y.policy.calendar && a->after == b->after &&
	       (!a->after || x.policy.after == y.policy.after) && !((a->flags ^ b->flags) & SCHED_ENABLED);
}

/* Runs left after a change of the schedule: all of max_runs if its times are new, else max_runs less the runs
 * so far. */
static uint32_t left_after_change(const struct opinion_sched *s, const struct sched_row *now)
{
	struct rules rules;
	memcpy(&rules, now->rules, sizeof rules);
	uint32_t most = rules.max_runs, before = s->rules.max_runs;
	if (!same_when(&s->row, now))
		return most;
	if (most == before)
		return s->row.left;
	if (most == UINT32_MAX || before == UINT32_MAX)
		return most;
	uint32_t used = before > s->row.left ? before - s->row.left : 0;
	return most > used ? most - used : 0;
}

static void judge_left(struct opinion *o, const struct opinion_sched *s, const struct sched_row *now,
		       const struct run_row *r, bool fresh)
{
	uint32_t want = s->row.left;
	if (now->rev != s->row.rev)
		want = left_after_change(s, now);
	else if (fresh && is_regular(r) && !is_refused(r) && want != UINT32_MAX)
		want--;
	if (now->left != want)
		FIND(o, "sid %llu: %u runs are left of max_runs, expected are %u", (unsigned long long)s->sid,
		     now->left, want);
}

/* --- failures in a row --- */

void judge_failures(struct opinion *o, const struct opinion_sched *s, const struct run_row *end,
		    uint32_t before, uint32_t after, int64_t decided)
{
	bool intended = end->reason == REASON_CANCELLED || end->reason == REASON_REPLACED;
	uint32_t want = run_is_good(end) ? 0 : end->kind == KIND_MANUAL || intended ? before : before + 1;
	/* A change of the schedule that was written in between may have set them. */
	if (after != want && !s->dropped && s->changed < decided)
		FIND(o, "sid %llu: run %llu ended %s/%s, and %u failures in a row became %u, expected are %u",
		     (unsigned long long)s->sid, (unsigned long long)end->run, outcome_words[end->outcome],
		     reason_words[end->reason], before, after, want);
}

/* A schedule may be paused without a command only after max_failures failures in a row; a resumption clears
 * them. */
static void judge_pause(struct opinion *o, struct opinion_sched *s, const struct sched_row *now,
			int64_t decided)
{
	uint32_t most = s->rules.policy.max_failures;
	bool begins = now->flags & ~s->row.flags & SCHED_PAUSED,
	     ends = s->row.flags & ~now->flags & SCHED_PAUSED;
	if (begins && s->pause_sent <= decided && (!most || o->then.failures < most) && s->changed < decided)
		FIND(o, "sid %llu is paused after %u failures in a row, allowed are %u",
		     (unsigned long long)s->sid, o->then.failures, most);
	if (ends && s->resume_sent <= decided && s->row.paused_until.us > o->then.wall.us)
		FIND(o, "sid %llu is resumed before %s", (unsigned long long)s->sid,
		     check_time_text(s->row.paused_until));
	if (ends && now->failures)
		FIND(o, "sid %llu is resumed with %u failures in a row", (unsigned long long)s->sid,
		     now->failures);
	/* It ended at its time, even if the daemon was down then, but not before the last change. */
	struct wall over = s->row.paused_until.us < o->then.wall.us ? s->row.paused_until : o->then.wall;
	if (over.us < s->row.changed.us)
		over = s->row.changed;
	if (over.us < s->row.high.us) /* recorded for another reason */
		over = s->row.high.us < o->then.wall.us ? s->row.high : o->then.wall;
	if (ends && now->changed.us != over.us)
		FIND(o, "sid %llu: its last change is %s, but its pause ended %s", (unsigned long long)s->sid,
		     check_time_text(now->changed), check_time_text(over));
}

/* --- the next time --- */

/* The first nominal time after this one and after the last change. */
static void judge_next(struct opinion *o, const struct opinion_sched *s, const struct sched_row *now)
{
	struct wall after = now->high.us > now->changed.us ? now->high : now->changed, want;
	if (now->after || now->next_set_at.us || now->high.us <= s->row.high.us ||
	    now->high.us == now->pruned_to.us)
		return;
	if (!next_nominal(o, &s->rules, after, &want))
		want = WALL_NEVER;
	if (now->next.us != want.us)
		FIND(o, "sid %llu: its next time is %s, expected is %s", (unsigned long long)s->sid,
		     check_time_text(now->next), check_time_text(want));
}

void judge_row(struct opinion *o, struct opinion_sched *s, const struct sched_row *now,
	       const struct run_row *r, bool fresh, int64_t decided)
{
	judge_left(o, s, now, r, fresh);
	if (now->rev != s->row.rev) {
		judge_pause(o, s, now, decided);
		return;
	}
	judge_owed(o, s, now, r, fresh);
	judge_next(o, s, now);
	if (!fresh && r && r->state == RUN_FINISHED && run_was_open(o, r))
		judge_failures(o, s, r, s->row.failures, now->failures, decided);
	else if (now->failures != s->row.failures)
		FIND(o, "sid %llu: %u failures in a row became %u without an end", (unsigned long long)s->sid,
		     s->row.failures, now->failures);
}
