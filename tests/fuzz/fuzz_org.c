/* Org files. For any bytes: the parts of headlines are parts of the text, in order; every row is JSON;
 * headlines cover the text after the first one. */
#include "base/json.h"
#include "core/org/element.h"
#include "core/org/row.h"
#include "fuzz.h"

static void check_span(struct org_span s, uint32_t from, uint32_t to)
{
	assert(s.at <= s.end);
	assert(s.at == s.end || (s.at >= from && s.end <= to));
}

static void check_head(const struct org *o, const struct org_head *h)
{
	check_span(h->state, h->at, h->body);
	check_span(h->priority, h->at, h->body);
	check_span(h->title, h->at, h->body);
	check_span(h->tags, h->at, h->body);
	check_span(h->planning, h->body, h->end);
	check_span(h->drawer, h->body, h->end);
	check_span(h->scheduled, h->planning.at, h->planning.end);
	check_span(h->deadline, h->planning.at, h->planning.end);
	check_span(h->closed, h->planning.at, h->planning.end);
	assert(h->keyword == ORG_NONE || h->keyword < o->keywords);
}

static void count_source(void *self, const struct org_source *s)
{
	assert(s->code.at <= s->code.end);
	++*(unsigned *)self;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct arena a = { 0 };
	struct why why = { 0 };
	struct org o;
	struct buf row = { 0 };
	if (org_read(text, &a, &o, &why)) {
		assert(why.text[0]);
		arena_free(&a);
		return 0;
	}
	for (unsigned i = 0; i < o.heads; i++) {
		const struct org_head *h = &o.head[i];
		unsigned sources = 0;
		struct val v;
		const struct org_elements each = { .source = count_source, .self = &sources };
		assert(h->at < h->body && h->body <= h->end);
		assert(h->end == (i + 1 < o.heads ? o.head[i + 1].at : size));
		check_head(&o, h);
		row.n = 0;
		org_write_row(&o, h, STR(""), &row);
		enum err e = json_read(buf_str(&row), &a, &v, &why);
		assert(e == OK || strstr(why.text, "U+0000"));
		e = org_elements(&o, h->body, h->end, &each, &why);
		assert(e == OK || e == E_LIMIT);
	}
	buf_free(&row);
	arena_free(&a);
	return 0;
}
