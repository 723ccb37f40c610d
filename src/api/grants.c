/* Checks schedules that runs add, change and remove against the grants of their own schedule. */
#include "api/grants.h"

#include "base/json.h"
#include "core/when/dur.h"
#include "core/when/iso.h"
#include "sys/clock.h"

/* The schedule of the calling run. */
struct grantor {
	struct read_sched row;
	struct schedule_doc doc;
	struct str prefix; /* beginning of the source of all schedules that its runs have added */
};

static enum err find_grantor(struct api_call *call, struct api *api, struct grantor *ret)
{
	enum err e = read_sched(api_reader(api), call->caller_run->sid, call->arena, &ret->row, call->why);
	if (!e)
		e = document_read_stored(call, api, ret->row.document, &ret->doc);
	if (e)
		return e;
	const char *prefix = arena_printf(call->arena, SOURCE_BY_RUN "%.*s/", STR_ARG(ret->row.id));
	if (!prefix)
		return E_NOMEM;
	ret->prefix = str_of(prefix);
	if (ret->doc.grants.schedules && ret->row.dropped.us == INT64_MAX)
		return OK;
	return why_set(call->why, E_DENIED, WHY_NOWHERE,
		       "'%.*s' does not let its runs add, change or remove schedules: it has no `grants`",
		       STR_SHORT(ret->row.id));
}

enum err grants_check_any(struct api_call *call, struct api *api)
{
	struct grantor g;
	return find_grantor(call, api, &g);
}

static bool was_added_by(const struct grantor *g, const struct read_sched *s)
{
	return str_starts(s->source.from, g->prefix);
}

enum err grants_check_owner(struct api_call *call, struct api *api, const struct read_sched *s)
{
	struct grantor g;
	enum err e = find_grantor(call, api, &g);
	if (!e && !was_added_by(&g, s))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "'%.*s' was not added by a run of '%.*s', so this run may not change it",
			    STR_SHORT(s->id), STR_SHORT(g.row.id));
	return e;
}

/* Counts the schedules that runs of `g` have added, including those that are being added now. */
static enum err check_count(struct api_call *call, struct api *api, const struct grantor *g)
{
	struct read_scheds page;
	_cleanup_(buf_free) struct buf names = { 0 };
	enum err e = read_scheds_from(api_reader(api), g->prefix, NULL, READ_LIST_MAX, call->arena, &page,
				      call->why);
	if (e || page.n + *api_granted_pending(api) < (uint64_t)g->doc.grants.schedules)
		return e;
	for (unsigned i = 0; i < page.n && i < 5; i++)
		buf_addf(&names, "%s%.*s", i ? ", " : "", STR_ARG(page.item[i].id));
	return why_set(call->why, E_DENIED, WHY_NOWHERE,
		       "runs of '%.*s' may have at most %lld schedules at a time, and there are that many "
		       "(%s%s); `rota rm` removes one",
		       STR_SHORT(g->row.id), (long long)g->doc.grants.schedules,
		       names.p ? names.p : "being added", page.n > 5 ? ", …" : "");
}

/* Checks the distances between future times; so many of them that every pattern of an expression occurs. */
static enum err check_interval(struct api_call *call, const struct grantor *g, const struct schedule_doc *d)
{
	_cleanup_(buf_free) struct buf least = { 0 };
	struct when_walk walk = when_walk(&d->when, clock_wall());
	struct wall before, nominal, due;
	dur_format(g->doc.grants.interval, &least);
	if (d->after.schedule.n)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "a schedule that a run adds cannot follow another; it must have times of its "
			       "own, at least %s apart",
			       least.failed ? "?" : least.p);
	if (d->next_check.most && d->next_check.least < g->doc.grants.interval)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "in a schedule that a run adds, next_check must begin at %s or later",
			       least.failed ? "?" : least.p);
	for (unsigned n = 0; n < GRANT_TIMES_MAX && when_walk_next(&walk, &nominal, &due) == OK; n++) {
		if (n && nominal.us - before.us < g->doc.grants.interval * USEC)
			return why_set(call->why, E_DENIED, WHY_NOWHERE,
				       "its times must be at least %s apart, because of `grants` of '%.*s'",
				       least.failed ? "?" : least.p, STR_SHORT(g->row.id));
		before = nominal;
	}
	return OK;
}

/* Sets the end date to that of the grantor if the grantor ends sooner. Sets the budget to that of the grantor
 * if the schedule is an agent's turn. */
static enum err inherit_end_and_budget(struct api_call *call, struct api *api, const struct grantor *g,
				       struct schedule_change *c)
{
	struct val document, own;
	char text[ISO_SIZE];
	bool sooner = !g->doc.after.schedule.n && g->doc.when.rule.until < c->doc.when.rule.until;
	enum err e = json_read(c->text, call->arena, &document, call->why);
	if (!e)
		e = json_read(g->row.document, call->arena, &own, call->why);
	if (e)
		return e;
	const struct val *budget = c->doc.action.kind == DOC_AGENT_TURN ? val_get(&own, STR("budget")) : NULL;
	if (!sooner && !budget)
		return OK;
	if (sooner) {
		struct val_pair end = { .key = STR("end_date"), .value = { .kind = VAL_STR } };
		const char *copy =
			arena_dup(call->arena, str_of(iso_format_utc(g->doc.when.rule.until, text)));
		if (!copy)
			return E_NOMEM;
		end.value.str = str_of(copy);
		document_set_key(call, &document, &end);
	}
	if (budget)
		document_set_key(call, &document,
				 &(struct val_pair){ .key = STR("budget"), .value = *budget });
	return schedule_change_read(call, api, &document, false, c);
}

/* Another agent is not allowed: the run would get access to that agent's memory, state and secrets. */
static enum err check_agent(struct api_call *call, const struct grantor *g, const struct schedule_doc *d)
{
	struct str own = g->doc.agent;
	if (!d->agent.n || str_eq(d->agent, own))
		return OK;
	return why_set(
		call->why, E_DENIED, WHY_NOWHERE,
		"'%.*s' is another agent; a schedule that a run adds may have the run's own agent%s%.*s%s, "
		"or none",
		STR_SHORT(d->agent), own.n ? ", '" : "", STR_SHORT(own), own.n ? "'" : "");
}

enum err grants_check_change(struct api_call *call, struct api *api, struct schedule_change *c)
{
	struct grantor g;
	struct schedule_change inherited = *c;
	struct schedule_doc resolved;
	enum err e = find_grantor(call, api, &g);
	if (!e && c->exists && !was_added_by(&g, &c->old))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "schedule '%.*s' already exists and was not added by a run of '%.*s'",
			    STR_SHORT(c->old.id), STR_SHORT(g.row.id));
	if (!e && c->doc.grants.schedules)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "a schedule that a run adds cannot have grants of its own");
	if (!e)
		e = document_resolve_agent(call, api, &c->doc, &resolved);
	if (!e)
		e = check_agent(call, &g, &resolved);
	if (!e)
		e = check_interval(call, &g, &resolved);
	if (!e && !c->exists)
		e = check_count(call, api, &g);
	if (!e)
		e = inherit_end_and_budget(call, api, &g, &inherited);
	if (e)
		return e;
	c->doc = inherited.doc;
	c->text = inherited.text;
	const char *from = arena_printf(call->arena, "%.*sr%llu", STR_ARG(g.prefix),
					(unsigned long long)call->caller_run->run);
	c->source = (struct source_row){ .from = from ? str_of(from) : (struct str){ 0 } };
	return from ? OK : E_NOMEM;
}
