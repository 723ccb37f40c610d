/* Schedules combined with their agents, and the daemon's index and records of agents. */
#include "base/json.h"
#include "core/doc/agent/turn.h"
#include "daemon/agent_index.h"
#include "daemon/intern.h"
#include "daemon/prepare/provenance.h"
#include "daemon/prepare/trace.h"
#include "host/yaml.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;

static struct doc_env env_of(void)
{
	return (struct doc_env){ .when = { .now = wall_of(1794751200),
					   .zones = test_zones(),
					   .zone = test_zone("UTC"),
					   .zone_name = STR("UTC") },
				 .timeout = { [DOC_COMMAND] = 3600, [DOC_AGENT_TURN] = 900 } };
}

static struct doc_list read(const char *text)
{
	struct doc_env env = env_of();
	struct doc_list list = { 0 };
	struct val v;
	struct why why = { 0 };
	enum err e = yaml_read(str_of(text), &arena, &v, &why);
	if (!e)
		e = doc_read(str_of(text), &v, &env, &arena, &list, &why);
	if (!CHECK_INT(e, OK))
		printf("%s\n%s\n", text, why.text);
	return list;
}

#define TURN    "schedule: {id: x, expression: '@daily', action: {type: agent_turn, message: hello}"
#define COMMAND "schedule: {id: x, expression: '@daily', action: {type: command, command: 'true'}"
#define AGENT   "agent: {name: ann, prompt: Be brief., command: ./ann"

/* The schedule of a text, combined with the agent of the text if there is one, else with `f`. */
static struct schedule_doc resolved(const char *text, struct turn_agent f)
{
	struct doc_list list = read(text);
	struct buf canonical = { 0 };
	struct schedule_doc d = list.doc[0];
	if (list.agents) {
		agent_write(&list.agent[0], &canonical);
		f.agent = &list.agent[0];
		f.name = f.agent->name;
		f.text = (struct str){ arena_dup(&arena, buf_str(&canonical)), canonical.n };
		buf_free(&canonical);
	}
	f.zone = STR("UTC");
	f.home = STR("/home");
	CHECK_INT(turn_resolve(&f, &arena, &d), OK);
	return d;
}

static void reset_arena(void)
{
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

TEST(blocked_turns_say_why)
{
	const struct {
		int line;
		const char *text;
		struct turn_agent f;
		const char *blocked; /* NULL: not blocked */
		uint8_t chosen;
	} rows[] = {
		{ __LINE__,
		  TURN "}",
		  { .several = false },
		  "there is no agent; define one and apply it with `rota apply`",
		  AGENT_CHOICE_DEFAULT },
		{ __LINE__,
		  TURN "}",
		  { .several = true },
		  "there are several agents and no default agent; name one with the key 'agent', or set "
		  "default_agent",
		  AGENT_CHOICE_DEFAULT },
		{ __LINE__,
		  TURN "}",
		  { .name = STR("bob") },
		  "the default agent 'bob' does not exist; apply its definition with `rota apply`",
		  AGENT_CHOICE_DEFAULT },
		{ __LINE__,
		  TURN ", agent: bob}",
		  { .name = STR("bob") },
		  "agent 'bob' does not exist; apply its definition with `rota apply`",
		  AGENT_CHOICE_NAMED },
		{ __LINE__,
		  TURN ", agent: bob}",
		  { .name = STR("bob"), .text = STR("{"), .fault = "it ends early" },
		  "the definition of agent 'bob' cannot be read: it ends early",
		  AGENT_CHOICE_NAMED },
		{ __LINE__,
		  TURN "}\nagent: {name: ann, prompt: p, runner: claude}",
		  { .several = false },
		  "agent 'ann': only agents with runner 'command' and a command are supported so far",
		  AGENT_CHOICE_DEFAULT },
		{ __LINE__, TURN "}\n" AGENT "}", { .several = false }, NULL, AGENT_CHOICE_DEFAULT },
		{ __LINE__,
		  TURN ", agent: ann}\n" AGENT "}",
		  { .several = false },
		  NULL,
		  AGENT_CHOICE_NAMED },
		{ __LINE__, COMMAND "}", { .several = false }, NULL, AGENT_CHOICE_NONE },
		{ __LINE__, COMMAND ", agent: bob}", { .name = STR("bob") }, NULL, AGENT_CHOICE_NAMED },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct schedule_doc d = resolved(rows[i].text, rows[i].f);
		CHECK_STR_AT(rows[i].line, d.turn.blocked ? d.turn.blocked : "",
			     rows[i].blocked ? rows[i].blocked : "");
		CHECK_INT_AT(rows[i].line, d.turn.choice, rows[i].chosen);
		CHECK_AT(rows[i].line, !!doc_blocked(&d) == !!rows[i].blocked);
	}
	reset_arena();
}

/* The schedule overrides the agent, and the agent overrides the configuration. */
TEST(schedule_overrides_agent)
{
	static const struct {
		int line;
		const char *text;
		int64_t timeout, next_check;
		const char *check, *cwd;
	} rows[] = {
		{ __LINE__, TURN "}\n" AGENT "}", 900, 0, "", "/home" },
		{ __LINE__, TURN "}\n" AGENT ", timeout: 5m, check: c, next_check: 5m..2h, workdir: /w}", 300,
		  7200, "c", "/w" },
		{ __LINE__,
		  TURN ", timeout: 20s, check: mine, next_check: 1m..3m}\n" AGENT
		       ", timeout: 5m, check: c, next_check: 5m..2h}",
		  20, 180, "mine", "/home" },
		{ __LINE__, TURN "}\n" AGENT ", workdir: ../w}", 900, 0, "", "/home/../w" },
		/* Keys of the agent that are about turns do not apply to commands. */
		{ __LINE__, COMMAND ", agent: ann}\n" AGENT ", timeout: 5m, check: c, workdir: /w}", 3600, 0,
		  "", "" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct schedule_doc d = resolved(rows[i].text, (struct turn_agent){ .several = false });
		CHECK_INT_AT(rows[i].line, d.timeout, rows[i].timeout);
		CHECK_INT_AT(rows[i].line, d.next_check.most, rows[i].next_check);
		CHECK_AT(rows[i].line, str_eq(d.check.command.shell, str_of(rows[i].check)));
		CHECK_AT(rows[i].line, str_eq(d.action.cwd, str_of(rows[i].cwd)));
	}
	reset_arena();
}

static enum err number_zone(void *self, struct str name, const struct zone *zone, uint16_t *ret)
{
	(void)self;
	(void)zone;
	*ret = str_eq(name, STR("Asia/Tokyo")) ? 9 : 1;
	return OK;
}

static enum err number_name(void *self, enum doc_name kind, struct str name, uint32_t *ret)
{
	(void)self;
	*ret = 100 * (kind + 1u) + (uint32_t)name.n;
	return OK;
}

TEST(rules_contain_limits_of_the_agent)
{
	struct doc_names names = { .zone = number_zone, .name = number_name };
	struct rules r, other;
	struct schedule_doc d =
		resolved(TURN "}\n" AGENT ", account: acme, concurrency: 2, check: c, active_hours: "
			      "'22:00-06:00 Asia/Tokyo'}",
			 (struct turn_agent){ .several = false });
	CHECK_INT(doc_rules(&d, &names, &r), OK);
	CHECK_INT(r.policy.action, ACTION_TURN);
	CHECK_INT(r.policy.agent, 103);
	CHECK_INT(r.policy.account, 204);
	CHECK_INT(r.policy.agent_slots, 2);
	CHECK_INT(r.policy.preconditions, 1u << ASK_CHECK);
	CHECK_INT(r.policy.agent_choice, AGENT_CHOICE_DEFAULT);
	CHECK_INT(r.policy.max_failures, 10);
	CHECK(r.active.from == 22 * 60 && r.active.to == 6 * 60 && r.active.zone == 9);
	CHECK(r.agent_print == d.turn.fingerprint && r.agent_print);
	/* Only the concurrency applies to a command. Hours without a zone are in the zone of the
	 * configuration. */
	d = resolved(COMMAND ", agent: ann}\n" AGENT
			     ", concurrency: 1000, account: a, active_hours: '08:00-20:00'}",
		     (struct turn_agent){ .several = false });
	CHECK_INT(doc_rules(&d, &names, &other), OK);
	CHECK_INT(other.policy.agent_slots, 1000);
	CHECK_INT(other.policy.account, 0);
	CHECK_INT(other.active.from, other.active.to);
	CHECK(other.agent_print && other.agent_print != r.agent_print);
	d = resolved(TURN "}\n" AGENT ", active_hours: '08:00-20:00'}",
		     (struct turn_agent){ .several = false });
	CHECK_INT(doc_rules(&d, &names, &other), OK);
	CHECK_INT(other.active.zone, 1);
	/* An agent that does not exist: the schedule is blocked by a precondition. */
	d = resolved(TURN ", agent: bob}", (struct turn_agent){ .name = STR("bob") });
	CHECK_INT(doc_rules(&d, &names, &other), OK);
	CHECK_INT(other.policy.preconditions, 1u << ASK_BLOCKED);
	CHECK(other.agent_print == 0);
	reset_arena();
}

TEST(input_is_prompt_and_message)
{
	struct schedule_doc d = resolved(TURN "}\n" AGENT ", args: [-x, two words], model: big}",
					 (struct turn_agent){ .several = false });
	struct str input = turn_input(&d, STR("hello\n"), &arena), origin;
	CHECK(str_eq(input, STR("Be brief.\n\nhello\n")));
	CHECK(str_eq(turn_message(&d, input), STR("hello\n")));
	CHECK(d.action.command.argc == 6 && str_eq(d.action.command.argv[5], STR("two words")));
	const char *argv[] = { "/bin/sh", "-c", NULL };
	struct launch l = { .argv = argv, .input = input };
	CHECK_INT(provenance_write(&d, &l, &arena, &origin), OK);
	CHECK(str_starts(origin, STR("{\"agent\":\"ann\",\"definition\":\"")));
	const char *end =
		"\"runner\":\"command\",\"model\":\"big\",\"program\":[\"/bin/sh\",\"-c\"],\"message\":"
		"\"hello\\n\",\"whole\":true}";
	CHECK_STR(origin.p + origin.n - strlen(end), end);
	/* A long message is cut, even if it is the JSON escapes that make it too long. */
	for (unsigned size = 60000; size <= 600000; size *= 10) {
		char *many = arena_alloc(&arena, size);
		memset(many, 1, size);
		l.input = turn_input(&d, (struct str){ many, size }, &arena);
		CHECK_INT(provenance_write(&d, &l, &arena, &origin), OK);
		CHECK(origin.n <= STORE_RUN_TEXT_BYTES_MAX && origin.n > STORE_RUN_TEXT_BYTES_MAX / 8);
		struct val v;
		struct why why;
		CHECK_INT(json_read(origin, &arena, &v, &why), OK);
		CHECK(!val_get(&v, STR("whole"))->boolean);
	}
	d = resolved(COMMAND "}", (struct turn_agent){ .several = false });
	CHECK_INT(provenance_write(&d, &l, &arena, &origin), OK);
	CHECK(!origin.p);
	reset_arena();
}

TEST(agent_index_has_a_default)
{
	struct agent_index r = { 0 };
	CHECK_INT(agent_index_default(&r, STR("")), 0);
	CHECK_INT(agent_index_set(&r, STR("bob"), 2), OK);
	CHECK_INT(agent_index_default(&r, STR("")), 2);
	CHECK_INT(agent_index_default(&r, STR("ann")), 0);
	CHECK_INT(agent_index_set(&r, STR("ann"), 1), OK);
	/* There are several agents, and none is the default. */
	CHECK_INT(agent_index_default(&r, STR("")), 0);
	CHECK_INT(agent_index_default(&r, STR("ann")), 1);
	CHECK_INT(agent_index_set(&r, STR("ann"), 3), OK);
	CHECK_INT(agent_index_get(&r, STR("ann")), 3);
	CHECK_INT(agent_index_set(&r, STR("bob"), 0), OK);
	CHECK_INT(agent_index_set(&r, STR("carl"), 0), OK); /* this agent was never added */
	CHECK_INT(agent_index_default(&r, STR("")), 3);
	for (uint64_t i = 0; i < 100; i++) {
		char name[8];
		snprintf(name, sizeof name, "n%llu", (unsigned long long)(i * 37 % 100));
		CHECK_INT(agent_index_set(&r, str_of(name), i + 10), OK);
	}
	CHECK_INT(r.n, 101);
	CHECK_INT(agent_index_get(&r, STR("n37")), 11);
	agent_index_free(&r);
}

/* Numbers and definitions of agents may be added in either order. */
TEST(fingerprints_are_found_by_number)
{
	struct intern *n = NULL;
	struct engine_config c;
	uint32_t ann = 0, bob = 0;
	CHECK_INT(intern_new(&n), OK);
	intern_default_agent(n, STR("bob"));
	intern_add_numbers(n, NAME_OTHER, 1, 10);
	intern_tables(n, &c);
	struct doc_names give = intern_for_documents(n);
	CHECK_INT(intern_agent(n, STR("ann"), 11), OK);
	CHECK_INT(give.name(give.self, DOC_AGENT, STR("ann"), &ann), OK);
	CHECK_INT(give.name(give.self, DOC_AGENT, STR("bob"), &bob), OK);
	CHECK(ann && bob && c.agents[ann] == 11 && c.agents[bob] == 0 && *c.default_agent == 0);
	CHECK_INT(intern_agent(n, STR("bob"), 12), OK);
	CHECK(c.agents[bob] == 12 && *c.default_agent == 12);
	CHECK_INT(intern_agent(n, STR("ann"), 0), OK);
	CHECK(c.agents[ann] == 0 && *c.default_agent == 12);
	intern_free(n);
}

TEST(traces_continue_their_parent)
{
	static const char parent[] = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
	static const char *const bad[] = { "",
					   "x",
					   "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
					   "00-00000000000000000000000000000000-b7ad6b7169203331-00",
					   "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-00",
					   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00-more" };
	char one[TRACE_SIZE], two[TRACE_SIZE], below[TRACE_SIZE];
	trace_child(parent, below);
	CHECK(!strncmp(below, parent, 36) && strcmp(below, parent) != 0 && !strcmp(below + 52, "-00"));
	trace_child(NULL, one);
	CHECK_INT(strlen(one), TRACE_SIZE - 1);
	trace_child(one, two);
	CHECK(!strncmp(one, two, 36) && strcmp(one, two) != 0); /* a generated trace can be a parent */
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++) {
		trace_child(bad[i], two);
		CHECK(strncmp(bad[i], two, 35) != 0 && !strcmp(two + 52, "-01"));
	}
}
