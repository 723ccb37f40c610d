/* The keys of an agent. Org has only text: what YAML writes as a list, a map or a number may be text, too. */
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "core/doc/agent/word_list.h"
#include "core/doc/command.h"
#include "core/doc/internal.h"
#include "core/doc/text_position.h"

#define IN_AGENT(field) offsetof(struct agent_doc, field)

const char *const agent_runner_words[AGENT_RUNNERS + 1] = {
	[AGENT_COMMAND] = "command", [AGENT_CLAUDE] = "claude",     [AGENT_CODEX] = "codex",
	[AGENT_GEMINI] = "gemini",   [AGENT_OPENCODE] = "opencode", [AGENT_GOOSE] = "goose",
	[AGENT_AIDER] = "aider",     [AGENT_CHAT] = "chat",
};
const char *const agent_allow_words[AGENT_ALLOWS + 1] = {
	[AGENT_READ] = "read",
	[AGENT_EDIT] = "edit",
	[AGENT_SHELL] = "shell",
	[AGENT_ALL] = "all",
};
const char *const agent_claim_words[AGENT_CLAIMS + 1] = {
	[AGENT_CLAIM_NONE] = "none",
	[AGENT_CLAIM_AUTO] = "auto",
};
const char *const agent_session_words[AGENT_SESSIONS + 1] = {
	[AGENT_FRESH] = "fresh",
	[AGENT_CONTINUE] = "continue",
};

/* --- name and prompt --- */

bool agent_is_name(struct str name)
{
	bool good = name.n > 0 && name.n <= DOC_ID_MAX && str_trim(name).n == name.n;
	for (size_t i = 0; i < name.n; i++)
		good &= (unsigned char)name.p[i] >= 32 && name.p[i] != 127;
	return good;
}

static enum err set_name(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	if (!agent_is_name(v->str))
		return why_set(r->why, E_INPUT, v->at, "the %s of an agent has 1 to %d characters", k->name,
			       DOC_ID_MAX);
	((struct agent_doc *)into)->name = v->str;
	return OK;
}

static void write_name(const void *from, struct buf *out)
{
	json_write_str(out, ((const struct agent_doc *)from)->name);
}

static enum err set_prompt(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct str text = str_trim(v->str);
	if (!text.n)
		return why_set(r->why, E_INPUT, v->at, "%s is empty", k->name);
	if (text.n > AGENT_PROMPT_BYTES_MAX)
		return why_set(r->why, E_LIMIT, v->at, "%s has more than %d bytes", k->name,
			       AGENT_PROMPT_BYTES_MAX);
	((struct agent_doc *)into)->prompt = text;
	return OK;
}

static void write_prompt(const void *from, struct buf *out)
{
	json_write_str(out, ((const struct agent_doc *)from)->prompt);
}

/* --- what is executed --- */

static void write_command(const void *from, struct buf *out)
{
	command_write(&((const struct agent_doc *)from)->command, out);
}

static enum err set_args(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = words_of(r, k->name, v, false, &list);
	for (unsigned i = 0; !e && i < list.list.n; i++)
		e = doc_template(r, &scope_names, &list.list.item[i]);
	return e ? e : words_take(r, &list, &((struct agent_doc *)into)->args);
}

static void write_args(const void *from, struct buf *out)
{
	words_write(&((const struct agent_doc *)from)->args, out);
}

/* --- names --- */

static enum err set_toolkits(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = words_of(r, k->name, v, true, &list);
	return e ? e : words_take(r, &list, &((struct agent_doc *)into)->toolkits);
}

static void write_toolkits(const void *from, struct buf *out)
{
	words_write(&((const struct agent_doc *)from)->toolkits, out);
}

static enum err set_secrets(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val list = { 0 };
	enum err e = words_of(r, k->name, v, true, &list);
	for (unsigned i = 0; !e && i < list.list.n; i++)
		if (!doc_is_name(list.list.item[i].str))
			e = why_set(r->why, E_INPUT, list.list.item[i].at,
				    "'%.*s' cannot be the name of a secret: letters, digits and _",
				    STR_SHORT(list.list.item[i].str));
	return e ? e : words_take(r, &list, &((struct agent_doc *)into)->secrets);
}

static void write_secrets(const void *from, struct buf *out)
{
	words_write(&((const struct agent_doc *)from)->secrets, out);
}

/* --- env: NAME=VALUE, or a map --- */

/* They are listed for whoever may look at the agent. */
static void warn_of_secrets(struct key_reader *r, const struct val *map)
{
	for (unsigned i = 0; i < map->map.n; i++) {
		const struct val_pair *p = &map->map.pair[i];
		if (agent_is_secret(p->key, p->value.str))
			doc_warn(
				r, p->at,
				"'%.*s' looks like a secret, and its value can be read by whoever sees this; "
				"name it in secrets instead",
				STR_SHORT(p->key));
	}
}

static enum err set_variables(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct val map = *v;
	enum err e = v->kind == VAL_STR ? words_map(r, k->name, v, &map) : OK;
	if (!e)
		e = set_env(r, into, k, &map);
	if (!e)
		warn_of_secrets(r, &map);
	return e;
}

static void write_env(const void *from, struct buf *out)
{
	const struct val *env = &((const struct agent_doc *)from)->env;
	if (env->kind == VAL_MAP && env->map.n)
		json_write(out, env);
}

/* --- bounds --- */

static void write_agent_budget(const void *from, struct buf *out)
{
	budget_write(&((const struct agent_doc *)from)->budget, out);
}

static void write_agent_next_check(const void *from, struct buf *out)
{
	next_check_write(&((const struct agent_doc *)from)->next_check, out);
}

static void write_agent_check(const void *from, struct buf *out)
{
	check_write(&((const struct agent_doc *)from)->check, out);
}

static enum err set_concurrency(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct key number = { k->name, KEY_NUMBER, .to = k->to, .least = 1, .most = AGENT_RUNS_MAX };
	struct val n = { .kind = VAL_INT, .at = v->at };
	uint64_t digits = 0;
	if (v->kind == VAL_INT)
		return keys_set(r, into, &number, v);
	if (!str_number(v->str, INT32_MAX, &digits))
		return why_set(r->why, E_INPUT, v->at, "%s must be a number", k->name);
	n.integer = (int64_t)digits;
	return keys_set(r, into, &number, &n);
}

static void write_concurrency(const void *from, struct buf *out)
{
	int64_t n = ((const struct agent_doc *)from)->concurrency;
	if (n != 1)
		buf_addf(out, "%lld", (long long)n);
}

/* --- active_hours: 08:00-20:00 Europe/Berlin --- */

/* HH:MM, as a minute of the day; 24:00 is its end. */
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
		return why_set(r->why, E_INPUT, v->at,
			       "%s must be two times of day such as 08:00-20:00, and a zone if it is another",
			       k->name);
	if (!zone.n)
		return OK;
	enum err e = zones_find(reader_of(r)->env->when.zones, zone, &found, r->why);
	if (e && e != E_NOMEM && r->why)
		r->why->at = inside(r->source, v, (size_t)(zone.p - v->str.p));
	d->hours.zone = zone;
	return e;
}

static void write_hours(const void *from, struct buf *out)
{
	const struct agent_doc *d = from;
	if (d->hours.from == d->hours.to)
		return;
	buf_addf(out, "\"%02d:%02d-%02d:%02d", d->hours.from / 60, d->hours.from % 60, d->hours.to / 60,
		 d->hours.to % 60);
	buf_addf(out, "%s%.*s\"", d->hours.zone.n ? " " : "", STR_ARG(d->hours.zone));
}

/* --- the table --- */

#define OWN(key, kind, setter, writer)                                                                       \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .kinds = (kind), .set = (setter), .write = (writer)        \
	}
#define SHARED(key, field, kind, setter, writer)                                                             \
	{                                                                                                    \
		.name = (key), .type = KEY_OTHER, .to = IN_AGENT(field), .kinds = (kind), .set = (setter),   \
		.write = (writer)                                                                            \
	}
#define TEXT(key, field)                                                                                     \
	{                                                                                                    \
		.name = (key), .type = KEY_TEXT, .to = IN_AGENT(field)                                       \
	}
#define WORD(key, field, of, default_)                                                                       \
	{                                                                                                    \
		.name = (key), .type = KEY_WORD, .to = IN_AGENT(field), .words = (of), .usual = (default_)   \
	}
#define SPAN(key, field)                                                                                     \
	{                                                                                                    \
		.name = (key), .type = KEY_DURATION, .to = IN_AGENT(field), .least = 1,                      \
		.most = DURATION_SECONDS_MAX                                                                 \
	}

/* Every key of the specification, in the order in which they are written. */
const struct key agent_keys[] = {
	OWN("name", STRING, set_name, write_name),
	WORD("runner", runner, agent_runner_words, AGENT_COMMAND),
	TEXT("model", model),
	SHARED("command", command, COMMAND_KINDS, command_set, write_command),
	OWN("args", STRING | LIST, set_args, write_args),
	WORD("allow", allow, agent_allow_words, AGENT_EDIT),
	TEXT("workdir", workdir),
	SPAN("timeout", timeout),
	SPAN("stall", stall),
	TEXT("mode", mode),
	OWN("toolkits", STRING | LIST, set_toolkits, write_toolkits),
	SHARED("env", env, STRING | MAP, set_variables, write_env),
	OWN("secrets", STRING | LIST, set_secrets, write_secrets),
	TEXT("account", account),
	SHARED("budget", budget, STRING | MAP, set_budget, write_agent_budget),
	SHARED("concurrency", concurrency, SECONDS, set_concurrency, write_concurrency),
	OWN("active_hours", STRING, set_hours, write_hours),
	SHARED("check", check, STRING | LIST, set_check, write_agent_check),
	SHARED("next_check", next_check, STRING, set_next_check, write_agent_next_check),
	TEXT("plan", plan),
	WORD("claim", claim, agent_claim_words, AGENT_CLAIM_NONE),
	WORD("session", session, agent_session_words, AGENT_FRESH),
	OWN("prompt", STRING, set_prompt, write_prompt),
	{ 0 },
};
