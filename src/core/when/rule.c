/* Compiled when expressions: the next time, the previous time, jitter, comparison. */
#include "core/when/rule.h"

const char *const rule_kind_words[] = { [RULE_CRON] = "cron",
					[RULE_AT] = "at",
					[RULE_EVERY] = "every",
					[RULE_ORG] = "org",
					[RULE_KINDS] = NULL };

static enum err next_seconds(const struct rule *r, const struct zone *z, int64_t after, int64_t *ret)
{
	switch ((enum rule_kind)r->kind) {
	case RULE_CRON:
		return cron_next(&r->cron, z, after, ret);
	case RULE_AT:
		if (r->at <= after)
			return E_NOTFOUND;
		*ret = r->at;
		return OK;
	case RULE_EVERY: {
		int64_t k = floor_div(after - r->every.anchor, r->every.interval) + 1;
		int64_t t = r->every.anchor + k * r->every.interval;
		if (t > SECONDS_MAX)
			return E_NOTFOUND;
		*ret = t;
		return OK;
	}
	case RULE_ORG:
		return org_next(&r->org, z, after, ret);
	case RULE_KINDS:
		break;
	}
	assert(false);
	return E_NOTFOUND;
}

static int64_t clamp(int64_t t, int64_t lo, int64_t hi)
{
	return t < lo ? lo : t > hi ? hi : t;
}

enum err rule_next(const struct rule *r, const struct zone *z, struct wall after, struct wall *ret)
{
	int64_t t, start = clamp(wall_seconds(after), r->from - 1, SECONDS_MAX);
	enum err e = next_seconds(r, z, start, &t);
	if (e)
		return e;
	if (t >= r->until)
		return E_NOTFOUND;
	*ret = wall_of(t);
	return OK;
}

/* Rules can only be searched forwards: go back by doubling steps until a time is found, then bisect. */
enum err rule_prev(const struct rule *r, const struct zone *z, struct wall until, struct wall *ret)
{
	int64_t end = wall_seconds(until), lo, hi = end; /* the result is in (lo, hi] */
	struct wall t;
	for (int64_t d = 1;; d *= 2) {
		lo = end - d;
		if (rule_next(r, z, wall_of(lo), &t) == OK && wall_seconds(t) <= end)
			break;
		if (lo < r->from)
			return E_NOTFOUND;
		hi = lo;
	}
	while (hi - lo > 1) {
		int64_t mid = lo + (hi - lo) / 2;
		if (rule_next(r, z, wall_of(mid), &t) == OK && wall_seconds(t) <= end)
			lo = mid;
		else
			hi = mid;
	}
	*ret = wall_of(hi);
	return OK;
}

struct wall rule_due(const struct rule *r, const struct zone *z, struct wall nominal)
{
	if (!r->jitter)
		return nominal;
	int64_t room = r->jitter * USEC;
	struct wall next;
	if (rule_next(r, z, nominal, &next) == OK && next.us - nominal.us < room)
		room = next.us - nominal.us;
	/* spread / 2^64 of the room; 128 bits, so that nothing overflows */
	return (struct wall){ nominal.us + (int64_t)((unsigned __int128)r->spread * (uint64_t)room >> 64) };
}

static bool same_cron(const struct cron *a, const struct cron *b)
{
	return a->second == b->second && a->minute == b->minute && a->hour == b->hour && a->mday == b->mday &&
	       a->mday_last == b->mday_last && a->mday_near == b->mday_near && a->month == b->month &&
	       a->wday == b->wday && a->wday_last == b->wday_last &&
	       memcmp(a->wday_nth, b->wday_nth, sizeof a->wday_nth) == 0 && a->flags == b->flags &&
	       a->gap == b->gap && a->fold == b->fold;
}

static bool is_time(int64_t seconds)
{
	return seconds >= SECONDS_MIN && seconds <= SECONDS_MAX;
}

static bool cron_is_valid(const struct cron *c)
{
	return !(c->second & ~CRON_ALL_SIXTIES) && !(c->minute & ~CRON_ALL_SIXTIES) &&
	       !(c->hour & ~CRON_ALL_HOURS) && !(c->mday & ~CRON_ALL_MDAYS) &&
	       !(c->month & ~CRON_ALL_MONTHS) && !(c->wday & ~CRON_ALL_WDAYS) && c->gap <= GAP_SKIP &&
	       c->fold <= FOLD_BOTH;
}

bool rule_is_valid(const struct rule *r)
{
	if ((r->from != RULE_FROM_ALWAYS && !is_time(r->from)) ||
	    (r->until != RULE_UNTIL_NEVER && !is_time(r->until)))
		return false;
	switch (r->kind) {
	case RULE_CRON:
		return cron_is_valid(&r->cron);
	case RULE_AT:
		return is_time(r->at);
	case RULE_EVERY:
		return is_time(r->every.anchor) && r->every.interval > 0 && r->every.interval <= SECONDS_MAX;
	case RULE_ORG:
		return is_time(r->org.local) && r->org.count <= ORG_REPEAT_MAX && r->org.unit <= ORG_YEAR &&
		       r->org.style <= ORG_RESTART;
	default:
		return false;
	}
}

bool rule_same(const struct rule *a, const struct rule *b)
{
	if (a->kind != b->kind || a->jitter != b->jitter || (a->jitter && a->spread != b->spread) ||
	    a->from != b->from || a->until != b->until)
		return false;
	switch ((enum rule_kind)a->kind) {
	case RULE_CRON:
		return same_cron(&a->cron, &b->cron);
	case RULE_AT:
		return a->at == b->at;
	case RULE_EVERY:
		return a->every.anchor == b->every.anchor && a->every.interval == b->every.interval;
	case RULE_ORG:
		return a->org.local == b->org.local && a->org.count == b->org.count &&
		       a->org.unit == b->org.unit && a->org.style == b->org.style;
	case RULE_KINDS:
		break;
	}
	return false;
}

bool days_have(const struct days *d, const struct zone *z, struct wall t)
{
	if (d->n == 0)
		return false;
	int64_t s = wall_seconds(t), day = floor_div(s + zone_offset(z, s), DAY);
	unsigned lo = 0, hi = d->n;
	while (lo < hi) {
		unsigned mid = lo + (hi - lo) / 2;
		if (d->day[mid] < day)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < d->n && d->day[lo] == day;
}
