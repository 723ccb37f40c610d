/* What people may ask: what is told, in which order, how much of it; and that it agrees with the model. */
#include "store/sqlite/read/reader.h"
#include "fixture.h"
#include "request_stream.h"
#include "requests.h"
#include "store/sqlite/read/statements.h"
#include "store/sqlite/schema.h"
#include "test.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct scene {
	struct rig rig;
	struct reader *r;
	struct arena a;
	struct why why;
};

static void open_reader(struct scene *s)
{
	if (!CHECK_INT(reader_open(s->rig.path, &s->r, &s->why), OK)) {
		printf("%s\n", s->why.text);
		abort();
	}
}

static void scene_open(struct scene *s)
{
	*s = (struct scene){ 0 };
	rig_open(&s->rig, RIG_SQLITE);
	open_reader(s);
}

static void scene_close(struct scene *s)
{
	reader_close(s->r);
	rig_close(&s->rig);
	arena_free(&s->a);
}

static void ask(struct scene *s, struct st_req r)
{
	CHECK_INT(rig_ask(&s->rig, &r).res, ST_OK);
}

static void put(struct scene *s, uint64_t sid, const char *id, const char *document)
{
	struct st_req r = req_put(sid, 0, 10);
	r.id = id ? str_of(id) : (struct str){ 0 };
	r.document = document ? str_of(document) : (struct str){ 0 };
	ask(s, r);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *db = NULL;
	char *say = NULL;
	CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
	if (!CHECK_INT(sqlite3_exec(db, text, NULL, NULL, &say), SQLITE_OK))
		printf("%s\n", say);
	sqlite3_free(say);
	sqlite3_close(db);
}

/* --- opening --- */

static void expect_refused_at(int line, const char *path, enum err want, const char *say)
{
	struct reader *r = (void *)1;
	struct why why = { 0 };
	CHECK_INT_AT(line, reader_open(path, &r, &why), want);
	CHECK_AT(line, r == (void *)1); /* untouched */
	if (!CHECK_AT(line, strstr(why.text, say) && strstr(why.text, path)))
		printf("%s\n", why.text);
}
#define EXPECT_REFUSED(path, want, say) expect_refused_at(__LINE__, path, want, say)

static void write_junk(const char *path, off_t from, size_t n)
{
	FILE *f = fopen(path, from ? "r+" : "w");
	CHECK(f && fseek(f, from, SEEK_SET) == 0);
	for (size_t i = 0; f && i < n; i++)
		fputc(0xA5, f);
	if (f)
		fclose(f);
}

TEST(reader_open_refuses_what_it_cannot_read)
{
	struct stat st;
	struct rig rig;
	char other[96], text[64];
	rig_open(&rig, RIG_SQLITE);
	snprintf(other, sizeof other, "%s/other", rig.dir);
	EXPECT_REFUSED(other, E_IO, "No such file or directory");
	CHECK(stat(other, &st) != 0); /* and none was made */
	write_junk(other, 0, 8192);
	EXPECT_REFUSED(other, E_INPUT, "is not a database");
	unlink(other);
	sql(other, "CREATE TABLE notes (text)");
	EXPECT_REFUSED(other, E_INPUT, "another program");
	unlink(other);
	sql(other, "PRAGMA journal_mode = WAL"); /* created, and no further */
	EXPECT_REFUSED(other, E_INPUT, "not yet brought");
	snprintf(text, sizeof text, "PRAGMA user_version = %u", schema_version + 1);
	sql(rig.path, text);
	EXPECT_REFUSED(rig.path, E_INPUT, "use the newer");
	sql(rig.path, "PRAGMA user_version = 0");
	EXPECT_REFUSED(rig.path, E_INPUT, "not yet brought");
	reader_close(NULL);
	rig_close(&rig);
}

TEST(reader_open_says_when_it_is_damaged)
{
	struct rig rig;
	rig_open(&rig, RIG_SQLITE);
	for (uint64_t i = 1; i < 200; i++)
		rig_ask(&rig, &(struct st_req){ .op = ST_HOLD, .hold = { (uint32_t)i, 1, AT(1) } });
	store_sqlite_close(rig.store);
	write_junk(rig.path, 100, 4096 - 100);
	EXPECT_REFUSED(rig.path, E_IO, "malformed");
	remove_dir(rig.dir);
}

TEST(damage_met_by_a_question)
{
	struct scene s;
	struct read_scheds list = { .n = 77 };
	struct stat st;
	static char large[500];
	memset(large, 'x', sizeof large - 1);
	scene_open(&s);
	for (uint64_t i = 1; i <= 2000; i++) {
		char id[32];
		snprintf(id, sizeof id, "s%llu", (unsigned long long)i);
		put(&s, i, id, large);
	}
	reader_close(s.r);
	store_sqlite_close(s.rig.store);
	CHECK(stat(s.rig.path, &st) == 0);
	open_reader(&s);
	write_junk(s.rig.path, st.st_size / 4 / 4096 * 4096, (size_t)st.st_size * 3 / 4 - 4096);
	CHECK_INT(read_scheds(s.r, STR(""), 0, &s.a, &list, &s.why), E_IO);
	CHECK_INT(list.n, 77); /* untouched */
	CHECK(strstr(s.why.text, "malformed") && strstr(s.why.text, s.rig.path));
	reader_close(s.r);
	arena_free(&s.a);
	remove_dir(s.rig.dir);
}

TEST(a_reader_cannot_write)
{
	struct scene s;
	scene_open(&s);
	CHECK_INT(sqlite3_exec(s.r->db, "DELETE FROM hold", NULL, NULL, NULL) & 0xFF, SQLITE_READONLY);
	scene_close(&s);
}

/* --- schedules --- */

TEST(schedules_by_sid)
{
	struct scene s;
	struct read_sched got = { .put_at = AT(77) };
	scene_open(&s);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), E_NOTFOUND);
	CHECK_INT(got.put_at.us, 77);
	put(&s, 5, "news", "{\"when\": 1}");
	put(&s, 6, NULL, NULL);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), OK);
	CHECK_INT(got.row.sid, 5);
	CHECK_INT(got.row.next.us, 100);
	CHECK_INT(got.row.rules[STORE_RULES - 1], 5);
	CHECK_INT(got.put_at.us, 10);
	CHECK_INT(got.dropped.us, INT64_MAX);
	CHECK(str_eq(got.id, STR("news")) && str_eq(got.document, STR("{\"when\": 1}")) && !got.open);
	CHECK_INT(read_sched(s.r, 6, &s.a, &got, &s.why), OK);
	CHECK(!got.id.p && !got.document.p);

	struct st_req g = req_range(5, 1, 20, INT64_MAX);
	g.range.state = RUN_SKIPPED;
	g.range.reason = 3;
	ask(&s, req_range(5, 1, 11, 12)); /* closed: not this one */
	ask(&s, g);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), OK);
	CHECK(got.open && got.range.sid == 5 && got.range.first.us == 20);
	CHECK(got.range.last.us == INT64_MAX && got.range.state == RUN_SKIPPED && got.range.reason == 3);

	/* Removed, it is still there for its runs. */
	g = req_drop(5, 1, 30);
	g.close_range = true;
	ask(&s, g);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), OK);
	CHECK_INT(got.dropped.us, 30);
	CHECK(str_eq(got.id, STR("news")) && str_eq(got.document, STR("{\"when\": 1}")) && !got.open);
	scene_close(&s);
}

static void expect_match_at(int line, struct scene *s, const char *text, const char *want)
{
	struct read_match m;
	struct buf got = { 0 };
	enum err e = read_sched_named(s->r, str_of(text), &s->a, &m, &s->why);
	if (e != OK)
		buf_addf(&got, "%s", e == E_NOTFOUND ? "none" : "error");
	for (unsigned i = 0; e == OK && i < m.n; i++)
		buf_addf(&got, "%s%.*s", i ? " " : "", STR_ARG(m.id[i]));
	if (e == OK && m.more)
		buf_add(&got, STR(" …"));
	if (e == OK && m.n == 1)
		CHECK_AT(line, str_eq(m.sched.id, m.id[0]));
	check_str(__FILE__, line, buf_str(&got), str_of(want), text);
	buf_free(&got);
}
#define EXPECT_MATCH(s, text, want) expect_match_at(__LINE__, s, text, want)

TEST(schedules_by_what_people_type)
{
	static const char *const ids[] = { "daily", "daily-report", "dash", "Daily", "x\xC3\xBF", "w1",
					   "w2",    "w3",           "w4",   "w5",    "w6",        "w7",
					   "w8",    "v1",           "v2",   "v3",    "v4",        "v5",
					   "v6",    "v7",           "v8",   "v9",    "gone",      "gonner" };
	struct scene s;
	scene_open(&s);
	for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
		put(&s, i + 1, ids[i], "{}");
	ask(&s, req_drop(23, 1, 20));
	EXPECT_MATCH(&s, "daily", "daily"); /* exact, though it begins another */
	EXPECT_MATCH(&s, "daily-", "daily-report");
	EXPECT_MATCH(&s, "dai", "daily daily-report");
	EXPECT_MATCH(&s, "d", "daily daily-report dash");
	EXPECT_MATCH(&s, "das", "dash");
	EXPECT_MATCH(&s, "D", "Daily");
	EXPECT_MATCH(&s, "x", "x\xC3\xBF");
	EXPECT_MATCH(&s, "dailyx", "none");
	EXPECT_MATCH(&s, "daily-report-", "none");
	EXPECT_MATCH(&s, "w", "w1 w2 w3 w4 w5 w6 w7 w8");
	EXPECT_MATCH(&s, "v", "v1 v2 v3 v4 v5 v6 v7 v8 …");
	EXPECT_MATCH(&s, "gon", "gonner"); /* the removed one is not meant */
	EXPECT_MATCH(&s, "gone", "none");
	EXPECT_MATCH(&s, "", "none");
	EXPECT_MATCH(&s, "%", "none");
	CHECK(strstr(s.why.text, "'%'"));
	scene_close(&s);
}

TEST(removed_schedules_by_id)
{
	struct scene s;
	struct read_sched got;
	scene_open(&s);
	put(&s, 1, "news", "first");
	CHECK_INT(read_sched_removed(s.r, STR("news"), &s.a, &got, &s.why), E_NOTFOUND);
	ask(&s, req_drop(1, 1, 20));
	put(&s, 2, "news", "second");
	ask(&s, req_drop(2, 1, 30));
	put(&s, 3, "news", "third");
	CHECK_INT(read_sched_removed(s.r, STR("news"), &s.a, &got, &s.why), OK);
	CHECK_INT(got.row.sid, 2);
	CHECK_INT(got.dropped.us, 30);
	CHECK(str_eq(got.document, STR("second")));
	EXPECT_MATCH(&s, "news", "news");
	CHECK_INT(read_sched_removed(s.r, STR("new"), &s.a, &got, &s.why), E_NOTFOUND);
	scene_close(&s);
}

TEST(schedules_page_by_page)
{
	struct scene s;
	struct read_scheds page;
	scene_open(&s);
	for (uint64_t i = 1; i <= 25; i++) {
		char id[32];
		snprintf(id, sizeof id, "s%02llu", (unsigned long long)(i * 7 % 25));
		put(&s, i, i == 9 ? NULL : id, id); /* one has none: it is not listed */
	}
	ask(&s, req_drop(3, 1, 20)); /* s21 */
	struct str after = { 0 };
	unsigned seen = 0, pages = 0;
	do {
		CHECK_INT(read_scheds(s.r, after, 10, &s.a, &page, &s.why), OK);
		for (unsigned i = 0; i < page.n; i++, seen++) {
			CHECK(!after.p || memcmp(after.p, page.item[i].id.p, 3) < 0);
			CHECK(str_eq(page.item[i].id, page.item[i].document));
			after = page.item[i].id;
			CHECK(!str_eq(after, STR("s21")) && !str_eq(after, STR("s13")));
		}
		CHECK(page.n == 10 || !page.more);
	} while (page.more && ++pages < 10);
	CHECK_INT(seen, 23);
	CHECK_INT(read_scheds(s.r, after, 10, &s.a, &page, &s.why), OK);
	CHECK(!page.n && !page.more);
	scene_close(&s);
}

TEST(schedules_by_source)
{
	static const struct {
		const char *id, *from;
	} item[] = { { "d", "/ops/a.yaml" },  { "b", "/ops/a.yaml" }, { "c", "/ops/sub/x.yaml" },
		     { "a", "/ops2/a.yaml" }, { "e", NULL },          { "f", "" },
		     { "g", "/ops/a.yaml" },  { "h", "/ops/a.yamlx" } };
	static const struct {
		const char *from, *want;
	} asked[] = { { "/ops/a.yaml", "b d " },
		      { "/ops/", "b d h c " },
		      { "/ops2/a.yaml", "a " },
		      { "/op", "" },
		      { "", "" } };
	struct scene s;
	scene_open(&s);
	for (unsigned i = 0; i < ARRAY_LEN(item); i++) {
		struct st_req r = req_put(i + 1, 0, 10);
		r.id = r.document = str_of(item[i].id);
		if (item[i].from)
			r.source = (struct source_row){ str_of(item[i].from), i };
		ask(&s, r);
	}
	ask(&s, req_drop(7, 1, 20));
	for (unsigned i = 0; i < ARRAY_LEN(asked); i++) {
		char got[64] = "";
		struct read_scheds page = { 0 };
		do {
			const struct read_sched *after = page.n ? &page.item[page.n - 1] : NULL;
			CHECK_INT(read_scheds_from(s.r, str_of(asked[i].from), after, 1, &s.a, &page, &s.why),
				  OK);
			for (unsigned k = 0; k < page.n; k++)
				snprintf(got + strlen(got), sizeof got - strlen(got), "%.*s ",
					 STR_ARG(page.item[k].id));
		} while (page.more);
		CHECK(strcmp(got, asked[i].want) == 0);
	}
	struct read_sched one;
	CHECK_INT(read_sched(s.r, 4, &s.a, &one, &s.why), OK);
	CHECK(str_eq(one.source.from, STR("/ops2/a.yaml")) && one.source.line == 3);
	scene_close(&s);
}

TEST(what_agents_know)
{
	struct scene s;
	struct state_row got;
	scene_open(&s);
	CHECK_INT(read_state(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && !got.rev);
	struct st_req r = {
		.op = ST_STATE, .lane = LANE_USER, .at = AT(1), .state = { STR("desk"), STR("{}"), 0 }
	};
	ask(&s, r);
	CHECK_INT(read_state(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(str_eq(got.text, STR("{}")) && got.rev == 1);
	scene_close(&s);
}

static void note(struct scene *s, const char *agent, uint64_t run, const char *text, const char *tags)
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
	ask(s, r);
}

static void numbers(const struct read_memories *list, char ret[static 64])
{
	ret[0] = 0;
	for (unsigned i = 0; i < list->n; i++)
		snprintf(ret + strlen(ret), 64 - strlen(ret), "%llu ",
			 (unsigned long long)list->item[i].row.number);
}

TEST(notes_are_found_by_their_words)
{
	struct scene s;
	struct read_memories got;
	char is[64];
	scene_open(&s);
	note(&s, "desk", 7, "The invoices of the printer are late", "");
	note(&s, "desk", 7, "Die Rechnungen der Bäckerei kommen per Post", "");
	note(&s, "desk", 0, "Rechnung Nr. 5 ist bezahlt", "geld");
	note(&s, "night", 8, "an invoice of another agent", "");
	note(&s, "desk", 9, "a café by the office", "food\nlunch");
	note(&s, "desk", 9, "lunch was cold; the soup, too", "");
	static const struct {
		int line;
		const char *agent, *words, *want;
	} rows[] = {
		{ __LINE__, "desk", "invoice", "1 " },
		{ __LINE__, "desk", "INVOICES, please", "1 " },
		{ __LINE__, "", "invoice", "4 1 " },
		{ __LINE__, "desk", "Rechnungen", "2 3 " }, /* its own form first */
		{ __LINE__, "desk", "Rechnung", "3 2 " },
		{ __LINE__, "desk", "backerei", "2 " },
		{ __LINE__, "desk", "Cafe", "5 " },
		{ __LINE__, "desk", "lunch", "5 6 " }, /* as a tag it counts twice */
		{ __LINE__, "desk", "the of and der", "" },
		{ __LINE__, "desk", "", "" },
		{ __LINE__, "nobody", "invoice", "" },
		/* Nothing of FTS5's language means anything. */
		{ __LINE__, "desk", "\"invoices\" NEAR(x, 5) text:* ^soup - (", "6 1 " },
		{ __LINE__, "desk", "\"", "" },
		{ __LINE__, "desk", "owner:x", "" },
		{ __LINE__, "desk", "x6465736bx", "" }, /* nor does the owner's word */
		{ __LINE__, "desk", "NOT invoice AND OR", "1 " },
		{ __LINE__, "desk\" OR \"x", "invoice", "" },
		{ __LINE__, "desk", "\xe2\x80\x94 \xf0\x9f\x8d\x9c soup",
		  "6 " }, /* no letters, but no ASCII either */
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		test_case("line %d: %s", rows[i].line, rows[i].words);
		CHECK_INT(read_memories_about(s.r, str_of(rows[i].agent), str_of(rows[i].words), 0, 0, &s.a,
					      &got, &s.why),
			  OK);
		numbers(&got, is);
		CHECK_STR(is, rows[i].want);
	}
	test_case(NULL);
	scene_close(&s);
}

TEST(notes_are_listed_the_newest_first)
{
	struct scene s;
	struct read_memories got;
	struct read_memory one;
	char is[64], words[2000];
	scene_open(&s);
	for (unsigned i = 0; i < 6; i++)
		note(&s, i % 2 ? "night" : "desk", i / 2, i == 5 ? "needle" : "hay", "a\nb");
	CHECK_INT(read_memories(s.r, STR("desk"), 0, 0, 2, &s.a, &got, &s.why), OK);
	numbers(&got, is);
	CHECK(!strcmp(is, "5 3 ") && got.more);
	CHECK_INT(read_memories(s.r, STR("desk"), 0, 3, 2, &s.a, &got, &s.why), OK);
	numbers(&got, is);
	CHECK(!strcmp(is, "1 ") && !got.more);
	CHECK_INT(read_memories(s.r, STR(""), 2, 0, 0, &s.a, &got, &s.why), OK);
	numbers(&got, is);
	CHECK(!strcmp(is, "6 5 "));
	CHECK_INT(read_memories(s.r, STR(""), 0, 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 6);
	CHECK_INT(read_memory(s.r, 6, &s.a, &one, &s.why), OK);
	CHECK(str_eq(one.row.text, STR("needle")) && str_eq(one.row.tags, STR("a\nb")) && one.row.run == 2);
	CHECK(!one.schedule.p);
	CHECK_INT(read_memory(s.r, 7, &s.a, &one, &s.why), E_NOTFOUND);
	/* Of very many words the first ones count. */
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

/* What is left where ranking would take too long: whoever's words there are, those of the agent are found. */
TEST(notes_with_a_word_are_found_without_ranking)
{
	struct scene s;
	struct read_memories got;
	char is[64];
	scene_open(&s);
	static const char *const texts[] = { "invoice of May", "soup", "an invoice, invoices", "Rechnungen",
					     "invoiced twice" };
	for (unsigned i = 0; i < ARRAY_LEN(texts); i++) {
		note(&s, "desk", 0, texts[i], i == 1 ? "invoice" : "");
		note(&s, "night", 0, texts[i], "");
	}
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("Invoices \" OR Rechnung"), 0, &s.a, &got, &s.why),
		  OK);
	numbers(&got, is);
	CHECK_STR(is, "9 5 3 1 ");
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("invoice"), 2, &s.a, &got, &s.why), OK);
	numbers(&got, is);
	CHECK(!strcmp(is, "9 5 ") && got.more);
	CHECK_INT(read_memories_with(s.r, STR("desk"), STR("\" *"), 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 0);
	scene_close(&s);
}

TEST(agents_are_read_by_name)
{
	static const char *const names[] = { "night", "desk", "triage" };
	struct scene s;
	struct read_agent got;
	struct read_agents all;
	scene_open(&s);
	CHECK_INT(read_agent(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && !got.rev);
	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		ask(&s, (struct st_req){ .op = ST_AGENT,
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
	ask(&s, (struct st_req){ .op = ST_AGENT,
				 .lane = LANE_USER,
				 .at = AT(2),
				 .agent = { .name = STR("desk"), .rev = 1, .act = AGENT_DROP } });
	CHECK_INT(read_agent(s.r, STR("desk"), &s.a, &got, &s.why), OK);
	CHECK(!got.text.p && got.rev == 2);
	CHECK_INT(read_agents(s.r, STR(""), 9, &s.a, &all, &s.why), OK);
	CHECK(all.n == 2 && str_eq(all.item[0].name, STR("night")));
	scene_close(&s);
}

TEST(who_is_to_be_told)
{
	struct scene s;
	struct read_news news;
	struct read_notices got;
	struct message_row one;
	struct wall next;
	bool yes;
	scene_open(&s);
	struct st_req r = req_put(5, 0, 10);
	ask(&s, r);
	for (uint64_t n = 1; n <= 3; n++) {
		r = req_occ(5, 1, n, 100 * (int64_t)n);
		r.news = (uint8_t)n;
		ask(&s, r);
	}
	CHECK_INT(read_news(s.r, 2, &s.a, &news, &s.why), OK);
	CHECK(news.n == 2 && news.more && news.item[1].number == 2 && news.item[1].run == 2);
	CHECK(news.item[1].what == 2 && news.item[1].sid == 5);
#define TO(...)                                                                                              \
	{                                                                                                    \
		.origin = STR("o"), .target = STR("t"), .body = STR("b"), __VA_ARGS__                        \
	}
	const struct message_row all[] = { TO(.run = 7, .receiver = 1, .next = AT(30), .kind = 4, .sid = 5),
					   TO(.run = 7, .receiver = 2, .next = AT(20), .kind = 4, .sid = 5),
					   TO(.receiver = 1, .next = AT(10)),
					   TO(.receiver = 3, .next = AT(40)),
					   TO(.receiver = 4, .state = MESSAGE_GONE, .result = STR("410")) };
	r = (struct st_req){ .op = ST_MESSAGES, .lane = LANE_FINISH, .at = AT(1), .messages = { 3, all, 5 } };
	ask(&s, r);
	CHECK_INT(read_news(s.r, 2, &s.a, &news, &s.why), OK);
	CHECK(!news.n && !news.more);
	CHECK_INT(read_notices_of(s.r, 7, 0, &s.a, &got, &s.why), OK);
	CHECK(got.n == 2 && got.item[0].number == 1 && got.item[1].receiver == 2 && !got.item[0].result.p);
	CHECK_INT(read_notices_of(s.r, 0, 0, &s.a, &got, &s.why), OK);
	CHECK_INT(got.n, 0); /* 0 is no run */
	CHECK_INT(read_notices_due(s.r, AT(30), STR("[]"), 0, &s.a, &got, &s.why), OK);
	CHECK(got.n == 3 && got.item[0].number == 3 && got.item[2].number == 1);
	CHECK_INT(read_notices_due(s.r, AT(30), STR("[1]"), 0, &s.a, &got, &s.why), OK);
	CHECK(got.n == 1 && got.item[0].number == 2);
	CHECK_INT(read_notice_next(s.r, STR("[1,2]"), &next, &s.why), OK);
	CHECK_INT(next.us, 40);
	CHECK_INT(read_notice_next(s.r, STR("[1,2,3]"), &next, &s.why), OK);
	CHECK_INT(next.us, INT64_MAX);
	CHECK_INT(read_notices(s.r, 0, 2, &s.a, &got, &s.why), OK);
	CHECK(got.n == 2 && got.more && got.item[0].number == 5 && str_eq(got.item[0].result, STR("410")));
	CHECK_INT(read_notice(s.r, 4, &s.a, &one, &s.why), OK);
	CHECK(one.receiver == 3 && str_eq(one.target, STR("t")));
	CHECK_INT(read_notice(s.r, 6, &s.a, &one, &s.why), E_NOTFOUND);
	CHECK_INT(read_notice_after(s.r, 5, 4, 1, &yes, &s.why), OK);
	CHECK(yes);
	CHECK_INT(read_notice_after(s.r, 5, 4, 2, &yes, &s.why), OK);
	CHECK(!yes);
	CHECK_INT(read_receiver_gone(s.r, STR("o"), &yes, &s.why), OK);
	CHECK(yes);
	CHECK_INT(read_receiver_gone(s.r, STR("p"), &yes, &s.why), OK);
	CHECK(!yes);
	scene_close(&s);
}

TEST(a_page_holds_only_so_much_text)
{
	struct scene s;
	struct read_scheds page;
	size_t n = READ_BYTES_MAX / 4 + 10;
	char *large = malloc(n);
	memset(large, 'x', n);
	scene_open(&s);
	for (uint64_t i = 1; i <= 5; i++) {
		struct st_req r = req_put(i, 0, 10);
		char id[8];
		snprintf(id, sizeof id, "s%llu", (unsigned long long)i);
		r.id = str_of(id);
		r.document = (struct str){ large, n };
		ask(&s, r);
	}
	CHECK_INT(read_scheds(s.r, STR(""), 0, &s.a, &page, &s.why), OK);
	CHECK(page.n == 3 && page.more);
	CHECK_INT(page.item[2].document.n, n);
	CHECK_INT(read_scheds(s.r, STR("s3"), 0, &s.a, &page, &s.why), OK);
	CHECK(page.n == 2 && !page.more);
	scene_close(&s);
	free(large);
}

/* --- runs, problems, holds, against the model --- */

/* What a question should find, in its order. */
struct want {
	const struct run_row **run;
	size_t n;
};

static bool passes(const struct read_filter *f, const struct run_row *x)
{
	bool failed = x->state == RUN_FINISHED && (x->outcome == 2 || x->outcome == 3);
	int64_t at = f->sid ? x->nominal.us : x->claimed.us;
	return (!f->sid || x->sid == f->sid) && (!f->states || f->states >> x->state & 1) &&
	       (!f->failed || failed) && (!f->since.us || at >= f->since.us) &&
	       (!f->until.us || at <= f->until.us);
}

static int by_number(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	return x->run < y->run ? 1 : -1;
}

static int by_time(const void *a, const void *b)
{
	const struct run_row *x = *(const struct run_row *const *)a, *y = *(const struct run_row *const *)b;
	if (x->nominal.us != y->nominal.us)
		return x->nominal.us < y->nominal.us ? 1 : -1;
	return by_number(a, b);
}

static struct want all_that_pass(const struct rows *rows, const struct read_filter *f)
{
	struct want w = { calloc(rows_runs(rows) + 1, sizeof *w.run), 0 };
	for (size_t i = 0; i < rows_runs(rows); i++) {
		const struct run_row *x = rows_run_at(rows, i);
		if (x && passes(f, x))
			w.run[w.n++] = x;
	}
	qsort(w.run, w.n, sizeof *w.run, f->sid ? by_time : by_number);
	return w;
}

static bool same_run(const struct run_row *a, const struct run_row *b)
{
	return a->run == b->run && a->sid == b->sid && a->nominal.us == b->nominal.us &&
	       a->state == b->state && a->outcome == b->outcome && a->reason == b->reason &&
	       a->kind == b->kind && a->ended.us == b->ended.us && a->exit_code == b->exit_code &&
	       a->attempt == b->attempt && a->started.us == b->started.us && a->tokens_out == b->tokens_out;
}

/* All pages of a question. */
static unsigned check_pages(struct scene *s, const struct rows *rows, struct read_filter f)
{
	struct want w = all_that_pass(rows, &f);
	struct read_runs page;
	size_t at = 0;
	unsigned limit = f.limit ? f.limit : READ_LIST_MAX;
	do {
		if (!CHECK_INT(read_runs(s->r, &f, &s->a, &page, &s->why), OK))
			break;
		if (!CHECK_INT(page.n, w.n - at < limit ? w.n - at : limit) ||
		    !CHECK_INT(page.more, w.n - at > limit))
			break;
		for (unsigned i = 0; i < page.n; i++)
			CHECK(same_run(&page.item[i], w.run[at + i]));
		at += page.n;
		if (page.n) {
			f.before.nominal = page.item[page.n - 1].nominal;
			f.before.run = page.item[page.n - 1].run;
		}
	} while (page.more);
	free(w.run);
	arena_reset(&s->a);
	return at > 0;
}

static struct read_filter some_filter(uint64_t *seed, int64_t now)
{
	struct read_filter f = { .limit = 1 + (unsigned)(test_random(seed) % 40) };
	static const unsigned sets[] = { 0,
					 1 << RUN_FINISHED,
					 1 << RUN_MISSED,
					 1 << RUN_SKIPPED | 1 << RUN_MISSED,
					 1 << RUN_PENDING | 1 << RUN_CLAIMED | 1 << RUN_RETRYING,
					 1 << RUN_CLAIMED,
					 1 << RUN_FINISHED | 1 << RUN_PENDING };
	if (test_random(seed) % 2)
		f.sid = 1 + test_random(seed) % STREAM_SCHEDS;
	f.states = sets[test_random(seed) % ARRAY_LEN(sets)];
	f.failed = test_random(seed) % 4 == 0;
	if (test_random(seed) % 2)
		f.since = AT(now - (int64_t)(test_random(seed) % 300));
	if (test_random(seed) % 2)
		f.until = AT(now - (int64_t)(test_random(seed) % 200));
	return f;
}

static void check_counts(struct scene *s, const struct rows *rows, uint64_t sid, int64_t since)
{
	struct read_counts c, want = { 0 };
	struct read_filter f = { .sid = sid, .since = AT(since) };
	struct want w = all_that_pass(rows, &f);
	for (size_t i = 0; i < w.n; i++) {
		want.state[w.run[i]->state]++;
		want.outcome[w.run[i]->outcome] += w.run[i]->state == RUN_FINISHED;
	}
	free(w.run);
	CHECK_INT(read_counts(s->r, sid, AT(since), &c, &s->why), OK);
	CHECK(!c.more && memcmp(c.state, want.state, sizeof c.state) == 0);
	CHECK(memcmp(c.outcome, want.outcome, sizeof c.outcome) == 0);
}

/* `has` and `got` are what was told; `want` is what there is, or NULL. */
static void check_one(bool has, const struct run_row *got, const struct run_row *want)
{
	if (CHECK_INT(has, want != NULL) && want)
		CHECK(same_run(got, want));
}

static unsigned check_why(struct scene *s, const struct rows *rows, uint64_t sid, struct wall t)
{
	const struct run_row *at = NULL, *before = NULL, *after = NULL;
	struct read_why w;
	for (size_t i = 0; i < rows_runs(rows); i++) {
		const struct run_row *x = rows_run_at(rows, i);
		if (!x || x->sid != sid || x->kind == KIND_MANUAL)
			continue;
		if (x->nominal.us == t.us)
			at = x;
		if (x->nominal.us < t.us && (!before || x->nominal.us > before->nominal.us))
			before = x;
		if (x->nominal.us > t.us && (!after || x->nominal.us < after->nominal.us))
			after = x;
	}
	CHECK_INT(read_why(s->r, sid, t, &w, &s->why), OK);
	check_one(w.has_run, &w.run, at);
	check_one(w.has_before, &w.before, before);
	check_one(w.has_after, &w.after, after);
	const struct rows_sched *book = rows_sched(rows, sid);
	bool covered = false, told = false;
	int64_t first = INT64_MIN;
	for (unsigned i = 0; book && i < book->ranges; i++) {
		const struct range_row *g = &book->range[i];
		bool covers = g->first.us <= t.us && g->last.us >= t.us;
		covered |= covers;
		first = covers && g->first.us > first ? g->first.us : first;
		told |= covers && g->first.us == w.range.first.us && g->last.us == w.range.last.us &&
			g->state == w.range.state && g->reason == w.range.reason;
	}
	CHECK_INT(w.has_range, covered);
	CHECK(!covered || (told && w.range.first.us == first));
	return w.has_run + w.has_range;
}

static void check_schedules(struct scene *s, const struct rows *rows)
{
	struct read_sched got;
	for (size_t i = 0; i < rows_scheds(rows); i++) {
		const struct rows_sched *want = rows_sched_at(rows, i);
		bool open = false;
		for (unsigned k = 0; k < want->ranges; k++)
			open |= want->range[k].last.us == INT64_MAX;
		if (!CHECK_INT(read_sched(s->r, want->row.sid, &s->a, &got, &s->why), OK))
			continue;
		CHECK(memcmp(&got.row, &want->row, sizeof got.row) == 0);
		CHECK(str_eq(got.id, want->id) && str_eq(got.document, want->document));
		CHECK(str_eq(got.note, want->note) && !got.note.p == !want->note.p);
		CHECK(got.put_at.us == want->put_at.us && got.open == open);
		CHECK_INT(got.dropped.us != INT64_MAX, want->dropped);
	}
	arena_reset(&s->a);
}

static void check_problems(struct scene *s, const struct rows *rows, bool all)
{
	struct read_problems page = { 0 };
	struct problem_row one;
	uint64_t before = 0;
	for (size_t i = rows_problems(rows); i > 0; i--) {
		const struct problem_row *want = rows_problem_at(rows, i - 1);
		if (!want || (!all && want->closed.us != INT64_MAX))
			continue;
		CHECK_INT(read_problems(s->r, all, before, 1, &s->a, &page, &s->why), OK);
		if (!CHECK_INT(page.n, 1))
			return;
		const struct problem_row *got = &page.item[0];
		CHECK(got->number == want->number && got->count == want->count &&
		      got->last_reported.us == want->last_reported.us && got->acked.us == want->acked.us &&
		      got->closed.us == want->closed.us && got->opened.us == want->opened.us);
		CHECK(str_eq(got->key, want->key) && str_eq(got->subject, want->subject) &&
		      str_eq(got->text, want->text) && str_eq(got->by, want->by) &&
		      str_eq(got->note, want->note));
		before = got->number;
		CHECK_INT(read_problem(s->r, before, &s->a, &one, &s->why), OK);
		CHECK(one.number == before && str_eq(one.key, want->key));
	}
	CHECK(!page.more);
	CHECK_INT(read_problem(s->r, rows_problems(rows) + 1, &s->a, &one, &s->why), E_NOTFOUND);
	arena_reset(&s->a);
}

static void check_agents(struct scene *s, const struct rows *rows)
{
	unsigned there = 0;
	struct read_agents all;
	for (size_t i = 0; i < rows_agents(rows); i++) {
		const struct rows_agent *want = rows_agent_at(rows, i);
		struct read_agent got;
		if (!CHECK_INT(read_agent(s->r, want->row.name, &s->a, &got, &s->why), OK))
			continue;
		CHECK(got.rev == want->row.rev && str_eq(got.text, want->row.text) &&
		      got.source.line == want->source.line);
		there += want->row.text.p != NULL;
	}
	CHECK_INT(read_agents(s->r, STR(""), 0, &s->a, &all, &s->why), OK);
	CHECK_INT(all.n, there);
}

static void check_holds(struct scene *s, const struct rows *rows)
{
	struct read_holds list;
	CHECK_INT(read_holds(s->r, &s->a, &list, &s->why), OK);
	CHECK_INT(list.n, rows_holds(rows));
	for (unsigned i = 0; i < list.n; i++) {
		const struct hold_row *got = &list.item[i].row, *want = rows_hold(rows, got->key);
		struct str note = rows_hold_note(rows, got->key);
		CHECK(want && want->reason == got->reason && want->until.us == got->until.us);
		CHECK(str_eq(list.item[i].note, note) && !list.item[i].note.p == !note.p);
	}
}

static void ask_everything(struct scene *s, const struct rows *rows, int64_t now, uint64_t *seed)
{
	unsigned found = 0, told = 0;
	for (unsigned i = 0; i < 400; i++)
		found += check_pages(s, rows, some_filter(seed, now));
	CHECK(found > 100);
	for (unsigned i = 0; i < 800; i++)
		told += check_why(s, rows, 1 + test_random(seed) % STREAM_SCHEDS,
				  AT(now - (int64_t)(test_random(seed) % 200)));
	CHECK(told > 40);
	for (unsigned i = 0; i < 20; i++)
		check_counts(s, rows, i % 2 ? test_random(seed) % STREAM_SCHEDS + 1 : 0, now - 10 * (int)i);
	check_schedules(s, rows);
	check_problems(s, rows, true);
	check_problems(s, rows, false);
	check_holds(s, rows);
	check_agents(s, rows);
	for (size_t i = 0; i < rows_runs(rows); i += 50) {
		const struct run_row *want = rows_run_at(rows, i);
		struct run_row got;
		if (want && CHECK_INT(read_run(s->r, want->run, &got, &s->why), OK))
			CHECK(same_run(&got, want));
	}
}

TEST(answers_agree_with_the_model)
{
	struct scene s;
	struct stream stream;
	struct rows *rows = rows_new();
	uint64_t seed = 5;
	scene_open(&s);
	stream_init(&stream, 11, true);
	for (unsigned i = 1; i <= 4500; i++) {
		struct st_req r = stream_next(&stream);
		r.run.claimed = AT((int64_t)r.run.run / 10); /* numbers are given in the order of the clock */
		struct st_ack want, ack = rig_ask(&s.rig, &r);
		rows_apply(rows, &r, &want);
		CHECK_INT(ack.res, want.res);
		stream_learn(&stream, &want);
		if (i % 1500 == 0)
			ask_everything(&s, rows, stream.now, &seed);
	}
	struct run_row none;
	CHECK_INT(read_run(s.r, UINT64_MAX, &none, &s.why), E_NOTFOUND);
	CHECK_INT(read_run(s.r, 0, &none, &s.why), E_NOTFOUND);
	CHECK_STR(s.why.text, "there is no run r0");
	rows_free(rows);
	scene_close(&s);
}

/* One schedule that was run by hand so often that it fills pages. */
TEST(pages_of_one_nominal_time)
{
	struct scene s;
	scene_open(&s);
	struct rows *rows = rows_new();
	struct st_req p = req_put(5, 0, 10);
	struct st_ack ack;
	ask(&s, p);
	rows_apply(rows, &p, &ack);
	for (uint64_t i = 1; i <= 100; i++) {
		struct st_req o = req_occ(5, 1, i, i % 10 ? 1000 : 980 + (int64_t)i / 10);
		o.run.kind = i % 10 && i > 1 ? KIND_MANUAL : KIND_TIMER;
		ask(&s, o);
		rows_apply(rows, &o, &ack);
	}
	for (unsigned limit = 1; limit < 40; limit += 6) {
		check_pages(&s, rows, (struct read_filter){ .sid = 5, .limit = limit });
		check_pages(&s, rows, (struct read_filter){ .limit = limit });
	}
	check_pages(&s, rows, (struct read_filter){ .sid = 5, .limit = 7, .since = AT(1000) });
	check_pages(&s, rows, (struct read_filter){ .sid = 5, .limit = 7, .until = AT(999) });
	check_pages(&s, rows, (struct read_filter){ .sid = 5, .limit = 7, .states = 1 << RUN_CLAIMED });
	rows_free(rows);
	scene_close(&s);
}

/* --- bounds --- */

static void fill(const char *path, unsigned n)
{
	char text[600];
	snprintf(text, sizeof text,
		 "PRAGMA synchronous = OFF; BEGIN;"
		 "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %u)"
		 " INSERT INTO run SELECT i, 1 + i %% 100, 1, 1, 0, 0, 3, 1, 0, 0, 0, i, i, i, i, i, 0, i, "
		 "0, -1,"
		 " 0, 0, 0, 0 FROM n; COMMIT",
		 n);
	sql(path, text);
}

static int64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * USEC + t.tv_nsec / 1000;
}

/* What would look through all of them is ended, and harms nothing; what has an index is not. */
TEST(no_answer_takes_for_ever)
{
	enum { RUNS = 600000 };
	struct scene s;
	struct read_runs list = { .n = 77 };
	struct read_counts counts;
	scene_open(&s);
	fill(s.rig.path, RUNS);
	struct read_filter none = { .states = 1 << RUN_RETRYING | 1 << RUN_MISSED };
	int64_t from = now_us();
	CHECK_INT(read_runs(s.r, &none, &s.a, &list, &s.why), E_LIMIT);
	CHECK(now_us() - from < 2 * READ_WAIT_MS_MAX * 1000);
	CHECK_INT(list.n, 77);
	CHECK(strstr(s.why.text, "ask for less"));
	CHECK(sqlite3_get_autocommit(s.r->db));
	/* It is nobody's fault where nobody asked for it: an attempt must not fail for it. */
	reader_be_patient(s.r);
	CHECK_INT(read_runs(s.r, &none, &s.a, &list, &s.why), E_BUSY);
	CHECK(sqlite3_get_autocommit(s.r->db));
	static const struct read_filter quick[] = {
		{ .limit = 5 },
		{ .sid = 7, .limit = 5 },
		{ .failed = true },
		{ .failed = true, .sid = 7 },
		{ .states = 1 << RUN_MISSED },
		{ .states = 1 << RUN_SKIPPED, .sid = 7 },
		{ .states = 1 << RUN_CLAIMED },
		{ .since = { 300000 }, .until = { 300004 } },
		{ .before = { { 300000 }, 300000 }, .limit = 5 },
		{ .states = 1 << RUN_RETRYING | 1 << RUN_MISSED, .since = { 599000 } },
	};
	for (unsigned i = 0; i < ARRAY_LEN(quick); i++) {
		test_case("question %u", i);
		CHECK_INT(read_runs(s.r, &quick[i], &s.a, &list, &s.why), OK);
		bool empty = quick[i].failed || quick[i].states;
		CHECK_INT(list.n, empty ? 0 : 5);
	}
	test_case(NULL);
	CHECK_INT(read_runs(s.r, &(struct read_filter){ .limit = UINT32_MAX }, &s.a, &list, &s.why), OK);
	CHECK(list.n == READ_LIST_MAX && list.more && list.item[0].run == RUNS);
	CHECK_INT(read_counts(s.r, 0, AT(0), &counts, &s.why), OK);
	CHECK(counts.more && counts.state[RUN_FINISHED] == READ_COUNT_MAX);
	CHECK_INT(read_counts(s.r, 0, AT(RUNS - READ_COUNT_MAX + 1), &counts, &s.why), OK);
	CHECK(!counts.more && counts.outcome[1] == READ_COUNT_MAX);
	scene_close(&s);
}
