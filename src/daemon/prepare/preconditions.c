#include "daemon/prepare/preconditions.h"

#include "core/model.h"

/* An error makes it false, and is told. */
static enum err ask_condition(const struct context_source *g, struct arena *a,
			      struct precondition_answer *ret, struct why *why)
{
	struct run_context with;
	struct str text = doc_condition(g->doc);
	const struct expr *condition;
	struct why wrong = { .at = WHY_NOWHERE };
	struct context_source about = *g;
	/* Very many may be asked at a time. */
	about.without_memory =
		g->doc->variables.kind != VAL_MAP && !(text.n && memmem(text.p, text.n, "memory", 6));
	enum err e = run_context(&about, a, &with, why);
	if (e && e != E_VALUE)
		return e;
	if (e)
		wrong = *why;
	else if (expr_compile(text, NULL, a, &condition, &wrong) == OK)
		ret->yes = expr_holds(condition, &with.env, a, &wrong);
	if (ret->yes || !wrong.text[0]) {
		/* It may have been asked before, and an error then is not why any more. */
		ret->words = g->doc->window ? STR("") : (struct str){ 0 };
		return OK;
	}
	const char *words = arena_printf(a, "%s", wrong.text);
	ret->words = words ? str_of(words) : (struct str){ 0 };
	return words ? OK : E_NOMEM;
}

enum err precondition_ask(const struct context_source *g, enum rn_ask ask, struct arena *a,
			  struct precondition_answer *ret, struct why *why)
{
	const char *words;
	*ret = (struct precondition_answer){ .reason = REASON_BLOCKED };
	switch (ask) {
	case ASK_CONDITION:
		ret->reason = REASON_CONDITION;
		return ask_condition(g, a, ret, why);
	case ASK_HOOK:
		/* A schedule that was blocked by another version has a hook in its rules, perhaps none to
		 * ask. */
		words = doc_blocked(g->doc, false);
		ret->yes = !words;
		ret->words = words ? str_of(words) : (struct str){ 0 };
		break;
	case ASK_CHECK: /* the runner's */
	case ASK_BUDGET:
	case RN_ASKS:
		break;
	}
	return OK;
}
