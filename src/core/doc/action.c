#include "core/doc/action.h"
#include "base/json.h"
#include "core/doc/inside.h"

#define IN_ACTION(field) offsetof(struct doc_action, field)

/* --- command ---------------------------------------------------------------------------------------------
 */

/* A template that is not expanded would be passed on as it stands, and nobody would notice. */
static enum err no_template(struct key_reader *r, const struct val *v)
{
	for (size_t i = 0; i + 1 < v->str.n; i++)
		if (v->str.p[i] == '{' && v->str.p[i + 1] == '{')
			return why_set(r->why, E_INPUT, inside(r->source, v, i),
				       "templates ({{ }}) are not supported yet");
	return OK;
}

static enum err set_command(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_action *a = into;
	if (v->kind == VAL_STR ? str_trim(v->str).n == 0 : v->list.n == 0)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	if (v->kind == VAL_STR) {
		a->shell = v->str;
		return OK;
	}
	if (v->list.n > LAUNCH_ARGS_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a command has at most %d words", LAUNCH_ARGS_MAX);
	a->argv = arena_alloc(r->arena, v->list.n * sizeof *a->argv);
	if (!a->argv)
		return E_NOMEM;
	for (; a->argc < v->list.n; a->argc++) {
		const struct val *word = &v->list.item[a->argc];
		if (word->kind != VAL_STR)
			return keys_wrong(r, "a word of the command", KEY_KIND(VAL_STR), word);
		enum err e = no_template(r, word);
		if (e)
			return e;
		a->argv[a->argc] = word->str;
	}
	if (!a->argv[0].n)
		return why_set(r->why, E_INPUT, v->list.item[0].at, "the program's name is empty");
	return OK;
}

static enum err set_cwd(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_action *a = into;
	if (!str_starts(v->str, STR("/")))
		return why_set(r->why, E_INPUT, v->at, "%s must be an absolute path", k->name);
	a->cwd = v->str;
	return OK;
}

static enum err set_input(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_action *a = into;
	(void)k;
	a->input = v->str;
	return no_template(r, v);
}

static bool is_variable(struct str name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!is_alpha(name.p[i]) && name.p[i] != '_' && !(i && is_digit(name.p[i])))
			return false;
	return name.n > 0;
}

static enum err set_env(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct doc_action *a = into;
	(void)k;
	for (unsigned i = 0; i < v->map.n; i++) {
		const struct val_pair *p = &v->map.pair[i];
		if (!is_variable(p->key))
			return why_set(r->why, E_INPUT, p->at, "'%.*s' cannot be the name of a variable",
				       STR_SHORT(p->key));
		if (p->value.kind != VAL_STR)
			return keys_wrong(r, "a variable of env", KEY_KIND(VAL_STR), &p->value);
		enum err e = no_template(r, &p->value);
		if (e)
			return e;
	}
	a->env = *v;
	return OK;
}

static void write_command(const void *from, struct buf *out)
{
	const struct doc_action *a = from;
	if (a->shell.n) {
		json_write_str(out, a->shell);
		return;
	}
	for (unsigned i = 0; i < a->argc; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, a->argv[i]);
	}
	buf_addc(out, ']');
}

static void write_env(const void *from, struct buf *out)
{
	const struct doc_action *a = from;
	if (a->env.kind == VAL_MAP && a->env.map.n)
		json_write(out, &a->env);
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

/* --- event -----------------------------------------------------------------------------------------------
 */

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

/* --- the table of actions --------------------------------------------------------------------------------
 */

static enum err set_type(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)r;
	(void)into;
	(void)k;
	(void)v;
	return OK; /* it chose the table */
}

#define TYPE                                                                                                 \
	{                                                                                                    \
		.name = "type", .type = KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_type               \
	}

static const struct key command_keys[] = {
	TYPE,
	{ "command", KEY_OTHER, .kinds = KEY_KIND(VAL_STR) | KEY_KIND(VAL_LIST), .set = set_command,
	  .write = write_command },
	{ "cwd", KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_cwd, .write = write_cwd },
	{ "env", KEY_OTHER, .kinds = KEY_KIND(VAL_MAP), .set = set_env, .write = write_env },
	{ "stdin", KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_input, .write = write_input },
	{ 0 },
};

static const struct key event_keys[] = {
	TYPE,
	{ "name", KEY_TEXT, .to = IN_ACTION(name) },
	{ "data", KEY_OTHER, .kinds = ANY, .set = set_data, .write = write_data },
	{ 0 },
};

static const struct action_type {
	const char *name, *what;
	const struct key *keys; /* NULL: not supported yet */
	unsigned needs;         /* the key it cannot do without */
	enum doc_action_kind kind;
} types[] = {
	{ "command", "action command", command_keys, 1, DOC_COMMAND },
	{ "event", "action event", event_keys, 1, DOC_EVENT },
	{ "agent_turn", .keys = NULL },
	{ "webhook", .keys = NULL },
	{ "mission", .keys = NULL },
	{ "workflow", .keys = NULL },
};

static enum err type_of(struct key_reader *r, const struct val *v, const struct action_type **ret)
{
	const struct val *type = val_get(v, STR("type"));
	if (!type)
		return why_set(r->why, E_INPUT, v->at, "action needs a type, such as command");
	if (type->kind != VAL_STR)
		return keys_wrong(r, "type", KEY_KIND(VAL_STR), type);
	for (unsigned i = 0; i < ARRAY_LEN(types); i++)
		if (str_eq(type->str, str_of(types[i].name))) {
			if (!types[i].keys)
				return why_set(r->why, E_INPUT, type->at, "action %s is not supported yet",
					       types[i].name);
			*ret = &types[i];
			return OK;
		}
	return why_set(
		r->why, E_INPUT, type->at,
		"action '%.*s' is not known; allowed are command, event, agent_turn, webhook, mission, "
		"workflow",
		STR_SHORT(type->str));
}

enum err action_read(struct key_reader *r, const struct val *v, struct doc_action *ret)
{
	const struct val *given[ARRAY_LEN(command_keys)] = { 0 };
	const struct action_type *type = &types[0];
	struct doc_action a = { 0 };
	static_assert(ARRAY_LEN(event_keys) <= ARRAY_LEN(command_keys), "room for what is given");
	enum err e = type_of(r, v, &type);
	if (e)
		return e;
	e = keys_read(r, type->what, type->keys, &a, v, given);
	if (e)
		return e;
	if (!given[type->needs])
		return why_set(r->why, E_INPUT, v->at, "%s needs %s", type->what,
			       type->keys[type->needs].name);
	a.kind = (uint8_t)type->kind;
	*ret = a;
	return OK;
}

void action_write(const struct doc_action *action, struct buf *out)
{
	const struct action_type *type = &types[0];
	while (type->kind != action->kind)
		type++;
	buf_addf(out, "{\"type\":\"%s\"", type->name);
	keys_write(type->keys, action, false, out);
	buf_addc(out, '}');
}
