/* Reading schedules: by sid, by id, by source, and page by page. */
#include "reader.h"

TEST_ON_EACH(schedules_by_sid)
{
	struct scene s;
	struct read_sched got = { .put_at = AT(77) };
	scene_open(&s);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), E_NOTFOUND);
	CHECK_INT(got.put_at.us, 77);
	scene_put(&s, 5, "news", "{\"when\": 1}");
	scene_put(&s, 6, NULL, NULL);
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
	scene_ask(&s, req_range(5, 1, 11, 12)); /* a closed range, which is not the one that is read */
	scene_ask(&s, g);
	CHECK_INT(read_sched(s.r, 5, &s.a, &got, &s.why), OK);
	CHECK(got.open && got.range.sid == 5 && got.range.first.us == 20);
	CHECK(got.range.last.us == INT64_MAX && got.range.state == RUN_SKIPPED && got.range.reason == 3);

	/* A removed schedule is found, because its runs are still recorded. */
	g = req_drop(5, 1, 30);
	g.close_range = true;
	scene_ask(&s, g);
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

TEST_ON_EACH(schedules_by_the_beginning_of_an_id)
{
	static const char *const ids[] = { "daily", "daily-report", "dash", "Daily", "x\xC3\xBF", "w1",
					   "w2",    "w3",           "w4",   "w5",    "w6",        "w7",
					   "w8",    "v1",           "v2",   "v3",    "v4",        "v5",
					   "v6",    "v7",           "v8",   "v9",    "gone",      "gonner" };
	struct scene s;
	scene_open(&s);
	for (unsigned i = 0; i < ARRAY_LEN(ids); i++)
		scene_put(&s, i + 1, ids[i], "{}");
	scene_ask(&s, req_drop(23, 1, 20));
	EXPECT_MATCH(&s, "daily", "daily"); /* an exact match, though another id begins with this text */
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
	EXPECT_MATCH(&s, "gon", "gonner"); /* the removed schedule does not match */
	EXPECT_MATCH(&s, "gone", "none");
	EXPECT_MATCH(&s, "", "none");
	EXPECT_MATCH(&s, "%", "none");
	CHECK(strstr(s.why.text, "'%'"));
	scene_close(&s);
}

TEST_ON_EACH(removed_schedules_by_id)
{
	struct scene s;
	struct read_sched got;
	scene_open(&s);
	scene_put(&s, 1, "news", "first");
	CHECK_INT(read_sched_removed(s.r, STR("news"), &s.a, &got, &s.why), E_NOTFOUND);
	scene_ask(&s, req_drop(1, 1, 20));
	scene_put(&s, 2, "news", "second");
	scene_ask(&s, req_drop(2, 1, 30));
	scene_put(&s, 3, "news", "third");
	CHECK_INT(read_sched_removed(s.r, STR("news"), &s.a, &got, &s.why), OK);
	CHECK_INT(got.row.sid, 2);
	CHECK_INT(got.dropped.us, 30);
	CHECK(str_eq(got.document, STR("second")));
	EXPECT_MATCH(&s, "news", "news");
	CHECK_INT(read_sched_removed(s.r, STR("new"), &s.a, &got, &s.why), E_NOTFOUND);
	scene_close(&s);
}

TEST_ON_EACH(schedules_page_by_page)
{
	struct scene s;
	struct read_scheds page;
	scene_open(&s);
	for (uint64_t i = 1; i <= 25; i++) {
		char id[32];
		snprintf(id, sizeof id, "s%02llu", (unsigned long long)(i * 7 % 25));
		scene_put(&s, i, i == 9 ? NULL : id, id); /* a schedule without an id is not listed */
	}
	scene_ask(&s, req_drop(3, 1, 20)); /* s21 */
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

TEST_ON_EACH(schedules_by_source)
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
		scene_ask(&s, r);
	}
	scene_ask(&s, req_drop(7, 1, 20));
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

TEST_ON_EACH(a_page_has_a_limit_of_bytes)
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
		scene_ask(&s, r);
	}
	CHECK_INT(read_scheds(s.r, STR(""), 0, &s.a, &page, &s.why), OK);
	CHECK(page.n == 3 && page.more);
	CHECK_INT(page.item[2].document.n, n);
	CHECK_INT(read_scheds(s.r, STR("s3"), 0, &s.a, &page, &s.why), OK);
	CHECK(page.n == 2 && !page.more);
	scene_close(&s);
	free(large);
}
