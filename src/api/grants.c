#include "api/grants.h"

#include "base/json.h"
#include "core/when/dur.h"
#include "core/when/iso.h"

/* The schedule of the run that asks. */
struct grantor {
	struct read_sched row;
	struct schedule_doc doc;
	struct str prefix; /* of where its runs' schedules come from */
};

static enum err find(struct api_call *call, struct api *api, struct grantor *ret)
{
	enum err e = read_sched(api_reader(api), call->within->sid, call->arena, &ret->row, call->why);
	if (!e)
		e = put_stored(call, api, ret->row.document, &ret->doc);
	if (e)
		return e;
	const char *prefix = arena_printf(call->arena, PUT_BY_RUN "%.*s/", STR_ARG(ret->row.id));
	if (!prefix)
		return E_NOMEM;
	ret->prefix = str_of(prefix);
	if (ret->doc.grants.schedules && ret->row.dropped.us == INT64_MAX)
		return OK;
	return why_set(call->why, E_DENIED, WHY_NOWHERE,
		       "'%.*s' does not let its runs make schedules (grants), nor change or remove any",
		       STR_SHORT(ret->row.id));
}

enum err grant_any(struct api_call *call, struct api *api)
{
	struct grantor g;
	return find(call, api, &g);
}

static bool is_of(const struct grantor *g, const struct read_sched *s)
{
	return str_starts(s->source.from, g->prefix);
}

enum err grant_owns(struct api_call *call, struct api *api, const struct read_sched *s)
{
	struct grantor g;
	enum err e = find(call, api, &g);
	if (!e && !is_of(&g, s))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE, "'%.*s' was not made by a run of '%.*s'",
			    STR_SHORT(s->id), STR_SHORT(g.row.id));
	return e;
}

/* How many there are, those on their way included. */
static enum err count(struct api_call *call, struct api *api, const struct grantor *g)
{
	struct read_scheds page;
	_cleanup_(buf_free) struct buf names = { 0 };
	enum err e = read_scheds_from(api_reader(api), g->prefix, NULL, READ_LIST_MAX, call->arena, &page,
				      call->why);
	if (e || page.n + *api_granting(api) < (uint64_t)g->doc.grants.schedules)
		return e;
	for (unsigned i = 0; i < page.n && i < 5; i++)
		buf_addf(&names, "%s%.*s", i ? ", " : "", STR_ARG(page.item[i].id));
	return why_set(call->why, E_DENIED, WHY_NOWHERE,
		       "runs of '%.*s' may have made %lld schedules at a time, and have (%s%s); `rota rm` "
		       "removes one",
		       STR_SHORT(g->row.id), (long long)g->doc.grants.schedules,
		       names.p ? names.p : "on their way", page.n > 5 ? ", …" : "");
}

/* By its times to come: so many of them that every pattern has been seen. */
static enum err judge_interval(struct api_call *call, const struct grantor *g, const struct schedule_doc *d)
{
	_cleanup_(buf_free) struct buf least = { 0 };
	struct when_walk walk = when_walk(&d->when, api_now());
	struct wall before, nominal, due;
	dur_format(g->doc.grants.interval, &least);
	if (d->after.schedule.n)
		return why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"what a run makes has times of its own, at least %s apart; it cannot follow another",
			least.failed ? "?" : least.p);
	if (d->next_check.most && d->next_check.least < g->doc.grants.interval)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "the next_check of what a run makes begins at %s",
			       least.failed ? "?" : least.p);
	for (unsigned n = 0; n < GRANT_TIMES_MAX && when_walk_next(&walk, &nominal, &due) == OK; n++) {
		if (n && nominal.us - before.us < g->doc.grants.interval * USEC)
			return why_set(call->why, E_DENIED, WHY_NOWHERE,
				       "its times must be at least %s apart, for '%.*s' lets its runs make "
				       "no others",
				       least.failed ? "?" : least.p, STR_SHORT(g->row.id));
		before = nominal;
	}
	return OK;
}

/* The end of what made it, where that comes first; its budget, where it can have one. */
static enum err inherit(struct api_call *call, struct api *api, const struct grantor *g, struct put *p)
{
	struct val document, mine;
	char text[ISO_SIZE];
	bool sooner = !g->doc.after.schedule.n && g->doc.when.rule.until < p->doc.when.rule.until;
	enum err e = json_read(p->text, call->arena, &document, call->why);
	if (!e)
		e = json_read(g->row.document, call->arena, &mine, call->why);
	if (e)
		return e;
	const struct val *budget =
		p->doc.action.kind == DOC_AGENT_TURN ? val_get(&mine, STR("budget")) : NULL;
	if (!sooner && !budget)
		return OK;
	if (sooner) {
		struct val_pair end = { .key = STR("end_date"), .value = { .kind = VAL_STR } };
		const char *copy =
			arena_dup(call->arena, str_of(iso_format_utc(g->doc.when.rule.until, text)));
		if (!copy)
			return E_NOMEM;
		end.value.str = str_of(copy);
		put_key(call, &document, &end);
	}
	if (budget)
		put_key(call, &document, &(struct val_pair){ .key = STR("budget"), .value = *budget });
	return put_read(call, api, &document, false, p);
}

enum err grant_put(struct api_call *call, struct api *api, struct put *p)
{
	struct grantor g;
	struct put fresh = *p;
	struct schedule_doc settled;
	enum err e = find(call, api, &g);
	if (!e && p->exists && !is_of(&g, &p->old))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "there is a schedule '%.*s', not made by a run of '%.*s'", STR_SHORT(p->old.id),
			    STR_SHORT(g.row.id));
	if (!e && p->doc.grants.schedules)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "what a run makes cannot have grants of its own");
	if (!e)
		e = put_settle(call, api, &p->doc, &settled);
	/* Else it would read and write what another knows, and have its secrets. */
	if (!e && settled.agent.n && !str_eq(settled.agent, g.doc.agent))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "'%.*s' is another agent; what a run makes is for its own%s%.*s%s, or for none",
			    STR_SHORT(settled.agent), g.doc.agent.n ? ", '" : "", STR_SHORT(g.doc.agent),
			    g.doc.agent.n ? "'" : "");
	if (!e)
		e = judge_interval(call, &g, &settled);
	if (!e && !p->exists)
		e = count(call, api, &g);
	if (!e)
		e = inherit(call, api, &g, &fresh);
	if (e)
		return e;
	p->doc = fresh.doc;
	p->text = fresh.text;
	const char *from = arena_printf(call->arena, "%.*sr%llu", STR_ARG(g.prefix),
					(unsigned long long)call->within->run);
	p->source = (struct source_row){ .from = from ? str_of(from) : (struct str){ 0 } };
	return from ? OK : E_NOMEM;
}
