/* The account at the end: every nominal time that came must be recorded exactly once. The record must be in
 * time, or have a reason that agrees with the faults that happened to the engine. */
#include "check/internal.h"
#include "opinion/opinion.h"

#include <stdio.h>
#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
	const struct range_row *x = a, *y = b;
	return (x->first.us > y->first.us) - (x->first.us < y->first.us);
}

/* The ranges of one schedule in order, with a cursor for ascending times. */
struct ranges {
	struct range_row *range;
	unsigned n, at;
	const struct run_row *before; /* the run of the previous nominal time; NULL: it has no run */
};

/* How many ranges contain the time; *ret is the last of them. */
static unsigned count_covering(struct ranges *g, struct wall n, const struct range_row **ret)
{
	unsigned found = 0;
	while (g->at < g->n && g->range[g->at].last.us < n.us)
		g->at++;
	for (unsigned i = g->at; i < g->n && g->range[i].first.us <= n.us; i++)
		if (g->range[i].last.us >= n.us) {
			*ret = &g->range[i];
			found++;
		}
	return found;
}

static bool was_held(const struct check *c, uint32_t key, int64_t t)
{
	for (size_t i = 0; key && i < c->holds; i++) {
		const struct check_hold *h = &c->hold[i];
		int64_t until =
			h->until.us == INT64_MAX ? INT64_MAX : check_true_time(c, h->until) + c->slack;
		if (h->key == key && t >= h->from - c->slack &&
		    t <= h->to + (h->to == INT64_MAX ? 0 : c->slack) && t <= until)
			return true;
	}
	return false;
}

static bool held_by_any(const struct check *c, const struct check_sched *sched, int64_t t)
{
	for (unsigned i = 0; i < sched->versions; i++) {
		const struct policy *p = &sched->version[i].rules.policy;
		if (was_held(c, p->agent, t) || was_held(c, p->account, t))
			return true;
	}
	return false;
}

static bool has_catch_up(const struct check *c, const struct check_sched *sched)
{
	for (const struct check_run *v = run_newest(c, sched); v; v = run_older(c, v))
		if (v->row.kind == KIND_CATCH_UP)
			return true;
	return false;
}

/* True if catch-up runs of the schedule were open at that time. */
static bool in_catch_up(const struct check *c, const struct check_sched *sched, int64_t t)
{
	for (const struct check_run *v = run_newest(c, sched); v; v = run_older(c, v))
		if (v->row.kind == KIND_CATCH_UP && v->recorded <= t + c->slack &&
		    v->last_finish >= t - c->slack - SECONDS(3))
			return true;
	return false;
}

/* True if the engine was passing times that are recorded already, one after another. */
static bool passes_recorded(const struct check *c, const struct check_sched *sched, int64_t t)
{
	for (unsigned i = 0; i < sched->losts; i++)
		if (sched->lost[i] >= t - c->slack && sched->lost[i] <= t + c->slack + SECONDS(3))
			return true;
	return false;
}

static bool near_change(const struct check *c, const struct check_sched *sched, int64_t t)
{
	for (unsigned i = 0; i < sched->versions; i++)
		if (sched->version[i].t >= t - c->slack && sched->version[i].t <= t + c->slack)
			return true;
	return sched->dropped;
}

/* True if the time came due while a catch-up run was open, so that it had to become a catch-up run. */
static bool must_join_line(const struct check *c, const struct check_sched *sched, const struct version *v,
			   int64_t t)
{
	/* A later version may have decided about it. */
	if (v->rules.policy.missed != MISSED_CATCH_UP || near_change(c, sched, t) ||
	    sched->version[sched->versions - 1].t > t)
		return false;
	for (const struct check_run *o = run_newest(c, sched); o; o = run_older(c, o))
		if (o->row.kind == KIND_CATCH_UP && o->row.rev == v->rev && o->recorded < t - c->slack &&
		    o->last_finish > t + c->slack)
			return true;
	return false;
}

/* Checks a nominal time that is recorded once: it must be in time, or there must be an excuse. */
static void check_punctuality(struct check *c, const struct check_sched *sched, const struct version *v,
			      struct wall n, int64_t t, const struct run_row *r, const struct range_row *g,
			      bool joins, struct tally *sum)
{
	unsigned state = r ? r->state : g->state, reason = r ? r->reason : g->reason;
	unsigned excuse = check_excuse(c, t, t + c->slack);
	unsigned long long sid = sched->sid;
	sum->runs += state != RUN_SKIPPED && state != RUN_MISSED;
	sum->skipped += state == RUN_SKIPPED;
	sum->missed += state == RUN_MISSED;
	sum->down += (excuse & EXCUSE_DOWN) != 0;
	sum->settled += (excuse & EXCUSE_DOWN) != 0;
	if (r && run_is_open(r))
		check_fail(c, "sid %llu: the run of %s never ends, state %u", sid, check_time_text(n), state);
	if (r && r->kind == KIND_BACKFILL)
		return;
	int64_t lateness = r ? check_true_time(c, r->claimed) - t : 0;
	bool late = lateness > c->slack;
	bool missed = state == RUN_MISSED && reason != REASON_WINDOW_CLOSED && reason != REASON_EDITED;
	bool closed =
		state == RUN_MISSED && reason == REASON_WINDOW_CLOSED && !r; /* it was not recorded in time */
	struct wall due = v->after ? n : rule_due(&v->rules.when, check_zone(c, &v->rules), n);
	if (check_repeated(c, n) || check_repeated(c, due) || (r && check_repeated(c, r->claimed)))
		return;
	if (reason == REASON_RESTORED)
		return; /* check_missed compares it with the restore */
	if (state == RUN_SKIPPED && reason == REASON_OVERLAP && must_join_line(c, sched, v, t))
		check_fail(c, "sid %llu: %s is skipped/overlap, although it came due during a catch-up run",
			   sid, check_time_text(n));
	if (v->rules.zone_print != zone_fingerprint(check_zone(c, &v->rules)))
		return; /* outdated rules, for other zone data, decide nothing */
	bool held = held_by_any(c, sched, t);
	if (excuse) {
		if (held || joins || has_catch_up(c, sched) || held_by_any(c, sched, check_excuse_end(c, t)))
			return; /* it had to wait, so any cause may apply */
		/* A freshly loaded engine does not know the cause of lateness before the crash. */
		bool down = excuse & EXCUSE_DOWN ||
			    check_excuse(c, check_excuse_end(c, t), check_excuse_end(c, t) + MINUTES(2)) &
				    EXCUSE_DOWN;
		if ((reason == REASON_DOWN && missed && !down) ||
		    (reason == REASON_CLOCK && missed && !(excuse & EXCUSE_CLOCK)) ||
		    (reason == REASON_STORE && missed && !(excuse & (EXCUSE_STORE | EXCUSE_SUSPENDED))))
			check_fail(c, "sid %llu: %s is missed/%s, but there was no such cause", sid,
				   check_time_text(n), reason_words[reason]);
		return;
	}
	if (late || missed || closed) {
		if (held || joins || in_catch_up(c, sched, t) || near_change(c, sched, t) ||
		    passes_recorded(c, sched, t))
			return;
		sum->healthy++;
		check_fail(c, "sid %llu: %s came due without any fault, and is %s/%s, claimed %.3f s late",
			   sid, check_time_text(n),
			   state == RUN_MISSED    ? "missed"
			   : state == RUN_SKIPPED ? "skipped"
						  : "run",
			   reason_words[reason], (double)lateness / 1e6);
		return;
	}
	sum->healthy++;
	sum->on_time++;
	if (lateness > sum->latest)
		sum->latest = lateness;
}

static void account(struct check *c, struct check_sched *sched, const struct version *v, struct wall n,
		    int64_t t, struct ranges *ranges, bool *hole, struct tally *sum)
{
	const struct range_row *g = NULL;
	const struct run_row *r = model_occurrence(c->w->rows, sched->sid, n);
	/* A follower's ends are recorded one by one, and may lie in a range of its later rule. */
	unsigned in_ranges = v->after ? 0 : count_covering(ranges, n, &g);
	unsigned long long sid = sched->sid;
	sum->due++;
	if (!r && !in_ranges) {
		/* Pruned, or not claimed any more; or a catch-up run of a follower, which was withdrawn after
		 * a step back of the clock because the schedule has no leader any more. */
		const struct sched_row *row = &model_sched(c->w->rows, sched->sid)->row;
		if (n.us <= row->pruned_to.us || (v->after && !row->after && check_repeated(c, n))) {
			sum->due--;
			return;
		}
		if (sched->dropped) {
			*hole = true; /* no later time may be recorded */
			sum->due--;
			return;
		}
		sum->lost++;
		check_fail(c, "G2: sid %llu: there is no record of %s", sid, check_time_text(n));
		return;
	}
	bool by_hand = r && r->kind == KIND_BACKFILL;
	if (*hole && !by_hand && !check_repeated(c, n)) {
		check_fail(c, "G2: sid %llu: %s has a record, but an earlier time has none", sid,
			   check_time_text(n));
		*hole = false;
	}
	bool took_over = r && (by_hand || check_repeated(c, n));
	if (in_ranges > 1 || (r && in_ranges && !took_over)) {
		sum->twice++;
		check_fail(c, "G2: sid %llu: %s is recorded %u times (%s and %s)", sid, check_time_text(n),
			   in_ranges + (r != NULL), r ? reason_words[r->reason] : "range",
			   g ? reason_words[g->reason] : "-");
	}
	if (g && g->reason == REASON_GATED) {
		bool gated = false;
		for (unsigned i = 0; i < sched->versions; i++)
			gated |= sched->version[i].gated_until.us > n.us;
		if (!gated)
			check_fail(c, "sid %llu: %s is skipped/gated, but no run has set a later next check",
				   sid, check_time_text(n));
	}
	/* Times are recorded one after another. If the previous time is recorded late, a time that comes due
	 * meanwhile must wait. */
	const struct run_row *before = ranges->before;
	bool joins = before && check_true_time(c, before->claimed) >= t - c->slack;
	ranges->before = r;
	check_punctuality(c, sched, v, n, t, r, g, joins, sum);
}

/* The next time of the rule, or the next check. */
static bool next_time(const struct version *v, const struct zone *z, struct wall after, struct wall *ret)
{
	struct wall next;
	bool regular = rule_next(&v->rules.when, z, after, &next) == OK;
	if (v->next_check.us > after.us && (!regular || v->next_check.us < next.us))
		*ret = v->next_check;
	else if (regular)
		*ret = next;
	return regular || v->next_check.us > after.us;
}

static void account_rule(struct check *c, struct check_sched *sched, struct ranges *ranges, struct tally *sum)
{
	struct wall now = world_wall(c->w);
	bool hole = false;
	for (unsigned i = 0; i < sched->stretches && c->failures < CHECK_FAILURES_MAX; i++) {
		const struct stretch *s = &sched->stretch[i];
		const struct version *v = &sched->version[s->version];
		if (v->after || !(v->flags & SCHED_ENABLED))
			continue;
		const struct zone *z = check_zone(c, &v->rules);
		struct wall n = s->from;
		ranges->at = 0;
		while (next_time(v, z, n, &n) && n.us <= s->to.us && n.us <= now.us) {
			struct wall due = rule_due(&v->rules.when, z, n);
			if (due.us > now.us)
				break;
			account(c, sched, v, n, check_true_time(c, due), ranges, &hole, sum);
			if (c->failures >= CHECK_FAILURES_MAX)
				return;
		}
	}
}

static void account_ends(struct check *c, struct check_sched *sched, struct ranges *ranges, struct tally *sum)
{
	bool hole = false;
	for (unsigned i = 0; i < sched->ends; i++) {
		/* A change of the schedule may have been decided before the leader's end and written after
		 * it. */
		const struct version *v = &sched->version[sched->end[i].version];
		while (v + 1 < sched->version + sched->versions && v[1].changed.us < sched->end[i].nominal.us)
			v++;
		if (!check_follows(v, sched->end[i].outcome))
			continue;
		ranges->at = 0;
		account(c, sched, &sched->version[sched->end[i].version], sched->end[i].nominal,
			sched->end[i].t, ranges, &hole, sum);
	}
}

/* Refused times must lie in the past, because records of future times are withdrawn after a step back of the
 * clock. And the last change of a schedule must not be in the future. */
static void account_future(struct check *c, const struct check_sched *sched, const struct model_sched *s)
{
	struct wall now = world_wall(c->w), next;
	const struct version *v = &sched->version[sched->versions - 1];
	/* A range that ends in the future is harmless if the schedule has no time before the end of the
	 * range. */
	bool any = v->after || next_time(v, check_zone(c, &v->rules), now, &next);
	if (!sched->dropped && s->row.changed.us > now.us + SECONDS(60))
		check_fail(c, "sid %llu: its last change, %s, is in the future",
			   (unsigned long long)sched->sid, check_time_text(s->row.changed));
	for (unsigned i = 0; i < s->ranges; i++)
		if (any && s->range[i].last.us >= (v->after ? now.us + 1 : next.us) &&
		    s->range[i].last.us != INT64_MAX && !sched->dropped)
			check_fail(c, "sid %llu: a range ends at %s, in the future",
				   (unsigned long long)sched->sid, check_time_text(s->range[i].last));
}

/* At the end, a schedule with max_failures failures must be paused. */
static void account_failures(struct check *c, const struct check_sched *sched, const struct model_sched *s)
{
	const struct rules *r = &sched->version[sched->versions - 1].rules;
	bool on = s->row.flags & SCHED_ENABLED && !(s->row.flags & SCHED_PAUSED) && !sched->dropped;
	if (on && r->policy.max_failures && s->row.failures >= r->policy.max_failures)
		check_fail(c, "sid %llu: %u failures in a row, at most %u are allowed, and it is not paused",
			   (unsigned long long)sched->sid, s->row.failures, r->policy.max_failures);
}

static bool stepped_back(const struct check *c, int64_t from, int64_t to)
{
	for (size_t i = 1; i < c->pieces; i++) {
		const struct clock_piece *a = &c->piece[i - 1], *b = &c->piece[i];
		if (b->t >= from && b->t <= to && b->wall < a->wall + (b->t - a->t))
			return true;
	}
	return false;
}

static bool was_follower(const struct check_sched *sched)
{
	for (unsigned i = 0; i < sched->versions; i++)
		if (sched->version[i].after)
			return true;
	return false;
}

static void account_runs(struct check *c)
{
	struct wall now = world_wall(c->w);
	for (size_t i = 0; i < model_runs(c->w->rows); i++) {
		const struct run_row *r = model_run_at(c->w->rows, i);
		if (!r)
			continue;
		const struct check_sched *sched = check_find_sched(c, r->sid);
		if (run_is_open(r))
			check_fail(c, "G2: run %llu never ends", (unsigned long long)r->run);
		const struct check_run *v = check_find_run(c, r->run);
		/* The run was claimed before the step of the clock, and refused after it. */
		bool later = v && stepped_back(c, v->recorded - c->slack, v->last_finish);
		/* The records of a follower stay, even if the schedule was not a follower when they were
		 * recorded. */
		bool stays = r->kind == KIND_CATCH_UP && was_follower(sched);
		if ((r->state == RUN_SKIPPED || r->state == RUN_MISSED) && r->nominal.us > now.us && !later &&
		    !stays && r->kind != KIND_MANUAL && r->kind != KIND_AFTER && !sched->dropped &&
		    !sched->ends)
			check_fail(c, "sid %llu: %s is in the future, but refused already",
				   (unsigned long long)r->sid, check_time_text(r->nominal));
		if (r->state == RUN_FINISHED && r->kind != KIND_MANUAL && r->kind != KIND_BACKFILL) {
			struct check_sched *x = check_find_sched(c, r->sid);
			if (x->allowed != UINT64_MAX && x->allowed-- == 0)
				check_fail(c, "sid %llu: more runs than max_runs allows",
					   (unsigned long long)r->sid);
		}
	}
}

struct tally check_account(struct check *c)
{
	struct tally sum = { 0 };
	opinion_account(c->w->opinion);
	for (size_t i = 0; i < c->scheds && c->failures < CHECK_FAILURES_MAX; i++) {
		struct check_sched *sched = &c->sched[i];
		const struct model_sched *s = model_sched(c->w->rows, sched->sid);
		if (!s)
			continue; /* pruned, or gone since a restore */
		struct ranges ranges = { must_realloc(NULL, s->ranges * sizeof *s->range), s->ranges, 0,
					 NULL };
		memcpy(ranges.range, s->ranges ? s->range : (void *)ranges.range,
		       s->ranges * sizeof *s->range);
		if (s->ranges)
			qsort(ranges.range, s->ranges, sizeof *ranges.range, by_first);
		account_rule(c, sched, &ranges, &sum);
		account_ends(c, sched, &ranges, &sum);
		account_future(c, sched, s);
		account_failures(c, sched, s);
		free(ranges.range);
	}
	account_runs(c);
	for (size_t i = 0; i < c->commands; i++)
		if (!c->command[i].replied && c->command[i].epoch == c->w->epoch)
			check_fail(c, "command %zu was never answered", i + 1);
	struct engine_counts n = c->w->engine ? engine_counts(c->w->engine) : (struct engine_counts){ 0 };
	if (c->w->engine && (n.slots_used || n.queued || n.running || n.launches_under_way))
		check_fail(c, "R6: at the end %u slots are used, %u runs queued, %u running", n.slots_used,
			   n.queued, n.running);
	return sum;
}
