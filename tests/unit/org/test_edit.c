/* Changes of org files: exact texts for typical changes; with random files and changes, nothing else changes.
 * tests/oracle/org_todo.py compares completed tasks with Emacs. */
#include "core/org/complete.h"
#include "core/org/edit.h"
#include "core/org/line.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;

static void reset(void)
{
	arena_free(&arena);
	arena = (struct arena){ 0 };
	why = (struct why){ 0 };
}

static const char *changed(int line, const char *text, const struct org_change *c)
{
	struct org o;
	struct buf out = { 0 };
	CHECK_INT_AT(line, org_read(str_of(text), &arena, &o, &why), OK);
	CHECK_INT_AT(line, org_change(&o, &o.head[0], c, &arena, &out, &why), OK);
	const char *copy = arena_dup(&arena, buf_str(&out));
	buf_free(&out);
	return copy;
}

static const struct org_set claim[] = { { "AGENT", STR("wren"), false }, { "CLAIMED", STR("[now]"), false } };
static const struct org_set unclaim[] = { { "AGENT", { 0 }, true }, { "CLAIMED", { 0 }, true } };

TEST(claims_and_releases)
{
	static const struct {
		int line;
		const char *before, *after;
		bool back; /* a release gives the first text again */
	} rows[] = {
		{ __LINE__, "* TODO a\n",
		  "* DOING a\n:PROPERTIES:\n:AGENT:    wren\n:CLAIMED:  [now]\n:END:\n", true },
		{ __LINE__, "* TODO a\nDEADLINE: <2026-01-01>\nText.\n* b\n",
		  "* DOING a\nDEADLINE: <2026-01-01>\n:PROPERTIES:\n:AGENT:    wren\n:CLAIMED:  "
		  "[now]\n:END:\n"
		  "Text.\n* b\n",
		  true },
		{ __LINE__, "* TODO a :x:\r\n  :PROPERTIES:\r\n  :ID: 1\r\n  :END:\r\n",
		  "* DOING a :x:\r\n  :PROPERTIES:\r\n  :ID: 1\r\n  :AGENT:    wren\r\n  :CLAIMED:  "
		  "[now]\r\n  "
		  ":END:\r\n",
		  true },
		{ __LINE__, "* TODO a\n:PROPERTIES:\n:agent:\n:CLAIMED:  [then] \n:END:\n",
		  "* DOING a\n:PROPERTIES:\n:agent: wren\n:CLAIMED:  [now] \n:END:\n", false },
		{ __LINE__, "* TODO a", "* DOING a\n:PROPERTIES:\n:AGENT:    wren\n:CLAIMED:  [now]\n:END:\n",
		  false },
		{ __LINE__, "*   TODO  [#A]\ta",
		  "*   DOING  [#A]\ta\n:PROPERTIES:\n:AGENT:    wren\n:CLAIMED:  [now]\n:END:\n", false },
	};
	const struct org_change take = { .state = STR("DOING"), .set = claim, .sets = 2 };
	const struct org_change give = { .state = STR("TODO"), .set = unclaim, .sets = 2 };
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		const char *after = changed(rows[i].line, rows[i].before, &take);
		CHECK_STR_AT(rows[i].line, after, rows[i].after);
		if (rows[i].back)
			CHECK_STR_AT(rows[i].line, changed(rows[i].line, after, &give), rows[i].before);
	}
	reset();
}

TEST(logs)
{
	const struct org_change c = { .log = STR("- x") };
	CHECK_STR(changed(__LINE__, "* a\n:PROPERTIES:\n:ID: 1\n:END:\ntext\n", &c),
		  "* a\n:PROPERTIES:\n:ID: 1\n:END:\n:LOGBOOK:\n- x\n:END:\ntext\n");
	CHECK_STR(changed(__LINE__, "* a\ntext\n  :logbook:\n  - y\n  :END:\n", &c),
		  "* a\ntext\n  :logbook:\n  - x\n  - y\n  :END:\n");
	/* A drawer without an end is not a drawer. */
	CHECK_STR(changed(__LINE__, "* a\n:LOGBOOK:\n* b\n:END:\n", &c),
		  "* a\n:LOGBOOK:\n- x\n:END:\n:LOGBOOK:\n* b\n:END:\n");
	CHECK_STR(changed(__LINE__, "* a", &c), "* a\n:LOGBOOK:\n- x\n:END:\n");
	const struct org_change both = { .set = claim, .sets = 1, .log = STR("- x") };
	CHECK_STR(changed(__LINE__, "* a", &both),
		  "* a\n:PROPERTIES:\n:AGENT:    wren\n:END:\n:LOGBOOK:\n- x\n:END:\n");
	reset();
}

TEST(repeaters)
{
	static const struct {
		int line;
		const char *stamp, *want; /* done on Wednesday 2026-11-18 at 12:34 in Berlin */
	} rows[] = {
		{ __LINE__, "<2026-11-16 Mon +1w>", "<2026-11-23 Mon +1w>" },
		{ __LINE__, "<2026-10-01 Thu +1w>", "<2026-10-08 Thu +1w>" },
		{ __LINE__, "<2026-10-01 Thu ++1w>", "<2026-11-19 Thu ++1w>" },
		{ __LINE__, "<2026-10-01 Thu .+1w>", "<2026-11-25 Wed .+1w>" },
		{ __LINE__, "<2026-12-24 Thu ++1w>", "<2026-12-31 Thu ++1w>" },
		/* Months overflow. */
		{ __LINE__, "<2027-01-31 Sun +1m>", "<2027-03-03 Wed +1m>" },
		{ __LINE__, "<2026-01-31 Sat ++1m>", "<2026-12-03 Thu ++1m>" },
		{ __LINE__, "<2024-02-29 Thu +1y>", "<2025-03-01 Sat +1y>" },
		{ __LINE__, "<2026-11-18 Wed 09:00 .+2h>", "<2026-11-18 Wed 14:34 .+2h>" },
		{ __LINE__, "<2026-11-18 Wed 09:00 ++2h>", "<2026-11-18 Wed 13:00 ++2h>" },
		{ __LINE__, "<0001-01-01 Mon 09:00 ++1h>", "<2026-11-18 Wed 13:00 ++1h>" },
		/* The name of the day is written anew, a warning for the first time is dropped. */
		{ __LINE__, "<2026-11-16 Foo 9:00-10:00 +1d --2d -1w>",
		  "<2026-11-17 Tue 09:00-10:00 +1d -1w>" },
		/* The clocks change on March 29: 02:30 does not exist. */
		{ __LINE__, "<2026-03-28 Sat 02:30 +1d>", "<2026-03-29 Sun 03:30 +1d>" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		stamp_write_next(str_of(rows[i].stamp), test_zone("Europe/Berlin"),
				 test_utc("2026-11-18T11:34:00"), &out);
		CHECK_STR_AT(rows[i].line, out.p ? out.p : "", rows[i].want);
	}
}

/* --- random files --- */

static const char *const pool[] = {
	"* TODO one",
	"** DOING [#A] two :x:",
	"* three",
	"*** DONE f\xff\x80ur :\xc3\xbc:",
	"* ",
	"* TODO COMMENT five",
	"SCHEDULED: <2026-11-16 Mon +1d>",
	"  DEADLINE: <2026-11-16 Mon> CLOSED: [2026-01-01]",
	":PROPERTIES:",
	":END:",
	":AGENT: x",
	"  :ID:   \xfe",
	":agent:",
	":LOGBOOK:",
	"- State",
	"text \xc3",
	"",
	"#+begin_src sh",
	"#+end_src",
	"#+TODO: TODO DOING | DONE",
	":a:",
	"\t",
	"[fn:1] x",
	"<2026-01-01 Thu ++1m>",
	":CLAIMED:  [2026-01-01 Thu]",
};

static struct str random_text(uint64_t *seed, size_t bytes, struct buf *out)
{
	const char *eol = test_random(seed) % 4 ? "\n" : "\r\n";
	buf_add(out, STR("* TODO first\n"));
	out->n -= eol[0] == '\r';
	if (eol[0] == '\r')
		buf_add(out, STR("\r\n"));
	while (out->n < bytes) {
		if (test_random(seed) % 16 == 0)
			buf_addc(out, (char)test_random(seed));
		const char *line = pool[test_random(seed) % ARRAY_LEN(pool)];
		/* A file has a limited number of keywords. */
		buf_add(out, bytes > 100000 && line[0] == '#' ? STR("#") : str_of(line));
		buf_add(out, str_of(test_random(seed) % 40 ? eol : "\r"));
	}
	if (test_random(seed) % 4 == 0)
		out->n--;
	return buf_str(out);
}

static bool same(const struct org *a, struct org_span x, const struct org *b, struct org_span y)
{
	return str_eq(org_text(a, x), org_text(b, y));
}

/* Whether both have the same properties in the same order, apart from those that the change names. */
static bool same_properties(const struct org *a, const struct org_head *x, const struct org *b,
			    const struct org_head *y, const struct org_change *c)
{
	struct org_property p, q;
	uint32_t at = 0, other = 0;
	for (;;) {
		bool more_a, more_b, named;
		do {
			more_a = org_property_next(a, x, &at, &p);
			named = false;
			for (unsigned i = 0; more_a && i < c->sets; i++)
				named |= str_ieq(p.key, str_of(c->set[i].key));
		} while (more_a && named);
		do {
			more_b = org_property_next(b, y, &other, &q);
			named = false;
			for (unsigned i = 0; more_b && i < c->sets; i++)
				named |= str_ieq(q.key, str_of(c->set[i].key));
		} while (more_b && named);
		if (!more_a || !more_b)
			return more_a == more_b;
		if (!same(a, p.line, b, q.line))
			return false;
	}
}

static struct str text_of(const struct org *o, const struct org_head *h)
{
	return str_sub(o->text,
		       h->drawer.end     ? h->drawer.end
		       : h->planning.end ? h->planning.end
					 : h->body,
		       h->end);
}

/* Checks that the change leaves all other headlines, and all that it does not name, as they were. */
static void check_change(const struct org *a, const struct org *b, unsigned target,
			 const struct org_change *c)
{
	if (!CHECK_INT(b->heads, a->heads))
		return;
	CHECK(str_eq(str_sub(a->text, 0, a->head[0].at), str_sub(b->text, 0, b->head[0].at)));
	for (unsigned i = 0; i < a->heads; i++) {
		const struct org_head *x = &a->head[i], *y = &b->head[i];
		if (i != target) {
			CHECK(str_eq(str_sub(a->text, x->at, x->end), str_sub(b->text, y->at, y->end)));
			continue;
		}
		CHECK(same(a, x->title, b, y->title) && same(a, x->priority, b, y->priority));
		CHECK(same(a, x->tags, b, y->tags) && same(a, x->scheduled, b, y->scheduled));
		CHECK(str_eq(org_text(b, y->state), c->state.n ? c->state : org_text(a, x->state)));
		CHECK(same_properties(a, x, b, y, c));
		struct str old = text_of(a, x), new = text_of(b, y);
		/* The last line may have got its missing line end, and a log line may be new; all other bytes
		 * are there in order. */
		if (!c->log.n && x->end < a->text.n)
			CHECK(str_eq(old, new));
		CHECK(new.n >= old.n);
		for (unsigned k = 0; k < c->sets; k++) {
			struct org_property p;
			bool found = org_property_find(b, y, str_of(c->set[k].key), &p);
			CHECK(found == !c->set[k].remove);
			if (found)
				CHECK(str_eq(p.value, c->set[k].value));
		}
	}
}

static void change_at_random(uint64_t *seed, size_t bytes)
{
	struct buf text = { 0 }, out = { 0 };
	struct org a, b;
	struct org_set set[3];
	static const char *const keys[] = { "AGENT", "CLAIMED", "ID", "NEW" };
	struct org_change c = { .set = set };
	CHECK_INT(org_read(random_text(seed, bytes, &text), &arena, &a, &why), OK);
	unsigned target = (unsigned)(test_random(seed) % a.heads);
	if (a.head[target].keyword != ORG_NONE && test_random(seed) % 2)
		c.state = a.keyword[test_random(seed) % a.keywords].name;
	for (unsigned i = 0, from = (unsigned)test_random(seed) % 4; i < test_random(seed) % 4; i++)
		set[c.sets++] =
			(struct org_set){ keys[(from + i) % 4], STR("va lue"), test_random(seed) % 2 };
	if (test_random(seed) % 3 == 0)
		c.log = STR("- log");
	CHECK_INT(org_change(&a, &a.head[target], &c, &arena, &out, &why), OK);
	CHECK_INT(org_read(buf_str(&out), &arena, &b, &why), OK);
	/* A new line end of the last line can change which line ends the file has; then lines are read
	 * differently. */
	if (!strcmp(a.eol, b.eol))
		check_change(&a, &b, target, &c);
	buf_free(&text);
	buf_free(&out);
	reset();
}

TEST(random_changes_change_nothing_else)
{
	for (uint64_t i = 1; i <= 3000; i++) {
		uint64_t seed = i;
		test_case("seed %llu", (unsigned long long)i);
		change_at_random(&seed, 40 + i % 400);
	}
	uint64_t seed = 77;
	test_case("10 MB");
	change_at_random(&seed, 10000000);
	test_case(NULL);
}
