/* Finds out whether a nominal time is on an excluded day or outside the agent's active hours. */
#include "core/schedule/rules.h"

static bool has_hours(const struct hours *h)
{
	return h->from != h->to;
}

static bool is_outside(const struct hours *h, const struct zone *zone, struct wall nominal)
{
	int64_t t = wall_seconds(nominal), local = t + zone_offset(zone, t);
	int64_t minute = (local - floor_div(local, DAY) * DAY) / 60;
	return h->from < h->to ? minute < h->from || minute >= h->to : minute < h->from && minute >= h->to;
}

static bool policy_is_valid(const struct policy *p)
{
	return p->missed < MISSED_COUNT && p->overlap < OVERLAP_COUNT && p->backoff < BACKOFF_COUNT &&
	       p->action <= ACTION_TURN && p->after <= AFTER_ANY && p->agent_choice <= AGENT_CHOICE_DEFAULT &&
	       p->priority >= -PRIORITY_MAX && p->priority <= PRIORITY_MAX && p->retries <= RETRY_MAX;
}

bool rules_are_valid(const struct rules *r)
{
	enum { DAY_MINUTES = 24 * 60 };
	return rule_is_valid(&r->when) && policy_is_valid(&r->policy) && r->active.from <= DAY_MINUTES &&
	       r->active.to <= DAY_MINUTES;
}

void rules_read(const struct sched_row *row, struct rules *ret)
{
	memcpy(ret, row->rules, sizeof *ret);
	if (!rules_are_valid(ret))
		*ret = (struct rules){ 0 };
}

bool rules_can_bar(const struct rules *r, const struct rules_context *context)
{
	return context->excluded->n || has_hours(&r->active);
}

enum reason rules_bar(const struct rules *r, const struct rules_context *context, struct wall nominal)
{
	if (days_have(context->excluded, context->zone, nominal))
		return REASON_EXCLUDED;
	if (has_hours(&r->active) && is_outside(&r->active, context->hours, nominal))
		return REASON_ACTIVE_HOURS;
	return REASON_NONE;
}
