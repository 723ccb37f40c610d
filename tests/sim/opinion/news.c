/* News: a request writes exactly one row of news if it changes something that people want to know, and none
 * otherwise. Expected news follow from the change in the rows, not from the request, so that crashes and
 * repeated requests are covered too. */
#include "opinion/facts.h"

/* The state plus one, and the attempt, of a run. */
static uint32_t snapshot_of(const struct run_row *r)
{
	return r ? (uint32_t)r->state + 1 + ((uint32_t)r->attempt << 4) : 0;
}

static unsigned news_of_run_end(const struct run_row *r, bool was_bad)
{
	switch ((enum outcome)r->outcome) {
	case OUTCOME_DONE:
		return 1u << NEWS_PING | 1u << NEWS_SUCCESS | (was_bad ? 1u << NEWS_RECOVERED : 0);
	case OUTCOME_NO_WORK:
		return 1u << NEWS_PING | (was_bad ? 1u << NEWS_RECOVERED : 0);
	default:
		return r->reason == REASON_CANCELLED || r->reason == REASON_REPLACED
			       ? 1u << NEWS_PING
			       : 1u << NEWS_PING | 1u << NEWS_FAILURE;
	}
}

/* The total length of the missed ranges. */
uint64_t missed_length(const struct model_sched *s)
{
	uint64_t sum = 0;
	for (unsigned i = 0; s && i < s->ranges; i++)
		if (s->range[i].state == RUN_MISSED)
			sum += 1 + (uint64_t)(s->range[i].last.us - s->range[i].first.us);
	return sum;
}

/* The news that the request must have written, before the policy filters them. */
static unsigned expected_news(struct opinion *o, const struct st_req *q, const struct opinion_sched *sched)
{
	const struct model_sched *s = model_sched(o->w->rows, q->sid);
	const struct run_row *r = model_run(o->w->rows, q->run.run);
	uint32_t before = 0, now = snapshot_of(r);
	unsigned tells = 0;
	if (q->op == ST_RANGE)
		return missed_length(s) != sched->missed_length ? 1u << NEWS_MISSED : 0;
	if (q->op != ST_OCC && q->op != ST_VERDICT && q->op != ST_STARTED && q->op != ST_FINISH)
		return 0;
	number_map_get(&o->last_seen, q->run.run, &before);
	if (!r || before == now)
		return 0;
	number_map_put(&o->last_seen, q->run.run, now);
	unsigned was = before & 15, is = now & 15;
	if (is == RUN_FINISHED + 1 && was != is)
		tells |= news_of_run_end(r,
					 sched->row.failures && s && !s->row.failures && q->op == ST_FINISH);
	if (is == RUN_MISSED + 1 && was != is)
		tells |= 1u << NEWS_MISSED;
	if (q->op == ST_STARTED && now >> 4 > before >> 4)
		tells |= 1u << NEWS_STARTED;
	return tells;
}

void judge_news(struct opinion *o, const struct st_req *q)
{
	struct model *rows = o->w->rows;
	struct opinion_sched *sched = find_opinion_sched(o, q->sid);
	const struct model_sched *s = model_sched(rows, q->sid);
	struct rules rules = { 0 };
	if (s)
		memcpy(&rules, s->row.rules, sizeof rules);
	unsigned mask = rules.policy.news;
	mask |= mask & 1u << NEWS_PING ? 1u << NEWS_STARTED : 0;
	unsigned want = sched ? expected_news(o, q, sched) & mask : 0;
	/* The engine does not learn the failures of a removed schedule; and a change that overtakes an end
	 * has set them already. */
	bool overtaken = sched && knowledge_of(o, q).t <= sched->changed + o->slack;
	unsigned unsure = !s || s->dropped || overtaken ? 1u << NEWS_RECOVERED : 0;
	size_t n = model_news(rows);
	const struct news_row *last = n ? model_news_at(rows, n - 1) : NULL;
	uint64_t fresh = last && last->number > o->last_news ? last->number - o->last_news : 0;
	if (fresh > 1 || (fresh != 0) != (want != 0))
		FIND(o, "news: %llu rows for op %u, sid %llu, run %llu, but expected is %x",
		     (unsigned long long)fresh, q->op, (unsigned long long)q->sid,
		     (unsigned long long)q->run.run, want);
	else if (fresh && ((last->what ^ want) & ~unsure || last->sid != q->sid ||
			   last->run != (q->op == ST_RANGE ? 0 : q->run.run)))
		FIND(o, "news: %x of sid %llu, run %llu, but expected is %x of sid %llu, run %llu",
		     last->what, (unsigned long long)last->sid, (unsigned long long)last->run, want,
		     (unsigned long long)q->sid, (unsigned long long)q->run.run);
	o->last_news += fresh;
	if (sched)
		sched->missed_length = missed_length(s);
}
