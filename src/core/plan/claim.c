/* Taking and releasing tasks. */
#include "core/plan/claim.h"
#include "core/org/edit.h"

static enum err say_held(const struct org *o, const struct org_head *h, struct str holder, struct why *why)
{
	struct str since = org_property_value(o, h, "CLAIMED");
	return why_set(why, E_BUSY, WHY_NOWHERE, "'%.*s' is claimed by %.*s%s%.*s",
		       STR_SHORT(org_text(o, h->title)), STR_SHORT(holder), since.n ? ", since " : "",
		       STR_SHORT(since));
}

enum err claim_take(const struct org *o, struct str task, struct str agent, struct str time, struct arena *a,
		    struct buf *out, bool *mine, struct why *why)
{
	unsigned i;
	enum err e = org_find(o, task, &i, why);
	if (e)
		return e;
	const struct org_head *h = &o->head[i];
	struct str holder = task_holder(o, h), title = org_text(o, h->title);
	if (holder.n && !str_eq(holder, agent))
		return say_held(o, h, holder, why);
	if (!org_is_open(o, h))
		return why_set(why, E_CONFLICT, WHY_NOWHERE, "'%.*s' cannot be claimed: %s%.*s",
			       STR_SHORT(title), h->keyword == ORG_NONE ? "it has no TODO keyword" : "it is ",
			       STR_ARG(org_text(o, h->state)));
	if (org_find_keyword(o, STR("DOING")) == ORG_NONE)
		return why_set(why, E_CONFLICT, WHY_NOWHERE,
			       "the plan has no keyword DOING; add it to its line #+TODO:");
	*mine = holder.n > 0;
	if (*mine)
		return OK;
	const struct org_set set[] = { { "AGENT", agent, false }, { "CLAIMED", time, false } };
	const struct org_change change = { .state = STR("DOING"), .set = set, .sets = ARRAY_LEN(set) };
	return org_change(o, h, &change, a, out, why);
}

enum err claim_release(const struct org *o, struct str task, struct str agent, struct arena *a,
		       struct buf *out, bool *free, struct why *why)
{
	unsigned i;
	enum err e = org_find(o, task, &i, why);
	if (e)
		return e;
	const struct org_head *h = &o->head[i];
	struct str holder = task_holder(o, h);
	if (holder.n && agent.n && !str_eq(holder, agent))
		return say_held(o, h, holder, why);
	*free = !holder.n;
	if (*free)
		return OK;
	const struct org_set set[] = { { "AGENT", { 0 }, true }, { "CLAIMED", { 0 }, true } };
	const struct org_change change = { .state = o->keyword[o->keyword[h->keyword].first].name,
					   .set = set,
					   .sets = ARRAY_LEN(set) };
	return org_change(o, h, &change, a, out, why);
}
