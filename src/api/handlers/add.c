/* add and edit, in the daemon. The way of a `rota add`: verb_add (cli/verbs/add.c) makes a document of the
 * arguments and sends it; handle_add reads it, and orders it from the engine; was_put answers with the
 * engine's reply; show_added (cli/verbs/add.c) prints that answer. */
#include "api/handlers/handlers.h"

#include "api/grants.h"
#include "api/schedule_change.h"
#include "base/json.h"
#include "core/doc/doc.h"

/* One more that a run makes. */
static bool is_granted(const struct api_call *call, const struct put *p)
{
	return call->within && !p->exists;
}

static void was_put(struct api_call *call, struct api *api, const struct reply *r)
{
	const struct put *p = call->ctx;
	enum err e = OK;
	*api_granting(api) -= is_granted(call, p);
	if (r->code != REPLY_OK)
		e = api_refusal(call, r,
				p->exists ? "the schedule was not changed" : "the schedule was not added");
	else
		e = put_tell(call, api, p, p->exists ? "changed" : "added");
	call->status = p->exists ? 200 : 201;
	api_finish(call, e);
}

static struct put *new_put(struct api_call *call)
{
	struct put *p = arena_alloc(call->arena, sizeof *p);
	call->ctx = p;
	return p;
}

static enum err put_unless_same(struct api_call *call, struct api *api, struct put *p)
{
	if (put_same(p))
		return put_tell(call, api, p, "unchanged");
	if (!call->within)
		p->source.from = STR(""); /* a person's, from now on */
	enum err e = p->exists ? put_check_source(call, "schedule", p->old.id, &p->old.source, p->source.from)
			       : OK;
	if (!e)
		e = put_check_line(call, api, p);
	if (!e)
		e = put_order(call, api, p, was_put);
	if (!e && is_granted(call, p))
		++*api_granting(api);
	return e;
}

/* An id that was made up and is taken by something else gets a number. */
static enum err settle_id(struct api_call *call, struct api *api, struct put *p, bool derived)
{
	struct str base = p->doc.id;
	for (unsigned n = 2;; n++) {
		enum err e = put_look(call, api, p);
		if (e || !p->exists || put_same(p) || val_is_true(&call->body, "update") || !derived)
			return e;
		if (n > DERIVED_IDS_MAX)
			return why_set(call->why, E_CONFLICT, WHY_NOWHERE,
				       "%u schedules are called '%.*s' and a number already; --id names it",
				       n - 1, STR_SHORT(base));
		struct buf text = { 0 };
		const char *next =
			arena_printf(call->arena, "%.*s-%u", base.n > 120 ? 120 : (int)base.n, base.p, n);
		if (!next)
			return E_NOMEM;
		p->doc.id = str_of(next);
		doc_write(&p->doc, &text);
		p->text = (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
		buf_free(&text);
		if (!p->text.p)
			return E_NOMEM;
	}
}

enum err handle_add(struct api_call *call, struct api *api)
{
	const struct val *document = val_get(&call->body, STR("document"));
	struct put *p = new_put(call);
	if (!p)
		return E_NOMEM;
	if (!document)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "add needs a document");
	enum err e = put_read(call, api, document, true, p);
	if (!e)
		e = settle_id(call, api, p, val_is_true(&call->body, "derived"));
	if (!e && p->exists && !put_same(p) && !val_is_true(&call->body, "update"))
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "there is a schedule '%.*s' already, and it is another; --update changes it",
			    STR_SHORT(p->doc.id));
	if (!e && call->within)
		e = grant_put(call, api, p);
	return e ? e : put_unless_same(call, api, p);
}

/* --- edit --- */

static void drop_key(struct api_call *call, struct val *map, const char *key)
{
	put_key(call, map, &(struct val_pair){ .key = str_of(key) });
}

/* A new expression replaces what the old document says by keys of the same meaning, else the two would
 * contradict each other. Relative forms are resolved now. */
static enum err merge_expression(struct api_call *call, struct api *api, const struct val *expression,
				 struct val *into)
{
	struct val_pair pairs[] = {
		{ .key = STR("id"), .value = { .kind = VAL_STR, .str = STR("x") } },
		{ .key = STR("expression"), .value = *expression },
		{ .key = STR("action"), .value = *val_get(into, STR("action")) },
	};
	struct val alone = { .kind = VAL_MAP, .map = { pairs, ARRAY_LEN(pairs) } }, keys;
	struct put p;
	enum err e = put_read(call, api, &alone, true, &p);
	if (!e)
		e = json_read(p.text, call->arena, &keys, call->why);
	if (e)
		return e;
	for (unsigned i = 0; i < ACE_KEYS; i++)
		if (p.doc.when.written.value[i].p && doc_key_of((enum ace_key)i))
			drop_key(call, into, doc_key_of((enum ace_key)i));
	if (p.doc.when.zone_given)
		drop_key(call, into, "timezone");
	drop_key(call, into, "after");
	for (unsigned i = 0; i < keys.map.n; i++)
		if (!str_eq(keys.map.pair[i].key, STR("id")) && !str_eq(keys.map.pair[i].key, STR("action")))
			put_key(call, into, &keys.map.pair[i]);
	return OK;
}

static enum err merge(struct api_call *call, struct api *api, const struct read_sched *old,
		      const struct val *patch, struct val *ret)
{
	const struct val *expression = val_get(patch, STR("expression"));
	enum err e = json_read(old->document, call->arena, ret, call->why);
	if (!e && expression && expression->kind == VAL_STR)
		e = merge_expression(call, api, expression, ret);
	for (unsigned i = 0; !e && i < patch->map.n; i++)
		if (!str_eq(patch->map.pair[i].key, STR("id")) && &patch->map.pair[i].value != expression)
			put_key(call, ret, &patch->map.pair[i]);
	return e;
}

/* The document as it will be. Nobody wrote its text as it stands, so errors have no place in it. */
static enum err read_merged(struct api_call *call, struct api *api, const struct val *merged, struct put *p)
{
	_cleanup_(buf_free) struct buf text = { 0 };
	struct val whole;
	json_write(&text, merged);
	call->source = (struct str){ arena_dup(call->arena, buf_str(&text)), text.n };
	if (text.failed || !call->source.p)
		return E_NOMEM;
	enum err e = json_read(call->source, call->arena, &whole, call->why);
	if (!e)
		e = put_read(call, api, &whole, false, p);
	call->why->at = WHY_NOWHERE;
	return e;
}

enum err handle_edit(struct api_call *call, struct api *api)
{
	const struct val *patch = val_get(&call->body, STR("document"));
	struct put *p = new_put(call);
	struct read_sched old;
	struct val merged;
	enum err e = api_sched(call, api, op_arg(&call->args, "schedule")->text, &old);
	if (!p || e)
		return p ? e : E_NOMEM;
	if (!patch || patch->kind != VAL_MAP)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "edit needs a document with what changes");
	if (val_is_true(&call->body, "whole")) {
		e = put_read(call, api, patch, false, p);
		if (!e && !str_eq(p->doc.id, old.id))
			e = why_set(call->why, E_INPUT, WHY_NOWHERE,
				    "the document is of '%.*s', not of '%.*s'; an id stays what it is",
				    STR_SHORT(p->doc.id), STR_SHORT(old.id));
	} else {
		e = merge(call, api, &old, patch, &merged);
		if (!e)
			e = read_merged(call, api, &merged, p);
	}
	p->exists = true;
	p->old = old;
	if (!e && call->within)
		e = grant_put(call, api, p);
	return e ? e : put_unless_same(call, api, p);
}
