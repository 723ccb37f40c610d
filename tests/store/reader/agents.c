/* Agents, their state and their notes. */
#include "reader.h"

TEST_ON_EACH(state_of_an_agent)
{
	struct scene s;
	struct state_row got;
	scene_open(&s);
	CHECK_INT(read_state(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && !got.rev);
	struct st_req r = {
		.op = ST_STATE, .lane = LANE_USER, .at = AT(1), .state = { STR("desk"), STR("{}"), 0 }
	};
	scene_ask(&s, r);
	CHECK_INT(read_state(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(str_eq(got.text, STR("{}")) && got.rev == 1);
	scene_close(&s);
}

static void add_note(struct scene *s, const char *agent, uint64_t run, const char *text, const char *tags)
{
	static int64_t at;
	struct st_req r = { .op = ST_MEMORY,
			    .lane = LANE_USER,
			    .at = AT(++at),
			    .memory = { .act = MEMORY_ADD,
					.run = run,
					.agent = str_of(agent),
					.text = str_of(text),
					.tags = str_of(tags) } };
	scene_ask(s, r);
}

static void list_numbers(const struct read_memories *list, char ret[static 64])
{
	ret[0] = 0;
	for (unsigned i = 0; i < list->n; i++)
		snprintf(ret + strlen(ret), 64 - strlen(ret), "%llu ",
			 (unsigned long long)list->item[i].row.number);
}

TEST(notes_are_found_by_words)
{
	struct scene s;
	struct read_memories got;
	char is[64];
	scene_open(&s);
	add_note(&s, "desk", 7, "The invoices of the printer are late", "");
	add_note(&s, "desk", 7, "Die Rechnungen der Bäckerei kommen per Post", "");
	add_note(&s, "desk", 0, "Rechnung Nr. 5 ist bezahlt", "geld");
	add_note(&s, "night", 8, "an invoice of another agent", "");
	add_note(&s, "desk", 9, "a café by the office", "food\nlunch");
	add_note(&s, "desk", 9, "lunch was cold; the soup, too", "");
	static const struct {
		int line;
		const char *agent, *words, *want;
	} rows[] = {
		{ __LINE__, "desk", "invoice", "1 " },
		{ __LINE__, "desk", "INVOICES, please", "1 " },
		{ __LINE__, "", "invoice", "4 1 " },
		{ __LINE__, "desk", "Rechnungen", "2 3 " }, /* the exact form first */
		{ __LINE__, "desk", "Rechnung", "3 2 " },
		{ __LINE__, "desk", "backerei", "2 " },
		{ __LINE__, "desk", "Cafe", "5 " },
		{ __LINE__, "desk", "lunch", "5 6 " }, /* a tag counts twice */
		{ __LINE__, "desk", "the of and der", "" },
		{ __LINE__, "desk", "", "" },
		{ __LINE__, "nobody", "invoice", "" },
		/* FTS5 operators have no effect. */
		{ __LINE__, "desk", "\"invoices\" NEAR(x, 5) text:* ^soup - (", "6 1 " },
		{ __LINE__, "desk", "\"", "" },
		{ __LINE__, "desk", "owner:x", "" },
		/* The word of the owner column has no effect either. */
		{ __LINE__, "desk", "x6465736bx", "" },
		{ __LINE__, "desk", "NOT invoice AND OR", "1 " },
		{ __LINE__, "desk\" OR \"x", "invoice", "" },
		{ __LINE__, "desk", "\xe2\x80\x94 \xf0\x9f\x8d\x9c soup",
		  "6 " }, /* neither letters nor ASCII */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("line %d: %s", rows[i].line, rows[i].words);
		CHECK_INT(read_memories_about(s.r, str_of(rows[i].agent), str_of(rows[i].words), 0, 0, &s.a,
					      &got, &s.why),
			  OK);
		list_numbers(&got, is);
		CHECK_STR(is, rows[i].want);
	}
	test_case(NULL);
	scene_close(&s);
}

TEST(notes_are_listed_newest_first)
{
	struct scene s;
	struct read_memories got;
	struct read_memory one;
	char is[64], words[2000];
	scene_open(&s);
	for (unsigned i = 0; i < 6; i++)
		add_note(&s, i % 2 ? "night" : "desk", i / 2, i == 5 ? "needle" : "hay", "a\nb");
	CHECK_INT(read_memories(s.r, STR("desk"), 0, 0, 2, &s.a, &got, &s.why), OK);
	list_numbers(&got, is);
	CHECK(!strcmp(is, "5 3 ") && got.more);
	CHECK_INT(read_memories(s.r, STR("desk"), 0, 3, 2, &s.a, &got, &s.why), OK);
	list_numbers(&got, is);
	CHECK(!strcmp(is, "1 ") && !got.more);
	CHECK_INT(read_memories(s.r, STR(""), 2, 0, 0, &s.a, &got, &s.why), OK);
	list_numbers(&got, is);
	CHECK(!strcmp(is, "6 5 "));
	CHECK_INT(read_memories(s.r, STR(""), 0, 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 6);
	CHECK_INT(read_memory(s.r, 6, &s.a, &one, &s.why), OK);
	CHECK(str_eq(one.row.text, STR("needle")) && str_eq(one.row.tags, STR("a\nb")) && one.row.run == 2);
	CHECK(!one.schedule.p);
	CHECK_INT(read_memory(s.r, 7, &s.a, &one, &s.why), E_NOTFOUND);
	/* Only the first READ_QUERY_WORDS words are searched. */
	unsigned n = 0;
	for (unsigned i = 0; i < READ_QUERY_WORDS; i++)
		n += (unsigned)snprintf(words + n, sizeof words - n, "word%u word%u ", i, i);
	snprintf(words + n, sizeof words - n, "needle");
	CHECK_INT(read_memories_about(s.r, STR(""), str_of(words), 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 0);
	CHECK_INT(read_memories_about(s.r, STR(""), str_of(words + 12), 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 1);
	scene_close(&s);
}

/* For callers for which ranking takes too long. Notes of other agents are not found. */
TEST(notes_with_a_word_are_found_without_ranking)
{
	struct scene s;
	struct read_memories got;
	char is[64];
	scene_open(&s);
	static const char *const texts[] = { "invoice of May", "soup", "an invoice, invoices", "Rechnungen",
					     "invoiced twice" };
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++) {
		add_note(&s, "desk", 0, texts[i], i == 1 ? "invoice" : "");
		add_note(&s, "night", 0, texts[i], "");
	}
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("Invoices \" OR Rechnung"), 0, &s.a, &got, &s.why),
		  OK);
	list_numbers(&got, is);
	CHECK_STR(is, "9 5 3 1 ");
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("invoice"), 2, &s.a, &got, &s.why), OK);
	list_numbers(&got, is);
	CHECK(!strcmp(is, "9 5 ") && got.more);
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("\" *"), 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 0);
	scene_close(&s);
}

TEST_ON_EACH(agents_are_read_by_name)
{
	static const char *const names[] = { "night", "desk", "triage" };
	struct scene s;
	struct read_agent got;
	struct read_agents all;
	scene_open(&s);
	CHECK_INT(read_agent(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && !got.rev);
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		scene_ask(&s, (struct st_req){ .op = ST_AGENT,
					       .lane = LANE_USER,
					       .at = AT(1),
					       .source = { STR("/ops/a.org"), 7 },
					       .agent = { .name = str_of(names[i]), .text = STR("{}") } });
	CHECK_INT(read_agent(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(str_eq(got.text, STR("{}")) && got.rev == 1 && got.at.us == AT(1).us);
	CHECK(str_eq(got.source.from, STR("/ops/a.org")) && got.source.line == 7);
	CHECK_INT(read_agents(s.r, STR(""), 2, &s.a, &all, &s.why), OK);
	CHECK(all.n == 2 && all.more && str_eq(all.item[0].name, STR("desk")));
	CHECK_INT(read_agents(s.r, all.item[1].name, 2, &s.a, &all, &s.why), OK);
	CHECK(all.n == 1 && !all.more && str_eq(all.item[0].name, STR("triage")));
	scene_ask(&s, (struct st_req){ .op = ST_AGENT,
				       .lane = LANE_USER,
				       .at = AT(2),
				       .agent = { .name = STR("desk"), .rev = 1, .act = AGENT_DROP } });
	CHECK_INT(read_agent(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && got.rev == 2);
	CHECK_INT(read_agents(s.r, STR(""), 9, &s.a, &all, &s.why), OK);
	CHECK(all.n == 2 && str_eq(all.item[0].name, STR("night")));
	scene_close(&s);
}
