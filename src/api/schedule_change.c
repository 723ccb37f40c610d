/* Reads a schedule's document, compares it with the stored one, and sends it to the engine. */
#include "api/schedule_change.h"

#include "api/handlers/notify.h"
#include "api/json_out.h"
#include "core/doc/command.h"
#include "core/schedule/retry.h"
#include "sys/clock.h"

static enum err read_change(struct api_call *call, const struct doc_env *env, const struct val *document,
			    struct schedule_change *ret)
{
	struct doc_list list;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct val documents = { .kind = VAL_LIST, .list = { (struct val *)document, 1 } };
	enum err e = doc_read(call->source, &documents, env, call->arena, &list, call->why);
	if (e)
		return e;
	if (list.n != 1 || list.agents)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "one schedule at a time; use `rota apply` for several, and for agents");
	*ret = (struct schedule_change){ .doc = list.doc[0],
					 .warning = list.warning,
					 .warnings = list.warnings };
	doc_write(&ret->doc, &text);
	ret->text = (struct str){ text.failed ? NULL : arena_dup(call->arena, buf_str(&text)), text.n };
	return ret->text.p ? OK : E_NOMEM;
}

enum err schedule_change_read(struct api_call *call, struct api *api, const struct val *document, bool fresh,
			      struct schedule_change *ret)
{
	struct doc_env env = api_doc_env(call, api);
	env.fresh = fresh;
	return read_change(call, &env, document, ret);
}

enum err schedule_change_read_in(struct api_call *call, struct api *api, const struct val *document,
				 struct str zone, struct schedule_change *ret)
{
	struct doc_env env = api_doc_env(call, api);
	env.fresh = true;
	const struct zone *found = zone.n ? env.when.zones->find(env.when.zones->self, zone) : NULL;
	if (found) {
		env.when.zone = found;
		env.when.zone_name = zone;
	}
	return read_change(call, &env, document, ret);
}

/* Documents must give whole ids; ids may be shortened only in arguments of the command line. */
static enum err find_by_whole_id(struct api_call *call, struct api *api, struct str id,
				 struct read_sched *ret)
{
	struct read_match match;
	enum err e = read_sched_named(api_reader(api), id, call->arena, &match, call->why);
	if (!e && (match.n != 1 || !str_eq(match.sched.id, id)))
		e = E_NOTFOUND;
	if (!e)
		*ret = match.sched;
	return e;
}

enum err schedule_change_find(struct api_call *call, struct api *api, struct schedule_change *c)
{
	enum err e = find_by_whole_id(call, api, c->doc.id, &c->old);
	c->exists = e == OK;
	return e == E_NOTFOUND ? OK : e;
}

bool schedule_change_is_none(const struct schedule_change *c)
{
	return c->exists && str_eq(c->old.document, c->text);
}

/* --- leaders: schedules that others follow --- */

enum err schedule_find_leader(struct api_call *call, struct api *api, struct read_sched *s, unsigned *steps)
{
	if (++*steps > FOLLOW_CHAIN_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "more than %u schedules would follow one another, up to '%.*s'",
			       FOLLOW_CHAIN_MAX, STR_SHORT(s->id));
	enum err e = read_sched(api_reader(api), s->row.after, call->arena, s, call->why);
	if (e != E_NOTFOUND)
		return e;
	s->row.after = 0; /* the leader was removed, and its record was pruned */
	return OK;
}

enum err schedule_change_check_leaders(struct api_call *call, struct api *api,
				       const struct schedule_change *c)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct str leader = c->doc.after.schedule;
	struct read_sched at;
	unsigned steps = 0;
	scratch.arena = &arena;
	if (!c->exists || !leader.n)
		return OK;
	enum err e = find_by_whole_id(&scratch, api, leader, &at);
	while (!e && at.row.sid != c->old.row.sid && at.row.after)
		e = schedule_find_leader(&scratch, api, &at, &steps);
	if (!e && at.row.sid == c->old.row.sid)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' would follow itself, by way of '%.*s'",
			    STR_SHORT(c->doc.id), STR_SHORT(leader));
	arena_free(&arena);
	return e == E_NOTFOUND ? OK : e; /* schedule_change_send reports a leader that does not exist */
}

/* --- sending --- */

/* Uses an arena of its own, because a call may do this for very many documents. */
static enum err compile_rules(const struct api_call *call, struct api *api, const struct schedule_doc *d,
			      struct rules *ret)
{
	struct doc_names names = intern_for_documents(daemon_intern(api_daemon(api)));
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct schedule_doc resolved;
	scratch.arena = &arena;
	enum err e = document_resolve_agent(&scratch, api, d, &resolved);
	if (!e)
		e = doc_rules(&resolved, &names, ret);
	arena_free(&arena);
	return e;
}

enum err schedule_change_send(struct api_call *call, struct api *api, const struct schedule_change *c,
			      api_command_fn *then)
{
	struct read_sched leader = { 0 };
	struct command command = { .kind = CMD_PUT,
				   .sid = c->exists ? c->old.row.sid : 0,
				   .enabled = c->doc.enabled,
				   .bulk = c->bulk,
				   .max_runs = (uint32_t)c->doc.max_runs,
				   .id = c->doc.id,
				   .document = c->text,
				   .source = c->source };
	enum err e = OK;
	if (c->doc.after.schedule.n) {
		e = find_by_whole_id(call, api, c->doc.after.schedule, &leader);
		if (e == E_NOTFOUND)
			return why_set(call->why, e, WHY_NOWHERE,
				       "'%.*s' follows '%.*s', but there is no schedule '%.*s'",
				       STR_SHORT(c->doc.id), STR_SHORT(c->doc.after.schedule),
				       STR_SHORT(c->doc.after.schedule));
	}
	command.after = leader.row.sid;
	if (!e)
		e = compile_rules(call, api, &c->doc, &command.rules);
	if (e == E_LIMIT)
		return why_set(call->why, e, WHY_NOWHERE,
			       "'%.*s' does not fit: all schedules together may use %u zones, %u sets of "
			       "excluded days and %u names of agents, accounts and keys",
			       STR_SHORT(c->doc.id), ZONES_MAX, CALENDARS_MAX, NAMES_MAX);
	return e ? e : api_command(call, api, &command, then);
}

/* --- the answer --- */

static void add_command(struct buf *out, const struct doc_action *a)
{
	if (a->kind != DOC_COMMAND && a->kind != DOC_AGENT_TURN)
		return;
	if (!a->command.shell.n && !a->command.argc)
		return; /* an agent's turn without an agent */
	buf_add(out, STR(",\"command\":"));
	command_write(&a->command, out);
	json_add_str(out, "directory", a->cwd.n ? a->cwd : STR("/"));
}

static void add_agent_turn(struct api_call *call, const struct schedule_doc *d, struct str text)
{
	struct buf *out = &call->answer;
	struct val document;
	if (d->action.kind != DOC_AGENT_TURN)
		return;
	const struct val *budget = json_read(text, call->arena, &document, call->why) == OK
					   ? val_get(&document, STR("budget"))
					   : NULL;
	json_add_str(out, "agent", d->agent.n ? d->agent : (struct str){ 0 });
	json_add_str(out, "message", d->action.message);
	buf_add(out, STR(",\"budget\":"));
	json_write(out, budget ? budget : &(struct val){ .kind = VAL_NULL });
	if (d->turn.blocked)
		json_add_str(out, "blocked", str_of(d->turn.blocked));
}

/* False if the delays of all retries take longer than the time between the next two occurrences: the next
 * occurrence drops a pending retry, unless the policy for overlap lets both go on. */
static bool retries_fit(const struct schedule_doc *d)
{
	struct when_walk walk = when_walk(&d->when, clock_wall());
	struct wall nominal, first, second;
	int64_t all = 0;
	if (d->after.schedule.n || d->overlap == OVERLAP_ALLOW || d->overlap == OVERLAP_QUEUE_ALL ||
	    when_walk_next(&walk, &nominal, &first) || when_walk_next(&walk, &nominal, &second))
		return true;
	for (unsigned n = 1; n <= d->retry.count && all * USEC < second.us - first.us; n++)
		all += retry_delay((enum backoff)d->retry.backoff, d->retry.delay, d->retry.max_delay, n);
	return all * USEC < second.us - first.us;
}

enum err schedule_change_write_json(struct api_call *call, struct api *api, const struct schedule_change *c,
				    const char *result)
{
	struct buf *out = &call->answer;
	struct schedule_doc resolved, *d = &resolved;
	enum err e = document_resolve_agent(call, api, &c->doc, d);
	if (e)
		return e;
	struct when_walk walk = when_walk(&d->when, clock_wall());
	struct wall nominal, due;
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, d->id);
	buf_addf(out, ",\"result\":\"%s\"", result);
	add_agent_turn(call, d, c->text);
	add_command(out, &d->action);
	json_add_str(out, "timezone", d->when.zone_name);
	buf_addf(out,
		 ",\"timeout\":%lld,\"missed_schedule_policy\":\"%s\",\"overlap\":\"%s\",\"retries\":%lld",
		 (long long)d->timeout, missed_words[d->missed], overlap_words[d->overlap],
		 (long long)d->retry.count);
	if (d->retry.count)
		buf_addf(out, ",\"retries_fit\":%s", retries_fit(d) ? "true" : "false");
	buf_add(out, STR(",\"notified\":"));
	notify_write_names(out, call, api, d);
	buf_add(out, STR(",\"warnings\":["));
	for (unsigned i = 0; i < c->warnings; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, str_of(c->warning[i].text));
	}
	buf_add(out, STR("],\"next\":["));
	for (unsigned i = 0;
	     i < 3 && d->enabled && !d->after.schedule.n && when_walk_next(&walk, &nominal, &due) == OK;
	     i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_time(out, due);
	}
	buf_add(out, STR("]}"));
	return OK;
}
