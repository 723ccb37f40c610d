/* The configuration: precedence of its sources, its settings and their errors. */
#include "core/doc/config/config.h"
#include "host/yaml.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;
static struct config c;
static struct config_source from[CONFIG_SETTINGS_MAX];

/* Rows "NAME=value" that end with NULL. */
struct given {
	const char *const *variables, *const *flags;
};

static const char *find_row(const char *const *rows, const char *name)
{
	for (; rows && *rows; rows++)
		if (str_starts(str_of(*rows), str_of(name)) && (*rows)[strlen(name)] == '=')
			return *rows + strlen(name) + 1;
	return NULL;
}

static const char *variable(void *self, const char *name)
{
	return find_row(((struct given *)self)->variables, name);
}

static const char *flag(void *self, const char *name)
{
	return find_row(((struct given *)self)->flags, name);
}

#define ROWS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static enum err read(const char *file, const char *const *variables, const char *const *flags)
{
	struct given g = { variables, flags };
	struct val documents;
	arena_reset(&arena);
	why = (struct why){ 0 };
	if (file && yaml_read(str_of(file), &arena, &documents, &why) != OK)
		return E_IO;
	struct config_env env = { variable,    flag, &g, str_of(file ? file : ""), file ? &documents : NULL,
				  test_zones() };
	return config_read(&env, &arena, &c, from, &why);
}

static unsigned index_of(const char *name)
{
	unsigned i = 0;
	while (strcmp(config_settings[i].key.name, name) != 0)
		i++;
	return i;
}

TEST(defaults)
{
	CHECK_INT(read(NULL, ROWS("HOME=/home/u"), NULL), OK);
	CHECK(str_eq(c.data, STR("/home/u/.local/share/rota")));
	CHECK(str_eq(c.socket, STR("/home/u/.local/share/rota/rota.sock")));
	CHECK(str_eq(c.timezone, STR("UTC")));
	CHECK(c.slots == 16 && c.catch_up_per_second == 50);
	CHECK(c.timeout_command == 3600 && c.timeout_agent == 900 && c.timeout_request == 30);
	CHECK(c.kept_runs_days == 90 && c.kept_events_days == 30 && c.kept_logs_days == 30);
	CHECK_INT(c.kept_logs, INT64_C(5) << 30);
	CHECK(c.log_head == 1 << 20 && c.log_tail == 4 << 20);
	CHECK_INT(read(NULL, ROWS("HOME=/home/u", "XDG_DATA_HOME=/d", "XDG_RUNTIME_DIR=/run/user/1"), NULL),
		  OK);
	CHECK(str_eq(c.data, STR("/d/rota")) && str_eq(c.socket, STR("/run/user/1/rota/rota.sock")));
	CHECK_INT(read(NULL, ROWS("HOME=/home/u", "XDG_DATA_HOME=relative", "XDG_RUNTIME_DIR="), NULL), OK);
	CHECK(str_eq(c.data, STR("/home/u/.local/share/rota")));
	CHECK_INT(read(NULL, NULL, NULL), E_INPUT);
}

TEST(flags_override_environment_and_file)
{
	static const char file[] =
		"slots: 2\ndata: /file\ntimezone: Europe/Berlin\nkept_logs: 2GiB\ntimeout_command: 90\n";
	CHECK_INT(read(file, ROWS("HOME=/h"), NULL), OK);
	CHECK(c.slots == 2 && str_eq(c.data, STR("/file")) && str_eq(c.timezone, STR("Europe/Berlin")));
	CHECK(c.kept_logs == INT64_C(2) << 30 && c.timeout_command == 90);
	CHECK(str_eq(c.socket, STR("/file/rota.sock")));
	CHECK_INT(from[index_of("slots")].origin, CONFIG_FILE);
	CHECK_INT(place_of(str_of(file), from[index_of("data")].at).line, 2);
	CHECK_INT(from[index_of("socket")].origin, CONFIG_DEFAULT);
	CHECK_INT(read(file, ROWS("HOME=/h", "ROTA_SLOTS=3", "ROTA_DATA=/env", "ROTA_KEPT_LOGS=10MiB"), NULL),
		  OK);
	CHECK(c.slots == 3 && str_eq(c.data, STR("/env")) && c.kept_logs == 10 << 20);
	CHECK_INT(from[index_of("slots")].origin, CONFIG_ENVIRONMENT);
	CHECK_INT(read(file, ROWS("HOME=/h", "ROTA_SLOTS=3", "ROTA_DATA="), ROWS("slots=4")), OK);
	CHECK(c.slots == 4 && str_eq(c.data, STR("/file")));
	CHECK_INT(from[index_of("slots")].origin, CONFIG_FLAG);
	CHECK_INT(from[index_of("data")].origin, CONFIG_FILE);
}

TEST(calendars)
{
	struct days days;
	CHECK_INT(read("calendars:\n  holidays: [2026-12-26, 2026-12-25, 2026-12-26]\n  none: []\n",
		       ROWS("HOME=/h"), NULL),
		  OK);
	struct calendars cal = config_calendars(&c);
	CHECK(cal.find(cal.self, STR("holidays"), &days));
	CHECK(days.n == 2 && days.day[0] == 20812 && days.day[1] == 20813);
	CHECK(cal.find(cal.self, STR("none"), &days) && days.n == 0);
	CHECK(!cal.find(cal.self, STR("other"), &days));
}

TEST(notify)
{
	struct buf text = { 0 };
	CHECK_INT(read("slots: 2\n", ROWS("HOME=/h"), NULL), OK);
	CHECK(!c.has_notify && !c.notify.targets);
	CHECK_INT(read("notify: {to: [{type: webhook, url: 'https://x.org/y', secret: whsec_abc}, {type: "
		       "desktop}]}\n",
		       ROWS("HOME=/h"), NULL),
		  OK);
	CHECK(c.has_notify && c.notify.targets == 2 && c.notify.events == (1u << NOTIFY_EVENTS) - 1);
	notify_show(&c.notify, &text);
	CHECK_STR(buf_str(&text).p,
		  "{\"events\":[\"success\",\"failure\",\"missed\",\"recovered\",\"problem\"],"
		  "\"to\":[\"webhook at https://x.org\",\"desktop\"]}");
	buf_free(&text);
	CHECK_INT(read("notify: {events: [failure, problem], to: [{type: command, command: [mail, me]}]}\n",
		       ROWS("HOME=/h"), NULL),
		  OK);
	CHECK(c.notify.events == (1u << NOTIFY_FAILURE | 1u << NOTIFY_PROBLEM));
	notify_write(&c.notify, &text);
	CHECK_STR(buf_str(&text).p, "{\"events\":[\"failure\",\"problem\"],\"to\":[{\"type\":\"command\","
				    "\"command\":[\"mail\",\"me\"]}]}");
	buf_free(&text);
	static const struct {
		const char *in, *want;
	} bad[] = {
		{ "notify: {events: [failures]}\n",
		  "event 'failures' is not known; allowed are success, failure, missed, recovered, problem" },
		{ "notify: {events: [1]}\n",
		  "an item of events must be a string, not an integer; put text in quotes" },
		{ "notify: {to: [{type: pigeon}]}\n",
		  "type 'pigeon' of a target is not known; allowed are webhook, command, desktop, event" },
		{ "notify: {for: []}\n", NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CHECK_INT(read(bad[i].in, ROWS("HOME=/h"), NULL), E_INPUT);
		if (bad[i].want)
			CHECK_STR(why.text, bad[i].want);
	}
}

TEST(out)
{
	CHECK_INT(read(NULL, ROWS("HOME=/h"), NULL), OK);
	CHECK(c.out.allowed == 0 && !c.out.ca.n && !c.out.downgrade);
	CHECK_INT(
		read("out:\n  allow: [10.0.0.0/8, '::1', hooks.lan]\n  ca: /etc/ca.pem\n  downgrade: true\n",
		     ROWS("HOME=/h"), NULL),
		OK);
	CHECK(c.out.allowed == 3 && !c.out.allow[0].named && c.out.allow[2].named);
	CHECK(c.out.allow[0].net.bits == 96 + 8 && str_eq(c.out.allow[2].text, STR("hooks.lan")));
	CHECK(str_eq(c.out.ca, STR("/etc/ca.pem")) && c.out.downgrade);
	struct buf out = { 0 };
	keys_json(&config_settings[index_of("out")].key, &c, &out);
	CHECK_STR(out.p, "{\"allow\":[\"10.0.0.0/8\",\"::1\",\"hooks.lan\"],\"ca\":\"/etc/"
			 "ca.pem\",\"downgrade\":true}");
	buf_free(&out);
	CHECK_INT(from[index_of("out")].origin, CONFIG_FILE);
}

TEST(secrets)
{
	CHECK_INT(read(NULL, ROWS("HOME=/h"), NULL), OK);
	CHECK(c.secrets == 0);
	CHECK_INT(read("secrets:\n  API_KEY: {file: /etc/rota/key}\n  _x9: {credential: rota.mail}\n"
		       "  LINE: {command: pass show a}\n  LIST: {command: [pass, show, a b]}\n",
		       ROWS("HOME=/h"), NULL),
		  OK);
	CHECK_INT(c.secrets, 4);
	CHECK(str_eq(c.secret[0].name, STR("API_KEY")) && str_eq(c.secret[0].file, STR("/etc/rota/key")));
	CHECK(str_eq(c.secret[1].credential, STR("rota.mail")));
	CHECK(str_eq(c.secret[2].command.shell, STR("pass show a")));
	CHECK(c.secret[3].command.argc == 3 && str_eq(c.secret[3].command.argv[2], STR("a b")));
	struct buf out = { 0 };
	keys_json(&config_settings[index_of("secrets")].key, &c, &out);
	CHECK_STR(out.p,
		  "{\"API_KEY\":{\"file\":\"/etc/rota/key\"},\"_x9\":{\"credential\":\"rota.mail\"},"
		  "\"LINE\":{\"command\":\"pass show a\"},\"LIST\":{\"command\":[\"pass\",\"show\",\"a "
		  "b\"]}}");
	buf_free(&out);
}

TEST(errors_say_what_and_where)
{
	static const struct {
		int line;
		const char *file, *variable;
		unsigned at_line, column; /* 0: no position */
		const char *text;
	} rows[] = {
		{ __LINE__, "slot: 1\n", NULL, 1, 1, "the configuration has no key 'slot' (near: slots)" },
		{ __LINE__, "colour: 1\n", NULL, 1, 1,
		  "the configuration has no key 'colour'; rota.yaml(5) lists the keys" },
		{ __LINE__, "listen: none\n", NULL, 1, 1,
		  "the key 'listen' of the configuration is not supported yet" },
		{ __LINE__, "slots: many\n", NULL, 1, 8, "slots must be an integer, not a string" },
		{ __LINE__, "slots: 0\n", NULL, 1, 8, "slots is out of range 1 to 100000" },
		{ __LINE__, "kept_logs: 5GB\n", NULL, 1, 12,
		  "'5GB' is not a size; write 64KiB, 5MiB or 2GiB" },
		{ __LINE__, "kept_logs: 5\n", NULL, 1, 12, "kept_logs is out of range 1MiB to 1048576GiB" },
		{ __LINE__, "a: 1\n---\nb: 1\n", NULL, 3, 1,
		  "the configuration must be one document; a second one begins here" },
		{ __LINE__, "- x\n", NULL, 1, 1, "the configuration must be a map, not a list" },
		{ __LINE__, "slots: 1\ntimezone: Berlin\n", NULL, 2, 11,
		  "timezone: zone 'Berlin' is not known (near: Europe/Berlin)" },
		{ __LINE__, "data: here\n", NULL, 1, 7, "data must be an absolute path, not 'here'" },
		{ __LINE__, "pass_env: some\n", NULL, 1, 11,
		  "pass_env must be 'all' or a list of names of variables, such as [SSH_AUTH_SOCK, AWS_*]" },
		{ __LINE__, "pass_env: [A B]\n", NULL, 1, 12,
		  "'A B' is not the name of a variable; names can end with '*'" },
		{ __LINE__, "pass_env: [1]\n", NULL, 1, 12,
		  "an item of pass_env must be a string, not an integer; put text in quotes" },
		{ __LINE__, "calendars: {x: 2026-12-25}\n", NULL, 1, 16,
		  "a calendar must be a list, not a string" },
		{ __LINE__, "calendars: {x: [12]}\n", NULL, 1, 17,
		  "a date of a calendar must be a string, not an integer; put text in quotes" },
		{ __LINE__, "calendars: {x: [2026-12-25 10:00]}\n", NULL, 1, 17,
		  "a date of a calendar must be a day without a time, such as 2026-12-25" },
		{ __LINE__, "calendars: {2x: []}\n", NULL, 1, 13,
		  "the name of a calendar must begin with a letter and can contain only letters, digits, '_' "
		  "and '-'" },
		{ __LINE__, "out: {allow: [10.0.0.0/40]}\n", NULL, 1, 15,
		  "'10.0.0.0/40' is neither an address, a network nor a host name; write 192.168.1.5, "
		  "10.0.0.0/8, fd00::/8 or hooks.example.org" },
		{ __LINE__, "out: {allow: [1]}\n", NULL, 1, 15,
		  "an item of allow must be a string, not an integer; put text in quotes" },
		{ __LINE__, "out: {alow: []}\n", NULL, 1, 7, "out has no key 'alow' (near: allow)" },
		{ __LINE__, "out: {ca: here}\n", NULL, 1, 11, "ca must be an absolute path, not 'here'" },
		{ __LINE__, "out: []\n", NULL, 1, 6, "out must be a map, not a list" },
		{ __LINE__, "secrets: [KEY]\n", NULL, 1, 10, "secrets must be a map, not a list" },
		{ __LINE__, "secrets: {KEY: hunter2}\n", NULL, 1, 16,
		  "a secret must be a map, not a string" },
		{ __LINE__, "secrets: {A-B: {file: /k}}\n", NULL, 1, 11,
		  "the name of a secret must be the name of a variable: at most 128 letters, digits and '_', "
		  "not beginning with a digit or with ROTA_" },
		{ __LINE__, "secrets: {ROTA_TOKEN: {file: /k}}\n", NULL, 1, 11,
		  "the name of a secret must be the name of a variable: at most 128 letters, digits and '_', "
		  "not beginning with a digit or with ROTA_" },
		{ __LINE__, "secrets: {9A: {file: /k}}\n", NULL, 1, 11,
		  "the name of a secret must be the name of a variable: at most 128 letters, digits and '_', "
		  "not beginning with a digit or with ROTA_" },
		{ __LINE__, "secrets: {A: {file: key}}\n", NULL, 1, 21,
		  "file must be an absolute path, not 'key'" },
		{ __LINE__, "secrets: {A: {value: key}}\n", NULL, 1, 15,
		  "a secret has no key 'value'; allowed keys: file, credential, command" },
		{ __LINE__, "secrets: {A: {credential: ../x}}\n", NULL, 1, 27,
		  "credential must be the name of a credential, which is a file name without '/'" },
		{ __LINE__, "secrets: {A: {}}\n", NULL, 1, 11,
		  "a secret needs exactly one of the keys file, credential and command" },
		{ __LINE__, "secrets: {A: {file: /k, command: x}}\n", NULL, 1, 11,
		  "a secret needs exactly one of the keys file, credential and command" },
		{ __LINE__, "events: {url: 'http://x'}\n", NULL, 1, 9, "events must be a list, not a map" },
		{ __LINE__, "events: [x]\n", NULL, 1, 10, "a target of events must be a map, not a string" },
		{ __LINE__, "events: [{types: [run:started]}]\n", NULL, 1, 10,
		  "a target of events needs the key 'url'" },
		{ __LINE__, "events: [{url: 'http://x', type: run}]\n", NULL, 1, 28,
		  "a target of events has no key 'type' (near: types)" },
		{ __LINE__, "events: [{url: 'http://x', types: []}]\n", NULL, 1, 35,
		  "types is empty; without it, all events are sent" },
		{ __LINE__, "events: [{url: 'http://x', types: [7]}]\n", NULL, 1, 36,
		  "an item of types must be a string, not an integer; put text in quotes" },
		{ __LINE__, "events: [{url: 'http://x', secret: abc}]\n", NULL, 1, 36,
		  "secret must be whsec_ followed by the key in base64, or the absolute path of a file that "
		  "contains it" },
		{ __LINE__, "events: [{url: 'http://x'}, {url: 'http://x'}]\n", NULL, 1, 29,
		  "two targets of events have the same url: their positions in the log could not be told "
		  "apart" },
		{ __LINE__, "hooks: []\n", NULL, 1, 8, "hooks must be a map, not a list" },
		{ __LINE__, "hooks: {after:schedule:trigger: {command: x}}\n", NULL, 1, 9,
		  "hooks has no key 'after:schedule:trigger'; allowed keys: before:schedule:trigger, "
		  "before:schedule:create" },
		{ __LINE__, "hooks: {before:schedule:create: x}\n", NULL, 1, 33,
		  "before:schedule:create must be a map, not a string" },
		{ __LINE__, "hooks: {before:schedule:create: {timeout: 3}}\n", NULL, 1, 33,
		  "a hook needs the key 'command'" },
		{ __LINE__, "hooks: {before:schedule:trigger: {command: ''}}\n", NULL, 1, 44,
		  "command is empty" },
		{ __LINE__, "hooks: {before:schedule:trigger: {command: [x], retries: 2}}\n", NULL, 1, 49,
		  "a hook has no key 'retries'; allowed keys: command, timeout, on_error" },
		{ __LINE__, "hooks: {before:schedule:trigger: {command: x, timeout: 0}}\n", NULL, 1, 56,
		  "timeout is out of range 1s to 1h" },
		{ __LINE__, "hooks: {before:schedule:trigger: {command: x, on_error: maybe}}\n", NULL, 1, 57,
		  "on_error 'maybe' is not known; allowed are cancel, proceed" },
		{ __LINE__, "hooks: {before:schedule:create: {command: x, timeout: 30}}\n", NULL, 1, 55,
		  "the timeout of before:schedule:create can be at most 20s: the run that creates the "
		  "schedule waits for it" },
		{ __LINE__, NULL, "ROTA_SLOTS=x", 0, 0,
		  "ROTA_SLOTS: slots must be an integer, not a string" },
		{ __LINE__, NULL, "ROTA_TIMEOUT_COMMAND=90", 0, 0,
		  "ROTA_TIMEOUT_COMMAND: duration 90 has no unit at its end; units are w d h m s, as in "
		  "1h30m" },
		{ __LINE__, NULL, "ROTA_TIMEZONE=Mars", 0, 0,
		  "timezone: zone 'Mars' is not known; `rota zones` lists the known ones" },
		{ __LINE__, "data: \"/a\\eb\"\n", NULL, 1, 7, "data must not contain control characters" },
		{ __LINE__, NULL, "ROTA_DATA=here", 0, 0, "data must be an absolute path, not 'here'" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		c.slots = 99;
		CHECK_INT_AT(rows[i].line, read(rows[i].file, ROWS("HOME=/h", rows[i].variable), NULL),
			     E_INPUT);
		struct place p = { 0, 0 };
		if (why.at != WHY_NOWHERE)
			p = place_of(str_of(rows[i].file ? rows[i].file : ""), why.at);
		CHECK_STR_AT(rows[i].line, why.text, rows[i].text);
		CHECK_INT_AT(rows[i].line, p.line, rows[i].at_line);
		CHECK_INT_AT(rows[i].line, p.column, rows[i].column);
		CHECK_INT_AT(rows[i].line, c.slots, 99); /* untouched */
	}
	arena_free(&arena);
}
