/* The agenda of plans. */
#include "core/plan/agenda.h"
#include "core/plan/claim.h"
#include "test.h"
#include "zoneinfo.h"

static struct arena arena;
static struct why why;

/* The titles in the lists, "overdue: a b; due: c"; empty lists are left out. */
static const char *agenda_of(int line, const char *text, const char *now, const char *agent)
{
	struct agenda_plan plan = { .file = STR("plan.org") };
	struct agenda agenda;
	struct buf out = { 0 };
	CHECK_INT_AT(line, org_read(str_of(text), &arena, &plan.org, &why), OK);
	struct agenda_query q = { .plan = &plan,
				  .plans = 1,
				  .zone = test_zone("Europe/Berlin"),
				  .now = test_utc(now),
				  .stale_after = 86400,
				  .agent = str_of(agent) };
	CHECK_INT_AT(line, agenda_read(&q, &arena, &agenda), OK);
	for (unsigned list = 0; list < AGENDA_LISTS; list++) {
		if (agenda.n[list])
			buf_addf(&out, "%s%s:", out.n ? "; " : "", agenda_list_words[list]);
		for (unsigned i = 0; i < agenda.n[list]; i++)
			buf_addf(
				&out, " %.*s",
				STR_ARG(org_text(&plan.org, plan.org.head[agenda.item[list][i].head].title)));
	}
	buf_addf(&out, "%s", agenda.work ? "" : out.n ? "; no work" : "no work");
	const char *copy = arena_dup(&arena, buf_str(&out));
	buf_free(&out);
	return copy;
}

#define NOON "2026-11-18T11:00:00" /* a Wednesday, 12:00 in Berlin */

TEST(lists)
{
	static const struct {
		int line;
		const char *in, *want;
	} rows[] = {
		{ __LINE__, "", "no work" },
		{ __LINE__, "* a\n* DONE b\nDEADLINE: <2026-01-01>\n", "no work" },
		{ __LINE__, "* TODO a\n* NEXT b\n* WAITING c\n", "ready: a b" },
		/* A date means a whole day: scheduled from its beginning, a deadline until its end. */
		{ __LINE__, "* TODO a\nSCHEDULED: <2026-11-18 Wed>\n", "due: a; ready: a" },
		{ __LINE__, "* TODO a\nSCHEDULED: <2026-11-18 Wed 12:00>\n", "due: a; ready: a" },
		{ __LINE__, "* TODO a\nSCHEDULED: <2026-11-18 Wed 12:01>\n", "upcoming: a; no work" },
		{ __LINE__, "* TODO a\nDEADLINE: <2026-11-18 Wed>\n", "ready: a" },
		{ __LINE__, "* TODO a\nDEADLINE: <2026-11-17 Tue>\n", "overdue: a; ready: a" },
		{ __LINE__, "* TODO a\nDEADLINE: <2026-11-18 Wed 12:00>\n", "overdue: a; ready: a" },
		{ __LINE__, "* TODO a\nSCHEDULED: [2026-11-19 Thu]\n", "ready: a" }, /* inactive */
		{ __LINE__, "* TODO a\nSCHEDULED: <2026-13-19 Thu>\n", "ready: a" }, /* no date */
		{ __LINE__, "* WAITING a\nSCHEDULED: <2026-11-18 Wed>\n", "due: a" },
		/* Repeaters: due since their date, and upcoming by their series; the nearest first. */
		{ __LINE__,
		  "* TODO a\nSCHEDULED: <2026-10-01 Thu +1m>\n* TODO b\nSCHEDULED: <2026-11-17 Tue .+1d>\n"
		  "* TODO c\nDEADLINE: <2026-11-30 Mon>\n",
		  "due: a b; ready: a b c; upcoming: b c a" },
		/* Claims. */
		{ __LINE__,
		  "* DOING a\n:PROPERTIES:\n:AGENT: ann\n:CLAIMED: [2026-11-18 Wed 11:00]\n:END:\n"
		  "* DOING b\n:PROPERTIES:\n:AGENT: ben\n:CLAIMED: [2026-11-17 Tue 11:00]\n:END:\n* DOING c\n"
		  "* TODO d\n:PROPERTIES:\n:AGENT: ann\n:END:\n",
		  "ready: c d; claimed: a b; stale: b" },
		{ __LINE__, "* DOING a\nSCHEDULED: <2026-11-18 Wed>\n:PROPERTIES:\n:AGENT: ann\n:END:\n",
		  "due: a; claimed: a; no work" },
		/* Commented and archived subtrees. */
		{ __LINE__, "* COMMENT a\n** TODO b\n* c :ARCHIVE:\n** TODO d\n* TODO e\n", "ready: e" },
		/* ORDERED, with all that is below. */
		{ __LINE__,
		  "* TODO p\n:PROPERTIES:\n:ORDERED: t\n:END:\n** DONE a\n** TODO b\n*** TODO b1\n** TODO "
		  "c\n*** TODO "
		  "c1\n* TODO q\n",
		  "ready: p b b1 q" },
		{ __LINE__, "* p\n:PROPERTIES:\n:ORDERED: nil\n:END:\n** TODO a\n** TODO b\n", "ready: a b" },
		/* DEPENDS: ids and titles. */
		{ __LINE__,
		  "* DONE a a\n:PROPERTIES:\n:ID: i1\n:END:\n* TODO b\n:PROPERTIES:\n:ID: i2\n:END:\n"
		  "* TODO c\n:PROPERTIES:\n:DEPENDS: a a\n:END:\n* TODO d\n:PROPERTIES:\n:DEPENDS: i1 "
		  "i2\n:END:\n"
		  "* TODO e\n:PROPERTIES:\n:DEPENDS: a a, b\n:END:\n* TODO f\n:PROPERTIES:\n:DEPENDS: "
		  "i1\n:END:\n"
		  "* TODO g\n:PROPERTIES:\n:DEPENDS: nowhere\n:END:\n* TODO h\n:PROPERTIES:\n:DEPENDS: ,, "
		  "\n:END:\n",
		  "ready: b c f h" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++)
		CHECK_STR_AT(rows[i].line, agenda_of(rows[i].line, rows[i].in, NOON, ""), rows[i].want);
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

TEST(of_an_agent)
{
	const char *plan =
		"* TODO a\n* DOING b\n:PROPERTIES:\n:AGENT: ann\n:END:\n* DOING c\n:PROPERTIES:\n:AGENT: "
		"ben\n:END:\n";
	CHECK_STR(agenda_of(__LINE__, plan, NOON, "ann"), "ready: b a; claimed: b c");
	CHECK_STR(agenda_of(__LINE__, plan, NOON, "ben"), "ready: c a; claimed: b c");
	CHECK_STR(agenda_of(__LINE__, plan, NOON, "eve"), "ready: a; claimed: b c");
	arena_free(&arena);
	arena = (struct arena){ 0 };
}

TEST(claims)
{
	static const struct {
		int line;
		const char *plan, *task;
		enum err want;
		const char *text; /* the message, or the plan */
	} rows[] = {
		{ __LINE__, "* TODO a\n", "a", OK,
		  "* DOING a\n:PROPERTIES:\n:AGENT:    ann\n:CLAIMED:  [t]\n:END:\n" },
		{ __LINE__, "* DOING a\n:PROPERTIES:\n:AGENT: ben\n:CLAIMED: [x]\n:END:\n", "a", E_BUSY,
		  "'a' is claimed by ben, since [x]" },
		{ __LINE__, "* DOING a\n:PROPERTIES:\n:AGENT: ann\n:END:\n", "a", OK, "mine" },
		{ __LINE__, "* DONE a\n", "a", E_CONFLICT, "'a' cannot be claimed: it is DONE" },
		{ __LINE__, "* a\n", "a", E_CONFLICT, "'a' cannot be claimed: it has no TODO keyword" },
		{ __LINE__, "#+TODO: OPEN | SHUT\n* OPEN a\n", "a", E_CONFLICT,
		  "the plan has no keyword DOING; add it to its line #+TODO:" },
		{ __LINE__, "* TODO a\n", "b", E_NOTFOUND, "there is no task with the id or title 'b'" },
	};
	for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
		struct org o;
		struct buf out = { 0 };
		bool mine = false;
		CHECK_INT_AT(rows[i].line, org_read(str_of(rows[i].plan), &arena, &o, &why), OK);
		enum err e = claim_take(&o, str_of(rows[i].task), STR("ann"), STR("[t]"), &arena, &out, &mine,
					&why);
		CHECK_INT_AT(rows[i].line, e, rows[i].want);
		CHECK_STR_AT(rows[i].line, e ? why.text : mine ? "mine" : out.p, rows[i].text);
		buf_free(&out);
	}
	arena_free(&arena);
	arena = (struct arena){ 0 };
}
