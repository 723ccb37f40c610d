/* Tests that need no server: targets, events, problem documents. */
#include "base/json.h"
#include "test.h"
#include "wire/problem_document.h"
#include "wire/sse.h"
#include "wire/url.h"

TEST(targets_are_parsed)
{
	static const struct {
		int line;
		const char *target, *want;
	} rows[] = {
		{ __LINE__, "/", "" },
		{ __LINE__, "/a/b", "[a][b]" },
		{ __LINE__, "/a/", "[a][]" },
		{ __LINE__, "//a", "[][a]" },
		{ __LINE__, "/a%2fb/%C3%A9+", "[a/b][\xC3\xA9+]" },
		{ __LINE__, "/a?", "[a]" },
		{ __LINE__, "/a?x=1&y=%20+z&&k&=v&x=2", "[a]x=1;y=  z;k=;=v;x=2;" },
		{ __LINE__, "/a?x=a=b?c", "[a]x=a=b?c;" },
		{ __LINE__, "a", "!1" },
		{ __LINE__, "", "!1" },
		{ __LINE__, "*", "!1" },
		{ __LINE__, "http://x/a", "!1" },
		{ __LINE__, "/%", "!1" },
		{ __LINE__, "/%4", "!1" },
		{ __LINE__, "/%4g", "!1" },
		{ __LINE__, "/%00", "!1" },
		{ __LINE__, "/a?x=%0", "!1" },
		{ __LINE__,
		  "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25/26/27/28/29/30/31/32/"
		  "33",
		  "!4" },
		{ __LINE__, "/?&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&&", "!4" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena a = { 0 };
		struct buf got = { 0 };
		struct url u = { 0 };
		struct why why = { .at = WHY_NOWHERE };
		enum err e = url_parse(str_of(rows[i].target), &a, &u, &why);
		buf_add(&got, STR(""));
		if (e)
			buf_addf(&got, "!%d", (int)e);
		CHECK_AT(rows[i].line, !e || why.text[0]);
		for (unsigned k = 0; k < u.segments; k++)
			buf_addf(&got, "[%.*s]", STR_ARG(u.segment[k]));
		for (unsigned k = 0; k < u.queries; k++)
			buf_addf(&got, "%.*s=%.*s;", STR_ARG(u.query[k].name), STR_ARG(u.query[k].value));
		CHECK_STR_AT(rows[i].line, got.p, rows[i].want);
		buf_free(&got);
		arena_free(&a);
	}
	CHECK_INT(E_LIMIT, 4);
}

static bool append_event(void *ctx, const struct sse_event *e)
{
	struct buf *out = ctx;
	buf_addf(out, "%.*s|%.*s|%.*s#", STR_ARG(e->event), STR_ARG(e->id), STR_ARG(e->data));
	return true;
}

TEST(events_read_as_they_were_written)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "data: a\n\n", "||a#" },
		{ __LINE__, "data:a\r\ndata: b\r\n\r\ndata\r\r", "||a\nb#||#" },
		{ __LINE__, ":\n\n: comment\nevent: e\nid: 1\ndata: x\nother: y\n\ndata: z\n\n",
		  "e|1|x#|1|z#" },
		{ __LINE__, "event: nothing to say\n\ndata: a\n\n", "||a#" },
		{ __LINE__, "data: never ended", "" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows) * 2; i++) {
		struct sse s = { 0 };
		struct buf got = { 0 };
		struct str in = str_of(rows[i / 2].in);
		size_t step = i % 2 ? 1 : in.n;
		buf_add(&got, STR(""));
		for (; in.n; in = str_from(in, step))
			CHECK_INT(sse_read(&s, str_sub(in, 0, step), append_event, &got), OK);
		CHECK_STR_AT(rows[i / 2].line, got.p, rows[i / 2].want);
		buf_free(&got);
		sse_free(&s);
	}
	struct buf out = { 0 }, got = { 0 };
	struct sse s = { 0 };
	sse_write(&out, &(struct sse_event){ STR("run\nevil: x"), STR("12"), STR("{\n}\r\nend") });
	sse_write(&out, &(struct sse_event){ .data = STR("") });
	CHECK_INT(sse_read(&s, buf_str(&out), append_event, &got), OK);
	CHECK_STR(got.p, "runevil: x|12|{\n}\nend#|12|#");
	buf_free(&out);
	buf_free(&got);
	sse_free(&s);
}

TEST(every_error_survives_the_round_trip)
{
	for (unsigned e = 1; e < ERR_COUNT; e++) {
		struct buf doc = { 0 }, text = { 0 }, cli = { 0 };
		struct why why;
		struct arena a = { 0 };
		struct val v;
		why_write(&why, e % 2 ? 3 : WHY_NOWHERE, "it \"went\" wrong %u\x01", e);
		int status = problem_document_write((enum err)e, 0, &why, STR("ab\ncd"), &doc);
		CHECK_INT(status, err_table[e].http_status);
		CHECK_INT(json_read(buf_str(&doc), &a, &v, NULL), OK);
		CHECK(val_get(&v, STR("title")) && val_get(&v, STR("type")));
		CHECK_INT(val_get(&v, STR("status"))->integer, status);
		CHECK((val_get(&v, STR("line")) != NULL) == (e % 2));
		CHECK_INT(problem_document_read(status, buf_str(&doc), &text), e);
		err_describe((enum err)e, &why, STR("ab\ncd"), &cli);
		CHECK_STR(text.p, cli.p); /* the text the command line prints for its own errors */
		buf_free(&doc);
		buf_free(&text);
		buf_free(&cli);
		arena_free(&a);
	}
}

TEST(answers_without_problem_documents)
{
	static const struct {
		int line, status;
		const char *body;
		enum err e;
		const char *text;
	} rows[] = {
		{ __LINE__, 200, "", OK, "" },
		{ __LINE__, 302, "", OK, "" },
		{ __LINE__, 404, "<html>", E_NOTFOUND, "not found (HTTP status 404)" },
		{ __LINE__, 401, "", E_DENIED, "not permitted (HTTP status 401)" },
		{ __LINE__, 431, "", E_LIMIT, "limit reached (HTTP status 431)" },
		{ __LINE__, 429, "[]", E_BUSY, "busy (HTTP status 429)" },
		{ __LINE__, 418, "{}", E_INPUT, "bad input (HTTP status 418)" },
		{ __LINE__, 599, "{\"detail\":7}", E_IO, "input or output failed (HTTP status 599)" },
		{ __LINE__, 409, "{\"code\":\"new_in_rota_9\",\"detail\":\"x\"}", E_CONFLICT, "x" },
		{ __LINE__, 413, "{\"code\":\"busy\",\"detail\":\"y\"}", E_BUSY, "y" },
		{ __LINE__, 500, "{\"code\":\"ok\"}", E_IO, "input or output failed (HTTP status 500)" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf text = { 0 };
		CHECK_INT_AT(rows[i].line, problem_document_read(rows[i].status, str_of(rows[i].body), &text),
			     rows[i].e);
		CHECK_STR_AT(rows[i].line, text.p ? text.p : "", rows[i].text);
		buf_free(&text);
	}
}
