#include "base/json.h"
#include "core/doc/doc.h"
#include "core/when/hash.h"
#include "core/when/iso.h"
#include "host/docfile.h"
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
	return (struct doc_env){ .when = { .now = wall_of(1794751200), /* 2026-11-15T14:00:00Z */
					   .zones = test_zones(),
					   .zone = test_zone("UTC"),
					   .zone_name = STR("UTC"),
					   .calendars = &calendars },
				 .timeout = { [DOC_COMMAND] = 3600 },
				 .fresh = fresh };
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

TEST(everything)
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
	CHECK_INT(d->retry.most, 600);
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
	CHECK(d->retry.count == 0 && d->retry.delay == 60 && d->retry.most == 3600);
	CHECK(d->missed == MISSED_EXECUTE_IMMEDIATELY && d->overlap == OVERLAP_SKIP &&
	      d->catch_up_limit == 100);
	CHECK(d->priority == 0 && d->max_failures == 0 && d->notification.on_failure);
	CHECK(str_eq(d->when.zone_name, STR("UTC")));
	CHECK_STR(canonical(d),
		  "{\"id\":\"x\",\"expression\":\"@daily\",\"action\":{\"type\":\"command\",\"command\":"
		  "\"true\"}}");
}

/* However it is written, it is the same schedule, and it is read back as itself. */
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
		{ __LINE__, "expression: '@daily RETRY 2'\nretry: {retries: 2}",
		  "expression: '@daily RETRY 2'" },
		{ __LINE__, "expression: '@daily WINDOW 15m'\nwindow: 900",
		  "expression: '@daily'\nwindow: 900" },
		{ __LINE__, "expression: '@daily EXCEPT 2026-12-25'\nexcept: [2026-12-25]",
		  "expression: '@daily EXCEPT 2026-12-25,2026-12-25'" },
		{ __LINE__, "expression: '@daily TZ=Europe/Berlin FROM 2026-06-01'\nstart_date: 2026-06-01\n",
		  "expression: '@daily'\ntimezone: Europe/Berlin\nstart_date: 2026-06-01\n" },
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

TEST(several)
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

/* The example of seed 004 is read as it stands; what this version cannot do is named. */
TEST(seed_004)
{
	static const char text[] = "schedule:\n"
				   "  id: daily_summary\n"
				   "  name: Daily Morning Summary\n"
				   "  expression: \"0 8 * * *\"\n"
				   "  timezone: America/New_York\n"
				   "%s"
				   "  action: { type: %s, %s }\n"
				   "  retry: { max_attempts: 3, backoff: exponential, initial_delay: 60 }\n"
				   "  timeout: 300\n"
				   "  notification: { on_success: false, on_failure: true }\n";
	CHECK_INT(read(arena_printf(&arena, text,
				    "  condition: agent.user.preferences.morning_summary == true\n",
				    "agent_turn", "message: \"Generate a daily summary for {{ date }}\"")),
		  E_INPUT);
	CHECK_STR(why.text, "key 'condition' of a schedule is not supported yet");
	CHECK_INT(place_of(source, why.at).line, 6);
	CHECK_INT(read(arena_printf(&arena, text, "", "agent_turn", "message: \"Generate a daily summary\"")),
		  E_INPUT);
	CHECK_STR(why.text, "action agent_turn is not supported yet");
	CHECK_INT(read(arena_printf(&arena, text, "", "command", "command: summary")), OK);
	CHECK_INT(list.doc[0].retry.count, 3);
	CHECK_INT(list.doc[0].timeout, 300);
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
	/* In the past: good in a document, not from a person. */
	CHECK_INT(read(BARE "expression: 2020-01-01T00:00\n"), OK);
	CHECK_INT(read_as("x.yaml", STR(BARE "expression: 2020-01-01T00:00\n"), true), E_INPUT);
	CHECK_STR(why.text, "all its times have passed");
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
	*ret = kind == DOC_CONCURRENCY_KEY && str_eq(name, STR("disk")) ? 99 : 0;
	return self ? E_LIMIT : OK;
}

TEST(rules)
{
	struct doc_names names = { zone_number, days_number, name_number, NULL };
	struct rules r = { 0 }, untouched = { .active.from = 5 };
	CHECK_INT(read(BARE "expression: '0 9 * * * TZ=Europe/Berlin WINDOW 5m RETRY 2 fixed 10s JITTER 1m'\n"
			    "concurrency_key: disk\nexcept: holidays\npriority: 10\nmax_failures: "
			    "3\noverlap: allow\n"
			    "missed_schedule_policy: skip\nend_date: 2027-01-01\n"),
		  OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.version, RULES_VERSION);
	CHECK(r.zone_print == zone_print(test_zone("Europe/Berlin")));
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
	CHECK_INT(r.policy.guards, 0);
	names.self = &names;
	CHECK_INT(doc_rules(&list.doc[0], &names, &untouched), E_LIMIT);
	CHECK_INT(untouched.active.from, 5);
	names.self = NULL;
	CHECK_INT(read("id: x\nafter: {schedule: y, outcome: failed}\naction: {type: event, name: e}\n"), OK);
	CHECK_INT(doc_rules(&list.doc[0], &names, &r), OK);
	CHECK_INT(r.policy.after, AFTER_FAILED);
	CHECK_INT(r.policy.action, ACTION_EVENT);
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
