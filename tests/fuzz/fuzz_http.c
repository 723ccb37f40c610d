/* HTTP: an answer and a stream of events are parsed the same in one piece and byte by byte; the parts of a
 * URL are not longer than the URL. */
#include "fuzz.h"
#include "wire/problem_document.h"
#include "wire/response.h"
#include "wire/sse.h"
#include "wire/url.h"

static bool add_event(void *ctx, const struct sse_event *e)
{
	buf_addf(ctx, "%zu %zu %zu;", e->event.n, e->id.n, e->data.n);
	return true;
}

static void read_events(struct str in, size_t step, struct buf *out)
{
	struct sse s = { 0 };
	for (size_t n; in.n; in = str_from(in, n)) {
		n = in.n < step ? in.n : step;
		assert(sse_read(&s, str_sub(in, 0, n), add_event, out) == OK);
	}
	sse_free(&s);
}

static void read_reply(struct str in, size_t step, struct buf *out)
{
	struct response r = { 0 };
	struct why why = { 0 };
	enum err e = OK;
	while (in.n && !e && r.state != RESPONSE_DONE) {
		struct str some = str_sub(in, 0, in.n < step ? in.n : step), body;
		in = str_from(in, some.n);
		while (some.n && !e && r.state != RESPONSE_DONE) {
			size_t before = some.n;
			e = response_read(&r, &some, &body, &why);
			assert(e || some.n < before); /* else the loop would not end */
			if (!e)
				buf_add(out, body);
		}
	}
	assert(!e || why.text[0]);
	buf_addf(out, "|%d %d %d", (int)e, r.status, response_complete(&r));
	response_free(&r);
}

static void check_url(struct str in)
{
	struct arena a = { 0 };
	struct url u;
	struct why why = { 0 };
	size_t n = 0;
	if (url_parse(in, &a, &u, &why)) {
		assert(why.text[0]);
	} else {
		for (unsigned i = 0; i < u.segments; i++)
			n += u.segment[i].n + 1;
		for (unsigned i = 0; i < u.queries; i++)
			n += u.query[i].name.n + u.query[i].value.n;
		assert(n <= in.n);
	}
	arena_free(&a);
}

static void check_same(struct str in, void (*fn)(struct str, size_t, struct buf *))
{
	struct buf whole = { 0 }, bytes = { 0 };
	fn(in, in.n, &whole);
	fn(in, 1, &bytes);
	assert(str_eq(buf_str(&whole), buf_str(&bytes)));
	buf_free(&whole);
	buf_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size };
	struct buf text = { 0 };
	check_same(in, read_events);
	check_same(in, read_reply);
	check_url(in);
	assert(problem_document_read(404, in, &text) != OK && text.n);
	buf_free(&text);
	return 0;
}
