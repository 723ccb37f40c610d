/* Agents from YAML and org files. */
#include "base/json.h"
#include "core/doc/agent/agent.h"
#include "core/org/agent.h"
#include "host/docfile.h"
#include "test.h"
#include "zoneinfo.h"

#include <stdlib.h>

static struct arena arena;
static struct why why;
static struct doc_list list;
static struct str source;

static struct doc_env env_of(void)
{
	return (struct doc_env){ .when = { .now = wall_of(1794751200),
					   .zones = test_zones(),
					   .zone = test_zone("UTC"),
					   .zone_name = STR("UTC") } };
}

static enum err read_text(const char *name, struct str text)
{
	struct val v;
	struct doc_env env = env_of();
	why = (struct why){ 0 };
	list = (struct doc_list){ 0 };
	source = text;
	enum err e = docfile_parse(str_of(name), text, &arena, &v, &why);
	return e ? e : doc_read(text, &v, &env, &arena, &list, &why);
}

/* Reads a text that has one agent. */
static const struct agent_doc *agent_of(int line, const char *name, const char *text)
{
	CHECK_INT_AT(line, read_text(name, str_of(text)), OK);
	if (why.text[0])
		printf("%s\n", why.text);
	CHECK_INT_AT(line, list.agents, 1);
	return list.agents == 1 ? &list.agent[0] : NULL;
}

/* The canonical text, after a check that it is read back as the same agent. */
static const char *canonical(const struct agent_doc *d)
{
	struct buf out = { 0 }, second = { 0 };
	struct agent_doc again;
	struct val v;
	struct doc_env env = env_of();
	agent_write(d, &out);
	CHECK_INT(json_read(buf_str(&out), &arena, &v, &why), OK);
	CHECK_INT(agent_read(buf_str(&out), &v, &env, &arena, &again, &why), OK);
	CHECK_INT(again.unsupported, d->unsupported);
	agent_write(&again, &second);
	CHECK(str_eq(buf_str(&out), buf_str(&second)));
	const char *text = arena_dup(&arena, buf_str(&out));
	buf_free(&out);
	buf_free(&second);
	return text;
}

static void reset_arena(void)
{
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

static const char whole_yaml[] = "agent:\n"
				 "  name: night-desk\n"
				 "  runner: command\n"
				 "  model: big\n"
				 "  command: ./agent.sh\n"
				 "  args: [--fast, two words]\n"
				 "  allow: shell\n"
				 "  workdir: /srv/desk\n"
				 "  timeout: 10m\n"
				 "  stall: 90s\n"
				 "  mode: keeper\n"
				 "  toolkits: [git, mail]\n"
				 "  env: {LANG: C, GREETING: good night}\n"
				 "  secrets: [MAIL_TOKEN]\n"
				 "  account: team\n"
				 "  budget: {per_run: 0.50 USD, per_day: 20000 tokens}\n"
				 "  concurrency: 2\n"
				 "  active_hours: 22:00-06:30 Europe/Berlin\n"
				 "  check: ./any-mail\n"
				 "  next_check: 5m..2h\n"
				 "  plan: plan.org\n"
				 "  claim: auto\n"
				 "  session: continue\n"
				 "  prompt: |\n"
				 "    You keep the desk.\n"
				 "\n"
				 "    Be brief.\n";

static const char whole_org[] = "#+title: the desk\n"
				"* Desk at night :work:\n"
				":PROPERTIES:\n"
				":ID: night-desk\n"
				":RUNNER: command\n"
				":MODEL:    big\n"
				":COMMAND: ./agent.sh\n"
				":ARGS: --fast 'two words'\n"
				":ALLOW: shell\n"
				":WORKDIR: /srv/desk\n"
				":TIMEOUT: 10m\n"
				":STALL: 90s\n"
				":MODE: keeper\n"
				":TOOLKITS: git, mail\n"
				":ENV: LANG=C GREETING=\"good night\"\n"
				":SECRETS: MAIL_TOKEN\n"
				":ACCOUNT: team\n"
				":BUDGET: 0.50 USD per run, 20000 tokens/day\n"
				":CONCURRENCY: 2\n"
				":active-hours: 22:00-06:30 Europe/Berlin\n"
				":CHECK: ./any-mail\n"
				":NEXT-CHECK: 5m..2h\n"
				":PLAN: plan.org\n"
				":CLAIM: auto\n"
				":SESSION: continue\n"
				":END:\n"
				"What it is for.\n"
				"** Notes\n"
				"Not of the prompt.\n"
				"** System Prompt :x:\n"
				"You keep the desk.\n"
				"\n"
				"Be brief.\n"
				"** Log\n"
				"* Another\n";

TEST(every_key_in_yaml_and_org)
{
	const struct agent_doc *d = agent_of(__LINE__, "a.yaml", whole_yaml);
	if (!d)
		return;
	const char *want =
		"{\"name\":\"night-desk\",\"model\":\"big\",\"command\":\"./agent.sh\",\"args\":[\"--fast\","
		"\"two words\"],\"allow\":\"shell\",\"workdir\":\"/srv/desk\",\"timeout\":\"10m\",\"stall\":"
		"\"1m30s\",\"mode\":\"keeper\",\"toolkits\":[\"git\",\"mail\"],\"env\":{\"GREETING\":\"good "
		"night\",\"LANG\":\"C\"},\"secrets\":[\"MAIL_TOKEN\"],\"account\":\"team\",\"budget\":{\"per_"
		"run\":\"0.5 USD\",\"per_day\":\"20000 tokens\"},\"concurrency\":2,\"active_hours\":\"22:00-"
		"06:30 Europe/Berlin\",\"check\":\"./any-mail\",\"next_check\":\"5m..2h\",\"plan\":\"plan."
		"org\",\"claim\":\"auto\",\"session\":\"continue\",\"prompt\":\"You keep the desk.\\n\\nBe "
		"brief.\"}";
	CHECK_STR(canonical(d), want);
	CHECK_INT(d->timeout, 600);
	CHECK_INT(d->stall, 90);
	CHECK(d->budget.run.n == 500000 && !d->budget.run.tokens);
	CHECK(d->budget.day.n == 20000 && d->budget.day.tokens);
	CHECK(d->hours.from == 22 * 60 && d->hours.to == 6 * 60 + 30);
	CHECK(d->next_check.least == 300 && d->next_check.most == 7200);
	CHECK_STR(agent_blocked(d), "budgets are not supported yet");
	d = agent_of(__LINE__, "a.org", whole_org);
	if (!d)
		return;
	CHECK_STR(canonical(d), want);
	CHECK_INT(place_of(source, d->at).line, 2);
	reset_arena();
}

TEST(defaults)
{
	const struct agent_doc *d =
		agent_of(__LINE__, "a.yaml", "agent: {name: a b, command: [x, y], prompt: p}");
	if (!d)
		return;
	CHECK_STR(canonical(d), "{\"name\":\"a b\",\"command\":[\"x\",\"y\"],\"prompt\":\"p\"}");
	CHECK(d->runner == AGENT_COMMAND && d->allow == AGENT_EDIT && d->concurrency == 1);
	CHECK(!d->timeout && !d->stall && d->hours.from == d->hours.to && d->session == AGENT_FRESH);
	CHECK(d->env.kind == VAL_NULL && !d->next_check.most && d->claim == AGENT_CLAIM_NONE);
	CHECK_INT(list.warnings, 0);
	reset_arena();
}

TEST(unsupported_runners_warn_and_block)
{
	static const char *const rows[] = {
		"agent: {name: a, runner: claude, prompt: p}",
		"agent: {name: a, runner: claude, command: x, prompt: p}",
		"agent: {name: a, model: m, prompt: p}",
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const struct agent_doc *d = agent_of(__LINE__, "a.yaml", rows[i]);
		CHECK(d && agent_blocked(d));
		CHECK_INT(list.warnings, 1);
		CHECK(strstr(list.warning[0].text, "the agent is accepted, but blocked"));
		if (d)
			canonical(d);
	}
	reset_arena();
}

TEST(args_follow_the_command)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "command: ./a b", "./a b" },
		{ __LINE__, "command: ./a b, args: c 'd e'", "/bin/sh|-c|./a b \"$@\"|sh|c|d e" },
		{ __LINE__, "command: [a, b], args: [c, '']", "a|b|c|" },
		{ __LINE__, "runner: claude, args: [c]", "" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct doc_command c;
		struct buf got = { 0 };
		const char *text = arena_printf(&arena, "agent: {name: a, prompt: p, %s}", rows[i].in);
		const struct agent_doc *d = agent_of(rows[i].line, "a.yaml", text);
		if (!d)
			continue;
		CHECK_INT(agent_command(d, &arena, &c), OK);
		buf_add(&got, c.shell);
		for (unsigned k = 0; k < c.argc; k++)
			buf_addf(&got, "%s%.*s", k ? "|" : "", STR_ARG(c.argv[k]));
		CHECK_STR_AT(rows[i].line, arena_dup(&arena, buf_str(&got)), rows[i].want);
		CHECK(c.argc < 5 || (c.text == 2 && c.text_end == 4));
		buf_free(&got);
	}
	reset_arena();
}

TEST(secrets_in_env_are_warned_of)
{
	static const struct {
		int line;
		const char *env;
		unsigned warnings;
	} rows[] = {
		{ __LINE__, "OPENAI_API_KEY: x", 1 },
		{ __LINE__, "gh_token: x", 1 },
		{ __LINE__, "SECRET: x", 1 },
		{ __LINE__, "DB_PASSWORD: x, A: b", 1 },
		{ __LINE__, "X: sk-abcdefghijklmnopqrstuvwxyz0123", 1 },
		{ __LINE__, "X: key=ghp_abcdefghijklmnopqrstuvwxyz0123", 1 },
		{ __LINE__, "X: task-abcdefghijklmnopqrstuvwxyz0123", 0 },
		{ __LINE__, "X: sk-short", 0 },
		{ __LINE__, "TOKENS: '5'", 0 },
		{ __LINE__, "MAIL_TOKEN: ''", 0 },
		{ __LINE__, "MAIL_TOKEN: '{{ variables.x }}'", 0 },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		agent_of(rows[i].line, "a.yaml",
			 arena_printf(&arena, "agent: {name: a, command: x, prompt: p, env: {%s}}",
				      rows[i].env));
		CHECK_INT_AT(rows[i].line, list.warnings, rows[i].warnings);
		/* The warning does not contain the value. */
		CHECK(!list.warnings || !strstr(list.warning[0].text, "abcdef"));
	}
	reset_arena();
}

TEST(agents_and_schedules_in_one_document)
{
	CHECK_INT(read_text("a.yaml", STR("agents:\n  - {name: a, command: x, prompt: p}\n"
					  "  - {name: b, command: x, prompt: p}\n"
					  "schedule: {id: s, expression: 0 9 * * *, agent: a, action: {type: "
					  "command, command: x}}\n"
					  "---\n"
					  "id: t\nexpression: 0 9 * * *\nagent: b\naction: {type: command, "
					  "command: x}\n"
					  "---\n"
					  "agent: {name: c, command: x, prompt: p}\n")),
		  OK);
	CHECK_INT(list.agents, 3);
	CHECK_INT(list.n, 2);
	CHECK(str_eq(list.doc[1].agent, STR("b")) && str_eq(list.agent[2].name, STR("c")));
	reset_arena();
}

TEST(prompts_of_org)
{
	static const struct {
		int line;
		const char *in, *name, *prompt;
	} rows[] = {
		{ __LINE__, "* A\nText.\n", "A", "Text." },
		{ __LINE__, "\n\n* A\n:PROPERTIES:\n:ID: b\n:END:\n\n Text. \n\n", "b", "Text." },
		{ __LINE__, "* TODO [#A] A\n#+begin_example\n:PROPERTIES:\n:MODEL: x\n:END:\n#+end_example\n",
		  "A", "#+begin_example\n:PROPERTIES:\n:MODEL: x\n:END:\n#+end_example" },
		{ __LINE__,
		  "** no\n* A B :t1:t2:\nSCHEDULED: <2026-11-16>\n:properties:\n:end:\nText.\n* C\nno\n",
		  "A B", "Text." },
		{ __LINE__, "* A: b:\nText.\n** Rules\n- one\n*** deep\n* C\n",
		  "A: b:", "Text.\n** Rules\n- one\n*** deep" },
		{ __LINE__, "* A\nno\n** system prompt\nyes\n*** deep\n*bold* and **\n** no\nno\n", "A",
		  "yes\n*** deep\n*bold* and **" },
		{ __LINE__, "* A\nno\n** System prompt\nyes\n* System prompt\n** System prompt\nno\n", "A",
		  "yes" },
		{ __LINE__, "* A\r\none\r\ntwo\r\n", "A", "one\ntwo" },
		{ __LINE__, "* A\n:PROPERTIES:\n:CREATED: [2026-11-15]\n:CUSTOM_ID: x\n:END:\nText.\n", "A",
		  "Text." },
		{ __LINE__, "* A\n| a | b |\n", "A", "| a | b |" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const struct agent_doc *d = agent_of(rows[i].line, "x.org", rows[i].in);
		if (!d)
			continue;
		CHECK_STR_AT(rows[i].line, arena_dup(&arena, d->name), rows[i].name);
		CHECK_STR_AT(rows[i].line, arena_dup(&arena, d->prompt), rows[i].prompt);
	}
	reset_arena();
}

TEST(which_org_files_are_agents)
{
	static const struct {
		int line;
		const char *in;
		bool is;
	} rows[] = {
		{ __LINE__, "", false },
		{ __LINE__, "* A\ntext\n", false },
		{ __LINE__, "* A\n:PROPERTIES:\n:ID: x\n:END:\ntext\n", false },
		{ __LINE__, "* A\n:PROPERTIES:\n:model: x\n:END:\ntext\n", true },
		{ __LINE__, "* A\n:PROPERTIES:\n:COMMAND: x\n", true }, /* refused later: no :END: */
		{ __LINE__, "* A\n:PROPERTIES:\nnot so\n:RUNNER: x\n:END:\n", true },
		{ __LINE__, "* A\n\n:PROPERTIES:\n:RUNNER: x\n:END:\n", true }, /* refused later: its place */
		{ __LINE__, "* A\n** B\n:PROPERTIES:\n:RUNNER: x\n:END:\n", false },
		{ __LINE__, "* A\n** System prompt\n", true },
		{ __LINE__, "* A\n*** System prompt\n", false },
		{ __LINE__, "* A\n* B\n:PROPERTIES:\n:RUNNER: x\n:END:\n** System prompt\n", false },
		{ __LINE__, "** A\n:PROPERTIES:\n:RUNNER: x\n:END:\n", false },
		{ __LINE__, "* A\ntext :RUNNER: x\n:RUNNER: x\n", false },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_INT_AT(rows[i].line, org_is_agent(str_of(rows[i].in)), rows[i].is);
}

TEST(size_limits)
{
	static const struct {
		size_t n;
		enum err want;
	} rows[] = { { AGENT_PROMPT_BYTES_MAX, OK },
		     { AGENT_PROMPT_BYTES_MAX + 1, E_LIMIT },
		     { ORG_BYTES_MAX, E_LIMIT } };
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf text = { 0 };
		buf_add(&text, STR("* A\n"));
		for (size_t k = 0; k < rows[i].n; k++)
			buf_addc(&text, 'x');
		CHECK_INT(read_text("a.org", buf_str(&text)), rows[i].want);
		CHECK(!rows[i].want || strstr(why.text, "more than"));
		buf_free(&text);
		reset_arena();
	}
}
