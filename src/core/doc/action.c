#include "core/doc/action.h"
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"
#include "core/doc/text_position.h"

#define IN_ACTION(field) offsetof(struct doc_action, field)

/* --- command --- */

static enum err set_cwd(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_action *a = into;
	if (!str_starts(v->str, STR("/")))
		return why_set(r->why, E_INPUT, v->at, "%s must be an absolute path", k->name);
	a->cwd = v->str;
	return OK;
}

/* Text that may hold templates, and may be empty. */
static enum err set_text(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*(struct str *)(void *)((char *)into + k->to) = v->str;
	return doc_template(r, &scope_names, v);
}

/* The strings of a map may hold templates. */
static enum err templates(struct key_reader *r, const struct val *map)
{
	enum err e = OK;
	for (unsigned i = 0; i < map->map.n && !e; i++)
		e = doc_template(r, &scope_names, &map->map.pair[i].value);
	return e;
}

enum err set_env(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	for (unsigned i = 0; i < v->map.n; i++)
		if (!doc_is_name(v->map.pair[i].key))
			return why_set(r->why, E_INPUT, v->map.pair[i].at,
				       "'%.*s' cannot be the name of a variable",
				       STR_SHORT(v->map.pair[i].key));
	enum err e = keys_strings(r, "a variable of env", v);
	if (!e)
		e = templates(r, v);
	*(struct val *)(void *)((char *)into + k->to) = *v;
	return e;
}

static void write_command(const void *from, struct buf *out)
{
	command_write(&((const struct doc_action *)from)->command, out);
}

static void write_map(const struct val *map, struct buf *out)
{
	if (map->kind == VAL_MAP && map->map.n)
		json_write(out, map);
}

static void write_env(const void *from, struct buf *out)
{
	write_map(&((const struct doc_action *)from)->env, out);
}

static void write_text(struct str text, struct buf *out)
{
	if (text.n)
		json_write_str(out, text);
}

static void write_cwd(const void *from, struct buf *out)
{
	write_text(((const struct doc_action *)from)->cwd, out);
}

static void write_input(const void *from, struct buf *out)
{
	write_text(((const struct doc_action *)from)->input, out);
}

/* --- event --- */

enum { ANY = KEY_KIND(VAL_MAP + 1) - 1 };

static enum err set_data(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	(void)k;
	((struct doc_action *)into)->data = *v;
	return OK;
}

static void write_data(const void *from, struct buf *out)
{
	const struct doc_action *a = from;
	if (a->data.kind != VAL_NULL)
		json_write(out, &a->data);
}

/* --- agent_turn --- */

static enum err set_message(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!str_trim(v->str).n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	return set_text(r, into, k, v);
}

static void write_message(const void *from, struct buf *out)
{
	write_text(((const struct doc_action *)from)->message, out);
}

/* --- webhook --- */

const char *const doc_methods[] = { "POST", "GET", "PUT", "PATCH", "DELETE", NULL };

static enum err set_url(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	((struct doc_action *)into)->url = v->str;
	return doc_check_url(r, k->name, v);
}

static void write_url(const void *from, struct buf *out)
{
	write_text(((const struct doc_action *)from)->url, out);
}

/* A token of HTTP. */
static bool is_header(struct str name)
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
	(void)k;
	enum err e = keys_strings(r, "a header", v);
	for (unsigned i = 0; i < v->map.n && !e; i++) {
		const struct val_pair *p = &v->map.pair[i];
		if (!is_header(p->key))
			return why_set(r->why, E_INPUT, p->at, "'%.*s' cannot be the name of a header",
				       STR_SHORT(p->key));
		if (!is_one_line(p->value.str))
			return why_set(r->why, E_INPUT, p->value.at, "a header is one line of text");
		for (unsigned n = 0; n < i; n++)
			if (str_ieq(v->map.pair[n].key, p->key))
				return why_set(r->why, E_INPUT, p->at, "header '%.*s' is given twice",
					       STR_SHORT(p->key));
	}
	if (!e)
		e = templates(r, v);
	((struct doc_action *)into)->headers = *v;
	return e;
}

static void write_headers(const void *from, struct buf *out)
{
	write_map(&((const struct doc_action *)from)->headers, out);
}

/* Templates are expanded in all of its strings. */
static enum err check_body(struct key_reader *r, const struct val *v)
{
	enum err e = v->kind == VAL_STR ? doc_template(r, &scope_names, v) : OK;
	for (unsigned i = 0; v->kind == VAL_LIST && i < v->list.n && !e; i++)
		e = check_body(r, &v->list.item[i]);
	for (unsigned i = 0; v->kind == VAL_MAP && i < v->map.n && !e; i++)
		e = check_body(r, &v->map.pair[i].value);
	return e;
}

static enum err set_body(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)k;
	((struct doc_action *)into)->body = *v;
	return check_body(r, v);
}

static void write_body(const void *from, struct buf *out)
{
	const struct doc_action *a = from;
	if (a->body.kind != VAL_NULL)
		json_write(out, &a->body);
}

/* --- the table of actions --- */

static const struct key command_keys[] = {
	KEY_OF_TYPE,
	{ "command", KEY_OTHER, .to = IN_ACTION(command), .kinds = COMMAND_KINDS, .set = command_set,
	  .write = write_command },
	{ "cwd", KEY_OTHER, .kinds = STRING, .set = set_cwd, .write = write_cwd },
	{ "env", KEY_OTHER, .to = IN_ACTION(env), .kinds = MAP, .set = set_env, .write = write_env },
	{ "stdin", KEY_OTHER, .to = IN_ACTION(input), .kinds = STRING, .set = set_text,
	  .write = write_input },
	{ 0 },
};

static const struct key event_keys[] = {
	KEY_OF_TYPE,
	{ "name", KEY_TEXT, .to = IN_ACTION(name) },
	{ "data", KEY_OTHER, .kinds = ANY, .set = set_data, .write = write_data },
	{ 0 },
};

static const struct key agent_turn_keys[] = {
	KEY_OF_TYPE,
	{ "message", KEY_OTHER, .to = IN_ACTION(message), .kinds = STRING, .set = set_message,
	  .write = write_message },
	{ 0 },
};

static const struct key webhook_keys[] = {
	KEY_OF_TYPE,
	{ "url", KEY_OTHER, .kinds = STRING, .set = set_url, .write = write_url },
	{ "method", KEY_WORD, .to = IN_ACTION(method), .words = doc_methods, .usual = 0 },
	{ "headers", KEY_OTHER, .kinds = MAP, .set = set_headers, .write = write_headers },
	{ "body", KEY_OTHER, .kinds = STRING | LIST | MAP, .set = set_body, .write = write_body },
	{ 0 },
};

static const struct key_variant actions[] = {
	[DOC_COMMAND] = { "command", "action command", command_keys, "command" },
	[DOC_EVENT] = { "event", "action event", event_keys, "name" },
	[DOC_AGENT_TURN] = { "agent_turn", "action agent_turn", agent_turn_keys, "message" },
	[DOC_WEBHOOK] = { "webhook", "action webhook", webhook_keys, "url" },
	{ "mission", "action mission", NULL, NULL },
	{ "workflow", "action workflow", NULL, NULL },
	{ 0 },
};

enum err action_read(struct key_reader *r, const struct val *v, struct doc_action *ret)
{
	struct doc_action a = { 0 };
	uint8_t kind = 0;
	enum err e = keys_read_variant(r, "action", actions, &a, v, &kind);
	if (e)
		return e;
	a.kind = kind;
	*ret = a;
	return OK;
}

void action_write(const struct doc_action *action, struct buf *out)
{
	keys_write_variant(&actions[action->kind], action, out);
}
