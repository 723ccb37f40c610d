/* Answers ASK_CONDITION and ASK_BLOCKED. */
#include "daemon/prepare/preconditions.h"

#include "core/model.h"

/* A condition with an error is false, and the error is the detail. */
static enum err answer_condition(const struct context_source *source, struct arena *a,
				 struct precondition_answer *ret, struct why *why)
{
	struct run_context context;
	struct str text = doc_condition(source->doc);
	const struct expr *condition;
	struct why wrong = { .at = WHY_NOWHERE };
	struct context_source about = *source;
	about.before_check = true;
	/* Notes are ranked only if the condition uses them: ranking takes long, and there may be very many
	 * conditions at a time. */
	about.without_notes =
		source->doc->variables.kind != VAL_MAP && !(text.n && memmem(text.p, text.n, "memory", 6));
	enum err e = run_context_build(&about, a, &context, why);
	if (e && e != E_VALUE)
		return e;
	if (e)
		wrong = *why;
	else if (expr_compile(text, NULL, a, &condition, &wrong) == OK)
		ret->yes = expr_holds(condition, &context.env, a, &wrong);
	if (ret->yes || !wrong.text[0]) {
		/* With a WINDOW the condition is asked repeatedly: an empty text deletes the error that an
		 * earlier answer may have recorded. */
		ret->detail = source->doc->window ? STR("") : (struct str){ 0 };
		return OK;
	}
	const char *detail = arena_printf(a, "%s", wrong.text);
	ret->detail = detail ? str_of(detail) : (struct str){ 0 };
	return detail ? OK : E_NOMEM;
}

enum err precondition_answer(const struct context_source *source, enum rn_ask ask, struct arena *a,
			     struct precondition_answer *ret, struct why *why)
{
	const char *blocked;
	*ret = (struct precondition_answer){ .reason = REASON_BLOCKED };
	switch (ask) {
	case ASK_CONDITION:
		ret->reason = REASON_CONDITION;
		return answer_condition(source, a, ret, why);
	case ASK_BLOCKED:
		/* The rules ask this question if the version of rota that compiled them could not run the
		 * schedule. This version may be able to run it. */
		blocked = doc_blocked(source->doc);
		ret->yes = !blocked;
		ret->detail = blocked ? str_of(blocked) : (struct str){ 0 };
		break;
	case ASK_CONFIG_HOOK: /* these are answered by programs, which the runner executes */
	case ASK_HOOK:
	case ASK_CHECK:
	case ASK_CREATE_HOOK:
	case ASK_BUDGET:
	case RN_ASKS:
		break;
	}
	return OK;
}
