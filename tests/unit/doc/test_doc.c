/* Documents: schedules from YAML and JSON, their canonical text, warnings and rules. */
#include "base/hash.h"
#include "base/json.h"
#include "core/doc/doc.h"
#include "core/when/iso.h"
#include "host/docfile.h"
#include "port/runner.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;
static struct doc_list list;
static struct str source;

static const int32_t holidays[] = { 20812, 20813 }; /* 2026-12-25 and 26 */

static bool find_calendar(void *self, struct str name, struct days *ret)
{
	(void)self;
	*ret = (struct days){ holidays, ARRAY_LEN(holidays) };
	return str_eq(name, STR("holidays"));
}

static const struct calendars calendars = { find_calendar, NULL };

static struct doc_env env_of(bool fresh)
{
	return (struct doc_env){
		.when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
			  .zones = test_zones(),
			  .zone = test_zone("UTC"),
			  .zone_name = STR("UTC"),
			  .calendars = &calendars },
		.timeout = { [DOC_COMMAND] = 3600, [DOC_AGENT_TURN] = 900, [DOC_WEBHOOK] = 30 },
		.fresh = fresh
	};
}

static enum err read_as(const char *name, struct str text, bool fresh)
{
	struct val v;
	struct doc_env env = env_of(fresh);
	why = (struct why){ 0 };
	list = (struct doc_list){ 0 };
	source = text;
	enum err e = docfile_parse(str_of(name), text, &arena, &v, &why);
	return e ? e : doc_read(text, &v, &env, &arena, &list, &why);
}

static enum err read(const char *text)
{
	return read_as("x.yaml", str_of(text), false);
}

/* The canonical text, in the arena. */
static const char *canonical(const struct schedule_doc *d)
{
	struct buf out = { 0 };
	doc_write(d, &out);
	const char *text = arena_dup(&arena, buf_str(&out));
	buf_free(&out);
	return text;
}

#define BARE "id: x\naction: {type: command, command: 'true'}\n"

TEST(every_key_of_a_command)
{
	CHECK_INT(read("schedule:\n"
		       "  id: nightly.backup_1\n"
		       "  name: Backup\n"
		       "  description: All of it\n"
		       "  tags: [ops, night]\n"
		       "  enabled: false\n"
		       "  expression: '0 8 * * *'\n"
		       "  timezone: America/New_York\n"
		       "  window: 15m\n"
		       "  jitter: 300\n"
		       "  gap: skip\n"
		       "  fold: both\n"
		       "  start_date: 2026-06-01\n"
		       "  end_date: 2027-06-01T12:00\n"
		       "  max_runs: 7\n"
		       "  except: [2026-12-26, 2026-12-25]\n"
		       "  action: {type: command, command: [backup, --all], cwd: /srv, env: {B: '2', A: "
		       "'1'}, stdin: in}\n"
		       "  retry: {max_attempts: 3, backoff: linear, initial_delay: 90, max_delay: 10m}\n"
		       "  timeout: 300\n"
		       "  missed_schedule_policy: catch_up\n"
		       "  catch_up_limit: 5\n"
		       "  overlap: queue_one\n"
		       "  concurrency_key: disk\n"
		       "  priority: -3\n"
		       "  max_failures: 4\n"
		       "  notification: {on_success: true, on_failure: true}\n"),
		  OK);
	CHECK_INT(list.n, 1);
	const struct schedule_doc *d = &list.doc[0];
	CHECK(str_eq(d->id, STR("nightly.backup_1")) && str_eq(d->name, STR("Backup")));
	CHECK(d->tags == 2 && str_eq(d->tag[1], STR("night")));
	CHECK(!d->enabled);
	CHECK(str_eq(d->when.zone_name, STR("America/New_York")));
	CHECK_INT(d->window, 900);
	CHECK_INT(d->when.rule.jitter, 300);
	CHECK(d->when.rule.spread == hash_field(d->id, STR("jitter")));
	CHECK_INT(d->when.rule.cron.gap, GAP_SKIP);
	CHECK_INT(d->when.rule.cron.fold, FOLD_BOTH);
	CHECK_INT(d->when.rule.from, 1780286400);  /* midnight in New York */
	CHECK_INT(d->when.rule.until, 1811865600); /* noon */
	CHECK_INT(d->max_runs, 7);
	CHECK(d->when.except.n == 2 && d->when.except.day[0] == holidays[0]);
	CHECK(d->action.command.argc == 2 && str_eq(d->action.command.argv[1], STR("--all")));
	CHECK(str_eq(d->action.cwd, STR("/srv")) && str_eq(d->action.input, STR("in")));
	CHECK_INT(d->retry.count, 3);
	CHECK_INT(d->retry.backoff, BACKOFF_LINEAR);
	CHECK_INT(d->retry.delay, 90);
	CHECK_INT(d->retry.max_delay, 600);
	CHECK_INT(d->timeout, 300);
	CHECK_INT(d->missed, MISSED_CATCH_UP);
	CHECK_INT(d->overlap, OVERLAP_QUEUE_ONE);
	CHECK_INT(d->priority, -3);
	CHECK(d->notification.on_success && d->notification.on_failure && !d->notification.on_missed);
	CHECK_STR(
		canonical(d),
		"{\"id\":\"nightly.backup_1\",\"name\":\"Backup\",\"description\":\"All of "
		"it\",\"tags\":[\"ops\","
		"\"night\"],\"enabled\":false,\"expression\":\"0 8 * * *\",\"timezone\":\"America/New_York\","
		"\"window\":\"15m\",\"jitter\":\"5m\",\"gap\":\"skip\",\"fold\":\"both\",\"start_date\":"
		"\"2026-06-01\",\"end_date\":\"2027-06-01T12:00\",\"max_runs\":7,\"except\":[\"2026-12-25\","
		"\"2026-12-26\"],\"action\":{\"type\":\"command\",\"command\":[\"backup\",\"--all\"],\"cwd\":"
		"\"/srv\","
		"\"env\":{\"A\":\"1\",\"B\":\"2\"},\"stdin\":\"in\"},\"retry\":{\"max_attempts\":3,"
		"\"backoff\":"
		"\"linear\",\"initial_delay\":\"1m30s\",\"max_delay\":\"10m\"},\"timeout\":\"5m\","
		"\"missed_schedule_policy\":\"catch_up\",\"catch_up_limit\":5,\"overlap\":\"queue_one\","
		"\"concurrency_key\":\"disk\",\"priority\":-3,\"max_failures\":4,\"notification\":{\"on_"
		"success\":"
		"true}}");
}

TEST(defaults)
{
	CHECK_INT(read(BARE "expression: '@daily'\n"), OK);
	const struct schedule_doc *d = &list.doc[0];
	CHECK(d->enabled && d->max_runs == DOC_NO_LIMIT && d->window == 0 && d->timeout == 3600);
	CHECK(d->retry.count == 0 && d->retry.delay == 60 && d->retry.max_delay == 3600);
	CHECK(d->missed == MISSED_EXECUTE_IMMEDIATELY && d->overlap == OVERLAP_SKIP &&
	      d->catch_up_limit == 100);
	CHECK(d->priority == 0 && d->max_failures == -1 && d->notification.on_failure && !d->unsupported);
	CHECK(str_eq(d->when.zone_name, STR("UTC")));
	CHECK_STR(canonical(d),
		  "{\"id\":\"x\",\"expression\":\"@daily\",\"action\":{\"type\":\"command\",\"command\":"
		  "\"true\"}}");
}

/* Two ways to write a schedule have one canonical text, which is read back as the same schedule. */
TEST(equal_documents_have_equal_texts)
{
	static const struct {
		int line;
		const char *a, *b;
	} rows[] = {
		{ __LINE__, "expression: '@daily'\nwindow: 900", "expression: '@daily WINDOW 15m'" },
		{ __LINE__, "expression: '0  9 * *  *'\nwindow: '900s'",
		  "expression: |\n  WINDOW 15m\n  0 9 * * *\n" },
		{ __LINE__, "expression: '@daily'\ntimezone: Europe/Berlin",
		  "expression: '@daily TZ=Europe/Berlin'" },
		{ __LINE__, "expression: '@daily'\nretry: {retries: 3}", "expression: '@daily RETRY 3'" },
		{ __LINE__,
		  "expression: '@daily'\nretry: {max_attempts: 3, backoff: exponential, initial_delay: 60}",
		  "expression: '@daily RETRY 3 exponential 1m'" },
		{ __LINE__, "expression: '@daily RETRY 2'\nretry: {max_delay: 10m}",
		  "expression: '@daily'\nretry: {retries: 2, max_delay: 600}" },
		{ __LINE__, "expression: '@daily EXCEPT 2026-12-25,2026-12-25'",
		  "expression: '@daily'\nexcept: [2026-12-25]" },
		{ __LINE__, "expression: '@daily TZ=Europe/Berlin'\nstart_date: 2026-06-01\n",
		  "expression: '@daily FROM 2026-06-01'\ntimezone: Europe/Berlin\n" },
		{ __LINE__, "expression: '@daily IF  agent.ready == true '",
		  "expression: '@daily'\ncondition: |\n  agent.ready == true\n" },
		{ __LINE__, "expression: '@daily'\ncheck: '  agenda   plan.org '",
		  "expression: '@daily'\ncheck: agenda plan.org" },
		{ __LINE__,
		  "expression: '@daily'\nhooks: {before:schedule:trigger: {command: x, timeout: 30}}",
		  "expression: '@daily'\nhooks: {before:schedule:trigger: {command: x, timeout: 30s, "
		  "on_error: cancel}}" },
		{ __LINE__, "expression: '@daily'\nnext_check: 300s .. 120m",
		  "expression: '@daily'\nnext_check: 5m..2h" },
		{ __LINE__, "expression: '@daily'\ngrants: {schedules: 3, interval: 900}",
		  "expression: '@daily'\ngrants: {schedules: 3}" },
		{ __LINE__, "expression: '@daily'\nexpectations: []\nvariables: {}\nhooks: {}\n",
		  "expression: '@daily'" },
		{ __LINE__, "expression: '@daily'\nnotification: {to: [{name: x, type: event}]}",
		  "expression: '@daily'\nnotification: {to: [{type: event, name: x}], on_success: false}" },
		{ __LINE__, "expression: '@daily'\nexcept: holidays\n",
		  "expression: '@daily EXCEPT holidays'" },
		{ __LINE__,
		  "expression: '@daily'\nexcept: []\ntags: []\nenabled: true\npriority: 0\noverlap: skip\n",
		  "expression: '@daily'" },
		{ __LINE__, "expression: '@daily'\nnotification: {on_failure: true}",
		  "expression: '@daily'" },
		{ __LINE__, "expression: '<2026-06-13 Sat 09:00 ++1w>'\nmissed_schedule_policy: skip",
		  "expression: '<2026-06-13 Sat 09:00 ++1w>'" },
		{ __LINE__, "after: {schedule: y, outcome: done}\nwindow: 1m",
		  "after: {schedule: y}\nwindow: 60" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text[3];
		for (unsigned k = 0; k < 2; k++) {
			const char *in = arena_printf(&arena, BARE "%s\n", k ? rows[i].b : rows[i].a);
			CHECK_INT_AT(rows[i].line, read(in), OK);
			CHECK_STR_AT(rows[i].line, why.text, "");
			text[k] = list.n ? canonical(&list.doc[0]) : "";
		}
		CHECK_STR_AT(rows[i].line, text[0], text[1]);
		CHECK_INT_AT(rows[i].line, read_as("x.json", str_of(text[0]), false), OK);
		text[2] = list.n ? canonical(&list.doc[0]) : "";
		CHECK_STR_AT(rows[i].line, text[2], text[0]);
	}
}

TEST(several_documents)
{
	CHECK_INT(read("# nothing\n"), OK);
	CHECK_INT(list.n, 0);
	CHECK_INT(read("schedules: []\n"), OK);
	CHECK_INT(list.n, 0);
	CHECK_INT(read("schedules:\n"
		       "- {id: a, expression: '@daily', action: {type: event, name: e}}\n"
		       "- {id: b, after: {schedule: a, outcome: any}, action: {type: event, name: e}}\n"
		       "---\n"
		       "---\n" BARE "expression: '@hourly'\n"),
		  OK);
	CHECK_INT(list.n, 3);
	CHECK(str_eq(list.doc[1].after.schedule, STR("a")) && list.doc[1].after.outcome == AFTER_ANY);
	CHECK(str_eq(list.doc[2].id, STR("x")));
	CHECK_INT(place_of(source, list.doc[1].at).line, 3);
}

TEST(events_keep_their_data)
{
	CHECK_INT(read("id: e\nexpression: '@daily'\naction:\n  type: event\n  name: news\n  data: {b: [1, "
		       "2.5, ~, yes], "
		       "a: {}}\n"),
		  OK);
	CHECK_INT(list.doc[0].timeout, 0);
	CHECK_STR(canonical(&list.doc[0]), "{\"id\":\"e\",\"expression\":\"@daily\",\"action\":{\"type\":"
					   "\"event\",\"name\":\"news\",\"data\":"
					   "{\"a\":{},\"b\":[1,2.5,null,\"yes\"]}}}");
}

TEST(every_key_of_an_agent_turn)
{
	CHECK_INT(read("id: tick\n"
		       "expression: '@hourly'\n"
		       "condition: user.awake\n"
		       "agent: Night Watch\n"
		       "action: {type: agent_turn, message: 'Look at {{ variables.what }}'}\n"
		       "variables: {what: 'the {{ date }}', depth: 3}\n"
		       "check: [test, -e, /srv/inbox]\n"
		       "expectations:\n"
		       "- {type: script, command: make check}\n"
		       "- {type: file_exists, paths: [report.md, log]}\n"
		       "budget: {per_run: 0.500 USD, per_day: 200000 tokens}\n"
		       "notification:\n"
		       "  on_recovered: true\n"
		       "  to:\n"
		       "  - {type: webhook, url: 'https://example.org/hook', secret: /etc/rota/hook_key}\n"
		       "  - {type: command, command: [mail, me]}\n"
		       "  - {type: desktop}\n"
		       "  - {type: event}\n"
		       "ping: https://example.org/ping/1\n"
		       "hooks:\n"
		       "  before:schedule:trigger: {command: node check.js, timeout: 10, on_error: proceed}\n"
		       "next_check: 5m..2h\n"
		       "grants: {schedules: 4, interval: 1h}\n"),
		  OK);
	CHECK_STR(why.text, "");
	const struct schedule_doc *d = &list.doc[0];
	CHECK(str_eq(doc_condition(d), STR("user.awake")) && str_eq(d->agent, STR("Night Watch")));
	CHECK_INT(d->timeout, 900);
	CHECK_INT(d->max_failures, -1);
	CHECK(d->budget.run.n == 500000 && !d->budget.run.tokens);
	CHECK(d->budget.day.n == 200000 && d->budget.day.tokens);
	CHECK(d->expectations == 2 && d->expectation[1].kind == DOC_FILE_EXISTS &&
	      d->expectation[1].paths == 2);
	CHECK(d->notification.targets == 4 && d->notification.to[2].kind == DOC_TO_DESKTOP);
	CHECK(d->hook.timeout == 10 && d->hook.on_error == HOOK_PROCEEDS);
	CHECK(d->next_check.least == 300 && d->next_check.most == 7200);
	CHECK(d->grants.schedules == 4 && d->grants.interval == 3600);
	CHECK_STR(canonical(d),
		  "{\"id\":\"tick\",\"expression\":\"@hourly\",\"condition\":\"user.awake\",\"agent\":"
		  "\"Night Watch\","
		  "\"action\":{\"type\":\"agent_turn\",\"message\":\"Look at {{ variables.what "
		  "}}\"},\"variables\":{"
		  "\"depth\":3,\"what\":\"the {{ date "
		  "}}\"},\"check\":[\"test\",\"-e\",\"/srv/inbox\"],\"expectations\":["
		  "{\"type\":\"script\",\"command\":\"make "
		  "check\"},{\"type\":\"file_exists\",\"paths\":[\"report.md\","
		  "\"log\"]}],\"budget\":{\"per_run\":\"0.5 USD\",\"per_day\":\"200000 "
		  "tokens\"},\"notification\":{"
		  "\"on_recovered\":true,\"to\":[{\"type\":\"webhook\",\"url\":\"https://example.org/"
		  "hook\",\"secret\":"
		  "\"/etc/rota/"
		  "hook_key\"},{\"type\":\"command\",\"command\":[\"mail\",\"me\"]},{\"type\":\"desktop\"},"
		  "{\"type\":"
		  "\"event\"}]},\"ping\":\"https://example.org/ping/"
		  "1\",\"hooks\":{\"before:schedule:trigger\":{\"command\":"
		  "\"node "
		  "check.js\",\"timeout\":\"10s\",\"on_error\":\"proceed\"}},\"next_check\":\"5m..2h\","
		  "\"grants\":{\"schedules\":4,\"interval\":\"1h\"}}");
	const char *text = canonical(d);
	CHECK_INT(read_as("x.json", str_of(text), false), OK);
	CHECK_STR(canonical(&list.doc[0]), text);
}

TEST(webhooks)
{
	CHECK_INT(read("id: w\nexpression: '@daily'\naction:\n  type: webhook\n  url: "
		       "http://127.0.0.1:8080/x?y=1\n"
		       "  method: PUT\n  headers: {X-B: '{{ date }}', Accept: text/plain}\n"
		       "  body: {text: 'It is {{ time }}', n: [1, 2]}\n"),
		  OK);
	CHECK_INT(list.doc[0].timeout, 30);
	CHECK_STR(canonical(&list.doc[0]),
		  "{\"id\":\"w\",\"expression\":\"@daily\",\"action\":{\"type\":\"webhook\",\"url\":"
		  "\"http://127.0.0.1:8080/x?y=1\",\"method\":\"PUT\",\"headers\":{\"Accept\":\"text/"
		  "plain\",\"X-B\":"
		  "\"{{ date }}\"},\"body\":{\"n\":[1,2],\"text\":\"It is {{ time }}\"}}}");
}

static void expect_warning(int line, unsigned i, unsigned at_line, unsigned at_column, const char *text)
{
	CHECK_INT_AT(line, list.warnings > i, 1);
	if (list.warnings <= i)
		return;
	struct place p = place_of(source, list.warning[i].at);
	CHECK_STR_AT(line, list.warning[i].text, text);
	CHECK_INT_AT(line, p.line, at_line);
	CHECK_INT_AT(line, p.column, at_column);
}

TEST(examples_of_the_specification)
{
	CHECK_INT(read("schedule:\n"
		       "  id: daily_summary\n"
		       "  name: Daily Morning Summary\n"
		       "  expression: \"0 8 * * *\"\n"
		       "  timezone: America/New_York\n"
		       "  \n"
		       "  condition: |\n"
		       "    agent.user.preferences.morning_summary == true\n"
		       "  \n"
		       "  action:\n"
		       "    type: agent_turn\n"
		       "    message: |\n"
		       "      Generate a daily summary for {{ date }}\n"
		       "      Include: calendar events, tasks due, weather\n"
		       "  \n"
		       "  retry:\n"
		       "    max_attempts: 3\n"
		       "    backoff: exponential\n"
		       "    initial_delay: 60\n"
		       "  \n"
		       "  timeout: 300\n"
		       "  \n"
		       "  notification:\n"
		       "    on_success: false\n"
		       "    on_failure: true\n"),
		  OK);
	const struct schedule_doc *d = &list.doc[0];
	CHECK(str_eq(doc_condition(d), STR("agent.user.preferences.morning_summary == true")));
	CHECK(str_starts(d->action.message, STR("Generate a daily summary for {{ date }}\nInclude: ")));
	CHECK(d->retry.count == 3 && d->timeout == 300);
	CHECK_INT(list.warnings, 0);
	CHECK_INT(
		read("schedule:\n"
		     "  id: daily_summary\n"
		     "  name: Daily Morning Summary\n"
		     "  expression: \"0 8 * * *\"\n"
		     "  timezone: America/New_York\n"
		     "  condition: agent.user.preferences.morning_summary == true\n"
		     "  action: { type: agent_turn, message: \"Generate a daily summary for {{ date }}\" }\n"
		     "  retry: { max_attempts: 3, backoff: exponential, initial_delay: 60 }\n"
		     "  timeout: 300\n"
		     "  notification: { on_success: false, on_failure: true }\n"),
		OK);
	CHECK_INT(read(BARE
		       "expression: |\n  TZ=America/New_York\n  0 9 * * 1-5\n  IF agent.user.is_workday\n"
		       "  WINDOW 15m\n"),
		  OK);
	CHECK_STR(canonical(&list.doc[0]), "{\"id\":\"x\",\"expression\":\"0 9 * * "
					   "1-5\",\"timezone\":\"America/New_York\",\"condition\":"
					   "\"agent.user.is_workday\",\"window\":\"15m\",\"action\":{"
					   "\"type\":\"command\",\"command\":\"true\"}}");
	CHECK_INT(list.warnings, 0);
}

TEST(unsupported_features_warn_and_block)
{
	static const struct {
		int line;
		const char *in, *warning, *blocked;
	} rows[] = {
#define BLOCKED ": the schedule is accepted, but blocked"
		{ __LINE__, "action: {type: command, command: 'true'}", NULL, NULL },
		{ __LINE__, "action: {type: command, command: 'true'}\ncondition: user.x", NULL, NULL },
		{ __LINE__, "action: {type: command, command: [echo, '{{ date }}']}", NULL, NULL },
		{ __LINE__, "action: {type: command, command: x, env: {A: '{{ 1 }}'}}", NULL, NULL },
		{ __LINE__, "action: {type: command, command: x, stdin: '{{ 1 }}'}", NULL, NULL },
		{ __LINE__, "action: {type: command, command: 'echo {{ date }}'}",
		  "'{{ date }}' is not expanded in a command line for the shell; pass the value in env, "
		  "and use the variable in the command",
		  NULL },
		{ __LINE__, "action: {type: command, command: \"docker ps --format '{{.Names}}'\"}", NULL,
		  NULL },
		{ __LINE__, "action: {type: webhook, url: 'http://x'}", NULL, NULL },
		{ __LINE__,
		  "action: {type: command, command: x}\nhooks: {before:schedule:trigger: {command: x}}", NULL,
		  NULL },
		{ __LINE__, "action: {type: command, command: x}\ncheck: x", NULL, NULL },
		{ __LINE__, "action: {type: command, command: x}\nexpectations: [{type: script, command: x}]",
		  NULL, NULL },
		{ __LINE__, "action: {type: command, command: x}\ncheck: agenda plan.org", NULL, NULL },
		{ __LINE__, "action: {type: workflow, file: /plan.org, name: x, input: {a: '{{ date }}'}}",
		  NULL, NULL },
		{ __LINE__, "action: {type: agent_turn, message: m}\nbudget: {per_run: 1 USD}",
		  "budgets are not supported yet" BLOCKED, "budgets are not supported yet" },
		{ __LINE__, "action: {type: command, command: x}\nping: http://x", NULL, NULL },
		{ __LINE__, "action: {type: command, command: x}\nnotification: {to: [{type: desktop}]}",
		  NULL, NULL },
		{ __LINE__, "action: {type: command, command: x}\nexpression: '0 0 */1,2 * 1-7'", NULL,
		  NULL },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *in = arena_printf(
			&arena, "id: x\n%s%s\n",
			strstr(rows[i].in, "expression") ? "" : "expression: '@daily'\n", rows[i].in);
		CHECK_INT_AT(rows[i].line, read(in), OK);
		CHECK_STR_AT(rows[i].line, why.text, "");
		CHECK_STR_AT(rows[i].line, list.warnings ? list.warning[0].text : "",
			     rows[i].warning ? rows[i].warning : "");
		const char *blocked = doc_blocked(&list.doc[0]);
		CHECK_STR_AT(rows[i].line, blocked ? blocked : "", rows[i].blocked ? rows[i].blocked : "");
	}
	/* Warnings of expressions are warnings of the document. */
	CHECK_INT(read(BARE "expression: 0 9 1-31 * 1\n"), OK);
	CHECK_INT(list.warnings, 1);
	CHECK(list.warnings && strstr(list.warning[0].text, "restricts nothing"));
	/* The number of warnings is limited. */
	struct buf many = { 0 };
	for (unsigned i = 0; i < 3 * DOC_WARNINGS_MAX; i++)
		buf_addf(&many,
			 "---\n{id: x%u, expression: '@daily', action: {type: agent_turn, message: m}, "
			 "budget: {per_run: 1 USD}}\n",
			 i);
	CHECK_INT(read_as("x.yaml", buf_str(&many), false), OK);
	CHECK_INT(list.warnings, DOC_WARNINGS_MAX);
	buf_free(&many);
}

TEST(warnings_have_a_position)
{
	CHECK_INT(read("id: x\naction: {type: agent_turn, message: m}\nexpression: '@daily'\nbudget: "
		       "{per_run: 1 USD}\n"),
		  OK);
	expect_warning(__LINE__, 0, 4, 9,
		       "budgets are not supported yet: the schedule is accepted, but blocked");
}

TEST(relative_forms)
{
	static const char text[] = BARE "expression: tomorrow at noon in Berlin\n";
	CHECK_INT(read(text), E_INPUT);
	CHECK_STR(why.text, "'tomorrow at noon in Berlin' depends on when it is read; write TZ=Europe/Berlin "
			    "2026-11-16T12:00:00");
	CHECK_INT(read_as("x.yaml", str_of(text), true), OK);
	CHECK_STR(canonical(&list.doc[0]), "{\"id\":\"x\",\"expression\":\"2026-11-16T12:00:00\","
					   "\"timezone\":\"Europe/Berlin\",\"action\":{"
					   "\"type\":\"command\",\"command\":\"true\"}}");
	CHECK_INT(read_as("x.yaml", STR(BARE "expression: every day at 9 until 30 June\n"), true), OK);
	CHECK(strstr(canonical(&list.doc[0]), "\"end_date\":\"2027-07-01T00:00:00Z\""));
	/* A document may have times in the past; a schedule that is created now may not. */
	CHECK_INT(read(BARE "expression: 2020-01-01T00:00\n"), OK);
	CHECK_INT(read_as("x.yaml", STR(BARE "expression: 2020-01-01T00:00\n"), true), E_INPUT);
	CHECK_STR(why.text, "all times of the expression are in the past");
}

static enum err zone_number(void *self, struct str name, const struct zone *z, uint16_t *ret)
{
	(void)self;
	(void)z;
	*ret = str_eq(name, STR("Europe/Berlin")) ? 7 : 8;
	return OK;
}

static enum err days_number(void *self, const struct days *days, uint16_t *ret)
{
	(void)self;
	*ret = (uint16_t)days->n;
	return OK;
}

static enum err name_number(void *self, enum doc_name kind, struct str name, uint32_t *ret)
{
	*ret = kind == DOC_CONCURRENCY_KEY && str_eq(name, STR("disk")) ? 99 : kind == DOC_AGENT ? 98 : 0;
	return self ? E_LIMIT : OK;
}

TEST(rules_of_a_document)
{
	struct doc_names names = { zone_number, days_number, name_number, NULL };
	struct rules r = { 0 }, untouched = { .active.from = 5 };
	CHECK_INT(read(BARE "expression: '0 9 * * * TZ=Europe/Berlin WINDOW 5m RETRY 2 fixed 10s JITTER 1m'\n"
			    "concurrency_key: disk\nexcept: holidays\npriority: 10\nmax_failures: "
			    "3\noverlap: allow\n"
			    "missed_schedule_policy: skip\nend_date: 2027-01-01\n"),
		  OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK(rules_are_valid(&r));
	CHECK_INT(r.version, RULES_VERSION);
	CHECK(r.zone_print == zone_fingerprint(test_zone("Europe/Berlin")));
	CHECK(rule_same(&r.when, &list.doc[0].when.rule));
	CHECK_INT(r.policy.zone, 7);
	CHECK_INT(r.policy.calendar, 2);
	CHECK_INT(r.policy.key, 99);
	CHECK_INT(r.policy.retries, 2);
	CHECK_INT(r.policy.backoff, BACKOFF_FIXED);
	CHECK_INT(r.policy.retry_delay, 10);
	CHECK_INT(r.policy.retry_most, 3600);
	CHECK_INT(r.policy.window, 300);
	CHECK_INT(r.policy.priority, 10);
	CHECK_INT(r.policy.max_failures, 3);
	CHECK_INT(r.policy.overlap, OVERLAP_ALLOW);
	CHECK_INT(r.policy.missed, MISSED_SKIP);
	CHECK_INT(r.policy.catch_up_limit, 100);
	CHECK_INT(r.policy.action, ACTION_RUN);
	CHECK_INT(r.policy.preconditions, 0);
	names.self = &names;
	CHECK_INT(doc_rules(&list.doc[0], &names, &untouched), E_LIMIT);
	CHECK_INT(untouched.active.from, 5);
	names.self = NULL;
	CHECK_INT(read("id: x\nafter: {schedule: y, outcome: failed}\naction: {type: event, name: e}\n"), OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK(rules_are_valid(&r)); /* although it has no times of its own */
	CHECK_INT(r.policy.after, AFTER_FAILED);
	CHECK_INT(r.policy.action, ACTION_EVENT);
	CHECK_INT(read(BARE "expression: '@daily IF user.x'\ncheck: x\n"), OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.policy.preconditions, 1u << ASK_CONDITION | 1u << ASK_CHECK);
	CHECK_INT(r.policy.max_failures, 0);
	CHECK_INT(r.policy.agent, 0);
	CHECK_INT(read("id: x\nexpression: '@daily'\naction: {type: agent_turn, message: hello}\nagent: ann\n"
		       "budget: {per_day: 1 USD}\n"),
		  OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.policy.preconditions, 1u << ASK_BUDGET | 1u << ASK_BLOCKED);
	CHECK_INT(read(BARE "expression: '@daily'\nhooks: {before:schedule:trigger: {command: x}}\n"), OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.policy.preconditions, 1u << ASK_HOOK);
	CHECK_INT(
		read("id: x\nexpression: '@daily'\naction: {type: agent_turn, message: hello}\nagent: ann\n"),
		OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.policy.max_failures, 10);
	CHECK_INT(r.policy.agent, 98);
}

TEST(ids)
{
	static const struct {
		int line;
		const char *words[4], *id;
	} rows[] = {
		{ __LINE__, { "./bin/backup.sh", "--full", "/" }, "backup.sh-full" },
		{ __LINE__, { "echo", "hello", "world" }, "echo-hello-world" },
		{ __LINE__, { "curl -s https://example.org/x | jq ." }, "x-jq" },
		{ __LINE__, { "keeper" }, "run-keeper" },
		{ __LINE__, { "sched-x" }, "run-sched-x" },
		{ __LINE__, { "\xC3\xA9t\xC3\xA9" }, "t" },
		{ __LINE__, { "--" }, "run" },
		{ __LINE__, { NULL }, "run" },
		{ __LINE__, { "make", "-C", "/srv/www/", "all" }, "make-C-www-all" },
		{ __LINE__,
		  { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "b" },
		  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct str words[4];
		unsigned n = 0;
		char id[DOC_ID_MAX + 1];
		for (; n < 4 && rows[i].words[n]; n++)
			words[n] = str_of(rows[i].words[n]);
		doc_derive_id(words, n, id);
		CHECK_STR_AT(rows[i].line, id, rows[i].id);
		CHECK_INT_AT(rows[i].line, doc_check_id(str_of(id), NULL), OK);
	}
	char longest[DOC_ID_MAX + 2];
	memset(longest, 'a', sizeof longest);
	CHECK_INT(doc_check_id((struct str){ longest, DOC_ID_MAX }, NULL), OK);
	CHECK_INT(doc_check_id((struct str){ longest, DOC_ID_MAX + 1 }, NULL), E_INPUT);
	CHECK_INT(doc_check_id(STR(""), NULL), E_INPUT);
	arena_free(&arena);
}
