#include "api/schedule_change.h"
#include "api/handlers/notify.h"

#include "api/json_out.h"
#include "core/doc/agent/agent.h"
#include "core/doc/command.h"
#include "daemon/agent_resolve.h"

#include <sys/stat.h>

enum err put_read(struct api_call *call, struct api *api, const struct val *document, bool fresh,
		  struct put *ret)
{
	struct doc_env env = api_doc_env(call, api);
	struct doc_list list;
	_cleanup_(buf_free) struct buf text = { 0 };
	struct val documents = { .kind = VAL_LIST, .list = { (struct val *)document, 1 } };
	env.fresh = fresh;
	enum err e = doc_read(call->source, &documents, &env, call->arena, &list, call->why);
	if (e)
		return e;
	if (list.n != 1 || list.agents)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "one schedule at a time; `rota apply` takes several");
	*ret = (struct put){ .doc = list.doc[0], .warning = list.warning, .warnings = list.warnings };
	doc_write(&ret->doc, &text);
	ret->text = (struct str){ text.failed ? NULL : arena_dup(call->arena, buf_str(&text)), text.n };
	return ret->text.p ? OK : E_NOMEM;
}

void put_key(struct api_call *call, struct val *map, const struct val_pair *pair)
{
	unsigned i = 0;
	while (i < map->map.n && !str_eq(map->map.pair[i].key, pair->key))
		i++;
	if (pair->value.kind == VAL_NULL) {
		if (i < map->map.n)
			map->map.pair[i] = map->map.pair[--map->map.n];
		return;
	}
	struct val_pair *to = i < map->map.n ? &map->map.pair[i] : val_map_room(map, call->arena);
	if (to) {
		*to = *pair;
		map->map.n += i == map->map.n;
	}
}

/* Documents mean ids as they stand; beginnings are for people at a prompt. */
static enum err exactly(struct api_call *call, struct api *api, struct str id, struct read_sched *ret)
{
	struct read_match match;
	enum err e = read_sched_named(api_reader(api), id, call->arena, &match, call->why);
	if (!e && (match.n != 1 || !str_eq(match.sched.id, id)))
		e = E_NOTFOUND;
	if (!e)
		*ret = match.sched;
	return e;
}

enum err put_look(struct api_call *call, struct api *api, struct put *p)
{
	enum err e = exactly(call, api, p->doc.id, &p->old);
	p->exists = e == OK;
	return e == E_NOTFOUND ? OK : e;
}

bool put_file_is_there(struct str path)
{
	struct stat st;
	return lstat(path.p, &st) == 0 && !S_ISDIR(st.st_mode);
}

enum err put_check_source(struct api_call *call, const char *what, struct str id,
			  const struct source_row *old, struct str from)
{
	struct str file = old->from;
	if (!file.n || file.p[0] != '/' || str_eq(file, from) || !put_file_is_there(file))
		return OK;
	if (!from.n)
		return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			       "'%.*s' is in %.*s, line %u: it is changed and removed there", STR_SHORT(id),
			       STR_ARG(file), old->line);
	return why_set(call->why, E_CONFLICT, WHY_NOWHERE, "%s '%.*s' of %.*s is in %.*s, too, at line %u",
		       what, STR_SHORT(id), STR_ARG(from), STR_ARG(file), old->line);
}

bool put_same(const struct put *p)
{
	return p->exists && str_eq(p->old.document, p->text);
}

enum err put_settle(struct api_call *call, struct api *api, const struct schedule_doc *d,
		    struct schedule_doc *ret)
{
	struct doc_env env = api_doc_env(call, api);
	*ret = *d;
	return agent_resolve(api_reader(api), &env, call->arena, ret, call->why);
}

enum err put_stored(struct api_call *call, struct api *api, struct str document, struct schedule_doc *ret)
{
	struct str source = call->source;
	struct val value;
	struct put p;
	enum err e = json_read(document, call->arena, &value, call->why);
	call->source = document;
	if (!e)
		e = put_read(call, api, &value, false, &p);
	call->source = source;
	return e ? e : put_settle(call, api, &p.doc, ret);
}

/* What is read for it goes at once: there may be very many of them in a call. */
static enum err rules_of(const struct api_call *call, struct api *api, const struct schedule_doc *d,
			 struct rules *ret)
{
	struct doc_names names = intern_for_documents(daemon_intern(api_daemon(api)));
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct schedule_doc settled;
	scratch.arena = &arena;
	enum err e = put_settle(&scratch, api, d, &settled);
	if (!e)
		e = doc_rules(&settled, &names, ret);
	arena_free(&arena);
	return e;
}

enum err put_follow(struct api_call *call, struct api *api, struct read_sched *ret, unsigned *steps)
{
	if (++*steps > FOLLOW_CHAIN_MAX)
		return why_set(call->why, E_LIMIT, WHY_NOWHERE,
			       "more than %u schedules would follow one another, up to '%.*s'",
			       FOLLOW_CHAIN_MAX, STR_SHORT(ret->id));
	enum err e = read_sched(api_reader(api), ret->row.after, call->arena, ret, call->why);
	if (e != E_NOTFOUND)
		return e;
	ret->row.after = 0; /* that one was removed long ago */
	return OK;
}

enum err put_check_line(struct api_call *call, struct api *api, const struct put *p)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct str leader = p->doc.after.schedule;
	struct read_sched at;
	unsigned steps = 0;
	scratch.arena = &arena;
	if (!p->exists || !leader.n)
		return OK;
	enum err e = exactly(&scratch, api, leader, &at);
	while (!e && at.row.sid != p->old.row.sid && at.row.after)
		e = put_follow(&scratch, api, &at, &steps);
	if (!e && at.row.sid == p->old.row.sid)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE, "'%.*s' would follow itself, by way of '%.*s'",
			    STR_SHORT(p->doc.id), STR_SHORT(leader));
	arena_free(&arena);
	return e == E_NOTFOUND ? OK : e; /* whose leader is not there is told so by put_order */
}

enum err put_order(struct api_call *call, struct api *api, const struct put *p, api_then *then)
{
	struct read_sched leader = { 0 };
	struct command c = { .kind = CMD_PUT,
			     .sid = p->exists ? p->old.row.sid : 0,
			     .enabled = p->doc.enabled,
			     .bulk = p->bulk,
			     .max_runs = (uint32_t)p->doc.max_runs,
			     .id = p->doc.id,
			     .document = p->text,
			     .source = p->source };
	enum err e = OK;
	if (p->doc.after.schedule.n) {
		e = exactly(call, api, p->doc.after.schedule, &leader);
		if (e == E_NOTFOUND)
			return why_set(call->why, e, WHY_NOWHERE,
				       "'%.*s' is to follow '%.*s', but there is no such schedule",
				       STR_SHORT(p->doc.id), STR_SHORT(p->doc.after.schedule));
	}
	c.after = leader.row.sid;
	if (!e)
		e = rules_of(call, api, &p->doc, &c.rules);
	if (e == E_LIMIT)
		return why_set(
			call->why, e, WHY_NOWHERE,
			"'%.*s' would need more zones (%u), sets of excluded days (%u) or names (%u) than "
			"there may be",
			STR_SHORT(p->doc.id), ZONES_MAX, CALENDARS_MAX, NAMES_MAX);
	return e ? e : api_order(call, api, &c, then);
}

enum err put_blocked(struct api_call *call, struct api *api, const struct read_sched *s, struct str *ret)
{
	struct arena arena = { 0 };
	struct api_call scratch = *call;
	struct rules rules;
	struct put p;
	struct val value;
	struct why why;
	*ret = (struct str){ 0 };
	memcpy(&rules, s->row.rules, sizeof rules);
	/* Few are, and their rules have a guard for it: the others need not be read. */
	if (!s->document.n || !(rules.policy.preconditions & 1u << ASK_HOOK))
		return OK;
	scratch.arena = &arena;
	scratch.source = s->document;
	scratch.why = &why;
	enum err e = json_read(s->document, &arena, &value, &why);
	if (!e)
		e = put_read(&scratch, api, &value, false, &p);
	struct schedule_doc settled;
	if (!e)
		e = put_settle(&scratch, api, &p.doc, &settled);
	const char *text = e ? NULL : doc_blocked(&settled, false);
	if (text) {
		text = arena_printf(call->arena, "%s", text);
		*ret = str_of(text ? text : "");
		e = text ? OK : E_NOMEM;
	}
	arena_free(&arena);
	return e == E_NOMEM ? e : OK; /* one that is not understood any more says so elsewhere */
}

/* --- what differs --- */

static struct str as_text(struct api_call *call, const struct val *v)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	if (!v)
		return (struct str){ 0 };
	json_write(&text, v);
	return (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
}

enum err put_changes(struct api_call *call, struct str was, struct str is, struct put_change **ret,
		     unsigned *n)
{
	struct val before = { .kind = VAL_MAP }, after;
	enum err e = json_read(is, call->arena, &after, call->why);
	if (!e && was.n)
		e = json_read(was, call->arena, &before, call->why);
	if (e)
		return e;
	struct put_change *c = arena_alloc(call->arena, (before.map.n + after.map.n + 1) * sizeof *c);
	if (!c)
		return E_NOMEM;
	*ret = c;
	*n = 0;
	for (unsigned i = 0; i < after.map.n; i++) {
		struct str key = after.map.pair[i].key;
		struct put_change one = { key, as_text(call, val_get(&before, key)),
					  as_text(call, &after.map.pair[i].value) };
		if (!str_eq(one.from, one.to))
			c[(*n)++] = one;
	}
	for (unsigned i = 0; i < before.map.n; i++)
		if (!val_get(&after, before.map.pair[i].key))
			c[(*n)++] = (struct put_change){ before.map.pair[i].key,
							 as_text(call, &before.map.pair[i].value),
							 { 0 } };
	/* That a secret is another is told; which one is not. */
	agent_redact(&before);
	agent_redact(&after);
	for (unsigned i = 0; i < *n; i++)
		if (str_eq(c[i].key, STR("env")))
			c[i] = (struct put_change){ c[i].key, as_text(call, val_get(&before, c[i].key)),
						    as_text(call, val_get(&after, c[i].key)) };
	return OK;
}

/* --- told --- */

static void tell_command(struct buf *out, const struct doc_action *a)
{
	if (a->kind != DOC_COMMAND && a->kind != DOC_AGENT_TURN)
		return;
	if (!a->command.shell.n && !a->command.argc)
		return; /* nobody takes the turn */
	buf_add(out, STR(",\"command\":"));
	command_write(&a->command, out);
	json_add_str(out, "directory", a->cwd.n ? a->cwd : STR("/"));
}

static void tell_turn(struct api_call *call, const struct schedule_doc *d, struct str text)
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

enum err put_tell(struct api_call *call, struct api *api, const struct put *p, const char *result)
{
	struct buf *out = &call->answer;
	struct schedule_doc settled, *d = &settled;
	enum err e = put_settle(call, api, &p->doc, d);
	if (e)
		return e;
	struct when_walk walk = when_walk(&d->when, api_now());
	struct wall nominal, due;
	buf_add(out, STR("{\"id\":"));
	json_write_str(out, d->id);
	buf_addf(out, ",\"result\":\"%s\"", result);
	tell_turn(call, d, p->text);
	tell_command(out, &d->action);
	json_add_str(out, "timezone", d->when.zone_name);
	buf_addf(out,
		 ",\"timeout\":%lld,\"missed_schedule_policy\":\"%s\",\"overlap\":\"%s\",\"retries\":%lld",
		 (long long)d->timeout, missed_words[d->missed], overlap_words[d->overlap],
		 (long long)d->retry.count);
	buf_add(out, STR(",\"notified\":"));
	tell_notified(out, call, api, d);
	buf_add(out, STR(",\"warnings\":["));
	for (unsigned i = 0; i < p->warnings; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, str_of(p->warning[i].text));
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
