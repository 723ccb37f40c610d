/* Adds and edits a schedule. For `rota add`, verb_add (cli/verbs/add.c) writes a document from the arguments
 * and sends it; handle_add reads it and sends it to the engine; answer_change answers when the engine has
 * replied; show_added (cli/verbs/add.c) prints the answer. */
#include "api/handlers/handlers.h"

#include "api/grants.h"
#include "api/schedule_change.h"
#include "base/json.h"
#include "core/doc/doc.h"

/* Whether the call is a run that adds a schedule. */
static bool is_granted(const struct api_call *call, const struct schedule_change *c)
{
	return call->caller_run && !c->exists;
}

static void answer_change(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct schedule_change *c = call->ctx;
	enum err e = OK;
	*api_granted_pending(api) -= is_granted(call, c);
	if (r->code != REPLY_OK)
		e = api_refusal(call, r,
				c->exists ? "the schedule was not changed" : "the schedule was not added");
	else
		e = schedule_change_write_json(call, api, c, c->exists ? "changed" : "added");
	call->status = c->exists ? 200 : 201;
	api_finish(call, e);
}

static struct schedule_change *change_new(struct api_call *call)
{
	struct schedule_change *c = arena_alloc(call->arena, sizeof *c);
	call->ctx = c;
	return c;
}

/* --- the hook before a run's change --- */

/* The hook takes a while: refuses the change if the schedule is not the one that the hook was asked about. */
static enum err check_unchanged(struct api_call *call, struct api *api, const struct schedule_change *c)
{
	struct schedule_change now = *c;
	enum err e = schedule_change_find(call, api, &now);
	bool same = now.exists == c->exists && (!c->exists || now.old.row.rev == c->old.row.rev);
	if (!e && !same)
		e = why_set(call->why, E_BUSY, WHY_NOWHERE,
			    "schedule '%.*s' was changed meanwhile; try again", STR_SHORT(c->doc.id));
	return e;
}

static void hook_answered(struct api_call *call, struct api *api, enum create_answer answer, struct str words)
{
	const struct schedule_change *c = call->ctx;
	const char *what = c->exists ? "changed" : "added";
	enum err e = OK;
	if (answer == CREATE_CANCELLED)
		e = why_set(call->why, E_DENIED, WHY_NOWHERE,
			    "the schedule was not %s: the hook " DOC_CREATE_HOOK " cancelled it: %.*s", what,
			    STR_ARG(words));
	else if (answer == CREATE_BUSY || http_gone(call->request))
		e = why_set(call->why, E_BUSY, WHY_NOWHERE,
			    "the schedule was not %s, because the hook " DOC_CREATE_HOOK
			    " could not be asked: %.*s; try again",
			    what, STR_ARG(words));
	if (!e)
		e = check_unchanged(call, api, c);
	if (!e)
		e = schedule_change_send(call, api, c, answer_change);
	if (e) {
		*api_granted_pending(api) -= is_granted(call, c);
		api_finish(call, e);
	}
}

static enum err ask_hook(struct api_call *call, struct api *api, const struct schedule_change *c)
{
	const struct run_row *run = call->caller_run;
	struct read_sched by;
	_cleanup_(buf_free) struct buf input = { 0 };
	enum err e = read_sched(api_reader(api), run->sid, call->arena, &by, call->why);
	if (e)
		return e;
	buf_addf(
		&input,
		"{\"hook\":\"%s\",\"change\":\"%s\",\"schedule\":%.*s,\"mission\":null,\"by\":{\"schedule\":",
		DOC_CREATE_HOOK, c->exists ? "update" : "create", STR_ARG(c->text));
	json_write_str(&input, by.id);
	buf_addf(&input, ",\"run\":%llu}}\n", (unsigned long long)run->run);
	return input.failed ? E_NOMEM : api_ask_create_hook(call, api, buf_str(&input), hook_answered);
}

/* Sends the change to the engine, if a run makes it after its hook was asked. */
static enum err ask_and_send(struct api_call *call, struct api *api, const struct schedule_change *c)
{
	return call->caller_run && daemon_has_create_hook(api_daemon(api))
		       ? ask_hook(call, api, c)
		       : schedule_change_send(call, api, c, answer_change);
}

static enum err send_change(struct api_call *call, struct api *api, struct schedule_change *c)
{
	if (schedule_change_is_none(c))
		return schedule_change_write_json(call, api, c, "unchanged");
	if (!call->caller_run)
		c->source.from = STR(""); /* from now on the schedule belongs to a person, not to a run */
	enum err e =
		c->exists ? source_check(call, "schedule", c->old.id, &c->old.source, c->source.from) : OK;
	if (!e)
		e = schedule_change_check_leaders(call, api, c);
	if (!e)
		e = ask_and_send(call, api, c);
	if (!e && is_granted(call, c))
		++*api_granted_pending(api);
	return e;
}

/* Looks up the schedule with the id of the document. If the id was derived from the command and already
 * belongs to another schedule, a number is appended to it. */
static enum err find_or_number(struct api_call *call, struct api *api, struct schedule_change *c,
			       bool derived)
{
	struct str base = c->doc.id;
	for (unsigned n = 2;; n++) {
		enum err e = schedule_change_find(call, api, c);
		if (e || !c->exists || schedule_change_is_none(c) || val_is_true(&call->body, "update") ||
		    !derived)
			return e;
		if (n > DERIVED_IDS_MAX)
			return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
				       "the id '%.*s' is in use, and so are '%.*s-2' to '%.*s-%u'; use --id "
				       "to name this schedule",
				       STR_SHORT(base), STR_SHORT(base), STR_SHORT(base), n - 1);
		struct buf text = { 0 };
		const char *next =
			arena_printf(call->arena, "%.*s-%u", base.n > 120 ? 120 : (int)base.n, base.p, n);
		if (!next)
			return E_NOMEM;
		c->doc.id = str_of(next);
		doc_write(&c->doc, &text);
		c->text = (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
		buf_free(&text);
		if (!c->text.p)
			return E_NOMEM;
	}
}

enum err handle_add(struct api_call *call, struct api *api)
{
	const struct val *document = val_get(&call->body, STR("document"));
	struct schedule_change *c = change_new(call);
	if (!c)
		return E_NOMEM;
	if (!document)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "the body needs `document`");
	enum err e = schedule_change_read(call, api, document, true, c);
	if (!e)
		e = find_or_number(call, api, c, val_is_true(&call->body, "derived"));
	if (!e && c->exists && !schedule_change_is_none(c) && !val_is_true(&call->body, "update"))
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "schedule '%.*s' already exists with other content; use --update to change it",
			    STR_SHORT(c->doc.id));
	if (!e && call->caller_run)
		e = grants_check_change(call, api, c);
	return e ? e : send_change(call, api, c);
}

/* --- edit --- */

static void drop_key(struct api_call *call, struct val *map, const char *key)
{
	document_set_key(call, map, &(struct val_pair){ .key = str_of(key) });
}

/* Sets a new expression. Keys of the old document that have the same meaning as directives of the expression
 * are removed, so that they cannot contradict each other. Relative times are resolved now, in `zone` unless
 * the expression names another. */
static enum err merge_expression(struct api_call *call, struct api *api, const struct val *expression,
				 struct str zone, struct val *into)
{
	struct val_pair pairs[] = {
		{ .key = STR("id"), .value = { .kind = VAL_STR, .str = STR("x") } },
		{ .key = STR("expression"), .value = *expression },
		{ .key = STR("action"), .value = *val_get(into, STR("action")) },
	};
	struct val alone = { .kind = VAL_MAP, .map = { pairs, ARRAY_LEN(pairs) } }, keys;
	struct schedule_change read;
	enum err e = schedule_change_read_in(call, api, &alone, zone, &read);
	if (!e)
		e = json_read(read.text, call->arena, &keys, call->why);
	if (e)
		return e;
	for (unsigned i = 0; i < ACE_KEYS; i++)
		if (read.doc.when.written.value[i].p && doc_key_of((enum ace_key)i))
			drop_key(call, into, doc_key_of((enum ace_key)i));
	if (read.doc.when.zone_given)
		drop_key(call, into, "timezone");
	drop_key(call, into, "after");
	for (unsigned i = 0; i < keys.map.n; i++)
		if (!str_eq(keys.map.pair[i].key, STR("id")) && !str_eq(keys.map.pair[i].key, STR("action")))
			document_set_key(call, into, &keys.map.pair[i]);
	return OK;
}

/* The zone in which the new expression of a schedule is read: that of the patch, else the one in force. */
static struct str zone_for_edit(struct api *api, const struct read_sched *old, const struct val *patch)
{
	const struct val *given = val_get(patch, STR("timezone"));
	struct rules rules;
	rules_read(&old->row, &rules);
	return given && given->kind == VAL_STR
		       ? given->str
		       : intern_zone(daemon_intern(api_daemon(api)), rules.policy.zone);
}

static enum err merge_patch_document(struct api_call *call, struct api *api, const struct read_sched *old,
				     const struct val *patch, struct val *ret)
{
	const struct val *expression = val_get(patch, STR("expression"));
	enum err e = json_read(old->document, call->arena, ret, call->why);
	if (!e && expression && expression->kind == VAL_STR)
		e = merge_expression(call, api, expression, zone_for_edit(api, old, patch), ret);
	for (unsigned i = 0; !e && i < patch->map.n; i++)
		if (!str_eq(patch->map.pair[i].key, STR("id")) && &patch->map.pair[i].value != expression)
			document_set_key(call, ret, &patch->map.pair[i]);
	return e;
}

/* Reads the merged document. No file contains this text, so errors are reported without a line. */
static enum err read_merged(struct api_call *call, struct api *api, const struct val *merged,
			    struct schedule_change *c)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct val whole;
	json_write(&text, merged);
	call->source = (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
	if (text.failed || !call->source.p)
		return E_NOMEM;
	enum err e = json_read(call->source, call->arena, &whole, call->why);
	if (!e)
		e = schedule_change_read(call, api, &whole, false, c);
	call->why->at = WHY_NOWHERE;
	return e;
}

enum err handle_edit(struct api_call *call, struct api *api)
{
	const struct val *patch = val_get(&call->body, STR("document"));
	struct schedule_change *c = change_new(call);
	struct read_sched old;
	struct val merged;
	enum err e = api_find_schedule(call, api, op_arg(&call->args, "schedule")->text, &old);
	if (!c || e)
		return c ? e : E_NOMEM;
	if (!patch || patch->kind != VAL_MAP)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "the body needs `document`, a JSON object with the keys to change");
	if (val_is_true(&call->body, "whole")) {
		e = schedule_change_read(call, api, patch, false, c);
		if (!e && !str_eq(c->doc.id, old.id))
			e = why_set(call->why, E_INPUT, WHY_NOWHERE,
				    "the document has the id '%.*s', not '%.*s'; an id cannot be changed",
				    STR_SHORT(c->doc.id), STR_SHORT(old.id));
	} else {
		e = merge_patch_document(call, api, &old, patch, &merged);
		if (!e)
			e = read_merged(call, api, &merged, c);
	}
	c->exists = true;
	c->old = old;
	if (!e && call->caller_run)
		e = grants_check_change(call, api, c);
	return e ? e : send_change(call, api, c);
}
