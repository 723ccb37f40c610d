/* Org files. For any bytes: the parts of headlines are parts of the text, in order; every row is JSON;
 * headlines cover the text after the first one. A change of one headline leaves all others as they are;
 * workflows compile and can be checked; the agenda has only tasks. */
#include "base/json.h"
#include "core/org/complete.h"
#include "core/org/element.h"
#include "core/org/row.h"
#include "core/plan/agenda.h"
#include "core/plan/claim.h"
#include "core/plan/findings.h"
#include "fuzz.h"
#include "zoneinfo.h"

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

static void compare_others(const struct org *o, const struct org *after, unsigned at)
{
	assert(after->heads == o->heads);
	for (unsigned i = 0; i < o->heads; i++) {
		const struct org_head *x = &o->head[i], *y = &after->head[i];
		assert(i == at ||
		       str_eq(str_sub(o->text, x->at, x->end), str_sub(after->text, y->at, y->end)));
	}
}

/* Advances one headline, and compares all others. */
static void check_advance(const struct org *o, unsigned at, struct arena *a)
{
	struct buf out = { 0 };
	struct why why = { 0 };
	struct org after;
	bool repeated;
	uint32_t keyword = (uint32_t)(at % o->keywords);
	enum err e = org_advance(o, &o->head[at], keyword, test_zone("Europe/Berlin"), 1794990000, a, &out,
				 &repeated, &why);
	assert(e == OK || (why.text[0] && why.at <= o->text.n));
	if (!e && org_read(buf_str(&out), a, &after, &why) == OK && !strcmp(o->eol, after.eol))
		compare_others(o, &after, at);
	buf_free(&out);
}

/* Claims a task and releases it. */
static void check_claim(const struct org *o, unsigned at, struct arena *a)
{
	struct buf out = { 0 }, back = { 0 };
	struct org claimed, released;
	struct why why = { 0 };
	bool nothing = false;
	struct str task = org_text(o, o->head[at].title);
	enum err e = claim_take(o, task, STR("fay"), STR("[2026-11-18 Wed 09:00]"), a, &out, &nothing, &why);
	assert(e == OK || why.text[0]);
	if (!e && !nothing && org_read(buf_str(&out), a, &claimed, &why) == OK &&
	    !strcmp(o->eol, claimed.eol)) {
		unsigned i = ORG_NONE;
		e = org_find(o, task, &i, &why);
		assert(e == OK);
		compare_others(o, &claimed, i);
		assert(str_eq(task_holder(&claimed, &claimed.head[i]), STR("fay")));
		e = claim_release(&claimed, task, STR("fay"), a, &back, &nothing, &why);
		assert(e == OK && !nothing);
		e = org_read(buf_str(&back), a, &released, &why);
		assert(e == OK);
		compare_others(o, &released, i);
		assert(!task_holder(&released, &released.head[i]).n);
	}
	buf_free(&out);
	buf_free(&back);
}

static void check_plan(const struct org *o, struct arena *a)
{
	struct agenda_plan plan = { .org = *o, .file = STR("x") };
	const struct agenda_query q = { .plan = &plan,
					.plans = 1,
					.zone = test_zone("Europe/Berlin"),
					.now = 1794990000,
					.stale_after = 86400,
					.agent = STR("ann") };
	struct agenda agenda;
	struct worlds w;
	struct findings f;
	struct why why = { 0 };
	struct buf out = { 0 };
	enum err e = agenda_read(&q, a, &agenda);
	assert(e == OK);
	for (unsigned list = 0; list < AGENDA_LISTS; list++)
		for (unsigned i = 0; i < agenda.n[list]; i++)
			assert(org_is_open(o, &o->head[agenda.item[list][i].head]));
	e = worlds_compile(o, a, &w, &why);
	assert(e == OK || e == E_LIMIT);
	if (!e) {
		e = worlds_check(&w, NULL, a, &f);
		assert(e == OK);
		e = worlds_write(&w, a, &out);
		assert(e == OK);
		findings_write(&f, &out);
	}
	buf_free(&out);
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
	check_plan(&o, &a);
	if (o.heads && o.keywords) {
		check_advance(&o, (unsigned)(size % o.heads), &a);
		check_claim(&o, (unsigned)(size % o.heads), &a);
	}
	buf_free(&row);
	arena_free(&a);
	return 0;
}
