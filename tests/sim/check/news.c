/* Whoever wants to know is told: what the store made so has left exactly one row of news, at that moment, and
 * nothing else has. Judged by what changed in the rows, whatever the engine asked for, through crashes and
 * requests that were carried out twice. */
#include "check/internal.h"

/* A run as it was last seen: its state plus one, and its attempt. */
static uint32_t seen_as(const struct run_row *r)
{
	return r ? (uint32_t)r->state + 1 + ((uint32_t)r->attempt << 4) : 0;
}

static unsigned of_end(const struct run_row *r, bool was_bad)
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

/* How long all that is on record as missed in stretches is. */
static uint64_t stretched(const struct rows_sched *s)
{
	uint64_t sum = 0;
	for (unsigned i = 0; s && i < s->ranges; i++)
		if (s->range[i].state == RUN_MISSED)
			sum += 1 + (uint64_t)(s->range[i].last.us - s->range[i].first.us);
	return sum;
}

static unsigned wanted(struct check *c, const struct st_req *q, const struct check_sched *b)
{
	const struct rows_sched *s = rows_sched(c->w->rows, q->sid);
	const struct run_row *r = rows_run(c->w->rows, q->run.run);
	uint32_t before = 0, now = seen_as(r);
	unsigned tells = 0;
	if (q->op == ST_RANGE)
		return stretched(s) != b->missed_length ? 1u << NEWS_MISSED : 0;
	if (q->op != ST_OCC && q->op != ST_VERDICT && q->op != ST_STARTED && q->op != ST_FINISH)
		return 0;
	table_get(&c->last_seen, q->run.run, &before);
	if (!r || before == now)
		return 0;
	table_put(&c->last_seen, q->run.run, now);
	unsigned was = before & 15, is = now & 15;
	if (is == RUN_FINISHED + 1 && was != is)
		tells |= of_end(r, b->failures && s && !s->row.failures && q->op == ST_FINISH);
	if (is == RUN_MISSED + 1 && was != is)
		tells |= 1u << NEWS_MISSED;
	if (q->op == ST_STARTED && now >> 4 > before >> 4)
		tells |= 1u << NEWS_STARTED;
	return tells;
}

void check_news(struct check *c, const struct st_req *q)
{
	struct rows *rows = c->w->rows;
	struct check_sched *b = check_find_sched(c, q->sid);
	const struct rows_sched *s = rows_sched(rows, q->sid);
	struct rules rules = { 0 };
	if (s)
		memcpy(&rules, s->row.rules, sizeof rules);
	unsigned mask = rules.policy.news;
	mask |= mask & 1u << NEWS_PING ? 1u << NEWS_STARTED : 0;
	unsigned want = b ? wanted(c, q, b) & mask : 0;
	/* Of one that was removed the engine is not told any more how often it failed; and a change that
	 * overtook the end has told the store already how often it will have. */
	const struct check_run *v = check_find_run(c, q->run.run);
	bool overtaken = b && v && q->op == ST_FINISH && v->last_finish <= b->recounted + c->slack;
	unsigned unsure = !s || s->dropped || overtaken ? 1u << NEWS_RECOVERED : 0;
	size_t n = rows_newses(rows);
	const struct news_row *last = n ? rows_news_at(rows, n - 1) : NULL;
	uint64_t fresh = last && last->number > c->last_news ? last->number - c->last_news : 0;
	if (fresh > 1 || (fresh != 0) != (want != 0))
		check_fail(c, "news: %llu of op %u, sid %llu, run %llu, but %x is to be told",
			   (unsigned long long)fresh, q->op, (unsigned long long)q->sid,
			   (unsigned long long)q->run.run, want);
	else if (fresh && ((last->what ^ want) & ~unsure || last->sid != q->sid ||
			   last->run != (q->op == ST_RANGE ? 0 : q->run.run)))
		check_fail(c, "news: %x of sid %llu, run %llu, but it is %x of %llu, %llu", last->what,
			   (unsigned long long)last->sid, (unsigned long long)last->run, want,
			   (unsigned long long)q->sid, (unsigned long long)q->run.run);
	c->last_news += fresh;
	if (b) {
		if (q->op == ST_PUT && !q->keep_next)
			b->recounted = c->w->t;
		b->failures = s ? s->row.failures : 0;
		b->missed_length = stretched(s);
	}
}
