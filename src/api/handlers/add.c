#include "api/handlers/add.h"

#include "api/grants.h"
#include "api/json_out.h"
#include "api/schedule_put.h"
#include "cli/documents.h"
#include "cli/remote.h"
#include "core/doc/doc.h"

#include <stdlib.h>
#include <unistd.h>

/* --- the command line's side: arguments to keys of a document --- */

/* A command keeps the directory and the PATH it was given in: what works here works then. */
static void write_command(const struct arg *arg, struct buf *out)
{
	char *cwd = getcwd(NULL, 0);
	const char *path = getenv("PATH");
	buf_add(out, STR(",\"action\":{\"type\":\"command\",\"command\":"));
	/* One word with blanks in it is no program's name: people quote lines for the shell. */
	bool line = !arg->word || (arg->count == 1 && memchr(arg->word[0].p, ' ', arg->word[0].n));
	if (line)
		json_write_str(out, arg->word ? arg->word[0] : arg->text);
	for (unsigned i = 0; !line && i < arg->count; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, arg->word[i]);
	}
	buf_add(out, line ? STR("") : STR("]"));
	if (cwd)
		json_add_str(out, "cwd", str_of(cwd));
	if (path) {
		buf_add(out, STR(",\"env\":{\"PATH\":"));
		json_write_str(out, str_of(path));
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
	free(cwd);
}

static void write_tags(const struct arg *arg, struct buf *out)
{
	json_add_words(out, "tags", arg->text);
}

static void write_message(const struct arg *arg, struct buf *out)
{
	buf_add(out, STR(",\"action\":{\"type\":\"agent_turn\""));
	json_add_str(out, "message", arg->text);
	buf_addc(out, '}');
}

static void write_retry(const struct arg *arg, struct buf *out)
{
	buf_addf(out, ",\"retry\":{\"max_attempts\":%u}", arg->count);
}

/* What an argument of add or edit says in a document: a text under this key, or as `write` does. */
static const struct {
	const char *argument, *key;
	void (*write)(const struct arg *arg, struct buf *out);
} arguments[] = {
	{ "expression", "expression", NULL }, { "when", "expression", NULL },
	{ "tz", "timezone", NULL },           { "timeout", "timeout", NULL },
	{ "window", "window", NULL },         { "missed", "missed_schedule_policy", NULL },
	{ "overlap", "overlap", NULL },       { "retry", NULL, write_retry },
	{ "tag", NULL, write_tags },          { "agent", "agent", NULL },
	{ "message", NULL, write_message },   { "command", NULL, write_command },
};

static unsigned write_keys(struct op_call *call, struct buf *out)
{
	unsigned n = 0;
	for (unsigned i = 0; i < ARRAY_LEN(arguments); i++) {
		const struct arg *arg = op_arg_if(call, arguments[i].argument);
		if (!arg || !arg->given)
			continue;
		n++;
		if (arguments[i].write)
			arguments[i].write(arg, out);
		else
			json_add_str(out, arguments[i].key, arg->text);
	}
	return n;
}

static enum err ask_and_show(struct op_call *call, struct buf *body)
{
	struct str text;
	struct val answer;
	enum err e = body->failed ? E_NOMEM : remote_ask(call, buf_str(body), &text, &answer);
	buf_free(body);
	if (!e)
		remote_show(call, text, &answer);
	if (!e)
		put_warn(call, &answer, STR(""), 0);
	return e;
}

/* What is to be run: a command, or a message to an agent. */
static enum err check_what(struct op_call *call)
{
	const struct arg *words = op_arg(call, "command"), *message = op_arg(call, "message");
	if (message->given && words->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "a message is for an agent, and a command is run: give one of them");
	if (message->given && !op_arg(call, "agent")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "'%.*s' would be a message to an agent: --agent names it; a command stands "
			       "after --, an expression with spaces in quotes",
			       STR_SHORT(message->text));
	if (!op_arg(call, "expression")->given || (!words->given && !message->given))
		return why_set(call->why, E_INPUT, WHY_NOWHERE,
			       "add needs an expression and a command, or --agent NAME and a message: %s",
			       call->op->example);
	return OK;
}

static void derive_id(struct op_call *call, char ret[DOC_ID_MAX + 1])
{
	enum { WORDS = 4 }; /* of a message */
	const struct arg *words = op_arg(call, "command"), *message = op_arg(call, "message");
	struct str word[WORDS], rest = message->text;
	unsigned n = 0;
	if (words->given) {
		doc_derive_id(words->word ? words->word : &words->text, words->word ? words->count : 1, ret);
		return;
	}
	while (n < WORDS && (word[n] = str_token(&rest)).n)
		n++;
	doc_derive_id(word, n, ret);
}

enum err op_add(struct op_call *call)
{
	const struct arg *expression = op_arg(call, "expression"), *id = op_arg(call, "id");
	char derived[DOC_ID_MAX + 1];
	struct buf document = { 0 }, body = { 0 };
	enum err e = check_what(call);
	if (!e)
		e = docs_check_expression(call, expression->text);
	if (e)
		return e;
	derive_id(call, derived);
	buf_add(&document, STR("{\"id\":"));
	json_write_str(&document, id->given ? id->text : str_of(derived));
	write_keys(call, &document);
	buf_addc(&document, '}');
	e = document.failed ? E_NOMEM : docs_check_text(call, buf_str(&document));
	buf_addf(&body, "{\"update\":%s,\"derived\":%s,\"document\":",
		 op_arg(call, "update")->given ? "true" : "false", id->given ? "false" : "true");
	buf_add(&body, buf_str(&document));
	buf_addc(&body, '}');
	buf_free(&document);
	if (!e)
		return ask_and_show(call, &body);
	buf_free(&body);
	return e;
}

enum err op_edit(struct op_call *call)
{
	const struct arg *file = op_arg(call, "file"), *when = op_arg(call, "when");
	struct buf body = { 0 };
	_cleanup_(docs_free) struct docs docs = { 0 };
	enum err e = OK;
	if (!op_arg(call, "schedule")->given)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "edit needs a SCHEDULE: %s",
			       call->op->example);
	if (when->given)
		e = docs_check_expression(call, when->text);
	if (!e && file->given)
		e = docs_file(call, file->text.p, false, &docs);
	if (e)
		return e;
	if (file->given && docs.schedules.n != 1)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "%.150s has %u schedules; edit takes one",
			       file->text.p, docs.schedules.n);
	buf_addf(&body, "{\"whole\":%s,\"document\":", file->given ? "true" : "false");
	if (file->given)
		buf_add(&body, docs.schedules.item[0].text);
	else
		buf_add(&body, STR("{\"id\":"));
	if (!file->given)
		json_write_str(&body, op_arg(call, "schedule")->text);
	if (op_arg(call, "message")->given && op_arg(call, "command")->given)
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    "a message is for an agent, and a command is run: give one of them");
	unsigned said = write_keys(call, &body);
	buf_add(&body, file->given ? STR("}") : STR("}}"));
	if (!e && (file->given ? said : !said))
		e = why_set(call->why, E_INPUT, WHY_NOWHERE,
			    file->given ? "--file has the whole schedule; give nothing else beside it"
					: "say what to change: --when, --timeout, -- COMMAND; `rota edit "
					  "--help` lists them");
	if (!e)
		return ask_and_show(call, &body);
	buf_free(&body);
	return e;
}

/* --- the daemon's side --- */

/* One more that a run makes. */
static bool is_granted(const struct op_call *call, const struct put *p)
{
	return call->within && !p->exists;
}

static void was_put(struct op_call *call, struct api *api, const struct reply *r)
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

static bool says(struct op_call *call, const char *name)
{
	const struct val *v = val_get(&call->body, str_of(name));
	return v && v->kind == VAL_BOOL && v->boolean;
}

static struct put *new_put(struct op_call *call)
{
	struct put *p = arena_alloc(call->arena, sizeof *p);
	call->ctx = p;
	return p;
}

static enum err put_unless_same(struct op_call *call, struct api *api, struct put *p)
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
static enum err settle_id(struct op_call *call, struct api *api, struct put *p, bool derived)
{
	struct str base = p->doc.id;
	for (unsigned n = 2;; n++) {
		enum err e = put_look(call, api, p);
		if (e || !p->exists || put_same(p) || says(call, "update") || !derived)
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

enum err handle_add(struct op_call *call, struct api *api)
{
	const struct val *document = val_get(&call->body, STR("document"));
	struct put *p = new_put(call);
	if (!p)
		return E_NOMEM;
	if (!document)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "add needs a document");
	enum err e = put_read(call, api, document, true, p);
	if (!e)
		e = settle_id(call, api, p, says(call, "derived"));
	if (!e && p->exists && !put_same(p) && !says(call, "update"))
		e = why_set(call->why, E_CONFLICT, WHY_NOWHERE,
			    "there is a schedule '%.*s' already, and it is another; --update changes it",
			    STR_SHORT(p->doc.id));
	if (!e && call->within)
		e = grant_put(call, api, p);
	return e ? e : put_unless_same(call, api, p);
}

/* --- edit --- */

static void drop_key(struct op_call *call, struct val *map, const char *key)
{
	put_key(call, map, &(struct val_pair){ .key = str_of(key) });
}

/* A new expression replaces what the old document says by keys of the same meaning, else the two would
 * contradict each other. Relative forms are resolved now. */
static enum err merge_expression(struct op_call *call, struct api *api, const struct val *expression,
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
		if (p.doc.when.said.value[i].p && doc_key_of((enum ace_key)i))
			drop_key(call, into, doc_key_of((enum ace_key)i));
	if (p.doc.when.zone_said)
		drop_key(call, into, "timezone");
	drop_key(call, into, "after");
	for (unsigned i = 0; i < keys.map.n; i++)
		if (!str_eq(keys.map.pair[i].key, STR("id")) && !str_eq(keys.map.pair[i].key, STR("action")))
			put_key(call, into, &keys.map.pair[i]);
	return OK;
}

static enum err merge(struct op_call *call, struct api *api, const struct read_sched *old,
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
static enum err read_merged(struct op_call *call, struct api *api, const struct val *merged, struct put *p)
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

enum err handle_edit(struct op_call *call, struct api *api)
{
	const struct val *patch = val_get(&call->body, STR("document"));
	struct put *p = new_put(call);
	struct read_sched old;
	struct val merged;
	enum err e = api_sched(call, api, op_arg(call, "schedule")->text, &old);
	if (!p || e)
		return p ? e : E_NOMEM;
	if (!patch || patch->kind != VAL_MAP)
		return why_set(call->why, E_INPUT, WHY_NOWHERE, "edit needs a document with what changes");
	if (says(call, "whole")) {
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
