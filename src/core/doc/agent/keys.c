/* The keys of an agent. A property of org is always text, so values that are lists, maps or numbers in YAML
 * may also be text. */
#include "core/doc/agent/agent.h"
#include "core/doc/agent/word_list.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"

#define IN_AGENT(field) offsetof(struct agent_doc, field)

const char *const agent_runner_words[AGENT_RUNNERS + 1] = {
	[AGENT_COMMAND] = "command", [AGENT_CLAUDE] = "claude",     [AGENT_CODEX] = "codex",
	[AGENT_GEMINI] = "gemini",   [AGENT_OPENCODE] = "opencode", [AGENT_GOOSE] = "goose",
	[AGENT_AIDER] = "aider",     [AGENT_CHAT] = "chat",
};
static const char *const allow_words[AGENT_ALLOWS + 1] = {
	[AGENT_READ] = "read",
	[AGENT_EDIT] = "edit",
	[AGENT_SHELL] = "shell",
	[AGENT_ALL] = "all",
};
static const char *const claim_words[AGENT_CLAIMS + 1] = {
	[AGENT_CLAIM_NONE] = "none",
	[AGENT_CLAIM_AUTO] = "auto",
};
static const char *const session_words[AGENT_SESSIONS + 1] = {
	[AGENT_FRESH] = "fresh",
	[AGENT_CONTINUE] = "continue",
};

/* --- name and prompt --- */

static enum err set_name(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	*KEY_FIELD(struct str, into, k) = v->str;
	return doc_check_agent_name(r, "the name of an agent", v);
}

static enum err set_prompt(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct str text = str_trim(v->str);
	if (!text.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	if (text.n > AGENT_PROMPT_BYTES_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s has more than %d bytes", k->name,
			       AGENT_PROMPT_BYTES_MAX);
	*KEY_FIELD(struct str, into, k) = text;
	return OK;
}

/* --- lists of words --- */

static enum err set_args(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = word_list_read(r, k->name, v, false, &list);
	if (!e)
		e = doc_check_templates(r, &run_scope_names, &list);
	return e ? e : word_list_copy(r, &list, KEY_FIELD(struct word_list, into, k));
}

static enum err set_toolkits(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = word_list_read(r, k->name, v, true, &list);
	return e ? e : word_list_copy(r, &list, KEY_FIELD(struct word_list, into, k));
}

static enum err set_secrets(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = word_list_read(r, k->name, v, true, &list);
	for (unsigned i = 0; !e && i < list.list.n; i++) {
		const struct val *name = &list.list.item[i];
		if (!doc_is_variable_name(name->str))
			e = why_set(r->why, E_INPUT, name->at,
				    "'%.*s' cannot be the name of a secret; use letters, digits and '_', not "
				    "beginning with a digit",
				    STR_SHORT(name->str));
	}
	return e ? e : word_list_copy(r, &list, KEY_FIELD(struct word_list, into, k));
}

/* --- env: NAME=VALUE, or a map --- */

static void warn_of_secrets(struct key_reader *r, const struct val *map)
{
	for (unsigned i = 0; i < map->map.n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		if (agent_looks_secret(p->key, p->value.str))
			doc_warn(r, p->at,
				 "'%.*s' looks like a secret, and env does not protect its value; name it in "
				 "secrets instead",
				 STR_SHORT(p->key));
	}
}

static enum err set_agent_env(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val map = *v;
	enum err e = v->kind == VAL_STR ? word_list_read_map(r, k->name, v, &map) : OK;
	if (!e)
		e = set_env(r, into, k, &map);
	if (!e)
		warn_of_secrets(r, &map);
	return e;
}

/* --- concurrency: a number, or its digits as text --- */

static enum err set_concurrency(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct key number = { k->name, KEY_NUMBER, .offset = k->offset, .least = 1, .most = AGENT_RUNS_MAX };
	struct val n = { .kind = VAL_INT, .at = v->at };
	uint64_t digits = 0;
	if (v->kind == VAL_INT)
		return keys_set(r, into, &number, v);
	if (!str_number(v->str, INT32_MAX, &digits))
		return why_set(r->why, E_INPUT, v->at, "%s must be a number", k->name);
	n.integer = (int64_t)digits;
	return keys_set(r, into, &number, &n);
}

static void write_concurrency(const void *from, const struct key *k, struct buf *out)
{
	int64_t n = *KEY_CONST_FIELD(int64_t, from, k);
	if (n != 1)
		buf_addf(out, "%lld", (long long)n);
}

/* --- active_hours: 08:00-20:00 Europe/Berlin --- */

/* Reads HH:MM as a minute of the day; 24:00 is the end of the day. */
static bool read_minute(struct str s, int16_t *ret)
{
	uint64_t hour = 0, minute = 0;
	if (s.n != 5 || s.p[2] != ':' || !str_number(str_sub(s, 0, 2), 24, &hour) ||
	    !str_number(str_from(s, 3), 59, &minute) || hour * 60 + minute > 1440)
		return false;
	*ret = (int16_t)(hour * 60 + minute);
	return true;
}

static enum err set_hours(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct agent_doc *d = into;
	struct str rest = v->str, hours = str_token(&rest), zone = str_token(&rest);
	const struct zone *found;
	if (hours.n != 11 || hours.p[5] != '-' || !read_minute(str_sub(hours, 0, 5), &d->hours.from) ||
	    !read_minute(str_from(hours, 6), &d->hours.to) || d->hours.from == d->hours.to ||
	    d->hours.from == 1440 || str_trim(rest).n)
		return why_set(
			r->why, E_INPUT, v->at,
			"%s must be two different times of day such as 08:00-20:00, and a zone if it is "
			"not the default: 08:00-20:00 Europe/Berlin",
			k->name);
	if (!zone.n)
		return OK;
	enum err e = zones_find(reader_of(r)->env->when.zones, zone, &found, r->why);
	if (e && r->why)
		r->why->at = (size_t)(zone.p - v->str.p);
	d->hours.zone = zone;
	return keys_error_in(r, v, e);
}

static void write_hours(const void *from, const struct key *k, struct buf *out)
{
	const struct agent_doc *d = from;
	(void)k;
	if (d->hours.from == d->hours.to)
		return;
	buf_addf(out, "\"%02d:%02d-%02d:%02d", d->hours.from / 60, d->hours.from % 60, d->hours.to / 60,
		 d->hours.to % 60);
	buf_addf(out, "%s%.*s\"", d->hours.zone.n ? " " : "", STR_ARG(d->hours.zone));
}

/* --- the table --- */

#define OWN(key, field, kind, setter, writer)                                                                \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .offset = IN_AGENT(field), .kinds = (kind),                \
		.set = (setter), .write = (writer)                                                           \
	}
#define TEXT(key, field)                                                                                     \
	{                                                                                                    \
		.name = (key), .type = KEY_TEXT, .offset = IN_AGENT(field)                                   \
	}
#define WORD(key, field, of, default_)                                                                       \
	{                                                                                                    \
		.name = (key), .type = KEY_WORD, .offset = IN_AGENT(field), .words = (of),                   \
		.default_value = (default_)                                                                  \
	}
#define DURATION(key, field)                                                                                 \
	{                                                                                                    \
		.name = (key), .type = KEY_DURATION, .offset = IN_AGENT(field), .least = 1,                  \
		.most = DURATION_SECONDS_MAX                                                                 \
	}

/* Every key of the specification, in the order in which they are written. */
const struct key agent_keys[] = {
	OWN("name", name, STRING, set_name, keys_write_str),
	WORD("runner", runner, agent_runner_words, AGENT_COMMAND),
	TEXT("model", model),
	OWN("command", command, COMMAND_KINDS, command_set_field, command_write_field),
	OWN("args", args, STRING | LIST, set_args, word_list_write),
	WORD("allow", allow, allow_words, AGENT_EDIT),
	TEXT("workdir", workdir),
	DURATION("timeout", timeout),
	DURATION("stall", stall),
	TEXT("mode", mode),
	OWN("toolkits", toolkits, STRING | LIST, set_toolkits, word_list_write),
	OWN("env", env, STRING | MAP, set_agent_env, keys_write_val),
	OWN("secrets", secrets, STRING | LIST, set_secrets, word_list_write),
	TEXT("account", account),
	OWN("budget", budget, STRING | MAP, set_budget, write_budget),
	OWN("concurrency", concurrency, STRING | KEY_KIND(VAL_INT), set_concurrency, write_concurrency),
	OWN("active_hours", hours, STRING, set_hours, write_hours),
	OWN("check", check, STRING | LIST, set_check, write_check),
	OWN("next_check", next_check, STRING, set_next_check, write_next_check),
	TEXT("plan", plan),
	WORD("claim", claim, claim_words, AGENT_CLAIM_NONE),
	WORD("session", session, session_words, AGENT_FRESH),
	OWN("prompt", prompt, STRING, set_prompt, keys_write_str),
	{ 0 },
};
