/* Org files: seed 000's timestamps and rows; lookup; limits. tests/oracle/org.py compares the rows of other
 * files with Emacs. */
#include "core/org/element.h"
#include "core/org/row.h"
#include "test.h"

static struct arena arena;
static struct why why;

static struct org read_org(int line, struct str text)
{
	struct org o = { 0 };
	CHECK_INT_AT(line, org_read(text, &arena, &o, &why), OK);
	return o;
}

static void reset(void)
{
	arena_free(&arena);
	arena = (struct arena){ 0 };
	why = (struct why){ 0 };
}

TEST(timestamps_of_the_seed)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "<2026-06-13 Fri 09:00 +1w>",
		  "{\"at\":\"2026-06-13T09:00\",\"repeat\":\"+1w\",\"active\":true}" },
		{ __LINE__, "<2026-06-20>", "{\"at\":\"2026-06-20\",\"repeat\":null,\"active\":true}" },
		{ __LINE__, "[2026-06-11 14:30]",
		  "{\"at\":\"2026-06-11T14:30\",\"repeat\":null,\"active\":false}" },
		{ __LINE__, "<2026-06-13 09:00 .+2d>",
		  "{\"at\":\"2026-06-13T09:00\",\"repeat\":\".+2d\",\"active\":true}" },
		/* Any order; the first date, the last time, the last repeater; nothing is validated. */
		{ __LINE__, "< ++3x 25:99\t2026-99-99 +1d 2027-01-01 7:1 >",
		  "{\"at\":\"2026-99-99T7:1\",\"repeat\":\"+1d\",\"active\":true}" },
		{ __LINE__, "<abcd-fghi>", "null" },
		{ __LINE__, "<abcd-fghij>", "{\"at\":\"abcd-fghij\",\"repeat\":null,\"active\":true}" },
		{ __LINE__, "<09:00 +1w>", "null" },
		{ __LINE__, "2026-06-13", "null" },
		{ __LINE__, "<2026-06-13]", "null" },
		{ __LINE__, "[2026-06-13>", "null" },
		{ __LINE__, "<2026-06-13", "null" },
		{ __LINE__, " <2026-06-13>", "null" },
		{ __LINE__, "<", "null" },
		{ __LINE__, "", "null" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		org_write_stamp(str_of(rows[i].in), &out);
		CHECK_STR_AT(rows[i].line, out.p, rows[i].want);
	}
}

TEST(rows_and_precedence_of_schedules)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "** TODO [#A] Ship it :a:b:\nSCHEDULED: <2026-06-13 Sat>\n",
		  "{\"level\":2,\"title\":\"Ship it\",\"state\":\"TODO\",\"priority\":\"A\",\"id\":null,"
		  "\"tags\":[\"a\",\"b\"],\"props\":{},\"scheduled\":{\"at\":\"2026-06-13\",\"repeat\":null,"
		  "\"active\":true},\"deadline\":null,\"schedule\":{\"at\":\"2026-06-13\",\"repeat\":null,"
		  "\"active\":true},\"line\":1}" },
		/* :SCHEDULE: wins over SCHEDULED:, whatever it is; keys in upper case, values trimmed. */
		{ __LINE__,
		  "* x\nSCHEDULED: <2026-06-13>\n:PROPERTIES:\n:schedule:   anything  at all \n:id: "
		  "y\n:END:\n",
		  "{\"level\":1,\"title\":\"x\",\"state\":null,\"priority\":null,\"id\":\"y\",\"tags\":[],"
		  "\"props\":{\"SCHEDULE\":\"anything  at all\",\"ID\":\"y\"},\"scheduled\":{\"at\":"
		  "\"2026-06-13\",\"repeat\":null,\"active\":true},\"deadline\":null,\"schedule\":{\"cron\":"
		  "\"anything  at all\"},\"line\":1}" },
		/* DEADLINE is no schedule. */
		{ __LINE__, "* x\nDEADLINE: [2026-06-13 10:00]\n",
		  "{\"level\":1,\"title\":\"x\",\"state\":null,\"priority\":null,\"id\":null,\"tags\":[],"
		  "\"props\":{},\"scheduled\":null,\"deadline\":{\"at\":\"2026-06-13T10:00\",\"repeat\":null,"
		  "\"active\":false},\"schedule\":null,\"line\":1}" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		struct org o = read_org(rows[i].line, str_of(rows[i].in));
		if (CHECK_INT_AT(rows[i].line, o.heads, 1))
			org_write_row(&o, &o.head[0], STR(""), &out);
		CHECK_STR_AT(rows[i].line, out.p ? out.p : "", rows[i].want);
	}
	reset();
}

TEST(keywords_of_the_file)
{
	static const struct {
		int line;
		const char *in;
		const char *want; /* for each headline: o open, d done, - no task */
	} rows[] = {
		{ __LINE__,
		  "* TODO a\n* NEXT b\n* DOING c\n* WAITING d\n* DONE e\n* CANCELLED f\n* FIXME g\n",
		  "oooodd-" },
		{ __LINE__, "* TODO a\n* BUG b\n* FIXED c\n#+TODO: BUG KNOWN FIXED\n", "-od" },
		{ __LINE__, "#+TODO: A(a!) | B(b)\n#+SEQ_TODO: C | D\n* A x\n* B x\n* C x\n* D x\n* TODO x\n",
		  "odod-" },
		{ __LINE__, "#+TODO: A B |\n* A x\n* B x\n", "od" }, /* no done keyword: the last one */
		{ __LINE__, "#+begin_src x\n#+TODO: A | B\n#+end_src\n* A x\n* TODO x\n", "-o" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		char got[16] = "";
		struct org o = read_org(rows[i].line, str_of(rows[i].in));
		for (unsigned k = 0; k < o.heads && k < sizeof got - 1; k++)
			got[k] = org_is_open(&o, &o.head[k]) ? 'o' : org_is_done(&o, &o.head[k]) ? 'd' : '-';
		CHECK_STR_AT(rows[i].line, got, rows[i].want);
	}
	reset();
}

TEST(parents)
{
	struct org o = read_org(__LINE__, STR("** a\n* b\n*** c\n** d\n*** e\n* f\n"));
	static const uint32_t want[] = { ORG_NONE, ORG_NONE, 1, 1, 3, ORG_NONE };
	for (unsigned i = 0; i < o.heads; i++)
		CHECK_INT(o.head[i].parent, want[i]);
	reset();
}

TEST(tasks_by_id_or_title)
{
	struct org o =
		read_org(__LINE__, STR("* TODO one :x:\n* two\n:PROPERTIES:\n:ID: one\n:END:\n* two\n"
				       "* four\n:PROPERTIES:\n:ID: z\n:END:\n* five\n:PROPERTIES:\n:ID: z\n"
				       ":END:\n"));
	unsigned at = 9;
	CHECK_INT(org_find(&o, STR("one"), &at, &why), OK); /* an id wins over a title */
	CHECK_INT(at, 1);
	CHECK_INT(org_find(&o, STR("four"), &at, &why), OK);
	CHECK_INT(at, 3);
	CHECK_INT(org_find(&o, STR("two"), &at, &why), E_INPUT);
	CHECK_STR(why.text,
		  "2 headlines have the title 'two', the first two at lines 2 and 6; give the task an "
		  ":ID: and use that");
	CHECK_INT(org_find(&o, STR("z"), &at, &why), E_INPUT);
	CHECK_INT(org_find(&o, STR(""), &at, &why), E_NOTFOUND);
	CHECK_INT(org_find(&o, STR("six"), &at, &why), E_NOTFOUND);
	CHECK_STR(why.text, "there is no task with the id or title 'six'");
	CHECK_INT(at, 3);
	reset();
}

/* --- elements --- */

static void add_source(void *self, const struct org_source *s)
{
	struct buf *out = self;
	buf_addf(out, "[%.*s|%.*s|%u]", STR_ARG(s->language), STR_ARG(s->parameters),
		 s->code.end - s->code.at);
}

static void add_keyword_line(void *self, const struct org_keyword_line *k)
{
	buf_addf(self, "(%.*s=%.*s)", STR_ARG(k->key), STR_ARG(k->value));
}

TEST(elements_of_a_section)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "#+begin_src sh :in a :out b\nx\n#+end_src\n", "[sh|:in a :out b|2]" },
		{ __LINE__, "  #+BEGIN_SRC   python -n 10 -r :deps a, b  \n  #+END_SRC ",
		  "[python|:deps a, b|0]" },
		{ __LINE__, "#+begin_src\n#+end_src\n", "[||0]" },
		{ __LINE__, "#+begin_src sh\nno end\n#+name: x\n", "(name=x)" },
		{ __LINE__, "#+begin_example\n#+begin_src sh\n#+end_src\n#+end_example\n", "" },
		{ __LINE__, ":log:\n#+begin_src sh\n:END:\n#+end_src\n", "" }, /* cut by the drawer */
		{ __LINE__, "#+begin_quote\n:log:\n#+begin_src sh\n#+end_src\n:END:\n#+end_quote\n",
		  "[sh||0]" },
		{ __LINE__, "\\begin{a}\n#+begin_src sh\n#+end_src\n\\end{a}\n", "" },
		{ __LINE__, "[fn:1] a\n#+begin_src sh\n[fn:2] b\n#+end_src\n", "" }, /* cut by the next one */
		{ __LINE__, "[fn:1] a\n#+begin_src sh\n\n\n#+end_src\n", "" },
		{ __LINE__, "[fn:1] a\n#+begin_src sh\n\n#+end_src\n", "[sh||1]" },
		{ __LINE__, "#+name: a:b c\n#+a:b:c d\n#+: x\n#+ x\n", "(name=a:b c)(a:b=c d)" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = { 0 };
		struct org o = read_org(rows[i].line, str_of(rows[i].in));
		const struct org_elements each = { .source = add_source,
						   .keyword_line = add_keyword_line,
						   .self = &out };
		CHECK_INT_AT(rows[i].line, org_elements(&o, 0, o.text.n, &each, &why), OK);
		CHECK_STR_AT(rows[i].line, out.p ? out.p : "", rows[i].want);
	}
	reset();
}

/* --- limits --- */

static struct str repeat(const char *line, size_t bytes)
{
	size_t n = strlen(line);
	char *text = malloc(bytes + n + 1);
	size_t at = 0;
	assert(text);
	for (; at < bytes; at += n)
		memcpy(text + at, line, n + 1);
	return (struct str){ text, at };
}

/* 10 MB of the content that takes the most memory, or the most time if a step is not linear. */
TEST(large_files_and_limits)
{
	static const struct {
		int line;
		const char *repeated;
		enum err want;
	} rows[] = {
		{ __LINE__, "** TODO [#A] a headline :tag:\n", OK },
		{ __LINE__, "* a\n:PROPERTIES:\n:ID: x\n:END:\n", OK },
		{ __LINE__, "#+begin_src\n#+todo: a\n#+end_src\n", OK },
		{ __LINE__, "#+begin_src\n#+todo: |\n", OK },
		{ __LINE__, "#+todo: | |\n", OK },
		{ __LINE__, ":a:\n", OK },
		{ __LINE__, "* \n", E_LIMIT }, /* headlines */
		{ __LINE__, "#+todo: a\n", E_LIMIT },
		{ __LINE__, "\n", OK },
		{ __LINE__, "a", OK },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct str text = repeat(rows[i].repeated, 10000000);
		struct org o;
		test_case("%s", rows[i].repeated);
		CHECK_INT_AT(rows[i].line, org_read(text, &arena, &o, &why), rows[i].want);
		free((char *)text.p);
		reset();
	}
	test_case(NULL);
	struct str large = repeat("a", ORG_BYTES_MAX + 1);
	struct org o;
	CHECK_INT(org_read(large, &arena, &o, &why), E_LIMIT);
	CHECK_STR(why.text, "an org file can have at most 10485760 bytes");
	free((char *)large.p);
	reset();
}
