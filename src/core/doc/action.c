/* The types of actions and their keys. */
#include "core/doc/action.h"
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"
#include "core/doc/interpreter.h"

#define IN_ACTION(field) offsetof(struct doc_action, field)

/* --- text and variables --- */

/* Sets a template, which may be empty. */
static enum err set_template(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct str, into, k) = v->str;
	return doc_check_templates(r, &run_scope_names, v);
}

static enum err set_message(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!str_trim(v->str).n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	return set_template(r, into, k, v);
}

enum err set_env(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	enum err e = doc_check_variable_names(r, v);
	if (!e)
		e = keys_check_strings(r, "a variable of env", v);
	if (!e)
		e = doc_check_templates(r, &run_scope_names, v);
	for (unsigned i = 0; i < v->map.n && !e; i++)
		if (interpreter_is_code_variable(v->map.pair[i].key))
			e = doc_refuse_variable_template(r, v->map.pair[i].key, &v->map.pair[i].value);
	*KEY_FIELD(struct val, into, k) = *v;
	return e;
}

/* --- event --- */

enum { ANY = KEY_KIND(VAL_MAP + 1) - 1 };

/* The name becomes that of the event: custom:NAME. */
static enum err set_event_name(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct str, into, k) = v->str;
	if (doc_is_agent_name(v->str) && !memchr(v->str.p, ',', v->str.n) && !memchr(v->str.p, '*', v->str.n))
		return OK;
	return why_set(
		r->why, E_INPUT, v->at,
		"the name of an event must have 1 to %d characters, without control characters, commas "
		"and '*', and without spaces at its ends",
		DOC_ID_MAX);
}

static enum err set_data(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	_cleanup_(buf_free) struct buf json = { 0 };
	json_write(&json, v);
	*KEY_FIELD(struct val, into, k) = *v;
	if (json.failed)
		return E_NOMEM;
	if (json.n > EVENT_DATA_BYTES_MAX)
		return why_set(r->why, E_INPUT, v->at,
			       "the data of an event has %u bytes; at most %d are allowed", (unsigned)json.n,
			       EVENT_DATA_BYTES_MAX);
	return OK;
}

/* Unlike keys_write_val it writes an empty map, which is a value here. */
static void write_any(const void *from, const struct key *k, struct buf *out)
{
	const struct val *v = KEY_CONST_FIELD(struct val, from, k);
	if (v->kind != VAL_NULL)
		json_write(out, v);
}

/* --- webhook --- */

const char *const doc_methods[] = { "POST", "GET", "PUT", "PATCH", "DELETE", NULL };

enum err set_url(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	static const char *const schemes[] = { "https://", "http://" };
	struct str host = { 0 };
	for (unsigned i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(v->str, str_of(schemes[i])))
			host = str_from(v->str, strlen(schemes[i]));
	bool good = host.n && host.p[0] != '/' && host.p[0] != ':' && host.p[0] != '?';
	for (size_t i = 0; i < host.n; i++)
		good &= (unsigned char)host.p[i] > 32 && host.p[i] != 127;
	*KEY_FIELD(struct str, into, k) = v->str;
	if (good)
		return OK;
	return why_set(r->why, E_INPUT, v->at, "%s must be an address such as https://example.org/path",
		       k->name);
}

/* Whether the name is a token of HTTP. */
static bool is_header_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!is_alpha(name.p[i]) && !is_digit(name.p[i]) && !memchr("!#$%&'*+-.^_`|~", name.p[i], 15))
			return false;
	return name.n > 0;
}

static bool is_one_line(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < 32 && text.p[i] != '\t')
			return false;
	return true;
}

static enum err set_headers(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	enum err e = keys_check_strings(r, "a header", v);
	for (unsigned i = 0; i < v->map.n && !e; i++) {
		const struct val_pair *p = &v->map.pair[i];
		if (!is_header_name(p->key))
			return why_set(r->why, E_INPUT, p->at, "'%.*s' is not a valid name of an HTTP header",
				       STR_SHORT(p->key));
		if (!is_one_line(p->value.str))
			return why_set(r->why, E_INPUT, p->value.at,
				       "the value of a header must be one line of text");
		for (unsigned n = 0; n < i; n++)
			if (str_ieq(v->map.pair[n].key, p->key))
				return why_set(r->why, E_INPUT, p->at, "header '%.*s' is given twice",
					       STR_SHORT(p->key));
	}
	if (!e)
		e = doc_check_templates(r, &run_scope_names, v);
	*KEY_FIELD(struct val, into, k) = *v;
	return e;
}

static enum err set_body(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct val, into, k) = *v;
	return doc_check_templates(r, &run_scope_names, v);
}

/* --- the table of actions --- */

static const struct key command_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .offset = IN_ACTION(command), .kinds = COMMAND_KINDS,
	  .set = command_set_field, .write = command_write_field },
	{ "cwd", KEY_OTHER, .offset = IN_ACTION(cwd), .kinds = STRING, .set = keys_set_path,
	  .write = keys_write_str },
	{ "env", KEY_OTHER, .offset = IN_ACTION(env), .kinds = MAP, .set = set_env, .write = keys_write_val },
	{ "stdin", KEY_OTHER, .offset = IN_ACTION(input), .kinds = STRING, .set = set_template,
	  .write = keys_write_str },
	{ 0 },
};

static const struct key event_keys[] = {
	KEY_OF_TYPE,
	{ "name", KEY_OTHER, .offset = IN_ACTION(name), .kinds = STRING, .set = set_event_name,
	  .write = keys_write_str },
	{ "data", KEY_OTHER, .offset = IN_ACTION(data), .kinds = ANY, .set = set_data, .write = write_any },
	{ 0 },
};

static const struct key agent_turn_keys[] = {
	KEY_OF_TYPE,
	{ "message", KEY_OTHER, .offset = IN_ACTION(message), .kinds = STRING, .set = set_message,
	  .write = keys_write_str },
	{ 0 },
};

static const struct key webhook_keys[] = {
	KEY_OF_TYPE,
	{ "url", KEY_OTHER, .offset = IN_ACTION(url), .kinds = STRING, .set = set_url,
	  .write = keys_write_str },
	{ "method", KEY_WORD, .offset = IN_ACTION(method), .words = doc_methods, .default_value = 0 },
	{ "headers", KEY_OTHER, .offset = IN_ACTION(headers), .kinds = MAP, .set = set_headers,
	  .write = keys_write_val },
	{ "body", KEY_OTHER, .offset = IN_ACTION(body), .kinds = STRING | LIST | MAP, .set = set_body,
	  .write = write_any },
	{ 0 },
};

static const struct key workflow_keys[] = {
	KEY_OF_TYPE,
	{ "file", KEY_OTHER, .offset = IN_ACTION(file), .kinds = STRING, .set = keys_set_path,
	  .write = keys_write_str },
	{ "name", KEY_TEXT, .offset = IN_ACTION(workflow) },
	{ "input", KEY_OTHER, .offset = IN_ACTION(inputs), .kinds = MAP, .set = set_body,
	  .write = write_any },
	{ 0 },
};

static const struct key_variant actions[] = {
	[DOC_COMMAND] = { "command", "an action of type command", command_keys, "command" },
	[DOC_EVENT] = { "event", "an action of type event", event_keys, "name" },
	[DOC_AGENT_TURN] = { "agent_turn", "an action of type agent_turn", agent_turn_keys, "message" },
	[DOC_WEBHOOK] = { "webhook", "an action of type webhook", webhook_keys, "url" },
	[DOC_WORKFLOW] = { "workflow", "an action of type workflow", workflow_keys, "file" },
	{ "mission", "an action of type mission", NULL, NULL },
	{ 0 },
};

/* A template in the input of `sh`, `python3 -` and the like would be part of the program. */
static enum err check_input(struct key_reader *r, const struct val *map, const struct doc_action *a)
{
	const struct doc_command *c = &a->command;
	struct str name;
	bool program = c->shell.n ? interpreter_line_reads_input(c->shell, &name)
				  : interpreter_reads_input(c->argv, c->argc, &name);
	return a->input.n && program ? doc_refuse_template(r, name, val_get(map, STR("stdin"))) : OK;
}

enum err action_read(struct key_reader *r, const struct val *v, struct doc_action *ret)
{
	struct doc_action a = { 0 };
	uint8_t kind = 0;
	enum err e = keys_read_variant(r, "an action", actions, &a, v, &kind);
	if (e)
		return e;
	a.kind = kind;
	e = check_input(r, v, &a);
	if (!e)
		*ret = a;
	return e;
}

void action_write(const struct doc_action *action, struct buf *out)
{
	keys_write_variant(&actions[action->kind], action, out);
}
