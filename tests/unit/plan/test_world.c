/* Workflows: compiled, checked and compared. */
#include "base/json.h"
#include "core/plan/findings.h"
#include "test.h"

static struct arena arena;
static struct why why;

static struct worlds compile(int line, const char *text)
{
	struct org *o = arena_alloc(&arena, sizeof *o);
	struct worlds w = { 0 };
	CHECK_INT_AT(line, org_read(str_of(text), &arena, o, &why), OK);
	CHECK_INT_AT(line, worlds_compile(o, &arena, &w, &why), OK);
	return w;
}

static void reset(void)
{
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

TEST(a_compiled_world)
{
	struct buf out = { 0 };
	struct worlds w = compile(
		__LINE__,
		"* Plan\n** Numbers :workflow:\nSCHEDULED: <2026-06-13 Sat +1w>\n*** collect :component:\n"
		"#+begin_src sh -n 5 :out raw :uses net :uses disk :persist :dir \"a b\"\n  echo 1\n    echo "
		"2\n\n  ,* x\n"
		"  ,,#+y\n#+end_src\n#+begin_src sh\nnot this\n#+end_src\n"
		"*** Group\n**** sum :component:\n#+begin_src python :in raw :deps collect, other :uses net "
		":out total\n"
		"#+end_src\n*** Inner :workflow:\n:PROPERTIES:\n:SCHEDULE: 0 6 * * *\n:END:\n**** x "
		":component:\n*** not\n"
		"#+begin_src sh\n#+end_src\n");
	CHECK_INT(worlds_write(&w, &arena, &out), OK);
	CHECK_STR(
		out.p,
		"{\"worlds\":[{\"name\":\"Numbers\",\"schedule\":{\"at\":\"2026-06-13\",\"repeat\":\"+1w\","
		"\"active\":true},\"imports\":[\"disk\",\"net\"],\"exports\":[\"total\"],\"components\":["
		"{\"name\":\"collect\",\"lang\":\"sh\",\"deps\":[],\"uses\":[\"net\",\"disk\"],\"in\":null,"
		"\"out\":\"raw\",\"persist\":\"yes\",\"src\":\"echo 1\\n  echo 2\\n\\n* "
		"x\\n,#+y\\n\",\"dir\":\"a b\"},"
		"{\"name\":\"sum\",\"lang\":\"python\",\"deps\":[\"collect\",\"other\"],\"uses\":[\"net\"],"
		"\"in\":\"raw\",\"out\":\"total\",\"persist\":null,\"src\":\"\",\"dir\":null}],\"edges\":["
		"{\"from\":\"collect\",\"to\":\"sum\"}],\"workflows\":[{\"name\":\"Inner\",\"schedule\":{"
		"\"cron\":"
		"\"0 6 * * *\"},\"imports\":[],\"exports\":[],\"components\":[{\"name\":\"x\",\"lang\":null,"
		"\"deps\":[],\"uses\":[],\"in\":null,\"out\":null,\"persist\":null,\"src\":null,\"dir\":null}"
		"],"
		"\"edges\":[],\"workflows\":[]}]}]}");
	buf_free(&out);
	reset();
}

/* "scope: message; ..." with ! before errors. */
static const char *text_of(const struct findings *f)
{
	struct buf out = { 0 };
	for (unsigned i = 0; i < f->n; i++)
		buf_addf(&out, "%s%s%.*s%s%.*s: %s", i ? "; " : "", f->item[i].error ? "!" : "",
			 STR_ARG(f->item[i].workflow), f->item[i].component.n ? "/" : "",
			 STR_ARG(f->item[i].component), f->item[i].message);
	const char *copy = arena_dup(&arena, buf_str(&out));
	buf_free(&out);
	return copy;
}

#define SRC(args) "#+begin_src " args "\n#+end_src\n"

TEST(checks)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC("sh :out x") "** b :component:\n" SRC("sh :in x"),
		  "" },
		{ __LINE__, "* W :workflow:\n** a :component:\n", "!W/a: component has no source block" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC(""), "!W/a: component has no language" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC("sh :in x"),
		  "!W/a: input `x` has no upstream producer" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC("sh :in given"), "" },
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC(
			  "sh :in y") "** S :workflow:\n*** s :component:\n" SRC("sh :out y"),
		  "" },
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC("sh :in y :out x") "** b :component:\n" SRC(
			  "sh :in x :out y"),
		  "!W/a: component waits for itself: there is a cycle; !W/b: component waits for itself: "
		  "there is a cycle" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC("sh :deps a"),
		  "!W/a: component waits for itself: there is a cycle" },
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC("sh :out x") "** b :component:\n" SRC("sh :out x"),
		  "!W/b: two components have the output `x`" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC("sh") "** a :component:\n" SRC("sh"),
		  "!W/a: two components have this name" },
		{ __LINE__, "* W :workflow:\n* W :workflow:\n", "!W: two workflows have this name" },
		{ __LINE__, "* W :workflow:\n** a :component:\n" SRC("sh :deps b"),
		  "!W/a: depends on `b`, which is not a component of the workflow" },
		{ __LINE__, "* TODO t\n:PROPERTIES:\n:DEPENDS: u\n:END:\n",
		  "!t: depends on `u`, and there is no such task" },
		/* Nothing about time. */
		{ __LINE__, "* TODO t\nDEADLINE: <1999-01-01>\n", "" },
	};
	struct val given;
	CHECK_INT(json_read(STR("{\"given\":1}"), &arena, &given, &why), OK);
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct worlds w = compile(rows[i].line, rows[i].in);
		struct findings f;
		CHECK_INT_AT(rows[i].line, worlds_check(&w, &given, &arena, &f), OK);
		CHECK_STR_AT(rows[i].line, text_of(&f), rows[i].want);
	}
	reset();
}

TEST(comparisons)
{
	static const char old[] = "* W :workflow:\n** a :component:\n" SRC(
		"sh :out x") "** b :component:\n" SRC("sh :out y :uses n");
	static const struct {
		int line;
		const char *new, *want;
	} rows[] = {
		{ __LINE__, old, "" },
		{ __LINE__, "* V :workflow:\n", "!W: the workflow was removed" },
		{ __LINE__, "* W :workflow:\n** b :component:\n" SRC("sh :out y"),
		  "!W: the export `x` was removed" },
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC("sh :out z") "** b :component:\n" SRC(
			  "sh :out y :uses n, m"),
		  "!W/a: the output `x` changed; !W: the export `x` was removed; W/b: the import `m` is "
		  "new" },
		{ __LINE__,
		  "* W :workflow:\n** a :component:\n" SRC("sh :out x") "** b :component:\n" SRC(
			  "sh :out y :in x"),
		  "!W: the export `x` was removed" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct worlds was = compile(rows[i].line, old), is = compile(rows[i].line, rows[i].new);
		struct findings f;
		CHECK_INT_AT(rows[i].line, worlds_compare(&was, &is, &arena, &f), OK);
		CHECK_STR_AT(rows[i].line, text_of(&f), rows[i].want);
	}
	reset();
}
