#include "core/doc/config/config.h"
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/text_position.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

#include <stdio.h>

#define IN_CONFIG(field) offsetof(struct config, field)

/* --- calendars: {holidays: [2026-12-25, …]} --- */

static enum err read_day(struct key_reader *r, const struct val *v, int32_t *ret)
{
	struct iso t;
	if (v->kind != VAL_STR)
		return keys_wrong(r, "a date of a calendar", KEY_KIND(VAL_STR), v);
	enum err e = iso_parse(v->str, &t, r->why);
	if (!e && t.has_time)
		e = why_set(r->why, E_INPUT, 0, "a calendar has whole days such as 2026-12-25");
	if (e && r->why)
		r->why->at = inside(r->source, v, r->why->at);
	if (!e)
		*ret = (int32_t)floor_div(t.local, DAY);
	return e;
}

/* Ascending and without doubles, as `struct days` wants them. */
static unsigned insert(int32_t *day, unsigned n, int32_t d)
{
	unsigned at = n;
	while (at > 0 && day[at - 1] >= d)
		at--;
	if (at < n && day[at] == d)
		return n;
	memmove(day + at + 1, day + at, (n - at) * sizeof *day);
	day[at] = d;
	return n + 1;
}

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n > 0 && is_alpha(s.p[0]);
}

static enum err read_calendar(struct key_reader *r, const struct val_pair *p, struct config_calendar *ret)
{
	const struct val *v = &p->value;
	if (!is_name(p->key))
		return why_set(
			r->why, E_INPUT, p->at,
			"a calendar's name begins with a letter and has letters, digits, '_' and '-' only");
	if (v->kind != VAL_LIST)
		return keys_wrong(r, "a calendar", KEY_KIND(VAL_LIST), v);
	if (v->list.n > EXCEPT_DATES_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a calendar has at most %d dates", EXCEPT_DATES_MAX);
	int32_t *day = arena_alloc(r->arena, (v->list.n + 1) * sizeof *day), d = 0;
	unsigned n = 0;
	if (!day)
		return E_NOMEM;
	for (unsigned i = 0; i < v->list.n; i++) {
		enum err e = read_day(r, &v->list.item[i], &d);
		if (e)
			return e;
		n = insert(day, n, d);
	}
	*ret = (struct config_calendar){ p->key, { day, n } };
	return OK;
}

static enum err set_calendars(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	enum err e = OK;
	(void)k;
	c->calendar = arena_alloc(r->arena, (v->map.n + 1) * sizeof *c->calendar);
	if (!c->calendar)
		return E_NOMEM;
	for (c->calendars = 0; c->calendars < v->map.n && !e; c->calendars++)
		e = read_calendar(r, &v->map.pair[c->calendars], &c->calendar[c->calendars]);
	return e;
}

static void write_calendars(const void *from, struct buf *out)
{
	const struct config *c = from;
	buf_addc(out, '{');
	for (unsigned i = 0; i < c->calendars; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, c->calendar[i].name);
		buf_add(out, STR(":["));
		for (unsigned k = 0; k < c->calendar[i].days.n; k++) {
			char day[ISO_SIZE];
			buf_addf(out, "%s\"%.10s\"", k ? "," : "",
				 iso_format_utc(c->calendar[i].days.day[k] * DAY, day));
		}
		buf_addc(out, ']');
	}
	buf_addc(out, '}');
}

static bool find_calendar(void *self, struct str name, struct days *ret)
{
	const struct config *c = self;
	for (unsigned i = 0; i < c->calendars; i++)
		if (str_eq(name, c->calendar[i].name)) {
			*ret = c->calendar[i].days;
			return true;
		}
	return false;
}

struct calendars config_calendars(struct config *c)
{
	return (struct calendars){ find_calendar, c };
}

/* --- out: {allow: [10.0.0.0/8, hooks.example.org], ca: /path, downgrade: true} --- */

static enum err set_allow(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_out *out = into;
	(void)k;
	if (v->list.n > OUT_ALLOW_MAX)
		return why_set(r->why, E_LIMIT, v->at, "allow has at most %d entries", OUT_ALLOW_MAX);
	out->allow = arena_alloc(r->arena, (v->list.n + 1) * sizeof *out->allow);
	if (!out->allow)
		return E_NOMEM;
	for (out->allowed = 0; out->allowed < v->list.n; out->allowed++) {
		const struct val *item = &v->list.item[out->allowed];
		if (item->kind != VAL_STR)
			return keys_wrong(r, "an entry of allow", KEY_KIND(VAL_STR), item);
		enum err e = peer_parse(item->str, &out->allow[out->allowed], r->why);
		if (e && r->why)
			r->why->at = inside(r->source, item, r->why->at);
		if (e)
			return e;
	}
	return OK;
}

static void write_allow(const void *from, struct buf *out)
{
	const struct config_out *o = from;
	for (unsigned i = 0; i < o->allowed; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, o->allow[i].text);
	}
	if (o->allowed)
		buf_addc(out, ']');
}

static enum err set_ca(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_out *out = into;
	if (!str_starts(v->str, STR("/")))
		return why_set(r->why, E_INPUT, v->at, "%s must be an absolute path", k->name);
	out->ca = v->str;
	return OK;
}

static void write_ca(const void *from, struct buf *out)
{
	const struct config_out *o = from;
	if (o->ca.n)
		json_write_str(out, o->ca);
}

static const struct key out_keys[] = {
	{ "allow", KEY_OTHER, .kinds = KEY_KIND(VAL_LIST), .set = set_allow, .write = write_allow },
	{ "ca", KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_ca, .write = write_ca },
	{ "downgrade", KEY_BOOL, .to = offsetof(struct config_out, downgrade) },
	{ 0 },
};

static enum err set_out(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	return keys_read(r, k->name, out_keys, &c->out, v, NULL);
}

static void write_out(const void *from, struct buf *out)
{
	const struct config *c = from;
	buf_addc(out, '{');
	keys_write(out_keys, &c->out, true, out);
	buf_addc(out, '}');
}

/* --- secrets: {NAME: {file: /path}, OTHER: {credential: name}, THIRD: {command: …}} --- */

static bool is_variable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && s.p[i] != '_' && (!i || !is_digit(s.p[i])))
			return false;
	return s.n > 0 && s.n <= FETCH_NAME_MAX && !str_starts(s, STR("ROTA_"));
}

static enum err set_file(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_secret *s = into;
	if (!str_starts(v->str, STR("/")) || memchr(v->str.p, 0, v->str.n))
		return why_set(r->why, E_INPUT, v->at, "%s must be an absolute path", k->name);
	s->file = v->str;
	return OK;
}

/* Of a file in a directory: systemd allows the same. */
static enum err set_credential(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_secret *s = into;
	bool dots = str_eq(v->str, STR(".")) || str_eq(v->str, STR(".."));
	if (!v->str.n || dots || memchr(v->str.p, '/', v->str.n) || memchr(v->str.p, 0, v->str.n))
		return why_set(r->why, E_INPUT, v->at, "%s must be the name of a credential", k->name);
	s->credential = v->str;
	return OK;
}

static void write_file(const void *from, struct buf *out)
{
	const struct config_secret *s = from;
	if (s->file.n)
		json_write_str(out, s->file);
}

static void write_credential(const void *from, struct buf *out)
{
	const struct config_secret *s = from;
	if (s->credential.n)
		json_write_str(out, s->credential);
}

static void write_secret_command(const void *from, struct buf *out)
{
	command_write(&((const struct config_secret *)from)->command, out);
}

static const struct key secret_keys[] = {
	{ "file", KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_file, .write = write_file },
	{ "credential", KEY_OTHER, .kinds = KEY_KIND(VAL_STR), .set = set_credential,
	  .write = write_credential },
	{ "command", KEY_OTHER, .to = offsetof(struct config_secret, command), .kinds = COMMAND_KINDS,
	  .set = command_set, .write = write_secret_command },
	{ 0 },
};

static enum err read_secret(struct key_reader *r, const struct val_pair *p, struct config_secret *ret)
{
	*ret = (struct config_secret){ .name = p->key };
	if (!is_variable(p->key))
		return why_set(
			r->why, E_INPUT, p->at,
			"the name of a secret is that of a variable: letters, digits and '_', at most %d of "
			"them, and not ROTA_…",
			FETCH_NAME_MAX);
	if (p->value.kind != VAL_MAP)
		return keys_wrong(r, "a secret", KEY_KIND(VAL_MAP), &p->value);
	enum err e = keys_read(r, "a secret", secret_keys, ret, &p->value, NULL);
	if (!e && p->value.map.n != 1)
		e = why_set(r->why, E_INPUT, p->at,
			    "a secret is in a file, in a credential or printed by a command: "
			    "one of file, credential and command");
	return e;
}

static enum err set_secrets(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	enum err e = OK;
	(void)k;
	c->secret = arena_alloc(r->arena, (v->map.n + 1) * sizeof *c->secret);
	if (!c->secret)
		return E_NOMEM;
	for (c->secrets = 0; c->secrets < v->map.n && !e; c->secrets++)
		e = read_secret(r, &v->map.pair[c->secrets], &c->secret[c->secrets]);
	return e;
}

/* Where they are; what they are nobody here knows. */
static void write_secrets(const void *from, struct buf *out)
{
	const struct config *c = from;
	buf_addc(out, '{');
	for (unsigned i = 0; i < c->secrets; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, c->secret[i].name);
		buf_add(out, STR(":{"));
		keys_write(secret_keys, &c->secret[i], true, out);
		buf_addc(out, '}');
	}
	buf_addc(out, '}');
}

/* --- notify: {events: […], to: […]}, whose secrets are not shown --- */

static enum err set_notify(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	(void)k;
	c->says_notify = true;
	return notify_read(r, v, &c->notify);
}

static void write_notify(const void *from, struct buf *out)
{
	notify_show(&((const struct config *)from)->notify, out);
}

/* --- the table of settings --- */

#define KIB INT64_C(1024)
#define TEXT(setting, field)                                                                                 \
	{                                                                                                    \
		.name = (setting), .type = KEY_TEXT, .to = IN_CONFIG(field)                                  \
	}
#define VALUE(setting, field, kind, from, upto, default_)                                                    \
	{                                                                                                    \
		.name = (setting), .type = (kind), .to = IN_CONFIG(field), .least = (from), .most = (upto),  \
		.usual = (default_)                                                                          \
	}
#define TIMEOUT(setting, field, default_)                                                                    \
	VALUE(setting, field, KEY_DURATION, 1, DURATION_SECONDS_MAX, default_)
#define DAYS(setting, field, default_) VALUE(setting, field, KEY_NUMBER, 1, 36500, default_)

const struct setting config_settings[] = {
	{ TEXT("data", data), "ROTA_DATA", "directory of the store and of the runs" },
	{ TEXT("socket", socket), "ROTA_SOCKET", "where clients find the daemon" },
	{ TEXT("timezone", timezone), "ROTA_TIMEZONE", "zone of schedules that name none" },
	{ TEXT("default_agent", default_agent), "ROTA_DEFAULT_AGENT", "who takes turns that name no agent" },
	{ VALUE("slots", slots, KEY_NUMBER, 1, 100000, 16), "ROTA_SLOTS", "runs at once in all" },
	{ VALUE("catch_up_per_second", catch_up_per_second, KEY_NUMBER, 1, 100000, 50),
	  "ROTA_CATCH_UP_PER_SECOND", "starts of missed runs in a second" },
	{ TIMEOUT("timeout_command", timeout_command, 3600), "ROTA_TIMEOUT_COMMAND", "of commands" },
	{ TIMEOUT("timeout_agent", timeout_agent, 900), "ROTA_TIMEOUT_AGENT",
	  "of agent turns, mission tasks and workflow components" },
	{ TIMEOUT("timeout_request", timeout_request, 30), "ROTA_TIMEOUT_REQUEST",
	  "of webhooks, hooks and checks" },
	{ VALUE("log_head", log_head, KEY_SIZE, 0, 1 << 30, KIB *KIB), "ROTA_LOG_HEAD",
	  "kept of the beginning of a run's output" },
	{ VALUE("log_tail", log_tail, KEY_SIZE, 64 * KIB, 1 << 30, 4 * KIB * KIB), "ROTA_LOG_TAIL",
	  "kept of the end of a run's output" },
	{ DAYS("kept_runs_days", kept_runs_days, 90), "ROTA_KEPT_RUNS_DAYS",
	  "how long records of runs are kept" },
	{ DAYS("kept_events_days", kept_events_days, 30), "ROTA_KEPT_EVENTS_DAYS",
	  "how long events are kept" },
	{ DAYS("kept_logs_days", kept_logs_days, 30), "ROTA_KEPT_LOGS_DAYS", "how long logs are kept" },
	{ VALUE("kept_logs", kept_logs, KEY_SIZE, KIB *KIB, INT64_C(1) << 50, 5 * KIB * KIB * KIB),
	  "ROTA_KEPT_LOGS", "size of all logs beyond which the oldest go" },
	{ VALUE("kept_every", kept_every, KEY_DURATION, 1, 86400, 3600), "ROTA_KEPT_EVERY",
	  "how often is looked for what is older" },
	{ { .name = "calendars",
	    .type = KEY_OTHER,
	    .kinds = KEY_KIND(VAL_MAP),
	    .set = set_calendars,
	    .write = write_calendars },
	  NULL,
	  "named lists of dates for EXCEPT" },
	{ { .name = "out",
	    .type = KEY_OTHER,
	    .kinds = KEY_KIND(VAL_MAP),
	    .set = set_out,
	    .write = write_out },
	  NULL,
	  "where requests to the network may go" },
	{ { .name = "secrets",
	    .type = KEY_OTHER,
	    .kinds = KEY_KIND(VAL_MAP),
	    .set = set_secrets,
	    .write = write_secrets },
	  NULL,
	  "where what agents may be given by name is to be had" },
	{ { .name = "notify",
	    .type = KEY_OTHER,
	    .kinds = KEY_KIND(VAL_MAP),
	    .set = set_notify,
	    .write = write_notify },
	  NULL,
	  "who is told of what, and of every problem" },
	/* What the specification knows and this version does not. */
	{ { .name = "listen", .later = true } },
	{ { .name = "store", .later = true } },
	{ { .name = "default_runner", .later = true } },
	{ { .name = "hooks", .later = true } },
	{ { .name = NULL } },
};
static_assert(ARRAY_LEN(config_settings) <= CONFIG_SETTINGS_MAX, "room for every setting's source");

/* --- putting them together --- */

/* What a setting may be called: the names of the table in a form keys_read takes. */
static void keys_of(struct key ret[CONFIG_SETTINGS_MAX])
{
	unsigned i = 0;
	do
		ret[i] = config_settings[i].key;
	while (config_settings[i++].key.name);
}

static enum err take_file(const struct config_env *env, struct key_reader *r, struct config *c,
			  struct config_source *source)
{
	struct key keys[CONFIG_SETTINGS_MAX];
	const struct val *given[CONFIG_SETTINGS_MAX] = { 0 };
	if (!env->file || env->file->list.n == 0 || env->file->list.item[0].kind == VAL_NULL)
		return OK;
	if (env->file->list.n > 1)
		return why_set(r->why, E_INPUT, env->file->list.item[1].at,
			       "the configuration is one document, and here begins another");
	keys_of(keys);
	enum err e = keys_read(r, "the configuration", keys, c, &env->file->list.item[0], given);
	for (unsigned i = 0; i < CONFIG_SETTINGS_MAX && !e; i++)
		if (given[i])
			source[i] = (struct config_source){ CONFIG_FILE, given[i]->at };
	return e;
}

/* A text as the value it looks like: flags and variables have no types. */
static struct val value_of(const struct key *k, const char *text)
{
	struct val v = { .kind = VAL_STR, .str = str_of(text) };
	uint64_t n;
	bool numeric = k->type == KEY_NUMBER || k->type == KEY_SIZE;
	if (numeric && str_number(v.str, INT64_MAX, &n)) {
		v.kind = VAL_INT;
		v.integer = (int64_t)n;
	} else if (k->type == KEY_BOOL && (str_eq(v.str, STR("true")) || str_eq(v.str, STR("false")))) {
		v.kind = VAL_BOOL;
		v.boolean = text[0] == 't';
	}
	return v;
}

static enum err take_text(struct key_reader *r, struct config *c, const struct setting *s, const char *text,
			  const char *name)
{
	struct val v = value_of(&s->key, text);
	struct why inner = { 0 };
	struct key_reader one = { str_of(text), r->arena, &inner, NULL };
	enum err e = keys_set(&one, c, &s->key, &v);
	if (e && e != E_NOMEM)
		return why_set(r->why, e, WHY_NOWHERE, "%s: %s", name, inner.text);
	return e;
}

static const char *flag_name(const char *name, char ret[64])
{
	snprintf(ret, 64, "--%s", name);
	for (char *p = ret; (p = strchr(p, '_'));)
		*p = '-';
	return ret;
}

/* The paths are the machine's: $XDG_DATA_HOME/rota or below $HOME, $XDG_RUNTIME_DIR/rota or the data
 * directory. */
static const char *directory(const struct config_env *env, const char *name)
{
	const char *path = env->variable(env->self, name);
	return path && path[0] == '/' ? path : NULL; /* a relative one is to be ignored, says XDG */
}

static enum err take_default_paths(const struct config_env *env, struct arena *a, struct config *c,
				   struct why *why)
{
	const char *home = directory(env, "HOME"), *share = directory(env, "XDG_DATA_HOME"),
		   *runtime = directory(env, "XDG_RUNTIME_DIR");
	char *path = NULL;
	if (!c->data.n) {
		if (!share && !home)
			return why_set(
				why, E_INPUT, WHY_NOWHERE,
				"no data directory: neither data, ROTA_DATA, XDG_DATA_HOME nor HOME is set");
		path = share ? arena_printf(a, "%s/rota", share)
			     : arena_printf(a, "%s/.local/share/rota", home);
		if (!path)
			return E_NOMEM;
		c->data = str_of(path);
	}
	if (!c->socket.n) {
		path = runtime ? arena_printf(a, "%s/rota/rota.sock", runtime)
			       : arena_printf(a, "%.*s/rota.sock", STR_ARG(c->data));
		if (!path)
			return E_NOMEM;
		c->socket = str_of(path);
	}
	if (!c->timezone.n)
		c->timezone = STR("UTC");
	return OK;
}

/* What only shows when it is known where a value came from. */
static enum err check_value(const struct config_env *env, const struct config *c,
			    const struct config_source *source, unsigned i, struct why *why)
{
	const struct setting *s = &config_settings[i];
	size_t at = source[i].origin == CONFIG_FILE ? source[i].at : WHY_NOWHERE;
	struct why inner = { 0 };
	const struct zone *zone;
	bool path = s->key.to == IN_CONFIG(data) || s->key.to == IN_CONFIG(socket);
	if (s->key.later || s->key.type != KEY_TEXT)
		return OK;
	struct str v = *(const struct str *)(const void *)((const char *)c + s->key.to);
	for (size_t k = 0; k < v.n; k++)
		if ((unsigned char)v.p[k] < 32 || v.p[k] == 127)
			return why_set(why, E_INPUT, at, "%s has a control character in it", s->key.name);
	if (path && !str_starts(v, STR("/")))
		return why_set(why, E_INPUT, at, "%s must be an absolute path, not '%.*s'", s->key.name,
			       STR_SHORT(v));
	if (s->key.to == IN_CONFIG(timezone) && zones_find(env->zones, v, &zone, &inner) != OK)
		return why_set(why, E_INPUT, at, "%s: %s", s->key.name, inner.text);
	return OK;
}

enum err config_read(const struct config_env *env, struct arena *a, struct config *ret,
		     struct config_source source[CONFIG_SETTINGS_MAX], struct why *why)
{
	struct config c = { 0 };
	struct key_reader r = { env->text, a, why, NULL };
	memset(source, 0, CONFIG_SETTINGS_MAX * sizeof *source);
	for (const struct setting *s = config_settings; s->key.name; s++)
		if (!s->key.later)
			keys_default(&s->key, &c);
	enum err e = take_file(env, &r, &c, source);
	for (unsigned i = 0; config_settings[i].key.name && !e; i++) {
		const struct setting *s = &config_settings[i];
		char flag[64];
		const char *text;
		if (!s->variable)
			continue;
		if ((text = env->flag(env->self, s->key.name))) {
			e = take_text(&r, &c, s, text, flag_name(s->key.name, flag));
			source[i].origin = CONFIG_FLAG;
		} else if ((text = env->variable(env->self, s->variable)) && text[0]) {
			e = take_text(&r, &c, s, text, s->variable);
			source[i].origin = CONFIG_ENVIRONMENT;
		}
	}
	if (!e)
		e = take_default_paths(env, a, &c, why);
	for (unsigned i = 0; config_settings[i].key.name && !e; i++)
		e = check_value(env, &c, source, i, why);
	if (!e)
		*ret = c;
	return e;
}

void config_defaults(const struct config *c, struct doc_env *ret)
{
	ret->timeout[DOC_COMMAND] = c->timeout_command;
	ret->timeout[DOC_AGENT_TURN] = c->timeout_agent;
	ret->timeout[DOC_WEBHOOK] = c->timeout_request;
	ret->timeout[DOC_EVENT] = 0;
	ret->default_agent = c->default_agent;
}
