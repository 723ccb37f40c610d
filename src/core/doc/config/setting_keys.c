/* The table of settings, and the setters and writers of those that are lists and maps. */
#include "base/json.h"
#include "core/doc/command.h"
#include "core/doc/config/config.h"
#include "core/doc/internal.h"
#include "core/when/civil.h"
#include "core/when/iso.h"

#define IN_CONFIG(field) offsetof(struct config, field)

/* --- calendars: {holidays: [2026-12-25, …]} --- */

/* Inserts a day so that the days stay sorted and unique, as `struct days` requires. Returns their number. */
static unsigned insert_day(int32_t *day, unsigned n, int32_t d)
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

static bool is_calendar_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!is_alpha(s.p[i]) && !is_digit(s.p[i]) && s.p[i] != '_' && s.p[i] != '-')
			return false;
	return s.n > 0 && is_alpha(s.p[0]);
}

static enum err read_calendar(struct key_reader *r, const struct val_pair *p, struct config_calendar *ret)
{
	const struct val *v = &p->value;
	if (!is_calendar_name(p->key))
		return why_set(r->why, E_INPUT, p->at,
			       "the name of a calendar must begin with a letter and can contain only "
			       "letters, digits, "
			       "'_' and '-'");
	if (v->kind != VAL_LIST)
		return keys_wrong_kind(r, "a calendar", KEY_KIND(VAL_LIST), v);
	if (v->list.n > EXCEPT_DATES_MAX)
		return why_set(r->why, E_LIMIT, v->at, "a calendar can have at most %d dates",
			       EXCEPT_DATES_MAX);
	int32_t *day = arena_alloc(r->arena, (v->list.n + 1) * sizeof *day), d = 0;
	unsigned n = 0;
	if (!day)
		return E_NOMEM;
	for (unsigned i = 0; i < v->list.n; i++) {
		enum err e = keys_read_day(r, "a date of a calendar", &v->list.item[i], &d);
		if (e)
			return e;
		n = insert_day(day, n, d);
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

static void write_calendars(const void *from, const struct key *k, struct buf *out)
{
	const struct config *c = from;
	(void)k;
	buf_addc(out, '{');
	for (unsigned i = 0; i < c->calendars; i++) {
		buf_add(out, i ? STR(",") : STR(""));
		json_write_str(out, c->calendar[i].name);
		buf_add(out, STR(":["));
		for (unsigned d = 0; d < c->calendar[i].days.n; d++) {
			char day[ISO_SIZE];
			buf_addf(out, "%s\"%.10s\"", d ? "," : "",
				 iso_format_utc(c->calendar[i].days.day[d] * DAY, day));
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
		return why_set(r->why, E_LIMIT, v->at, "allow can have at most %d items", OUT_ALLOW_MAX);
	out->allow = arena_alloc(r->arena, (v->list.n + 1) * sizeof *out->allow);
	if (!out->allow)
		return E_NOMEM;
	for (out->allowed = 0; out->allowed < v->list.n; out->allowed++) {
		const struct val *item = &v->list.item[out->allowed];
		if (item->kind != VAL_STR)
			return keys_wrong_kind(r, "an item of allow", KEY_KIND(VAL_STR), item);
		enum err e = peer_parse(item->str, &out->allow[out->allowed], r->why);
		if (keys_error_in(r, item, e))
			return e;
	}
	return OK;
}

static void write_allow(const void *from, const struct key *k, struct buf *out)
{
	const struct config_out *o = from;
	(void)k;
	for (unsigned i = 0; i < o->allowed; i++) {
		buf_addc(out, i ? ',' : '[');
		json_write_str(out, o->allow[i].text);
	}
	if (o->allowed)
		buf_addc(out, ']');
}

#define IN_OUT(field) offsetof(struct config_out, field)

static const struct key out_keys[] = {
	{ "allow", KEY_OTHER, .kinds = LIST, .set = set_allow, .write = write_allow },
	{ "ca", KEY_OTHER, .offset = IN_OUT(ca), .kinds = STRING, .set = keys_set_path,
	  .write = keys_write_str },
	{ "downgrade", KEY_BOOL, .offset = IN_OUT(downgrade) },
	{ 0 },
};

static enum err set_out(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	return keys_read(r, k->name, out_keys, &c->out, v, NULL);
}

static void write_out(const void *from, const struct key *k, struct buf *out)
{
	const struct config *c = from;
	(void)k;
	buf_addc(out, '{');
	keys_write(out_keys, &c->out, true, out);
	buf_addc(out, '}');
}

/* --- interpreters: {python: python3 -u, ruby: ruby} --- */

static enum err set_interpreters(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	enum err e = keys_check_strings(r, "an interpreter", v);
	(void)k;
	for (unsigned i = 0; i < v->map.n && !e; i++)
		if (!str_trim(v->map.pair[i].value.str).n)
			e = why_set(r->why, E_INPUT, v->map.pair[i].value.at,
				    "the command of an interpreter is empty");
	c->interpreters = *v;
	return e;
}

static void write_interpreters(const void *from, const struct key *k, struct buf *out)
{
	const struct config *c = from;
	(void)k;
	if (c->interpreters.kind == VAL_MAP)
		json_write(out, &c->interpreters);
	else
		buf_add(out, STR("{}"));
}

/* --- secrets: {NAME: {file: /path}, OTHER: {credential: name}, THIRD: {command: …}} --- */

/* Accepts the same names as systemd: the name of a file, without a directory. */
static enum err set_credential(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	bool dots = str_eq(v->str, STR(".")) || str_eq(v->str, STR(".."));
	if (!v->str.n || dots || memchr(v->str.p, '/', v->str.n) || memchr(v->str.p, 0, v->str.n))
		return why_set(r->why, E_INPUT, v->at,
			       "%s must be the name of a credential, which is a file name without '/'",
			       k->name);
	*KEY_FIELD(struct str, into, k) = v->str;
	return OK;
}

#define IN_SECRET(field) offsetof(struct config_secret, field)

static const struct key secret_keys[] = {
	{ "file", KEY_OTHER, .offset = IN_SECRET(file), .kinds = STRING, .set = keys_set_path,
	  .write = keys_write_str },
	{ "credential", KEY_OTHER, .offset = IN_SECRET(credential), .kinds = STRING, .set = set_credential,
	  .write = keys_write_str },
	{ "command", KEY_OTHER, .offset = IN_SECRET(command), .kinds = COMMAND_KINDS,
	  .set = command_set_field, .write = command_write_field },
	{ 0 },
};

static bool is_secret_name(struct str s)
{
	return doc_is_variable_name(s) && s.n <= FETCH_NAME_MAX && !str_starts(s, STR("ROTA_"));
}

static enum err read_secret(struct key_reader *r, const struct val_pair *p, struct config_secret *ret)
{
	*ret = (struct config_secret){ .name = p->key };
	if (!is_secret_name(p->key))
		return why_set(
			r->why, E_INPUT, p->at,
			"the name of a secret must be the name of a variable: at most %d letters, digits and "
			"'_', not beginning with a digit or with ROTA_",
			FETCH_NAME_MAX);
	if (p->value.kind != VAL_MAP)
		return keys_wrong_kind(r, "a secret", KEY_KIND(VAL_MAP), &p->value);
	enum err e = keys_read(r, "a secret", secret_keys, ret, &p->value, NULL);
	if (!e && p->value.map.n != 1)
		e = why_set(r->why, E_INPUT, p->at,
			    "a secret needs exactly one of the keys file, credential and command");
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

/* Writes where the values are; the values are not known here. */
static void write_secrets(const void *from, const struct key *k, struct buf *out)
{
	const struct config *c = from;
	(void)k;
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

/* --- pass_env: all, or [SSH_AUTH_SOCK, AWS_*] --- */

static bool is_name_or_beginning(struct str s)
{
	if (s.n && s.p[s.n - 1] == '*')
		s.n--;
	return doc_is_variable_name(s);
}

static enum err set_pass_env(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config_pass_env *p = KEY_FIELD(struct config_pass_env, into, k);
	*p = (struct config_pass_env){ .all = v->kind == VAL_STR };
	if (p->all && !str_eq(v->str, STR("all")))
		return why_set(
			r->why, E_INPUT, v->at,
			"%s must be 'all' or a list of names of variables, such as [SSH_AUTH_SOCK, AWS_*]",
			k->name);
	if (p->all)
		return OK;
	p->name = arena_alloc(r->arena, (v->list.n + 1) * sizeof *p->name);
	if (!p->name)
		return E_NOMEM;
	for (; p->names < v->list.n; p->names++) {
		const struct val *item = &v->list.item[p->names];
		if (item->kind != VAL_STR)
			return keys_wrong_kind(r, "an item of pass_env", STRING, item);
		if (!is_name_or_beginning(item->str))
			return why_set(r->why, E_INPUT, item->at,
				       "'%.*s' is not the name of a variable; names can end with '*'",
				       STR_SHORT(item->str));
		p->name[p->names] = item->str;
	}
	return OK;
}

static void write_pass_env(const void *from, const struct key *k, struct buf *out)
{
	const struct config_pass_env *p = KEY_CONST_FIELD(struct config_pass_env, from, k);
	if (p->all)
		json_write_str(out, STR("all"));
	else if (p->names)
		keys_write_strs(p->name, p->names, out);
	else
		buf_add(out, STR("[]"));
}

/* --- notify: {events: […], to: […]} --- */

static enum err set_notify(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	struct config *c = into;
	(void)k;
	c->has_notify = true;
	return notify_read(r, v, &c->notify);
}

static void write_notify(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	notify_show(&((const struct config *)from)->notify, out);
}

/* --- events: [{url: …, types: [run:*]}] --- */

static enum err set_events(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	(void)k;
	return events_read(r, v, &((struct config *)into)->events);
}

static void write_events(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	events_show(&((const struct config *)from)->events, out);
}

/* --- hooks: {before:schedule:trigger: {command: …}, before:schedule:create: {command: …}} --- */

/* The run that makes the change waits for the answer, as long as the command line does. */
static enum err set_create_hook(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	const struct val *timeout = val_get(v, STR("timeout"));
	enum err e = set_hook(r, into, k, v);
	if (!e && KEY_FIELD(struct doc_hook, into, k)->timeout > CREATE_HOOK_SECONDS_MAX)
		e = why_set(r->why, E_INPUT, timeout ? timeout->at : v->at,
			    "the timeout of %s can be at most %ds: the run that creates the schedule waits "
			    "for it",
			    k->name, CREATE_HOOK_SECONDS_MAX);
	return e;
}

static const struct key hooks_keys[] = {
	{ DOC_TRIGGER_HOOK, KEY_OTHER, .offset = offsetof(struct config_hooks, trigger), .kinds = MAP,
	  .set = set_hook, .write = write_hook },
	{ DOC_CREATE_HOOK, KEY_OTHER, .offset = offsetof(struct config_hooks, create), .kinds = MAP,
	  .set = set_create_hook, .write = write_hook },
	{ 0 },
};

static enum err set_config_hooks(struct key_reader *r, void *into, const struct key *k, const struct val *v)
{
	return keys_read(r, k->name, hooks_keys, &((struct config *)into)->hooks, v, NULL);
}

static void write_config_hooks(const void *from, const struct key *k, struct buf *out)
{
	(void)k;
	buf_addc(out, '{');
	keys_write(hooks_keys, &((const struct config *)from)->hooks, true, out);
	buf_addc(out, '}');
}

/* --- the table of settings --- */

#define KIB INT64_C(1024)
#define TEXT(setting, field)                                                                                 \
	{                                                                                                    \
		.name = (setting), .type = KEY_TEXT, .offset = IN_CONFIG(field)                              \
	}
#define VALUE(setting, field, kind, from, upto, default_)                                                    \
	{                                                                                                    \
		.name = (setting), .type = (kind), .offset = IN_CONFIG(field), .least = (from),              \
		.most = (upto), .default_value = (default_)                                                  \
	}
#define TIMEOUT(setting, field, default_)                                                                    \
	VALUE(setting, field, KEY_DURATION, 1, DURATION_SECONDS_MAX, default_)
#define DAYS(setting, field, default_) VALUE(setting, field, KEY_NUMBER, 1, 36500, default_)

#define MAP_SETTING(setting, setter, writer)                                                                 \
	{                                                                                                    \
		.name = (setting), .type = KEY_OTHER, .kinds = MAP, .set = (setter), .write = (writer)       \
	}

const struct setting config_settings[] = {
	{ TEXT("data", data), "ROTA_DATA", "directory of the store and of the run files" },
	{ TEXT("socket", socket), "ROTA_SOCKET", "socket on which the daemon serves clients" },
	{ TEXT("timezone", timezone), "ROTA_TIMEZONE", "time zone of schedules that name none" },
	{ TEXT("default_agent", default_agent), "ROTA_DEFAULT_AGENT", "agent for turns that name none" },
	{ VALUE("slots", slots, KEY_NUMBER, 1, 100000, 16), "ROTA_SLOTS", "most runs at the same time" },
	{ VALUE("catch_up_per_second", catch_up_per_second, KEY_NUMBER, 1, 100000, 50),
	  "ROTA_CATCH_UP_PER_SECOND", "most missed runs started per second" },
	{ TIMEOUT("timeout_command", timeout_command, 3600), "ROTA_TIMEOUT_COMMAND",
	  "default timeout of commands" },
	{ TIMEOUT("timeout_agent", timeout_agent, 900), "ROTA_TIMEOUT_AGENT",
	  "default timeout of agent turns, mission tasks and workflow components" },
	{ TIMEOUT("timeout_request", timeout_request, 30), "ROTA_TIMEOUT_REQUEST",
	  "timeout of webhooks, hooks and checks" },
	{ VALUE("log_head", log_head, KEY_SIZE, 0, 1 << 30, KIB *KIB), "ROTA_LOG_HEAD",
	  "bytes kept of the beginning of a run's output" },
	{ VALUE("log_tail", log_tail, KEY_SIZE, 64 * KIB, 1 << 30, 4 * KIB * KIB), "ROTA_LOG_TAIL",
	  "bytes kept of the end of a run's output" },
	{ DAYS("kept_runs_days", kept_runs_days, 90), "ROTA_KEPT_RUNS_DAYS",
	  "days for which records of runs are kept" },
	{ DAYS("kept_events_days", kept_events_days, 30), "ROTA_KEPT_EVENTS_DAYS",
	  "days for which events are kept; no effect yet" },
	{ DAYS("kept_logs_days", kept_logs_days, 30), "ROTA_KEPT_LOGS_DAYS", "days for which logs are kept" },
	{ VALUE("kept_logs", kept_logs, KEY_SIZE, KIB *KIB, INT64_C(1) << 50, 5 * KIB * KIB * KIB),
	  "ROTA_KEPT_LOGS", "size of all logs; beyond it the oldest are removed" },
	{ VALUE("kept_every", kept_every, KEY_DURATION, 1, 86400, 3600), "ROTA_KEPT_EVERY",
	  "interval at which old records and logs are removed" },
	{ MAP_SETTING("calendars", set_calendars, write_calendars), NULL, "named lists of dates for EXCEPT" },
	{ MAP_SETTING("out", set_out, write_out), NULL, "private addresses that requests may be sent to" },
	{ MAP_SETTING("secrets", set_secrets, write_secrets), NULL, "secrets of agents, and where they are" },
	{ { .name = "pass_env",
	    .type = KEY_OTHER,
	    .offset = IN_CONFIG(pass_env),
	    .kinds = STRING | LIST,
	    .set = set_pass_env,
	    .write = write_pass_env },
	  NULL,
	  "variables of the daemon that runs get, besides the usual ones" },
	{ MAP_SETTING("interpreters", set_interpreters, write_interpreters), NULL,
	  "commands that execute the source blocks of workflows, by language" },
	{ MAP_SETTING("notify", set_notify, write_notify), NULL,
	  "targets for problems, and for schedules that name none" },
	{ { .name = "events", .type = KEY_OTHER, .kinds = LIST, .set = set_events, .write = write_events },
	  NULL,
	  "webhooks that get events" },
	{ MAP_SETTING("hooks", set_config_hooks, write_config_hooks), NULL,
	  "programs that may cancel a run, or a schedule that a run creates" },
	/* Settings of the specification that this version does not support. */
	{ { .name = "listen", .unsupported = true } },
	{ { .name = "store", .unsupported = true } },
	{ { .name = "default_runner", .unsupported = true } },
	{ { .name = NULL } },
};
static_assert(ARRAY_LEN(config_settings) <= CONFIG_SETTINGS_MAX, "room for every setting's source");
