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
	int64_t timeout;   /* seconds, with that of its agent; 0: none */
};

static enum err find_grantor(struct api_call *call, struct api *api, struct grantor *ret)
{
	enum err e = read_sched(api_reader(api), call->caller_run->sid, call->arena, &ret->row, call->why);
	struct schedule_doc resolved;
	if (!e)
		e = document_read_stored(call, api, ret->row.document, &ret->doc);
	if (!e)
		e = document_resolve_agent(call, api, &ret->doc, &resolved);
	if (e)
		return e;
	ret->timeout = resolved.timeout;
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

/* The latest nominal time of a run that no person started; INT64_MIN: there is none. */
static enum err last_time(struct api_call *call, struct api *api, uint64_t sid, struct wall *ret)
{
	enum { LOOKED_AT = 16 };
	struct read_filter f = { .sid = sid,
				 .states = 1u << RUN_CLAIMED | 1u << RUN_RETRYING | 1u << RUN_FINISHED |
					   1u << RUN_PENDING,
				 .limit = LOOKED_AT };
	struct read_runs list;
	*ret = (struct wall){ INT64_MIN };
	enum err e = read_runs(api_reader(api), &f, call->arena, &list, call->why);
	for (unsigned i = 0; !e && i < list.n; i++)
		if (list.item[i].kind != KIND_MANUAL && list.item[i].nominal.us > ret->us)
			*ret = list.item[i].nominal;
	return e;
}

/* --- removed schedules --- */

static unsigned count_removals(struct api *api, uint64_t maker)
{
	const struct granted_removals *all = api_granted_removals(api);
	struct wall now = clock_wall();
	unsigned n = 0;
	for (unsigned i = 0; i < GRANT_REMOVALS_MAX; i++)
		n += all->item[i].maker == maker && all->item[i].until.us > now.us;
	return n;
}

/* Replaces the entry that ends first. */
static void note_removal(struct api *api, uint64_t maker, struct wall until)
{
	struct granted_removals *all = api_granted_removals(api);
	unsigned first = 0;
	for (unsigned i = 1; i < GRANT_REMOVALS_MAX; i++)
		if (all->item[i].until.us < all->item[first].until.us)
			first = i;
	all->item[first].maker = maker;
	all->item[first].until = until;
}

enum err grants_check_removal(struct api_call *call, struct api *api, const struct read_sched *s)
{
	struct grantor g;
	struct wall last;
	enum err e = find_grantor(call, api, &g);
	if (!e && !was_added_by(&g, s))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "'%.*s' was not added by a run of '%.*s', so this run may not change it",
			    STR_SHORT(s->id), STR_SHORT(g.row.id));
	if (!e)
		e = last_time(call, api, s->row.sid, &last);
	if (!e && last.us != INT64_MIN)
		note_removal(api, g.row.row.sid, (struct wall){ last.us + g.doc.grants.interval * USEC });
	return e;
}

/* --- bounds --- */

/* Counts the schedules that runs of `g` have added, including those that are being added now. */
static enum err check_count(struct api_call *call, struct api *api, const struct grantor *g)
{
	struct read_scheds page;
	_cleanup_(buf_free) struct buf names = { 0 };
	enum err e = read_scheds_from(api_reader(api), g->prefix, NULL, READ_LIST_MAX, call->arena, &page,
				      call->why);
	unsigned removals = count_removals(api, g->row.row.sid);
	if (e || page.n + *api_granted_pending(api) + removals < (uint64_t)g->doc.grants.schedules)
		return e;
	for (unsigned i = 0; i < page.n && i < 5; i++)
		buf_addf(&names, "%s%.*s", i ? ", " : "", STR_ARG(page.item[i].id));
	return why_set(
		call->why, E_DENIED, WHY_NOWHERE,
		"runs of '%.*s' may have at most %lld schedules at a time, and there are that many "
		"(%s%s); `rota rm` removes one, which counts until the interval after its last time is "
		"over",
		STR_SHORT(g->row.id), (long long)g->doc.grants.schedules,
		names.p    ? names.p
		: removals ? "removed"
			   : "being added",
		page.n > 5 ? ", …" : "");
}

/* The keys that a schedule may have if a run adds or changes it. `after`, `concurrency_key`, `notification`,
 * `ping`, `hooks` and `grants` would reach other schedules, other people or further rights. */
static enum err check_keys(struct api_call *call, const struct schedule_change *c)
{
	static const char *const allowed[] = {
		"id",           "name",       "description", "tags",
		"enabled",      "expression", "timezone",    "condition",
		"window",       "jitter",     "gap",         "fold",
		"start_date",   "end_date",   "max_runs",    "except",
		"agent",        "action",     "variables",   "check",
		"expectations", "retry",      "timeout",     "missed_schedule_policy",
		"overlap",      "priority",   "budget",      "max_failures",
		"next_check",
	};
	struct val document;
	enum err e = json_read(c->text, call->arena, &document, call->why);
	for (unsigned i = 0; !e && i < document.map.n; i++) {
		bool found = false;
		for (unsigned k = 0; k < ARRAY_LEN(allowed) && !found; k++)
			found = str_eq(document.map.pair[i].key, str_of(allowed[k]));
		if (!found)
			e = why_set(call->why, E_DENIED, WHY_NOWHERE,
				    "a schedule that a run adds cannot have the key '%.*s'",
				    STR_SHORT(document.map.pair[i].key));
	}
	return e;
}

/* Checks the distances between the next GRANT_TIMES_MAX times: enough to contain every pattern of an
 * expression. `last` is the last time that the schedule has had. */
static enum err check_times(struct api_call *call, const struct grantor *g, const struct schedule_doc *d,
			    struct wall last, const char *least)
{
	struct when_walk walk = when_walk(&d->when, clock_wall());
	struct wall before = last, nominal, due;
	for (unsigned n = 0; n < GRANT_TIMES_MAX && when_walk_next(&walk, &nominal, &due) == OK; n++) {
		if (before.us != INT64_MIN && nominal.us - before.us < g->doc.grants.interval * USEC)
			return why_set(call->why, E_DENIED, WHY_NOWHERE,
				       "its times must be at least %s apart, because of `grants` of '%.*s'%s",
				       least, STR_SHORT(g->row.id), n ? "" : "; its last time counts, too");
		before = nominal;
	}
	return OK;
}

/* Attempts are at least `interval` apart, whatever starts them. */
static enum err check_interval(struct api_call *call, const struct grantor *g, const struct schedule_doc *d,
			       struct wall last)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	int64_t interval = g->doc.grants.interval;
	dur_format(interval, &text);
	const char *least = text.failed ? "?" : text.p;
	if (d->next_check.most && d->next_check.least < interval)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "in a schedule that a run adds, next_check must begin at %s or later", least);
	if (d->retry.count && (d->retry.delay < interval || d->retry.max_delay < interval))
		return why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"in a schedule that a run adds, retries must be at least %s apart: `retry` needs an "
			"initial_delay and a max_delay of %s or more, because of `grants` of '%.*s'",
			least, least, STR_SHORT(g->row.id));
	if (d->missed == MISSED_CATCH_UP)
		return why_set(
			call->why, E_DENIED, WHY_NOWHERE,
			"a schedule that a run adds cannot catch up: its missed times would run one after "
			"the other, less than %s apart",
			least);
	if (d->priority > g->doc.priority)
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "priority %lld is higher than that of '%.*s', %lld", (long long)d->priority,
			       STR_SHORT(g->row.id), (long long)g->doc.priority);
	return check_times(call, g, d, last, least);
}

/* Refuses a timeout that is longer than the grantor's, and sets that if none is given. */
static enum err inherit_timeout(struct api_call *call, const struct grantor *g, const struct schedule_doc *d,
				struct val *document)
{
	if (!g->timeout || (d->timeout && d->timeout <= g->timeout))
		return OK;
	if (val_get(document, STR("timeout")))
		return why_set(call->why, E_DENIED, WHY_NOWHERE,
			       "its timeout is longer than that of '%.*s', %lld s", STR_SHORT(g->row.id),
			       (long long)g->timeout);
	document_set_key(call, document,
			 &(struct val_pair){ .key = STR("timeout"),
					     .value = { .kind = VAL_INT, .integer = g->timeout } });
	return OK;
}

/* Sets the end date to that of the grantor if the grantor ends sooner, and its timeout if none is given. Sets
 * the budget to that of the grantor if the schedule is an agent's turn. */
static enum err inherit(struct api_call *call, struct api *api, const struct grantor *g,
			const struct schedule_doc *resolved, struct schedule_change *c)
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
	e = inherit_timeout(call, g, resolved, &document);
	if (e)
		return e;
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
	struct wall last = { INT64_MIN };
	enum err e = find_grantor(call, api, &g);
	if (!e && c->exists && !was_added_by(&g, &c->old))
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "schedule '%.*s' already exists and was not added by a run of '%.*s'",
			    STR_SHORT(c->old.id), STR_SHORT(g.row.id));
	if (!e)
		e = check_keys(call, c);
	if (!e)
		e = document_resolve_agent(call, api, &c->doc, &resolved);
	if (!e)
		e = check_agent(call, &g, &resolved);
	if (!e && c->exists)
		e = last_time(call, api, c->old.row.sid, &last);
	if (!e)
		e = check_interval(call, &g, &resolved, last);
	if (!e && !c->exists)
		e = check_count(call, api, &g);
	if (!e)
		e = inherit(call, api, &g, &resolved, &inherited);
	if (e)
		return e;
	c->doc = inherited.doc;
	c->text = inherited.text;
	const char *from = arena_printf(call->arena, "%.*sr%llu", STR_ARG(g.prefix),
					(unsigned long long)call->caller_run->run);
	c->source = (struct source_row){ .from = from ? str_of(from) : (struct str){ 0 } };
	return from ? OK : E_NOMEM;
}
